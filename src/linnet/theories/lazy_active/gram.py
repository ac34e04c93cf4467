"""Gram matrices of both layers in the self-consistent theory, and the distance of a network from them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import broadcast, layers, non_negative, positive, real_array, refuse_infinite, representable


@representable
def gram_matrices(
    product: ArrayLike, threshold: float
) -> tuple[Float[np.ndarray, "*batch input input"], Float[np.ndarray, "*batch output output"]]:
    r"""Return the Gram matrices of both layers that the self-consistent theory predicts for a product.

    Use `gram_gap` to compare them with a network.

    $$ \hat C_1 = \sqrt{A^\top A + g^2 I}, \qquad \hat C_2 = \sqrt{A A^\top + g^2 I} $$

    **Arguments:**

    - `product`: product $A$, (..., output, input)
    - `threshold`: threshold $g$

    **Returns** $\hat C_1$ (..., input, input) and $\hat C_2$ (..., output, output).

    **Reference:** Tu et al. 2024, before Theorem 1. Leading axes of `product` are kept.

    **Example:**

        >>> from linnet.theories.lazy_active import gram_matrices
        >>> first, second = gram_matrices([[3.0, 0.0], [0.0, 0.0]], 4.0)
        >>> first.tolist()
        [[5.0, 0.0], [0.0, 4.0]]
    """
    matrix, g = real_array("product", product), non_negative("threshold", threshold)
    if matrix.ndim < 2:
        raise ValueError(f"`product` must be (..., output, input): got shape {matrix.shape}.")
    left, values, right = np.linalg.svd(matrix, full_matrices=True)

    def root(vectors: np.ndarray) -> np.ndarray:
        padded = np.zeros(vectors.shape[:-1])
        padded[..., : values.shape[-1]] = values
        return (vectors * np.hypot(padded, g)[..., None, :]) @ np.swapaxes(vectors, -1, -2)

    return root(np.swapaxes(right, -1, -2)), root(left)


class GramGap(NamedTuple):
    r"""Result of `gram_gap`: distances of the Gram matrices from the theory, and the terms of their bound.

    The terms are those of Theorem 1 of Tu et al. without their constants.

    **Attributes:**

    - `first`: distance $|C_1 - \hat C_1|_{op}$, (...)
    - `second`: distance $|C_2 - \hat C_2|_{op}$, (...)
    - `weak`: term $\sigma^2 w$ of the bound
    - `strong`: term $\sqrt{d/w}\,|C_1|_{op}$ of the bound, (...)

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import gram_gap
        >>> start = ln.inits.gaussian(key=0, in_dim=4, out_dim=4, width=40_000, stds=0.01)
        >>> gap = gram_gap(start.first, start.second, 0.01**2 * 40_000)
        >>> bool(gap.first < gap.weak), bool(gap.first < 5 * gap.strong)
        (True, True)
    """

    first: np.ndarray
    second: np.ndarray
    weak: np.ndarray
    strong: np.ndarray


@representable
def gram_gap(first: ArrayLike, second: ArrayLike, threshold: float, width: float | None = None) -> GramGap:
    r"""Return the distance of a network's Gram matrices from the self-consistent theory, with the bound of the paper.

    If the distance is small, `self_consistent` describes this network well.

    $$ |C_1 - \hat C_1|_{op},\ |C_2 - \hat C_2|_{op} \le \min\{ O(\sigma^2 w),\ O(\sqrt{d/w}\,|C_1|_{op}) \} $$

    **Arguments:**

    - `first`: first layer $W_1$, (..., hidden, input)
    - `second`: second layer $W_2$, (..., output, hidden); a reduced network has the same Gram matrices
    - `threshold`: threshold $\sigma^2 w$
    - `width`: number $w$ of hidden units of the full network, if the layers are those of a reduced network

    **Returns** a `GramGap`.

    **Valid for** Gaussian weights under gradient flow. **Reference:** Tu et al. 2024, Theorem 1, Propositions B.1 and
    B.4.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import gram_gap
        >>> gaps = []
        >>> for width in (100, 10_000):
        ...     std = width**-0.5
        ...     start = ln.inits.gaussian(key=0, in_dim=4, out_dim=4, width=width, stds=std)
        ...     gaps.append(gram_gap(start.first, start.second, 1.0).first)
        >>> bool(gaps[1] < gaps[0] / 5)  # it falls as the inverse square root of the width
        True
    """
    one, two = layers(first=first, second=second)
    wide = positive("width", one.shape[-2] if width is None else width)
    g = non_negative("threshold", threshold)
    gram1, gram2 = np.swapaxes(one, -1, -2) @ one, two @ np.swapaxes(two, -1, -2)
    refuse_infinite(gram1, gram2)  # or LAPACK would print a complaint of its own
    hat1, hat2 = gram_matrices(two @ one, g)
    size = _norm(gram1)
    return GramGap(
        _norm(gram1 - hat1), _norm(gram2 - hat2), np.full_like(size, g), np.sqrt(one.shape[-1] / wide) * size
    )


@representable
def cubic_residuals(
    first: ArrayLike, second: ArrayLike, threshold: float
) -> tuple[Float[np.ndarray, " ..."], Float[np.ndarray, " ..."]]:
    r"""Return how far the Gram matrices of a network are from solving the equations of the self-consistent theory.

    The predicted matrices $\hat C_1, \hat C_2$ solve two cubic equations. This function inserts the network's own
    $C_1, C_2$ and returns operator norms. For the distance from the predicted matrices, use `gram_gap`.

    $$ C_1^3 - A^\top A C_1 - C_1 A^\top A - g^2 C_1 + A^\top C_2 A, \qquad
       C_2^3 - A A^\top C_2 - C_2 A A^\top - g^2 C_2 + A C_1 A^\top $$

    Both equal $W (M^2 - g^2) W^\top$ with the conserved imbalance $M$, so they vanish if $M^2 = g^2$ on the span of the
    weights.

    **Reference:** Tu et al. 2024, sketch of Theorem 1 and B.2.

    **Arguments:**

    - `first`: first layer $W_1$, (..., hidden, input)
    - `second`: second layer $W_2$, (..., output, hidden)
    - `threshold`: threshold $g$

    **Returns** the operator norms of the two equations, (...) each.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import cubic_residuals
        >>> first, second = np.sqrt(0.2) * np.eye(3, 2), np.zeros((2, 3))  # C1 = g with g = 0.2, and C2 = 0
        >>> [float(norm.round(12)) for norm in cubic_residuals(first, second, 0.2)]
        [0.0, 0.0]
        >>> [float(norm.round(3)) for norm in cubic_residuals(first, second, 0.3)]  # another threshold: not zero
        [0.01, 0.0]
    """
    one, two = layers(first=first, second=second)
    g = non_negative("threshold", threshold)
    product = two @ one
    gram1, gram2 = np.swapaxes(one, -1, -2) @ one, two @ np.swapaxes(two, -1, -2)
    refuse_infinite(gram1, gram2)
    return _norm(_cubic(gram1, gram2, product, g)), _norm(_cubic(gram2, gram1, np.swapaxes(product, -1, -2), g))


@representable
def gram_cubic(
    own: np.ndarray, other: np.ndarray, product: np.ndarray, threshold: float
) -> Float[np.ndarray, "*batch side side"]:
    r"""Return the left side of the cubic equation that a Gram matrix of the self-consistent theory solves.

    It is zero if the equation holds. `cubic_residuals` evaluates it at the weights of a network.

    **Arguments:**

    - `own`: Gram matrix of the equation, $C_1$ or $C_2$, (..., side, side)
    - `other`: Gram matrix of the other layer
    - `product`: product $A$ for $C_1$, and $A^\top$ for $C_2$
    - `threshold`: threshold $g$

    **Returns** a matrix of the shape of `own`.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import gram_cubic, gram_matrices
        >>> product = np.diag([2.0, 0.5])
        >>> first, second = gram_matrices(product, 0.1)
        >>> bool(np.abs(gram_cubic(first, second, product, 0.1)).max() < 1e-12)
        True
    """
    own, other, product = (real_array(*pair) for pair in (("own", own), ("other", other), ("product", product)))
    g = non_negative("threshold", threshold)
    k, d = product.shape[-2:] if product.ndim > 1 else (0, 0)
    if own.shape[-2:] != (d, d) or other.shape[-2:] != (k, k):
        raise ValueError(
            "`own` must be (..., side, side) and `other` (..., other, other) for a `product` (..., other, side): got "
            f"shapes {own.shape}, {other.shape} and {product.shape}."
        )
    _leading(own=own, other=other, product=product)
    return _cubic(own, other, product, g)


def _cubic(own: np.ndarray, other: np.ndarray, product: np.ndarray, g: float) -> np.ndarray:
    turned = np.swapaxes(product, -1, -2)
    square = turned @ product
    return own @ own @ own - square @ own - own @ square - g**2 * own + turned @ other @ product


def _leading(**arrays: np.ndarray) -> None:
    """Refuses matrices whose leading axes do not go together."""
    broadcast(**{name: np.empty(array.shape[:-2]) for name, array in arrays.items()})


def _norm(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.norm(matrices, ord=2, axis=(-2, -1))
