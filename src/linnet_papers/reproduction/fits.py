"""Lines through what was measured, with standard errors; ranks; extremes that see NaN; distances; crossings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def line(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Return the slope of the least-squares line and its standard error, which is NaN for two points."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    centered = x - x.mean()
    slope = float(centered @ y / (centered @ centered))
    if len(x) == 2:
        return slope, float("nan")
    rest = y - y.mean() - slope * centered
    return slope, float(np.sqrt((rest**2).sum() / (len(x) - 2) / (centered @ centered)))


def exponent(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """Return the p of y ~ x^p, from the line through the logarithms, and its standard error.

    Where each `x` has several `y` (x, ...), every one of them is a point.
    """
    points = np.asarray(y, dtype=float)
    return line(np.repeat(np.log(x), points[0].size), np.log(points).ravel())


def slopes(x: ArrayLike, y: ArrayLike) -> tuple[float, float]:
    """The p of y ~ x^p over all points, and the least between neighbors: one steep pair must not hide a flat one."""
    x, y = np.asarray(x), np.asarray(y)
    pairs = [exponent(x[i : i + 2], y[i : i + 2])[0] for i in range(len(x) - 1)]
    return exponent(x, y)[0], lowest(pairs)


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's rank correlation, NaN if one of the values is. SciPy's takes half a second to load."""
    return float(np.corrcoef(_ranks(x), _ranks(y))[0, 1])


def _ranks(values: ArrayLike) -> np.ndarray:
    """Return the rank of each value, from 1 on; equal values share the mean of theirs, and that of NaN is NaN."""
    values = np.asarray(values, dtype=float)
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.where(np.isnan(values), np.nan, (np.cumsum(counts) - (counts - 1) / 2)[place])


def largest_t_by_chance(points: int, trials: int, probability: float = 1e-4) -> float:
    """Return what the largest of `points` Student's t of `trials` draws exceeds with at most this probability.

    By Bonferroni's inequality.
    """
    from scipy.special import stdtrit

    return float(stdtrit(trials - 1, 1 - probability / (2 * points)))


def highest(*numbers: object) -> float:
    """The largest of the numbers, or of the one list of them; NaN if one is, where Python's `max` may pass over it."""
    return float(np.max(_floats(numbers)))


def lowest(*numbers: object) -> float:
    """The least of the numbers, or of the one list of them; NaN if one is, where Python's `min` may pass over it."""
    return float(np.min(_floats(numbers)))


def _floats(numbers: tuple[Any, ...]) -> np.ndarray:
    """Return the numbers, or the one list of them, as an array."""
    return np.array(list(numbers[0] if len(numbers) == 1 else numbers), dtype=float)


def relative_distance(measured: np.ndarray, target: np.ndarray, order: float | None = None) -> float:
    """Return the size of the difference over that of the target; `order` of the norm as in `np.linalg.norm`."""
    return float(np.linalg.norm(measured - target, order) / np.linalg.norm(target, order))


def first_index(reached: np.ndarray, otherwise: str) -> int:
    """Return the index of the first state that meets the condition; `otherwise` says what none of them did."""
    if not reached.any():
        raise RuntimeError(f"{otherwise}: the run is too short for what is measured on it")
    return int(reached.argmax())


def last_crossing(times: np.ndarray, margin: np.ndarray) -> float:
    """Return from when on a margin (time,) is not negative, straight between two states; NaN if it ends negative."""
    below = np.flatnonzero(margin < 0)
    if not below.size:
        return float(times[0])
    last = int(below[-1])
    if last + 1 == len(times):
        return float("nan")
    return float(times[last] - margin[last] * (times[last + 1] - times[last]) / (margin[last + 1] - margin[last]))
