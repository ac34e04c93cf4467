"""Networks of any size in matrices of a few sizes: what is compiled for one of them serves all.

Inputs, outputs and hidden units that start at zero and have nothing to learn stay at zero: the rest trains as without
them, and JAX meets only a few shapes. The trainers of this file have the names and the results of linnet's own, which
take their place in a script (see `as_python`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

import linnet as ln
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction
from linnet.trajectories.trajectory import Trajectory

SIDES = (
    8,
    24,
    64,
    128,
)  # the numbers of inputs and outputs that anything is trained at; hidden units are twice as many


def gradient_descent(problem: Problem, weights: Weights, **options: object) -> Trajectory:
    """Run `linnet.gradient_descent` on padded matrices."""
    return _train_padded(ln.gradient_descent, problem, weights, options)


def gradient_flow(problem: Problem, weights: Weights, **options: object) -> Trajectory:
    """Run `linnet.gradient_flow` on padded matrices."""
    return _train_padded(ln.gradient_flow, problem, weights, options)


def pad(problem: Problem, weights: Weights) -> tuple[Problem, Weights]:
    """Pad problem and start with zeros to the least of the `SIDES` that holds them; larger ones stay as they are."""
    k, d, h = weights.out_dim, weights.in_dim, weights.width
    side = next((side for side in SIDES if side >= max(k, d) and 2 * side >= h), None)
    if side is None:
        return problem, weights
    larger = Problem.from_moments(
        _write_into_corner(problem.cov, np.eye(side)),
        _write_into_corner(problem.cross, np.zeros((side, side))),
        output_power=2 * problem.loss(np.zeros((k, d))),  # what no network learns is part of every loss
        truth=None if problem.truth is None else _write_into_corner(problem.truth, np.zeros((side, side))),
        test_cov=_write_into_corner(problem.test_cov, np.eye(side)) if problem.has_own_test_cov else None,
    )
    first = _write_into_corner(weights.first, np.zeros((2 * side, side)))
    second = _write_into_corner(weights.second, np.zeros((side, 2 * side)))
    return larger, Weights(first, second)


def _train_padded(
    train: Callable[..., Trajectory], problem: Problem, weights: Weights, options: Mapping[str, object]
) -> Trajectory:
    """Train on padded matrices, and return the run without the padding."""
    run = train(*pad(problem, weights), reduce=False, **options)
    k, d, h = weights.out_dim, weights.in_dim, weights.width
    own = {"first": np.s_[..., :h, :d], "second": np.s_[..., :k, :h], "product": np.s_[..., :k, :d]}
    kept = {name: values[own[name]] if name in own else values for name, values in run.kept.items()}
    return replace(run, reduction=Reduction(problem, weights, weights, None, None), kept=kept)


def _write_into_corner(matrix: np.ndarray, larger: np.ndarray) -> np.ndarray:
    """Write a matrix into the upper left corner of a larger one, and return that one."""
    larger[: matrix.shape[0], : matrix.shape[1]] = matrix
    return larger
