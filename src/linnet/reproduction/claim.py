"""What a claim is: a sentence of a paper, how it is measured, the rule that judges the numbers, and the sentence that
tells them.

The three parts stand apart. `measure` trains and computes, and returns numbers; `judge` turns the numbers into a
verdict by named limits, each with its reason; `tell` writes the numbers as a sentence. So a limit can be read without
the measuring code, and a test can judge numbers that nobody measured.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

import numpy as np

from linnet.arguments import count, flag, of_kind

Numbers = Mapping[str, Any]  # what was measured, by name; "value" decides, "uncertainty" is its standard error


class Verdict(StrEnum):
    """What the measurement says of the printed claim.

    **Example:**

        >>> from linnet.reproduction import Verdict
        >>> [verdict.value for verdict in Verdict]
        ['holds', 'holds with the correction', 'refuted', 'outside its assumptions']
    """

    HOLDS = "holds"
    CORRECTED = "holds with the correction"
    REFUTED = "refuted"
    OUTSIDE = "outside its assumptions"


class Limit(float):
    """A limit of a verdict, and why it is this number and no other.

    **Arguments:**

    - `value`: the number
    - `reason`: why this one

    **Returns** a number, for all that it is compared with.

    **Example:**

        >>> from linnet.reproduction import Limit
        >>> limit = Limit(0.05, "the printed time neglects u(0)/s, worth up to 3% at this scale")
        >>> 0.03 < limit, limit.reason
        (True, 'the printed time neglects u(0)/s, worth up to 3% at this scale')
    """

    reason: str

    def __new__(cls, value: float, reason: str) -> Limit:
        """A float that knows its reason; it compares and prints as the number."""
        limit = super().__new__(cls, value)
        limit.reason = reason
        return limit

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        return float(self), self.reason


@dataclass(frozen=True)
class Trial:
    """How hard to try.

    **Attributes:**

    - `quick`: the same measurement on a smaller setting
    - `seed`: fixes every random number

    **Example:**

        >>> from linnet.reproduction import Trial
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
    - `value`: the one number that decides
    - `uncertainty`: its standard error or numerical tolerance where it has one
    - `numbers`: all that was measured

    **Example:**

        >>> from linnet.reproduction import Measurement, Verdict
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
    """A sentence of a paper that can be measured. `expected` is the verdict of a sound linnet: another is an alarm.

    **Attributes:**

    - `name`: short (`eq27`); the paper that lists the claim puts its own name before it
    - `number`: where the sentence stands
    - `sentence`: the claim
    - `assumptions`: under what it is made
    - `setting`: on which networks it is tried
    - `claimed`: what it says of the numbers
    - `expected`: the verdict of a sound linnet
    - `measure`: from a `Trial` to numbers
    - `judge`: from numbers to a `Verdict`
    - `tell`: from numbers to a sentence
    - `limits`: the named limits that `judge` goes by, for the pages that print them
    - `paper`: that lists it

    **Example:**

        >>> from linnet.reproduction import Claim, Trial, Verdict, verify
        >>> claim = Claim(
        ...     name="sum", number="Eq. (1)", sentence="One and one are two.", assumptions="none", setting="none",
        ...     claimed="2", expected=Verdict.HOLDS, measure=lambda trial: {"sum": 1 + 1},
        ...     judge=lambda numbers: Verdict.HOLDS if numbers["sum"] == 2 else Verdict.REFUTED,
        ...     tell=lambda numbers: f"it is {numbers['sum']}",
        ... )
        >>> verify([claim], Trial(quick=True))[0].measurement.measured
        'it is 2'
    """

    name: str
    number: str
    sentence: str
    assumptions: str
    setting: str
    claimed: str
    expected: Verdict
    measure: Callable[[Trial], Numbers]
    judge: Callable[[Numbers], Verdict]
    tell: Callable[[Numbers], str]
    limits: Mapping[str, Limit] = field(default_factory=dict)
    paper: str = ""

    def measurement(self, trial: Trial) -> Measurement:
        """Measures, judges and tells."""
        of_kind("trial", trial, Trial, "`Trial(quick=..., seed=...)`")
        numbers = self.measure(trial)
        value, uncertainty = numbers.get("value"), numbers.get("uncertainty")
        return Measurement(self.judge(numbers), self.tell(numbers), value, uncertainty, numbers)


