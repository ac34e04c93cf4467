"""One network and one problem, as the formulas see them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linnet.inits.weights import Weights
from linnet.predictions.prediction import Assumption
from linnet.problems.problem import Problem
from linnet.theories.lazy_active import gram_matrices

ROUNDING = 1e-9  # of a closed form, and of an integration at its tightest tolerance
NUDGE = 1e-13  # relative: errors of rounding and of an integrator's steps, where what they change is looked at
SENSITIVITY = 10.0  # such errors in place of one
_EXACT = 1e-12  # of the Gram matrices: what differs by less is equal to rounding
_EQUAL_VARIANCES = 1e-9


def nudged(matrix: np.ndarray) -> np.ndarray:
    """Return a matrix with tiny errors, as rounding and steps make them: near a saddle they decide what happens."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=matrix.shape)
    return np.asarray(matrix + NUDGE * float(np.abs(matrix).max()) * signs)


@dataclass(frozen=True)
class Task:
    """Input of a formula: a single network, a single problem, and times."""

    problem: Problem
    weights: Weights
    times: np.ndarray
    rtol: float
    weight_decay: float = 0.0
    update: Any = None
    learning_rate: float = 0.0

    @property
    def flow(self) -> Assumption:
        """Whether it is gradient flow that is asked for."""
        name = "gradient flow" if self.update is None else type(self.update).__name__
        return Assumption("update", "gradient flow", name, self.update is None)

    @property
    def no_decay(self) -> Assumption:
        """Whether the weights do not decay."""
        return Assumption("weight decay", "0", f"{self.weight_decay:g}", self.weight_decay == 0)

    def layers(self, least: int, most: float) -> Assumption:
        """Whether the network has this number of layers."""
        depth, required = self.weights.depth, f"{least}" if least == most else f"{least} or more"
        return Assumption("depth", required, str(depth), least <= depth <= most)

    @cached_property
    def variance(self) -> float | None:
        """The variance that all inputs have, where they are uncorrelated and have one; 1 for whitened inputs."""
        if self.problem.whitened:
            return 1.0
        scales = self.problem.factor.scales
        equal = len(scales) == self.problem.in_dim and float(np.ptp(scales)) <= _EQUAL_VARIANCES * float(scales.max())
        return float(np.mean(scales**2)) if equal else None

    @property
    def whitened(self) -> Assumption:
        """Whether the inputs are uncorrelated and of one variance, which only sets the unit of time."""
        if self.variance is not None:
            return Assumption("inputs", "whitened", "whitened", True)
        scales = self.problem.factor.scales
        seen = f"{len(scales)} of {self.problem.in_dim} directions"
        found = f"variances {scales.min() ** 2:.2g} to {scales.max() ** 2:.2g} in {seen}"
        return Assumption("inputs", "whitened", found, False)

    @cached_property
    def target(self) -> np.ndarray:
        """The target of whitened inputs."""
        return np.asarray(self.problem.cross) / (self.variance or 1.0)

    @property
    def clock(self) -> np.ndarray:
        """The times for inputs of variance one."""
        return self.times * (self.variance or 1.0)

    @cached_property
    def product(self) -> np.ndarray:
        """The product of the initial weights."""
        return self.weights.product

    @cached_property
    def threshold(self) -> float:
        """The threshold of two layers: their mean Gram matrices are those that the self-consistent equation assumes."""
        return self._threshold_and_gap[0]

    @cached_property
    def gap(self) -> float:
        """How far the initial Gram matrices are from those of the self-consistent equation, over the threshold."""
        return self._threshold_and_gap[1]

    @cached_property
    def _threshold_and_gap(self) -> tuple[float, float]:
        first, second = self.weights.first, self.weights.second
        grams = first.T @ first, second @ second.T
        sizes = np.array([np.trace(gram) for gram in grams])
        dims = np.array([len(gram) for gram in grams])
        values = np.linalg.svd(self.product, compute_uv=False)
        level, scale = float((sizes / dims).sum()), float(sizes.max())

        def excess(share: float) -> float:
            g = share * level
            roots = float(np.hypot(values, g).sum())
            return float(((roots + (dims - len(values)) * g) / dims).sum()) / level - 1

        if self._distance(grams, 0.0) <= _EXACT * scale:
            return 0.0, 0.0
        if excess(0.0) >= 0:
            return 0.0, np.inf
        from scipy.optimize import brentq

        threshold = level * float(brentq(excess, 0.0, 1.0, xtol=1e-15, rtol=1e-14))
        distance = self._distance(grams, threshold)
        return threshold, 0.0 if distance <= _EXACT * scale else distance / threshold

    def _distance(self, grams: tuple[np.ndarray, np.ndarray], threshold: float) -> float:
        """The operator norm of what the Gram matrices differ by, at the best shift between the layers."""
        hats = gram_matrices(self.product, threshold)
        one, two = (np.linalg.eigvalsh(gram - hat) for gram, hat in zip(grams, hats, strict=True))
        return float(max(one[-1], -two[0]) - min(one[0], -two[-1])) / 2

    def shares(self, products: np.ndarray) -> tuple[float, float]:
        """How far a prediction moves, and how far the whole way is, over the largest entry of the products."""
        largest = float(np.abs(products).max())
        way = float(np.abs(self.problem.min_norm_solution() - self.product).max())
        moved = float(np.abs(products - self.product).max())
        return (moved / largest, max(moved, way) / largest) if largest > 0 else (0.0, 0.0)
