"""The neural tangent kernel: as a map of residuals, as a matrix on data, and its direction."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import broadcast, real_array, representable
from linnet._memory import check_fits
from linnet.inits.weights import Weights, check_weights, product_of


@representable
def ntk_operator(weights: Weights, residual: ArrayLike) -> Float[np.ndarray, "*batch output input"]:
    r"""Return the velocity of the product under gradient flow for a given residual: the tangent kernel as an operator.

    For the kernel on samples, use `ntk`; for its value along single modes, `mode_kernel`.

    $$ R \mapsto C_2 R + R C_1, \qquad C_1 = W_1^T W_1, \quad C_2 = W_2 W_2^T $$

    At any depth it is $\sum_l A_l A_l^T R\, B_l^T B_l$ with the products $A_l = W_L \cdots W_{l+1}$ above layer $l$ and
    $B_l = W_{l-1} \cdots W_1$ below it.

    **Arguments:**

    - `weights`: weights of the network, at any depth
    - `residual`: residual $R$, (output, input)

    **Returns** $\dot A$, (..., output, input).

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import ntk_operator
        >>> ntk_operator(ln.Weights([[1.0, 0.0]], [[2.0]]), [[1.0, 1.0]]).tolist()
        [[5.0, 4.0]]
    """
    weights = check_weights(weights)
    R = real_array("residual", residual)
    if R.shape[-2:] != (weights.out_dim, weights.in_dim):
        raise ValueError(
            f"`residual` must be (..., {weights.out_dim}, {weights.in_dim}), output x input: got shape {R.shape}."
        )
    broadcast(weights=weights.first[..., 0, 0], residual=R[..., 0, 0])
    velocity: np.ndarray | float = 0.0
    for above, below in _around_each_layer(weights):
        part = R if below is None else (R @ np.swapaxes(below, -1, -2)) @ below
        velocity = velocity + (part if above is None else above @ (np.swapaxes(above, -1, -2) @ part))
    return np.asarray(velocity)


@representable
def ntk(weights: Weights, X: ArrayLike, X2: ArrayLike | None = None) -> Float[np.ndarray, "*batch row column"]:
    r"""Return the neural tangent kernel of a linear network on samples.

    If you study the product rather than samples, `ntk_operator` needs less memory.

    $$ \Theta(x, x')_{ab} = \delta_{ab}\, x^T C_1 x' + (C_2)_{ab}\, x \cdot x', \qquad C_1 = W_1^T W_1, \quad C_2 = W_2
    W_2^T $$

    for two layers. At any depth $\Theta(x, x')_{ab} = \sum_l (A_l A_l^T)_{ab}\, x^T B_l^T B_l x'$ with the products
    $A_l = W_L \cdots W_{l+1}$ above layer $l$ and $B_l = W_{l-1} \cdots W_1$ below it.

    **Arguments:**

    - `weights`: weights of the network, at any depth
    - `X`: samples, (sample, input)
    - `X2`: samples of the second argument, (sample, input); `X` by default

    **Returns** the kernel, (..., n k, n' k). Along each axis the outputs of one sample are next to each other.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.observables import ntk
        >>> weights = ln.Weights([[1.0, 0.0]], [[2.0]])
        >>> ntk(weights, np.eye(2)).tolist()
        [[5.0, 0.0], [0.0, 4.0]]
    """
    weights = check_weights(weights)
    left = _check_samples("X", X, weights)
    right = left if X2 is None else _check_samples("X2", X2, weights)
    k, batch = weights.out_dim, math.prod(weights.first.shape[:-2])
    check_fits(
        16 * batch * left.shape[0] * right.shape[0] * k * k,
        f"the kernel of {left.shape[0]} samples `X` with {right.shape[0]} and {k} outputs",
        "Take fewer samples, or apply it with `ntk_operator`, which never forms it.",
    )
    blocks: np.ndarray | float = 0.0
    for above, below in _around_each_layer(weights):
        rows, columns = (X if below is None else X @ np.swapaxes(below, -1, -2) for X in (left, right))
        inputs = rows @ np.swapaxes(columns, -1, -2)
        outputs = np.eye(k) if above is None else above @ np.swapaxes(above, -1, -2)
        blocks = blocks + inputs[..., :, None, :, None] * outputs[..., None, :, None, :]
    blocks = np.asarray(blocks)
    return blocks.reshape(*blocks.shape[:-4], left.shape[0] * k, right.shape[0] * k)


def _around_each_layer(weights: Weights) -> list[tuple[np.ndarray | None, np.ndarray | None]]:
    """Return the products of the layers above and below each layer; None where there are none."""
    layers = weights.layers
    above = [product_of(layers[index + 1 :]) if index + 1 < len(layers) else None for index in range(len(layers))]
    below = [product_of(layers[:index]) if index else None for index in range(len(layers))]
    return list(zip(above, below, strict=True))


def _check_samples(name: str, X: ArrayLike, weights: Weights) -> np.ndarray:
    """Return samples (sample, input), refused where they have another number of inputs."""
    array = real_array(name, X, ndim=2)
    if array.shape[-1] != weights.in_dim:
        raise ValueError(f"`{name}` must have {weights.in_dim} columns, one for each input: got shape {array.shape}.")
    return array
