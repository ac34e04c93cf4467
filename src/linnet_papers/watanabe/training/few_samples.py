"""Networks on fewer samples than inputs, for Figure 5 and eq. (27): trained to the end, and their test error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.reproduction.cells import Block, Points, cell_by_cell
from linnet_papers.watanabe.training.phases import gaussian_start
from linnet_papers.watanabe.training.samples import spiked_inputs, target


@dataclass(frozen=True)
class FewSamples:
    """What is drawn and how it is trained: data with one spike along the first input, a Gaussian start of scale s.

    Training ends where the loss is the share `loss` of its first value.
    """

    dim: int
    samples: int
    width: int
    spike: float
    alignment: float
    scale: float = 1e-5
    loss: float = 1e-8
    tolerance: float = 3e-3
    dtype: str = "float64"

    def data(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw the inputs (sample, input), and return them with the target."""
        inputs = spiked_inputs(generator(seed, 0), self.samples, self.spike, self.dim, self.dtype)
        return inputs, target(self.alignment, self.dim).astype(inputs.dtype)

    def error(self, product: np.ndarray, beta: np.ndarray) -> float:
        """Return the test error of a predictor over the power of the signal: 2 test_loss/E[y^2]."""
        miss = product.astype(np.float64) - beta
        return float(miss @ miss + self.spike * miss[0] ** 2) / (1 + self.spike * self.alignment**2)

    def descent_error(self, seed: int) -> float:
        """Return the test error of one network trained by gradient descent, as the paper trains it."""
        inputs, beta = self.data(seed)
        problem = ln.Problem.from_data(inputs, inputs @ beta)
        run = ln.gradient_descent(
            problem,
            gaussian_start(seed + 1, self.dim, self.width, self.scale),
            learning_rate=0.2 / float(np.linalg.eigvalsh(inputs @ inputs.T / self.samples)[-1]),
            steps=50_000,
            stop=self.loss * float(problem.loss(np.zeros((1, self.dim)))),
            save_every=ln.trajectories.last(),
            keep="products",
        )
        return self.error(run.products[-1].reshape(-1), beta)

    def flow_end(self, seed: int) -> dict[str, float]:
        """Train one network by gradient flow: its test `error`, the share of the `loss` that is left, the `time` and
        `steps` of the integrator, and the `distance` from the minimum-norm solution."""
        from linnet_papers.watanabe.training.interpolation import interpolating_network

        inputs, beta = self.data(seed)
        run = interpolating_network(
            inputs,
            inputs @ beta,
            key=seed,
            width=self.width,
            stds=(self.scale / np.sqrt(self.dim), self.scale / np.sqrt(self.width)),
            loss=self.loss,
            tolerance=self.tolerance,
            dtype=self.dtype,
        )
        return {
            "error": self.error(run.product, beta),
            "loss": run.loss,
            "time": run.time,
            "steps": float(run.steps),
            "distance": float(np.linalg.norm(run.product.astype(np.float64) - run.min_norm)),
        }


def error_cells(points: Points, seeds: np.ndarray, *, dtype: str, **fixed: float) -> Block:
    """Networks on fewer samples than inputs, each on its own data from its own start: what `flow_end` returns.

    `points` has `ratio`, the inputs per sample, and `spike` and `alignment` unless they are fixed; `fixed` are the
    other fields of `FewSamples`. `dtype` is named here, outside the decorated function, because a sweep hands its
    own to those functions alone that name it.
    """
    return _error_cells(points, seeds, dtype=dtype, **fixed)


@cell_by_cell
def _error_cells(key: int, *, dim: int, ratio: float, **drawn: Any) -> Block:
    """Train the network of one cell, with d/ratio samples."""
    return FewSamples(dim=dim, samples=round(dim / ratio), **drawn).flow_end(key)
