"""Curves that several figures draw: singular values along training, and the levels at which a theory has them end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet import style


def draw_singular_values(
    axis: style.Axes, time: ArrayLike, values: ArrayLike, *, name: str = "σ{}", **look: Any
) -> None:
    """Draw one curve for each singular value (time, mode), from dark to light."""
    values = np.asarray(values)
    for mode, color in enumerate(style.shades(values.shape[1])):
        axis.plot(time, values[:, mode], color=color, label=name.format(style.subscript(mode + 1)), **look)


def draw_levels(axis: style.Axes, heights: ArrayLike, label: str, *, of: int, **look: Any) -> None:
    """Draw a level for each height, in the colors of the first of `of` singular values, with one entry in the
    legend."""
    for mode, (height, color) in enumerate(zip(np.asarray(heights), style.shades(of), strict=False)):
        axis.axhline(float(height), label=label if mode == 0 else None, **{**look, "color": color})
