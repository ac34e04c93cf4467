"""Descent of a two-layer network with biases, a rate and a decay for each parameter: exact, at any width.

`ln.gradient_descent` trains two matrices at one rate. What PyTorch trains has more: an output bias, groups of
parameters with separate settings. Width is still free: the columns of $W_1$, $b_1$ and $W_2^T$ never leave the span
they start in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class Data:
    r"""The loss $c\,(f + |T - Z A^T|^2)$ of the matrix $A$ on samples, without rounding where it is small.

    `inputs` Z (row, input) and `targets` T (row, output) are samples after a rotation that leaves no more rows than
    inputs; `floor` f is what no A can explain.
    """

    inputs: np.ndarray
    targets: np.ndarray
    floor: float
    factor: float

    @classmethod
    def of(cls, X: np.ndarray, Y: np.ndarray, factor: float) -> Data:
        """The loss `factor` times the sum of squares over the samples."""
        if X.shape[0] <= X.shape[1]:
            return cls(X, Y, 0.0, factor)
        basis, triangle = np.linalg.qr(X)
        inside = basis.T @ Y
        return cls(triangle, inside, float(((Y - basis @ inside) ** 2).sum()), factor)

    def loss(self, product: np.ndarray) -> np.ndarray:
        """At matrices (..., output, input)."""
        error = self.targets - self.inputs @ np.swapaxes(product, -1, -2)
        return self.factor * (self.floor + (error**2).sum(axis=(-2, -1)))

    def gradient(self, product: np.ndarray) -> np.ndarray:
        """Of the loss, at matrices (..., output, input)."""
        error = self.targets - self.inputs @ np.swapaxes(product, -1, -2)
        return -2 * self.factor * np.swapaxes(error, -1, -2) @ self.inputs


def narrow_layers(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Layers (hidden, input) and (output, hidden) of width at most inputs + outputs, with the same products."""
    hidden, inputs = first.shape
    if hidden <= inputs + second.shape[0]:
        return first, second
    triangle = np.linalg.qr(np.concatenate([first, second.T], axis=1))[1]
    return triangle[:, :inputs], triangle[:, inputs:].T


def products(
    weights: Mapping[str, np.ndarray],
    data: Data,
    rates: Mapping[str, float],
    decays: Mapping[str, float],
    *,
    momentum: float,
    steps: int,
    factors: Float[np.ndarray, " rate"] | None = None,
) -> Iterator[Float[np.ndarray, "... output input"]]:
    r"""The affine map of the network, step by step from its initialization on, under SGD as PyTorch has it:

    $$ g \leftarrow \partial L/\partial w + \lambda w, \quad v \leftarrow \mu v + g, \quad w \leftarrow w - \eta v. $$

    **Arguments:** `weights` holds "first" (hidden, input) and "second" (output, hidden), and with `data` that have a
    last input of ones perhaps "first_bias" (hidden,) and "second_bias" (output,); `rates` and `decays` have the same
    names. `factors` multiply all rates: one run for each, along a leading axis.
    """
    bias = "second_bias" in weights
    augmented = data.inputs.shape[1] > weights["first"].shape[1]
    layers = [weights["first"]]
    if augmented:
        start = weights.get("first_bias", np.zeros(weights["first"].shape[0]))
        layers.append(start[:, None])
    first, second = narrow_layers(np.concatenate(layers, axis=1), weights["second"])
    shape = () if factors is None else (len(factors),)
    state = {
        "first": np.broadcast_to(first, shape + first.shape),
        "second": np.broadcast_to(second, shape + second.shape),
    }
    if bias:
        state["second_bias"] = np.broadcast_to(weights["second_bias"], shape + weights["second_bias"].shape)
    rate, decay = _rows_over_inputs(rates, weights, augmented), _rows_over_inputs(decays, weights, augmented)
    times = np.ones(shape) if factors is None else np.asarray(factors)
    speed = {name: np.zeros_like(value) for name, value in state.items()}
    for step in range(steps + 1):
        product = state["second"] @ state["first"]
        if bias:
            product[..., -1] += state["second_bias"]
        yield product
        if step == steps:
            return
        slope = data.gradient(product)
        slopes = {
            "first": np.swapaxes(state["second"], -1, -2) @ slope,
            "second": slope @ np.swapaxes(state["first"], -1, -2),
        }
        if bias:
            slopes["second_bias"] = slope[..., -1]
        for name, value in state.items():
            speed[name] = momentum * speed[name] + slopes[name] + decay[name] * value
            by = times.reshape(shape + (1,) * (value.ndim - len(shape)))
            state[name] = value - by * rate[name] * speed[name]


def _rows_over_inputs(
    settings: Mapping[str, float], weights: Mapping[str, np.ndarray], augmented: bool
) -> dict[str, np.ndarray | float]:
    """A setting of each parameter as a row over the augmented inputs; a bias that does not exist does not move."""
    readings: dict[str, np.ndarray | float] = {
        name: settings[name] for name in weights if name in ("second", "second_bias")
    }
    row = np.full(weights["first"].shape[1] + augmented, settings["first"])
    if augmented:
        row[-1] = settings.get("first_bias", 0.0)
    return readings | {"first": row}
