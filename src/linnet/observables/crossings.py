"""When a quantity passes a level."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import number, real_array, times_array


def crossing_time(times: ArrayLike, values: ArrayLike, level: float) -> float:
    """Return the first time at which a curve reaches a level from below, interpolated between saved times.

    If the level is crossed within a few saved steps, save more of them, because interpolation is linear.

    **Arguments:**

    - `times`: points in time, increasing, (time,)
    - `values`: values of the curve, (time,)
    - `level`: target level

    **Returns** the time. It is the first of `times` if the curve begins at or above the level, and NaN if the curve
    never reaches the level.

    **Example:**

        >>> from linnet.observables import crossing_time
        >>> crossing_time([0.0, 1.0, 2.0], [0.0, 0.4, 0.8], 0.5)
        1.25
    """
    t, y = times_array("times", times), real_array("values", values, ndim=1)
    if y.shape != t.shape:
        raise ValueError(f"`values` must have one entry for each of the {t.size} times: got shape {y.shape}.")
    level = number("level", level)
    above = np.flatnonzero(y >= level)
    if not above.size:
        return float("nan")
    i = int(above[0])
    if i == 0:
        return float(t[0])
    # halves, as differences of the largest numbers overflow
    share = (level / 2 - y[i - 1] / 2) / (y[i] / 2 - y[i - 1] / 2)
    return float(t[i - 1] * (1 - share) + share * t[i])
