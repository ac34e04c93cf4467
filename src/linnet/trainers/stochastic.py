"""Mini-batch gradient descent, and what label noise shares with it: the samples, and a key for each run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count
from linnet._randomness import Key, jax_key
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction
from linnet.trainers._compiling import jit_drawing
from linnet.trainers._discrete_run import DiscreteRun
from linnet.trainers._layer_steps import residual_step
from linnet.trainers._objective import SamplesObjective
from linnet.trainers._states import Array, Hyper, Params, Seen
from linnet.trainers.schedules import Rate
from linnet.trainers.stopping import Rule
from linnet.trajectories.saving import Saving
from linnet.trajectories.trajectory import Trajectory


def stochastic_descent(
    problem: Problem,
    weights: Weights,
    *,
    learning_rate: Rate,
    steps: int,
    batch_size: int,
    key: Key,
    save_every: int | Saving = 1,
    stop: Rule | float | None = None,
    dtype: DTypeLike | None = None,
    reduce: bool = True,
    keep: str = "weights",
    device: str | None = None,
    throw: bool = True,
    layer_rates: ArrayLike | None = None,
) -> Trajectory:
    r"""Train by gradient descent on a fresh mini-batch at each step.

    If the whole data set is used in each step, `gradient_descent` is faster.

    $$ W_1 \leftarrow W_1 + \eta W_2^\top R_b, \quad W_2 \leftarrow W_2 + \eta R_b W_1^\top, \qquad
       R_b = \frac1b \sum_{i \in b} (y_i - W_2 W_1 x_i)\, x_i^\top, $$

    **Arguments:**

    - `problem`: learning problem made from data (`Problem.from_data`)
    - `weights`: initial weights; the networks of a batch see different mini-batches
    - `learning_rate`: step size $\eta$: one number, one number for each network of a batch, a `Schedule`, or a function
      of the step
    - `steps`: number of gradient steps
    - `batch_size`: number $b$ of samples in a mini-batch; they are drawn without replacement, anew at each step
    - `key`: seed, an integer or a JAX key
    - `save_every`: interval between saved steps, or a policy of `linnet.trajectories`
    - `stop`: loss at which to stop early, or a rule of `linnet.trainers.stopping`
    - `dtype`: precision, `"float64"` (default) or `"float32"`
    - `reduce`: whether to train a small network with the same dynamics; with mini-batches the reduction is still exact
    - `keep`: content of a saved state: `"weights"`, `"products"` or `"losses"`
    - `device`: `"cpu"` or `"gpu"`; the default is the device that JAX prefers
    - `throw`: whether a diverging run raises `DivergedError`; if not, `status` of the result holds the reason
    - `layer_rates`: learning rate of each layer as a multiple of `learning_rate`

    **Returns** a `Trajectory`, whose losses are averages over all samples and not over mini-batches.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import stochastic_descent
        >>> problem = ln.problems.gaussian_regression(key=0, samples=40, in_dim=3)
        >>> start = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=10, stds=0.3)
        >>> run = stochastic_descent(problem, start, learning_rate=0.05, steps=400, batch_size=8, key=0)
        >>> bool(run.loss[-1] < 1e-3)  # labels without noise: mini-batches agree in the end
        True
    """
    samples = sample_count(problem)
    size = count("batch_size", batch_size)
    if size > samples:
        raise ValueError(f"`batch_size` must be at most the number of samples, {samples}: got {size}.")
    run = DiscreteRun(
        problem, weights, learning_rate, steps, save_every, stop, dtype, device, throw, layer_rates, reduce, keep
    )
    return run.train(
        "stochastic_descent",
        MinibatchUpdate(size),
        title="mini-batch descent",
        objective=samples_objective,
        start=partial(with_keys, key),
        attributes={"batch_size": size},
    )


def sample_count(problem: Problem) -> int:
    """Return the number of samples that the problem holds; refuse one that holds none."""
    if not isinstance(problem, Problem) or problem.inputs is None:
        raise ValueError(
            "`problem` must hold its samples: noise of single samples is not in their moments. Use `Problem.from_data`."
        )
    return problem.inputs.shape[-2]


def samples_objective(problem: Problem, reduction: Reduction, dtype: np.dtype) -> SamplesObjective:
    """Return the loss of the samples, their inputs in the coordinates of `reduction`: X V."""
    assert problem.inputs is not None
    inputs = problem.inputs if reduction.basis is None else problem.inputs @ reduction.basis
    return SamplesObjective(jnp.asarray(inputs, dtype), jnp.asarray(problem.outputs, dtype))


def with_keys(key: Key, params: Params) -> Params:
    """Return the parameters with the key of the run, or with an independent one for each member of a batch.

    Every step draws by this key and its own number (`jax.random.fold_in`), so the key itself never moves.
    """
    own = jax_key(key)
    return {**params, "key": _split_key(own, params["first"].shape[0]) if params["first"].ndim == 3 else own}


_split_key = jit_drawing(jax.random.split, static_argnums=1)


@dataclass(frozen=True)
class MinibatchUpdate:
    """Step along the gradient of `size` samples drawn without replacement. Equal ones share a compiled loop.

    It draws by "key" of the parameters, which `with_keys` puts there. All samples are not drawn: `seen` has their
    residual.
    """

    size: int

    def __call__(self, objective: SamplesObjective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
        A, residual = seen
        total = objective.inputs.shape[0]
        if self.size == total:
            return residual_step(params, hyper, residual)
        drawn = jax.random.choice(jax.random.fold_in(params["key"], index), total, (self.size,), replace=False)
        inputs, outputs = objective.inputs[drawn], objective.outputs[drawn]
        return residual_step(params, hyper, (outputs.T - A @ inputs.T) @ inputs / self.size)