@dataclass(frozen=True)
class Outcome:
    """A claim with what was measured, or the reason why measuring it broke down.

    **Attributes:**

    - `claim`: which
    - `measurement`: what was measured; None where it broke down
    - `seconds`: it took
    - `error`: the reason where it broke down

    **Example:**

        >>> import linnet as ln
        >>> from linnet.reproduction import Outcome
        >>> claim = ln.reproduction.claims()["watanabe-normalised-error"]
        >>> Outcome(claim, None, 0.1, error="out of memory").measurement is None
        True
    """

    claim: Claim
    measurement: Measurement | None
    seconds: float
    error: str | None = None

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is that of a sound linnet."""
        return self.measurement is not None and self.measurement.verdict == self.claim.expected

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain values, one object of `linnet verify --json`."""
        words = [f.name for f in fields(Claim) if f.type in ("str", "Verdict")]
        claim = {name: str(getattr(self.claim, name)) for name in words}
        measured: dict[str, Any] = {
            "verdict": None,
            "measured": None,
            "value": None,
            "uncertainty": None,
            "numbers": {},
        }
        if (found := self.measurement) is not None:
            measured = {
                "verdict": str(found.verdict),
                "measured": found.measured,
                "numbers": plain(dict(found.numbers)),
            }
            measured |= {"value": plain(found.value), "uncertainty": plain(found.uncertainty)}
        rest = {"seconds": self.seconds, "error": self.error, "as_expected": self.as_expected}
        return {**claim, **measured, **rest}


def verify(
    chosen: Iterable[Claim], trial: Trial, report: Callable[[Outcome], None] = lambda outcome: None
) -> list[Outcome]:
    """Measures each claim in turn; one that breaks down is an outcome with its reason, and the rest go on.

    **Arguments:**

    - `chosen`: the claims
    - `trial`: how hard to try
    - `report`: called with each `Outcome` as soon as it is there

    **Returns** the `Outcome`s, in order.

    **Example:**

        >>> from linnet.reproduction import Claim, Trial, Verdict, verify
        >>> claim = Claim(
        ...     name="sum", number="Eq. (1)", sentence="One and one are three.", assumptions="none", setting="none",
        ...     claimed="3", expected=Verdict.REFUTED, measure=lambda trial: {"sum": 1 + 1},
        ...     judge=lambda numbers: Verdict.HOLDS if numbers["sum"] == 3 else Verdict.REFUTED,
        ...     tell=lambda numbers: f"it is {numbers['sum']}",
        ... )
        >>> (outcome,) = verify([claim], Trial(quick=True))
        >>> outcome.measurement.verdict.value, outcome.measurement.measured
        ('refuted', 'it is 2')
    """
    of_kind("trial", trial, Trial, "`Trial(quick=..., seed=...)`")
    if not isinstance(chosen, Iterable):
        raise ValueError(f"`chosen` must be a list of claims: got {type(chosen).__name__}.")
    outcomes = []
    for claim in chosen:
        of_kind("chosen", claim, Claim, "`reproduction.claims()`")
        start = time.perf_counter()
        measurement, error = None, None
        try:
            measurement = claim.measurement(trial)
        except Exception as reason:  # a broken measurement is a red claim, not the end of the others
            if _of_the_machine(reason):
                raise
            error = f"{type(reason).__name__}: {reason}"
        outcomes.append(Outcome(claim, measurement, time.perf_counter() - start, error))
        report(outcomes[-1])
    return outcomes


def plain(value: Any) -> Any:
    """The value as JSON can hold it: NumPy's numbers become Python's, NaN and infinity none, other objects text."""
    if isinstance(value, Mapping):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [plain(entry) for entry in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return None if value is None else str(value)


def _of_the_machine(reason: Exception) -> bool:
    """Whether a full disk, a lock or the like is to blame, which says nothing of a claim."""
    from linnet.sweeps.errors import ExecutorError, StoreError

    return isinstance(reason, (StoreError, ExecutorError, OSError))
