"""What a claim is: a sentence of a paper, the measurement that tries it, and the rules that judge the numbers.

A claim declares; its measurement returns named numbers and nothing else. Verdict, printed limits and the conclusion
follow from the rules (`linnet_papers.reproduction.rules`), so a limit can be read without the measuring code, and a
test can judge numbers that nobody measured.

    @claim(
        "eq37", says="The Bernoulli equation for u is solved by the sigmoid (37).", assumes="none: an identity",
        tried="(36) integrated at three pairs of spike and alignment",
        holds=Below(1e-8, what="largest error", because="a closed form against an integrator of tolerance 1e-12"),
        reads="(37) against the integrated (36), at three pairs of spike and alignment",
    )
    def sigmoid(trial):
        ...
        return {"value": highest(errors)}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from linnet._arguments import count, flag, of_kind, shown
from linnet_papers.reproduction.kinds import check_kinds
from linnet_papers.reproduction.numbers import Estimate, Numbers, fill_template, template_fields
from linnet_papers.reproduction.rules import Leaf, Rule


class Verdict(StrEnum):
    """What the measurement says of the printed claim.

    **Example:**

        >>> from linnet_papers.reproduction import Verdict
        >>> [verdict.value for verdict in Verdict]
        ['holds', 'holds with the correction', 'refuted', 'outside its assumptions']
    """

    HOLDS = "holds"
    CORRECTED = "holds with the correction"
    REFUTED = "refuted"
    OUTSIDE = "outside its assumptions"


@dataclass(frozen=True)
class Trial:
    """How hard to try.

    **Attributes:**

    - `quick`: the same measurement on a smaller setting
    - `seed`: fixes every random number

    **Example:**

        >>> from linnet_papers.reproduction import Trial
        >>> Trial(quick=True).seed
        0
    """

    quick: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "quick", flag("quick", self.quick))
        object.__setattr__(self, "seed", count("seed", self.seed, least=0))


@dataclass(frozen=True)
class Measurement:
    """What was measured: the verdict must follow from the numbers, never from the expectation.

    **Attributes:**

    - `verdict`: which must follow from the numbers, never from the expectation
    - `measured`: a sentence with its figures
    - `value`: the one number that decides: what was measured as `value`, or what is hardest for the rules
    - `uncertainty`: its standard error where it has one
    - `numbers`: all that was measured

    **Example:**

        >>> from linnet_papers.reproduction import Measurement, Verdict
        >>> Measurement(Verdict.HOLDS, "the slope is -0.50", value=-0.5, uncertainty=0.01).verdict.value
        'holds'
    """

    verdict: Verdict
    measured: str
    value: float | None = None
    uncertainty: float | None = None
    numbers: Numbers = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a paper that can be measured. `expected` is the verdict we publish: another one is an alarm.

    **Attributes:**

    - `name`: short (`eq27`); the paper that lists the claim puts its own name before it
    - `where`: where the sentence stands; left out where statements of the paper name the claim, which say it
    - `says`: the claim
    - `assumes`: under what it is made
    - `tried`: on which networks, over which region
    - `holds`: the rule by which it holds as printed
    - `corrected`: the rule by which it holds with a correction
    - `correction`: what is right, in words
    - `given`: what must be met for the numbers to say anything; otherwise the verdict is "outside its assumptions"
    - `refuted`: what a refutation needs; where it is missed too, the verdict is "outside its assumptions"
    - `reads`: what was measured, as a template of the numbers; it draws no conclusion
    - `expected`: the expected verdict; unless given, that the claim holds, with the correction where there is one
    - `measure`: from a `Trial` to numbers
    - `paper`: that lists it

    **Example:**

        >>> from linnet_papers.reproduction import Claim, Trial, Within, verify
        >>> claim = Claim(
        ...     name="sum", where="Eq. (1)", says="One and one are two.", assumes="none", tried="once",
        ...     holds=Within(1e-12, "sum", of=2, because="rounding"), reads="1 + 1 = {sum}",
        ...     measure=lambda trial: {"sum": 1 + 1},
        ... )
        >>> verify([claim], Trial(quick=True))[0].measurement.measured
        '1 + 1 = 2. It holds: sum 2, within 1e-12 of 2.'
    """

    name: str
    where: str = ""
    says: str
    assumes: str = "none"
    tried: str
    holds: Rule
    corrected: Rule | None = None
    correction: str = ""
    given: Rule | None = None
    refuted: Rule | None = None
    reads: str
    expected: Verdict = None  # type: ignore[assignment]  # given below
    measure: Callable[[Trial], Numbers]
    paper: str = ""

    def __post_init__(self) -> None:
        for part in ("name", "where", "says", "assumes", "tried", "correction", "reads", "paper"):
            if not isinstance(getattr(self, part), str):
                raise ValueError(f"`{part}` of a claim must be text: got {shown(getattr(self, part))}.")
        for part in ("holds", "corrected", "given", "refuted"):
            rule = getattr(self, part)
            if not isinstance(rule, Rule) and (rule is not None or part == "holds"):
                raise ValueError(f"`{part}` of the claim {self.name!r} must be a rule: got {shown(rule)}.")
        if bool(self.corrected) != bool(self.correction):
            raise ValueError(f"the claim {self.name!r} must have both `corrected` and `correction`, or neither.")
        if self.expected is None:
            object.__setattr__(self, "expected", Verdict.CORRECTED if self.corrected else Verdict.HOLDS)

    @property
    def rules(self) -> dict[str, Rule]:
        """Its rules by their role: `given`, `holds`, `corrected`, `refuted`."""
        roles = {role: getattr(self, role) for role in ("given", "holds", "corrected", "refuted")}
        return {role: rule for role, rule in roles.items() if rule is not None}

    def limits(self) -> Iterator[tuple[str, Leaf]]:
        """Every limit of its rules, with the role of the rule."""
        for role, rule in self.rules.items():
            yield from ((role, leaf) for leaf in rule.leaves())

    @property
    def requirement(self) -> str:
        """What is required for it to hold as printed, in words."""
        return "; ".join(leaf.requirement for leaf in self.holds.leaves())

    @property
    def names(self) -> list[str]:
        """The numbers that its rules and its sentence read."""
        read = [name for _, leaf in self.limits() for name in leaf.names]
        return list(dict.fromkeys(read + [name for words in self._templates for name in template_fields(words)]))

    def verdict(self, numbers: Numbers) -> Verdict:
        """What the numbers say of the claim, by its rules alone."""
        if self.given is not None and not self.given.met(numbers):
            return Verdict.OUTSIDE
        if self.holds.met(numbers):
            return Verdict.HOLDS
        if self.corrected is not None and self.corrected.met(numbers):
            return Verdict.CORRECTED
        if self.refuted is not None and not self.refuted.met(numbers):
            return Verdict.OUTSIDE
        return Verdict.REFUTED

    def conclusion(self, numbers: Numbers) -> str:
        """The verdict with the numbers that decide it."""
        verdict = self.verdict(numbers)
        if verdict == Verdict.HOLDS:
            return f"It holds: {self.holds.conclusion(numbers)}."
        if self.given is not None and not self.given.met(numbers):
            return f"It could not be tried inside its assumptions: {self.given.conclusion(numbers)}."
        missed = self.holds.conclusion(numbers)
        if verdict == Verdict.CORRECTED:
            assert self.corrected is not None
            right = f"{fill_template(self.correction, numbers)} ({self.corrected.conclusion(numbers)})"
            return f"It does not hold as printed: {missed}. Right is: {right}."
        also = f"; nor does its correction: {self.corrected.conclusion(numbers)}" if self.corrected else ""
        if verdict == Verdict.OUTSIDE:
            assert self.refuted is not None
            return f"Neither confirmed ({missed}) nor refuted ({self.refuted.conclusion(numbers)}){also}."
        why = f"; {self.refuted.conclusion(numbers)}" if self.refuted is not None else ""
        return f"It does not hold: {missed}{also}{why}."

    def measurement(self, trial: Trial) -> Measurement:
        """Measures, judges and tells."""
        of_kind("trial", trial, Trial, "`Trial(quick=..., seed=...)`")
        numbers = self.measure(trial)
        check_kinds(self, self._templates, numbers)
        sentence = f"{fill_template(self.reads, numbers)}. {self.conclusion(numbers)}"
        value = numbers["value"] if "value" in numbers else self._deciding_value(numbers)
        uncertainty = numbers.get("uncertainty")
        if isinstance(value, Estimate):
            value, uncertainty = value
        return Measurement(self.verdict(numbers), sentence, value, uncertainty, numbers)

    def _deciding_value(self, numbers: Numbers) -> float | Estimate:
        """Return the number that decides whether it holds: of the first rule that is missed, or of the first one."""
        leaves = list(self.holds.leaves())
        leaf = next((leaf for leaf in leaves if not leaf.met(numbers)), leaves[0])
        return leaf._deciding(numbers)[1]

    @property
    def _templates(self) -> list[str]:
        """Every sentence that may be printed with the numbers."""
        meanings = [words for _, leaf in self.limits() for words in (leaf.then, leaf.otherwise)]
        return [words for words in (self.reads, self.correction, *meanings) if words]


def claim(name: str, **declared: Any) -> Callable[[Callable[[Trial], Numbers]], Claim]:
    """Declares a claim by the function that measures it; the arguments are the attributes of `Claim`.

    **Arguments:**

    - `name`: short; the paper that lists the claim puts its own name before it
    - `declared`: the other attributes, by keyword

    **Returns** a decorator that turns the measurement into the `Claim`.

    **Example:**

        >>> from linnet_papers.reproduction import Below, Trial, claim
        >>> @claim("sum", where="Eq. (1)", says="One and one are less than three.", tried="once",
        ...        holds=Below(3, because="the sentence says so"), reads="1 + 1 = {value}")
        ... def total(trial):
        ...     return {"value": 1 + 1}
        >>> total.verdict({"value": 2}).value, total.verdict({"value": 4}).value
        ('holds', 'refuted')
    """
    return lambda measure: Claim(name=name, measure=measure, **declared)
