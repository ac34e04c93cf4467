"""Measuring claims: each gives an outcome, what was measured or the reason why measuring broke down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from linnet._arguments import of_kind
from linnet_papers.reproduction.declaration import Claim, Measurement, Trial, Verdict
from linnet_papers.reproduction.numbers import json_value

NO_VERDICT = "no verdict"  # where measuring broke down
_MEASURED = [field.name for field in fields(Measurement)]


@dataclass(frozen=True)
class Outcome:
    """A claim with what was measured, or the reason why measuring it broke down.

    **Attributes:**

    - `claim`: which
    - `measurement`: what was measured; None where it broke down
    - `seconds`: it took
    - `error`: the reason where it broke down

    **Example:**

        >>> import linnet_papers.reproduction
        >>> from linnet_papers.reproduction import Outcome
        >>> claim = linnet_papers.reproduction.claims()["watanabe-normalized-error"]
        >>> Outcome(claim, None, 0.1, error="out of memory").measurement is None
        True
    """

    claim: Claim
    measurement: Measurement | None
    seconds: float
    error: str | None = None

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.measurement is not None and self.measurement.verdict == self.claim.expected

    def to_json(self) -> dict[str, Any]:
        """The outcome as plain values, one object of `linnet verify --json`."""
        words = [f.name for f in fields(Claim) if f.type in ("str", "Verdict") and f.name != "reads"]
        claim = {name: str(getattr(self.claim, name)) for name in [*words, "requirement"]}
        measured: dict[str, Any] = {**dict.fromkeys(_MEASURED), "numbers": {}}
        if self.measurement is not None:
            measured = {name: json_value(getattr(self.measurement, name)) for name in _MEASURED}
        rest = {"seconds": self.seconds, "error": self.error, "as_expected": self.as_expected}
        return {**claim, **measured, **rest}


def outcome_from_json(claim: Claim, values: Mapping[str, Any]) -> Outcome:
    """Return the outcome that `Outcome.to_json` has written; its numbers are plain ones."""
    measurement = None
    if values["verdict"] is not None:
        rest = {name: values[name] for name in _MEASURED if name != "verdict"}
        measurement = Measurement(verdict=Verdict(values["verdict"]), **rest)
    return Outcome(claim, measurement, values["seconds"], values["error"])


def verdict_and_text(outcome: Outcome) -> tuple[str, str]:
    """Return the verdict and what was measured; where measuring broke down, that and the reason."""
    if outcome.measurement is None:
        return NO_VERDICT, outcome.error or ""
    return str(outcome.measurement.verdict), outcome.measurement.measured


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

        >>> from linnet_papers.reproduction import Trial, Verdict, Within, claim, verify
        >>> @claim("sum", where="Eq. (1)", says="One and one are three.", tried="once", expected=Verdict.REFUTED,
        ...        holds=Within(1e-12, of=3, because="rounding"), reads="1 + 1 = {value}")
        ... def total(trial):
        ...     return {"value": 1 + 1}
        >>> (outcome,) = verify([total], Trial(quick=True))
        >>> outcome.measurement.verdict.value, outcome.measurement.measured
        ('refuted', '1 + 1 = 2. It does not hold: value 2, not within 1e-12 of 3.')
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
            if _is_machine_failure(reason):
                raise
            error = f"{type(reason).__name__}: {reason}"
        outcomes.append(Outcome(claim, measurement, time.perf_counter() - start, error))
        report(outcomes[-1])
    return outcomes


def _is_machine_failure(reason: Exception) -> bool:
    """Return whether a full disk, a lock or the like is to blame, which says nothing of a claim."""
    from linnet.sweeps.errors import ExecutorError, StoreError

    return isinstance(reason, (StoreError, ExecutorError, OSError))
