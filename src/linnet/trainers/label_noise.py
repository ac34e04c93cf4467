"""Gradient descent with fresh noise on its labels at every step."""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, none_negative, one_or_each
from linnet._randomness import Key
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.trainers._discrete_run import DiscreteRun
from linnet.trainers._layer_steps import residual_step
from linnet.trainers._objective import SamplesObjective, SpectralObjective, training_objective
from linnet.trainers._states import Array, Hyper, Params, Seen
from linnet.trainers.schedules import Rate
from linnet.trainers.stochastic import sample_count, samples_objective, with_keys
from linnet.trainers.stopping import Rule
from linnet.trajectories.saving import Saving
from linnet.trajectories.trajectory import Trajectory


def label_noise_descent(
    problem: Problem,
    weights: Weights,
    *,
    learning_rate: Rate,
    steps: int,
    noise_std: float | np.ndarray,
    key: Key,
    samples: int | None = None,
    save_every: int | Saving = 1,
    stop: Rule | float | None = None,
    dtype: DTypeLike | None = None,
    reduce: bool = True,
    keep: str = "weights",
    device: str | None = None,
    throw: bool = True,
    layer_rates: ArrayLike | None = None,
) -> Trajectory:
    r"""Train by full-batch gradient descent with fresh noise on the labels at each step.

    For a random mini-batch instead of random labels, use `stochastic_descent`; the continuous limit is `noise_sde`.

    $$ R_\varepsilon = R + \frac1n \sum_i \varepsilon_i x_i^\top, \qquad \varepsilon_i \sim N(0, s^2 I) $$

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights; the networks of a batch see different noise
    - `learning_rate`: step size $\eta$: one number, one number for each network of a batch, a `Schedule`, or a function
      of the step
    - `steps`: number of gradient steps
    - `noise_std`: standard deviation $s$ of the noise on each label: one number, or one for each network of a batch.
      The covariance of the gradient noise is $(s^2/n)\,\Sigma$ for each output.
    - `key`: seed, an integer or a JAX key
    - `samples`: number of samples $n$; required only if the problem was not made from data
    - `save_every`: interval between saved steps, or a policy of `linnet.trajectories`
    - `stop`: loss at which to stop early, or a rule of `linnet.trainers.stopping`
    - `dtype`: precision, `"float64"` (default) or `"float32"`
    - `reduce`: whether to train a small network with the same dynamics; with label noise the reduction is still exact
    - `keep`: content of a saved state: `"weights"`, `"products"` or `"losses"`
    - `device`: `"cpu"` or `"gpu"`; the default is the device that JAX prefers
    - `throw`: whether a diverging run raises `DivergedError`; if not, `status` of the result holds the reason
    - `layer_rates`: learning rate of each layer as a multiple of `learning_rate`

    **Returns** a `Trajectory`, whose losses are computed with the labels without noise.

    The stochastic equation with the same drift and noise is `noise_sde(problem, weights, noise_std=s *
    sqrt(learning_rate / n), ...)`, in canonical time.

    **Reference:** Varre et al. 2023, Appendix D, whose $\delta$ acts on labels divided by $\sqrt n$:
    $\delta = s/\sqrt n$.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import label_noise_descent
        >>> problem = ln.problems.gaussian_regression(key=0, samples=20, in_dim=3)
        >>> start = ln.inits.gaussian(key=0, in_dim=3, out_dim=1, width=10, stds=0.3)
        >>> run = label_noise_descent(problem, start, learning_rate=0.05, steps=300, noise_std=0.1, key=0)
        >>> bool(run.loss[-1] < 0.01 * run.loss[0])
        True
    """
    if samples is None:
        sample_count(problem)
    elif not isinstance(problem, Problem) or problem.inputs is not None or problem.cost is not None or not reduce:
        raise ValueError("`samples` is for problems of moments or a target, in reduced coordinates: data have theirs.")
    run = DiscreteRun(
        problem, weights, learning_rate, steps, save_every, stop, dtype, device, throw, layer_rates, reduce, keep
    )
    level = none_negative("noise_std", one_or_each("noise_std", noise_std, run.batch, f"batch of {run.batch}"))
    noise = level if samples is None else level / np.sqrt(float(count("samples", samples)))
    return run.train(
        "label_noise_descent",
        _sample_step if samples is None else _population_step,
        title="label-noise descent",
        objective=samples_objective if samples is None else training_objective,
        start=partial(with_keys, key),
        hyper={"noise": noise},
        attributes={"noise": noise.tolist()},
    )


def _population_step(objective: SpectralObjective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Step once with noise of the law that many samples' labels give: in reduced coordinates, where the covariance of
    the inputs is diagonal."""
    A, residual = seen
    draw = jax.random.normal(jax.random.fold_in(params["key"], index), residual.shape, A.dtype)
    spread = draw if objective.scales is None else draw * objective.scales
    return residual_step(params, hyper, residual + hyper["noise"] * spread)


def _sample_step(objective: SamplesObjective, hyper: Hyper, params: Params, index: Array, seen: Seen) -> Params:
    """Step once with fresh noise on the label of every sample."""
    A, residual = seen
    samples, outputs = objective.outputs.shape
    draw = jax.random.normal(jax.random.fold_in(params["key"], index), (outputs, samples), A.dtype)
    return residual_step(params, hyper, residual + hyper["noise"] * (draw @ objective.inputs) / samples)
