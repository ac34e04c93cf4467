"""Smooth positive curves between places where they are known, and how far off that is: each place left out once."""

from __future__ import annotations

import numpy as np

_SHARE = 0.25  # of what leaving out a place changes there: the gaps that are left are half as long


def between(places: np.ndarray, values: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Curves (place, ...) at the places asked for, within the ends: cubic without overshoot, of few places linear."""
    from scipy.interpolate import Akima1DInterpolator

    within = np.clip(asked, places[0], places[-1])
    if places.size > 3:
        return np.asarray(Akima1DInterpolator(places, values, method="makima")(within))
    if places.size == 1:
        return np.broadcast_to(values[0], (asked.size, *values.shape[1:]))
    right = np.clip(np.searchsorted(places, within), 1, places.size - 1)
    part = (within - places[right - 1]) / (places[right] - places[right - 1])
    part = part.reshape(-1, *(1 for _ in values.shape[1:]))
    return np.asarray(values[right - 1] * (1 - part) + values[right] * part)


def between_error(places: np.ndarray, values: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """How far `between` may be off at the places asked for: a quarter of the change when a neighboring place is left
    out.

    Zero at a known place; otherwise the mean of the two neighboring places, where the ends, which cannot be left out,
    are as good as the places next to them.
    """
    if places.size < 3:
        return np.zeros((asked.size, *values.shape[1:]))
    changes = np.zeros_like(values)
    for i in range(1, places.size - 1):
        others = np.arange(places.size) != i
        changes[i] = np.abs(between(places[others], values[others], places[i : i + 1])[0] - values[i])
    changes[0], changes[-1] = changes[1], changes[-2]
    right = np.clip(np.searchsorted(places, asked), 1, places.size - 1)
    known = np.isin(asked, places).reshape(-1, *(1 for _ in values.shape[1:]))
    return np.where(known, 0.0, _SHARE * (changes[right - 1] + changes[right]) / 2)
