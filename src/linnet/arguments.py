"""Checks of what users pass in: each says what was required, what was received and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import numpy as np


def real_array(name: str, value: Any, *, ndim: int | tuple[int, ...] | None = None) -> np.ndarray:
    """`value` as a float64 array (float32 stays float32 only in the trainers), finite and of the wanted rank."""
    _refuse_masks(name, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"`{name}` must be an array of real numbers: got {type(value).__name__}.") from None
    wanted = (ndim,) if isinstance(ndim, int) else ndim
    if wanted is not None and array.ndim not in wanted:
        axes = " or ".join(str(n) for n in wanted)
        raise ValueError(f"`{name}` must have {axes} axes: got shape {array.shape}.")
    if array.size == 0:
        raise ValueError(f"`{name}` is empty: got shape {array.shape}.")
    if not np.isfinite(array).all():
        bad = int(array.size - np.isfinite(array).sum())
        raise ValueError(f"`{name}` must be finite: {bad} of {array.size} entries are NaN or infinite.")
    return array


def _refuse_masks(name: str, value: Any) -> None:
    """A mask says that numbers are missing; NumPy would hand over what lies beneath it as if it were data."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    hidden = sum(int(np.ma.count_masked(part)) for part in parts if isinstance(part, np.ma.MaskedArray))
    if hidden:
        raise ValueError(
            f"`{name}` must not be masked: {hidden} of its entries are. Fill them, or leave their rows or columns out."
        )


def same_shape(**arrays: np.ndarray) -> None:
    """Refuses arrays of different shapes, which would otherwise be broadcast against each other."""
    if len({array.shape for array in arrays.values()}) > 1:
        names = " and ".join(f"`{name}`" for name in arrays)
        raise ValueError(f"{names} must have one shape: got {' and '.join(str(a.shape) for a in arrays.values())}.")


def whole_steps(name: str, value: Any, *, most: int = 10**15) -> np.ndarray:
    """Numbers of steps to report at: one axis, whole, non-negative, strictly increasing."""
    steps = times_array(name, value)
    if (steps != np.round(steps)).any():
        raise ValueError(f"`{name}` must be whole numbers of steps: got {steps[steps != np.round(steps)][0]:g}.")
    if steps[-1] > most:
        raise ValueError(f"`{name}` must be at most {most:.0e}: got {steps[-1]:g}.")
    return steps


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    found = number(name, value)
    if not found > 0:
        raise ValueError(f"`{name}` must be positive: got {value}.")
    return found


def non_negative(name: str, value: Any) -> float:
    """A finite number, zero or above."""
    found = number(name, value)
    if found < 0:
        raise ValueError(f"`{name}` must not be negative: got {value}.")
    return found


def count(name: str, value: Any, *, least: int = 1, most: int = 10**300) -> int:
    """A whole number of at least `least`, small enough to be a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        if isinstance(value, (float, np.floating)) and float(value).is_integer():
            value = int(value)
        else:
            raise ValueError(f"`{name}` must be a whole number: got {value!r}.")
    if value < least:
        raise ValueError(f"`{name}` must be at least {least}: got {value}.")
    if value > most:
        raise ValueError(f"`{name}` must be at most {float(most):.3g}: got a number of {len(str(value))} digits.")
    return int(value)


def times_array(name: str, value: Any) -> np.ndarray:
    """Times to report at: one axis, non-negative, strictly increasing."""
    times = np.atleast_1d(real_array(name, value, ndim=(0, 1)))
    if times[0] < 0:
        raise ValueError(f"`{name}` must not be negative: the first is {times[0]}.")
    if (np.diff(times) <= 0).any():
        at = int(np.argmax(np.diff(times) <= 0))
        raise ValueError(
            f"`{name}` must be strictly increasing: entry {at + 1} ({times[at + 1]}) does not exceed entry {at} "
            f"({times[at]})."
        )
    return times


def number(name: str, value: Any) -> float:
    """A finite number; text is not one."""
    try:
        if isinstance(value, (str, bytes)) or value is np.ma.masked:
            raise TypeError
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"`{name}` must be a number: got {value!r}.") from None
    if not np.isfinite(found):
        raise ValueError(f"`{name}` must be finite: got {value}.")
    return found


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name (a figure, a claim, a field): the near ones, if there are any."""
    names = list(names)
    inside = [other for other in names if name and name in other]
    near = list(dict.fromkeys(difflib.get_close_matches(name, names, n=3) + inside))[:4]
    return f"; did you mean {', '.join(near)}?" if near else "."
