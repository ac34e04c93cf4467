"""How trained and predicted curves lie on each other in the pictures, and lines that mark a moment."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linnet.explorer import drawing
from linnet.style import AMBER, BLUE, GREEN, GREY, ORANGE, PINK, SKY

__all__ = [
    "AMBER",
    "BLUE",
    "GREEN",
    "GREY",
    "LAST",
    "ORANGE",
    "PINK",
    "SKY",
    "moments",
    "predicted",
    "shades",
    "trained",
]

LAST = 1001  # `legendrank` of what is named once for all curves: behind the curves' own names, which have 1000


def trained(x: ArrayLike, y: ArrayLike, name: str, colour: str, **more: Any) -> drawing.Trace:
    """What was trained where a prediction lies on it: broad and pale."""
    return drawing.line(x, y, name, colour=colour, **{"width": 5, "opacity": 0.5, **more})


def predicted(x: ArrayLike, y: ArrayLike, name: str, colour: str, **more: Any) -> drawing.Trace:
    """What was predicted: dashed, over what was trained."""
    return drawing.line(x, y, name, colour=colour, dash=drawing.THEORY, **more)


def moments(lines: Iterable[tuple[float, str, str]]) -> drawing.Options:
    """Vertical lines (where, name, dash) as parts of a layout; those that do not exist (NaN) are left out."""
    shapes, notes = [], []
    for at, text, dash in lines:
        if np.isfinite(at):
            look = {"color": GREY, "width": 1.5, "dash": dash}
            shapes.append({"type": "line", "yref": "paper", "x0": at, "x1": at, "y0": 0, "y1": 1, "line": look})
            place = {"x": at, "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top"}
            notes.append({**place, "text": text, "showarrow": False, "font": {"size": 12}})
    return {"shapes": shapes, "annotations": notes}


def shades(count: int) -> list[str]:
    """Colours for curves that have an order, from blue over green to amber: seen on white and on black."""
    stops = np.array([[0x2F, 0x6F, 0xD6], [0x12, 0x9A, 0x8F], [0x6C, 0xA8, 0x2E], [0xE0, 0x8A, 0x1A]], dtype=float)
    at = np.linspace(0, len(stops) - 1, count)
    mixed = np.stack([np.interp(at, np.arange(len(stops)), channel) for channel in stops.T], axis=1)
    return ["#" + "".join(f"{round(part):02X}" for part in colour) for colour in mixed]
