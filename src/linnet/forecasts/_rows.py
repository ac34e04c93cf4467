"""Scaled rows with their one SVD, which the exact flow, ridge, the other methods and training all share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from linnet.forecasts.scaling import scaler, target_scaler
from linnet.problems.factor import Factor, of_svd
from linnet.problems.problem import Problem


class Decomposition(NamedTuple):
    """The thin SVD of inputs over the root of the number of rows, without directions of no variance.

    `left` (sample, mode), `scales` (mode,), `right` (mode, input).
    """

    left: np.ndarray
    scales: np.ndarray
    right: np.ndarray


@dataclass(frozen=True)
class Rows:
    """Scaled inputs and targets of a table, whose SVD is computed once: do not write into them."""

    inputs: Float[np.ndarray, "sample input"]
    outputs: Float[np.ndarray, "sample output"]

    @classmethod
    def from_data(cls, X: np.ndarray, Y: np.ndarray, preprocess: str) -> Rows:
        """Scale the columns of inputs and targets by their own moments."""
        return Rows(scaler(X, preprocess).apply(X), target_scaler(Y, preprocess).apply(Y))

    @cached_property
    def svd(self) -> Decomposition:
        """The thin SVD of the inputs."""
        left, scales, right = np.linalg.svd(self.inputs / np.sqrt(len(self.inputs)), full_matrices=False)
        keep = scales > scales[0] * max(self.inputs.shape) * np.finfo(float).eps
        keep[0] = True  # inputs that do not vary have one direction, of scale zero
        return Decomposition(left[:, keep], scales[keep], right[keep])

    @cached_property
    def problem(self) -> Problem:
        """The regression problem of these rows, with the factor of the SVD."""
        problem = Problem.from_data(self.inputs, self.outputs)
        problem.factor = of_svd(*self.svd, self.outputs)  # kept by the problem: nothing decomposes the rows again
        return problem

    @cached_property
    def condensed_rows(self) -> Rows:
        """Few rows in place of these, one for each mode and one more, with the same moments and the same loss."""
        few = condensed_problem(self.problem.factor, in_dim=self.inputs.shape[1])
        assert few.inputs is not None and few.outputs is not None
        return Rows(few.inputs, few.outputs)


def condensed_problem(factor: Factor, *, in_dim: int, rank: int | None = None) -> Problem:
    r"""Build a problem of few rows with the moments and the loss of the decomposed problem.

    Its $m$ rows are $\sqrt m\, s_i v_i^T$ with targets $\sqrt m\, G_i$, and zeros whose target is the loss that no
    linear map removes. It may have more inputs and modes than the other, up to `in_dim` and `rank`: no data touch them.
    """
    assert factor.basis is not None
    dim, modes = factor.basis.shape
    rank = modes if rank is None else rank
    scales, target = np.zeros(rank), np.zeros((factor.target.shape[0], rank))
    scales[:modes], target[:, :modes] = factor.scales, factor.target
    basis = np.zeros((in_dim, rank))
    basis[:dim, :modes] = factor.basis
    if modes < rank:  # weights are carried along these directions: they must be orthonormal too
        basis[:, modes:] = np.linalg.qr(basis[:, :modes], mode="complete")[0][:, modes:rank]
    root = np.sqrt(rank + 1)
    inputs, outputs = np.zeros((rank + 1, in_dim)), np.zeros((rank + 1, len(target)))
    inputs[:-1] = root * scales[:, None] * basis.T
    outputs[:-1], outputs[-1, 0] = root * target.T, root * np.sqrt(2 * factor.floor)
    problem = Problem.from_data(inputs, outputs)
    problem.factor = Factor(scales, basis, target, factor.floor)
    return problem


def condensed_batch(problems: Sequence[Problem], *, in_dim: int) -> Problem:
    """Build one batch of condensed problems from decomposed ones, all with the same number of inputs and modes."""
    rank = max(problem.factor.rank for problem in problems)
    few = [condensed_problem(problem.factor, in_dim=in_dim, rank=rank) for problem in problems]
    batch, factors = Problem.stack(few), [problem.factor for problem in few]
    parts = ("scales", "basis", "target", "floor")
    batch.factor = Factor(*(np.stack([getattr(factor, part) for factor in factors]) for part in parts))
    return batch
