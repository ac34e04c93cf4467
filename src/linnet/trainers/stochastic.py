"""Mini-batch gradient descent, and the run that every trainer on random samples shares."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, flag, within_scope
from linnet._randomness import Key, jax_key
from linnet.inits.weights import Weights
from linnet.precision import computing, device_name
from linnet.problems.problem import Problem
from linnet.trainers import _loop as loop
from linnet.trainers._objective import SamplesObjective, testing_objective, training_objective
from linnet.trainers._states import Array, Hyper, Objective, Params, Seen, Update
from linnet.trainers._updates import residual_step
from linnet.trainers._widths import pad_width
from linnet.trainers.descent import divergence_error, initial_params, layer_rates_of, learning_rates, prepare
from linnet.trainers.schedules import Rate
from linnet.trainers.stopping import Rule, rule_of
from linnet.trajectories.saving import Saving, policy
from linnet.trajectories.trajectory import Trajectory


@within_scope
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
    r"""Gradient descent on a fresh mini-batch at each step.

    $$ W_1 \leftarrow W_1 + \eta W_2^\top R_b, \quad W_2 \leftarrow W_2 + \eta R_b W_1^\top, \qquad
       R_b = \frac1b \sum_{i \in b} (y_i - W_2 W_1 x_i)\, x_i^\top, $$

    **Arguments:**

    - `problem`: made from data
    - `weights`: the start; members of a batch see different mini-batches
    - `learning_rate`: $\eta$, one number, or one for each member of the batch; a `Schedule`, or a function of the step
    - `steps`: how many
    - `batch_size`: $b$, drawn without replacement, independently from step to step
    - `key`: an integer seed or a JAX key
    - `save_every`: an interval, or a policy of `linnet.trajectories`
    - `stop`: a loss threshold, or a rule of `linnet.trainers.stopping`
    - `dtype`: float64 by default, or `"float32"`
    - `reduce`: whether to run in reduced coordinates: mini-batches commute with the reduction, so the weights are the
      same
    - `keep`: `"weights"`, `"products"` or `"losses"`
    - `device`: `"cpu"` or `"gpu"`; by default the one that JAX prefers
    - `throw`: whether to raise `DivergedError`, or to say so in the status
    - `layer_rates`: one for each layer, in units of `learning_rate`

    **Returns** a `Trajectory`, whose losses are those of all samples.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import stochastic_descent
        >>> problem = ln.problems.gaussian_regression(key=0, samples=40, in_dim=3)
        >>> start = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=10, first_std=0.3, second_std=0.3)
        >>> run = stochastic_descent(problem, start, learning_rate=0.05, steps=400, batch_size=8, key=0)
        >>> bool(run.loss[-1] < 1e-3)  # labels without noise: mini-batches agree in the end
        True
    """
    samples = sample_count(problem)
    size = count("batch_size", batch_size)
    if size > samples:
        raise ValueError(f"`batch_size` must be at most the number of samples, {samples}: got {size}.")
    return sampled_run(
        problem,
        weights,
        learning_rate=learning_rate,
        steps=steps,
        key=key,
        update=_minibatch_update(size),
        hyper={},
        save_every=save_every,
        stop=stop,
        dtype=dtype,
        reduce=reduce,
        keep=keep,
        device=device,
        throw=throw,
        layer_rates=layer_rates,
        title="mini-batch descent",
        attributes={"trainer": "stochastic_descent", "batch_size": size},
    )


def sample_count(problem: Problem) -> int:
    """How many samples the problem holds; refuses one that holds none."""
    if not isinstance(problem, Problem) or problem.inputs is None:
        raise ValueError(
            "`problem` must hold its samples: noise of single samples is not in their moments. Use `Problem.from_data`."
        )
    return problem.inputs.shape[-2]


def sampled_run(
    problem: Problem,
    weights: Weights,
    *,
    learning_rate: Rate,
    steps: int,
    key: Key,
    update: Update,
    hyper: dict[str, np.ndarray],
    save_every: int | Saving,
    stop: Rule | float | None,
    dtype: DTypeLike | None,
    reduce: bool,
    keep: str,
    device: str | None,
    throw: bool,
    layer_rates: ArrayLike | None,
    title: str,
    attributes: dict[str, object],
) -> Trajectory:
    """A run of `update` on the samples in reduced coordinates, X V, with an independent key for each member of the
    batch.
    """
    steps, throw = count("steps", steps, least=0, most=2**62), flag("throw", throw)
    rates = learning_rates(learning_rate, steps, problem, weights)
    own = layer_rates_of(layer_rates, weights, reduced=reduce, decays=False)
    reduction = prepare(problem, weights, reduce, paths=None)
    with computing(dtype, device) as resolved:
        objective: Objective
        if problem.inputs is None:
            objective = training_objective(problem, reduced=reduction.basis is not None, dtype=resolved)
        else:
            inputs = problem.inputs if reduction.basis is None else problem.inputs @ reduction.basis
            objective = SamplesObjective(jnp.asarray(inputs, resolved), jnp.asarray(problem.outputs, resolved))
        run = pad_width(reduction) if reduce else reduction
        params = initial_params(run, resolved)
        params["key"] = jax_key(key)
        if params["first"].ndim == 3:
            params["key"] = jax.random.split(params["key"], params["first"].shape[0])
        trajectory = loop.run(
            objective,
            testing_objective(run, resolved),
            params,
            {name: jnp.asarray(value, resolved) for name, value in {**rates.hyper(), **own, **hyper}.items()},
            reduction=reduction,
            plan=loop.Plan(update, rule_of(stop), keep),
            steps=steps,
            saving=policy(save_every),
            title=title,
            attributes=attributes
            | {name: value.tolist() for name, value in hyper.items()}
            | {
                "learning_rate": rates.described(),
                "steps": steps,
                "dtype": resolved.name,
                "device": device_name(),
            },
        )
    if throw and not trajectory.status.ok:
        raise divergence_error(trajectory, rates.constant, problem, weights)
    return trajectory


_MINIBATCH_UPDATES: dict[int, Update] = {}


def _minibatch_update(size: int) -> Update:
    """Return the update of mini-batches of one size."""
    # one function per size, so that the compiled loop is found again
    return _MINIBATCH_UPDATES.setdefault(size, partial(_minibatch_step, size))


def _minibatch_step(
    size: int, objective: SamplesObjective, hyper: Hyper, params: Params, index: Array, seen: Seen
) -> Params:
    """Step once along the gradient of samples drawn without replacement."""
    A, residual = seen
    total = objective.inputs.shape[0]
    if size == total:
        return residual_step(params, hyper, residual)
    drawn = jax.random.choice(jax.random.fold_in(params["key"], index), total, (size,), replace=False)
    inputs, outputs = objective.inputs[drawn], objective.outputs[drawn]
    return residual_step(params, hyper, (outputs.T - A @ inputs.T) @ inputs / size)
