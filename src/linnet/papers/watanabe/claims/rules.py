"""Rules that several claims share."""

from __future__ import annotations

from collections.abc import Callable

from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, lowest

SLOPE = Limit(0.95, "a power of the start's scale, fitted over decades, is short of its value by less than 0.05")


def below(**limits: float) -> Callable[[Numbers], Verdict]:
    """Holds where every named number lies below its limit; a NaN does not."""
    return lambda numbers: (
        Verdict.HOLDS if all(numbers[name] < limit for name, limit in limits.items()) else Verdict.REFUTED
    )


def above(**limits: float) -> Callable[[Numbers], Verdict]:
    """Holds where every named number lies above its limit; a NaN does not."""
    return lambda numbers: (
        Verdict.HOLDS if all(numbers[name] > limit for name, limit in limits.items()) else Verdict.REFUTED
    )


def corrected(limit: float) -> Callable[[Numbers], Verdict]:
    """The printed formula is right where `printed` lies below the limit, its correction where `value` does."""
    return lambda numbers: (
        Verdict.HOLDS
        if numbers["printed"] < limit
        else Verdict.CORRECTED
        if numbers["value"] < limit
        else Verdict.REFUTED
    )


def scales(trial: Trial) -> list[float]:
    """The scales of the start over which slopes are taken."""
    return [1e-2, 1e-4, 1e-6] if trial.quick else [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]


def slopes(used: list[float], sizes: list[float]) -> tuple[float, float]:
    """The overall slope and the smallest between neighbours: one steep pair must not hide a flat one."""
    pairs = [exponent(used[i : i + 2], sizes[i : i + 2])[0] for i in range(len(used) - 1)]
    return exponent(used, sizes)[0], lowest(pairs)
