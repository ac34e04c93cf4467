"""Drawing an initialization in the singular basis: how many units and rows stand for all of them, and their normal
numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.theories.lazy_active.task_spectra import TaskSpectrum

_MOST_ROWS = 200  # of the bulk, before equal modes are gathered
_GROUPS = 16  # of the bulk, in the narrowest networks


def thinned_size(width: float, apart: int, bulk: float, most: int) -> tuple[float, float]:
    """Units and rows of the bulk to compute with: all of them, or both fewer by one factor and nearly whole."""
    # a narrow network costs what its width costs, a wide one (reduced) what its rows cost
    fewest = max(0.8 * (most - apart), 4.0)
    factor = min((width - apart) / max(most - apart, 4), bulk / fewest)
    if factor <= 1 or width <= most:
        return width, bulk
    rows = np.arange(max(1, np.floor(0.8 * bulk / factor)), np.ceil(bulk / factor) + 1)
    units = apart + (width - apart) * rows / bulk
    chosen = int(np.argmin(np.abs(units - np.round(units)) / units))
    return float(np.round(units[chosen])), float(rows[chosen])


def bulk_rows(spectrum: TaskSpectrum, rows: float, units: float) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Values and overlaps of the bulk's rows: one by one where they are few, else in groups of equal modes."""
    if not rows:
        return np.zeros(0), np.zeros(0), []
    most = min(2 * _GROUPS * units, max(_MOST_ROWS, 4 * units))
    if rows <= most:
        number = max(round(rows), 1)
        fewer = spectrum.grouped(number)
        ends = np.cumsum(fewer.multiplicities[spectrum.num_outliers :])
        at = spectrum.num_outliers + np.searchsorted(ends, (np.arange(number) + 0.5) * ends[-1] / number)
        return fewer.values[at], fewer.overlaps[at], [1.0] * number
    fewer = spectrum.grouped(int(most // (2 * units)))
    bulk = slice(spectrum.num_outliers, None)
    numbers = fewer.multiplicities[bulk] * (rows / fewer.multiplicities[bulk].sum())
    return fewer.values[bulk], fewer.overlaps[bulk], numbers.tolist()


def standard_start(
    draw: np.random.Generator, apart: int, numbers: list[float], idle: float, units: float
) -> tuple[Any, Any]:
    """Standard normal rows of both layers, (layer, row, unit), and rows of the larger dimension alone, (row, unit)."""
    rows = apart + sum(numbers)
    if units > 2 * rows + idle:  # wide: only the triangle of [W1^T; W2] that has the same products (Bartlett)
        triangle = _triangle(draw, units, round(2 * rows + idle)).T
        n = round(rows)
        return np.stack([triangle[:n], triangle[n : 2 * n]]), triangle[2 * n :]
    units = round(units)
    blocks = [draw.standard_normal((apart, 2 * units))]
    blocks += [_gaussian(draw, number, 2 * units) for number in numbers]
    stacked = np.vstack(blocks)
    return np.stack([stacked[:, :units], stacked[:, units:]]), _gaussian(draw, idle, units)


def _gaussian(draw: np.random.Generator, number: float, columns: int) -> np.ndarray:
    """Gaussian rows; of more rows than columns only the triangle that has the same products."""
    if number <= columns:
        return draw.standard_normal((round(number), columns))
    return _triangle(draw, number, columns)


def _triangle(draw: np.random.Generator, number: float, columns: int) -> np.ndarray:
    """The triangular factor of `number` Gaussian rows of so many columns (Bartlett); `number` need not be whole."""
    triangle = np.triu(draw.standard_normal((columns, columns)), 1)
    triangle[np.diag_indices(columns)] = np.sqrt(draw.chisquare(number - np.arange(columns)))
    return triangle
