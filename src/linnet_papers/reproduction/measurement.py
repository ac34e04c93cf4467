"""What a claim is: a sentence of a paper, and a function that measures rows of it.

@claim("eq42", says="The integral of the bounded rate has the closed form (42).", assumes="none: an identity",
       tried="four pairs of spike and alignment")
def closed_bound(trial):
    ...
    yield printed("largest relative error", errors, below(1e-8, "a closed form against quadrature"))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from linnet._arguments import count, flag, of_kind, shown
from linnet_papers.reproduction.rows import Row, Verdict, verdict

Rows = Iterator[Row]  # what a measurement yields, in the order in which a reader sees it
NO_VERDICT = "no verdict"  # where measuring broke down


class Range(NamedTuple):
    """The values that one parameter takes in a claim's region.

    **Attributes:**

    - `low`, `high`: ends of the range, which belong to it
    - `log`: whether it is a scale, whose values are drawn evenly on a logarithmic axis
    - `whole`: whether values are whole numbers
    - `paper`: the paper's own values, which lie in the range
    - `ends`: where a scale has less than a factor of 10 beyond the paper's values, the quantity of the row that shows
      that the correction fails just outside

    **Example:**

        >>> from linnet_papers.reproduction import Range
        >>> str(Range(0.2, 100, log=True))
        '0.2 to 100'
    """

    low: float
    high: float
    log: bool = False
    whole: bool = False
    paper: tuple[float, ...] = ()
    ends: str = ""

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def draw(self, random: np.random.Generator) -> float:
        """Return a value of the range."""
        if self.log:
            value = float(np.clip(np.exp(random.uniform(np.log(self.low), np.log(self.high))), self.low, self.high))
        else:
            value = float(random.uniform(self.low, self.high))
        return round(value) if self.whole else value


@dataclass(frozen=True)
class Trial:
    """How hard to try.

    **Attributes:**

    - `quick`: the same measurement on a smaller setting
    - `seed`: fixes every random number
    - `ranges`: the region of the claim that is measured, by the name of the parameter

    **Example:**

        >>> from linnet_papers.reproduction import Trial
        >>> Trial(quick=True).seed
        0
    """

    quick: bool = False
    seed: int = 0
    ranges: Any = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "quick", flag("quick", self.quick))
        object.__setattr__(self, "seed", count("seed", self.seed, least=0))

    def region(self, draws: int) -> dict[str, dict[str, Any]]:
        """Settings of the claim's region: all of its corners, and `draws` random ones inside it; by what they are.

        errors = {label: error(**setting) for label, setting in trial.region(6).items()}
        yield corrected("largest error", errors, EXACT)  # the row shows the worst one, with its setting
        """
        if not self.ranges:
            raise ValueError("the claim has no region: give `region` in its decorator.")
        ranges = {name: Range(*ends) for name, ends in dict(self.ranges).items()}
        random = np.random.default_rng([self.seed, 82])
        corners = [
            dict(zip(ranges, corner, strict=True)) for corner in product(*((r.low, r.high) for r in ranges.values()))
        ]
        inside = [
            {name: one.draw(random) for name, one in ranges.items()} for _ in range(count("draws", draws, least=0))
        ]
        return {
            ", ".join(f"{name.replace('_', ' ')} {value:.3g}" for name, value in setting.items()): setting
            for setting in corners + inside
        }


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a paper that can be measured. Formulas in its words are TeX between dollars.

    **Attributes:**

    - `name`: short (`eq27`); the paper that lists the claim puts its own name before it
    - `says`: the sentence
    - `tried`: on what it was tried: which networks, data, settings
    - `assumes`: under what the statement is made
    - `correction`: what is right, where the statement is not
    - `region`: over which `trial.region` draws settings: for each parameter a `Range`, or its two ends
    - `no_region`: why a claim with a correction has no region: an identity, or a misprint in a formula
    - `where`: where the sentence stands; left out if statements of the paper name the claim
    - `expected`: the verdict we publish, another one is an alarm; unless given, that the claim holds, or holds with the
      correction if there is one
    - `measure`: function from a `Trial` to rows
    - `paper`: name of the paper that lists it

    **Example:**

        >>> from linnet_papers.reproduction import Trial, claims, verify
        >>> claims()["varre-zero-start"].paper
        'varre'
    """

    name: str
    says: str
    tried: str
    assumes: str = "none"
    correction: str = ""
    region: Mapping[str, Any] = field(default_factory=dict)
    no_region: str = ""
    where: str = ""
    expected: Verdict = None  # type: ignore[assignment]  # given below
    measure: Callable[[Trial], Iterable[Row]]
    paper: str = ""

    def __post_init__(self) -> None:
        for part in ("name", "says", "tried", "assumes", "correction", "no_region", "where", "paper"):
            if not isinstance(getattr(self, part), str):
                raise ValueError(f"`{part}` of a claim must be text: got {shown(getattr(self, part))}.")
        if self.expected is None:
            object.__setattr__(self, "expected", Verdict.CORRECTED if self.correction else Verdict.HOLDS)
        object.__setattr__(self, "expected", Verdict(self.expected))
        object.__setattr__(self, "region", {name: Range(*ends) for name, ends in self.region.items()})

    @property
    def short(self) -> str:
        """Its name without that of its paper."""
        return self.name.removeprefix(f"{self.paper}-")


