"""Smaller problems with exactly the same dynamics: fewer hidden units, fewer inputs, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import broadcast, real_array, representable
from linnet.inits.weights import Weights, check_two_layers, check_weights
from linnet.problems.factor import Factor
from linnet.problems.problem import Problem

COORDINATE_WISE = {
    "adam",
    "adamw",
    "adamax",
    "nadam",
    "amsgrad",
    "adagrad",
    "adadelta",
    "rmsprop",
    "lion",
    "signsgd",
    "rprop",
}
ROTATION_INVARIANT = {"descent", "sgd", "momentum", "flow"}


@dataclass(frozen=True)
class Reduction:
    r"""Result of `reduce`: a smaller network with the same dynamics, and the map back to the full one.

    **Inputs.** Gradients of $W_1$ have their rows in range($\Sigma$), spanned by the `basis` V (d x r): only $W_1 V$
    moves. **Width.** The columns of $W_1 V$ and $W_2^T$ never leave the space that they span at initialization. `frame`
    Q (h x q) is an orthonormal basis of it, $q = \min(h, r + k)$. So $w_1 = Q^T W_1 V$ and $w_2 = W_2 Q$ follow the
    same dynamics, and

    $$ W_1 = Q w_1 V^T + c\, W_1(0)(I - V V^T), \qquad W_2 = w_2 Q^T, $$

    where $c$ is 1 unless weight decay shrinks the part of $W_1$ that the data never affect. An update that reads the
    weights, such as a custom decay, changes that part in another way. For such an update the columns of V span it too.

    **Attributes:**

    - `full_problem`: problem as it was given
    - `full_weights`: weights as they were given
    - `weights`: reduced weights, $w_1$ (q, r) and $w_2$ (k, q)
    - `basis`: basis $V$ of the inputs, (input, r); None if inputs were not reduced
    - `frame`: basis $Q$ of the hidden layer, (hidden, q); None if the width was not reduced

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> start = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=1000, stds=0.1)
        >>> reduction = ln.reduce(ln.Problem.from_target(np.eye(2, 3)), start)
        >>> reduction.weights.width, bool(np.allclose(reduction.lift(reduction.weights).first, start.first))
        (5, True)
    """

    full_problem: Problem
    full_weights: Any
    weights: Any
    basis: np.ndarray | None
    frame: np.ndarray | None

    @cached_property
    def problem(self) -> Problem:
        """Reduced problem, with r whitened directions of the inputs.

        It has a `truth` if its own test loss is exact: if no direction of the inputs was dropped, or if the test
        covariance is the training covariance. `Reduction.test_loss` is always exact.
        """
        full = self.full_problem
        if self.basis is None:
            return full
        f = self.factor
        exact = f.rank == full.in_dim or not full.has_own_test_cov
        truth = full.truth @ self.basis if full.truth is not None and exact else None
        test_cov = None
        if truth is not None and full.has_own_test_cov:
            test_cov = np.swapaxes(self.basis, -1, -2) @ full.test_cov @ self.basis
        eye = np.eye(f.rank)
        reduced = Problem(
            in_dim=f.rank,
            out_dim=full.out_dim,
            cov=f.scales[..., None, :] ** 2 * eye,
            cross=f.target * f.scales[..., None, :],
            output_power=2 * f.floor + (f.target**2).sum(axis=(-1, -2)),
            truth=truth,
            test_cov=test_cov,
        )
        reduced.factor = Factor(f.scales, None, f.target, f.floor)
        return reduced

    @cached_property
    def factor(self) -> Factor:
        """The square loss in the basis V: the loss of the full problem, and zero for additional inputs."""
        f = self.full_problem.factor
        besides = 0 if self.basis is None else self.basis.shape[-1] - f.rank
        if not besides:
            return f
        scales, target = (
            np.concatenate([part, np.zeros((*part.shape[:-1], besides))], axis=-1) for part in (f.scales, f.target)
        )
        return Factor(scales, self.basis, target, f.floor)

    @cached_property
    def untouched(self) -> np.ndarray | None:
        """$Q^T W_1(0)(I - V V^T)$ (q x d): the hidden span on inputs that the data never touch; None if all are."""
        if self.basis is None or self.basis.shape[-1] == self.basis.shape[-2]:
            return None
        rest = self._outside
        return rest if self.frame is None else np.swapaxes(self.frame, -1, -2) @ rest

    @property
    def exact(self) -> bool:
        """Whether the dynamics are exactly those of the full network: true for two layers."""
        return True

    @property
    def order(self) -> int | None:
        """Largest degree of the monomials that are kept: None, because two layers need none."""
        return None

    @property
    def error(self) -> float:
        """The estimated error of the products, relative to the largest: 0, because two layers reduce exactly."""
        return 0.0

    @property
    def _outside(self) -> np.ndarray:
        """The first layer of the full network on inputs that the data never touch."""
        assert self.basis is not None
        first = self.full_weights.first
        return first - (first @ self.basis) @ np.swapaxes(self.basis, -1, -2)

    def lift(self, weights: Weights, *, rest: ArrayLike = 1.0) -> Weights:
        """The full network of reduced `weights` (leading axes allowed); `rest` is c in the formula above."""
        self._check_reduced(weights)
        diverged = not np.isfinite(weights.first).all()  # then what is left of the rest may be no number either
        rest = real_array("rest", rest, finite=not diverged)
        broadcast(weights=weights.first[..., 0, 0], rest=rest)
        first, second, dtype = weights.first, weights.second, weights.first.dtype
        if self.frame is not None:
            first = self.frame @ first
            second = second @ np.swapaxes(self.frame, -1, -2)
        if self.basis is not None:
            first = first @ np.swapaxes(self.basis, -1, -2)
            if self.untouched is not None:
                first = first + np.asarray(rest)[..., None, None] * self._outside
        return Weights.computed(first.astype(dtype, copy=False), second.astype(dtype, copy=False))

    def _check_reduced(self, weights: Weights) -> Weights:
        """Return the weights of the reduced network; weights of another shape raise `ValueError`."""
        wanted = self.weights.first.shape[-2:], self.weights.second.shape[-2:]
        got = tuple(layer.shape[-2:] for layer in weights.layers) if isinstance(weights, Weights) else None
        if got != wanted:
            raise ValueError(
                f"`weights` must be reduced weights of shapes {wanted[0]} and {wanted[1]}: got "
                f"{got or type(weights).__name__}."
            )
        return weights

    def products(
        self, product: np.ndarray, second: np.ndarray, *, rest: ArrayLike = 1.0
    ) -> Float[np.ndarray, "*batch output input"]:
        """The full product from the reduced one, (..., k, d), without lifting the weights.

        **Arguments:** `product` (..., k, r) and `second` (..., k, q) of reduced weights; `rest` is c in the formula
        above, one number or one for each of the leading axes.
        """
        k, r, q = self.weights.out_dim, self.weights.in_dim, self.weights.width
        whole, layer = real_array("product", product), real_array("second", second)
        if whole.shape[-2:] != (k, r) or layer.shape[-2:] != (k, q):
            raise ValueError(
                f"`product` must be (..., {k}, {r}) and `second` (..., {k}, {q}), as of the reduced weights: got "
                f"shapes {whole.shape} and {layer.shape}."
            )
        share = real_array("rest", rest)
        broadcast(product=whole[..., 0, 0], second=layer[..., 0, 0], rest=share)
        return self._lift_products(whole, layer, share)

    @representable
    def _lift_products(self, product: np.ndarray, second: np.ndarray, rest: ArrayLike) -> np.ndarray:
        """`products` of states as a trainer kept them: in their precision, NaN where a run did not get there."""
        if self.basis is None:
            return product
        full = product @ np.swapaxes(self.basis, -1, -2)
        if self.untouched is not None:
            full = full + np.asarray(rest)[..., None, None] * (second @ self.untouched)
        return full.astype(product.dtype, copy=False)

    @representable
    def test_loss(self, weights: Weights, *, rest: ArrayLike = 1.0) -> float | Float[np.ndarray, " ..."]:
        """Test loss of the full problem at reduced `weights`."""
        states = check_two_layers(self._check_reduced(weights))
        refuse_diverged("weights", states)
        return self.full_problem.test_loss(self.products(states.product, states.second, rest=rest))


def reduce(
    problem: Problem,
    weights: Weights,
    *,
    order: int | None = None,
    rtol: float | None = None,
    learning_rate: float | None = None,
    optimizer: str = "descent",
) -> Reduction:
    r"""Return the smallest network with the same dynamics as these weights on a problem, at every step.

    The trainers reduce automatically. Call this function to look at the reduction, or to choose its tolerance for a
    deep network.

    Two layers reduce exactly, to rounding. So do deeper networks that are orthogonal, balanced or narrow, or that have
    unequal widths with orthonormal rows or columns.

    For other deep networks, mostly Gaussian ones, the reduction is approximate. It keeps the most important monomials:
    products of the inner layers, applied to the outer ones. The page "How the reduction of deep networks works" has the
    details, and `.error` estimates the error.

    - If you give `order`, all monomials up to that degree are kept. The error falls about tenfold with each degree.
    - If you give `rtol`, as many are kept as this tolerance requires. They are chosen by trial descents with small
      steps, or by degree: at depth 3, unless there are ten times as many inputs as outputs or the reverse, and for
      `"sgd"`.
    - If your learning rate is larger than about 0.7 of the largest stable rate, give it as `learning_rate`, because
      larger steps need other monomials. The trainers do this automatically.

    A network that needs too many monomials is returned unchanged.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights, at any width and depth
    - `order`: largest degree of the monomials that are kept, for three or more layers; by default chosen by `rtol`
    - `rtol`: allowed error of the products relative to the largest, for three or more layers; 1e-8 by default
    - `learning_rate`: step size of the descent for which the network is reduced, for three or more layers; by default a
      small one
    - `optimizer`: optimizer that will train the network: `"descent"`, `"momentum"`, `"sgd"` (mini-batches and label
      noise too) or `"flow"`. Optimizers that treat each weight separately, such as Adam, are not supported and raise
      `ValueError`.

    **Returns** a `Reduction` with `.problem`, `.weights` of width $\min(h, r + k)$, and `.lift(weights)`. For deeper
    networks it is a `DeepReduction`, which also has `.error`, `.order` and `.exact`. It is never wider than `weights`.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.reductions import reduce
        >>> start = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=1000, stds=0.1)
        >>> small = reduce(ln.Problem.from_target(np.eye(2, 3)), start).weights
        >>> small.width, bool(np.allclose(small.second @ small.second.T, start.second @ start.second.T))
        (5, True)
    """
    name = optimizer.lower().replace("-", "").replace("_", "") if isinstance(optimizer, str) else optimizer
    if isinstance(name, str) and name in COORDINATE_WISE:
        raise ValueError(
            f"`optimizer` must commute with rotations of the hidden units: {optimizer!r} works coordinate by "
            "coordinate "
            "and does not, so the reduced network would follow other dynamics. Train at full width, or use descent."
        )
    if not isinstance(name, str) or name not in ROTATION_INVARIANT:
        raise ValueError(f"`optimizer` must be one of {sorted(ROTATION_INVARIANT)}: got {optimizer!r}.")
    check_match(problem, weights, any_depth=True)
    refuse_diverged("weights", weights)
    if weights.depth > 2:
        from linnet.reductions.deep import constant_steps, reduced_layers

        if name == "sgd" and learning_rate is not None:
            raise ValueError("`learning_rate` must be left out for mini-batches and label noise: they cannot be tried.")
        paths = None if name == "sgd" else () if learning_rate is None else constant_steps(learning_rate)
        return reduced_layers(problem, check_weights(weights), order=order, rtol=rtol, paths=paths)
    if order is not None or rtol is not None or learning_rate is not None:
        raise ValueError(
            "`order`, `rtol` and `learning_rate` must be left out for two layers, which reduce exactly at every width."
        )
    return reduced_two_layers(problem, check_weights(weights))  # a float32 result is reduced in float64


def reduced_two_layers(problem: Problem, weights: Weights, *, whole_first: bool = False) -> Reduction:
    """`reduce` of two layers that were checked to fit the problem. `whole_first` keeps the part of the first layer that
    the data never touch among what is stepped, for updates that read the weights."""
    basis = None
    if problem.cost is None:
        basis = problem.factor.basis
    if whole_first and basis is not None:
        basis = _with_untouched(basis, weights.first)
    first = weights.first if basis is None else weights.first @ basis
    second = weights.second
    if first.ndim > second.ndim:  # one start on a batch of problems: the basis differs from problem to problem
        second = np.broadcast_to(second, (*first.shape[:-2], *second.shape))
    rank = first.shape[-1]
    if weights.width <= rank + weights.out_dim:
        return Reduction(problem, weights, Weights(first, second, full_width=weights.full_width), basis, None)
    frame, triangle = np.linalg.qr(np.concatenate([first, np.swapaxes(second, -1, -2)], axis=-1))
    small = Weights(triangle[..., :rank], np.swapaxes(triangle[..., rank:], -1, -2), full_width=weights.full_width)
    return Reduction(problem, weights, small, basis, frame)


def _with_untouched(basis: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return the basis with orthonormal columns besides, which span the rows of a first layer outside of it."""
    dim, rank = basis.shape[-2:]
    if rank == dim:
        return basis
    outside = np.linalg.qr(basis, mode="complete")[0][..., rank:]
    if first.shape[-2] < dim - rank:
        outside = outside @ np.swapaxes(np.linalg.svd(first @ outside, full_matrices=False)[2], -1, -2)
    lead = np.broadcast_shapes(basis.shape[:-2], outside.shape[:-2])
    return np.concatenate([np.broadcast_to(part, (*lead, *part.shape[-2:])) for part in (basis, outside)], axis=-1)


