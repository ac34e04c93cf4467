"""Where claims register: a sentence of a paper, how it is tried, and the verdict that the figures give.

A module of this folder named after its paper and part (`watanabe_phases.py`) ends with

    CLAIMS = [Claim(name="watanabe-eq27", ..., measure=measure_eq27), ...]

and is found by its presence.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from linnet.papers import nearest, place


class Verdict(StrEnum):
    """What the measurement says of the printed claim."""

    HOLDS = "holds"
    CORRECTED = "holds with the correction"
    REFUTED = "refuted"
    OUTSIDE = "outside its assumptions"


@dataclass(frozen=True)
class Trial:
    """How hard to try: `quick` is the same measurement on a smaller setting; `seed` fixes every random number."""

    quick: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Measurement:
    """What was measured: the verdict must follow from the numbers, never from the expectation.

    `measured` is a sentence with its figures; `value` the one number that decides, `uncertainty` its standard error or
    numerical tolerance where it has one.
    """

    verdict: Verdict
    measured: str
    value: float | None = None
    uncertainty: float | None = None


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that can be measured. `expected` is the verdict of a sound linnet: another is an alarm."""

    name: str
    paper: str
    number: str
    sentence: str
    assumptions: str
    setting: str
    claimed: str
    expected: Verdict
    measure: Callable[[Trial], Measurement]


@dataclass(frozen=True)
class Outcome:
    """A claim with what was measured and the seconds it took; `error` is the reason where the measuring broke down."""

    claim: Claim
    measurement: Measurement | None
    seconds: float
    error: str | None = None

    @property
    def as_expected(self) -> bool:
        return self.measurement is not None and self.measurement.verdict == self.claim.expected

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain values, one object of `linnet verify --json`."""
        claim = {key: value for key, value in asdict(self.claim).items() if key != "measure"}
        measured: dict[str, Any] = {"verdict": None, "measured": None, "value": None, "uncertainty": None}
        if self.measurement is not None:
            measured = {**asdict(self.measurement), "value": _plain(self.measurement.value)}
            measured["uncertainty"] = _plain(self.measurement.uncertainty)
        rest = {"seconds": self.seconds, "error": self.error, "as_expected": self.as_expected}
        return {**claim, **measured, **rest}


def claims() -> dict[str, Claim]:
    """Every registered claim by name, in the order of the papers."""
    return registered("CLAIMS")


def registered(attribute: str) -> dict[str, Any]:
    """What the modules of this folder list under that name, by its own name, in the order of the papers."""
    import linnet.claims as folder

    found: dict[str, Any] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(folder.__path__)):
        for entry in getattr(importlib.import_module(f"{folder.__name__}.{module}"), attribute, ()):
            if entry.name in found:
                raise RuntimeError(f"two {attribute.lower()} are named {entry.name!r}")
            found[entry.name] = entry
    return dict(sorted(found.items(), key=lambda item: place(item[1].paper)))


def select(names: Iterable[str], known: Mapping[str, Claim] | None = None) -> list[Claim]:
    """The claims asked for, each once: by name, or by how their names start (`watanabe`, `tu-thm`); none means all."""
    known = claims() if known is None else known
    chosen: dict[str, Claim] = {}
    for name in names:
        found = [known[name]] if name in known else [c for c in known.values() if name and c.name.startswith(name)]
        if not found:
            raise ValueError(f"no claim is named {name!r}{nearest(name, known)} `linnet list` shows all.")
        chosen.update((claim.name, claim) for claim in found)
    return list(chosen.values()) or list(known.values())


def verify(
    chosen: Iterable[Claim], trial: Trial, report: Callable[[Outcome], None] = lambda outcome: None
) -> list[Outcome]:
    """Measures each claim in turn; one that breaks down is an outcome with its reason, and the rest go on."""
    outcomes = []
    for claim in chosen:
        start = time.perf_counter()
        measurement, error = None, None
        try:
            measurement = claim.measure(trial)
        except Exception as reason:  # a broken measurement is a red claim, not the end of the others
            if _of_the_machine(reason):
                raise
            error = f"{type(reason).__name__}: {reason}"
        outcomes.append(Outcome(claim, measurement, time.perf_counter() - start, error))
        report(outcomes[-1])
    return outcomes


def _of_the_machine(reason: Exception) -> bool:
    """Whether a full disk, a lock or the like is to blame, which says nothing of a claim."""
    from linnet.sweeps.errors import ExecutorError, StoreError

    return isinstance(reason, (StoreError, ExecutorError, OSError))


def _plain(number: float | None) -> float | None:
    """A number that JSON can hold: it has no NaN and no infinity."""
    return float(number) if number is not None and math.isfinite(number) else None
