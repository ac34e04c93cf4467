"""Initial weights with a given product whose layers are balanced or have a given imbalance."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, number, real_array, representable
from linnet._memory import check_fits
from linnet.inits.weights import Weights


def balanced(product: ArrayLike, imbalance: float = 0.0, *, depth: int = 2, width: int | None = None) -> Weights:
    r"""Return balanced weights with a given product, or two layers with a given imbalance.

    Use it to compare training with theories of balanced networks, such as `theories.deep.balanced_modes`. For the
    initialization of networks in practice, use `gaussian`.

    Balanced means $W_l W_l^T = W_{l+1}^T W_{l+1}$ for all $l$. For the product $U S V^T$ the layers are $W_1 = S^{1/L}
    V^T$, $W_L = U S^{1/L}$, and $S^{1/L}$ between them.

    Two layers may instead have $W_1 W_1^T - W_2^T W_2 = \pm 2g I$. The stronger layer then has the singular values
    $b = \sqrt{g + \sqrt{S^2 + g^2}}$, and the weaker layer $S/b$. A positive imbalance requires a width of at most the
    number of inputs, and a negative one a width of at most the number of outputs.

    **Arguments:**

    - `product`: initial product $U S V^T$, ([batch,] output, input)
    - `imbalance`: factor $\pm 2g$ of the identity, for two layers only; 0 gives a balanced network
    - `depth`: number of layers $L$
    - `width`: hidden width, at least the rank; min(output, input) by default

    **Returns** `Weights` with exactly this product and imbalance.

    **Reference:** Arora et al. 2019, section 2.

    **Example:**

        >>> from linnet.inits import balanced
        >>> weights = balanced([[3.0, 0.0], [0.0, 1.0]], imbalance=0.5)
        >>> weights.product.round(12).tolist(), weights.imbalance.round(12).tolist()
        ([[3.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [0.0, 0.5]])
        >>> deep = balanced([[8.0, 0.0], [0.0, 1.0]], depth=3)
        >>> deep.layers[1].round(12).tolist()
        [[2.0, 0.0], [0.0, 1.0]]
    """
    target = real_array("product", product, ndim=(2, 3))
    depth, imbalance = count("depth", depth, least=2, most=1000), number("imbalance", imbalance)
    if depth > 2 and imbalance != 0:
        raise ValueError(f"`imbalance` must be 0 beyond two layers: got {imbalance:g} at `depth` {depth}.")
    h = min(target.shape[-2:]) if width is None else count("width", width)
    return _two_layers(target, imbalance, h) if depth == 2 else _deep_layers(target, depth, h)


def _two_layers(target: np.ndarray, imbalance: float, h: int) -> Weights:
    """Return two layers of width `h` with the product `target` and the given imbalance."""
    k, d = target.shape[-2:]
    g = 0.5 * abs(imbalance)
    widest = d if imbalance > 0 else k if imbalance < 0 else h
    if h > widest:
        raise ValueError(
            f"`width` must be at most {widest} for an imbalance of {imbalance:g} with {d} inputs and {k} outputs: got "
            f"{h}. A wider layer cannot have W1 W1^T - W2^T W2 proportional to the identity."
        )
    largest = np.abs(target).max()
    unit = largest if largest > 1e290 else 1.0  # sums of the largest numbers overflow
    left, values, right = np.linalg.svd(target / unit, full_matrices=True)
    values = np.minimum(values, np.finfo(float).max / 4 / unit) * unit
    if (values >= np.finfo(float).max / 4).any():
        raise ValueError(f"`product` is too large to be factored: its largest entry is {largest:.3g}.")
    if h < values.shape[-1] and (values[..., h:] > 1e-14 * values[..., :1]).any():
        raise _too_narrow(values, h)
    padded = _resize_columns(values[..., None, :], h)[..., 0, :]
    strong = np.sqrt(g + np.hypot(padded, g))
    weak = np.divide(padded, strong, out=np.zeros_like(padded), where=strong > 0)
    first, second = (strong, weak) if imbalance >= 0 else (weak, strong)
    rows = np.swapaxes(_resize_columns(np.swapaxes(right, -1, -2), h), -1, -2)
    return Weights(first[..., :, None] * rows, _resize_columns(left, h) * second[..., None, :])


@representable
def _deep_layers(product: np.ndarray, depth: int, width: int) -> Weights:
    """Return `depth` balanced layers of one `width`."""
    target, h = product, width
    k, d = target.shape[-2:]
    largest = np.abs(target).max()
    unit = largest if largest > 0 else 1.0  # squares of the largest and of the smallest numbers are no numbers
    left, values, right = np.linalg.svd(target / unit, full_matrices=False)
    if h < values.shape[-1] and (values[..., h:] > 1e-14 * values[..., :1]).any():
        raise _too_narrow(values, h)
    entries = math.prod(target.shape[:-2]) * h * (3 * (k + d) + depth * h)
    check_fits(8 * entries, f"{depth} balanced layers of `width` = {h}", "Use a smaller width.")
    kept = min(h, values.shape[-1])
    roots = np.zeros((*target.shape[:-2], h))
    roots[..., :kept] = values[..., :kept] ** (1 / depth) * unit ** (1 / depth)
    columns, rows = np.zeros((*target.shape[:-2], k, h)), np.zeros((*target.shape[:-2], h, d))
    columns[..., :kept], rows[..., :kept, :] = left[..., :kept], right[..., :kept, :]
    inner = roots[..., None] * np.eye(h)
    return Weights(roots[..., None] * rows, *[inner] * (depth - 2), columns * roots[..., None, :])


def _too_narrow(values: np.ndarray, width: int) -> ValueError:
    """Return the error for a width below the rank of a product with the singular `values`."""
    rank = int((values > 1e-14 * values[..., :1]).sum(axis=-1).max())
    return ValueError(f"`width` must be at least the rank of `product`, {rank}: got {width}.")


def _resize_columns(matrix: np.ndarray, columns: int) -> np.ndarray:
    """The first `columns` columns, filled up with zeros where there are fewer."""
    kept = matrix[..., :columns]
    missing = columns - kept.shape[-1]
    return np.concatenate([kept, np.zeros((*kept.shape[:-1], missing))], axis=-1) if missing else kept
