"""What plays the threshold's role at depth L, and the lazy limit beyond it."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, positive, real_array, representable, times_array


@representable
def threshold(coupling: float, depth: int) -> float:
    r"""The singular value at which a mode turns from lazy to active: $g_L = c^L$, $c = \sqrt w\,\mathrm{std}$.

    The flow of depth L does not change its form when $S \to \lambda S$, $c \to \lambda^{1/L} c$ and
    $t \to \lambda^{-(2 - 2/L)} t$: only $S/c^L$ decides the regime of a mode. At depth 2 it is paper 4's
    $g = \sigma^2 w$; in the plane of variance and width the border of a mode S is $\sigma^2 w = S^{2/L}$.

    **Arguments:**

    - `coupling`: $c = \sqrt w\,\mathrm{std}$, of all layers
    - `depth`: the number of layers $L$

    **Returns** $g_L$.

    **Example:**

        >>> from linnet.theories.deep import threshold
        >>> round(threshold(0.1, depth=3), 12)
        0.001
    """
    return positive("coupling", coupling) ** count("depth", depth, least=2, most=1000)


@representable
def lazy_rate(coupling: float, depth: int) -> float:
    r"""The rate at which every mode is learned while the kernel does not move: $L c^{2L - 2}$.

    **Arguments:**

    - `coupling`: $c = \sqrt w\,\mathrm{std}$, of all layers
    - `depth`: the number of layers $L$

    **Returns** the eigenvalue of the starting kernel, whitened inputs, in the limit of large width.

    **Reference:** Jacot et al. 2018.

    **Example:**

        >>> from linnet.theories.deep import lazy_rate
        >>> lazy_rate(2.0, depth=3)
        48.0
    """
    L = count("depth", depth, least=2, most=1000)
    return L * positive("coupling", coupling) ** (2 * L - 2)


@representable
def lazy_modes(values: ArrayLike, coupling: float, depth: int, times: ArrayLike) -> Float[np.ndarray, "time mode"]:
    r"""Modes far below the threshold: $s = S (1 - e^{-L c^{2L-2} t})$.

    **Arguments:**

    - `values`: $S \ge 0$, (mode,)
    - `coupling`: $c = \sqrt w\,\mathrm{std}$, of all layers
    - `depth`: the number of layers $L$
    - `times`: canonical, increasing, (time,)

    **Returns** $s(t)$, (time, mode).

    **Valid when** $S \ll c^L$.

    **Example:**

        >>> from linnet.theories.deep import lazy_modes
        >>> lazy_modes([1.0], 2.0, depth=3, times=[0.0, 0.1]).round(3).tolist()
        [[0.0], [0.992]]
    """
    S = np.atleast_1d(real_array("values", values, ndim=(0, 1)))
    clock = times_array("times", times)
    return -np.expm1(-lazy_rate(coupling, depth) * clock)[:, None] * S


@representable
def regime_ratio(values: ArrayLike, coupling: float, depth: int) -> Float[np.ndarray, " mode"]:
    r"""$S/c^L$ for every mode: far below 1 it is lazy, far above 1 active.

    **Arguments:**

    - `values`: $S \ge 0$, (mode,)
    - `coupling`: $c = \sqrt w\,\mathrm{std}$, of all layers
    - `depth`: the number of layers $L$

    **Returns** the ratios, (mode,).

    **Example:**

        >>> from linnet.theories.deep import regime_ratio
        >>> regime_ratio([8.0, 0.008], 0.2, depth=3).round(6).tolist()
        [1000.0, 1.0]
    """
    S = np.atleast_1d(real_array("values", values, ndim=(0, 1)))
    return S / threshold(coupling, depth)
