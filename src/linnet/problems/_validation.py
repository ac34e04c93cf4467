"""Held-out samples: a loss that trainers record next to the training loss and stopping rules look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import real_array


@dataclass(frozen=True)
class Validation:
    """Held-out `inputs` (..., sample, input) and `outputs` (..., sample, output); a leading axis is a batch."""

    inputs: Float[np.ndarray, "... sample input"]
    outputs: Float[np.ndarray, "... sample output"]

    def loss(self, A: np.ndarray) -> Any:
        r"""$\tfrac12 E|y - A x|^2$ over the held-out samples, for `A` (..., output, input)."""
        residual = self.outputs - self.inputs @ np.swapaxes(A, -1, -2)
        value = 0.5 * (residual**2).sum(axis=(-1, -2)) / self.inputs.shape[-2]
        return float(value) if np.ndim(value) == 0 else value

    def squares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        r"""The loss as $\tfrac12 |A w - T|_F^2 + c$ in the fewest columns: w (input, r), T (output, r) and c."""
        root = np.sqrt(self.inputs.shape[-2])
        frame, triangle = np.linalg.qr(self.inputs / root)
        labels = np.swapaxes(self.outputs, -1, -2) / root
        target = labels @ frame
        outside = labels - target @ np.swapaxes(frame, -1, -2)
        return np.swapaxes(triangle, -1, -2), target, 0.5 * (outside**2).sum(axis=(-1, -2))


def samples(X: Any, Y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and outputs, ([batch,] sample, column), as many of the one as of the other."""
    inputs, outputs = real_array("X", X, ndim=(2, 3)), real_array("Y", Y, ndim=(1, 2, 3))
    if outputs.ndim == inputs.ndim - 1 and outputs.shape == inputs.shape[:-1]:
        outputs = outputs[..., None]
    if outputs.ndim != inputs.ndim or outputs.shape[:-1] != inputs.shape[:-1]:
        raise ValueError(
            f"`X` and `Y` must have the same number of samples: got X of shape {np.shape(X)} and Y of shape "
            f"{np.shape(Y)}. Samples are rows: X is (n, d), Y is (n, k) or (n,)."
        )
    return inputs, outputs


def validation(X: Any, Y: Any, *, in_dim: int, out_dim: int) -> Validation:
    """Held-out samples for a problem of this many inputs and outputs, checked."""
    inputs, outputs = samples(X, Y)
    if (inputs.shape[-1], outputs.shape[-1]) != (in_dim, out_dim):
        raise ValueError(
            f"`X` and `Y` must have the problem's {in_dim} inputs and {out_dim} outputs: got {inputs.shape[-1]} and "
            f"{outputs.shape[-1]}."
        )
    return Validation(inputs, outputs)
