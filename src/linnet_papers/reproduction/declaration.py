"""A claim with rules and named numbers, as `old_claims` turns it into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from linnet._arguments import shown
from linnet_papers.reproduction.measurement import Trial
from linnet_papers.reproduction.numbers import Numbers, template_fields
from linnet_papers.reproduction.rows import Verdict
from linnet_papers.reproduction.rules import Leaf, Rule


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

    @property
    def _templates(self) -> list[str]:
        """Every sentence that may be printed with the numbers."""
        meanings = [words for _, leaf in self.limits() for words in (leaf.then, leaf.otherwise)]
        return [words for words in (self.reads, self.correction, *meanings) if words]
