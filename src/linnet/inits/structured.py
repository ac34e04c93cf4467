"""Initial weights with a given structure: orthogonal layers, and a signed second layer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, representable
from linnet._memory import check_fits
from linnet._randomness import Key, generator
from linnet.inits.scalings import layer_sizes, shapes
from linnet.inits.weights import Weights


def orthogonal(*, in_dim: int, out_dim: int, width: int, scale: float, key: Key) -> Weights:
    r"""Return a first layer with orthogonal columns of equal length, and a second layer of zeros.

    It is the initialization $I_\gamma$ of `theories.spectral_bias`. For deep networks use `orthogonal_layers`.

    $$ W_1^T W_1 = 2\gamma I, \qquad W_2 = 0 $$

    **Arguments:**

    - `key`: an integer seed or a JAX key; directions are uniform
    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `width`: number of hidden units $h \ge d$
    - `scale`: scale $\gamma$

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
            f"`width` must be at least the input dimension for an orthogonal initialization: got width {h} for "
            f"{d} inputs. "
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


def orthogonal_layers(
    *,
    in_dim: int,
    out_dim: int,
    width: int | Sequence[int],
    depth: int,
    scales: float | ArrayLike,
    key: Key,
) -> Weights:
    """Draw a deep network whose layers have orthonormal columns or rows (whichever are fewer), times a scale.

    We recommend it for deep networks if you are free to choose, because their reduction is exact. With Gaussian layers
    (`gaussian`) it is approximate.

    **Arguments:**

    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `width`: hidden width, one number or `depth - 1` of them
    - `depth`: number of layers $L$
    - `scales`: singular value of each layer, one number for all layers or one for each
    - `key`: an integer seed or a JAX key; directions are uniform

    **Returns** `Weights`. If all hidden layers have the same width, and it is at least in_dim + out_dim, they reduce
    exactly to width in_dim + out_dim at every depth.

    **Reference:** Saxe et al. 2014, section 3.

    **Example:**

        >>> import numpy as np
        >>> from linnet.inits import orthogonal_layers
        >>> weights = orthogonal_layers(in_dim=2, out_dim=1, width=5, depth=3, scales=0.5, key=0)
        >>> bool(np.allclose(weights.layers[1] @ weights.layers[1].T, 0.25 * np.eye(5)))
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
    return Weights(*layers)


@representable
def signed(*, in_dim: int, width: int, first_std: float, magnitude: float, key: Key) -> Weights:
    r"""Draw a Gaussian first layer and a second layer of random signs, in the scaling of mean-field networks.

    `theories.feature_learning` assumes this initialization. The network of the paper is $f = \frac1m \sum_r v_r w_r
    \cdot x$, with $w_r \sim N(0, \sigma_0^2 I)$ and $v_r = \pm v_0$ with equal probability. In linnet $W_1 = W/\sqrt m$
    and $W_2 = v^T/\sqrt m$.

    **Arguments:**

    - `key`: an integer seed or a JAX key
    - `in_dim`: number of inputs $d$
    - `width`: number of hidden units $m$
    - `first_std`: standard deviation $\sigma_0$ of the entries of $w_r$
    - `magnitude`: absolute value $v_0$ of each $v_r$

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