def claim(name: str, **words: Any) -> Callable[[Callable[[Trial], Any]], Claim]:
    """Declare a claim by the function that measures it.

    **Arguments:**

    - `name`: short; the paper that lists the claim puts its own name before it
    - `words`: the other attributes of `Claim`, by keyword

    **Returns** a decorator that turns the measurement into the `Claim`.

    **Example:**

        >>> from linnet_papers.reproduction import Trial, below, claim, printed
        >>> @claim("sum", where="Eq. (1)", says="One and one are less than three.", tried="once")
        ... def total(trial):
        ...     yield printed("one and one", 1 + 1, below(3, "the sentence says three"))
        >>> total.expected.value, next(total.measure(Trial())).met
        ('holds', True)
    """
    return lambda measure: Claim(name=name, measure=measure, **words)


@dataclass(frozen=True)
class Result:
    """What was measured of a claim, or the reason why measuring it broke down.

    **Attributes:**

    - `name`: of the claim
    - `expected`: the verdict we publish
    - `rows`: what was measured
    - `seconds`: time it took
    - `error`: the reason where it broke down
    - `verdicts`: how often each verdict came out over several seeds

    **Example:**

        >>> from linnet_papers.reproduction import Result
        >>> Result("watanabe-eq27", "holds", error="out of memory").verdict
        'no verdict'
    """

    name: str
    expected: str
    rows: tuple[Row, ...] = ()
    seconds: float = 0.0
    error: str = ""
    verdicts: Mapping[str, int] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """What the rows say; "no verdict" where measuring broke down."""
        return NO_VERDICT if self.error else str(verdict(self.rows))

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one we publish."""
        return self.verdict == self.expected

    def to_json(self) -> dict[str, Any]:
        """The result as plain values, one object of `linnet verify --json`."""
        stored = {"name": self.name, "verdict": self.verdict, "expected": str(self.expected)}
        rest = {"error": self.error, "verdicts": dict(self.verdicts)}
        measured = {"rows": [row.to_json() for row in self.rows], "seconds": round(self.seconds, 2)}
        return stored | measured | {name: value for name, value in rest.items() if value}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Result:
        """The result that `to_json` wrote."""
        rows = tuple(map(Row.from_json, stored["rows"]))
        error, verdicts = stored.get("error", ""), stored.get("verdicts", {})
        return cls(stored["name"], stored["expected"], rows, float(stored["seconds"]), error, verdicts)


def measure(claim: Claim, trial: Trial) -> Result:
    """Measure one claim; if that breaks down, the result has the reason.

    **Arguments:**

    - `claim`: which
    - `trial`: how hard to try

    **Returns** the `Result`.
    """
    start = time.perf_counter()
    rows: tuple[Row, ...] = ()
    error = ""
    try:
        rows = tuple(claim.measure(replace(trial, ranges=claim.region)))
        _check_rows(claim, rows)
    except Exception as reason:  # a broken measurement is a red claim, not the end of the others
        if _is_machine_failure(reason):
            raise
        error = f"{type(reason).__name__}: {reason}"
    return Result(claim.name, claim.expected, rows, time.perf_counter() - start, error)


def _check_rows(claim: Claim, rows: Iterable[Row]) -> None:
    """Refuse rows from which no verdict follows, or that contradict what the claim declares."""
    rows = list(rows)
    if wrong := [row for row in rows if not isinstance(row, Row)]:
        raise ValueError(f"the claim {claim.name!r} must yield rows: got {shown(wrong[0])}.")
    if not any(row.decides in ("printed", "both") for row in rows):
        raise ValueError(f"the claim {claim.name!r} must yield a row that decides whether it holds as printed.")
    if any(row.decides in ("corrected", "both") for row in rows) != bool(claim.correction):
        raise ValueError(f"the claim {claim.name!r} must have both a `correction` and corrected rows, or neither.")
    names = [(row.decides, row.quantity) for row in rows]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"two rows of the claim {claim.name!r} are both {' '.join(twice[0])!r}.")


def verify(
    chosen: Iterable[Claim], trial: Trial, report: Callable[[Result], None] = lambda result: None
) -> list[Result]:
    """Measure claims one after the other; one that breaks down has a result with its reason, and the rest go on.

    **Arguments:**

    - `chosen`: the claims
    - `trial`: how hard to try
    - `report`: called with each `Result` as soon as it is there

    **Returns** the `Result`s, in order.

    **Example:**

        >>> from linnet_papers.reproduction import Trial, claim, printed, verify, within
        >>> @claim("sum", where="Eq. (1)", says="One and one are three.", tried="once", expected="refuted")
        ... def total(trial):
        ...     yield printed("one and one", 1 + 1, within(1e-12, "rounding of one sum", of=3))
        >>> verify([total], Trial(quick=True))[0].verdict
        'refuted'
    """
    of_kind("trial", trial, Trial, "`Trial(quick=..., seed=...)`")
    if not isinstance(chosen, Iterable):
        raise ValueError(f"`chosen` must be a list of claims: got {type(chosen).__name__}.")
    results = []
    for one in chosen:
        of_kind("chosen", one, Claim, "`reproduction.claims()`")
        results.append(measure(one, trial))
        report(results[-1])
    return results


def _is_machine_failure(reason: Exception) -> bool:
    """Return whether a full disk, a lock or the like is to blame, which says nothing of a claim."""
    from linnet.sweeps.errors import ExecutorError, StoreError

    return isinstance(reason, (StoreError, ExecutorError, OSError))
