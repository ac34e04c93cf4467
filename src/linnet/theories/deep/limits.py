"""What plays the threshold's role at depth L, and the lazy limit beyond it."""

from __future__ import annotations

from linnet._arguments import count, positive, representable


@representable
def threshold(coupling: float, depth: int) -> float:
    r"""Return the threshold at depth L, above which a mode is active: $g_L = c^L$, $c = \sqrt w\,\mathrm{std}$.

    For weights that are not Gaussian, `observables.regimes` computes thresholds of two layers.

    The flow of depth L does not change its form when $S \to \lambda S$, $c \to \lambda^{1/L} c$ and
    $t \to \lambda^{-(2 - 2/L)} t$: only $S/c^L$ decides the regime of a mode. At depth 2 it is paper 4's
    $g = \sigma^2 w$; in the plane of variance and width the boundary of a mode S is $\sigma^2 w = S^{2/L}$.

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