def refuse_diverged(name: str, weights: Weights) -> None:
    """Refuses the weights of a run that diverged."""
    if not all(np.isfinite(layer).all() for layer in weights.layers):
        raise ValueError(f"`{name}` must be finite: these have NaN or infinities, as of a run that diverged.")


def check_match(problem: Problem, weights: Weights, *, any_depth: bool = False) -> None:
    """Refuses weights that do not fit the problem's inputs, outputs or batch."""
    if not isinstance(problem, Problem):
        raise ValueError(f"`problem` must be a linnet Problem: got {type(problem).__name__}.")
    if not isinstance(weights, Weights):
        raise ValueError(f"`weights` must be linnet Weights: got {type(weights).__name__}.")
    if weights.depth > 2 and not any_depth:
        raise ValueError(
            f"`weights` must have two layers, because this is known for two layers only: got {weights.depth}. Any "
            "depth is for `reduce`, `gradient_descent`, `gradient_flow`, `stochastic_descent`, `label_noise_descent` "
            "and `theories.deep`."
        )
    if weights.first.ndim > 3:
        raise ValueError(f"`weights` may have one leading batch axis: got `first` of shape {weights.first.shape}.")
    if (weights.in_dim, weights.out_dim) != (problem.in_dim, problem.out_dim):
        raise ValueError(
            f"`weights` must fit the problem's {problem.in_dim} inputs and {problem.out_dim} outputs: got "
            f"{weights.in_dim} inputs and {weights.out_dim} outputs."
        )
    if problem.batch and weights.batch and problem.batch != weights.batch:
        raise ValueError(f"`problem` and `weights` must have one batch size: got {problem.batch} and {weights.batch}.")
