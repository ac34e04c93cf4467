"""Result of a training run: times, saved states, losses, and how the run ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet._arguments import count
from linnet._memory import check_fits
from linnet.inits.weights import Weights, product_of
from linnet.reductions.reduction import Reduction
from linnet.trajectories.status import Status

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Trajectory:
    """Result of a training run: losses and networks at the saved steps.

    Every array has the saved states along its first axis and, for a batch, the batch along its second. States are kept
    in the reduced coordinates in which they were computed and lifted to the full network on demand.

    **Attributes:**

    - `times`: times (learning rate times number of steps), (time,), or (time, batch) if the learning rate differs
      within the batch
    - `steps`: numbers of the saved steps, (time,); None for a flow
    - `loss`: training loss, (time, [batch])
    - `status`: why and when the run ended; a network of a batch that stops before the others keeps its last state
    - `reduction`: reduced coordinates in which the run was computed
    - `kept`: saved states in those coordinates, by name
    - `rest`: factor $c$ by which weights that the data never affect have decayed, (time, [batch])
    - `attributes`: record of how the run was made

    `.products` and `.weights` are computed on demand. `.test_loss` needs a problem with a `truth`. `.to_dataset()`
    returns an xarray dataset.

    **Example:**

        >>> import linnet as ln
        >>> problem, start = ln.Problem.from_target([[1.0]]), ln.Weights([[0.5]], [[0.5]])
        >>> run = ln.gradient_descent(problem, start, learning_rate=0.1, steps=100, save_every=50)
        >>> run.steps.tolist(), run.products[-1].round(3).tolist(), run.status.reason
        ([0, 50, 100], [[1.0]], 'completed')
    """

    times: np.ndarray
    steps: np.ndarray | None
    loss: np.ndarray
    status: Status
    reduction: Reduction
    kept: dict[str, np.ndarray] = field(repr=False)
    rest: np.ndarray = field(repr=False)
    attributes: dict[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        flat = np.asarray(self.loss, dtype=float).reshape(len(self), -1).mean(axis=1)
        batch = f", batch={self.loss.shape[1]}" if self.loss.ndim > 1 else ""
        reasons = ", ".join(sorted(set(np.atleast_1d(self.status.reason).tolist())))
        span = f"t = {np.min(self.times):.4g} .. {np.max(self.times):.4g}, loss {flat[0]:.4g} -> {flat[-1]:.4g}"
        return f"Trajectory({self.attributes.get('trainer', 'run')}, {len(self)} states{batch}, {span}, {reasons})"

    def __len__(self) -> int:
        return len(self.loss)

    @property
    def reduced(self) -> Weights:
        """The states in reduced coordinates."""
        if "first" not in self.kept:
            raise ValueError("this run did not keep its weights: ask for keep='weights' when training.")
        return Weights.computed(*self._layers)

    @property
    def _layers(self) -> list[np.ndarray]:
        """What was kept of the layers, from the first to the last."""
        inner = sorted((name for name in self.kept if name.startswith("inner_")), key=lambda name: int(name[6:]))
        return [self.kept[name] for name in ("first", *inner, "second")]

    @cached_property
    def weights(self) -> Weights:
        """The full networks at every saved state."""
        full = self.reduction.full_weights
        states = self.reduced.first.shape[:-2]
        inner = sum(layer.shape[-1] * layer.shape[-2] for layer in full.layers[1:-1]) if len(self._layers) > 2 else 0
        numbers = int(np.prod(states)) * (full.width * (full.in_dim + full.out_dim) + inner)
        check_fits(
            8 * numbers, f"lifting {states} states of width {full.width}", "Use `weights_at(index)`, or `.reduced`."
        )
        return self.reduction.lift(self.reduced, rest=self.rest)

    def weights_at(self, index: int) -> Weights:
        """The full network at one saved state."""
        states = len(self)
        index = count("index", index, least=-states, most=states - 1)
        return self.reduction.lift(self.reduced[index], rest=self.rest[index])

    @cached_property
    def products(self) -> np.ndarray:
        """$A = W_L \\cdots W_1$ at every saved state, (time, [batch,] output, input)."""
        if "product" in self.kept:
            product, above = self.kept["product"], self.kept["second"]
        elif "first" in self.kept:
            product, above = product_of(self._layers), product_of(self._layers[1:])
        else:
            raise ValueError("this run kept only its losses: ask for keep='products' or keep='weights' when training.")
        return self.reduction._lift_products(product, above, self.rest)

    @property
    def test_loss(self) -> np.ndarray:
        """The test loss at every saved state."""
        if "test_loss" in self.kept:
            return self.kept["test_loss"]
        if self.reduction.full_problem.truth is None:
            raise ValueError("`test_loss` needs a problem with a `truth`: none was given when the problem was made.")
        raise ValueError(
            f"`test_loss` is not measured by {self.attributes.get('trainer', 'this trainer')}: see `weights`."
        )

    @property
    def validation_loss(self) -> np.ndarray:
        """The loss on held-out samples at every saved state."""
        if "validation_loss" in self.kept:
            return self.kept["validation_loss"]
        if self.reduction.full_problem.validation is None:
            raise ValueError("`validation_loss` needs held-out samples: train on `problem.with_validation(X, Y)`.")
        raise ValueError(
            f"`validation_loss` is not measured by {self.attributes.get('trainer', 'this trainer')}: see `weights`."
        )

    @property
    def singular_values(self) -> np.ndarray:
        """Singular values of the product at every saved state, decreasing, (time, [batch,] mode)."""
        return np.linalg.svd(self.products, compute_uv=False)

    def plot(self) -> Figure:
        """Losses and singular values along the run (`linnet.draw`); needs matplotlib."""
        from linnet.draw import overview

        return overview(self)

    def to_dataset(self) -> xr.Dataset:
        """The run as an xarray dataset with fixed dimension names (docs/schema.md)."""
        from linnet.trajectories.datasets import dataset

        return dataset(self)


def check_trajectory(value: object) -> None:
    """Refuses what is not a `Trajectory` under the argument's usual name."""
    if not isinstance(value, Trajectory):
        raise ValueError(
            f"`trajectory` must be what a trainer returns, a linnet Trajectory: got {type(value).__name__}."
        )
