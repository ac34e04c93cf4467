"""Singular values of pure noise: the Marchenko-Pastur distribution, its edges, quantiles and sums."""

from __future__ import annotations

import math

import numpy as np

from linnet._arguments import count, number, real_array


def ratio_of(outputs: int, inputs: int) -> float:
    """Return the aspect ratio $b$ of a matrix: its smaller dimension divided by its larger one, at most 1.

    Pass it to the other functions of this module.

    **Arguments:**

    - `outputs`: number of rows
    - `inputs`: number of columns

    **Returns** $b$.

    **Example:**

        >>> from linnet.theories.noise_bulk import ratio_of
        >>> ratio_of(20, 80), ratio_of(80, 20)
        (0.25, 0.25)
    """
    sides = count("outputs", outputs), count("inputs", inputs)
    return min(sides) / max(sides)


def bulk_edges(ratio: float) -> tuple[float, float]:
    r"""Return the smallest and the largest singular value of a large matrix of noise.

    A singular value above the upper edge is likely to be a signal.

    **Arguments:**

    - `ratio`: aspect ratio $b$, the smaller side over the larger one

    **Returns** $1 - \sqrt b$ and $1 + \sqrt b$, in units of the standard deviation of the noise times the square root
    of the larger dimension.

    **Example:**

        >>> from linnet.theories.noise_bulk import bulk_edges
        >>> [float(edge) for edge in bulk_edges(0.25)]
        [0.5, 1.5]
    """
    side = math.sqrt(_check_ratio(ratio))
    return 1 - side, 1 + side


def bulk_cdf(values: object, ratio: float) -> np.ndarray:
    r"""Return the fraction of the singular values of noise that are below given values: their distribution function.

    For the inverse, use `bulk_quantile`.

    With $s^2 = 1 + b + 2\sqrt b \cos\varphi$ the density is $\frac{2}{\pi} \sin^2\varphi / s^2\, d\varphi$.

    **Arguments:**

    - `values`: singular values in the units of `bulk_edges`, any shape
    - `ratio`: aspect ratio $b$, the smaller side over the larger one

    **Returns** the fractions, with the shape of `values`.

    **Example:**

        >>> from linnet.theories.noise_bulk import bulk_cdf
        >>> bulk_cdf([0.0, 1.0, 2.0], 1.0).round(3)
        array([0.   , 0.609, 1.   ])
    """
    ratio = _check_ratio(ratio)
    s = np.clip(real_array("values", values), *bulk_edges(ratio))
    side = np.sqrt(ratio)
    angle = np.arccos(np.clip((s * s - 1 - ratio) / (2 * side), -1, 1))
    # the integral of sin^2/(A + B cos) from the angle to pi, A = 1 + b, B = 2 sqrt(b), sqrt(A^2 - B^2) = 1 - b
    turn = np.arctan2((1 - side) * np.sin(angle / 2), (1 + side) * np.cos(angle / 2))
    below = (1 + ratio) * (np.pi - angle) + 2 * side * np.sin(angle) - (1 - ratio) * (np.pi - 2 * turn)
    return np.clip(below / (2 * np.pi * ratio), 0, 1)


def bulk_quantile(share: float, ratio: float) -> float:
    """Return the singular value below which a given fraction of the singular values of noise lies.

    It is the inverse of `bulk_cdf`.

    **Arguments:**

    - `share`: fraction of the singular values, between 0 and 1
    - `ratio`: aspect ratio $b$, the smaller side over the larger one

    **Returns** the singular value, in the units of `bulk_edges`.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.noise_bulk import bulk_quantile
        >>> median = bulk_quantile(0.5, 1.0)
        >>> noise = np.random.default_rng(0).standard_normal((300, 300)) / np.sqrt(300)
        >>> round(median, 4), bool(abs(np.median(np.linalg.svd(noise, compute_uv=False)) - median) < 0.01)
        (0.8079, True)
    """
    from scipy.optimize import brentq  # where it is needed: it takes half a second to load

    low, high = bulk_edges(ratio)
    share, ratio = number("share", share), _check_ratio(ratio)
    if share <= 0 or share >= 1:
        return low if share <= 0 else high
    return float(brentq(lambda s: float(bulk_cdf(s, ratio)) - share, low, high, xtol=1e-13))


def _check_ratio(ratio: float) -> float:
    """An aspect ratio: above 1e-15, where the bulk still has a width, and at most 1."""
    checked = number("ratio", ratio)
    if not 1e-15 <= checked <= 1:
        raise ValueError(f"`ratio` must be the smaller side over the larger, between 1e-15 and 1: got {checked:g}.")
    return checked
