"""The threshold between lazy and active modes at any depth, and the lazy limit."""

from __future__ import annotations

from linnet._arguments import count, positive, representable


@representable
def threshold(coupling: float, depth: int) -> float:
    r"""Return the threshold of a deep network: modes above it are learned actively, modes below it lazily.

    For two layers whose weights are not Gaussian, `observables.regimes` computes a threshold for each mode.

    $$ g_L = c^L, \qquad c = \sqrt w\,\mathrm{std} $$

    Only the ratio $S/c^L$ decides the regime of a mode, because the flow keeps its form under $S \to \lambda S$, $c \to
    \lambda^{1/L} c$ and $t \to \lambda^{-(2 - 2/L)} t$. At depth 2 the threshold is the $g = \sigma^2 w$ of Tu et al.
    2024. In the plane of variance and width, the boundary of a mode of strength S is $\sigma^2 w = S^{2/L}$.

    **Arguments:**

    - `coupling`: coupling $c = \sqrt w\,\mathrm{std}$, of all layers
    - `depth`: number of layers $L$

    **Returns** $g_L$.

    **Example:**

        >>> from linnet.theories.deep import threshold
        >>> round(threshold(0.1, depth=3), 12)
        0.001
    """
    return positive("coupling", coupling) ** count("depth", depth, least=2, most=1000)
