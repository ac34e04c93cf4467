"""Gaussian initial weights of any depth, drawn in full or directly in their reduced form."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, partly_representable, refuse_infinite
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.inits._reduced_deep import draw_reduced_layers
from linnet.inits.scalings import layer_sizes, shapes
from linnet.inits.weights import Weights


@partly_representable
def gaussian(
    *,
    in_dim: int,
    out_dim: int,
    width: int | Sequence[int],
    stds: float | ArrayLike | str,
    key: Key,
    depth: int = 2,
    batch: int | None = None,
) -> Weights:
    """Draw weights with independent Gaussian entries of mean zero.

    It is the usual initialization. For very wide networks, `reduced_gaussian` draws a small network with the same
    training dynamics.

    **Arguments:**

    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `width`: hidden width, one number or `depth - 1` of them
    - `stds`: standard deviation of the entries, one number, one for each layer, or the name of a scaling (`"ntk"`,
      `"mup"`, `"pytorch"`; see `inits.scaling`)
    - `key`: an integer seed or a JAX key
    - `depth`: number of layers $L$
    - `batch`: number of networks, as a leading axis; none by default

    **Returns** `Weights`, $W_1$ ([batch,] hidden, input) to $W_L$ ([batch,] output, hidden).

    **Example:**

        >>> from linnet.inits import gaussian
        >>> weights = gaussian(key=0, in_dim=3, out_dim=2, width=5, stds=0.1)
        >>> weights.first.shape, weights.second.shape, weights.product.shape
        ((5, 3), (2, 5), (2, 3))
        >>> gaussian(key=0, in_dim=3, out_dim=2, width=5, depth=4, stds="ntk")
        Weights(depth=4, width=5, in_dim=3, out_dim=2)
    """
    sizes = shapes(in_dim, out_dim, width, depth)
    each = layer_sizes("stds", stds, sizes=sizes)
    lead = () if batch is None else (count("batch", batch),)
    check_fits(
        16 * math.prod(lead) * sum(a * b for a, b in itertools.pairwise(sizes)),
        f"Gaussian weights of `width` = {max(sizes[1:-1])}",
        "`inits.reduced_gaussian` has the same distribution at any width.",
    )
    random = generator(key)
    pairs = zip(sizes[:-1], sizes[1:], each, strict=True)
    layers = [std * random.standard_normal((*lead, out, into)) for into, out, std in pairs]
    refuse_infinite(layers)
    return Weights(*layers)


@partly_representable
def reduced_gaussian(
    *,
    in_dim: int,
    out_dim: int,
    width: int,
    stds: float | ArrayLike | str,
    key: Key,
    depth: int = 2,
    order: int | None = None,
    batch: int | None = None,
) -> Weights:
    r"""Draw a Gaussian initialization of any width at a cost that does not depend on the width.

    A network with a billion hidden units does not fit into memory, but the small network to which it reduces does. The
    weights of single hidden units cannot be recovered from it; if you need them, use `gaussian`.

    Training the small network gives products, losses and kernels with the same distribution as training the wide one.
    `Weights.full_width` holds the width $h$.

    **Two layers** reduce exactly. For $h \ge d + k$ the thin QR decomposition of $[W_1, W_2^T]$ has a triangular factor
    with independent entries: $N(0, 1)$ above the diagonal and $\sqrt{\chi^2_{h-j}}$ at position $j = 0, 1, \dots$ of
    the diagonal (Bartlett's decomposition). Its columns are multiplied by the standard deviations. A narrower network
    is drawn in full.

    **Deeper networks** reduce approximately. The small network keeps monomials up to the degree `order`. A monomial is
    a product of inner layers and their transposes that multiplies $W_1(0)$ from the left, or $W_L(0)$ from the right.
    They are drawn in small blocks: if the images of some directions under a Gaussian matrix are known, the matrix is
    Gaussian and independent on the remaining directions.

    **Arguments:**

    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `width`: width $h$ of all hidden layers, of any size
    - `stds`: standard deviation of the entries, one number, one for each layer, or the name of a scaling
    - `key`: an integer seed or a JAX key
    - `depth`: number of layers $L$
    - `order`: largest degree of the monomials that are kept, for three or more layers; by default 8 at depth 3, 6 at
      depth 4, and 5 for deeper networks (more from depth 14 on). To see the effect of the monomials that are
      left out, draw with a larger order
    - `batch`: number of networks, as a leading axis; none by default

    **Returns** `Weights` of width $\min(h, d + k)$ for two layers, and of hidden widths of at most $h$ for more.

    **Example:**

        >>> from linnet.inits import reduced_gaussian
        >>> weights = reduced_gaussian(key=0, in_dim=3, out_dim=2, width=10**9, stds=1e-5)
        >>> weights.first.shape, weights.full_width
        ((5, 3), 1000000000)
        >>> reduced_gaussian(in_dim=2, out_dim=1, width=10**9, depth=3, stds="ntk", key=0, order=4).widths
        (8, 7)
    """
    sizes = shapes(in_dim, out_dim, count("width", width), depth)
    each = layer_sizes("stds", stds, sizes=sizes)
    lead = () if batch is None else (count("batch", batch),)
    if len(sizes) > 3 or order is not None:
        layers = draw_reduced_layers(sizes, generator(key), lead, order)
    else:
        layers = _draw_two_layers(sizes, generator(key), lead)
    layers = [std * layer for std, layer in zip(each, layers, strict=True)]
    refuse_infinite(layers)
    return Weights(*layers, full_width=sizes[1])


def _draw_two_layers(sizes: list[int], random: np.random.Generator, lead: tuple[int, ...]) -> list[np.ndarray]:
    """Return both layers of a standard normal network after `reduce`; a narrow network is drawn in full."""
    d, h, k = sizes
    q = d + k
    if h < q:
        check_fits(16 * math.prod(lead) * h * q, f"Gaussian weights of `width` = {h}", "Use a smaller width or batch.")
        return [random.standard_normal((*lead, h, d)), random.standard_normal((*lead, k, h))]
    check_fits(
        24 * math.prod(lead) * q * q,
        f"a reduced network of `in_dim` = {d} and `out_dim` = {k}",
        "Use fewer inputs or outputs, or a smaller batch.",
    )
    degrees = np.array([float(h - j) for j in range(q)])
    triangle = np.triu(random.standard_normal((*lead, q, q)), 1)
    triangle[..., np.arange(q), np.arange(q)] = np.sqrt(random.chisquare(degrees, size=(*lead, q)))
    return [triangle[..., :d], np.swapaxes(triangle[..., d:], -1, -2)]
