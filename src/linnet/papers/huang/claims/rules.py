"""Rules that several claims are judged by, and words they share."""

from __future__ import annotations

from collections.abc import Iterable

from linnet.papers.huang import settings
from linnet.reproduction import Verdict

ASSUMED = "Assumption 4.1, as printed"
SECTION_SIX = (
    "synthetic data of section 6: m = 1024, d = 10 000, n = 10, eta = 0.1, sigma_0 = 0.01, v_0 = 0.001, at this size "
    "in quick mode too"
)
INSIDE = "unit-signal data inside Assumption 4.1: n = 10, d = 10 000, m = 1024 (quick: d = 2000, m = 512)"
RATIOS = (
    INSIDE + f"; v_0/(sigma_0 sqrt(log m)) = {', '.join(f'{ratio:g}' for ratio in settings.RATIOS)}, "
    "8 draws of each (quick: 6)"
)


def holds_if(good: bool) -> Verdict:
    """Holds or is refuted."""
    return Verdict.HOLDS if good else Verdict.REFUTED


def printed_or_corrected(printed: bool, corrected: bool) -> Verdict:
    """Holds as printed, or only with the correction, or not even so."""
    if printed:
        return Verdict.HOLDS
    return Verdict.CORRECTED if corrected else Verdict.REFUTED


def listed(values: Iterable[float], form: str = ".3g") -> str:
    """Numbers with commas between them."""
    return ", ".join(format(value, form) for value in values)


def by_ratio(values: dict[float, float], form: str = ".2g") -> str:
    """Numbers by v_0/(sigma_0 sqrt(log m)), for a sentence."""
    return ", ".join(f"{ratio:g}: {format(value, form)}" for ratio, value in values.items())
