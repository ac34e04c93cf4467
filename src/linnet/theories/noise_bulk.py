"""Singular values of pure noise: the Marchenko-Pastur law, its edges, quantiles and sums."""

from __future__ import annotations

import math

import numpy as np

from linnet.arguments import count, number, real_array


def ratio_of(outputs: int, inputs: int) -> float:
    """The aspect ratio $b$ of a matrix: its smaller side over its larger one, at most 1."""
    sides = count("outputs", outputs), count("inputs", inputs)
    return min(sides) / max(sides)


def bulk_edges(ratio: float) -> tuple[float, float]:
    r"""Least and largest singular value of noise, $1 \mp \sqrt b$, in units of noise_std * sqrt(larger side)."""
    side = math.sqrt(_ratio(ratio))
    return 1 - side, 1 + side


def bulk_share(values: object, ratio: float) -> np.ndarray:
    r"""Share of the singular values of noise below each of `values`, in the units of `bulk_edges`.

    With $s^2 = 1 + b + 2\sqrt b \cos\varphi$ the density is $\frac{2}{\pi} \sin^2\varphi / s^2\, d\varphi$.

    >>> bulk_share([0.0, 1.0, 2.0], 1.0).round(3)
    array([0.   , 0.609, 1.   ])
    """
    ratio = _ratio(ratio)
    s = np.clip(real_array("values", values), *bulk_edges(ratio))
    side = np.sqrt(ratio)
    angle = np.arccos(np.clip((s * s - 1 - ratio) / (2 * side), -1, 1))
    # the integral of sin^2/(A + B cos) from the angle to pi, A = 1 + b, B = 2 sqrt(b), sqrt(A^2 - B^2) = 1 - b
    turn = np.arctan2((1 - side) * np.sin(angle / 2), (1 + side) * np.cos(angle / 2))
    below = (1 + ratio) * (np.pi - angle) + 2 * side * np.sin(angle) - (1 - ratio) * (np.pi - 2 * turn)
    return np.clip(below / (2 * np.pi * ratio), 0, 1)


def bulk_quantile(share: float, ratio: float) -> float:
    """The singular value of noise that a `share` of them lies below; `bulk_share` backwards.

    >>> round(bulk_quantile(0.5, 1.0), 4)
    0.8079
    """
    from scipy.optimize import brentq  # where it is needed: it takes half a second to load

    low, high = bulk_edges(ratio)
    share, ratio = number("share", share), _ratio(ratio)
    if share <= 0 or share >= 1:
        return low if share <= 0 else high
    return float(brentq(lambda s: float(bulk_share(s, ratio)) - share, low, high, xtol=1e-13))


def _ratio(ratio: float) -> float:
    """An aspect ratio: above 1e-15, where the bulk still has a width, and at most 1."""
    found = number("ratio", ratio)
    if not 1e-15 <= found <= 1:
        raise ValueError(f"`ratio` must be the smaller side over the larger, between 1e-15 and 1: got {found:g}.")
    return found
