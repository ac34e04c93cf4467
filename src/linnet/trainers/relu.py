"""Full-batch gradient descent of a two-layer ReLU network, at its full width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction, check_match
from linnet.trainers._discrete_run import DiscreteRun
from linnet.trainers._layer_steps import step_along
from linnet.trainers._states import Array, Hyper, Params, Seen
from linnet.trainers.schedules import Rate
from linnet.trainers.stopping import Rule
from linnet.trajectories.saving import Saving
from linnet.trajectories.trajectory import Trajectory

OPTIMIZED_STEPS = 400_000  # from which on an eighth of each step is worth half a second of compilation


def relu_descent(
    data: object,
    weights: Weights,
    *,
    learning_rate: Rate,
    steps: int,
    save_every: int | Saving = 1,
    stop: Rule | float | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    throw: bool = True,
    layer_rates: ArrayLike | None = None,
) -> Trajectory:
    r"""Train a two-layer ReLU network on samples by gradient descent, both layers at once.

    It is for comparisons with linear networks. Its width is not free, because the network cannot be reduced.

    $$ f(x) = W_2\,\mathrm{relu}(W_1 x), \qquad L = \frac{1}{2n} \sum_i |y_i - f(x_i)|^2 $$

    A small learning rate approximates gradient flow, with time `learning_rate * step`. The width is never reduced,
    because the activation changes if hidden units are rotated. In the trajectory, `products` are $W_2 W_1$ and not
    the predictor.

    **Arguments:**

    - `data`: a pair `(X, Y)` of samples, (sample, input) and (sample, output) or (sample,); or a problem made from data
    - `weights`: initial weights; a leading axis is a batch of networks, on the same samples or on a batch of samples
    - `learning_rate`: step size: one number, one number for each network of a batch, a `Schedule`, or a function of the
      step
    - `steps`: number of gradient steps
    - `save_every`: interval between saved steps, or a policy of `linnet.trajectories`
    - `stop`: loss at which to stop early, or a rule of `linnet.trainers.stopping` that looks at the training loss
    - `dtype`: precision, `"float64"` (default) or `"float32"`
    - `device`: `"cpu"` or `"gpu"`
    - `throw`: whether a diverging run raises `DivergedError`; if not, `status` of the result holds the reason
    - `layer_rates`: learning rate of each layer as a multiple of `learning_rate`

    **Returns** a `Trajectory`.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import relu_descent
        >>> problem = ln.problems.relu_teacher(key=0, samples=30, in_dim=2, neurons=2)
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=1, width=20, stds=0.5)
        >>> run = relu_descent(problem, start, learning_rate=0.05, steps=500, save_every=100)
        >>> bool(run.loss[-1] < 0.1 * run.loss[0])
        True
    """
    problem = _problem_of_samples(data)
    check_match(problem, weights)
    steps = count("steps", steps)
    run = DiscreteRun(problem, weights, learning_rate, steps, save_every, stop, dtype, device, throw, layer_rates)
    return run.train(
        "relu_descent",
        _relu_step,
        title="ReLU descent",
        objective=_relu_objective,
        linear=False,
        optimized=steps >= OPTIMIZED_STEPS,
    )


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class ReluObjective:
    """L = |Y - relu(X W1^T) W2^T|^2/(2n): what it sees of a state are the gradients of both layers, which `_relu_step`
    reads. They are no product, so it runs without test losses (`linear=False` of `DiscreteRun.train`)."""

    inputs: Array
    outputs: Array
    NDIM: ClassVar = {"inputs": 2, "outputs": 2}

    def at(self, params: Params) -> tuple[Array, tuple[Array, Array]]:
        """Return the loss of a state and the gradients of both layers, where that of the activation at 0 is 0."""
        first, second, samples = params["first"], params["second"], self.inputs.shape[0]
        reached = first @ self.inputs.T
        active = jax.nn.relu(reached)
        error = second @ active - self.outputs.T
        pulled = jnp.where(reached > 0, second.T @ error, 0)
        return 0.5 * jnp.sum(error**2) / samples, (pulled @ self.inputs / samples, error @ active.T / samples)

    def loss_scale(self) -> Array:
        """Return the loss of a network that is zero."""
        return 0.5 * jnp.sum(self.outputs**2) / self.inputs.shape[0]


def _relu_objective(problem: Problem, reduction: Reduction, dtype: np.dtype) -> ReluObjective:
    """Return the loss of the samples of a problem."""
    return ReluObjective(jnp.asarray(problem.inputs, dtype), jnp.asarray(problem.outputs, dtype))


def _relu_step(objective: ReluObjective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Step both layers against their gradients."""
    return step_along(params, hyper, {"first": -seen[0], "second": -seen[1]})


def _problem_of_samples(data: object) -> Problem:
    """Return the problem that holds the samples; refuse one without them."""
    if not isinstance(data, Problem):
        if not isinstance(data, (tuple, list)) or len(data) != 2:
            kind = type(data).__name__
            raise ValueError(f"`data` must be a pair (X, Y) of samples or a problem made from them: got {kind}.")
        return Problem.from_data(*data)
    if data.inputs is None:
        raise ValueError("`data` must hold samples: this problem was not made by `Problem.from_data`.")
    return data
