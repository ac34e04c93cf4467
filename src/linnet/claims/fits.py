"""Straight lines through what was measured, with their standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np


def line(x: Any, y: Any) -> tuple[float, float]:
    """Slope of the least-squares line and its standard error (0 for two points)."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    rest = y - y.mean() - slope * centred
    return slope, float(np.sqrt((rest**2).sum() / max(len(x) - 2, 1) / (centred @ centred)))


def exponent(x: Any, y: Any) -> tuple[float, float]:
    """The p of y ~ x^p, from the line through the logarithms, and its standard error."""
    return line(np.log(x), np.log(y))


def within(fit: tuple[float, float]) -> str:
    """A fitted number with its standard error, for a sentence."""
    return f"{fit[0]:.3f} ± {fit[1]:.3f}"
