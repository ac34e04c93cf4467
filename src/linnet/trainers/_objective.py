"""The function that a compiled loop descends, and the test loss it may use.

An objective has `at(params)`, the loss of a state and whatever the update needs to move it (`seen`), and
`loss_scale()`, the scale of its losses; a test loss has `at(params, seen)`. For linear networks `seen` is the product A
and the residual R = -dL/dA. Both are for one network; arrays of a batch have one axis more than `NDIM` says, and are
mapped over by `batch_axes`. `SpectralObjective` is the reduced form of a problem; `SamplesObjective` and
`MomentsObjective` are the plain ones, which share no code with it, so that reduced and full runs check each other;
`CostObjective` is any differentiable function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import register_dataclass

from linnet.inits.weights import product_of
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction
from linnet.trainers._states import Array, Arrays, Objective, Params, layers_of


class ProductObjective:
    """An objective that sees a network through its product alone."""

    def evaluate(self, A: Array) -> tuple[Array, Array]:
        """Return the loss and the residual -dL/dA at a product."""
        raise NotImplementedError

    def loss_scale(self) -> Array:
        """Return the scale of losses: the scale of the targets."""
        raise NotImplementedError

    def at(self, params: Params) -> tuple[Array, tuple[Array, Array]]:
        """Return the loss of a state, with its product and residual."""
        A = product_of(layers_of(params))
        loss, residual = self.evaluate(A)
        return loss, (A, residual)


@register_dataclass
@dataclass(frozen=True)
class SpectralObjective(ProductObjective):
    """L = |G - A s|^2/2 + floor in the eigenbasis of the inputs; `scales` is None for whitened inputs."""

    scales: Array | None
    target: Array
    floor: Array
    NDIM: ClassVar = {"scales": 1, "target": 2, "floor": 0}

    def evaluate(self, A: Array) -> tuple[Array, Array]:
        """Return the loss and the residual -dL/dA at a product."""
        error = self.target - (A if self.scales is None else A * self.scales)
        residual = error if self.scales is None else error * self.scales
        return 0.5 * jnp.sum(error**2) + self.floor, residual

    def loss_scale(self) -> Array:
        """Return the loss of a network that is zero."""
        return 0.5 * jnp.sum(self.target**2) + self.floor


@register_dataclass
@dataclass(frozen=True)
class SamplesObjective(ProductObjective):
    """L = |Y - X A^T|^2/(2n) from the samples themselves."""

    inputs: Array
    outputs: Array
    NDIM: ClassVar = {"inputs": 2, "outputs": 2}

    def evaluate(self, A: Array) -> tuple[Array, Array]:
        """Return the loss and the residual -dL/dA at a product."""
        n = self.inputs.shape[0]
        error = self.outputs.T - A @ self.inputs.T
        return 0.5 * jnp.sum(error**2) / n, error @ self.inputs / n

    def loss_scale(self) -> Array:
        """Return the loss of a network that is zero."""
        return 0.5 * jnp.sum(self.outputs**2) / self.inputs.shape[0]


@register_dataclass
@dataclass(frozen=True)
class MomentsObjective(ProductObjective):
    """L = (E|y|^2 - 2<Gamma, A> + <A Sigma, A>)/2."""

    cov: Array
    cross: Array
    power: Array
    NDIM: ClassVar = {"cov": 2, "cross": 2, "power": 0}

    def evaluate(self, A: Array) -> tuple[Array, Array]:
        """Return the loss and the residual -dL/dA at a product."""
        residual = self.cross - A @ self.cov
        return 0.5 * (self.power - jnp.sum((self.cross + residual) * A)), residual

    def loss_scale(self) -> Array:
        """Return the loss of a network that is zero."""
        return 0.5 * self.power


@register_dataclass
@dataclass(frozen=True)
class CostObjective(ProductObjective):
    """Any differentiable cost of the product, which is compiled in."""

    cost: Callable[[Array], Array] = field(metadata={"static": True})
    NDIM: ClassVar[dict[str, int]] = {}

    def evaluate(self, A: Array) -> tuple[Array, Array]:
        """Return the cost and minus its gradient at a product."""
        value, gradient = jax.value_and_grad(self.cost)(A)
        return value, -gradient

    def loss_scale(self) -> Array:
        """Return 1, as the scale of a general cost is not known."""
        return jnp.asarray(1.0)


@register_dataclass
@dataclass(frozen=True)
class TestLoss:
    """|A w + c W2 z - T|^2/2 + floor, a sum of squares in coordinates of the outputs that suit the test inputs.

    - `truth`: T, in these coordinates
    - `weight`: w, which leads there from the reduced product; one row for a factor of each input, None for none
    - `untouched`: z, which does so for the inputs that training never touches (c, `params["rest"]`, is their decay)
    """

    truth: Array
    weight: Array | None
    untouched: Array | None
    floor: Array | None = None
    NDIM: ClassVar = {"truth": 2, "weight": 2, "untouched": 2, "floor": 0}
    __test__ = False  # not a test class, whatever pytest thinks of its name

    def at(self, params: Params, seen: tuple[Array, Array]) -> Array:
        """Return the test loss of a state whose product is the first of `seen`."""
        A = seen[0]
        mapped = A if self.weight is None else A @ self.weight if self.weight.shape[0] > 1 else A * self.weight
        if self.untouched is not None:
            mapped = mapped + params["rest"] * (product_of(layers_of(params)[1:]) @ self.untouched)
        return 0.5 * jnp.sum((mapped - self.truth) ** 2) + (0.0 if self.floor is None else self.floor)


@register_dataclass
@dataclass(frozen=True)
class TestLosses:
    """The losses that are not trained on: against the truth of a problem, on held-out samples, or both."""

    test: TestLoss | None
    validation: TestLoss | None
    NDIM: ClassVar[dict[str, int]] = {}
    __test__ = False

    def at(self, params: Params, seen: tuple[Array, Array]) -> Array:
        """Return the loss that stopping rules look at: on held-out samples where there are some."""
        kept = self.losses(params, seen)
        return kept["validation_loss"] if "validation_loss" in kept else kept["test_loss"]

    def losses(self, params: Params, seen: tuple[Array, Array]) -> Arrays:
        """Return the losses of a state by the names they have in a trajectory."""
        named = {"test_loss": self.test, "validation_loss": self.validation}
        return {name: loss.at(params, seen) for name, loss in named.items() if loss is not None}


def batch_axes(tree: Any) -> Any:
    """Return the `in_axes` of an objective or of test losses: 0 for fields that carry a leading batch axis, None for
    shared ones. Fields that `NDIM` does not name are looked into where they have an `NDIM`, and returned as they are
    where not: so static ones stay."""
    if tree is None:
        return None
    axes = {}
    for f in fields(tree):
        value = getattr(tree, f.name)
        if f.name in tree.NDIM:
            axes[f.name] = 0 if value is not None and value.ndim > tree.NDIM[f.name] else None
        else:
            axes[f.name] = batch_axes(value) if hasattr(value, "NDIM") else value
    return type(tree)(**axes)


def losses_at(objective: Objective, test: TestLosses | None, params: Params) -> Arrays:
    """Return the losses that a trajectory keeps of one state, by the names that `Trajectory` knows."""
    loss, seen = objective.at(params)
    return {"loss": loss, **({} if test is None else test.losses(params, seen))}


def batch_member(tree: Any, index: int) -> Any:
    """Return the objective, or another dataclass with `NDIM`, of one member of a batch."""
    shared = {f.name: getattr(tree, f.name) for f in fields(tree)}
    batched = {name for name, ndim in tree.NDIM.items() if shared[name] is not None and shared[name].ndim > ndim}
    return type(tree)(**{name: value[index] if name in batched else value for name, value in shared.items()})


def training_objective(problem: Problem, reduction: Reduction, dtype: np.dtype) -> ProductObjective:
    """Return the loss to descend: in the coordinates of `reduction`, or as the problem was given. Of a problem of
    moments or a target in reduced coordinates it is a `SpectralObjective`, as `label_noise` expects."""
    cast = partial(jnp.asarray, dtype=dtype)
    if problem.cost is not None:
        return CostObjective(problem.cost)
    if problem.whitened:
        return SpectralObjective(None, cast(problem.cross), cast(problem.factor.floor))
    if reduction.basis is not None:
        f = reduction.factor
        return SpectralObjective(cast(f.scales), cast(f.target), cast(f.floor))
    if problem.inputs is not None and problem.inputs.shape[-2] < problem.in_dim:
        return SamplesObjective(cast(problem.inputs), cast(problem.outputs))
    if problem.inputs is not None:
        assert problem.outputs is not None
        power = (problem.outputs**2).sum(axis=(-1, -2)) / problem.outputs.shape[-2]
    elif problem.output_power is not None:
        power = problem.output_power
    else:
        power = (problem.factor.target**2).sum(axis=(-1, -2))
    return MomentsObjective(cast(problem.cov), cast(problem.cross), cast(power))


def test_losses(reduction: Reduction, dtype: np.dtype) -> TestLosses | None:
    """Return the test loss, the held-out loss or both, in the coordinates of `reduction`; None without either.

    `reduction` is that of the layers which the loop moves, padding included (`_start.pad_width`).
    """
    test, validation = _test_loss(reduction, dtype), None
    if reduction.full_problem.validation is not None:
        root, target, floor = reduction.full_problem.validation.squares()
        validation = _loss_in_coordinates(reduction, root, target, dtype, floor)
    return None if test is None and validation is None else TestLosses(test, validation)


def _test_loss(reduction: Reduction, dtype: np.dtype) -> TestLoss | None:
    """Return the test loss in the coordinates of `reduction`; None for a problem without a truth."""
    problem = reduction.full_problem
    if problem.truth is None:
        return None
    cast = partial(jnp.asarray, dtype=dtype)
    truth, basis = problem.truth, reduction.basis
    if problem.has_own_test_cov:
        root = _covariance_root(problem.test_cov)
    elif problem.whitened or problem.cost is not None:
        return TestLoss(cast(truth), None, None)
    elif basis is not None:
        # The training covariance is diagonal here, and zero where training never touches anything.
        scales = reduction.factor.scales[..., None, :]
        return TestLoss(cast((truth @ basis) * scales), cast(scales), None)
    elif problem.inputs is not None and problem.inputs.shape[-2] < problem.in_dim:
        root = np.swapaxes(problem.inputs, -1, -2) / np.sqrt(problem.inputs.shape[-2])
    else:
        root = _covariance_root(problem.test_cov)
    return _loss_in_coordinates(reduction, root, truth @ root, dtype)


def _loss_in_coordinates(
    reduction: Reduction, root: np.ndarray, target: np.ndarray, dtype: np.dtype, floor: object = None
) -> TestLoss:
    """Return the loss |A root - target|^2/2 + floor of the full product A, in the coordinates of `reduction`."""
    cast = partial(jnp.asarray, dtype=dtype)
    floor = None if floor is None else cast(floor)
    basis = reduction.basis
    if basis is None:
        return TestLoss(cast(target), cast(root), None, floor)
    weight = np.swapaxes(basis, -1, -2) @ root
    if reduction.untouched is None:
        return TestLoss(cast(target), cast(weight), None, floor)
    parts: tuple[np.ndarray, ...] = (weight, reduction.untouched @ root, target)
    if sum(part.shape[-2] for part in parts) < root.shape[-1]:
        parts = _compress_columns(*parts)
    return TestLoss(cast(parts[2]), cast(parts[0]), cast(parts[1]), floor)


def _covariance_root(cov: np.ndarray) -> np.ndarray:
    """Return a C with C C^T = cov: Cholesky where it exists, the symmetric root otherwise."""
    try:
        return np.linalg.cholesky(cov)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(cov)
        return vectors * np.sqrt(np.clip(values, 0, None))[..., None, :]


def _compress_columns(*matrices: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the rows of all matrices in a basis of their common span: fewer columns, the same inner products."""
    lead = np.broadcast_shapes(*(matrix.shape[:-2] for matrix in matrices))
    stacked = np.concatenate([np.broadcast_to(m, (*lead, *m.shape[-2:])) for m in matrices], axis=-2)
    triangle = np.linalg.qr(np.swapaxes(stacked, -1, -2), mode="r")
    ends = np.cumsum([m.shape[-2] for m in matrices])[:-1]
    return tuple(np.split(np.swapaxes(triangle, -1, -2), ends, axis=-2))
