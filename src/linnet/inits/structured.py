"""Starts with a given structure: orthogonal, balanced (or of given imbalance), and signed."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import by_keyword, count, non_negative, number, real_array, representable
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.inits.weights import Weights


@by_keyword
def orthogonal(*, in_dim: int, out_dim: int, width: int, scale: float, key: Key) -> Weights:
    r"""The start $I_\gamma$: orthogonal columns of equal length in the first layer, and a second layer of zeros.

    $$ W_1^T W_1 = 2\gamma I, \qquad W_2 = 0 $$

    **Arguments:**

    - `key`: an integer seed or a JAX key; directions are uniform
    - `in_dim`: $d$
    - `out_dim`: $k$
    - `width`: $h \ge d$
    - `scale`: $\gamma$

    **Returns** `Weights`.

    **Reference:** Varre et al. 2023, section 3.

    **Example:**

        >>> import numpy as np
        >>> from linnet.inits import orthogonal
        >>> start = orthogonal(key=0, in_dim=2, out_dim=1, width=5, scale=0.01)
        >>> bool(np.allclose(start.first.T @ start.first, 0.02 * np.eye(2))), start.second.tolist()
        (True, [[0.0, 0.0, 0.0, 0.0, 0.0]])
    """
    d, k, h = count("in_dim", in_dim), count("out_dim", out_dim), count("width", width)
    scale = non_negative("scale", scale)
    if h < d:
        raise ValueError(
            f"`width` must be at least the input dimension for an orthogonal start: got width {h} for {d} inputs. "
            f"Use `inits.gaussian`, or a width of {d} or more."
        )
    check_fits(
        32 * h * (d + k),
        f"an orthogonal start of width {h}",
        "`inits.balanced(np.zeros((k, d)), 2 * scale)` is its reduced form.",
    )
    frame, triangle = np.linalg.qr(generator(key).standard_normal((h, d)))
    frame = frame * np.sign(np.diagonal(triangle))  # without the signs the frame would not be uniform
    return Weights(np.sqrt(2 * scale) * frame, np.zeros((k, h)))


def balanced(product: ArrayLike, imbalance: float = 0.0, *, width: int | None = None) -> Weights:
    r"""Weights with $W_2 W_1$ = `product` and $W_1 W_1^T - W_2^T W_2$ = `imbalance` times the identity.

    With `product` $= U S V^T$ and $g$ = |`imbalance`|/2, the stronger layer has singular values
    $b = \sqrt{g + \sqrt{S^2 + g^2}}$ and the weaker one $S/b$ (never $\sqrt{-g + \dots}$, which cancels). The width is
    min(output, input) unless given; a positive imbalance exists up to width `input`, a negative one up to width
    `output`, zero for any width of at least the rank.

    **Arguments:**

    - `product`: $U S V^T$, (output, input)
    - `imbalance`: $\pm 2g$, the multiple of the identity; 0 is a balanced network
    - `width`: min(output, input) by default

    **Returns** `Weights` with exactly this product and imbalance.

    **Example:**

        >>> from linnet.inits import balanced
        >>> start = balanced([[3.0, 0.0], [0.0, 1.0]], imbalance=0.5)
        >>> start.product.round(12).tolist(), start.imbalance.round(12).tolist()
        ([[3.0, 0.0], [0.0, 1.0]], [[0.5, 0.0], [0.0, 0.5]])
    """
    target = real_array("product", product, ndim=(2, 3))
    k, d = target.shape[-2:]
    h = min(k, d) if width is None else count("width", width)
    imbalance = number("imbalance", imbalance)
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
        raise ValueError(f"`width` must be at least the rank of `product`: got {h} for {k} x {d} of higher rank.")
    padded = _resize_columns(values[..., None, :], h)[..., 0, :]
    strong = np.sqrt(g + np.hypot(padded, g))
    weak = np.divide(padded, strong, out=np.zeros_like(padded), where=strong > 0)
    first, second = (strong, weak) if imbalance >= 0 else (weak, strong)
    rows = np.swapaxes(_resize_columns(np.swapaxes(right, -1, -2), h), -1, -2)
    return Weights(first[..., :, None] * rows, _resize_columns(left, h) * second[..., None, :])


@by_keyword
@representable
def signed(*, in_dim: int, width: int, first_std: float, magnitude: float, key: Key) -> Weights:
    r"""A Gaussian first layer and a second layer of $\pm v_0$, in the scaling of mean-field networks.

    The paper's network is $f = \frac1m \sum_r v_r w_r \cdot x$ with $w_r \sim N(0, \sigma_0^2 I)$ and $v_r = \pm v_0$
    with equal chances; here $W_1 = W/\sqrt m$ and $W_2 = v^T/\sqrt m$, `first_std` is $\sigma_0$ and `magnitude` is
    $v_0$.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `in_dim`: $d$
    - `width`: $m$
    - `first_std`: $\sigma_0$
    - `magnitude`: $v_0$

    **Returns** `Weights` with one output.

    **Reference:** Huang et al. 2025, section 3.

    **Example:**

        >>> import numpy as np
        >>> from linnet.inits import signed
        >>> start = signed(key=0, in_dim=3, width=4, first_std=0.0, magnitude=2.0)
        >>> np.abs(start.second).tolist()  # v0 / sqrt(m)
        [[1.0, 1.0, 1.0, 1.0]]
    """
    d, m = count("in_dim", in_dim), count("width", width)
    first_std, magnitude = non_negative("first_std", first_std), non_negative("magnitude", magnitude)
    check_fits(32 * m * d, f"weights of width {m}", "Use a smaller width.")
    random = generator(key)
    first = random.standard_normal((m, d))
    second = magnitude * random.choice([-1.0, 1.0], size=(1, m))
    first *= first_std  # in place: the layer may be large
    first /= np.sqrt(m)
    return Weights.computed(first, second / np.sqrt(m))  # without a copy, for the same reason


def _resize_columns(matrix: np.ndarray, columns: int) -> np.ndarray:
    """The first `columns` columns, filled up with zeros where there are fewer."""
    kept = matrix[..., :columns]
    missing = columns - kept.shape[-1]
    return np.concatenate([kept, np.zeros((*kept.shape[:-1], missing))], axis=-1) if missing else kept
