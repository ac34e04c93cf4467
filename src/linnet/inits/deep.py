"""Starts of networks of any depth: Gaussian, orthogonal, balanced."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, partly_representable, real_array, refuse_infinite, representable
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.inits.layers import Layers
from linnet.inits.scalings import layer_sizes, shapes


@partly_representable
def deep_gaussian(
    *,
    in_dim: int,
    out_dim: int,
    width: int | Sequence[int],
    depth: int,
    stds: float | ArrayLike | str,
    key: Key,
    batch: int | None = None,
) -> Layers:
    """Layers of independent centred Gaussian entries.

    **Arguments:**

    - `in_dim`: $d$
    - `out_dim`: $k$
    - `width`: of the hidden layers, one number or `depth - 1` of them
    - `depth`: the number of layers $L$
    - `stds`: standard deviation of the entries, one number, one for each layer, or the name of a scaling (`"ntk"`,
      `"mup"`, `"pytorch"`; see `inits.scaling`)
    - `key`: an integer seed or a JAX key
    - `batch`: how many networks, as a leading axis; none by default

    **Returns** `Layers`.

    **Example:**

        >>> from linnet.inits import deep_gaussian
        >>> deep_gaussian(in_dim=3, out_dim=2, width=5, depth=4, stds="ntk", key=0)
        Layers(depth=4, width=5, in_dim=3, out_dim=2)
    """
    sizes = shapes(in_dim, out_dim, width, depth)
    each = layer_sizes("stds", stds, sizes=sizes)
    lead = () if batch is None else (count("batch", batch),)
    entries = sum(a * b for a, b in itertools.pairwise(sizes))
    check_fits(
        16 * math.prod(lead) * entries,
        f"Gaussian layers of `width` = {max(sizes[1:-1])}",
        "`inits.reduced_deep_gaussian` has the same law at any width.",
    )
    random = generator(key)
    pairs = zip(sizes[:-1], sizes[1:], each, strict=True)
    layers = [std * random.standard_normal((*lead, out, into)) for into, out, std in pairs]
    refuse_infinite(layers)
    return Layers(layers)


def deep_orthogonal(
    *,
    in_dim: int,
    out_dim: int,
    width: int | Sequence[int],
    depth: int,
    scales: float | ArrayLike,
    key: Key,
) -> Layers:
    """Layers that are multiples of matrices with orthonormal columns or rows, whichever are fewer.

    **Arguments:**

    - `in_dim`: $d$
    - `out_dim`: $k$
    - `width`: of the hidden layers, one number or `depth - 1` of them
    - `depth`: the number of layers $L$
    - `scales`: the singular values of each layer, one number or one for each
    - `key`: an integer seed or a JAX key; directions are uniform

    **Returns** `Layers`. With hidden layers of one width, at least in_dim + out_dim, they reduce exactly to that width
    at every depth.

    **Reference:** Saxe et al. 2014, section 3.

    **Example:**

        >>> import numpy as np
        >>> from linnet.inits import deep_orthogonal
        >>> start = deep_orthogonal(in_dim=2, out_dim=1, width=5, depth=3, scales=0.5, key=0)
        >>> bool(np.allclose(start.layers[1] @ start.layers[1].T, 0.25 * np.eye(5)))
        True
    """
    sizes = shapes(in_dim, out_dim, width, depth)
    if isinstance(scales, str):
        raise ValueError(f"`scales` must be one number or one for each layer: got {scales!r}.")
    each = layer_sizes("scales", scales, sizes=sizes)
    entries = sum(a * b for a, b in itertools.pairwise(sizes))
    check_fits(32 * entries, f"an orthogonal start of width {max(sizes[1:-1])}", "Use a smaller width.")
    random = generator(key)
    layers = []
    for into, out, scale in zip(sizes[:-1], sizes[1:], each, strict=True):
        frame, triangle = np.linalg.qr(random.standard_normal((max(into, out), min(into, out))))
        frame = frame * np.sign(np.diagonal(triangle))  # without the signs the frame would not be uniform
        layers.append(scale * (frame if out >= into else frame.T))
    return Layers(layers)


@representable
def deep_balanced(product: ArrayLike, depth: int, *, width: int | None = None) -> Layers:
    r"""Layers with $W_L \cdots W_1$ = `product` and $W_l W_l^T = W_{l+1}^T W_{l+1}$ for all $l$.

    With `product` $= U S V^T$: $W_1 = S^{1/L} V^T$, $W_L = U S^{1/L}$, and $S^{1/L}$ between them.

    **Arguments:**

    - `product`: $U S V^T$, ([batch,] output, input)
    - `depth`: the number of layers $L$
    - `width`: of the hidden layers, at least the rank; min(output, input) by default

    **Returns** `Layers`.

    **Reference:** Arora et al. 2019, section 2.

    **Example:**

        >>> import numpy as np
        >>> from linnet.inits import deep_balanced
        >>> start = deep_balanced([[8.0, 0.0], [0.0, 1.0]], depth=3)
        >>> start.product.round(12).tolist(), float(np.abs(start.imbalances).max().round(12))
        ([[8.0, 0.0], [0.0, 1.0]], 0.0)
    """
    target = real_array("product", product, ndim=(2, 3))
    depth = count("depth", depth, least=2, most=1000)
    k, d = target.shape[-2:]
    h = min(k, d) if width is None else count("width", width)
    largest = np.abs(target).max()
    unit = largest if largest > 0 else 1.0  # squares of the largest and of the smallest numbers are no numbers
    left, values, right = np.linalg.svd(target / unit, full_matrices=False)
    if h < values.shape[-1] and (values[..., h:] > 1e-14 * values[..., :1]).any():
        rank = int((values > 1e-14 * values[..., :1]).sum(axis=-1).max())
        raise ValueError(f"`width` must be at least the rank of `product`, {rank}: got {h}.")
    entries = math.prod(target.shape[:-2]) * h * (3 * (k + d) + depth * h)
    check_fits(8 * entries, f"{depth} balanced layers of `width` = {h}", "Use a smaller width.")
    kept = min(h, values.shape[-1])
    roots = np.zeros((*target.shape[:-2], h))
    roots[..., :kept] = values[..., :kept] ** (1 / depth) * unit ** (1 / depth)
    columns, rows = np.zeros((*target.shape[:-2], k, h)), np.zeros((*target.shape[:-2], h, d))
    columns[..., :kept], rows[..., :kept, :] = left[..., :kept], right[..., :kept, :]
    inner = roots[..., None] * np.eye(h)
    return Layers([roots[..., None] * rows, *[inner] * (depth - 2), columns * roots[..., None, :]])
