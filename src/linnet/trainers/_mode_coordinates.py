r"""Flows on whitened inputs from tiny initializations, in the singular basis of the target.

With the target $U S V^\top$, the columns $p_i$ of $W_1 V$ and the rows $q_i$ of $U^\top W_2$ follow

$$ \dot p_i = \sum_j (S_i \delta_{ij} - q_j \cdot p_i)\, q_j, \qquad
   \dot q_i = \sum_j (S_i \delta_{ij} - q_i \cdot p_j)\, p_j, $$

where every term of mode $i$ is as small as mode $i$ itself. In other coordinates the residual of a mode that waits at
$10^{-40}$ is a difference of numbers of order one, whose rounding, $10^{-16}$, would take its place. Here each mode has
a scale of its own: errors are judged by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from linnet.trainers._flow_remainder import FlowRemainder
from linnet.trainers._objective import ProductObjective, SpectralObjective
from linnet.trainers._states import Array

MAX_RATIO = 1e-8  # of weights over the root of the target's size, below which an initialization is tiny
MAX_SPREAD = 1e-12  # of the scales of whitened inputs


@dataclass(frozen=True)
class ModeCoordinates:
    """The way to the modes of a target and back: its singular `values` and both bases, and the inputs' `scale`."""

    left: Float[np.ndarray, "*batch output output"]
    values: Float[np.ndarray, "*batch mode"]
    right: Float[np.ndarray, "*batch input input"]
    scale: float

    @classmethod
    def for_flow(cls, objective: ProductObjective, layers: Sequence[Array]) -> ModeCoordinates | None:
        """Return those of a flow from tiny weights on whitened inputs; None for any other."""
        if not isinstance(objective, SpectralObjective) or len(layers) != 2:
            return None
        scales = np.ones(1) if objective.scales is None else np.asarray(objective.scales, dtype=float)
        target = np.asarray(objective.target, dtype=float)
        least, most = float(scales.min(initial=np.inf)), float(scales.max(initial=0.0))
        largest = max(float(np.abs(np.asarray(layer)).max(initial=0.0)) for layer in layers)
        if not most - least <= MAX_SPREAD * most or not 0 < largest < MAX_RATIO * np.sqrt(np.abs(target).max()):
            return None
        left, values, right = np.linalg.svd(target, full_matrices=True)
        return cls(left, values, np.swapaxes(right, -1, -2), float(scales.mean()))

    @property
    def target(self) -> Float[np.ndarray, "*batch output input"]:
        """The target in its own basis: diagonal."""
        rows, columns = self.left.shape[-1], self.right.shape[-1]
        return self.values[..., None, :] * np.eye(rows, self.values.shape[-1]) @ np.eye(self.values.shape[-1], columns)

    def objective(self, dtype: np.dtype) -> SpectralObjective:
        """Return what is descended in these coordinates."""
        return SpectralObjective(None, jnp.asarray(self.target, dtype), jnp.asarray(0.0, dtype))

    def remainder(self, decay: float) -> FlowRemainder:
        """Return the solver for the rest of a flow in these coordinates."""
        return FlowRemainder(self.target, np.ones(self.right.shape[-1]), None, decay)

    def enter(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both layers in these coordinates."""
        unit = np.sqrt(self.scale)
        return unit * (first @ self.right), unit * (np.swapaxes(self.left, -1, -2) @ second)

    def leave(self, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return both layers in the coordinates of the run; axes may be in front."""
        unit = np.sqrt(self.scale)
        return first @ np.swapaxes(self.right, -1, -2) / unit, self.left @ second / unit
