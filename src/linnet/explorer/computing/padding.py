"""Networks of any size in matrices of a few sizes: what is compiled for one of them serves all.

Inputs, outputs and hidden units that start at zero and have nothing to learn stay at zero: the rest trains as without
them, and JAX meets only a few shapes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet.inits.weights import Weights
from linnet.problems.problem import Problem

SIDES = (8, 24, 64, 128)  # the sizes of inputs and outputs that anything is trained at


@dataclass(frozen=True)
class Padded:
    """A problem and a start among zeros; `cut` takes products back to their own size."""

    problem: Problem
    weights: Weights
    shape: tuple[int, int]

    def cut(self, products: np.ndarray) -> Float[np.ndarray, "... output input"]:
        """The part of padded products (..., output, input) that is the problem's own."""
        return products[..., : self.shape[0], : self.shape[1]]


def padded(problem: Problem, weights: Weights) -> Padded:
    """The problem and the start in the least of the `SIDES` that holds them; larger ones as they are."""
    k, d, h = weights.out_dim, weights.in_dim, weights.width
    side = next((side for side in SIDES if side >= max(k, d) and 2 * side >= h), None)
    if side is None:
        return Padded(problem, weights, (k, d))
    cov = np.eye(side)
    cov[:d, :d] = problem.cov
    truth = None if problem.truth is None else _grown(problem.truth, side, side)
    test_cov = None
    if problem.has_own_test_cov:
        test_cov = np.eye(side)
        test_cov[:d, :d] = problem.test_cov
    power = 2 * problem.loss(np.zeros((k, d)))  # of the outputs: what no network learns is part of every loss
    made = Problem.from_moments(
        cov, _grown(problem.cross, side, side), output_power=power, truth=truth, test_cov=test_cov
    )
    first, second = _grown(weights.first, 2 * side, side), _grown(weights.second, side, 2 * side)
    return Padded(made, Weights(first, second), (k, d))


def _grown(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
    found = np.zeros((rows, columns))
    found[: matrix.shape[0], : matrix.shape[1]] = matrix
    return found
