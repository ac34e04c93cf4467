"""Gradient descent with fresh noise on its labels at every step."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet.arguments import count, real_array
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.randomness import Key
from linnet.trainers.stochastic import moved, sample_count, sampled_run
from linnet.trainers.stopping import Rule
from linnet.trajectories.saving import Saving
from linnet.trajectories.trajectory import Trajectory


def label_noise_descent(
    problem: Problem,
    weights: Weights,
    *,
    learning_rate: float | ArrayLike,
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
) -> Trajectory:
    r"""Full-batch gradient descent on $y_i + \varepsilon_i$ with fresh $\varepsilon_i \sim N(0, s^2 I)$ at each step,

    $$ R_\varepsilon = R + \frac1n \sum_i \varepsilon_i x_i^\top. $$

    **Arguments:** `noise_std` is s, the standard deviation of the noise on each label as given: one number, or one for
    each member of the batch. The covariance of the gradient noise is $(s^2/n)\,\Sigma$ for each output. A problem
    made from data knows n; for one of moments (of a population) `samples` says how many labels are noisy at each step,
    and the noise is drawn with that covariance. The losses of the trajectory are those of the clean labels;
    members of a batch of weights see different noise; other arguments are those of `gradient_descent`. Label noise
    commutes with the reduction, so the run is carried out in reduced coordinates and gives the same weights as at
    full width.

    The stochastic equation with the same drift and noise is `noise_sde(problem=..., noise_std=s * sqrt(learning_rate /
    n))`, on the canonical clock.

    **Reference:** Varre et al. 2023, Appendix D, whose $\delta$ acts on labels divided by $\sqrt n$:
    $\delta = s/\sqrt n$.
    """
    if samples is None:
        sample_count(problem)
        update = _step
    else:
        update, samples = _population_step, count("samples", samples)
        if not isinstance(problem, Problem) or problem.inputs is not None or problem.cost is not None or not reduce:
            raise ValueError(
                "`samples` is for problems of moments or a target, in reduced coordinates: data have theirs."
            )
    level = real_array("noise_std", noise_std, ndim=(0, 1))
    if (level < 0).any():
        raise ValueError(f"`noise_std` must not be negative: got {noise_std}.")
    if level.ndim and level.shape[0] != (weights.batch or problem.batch):
        batch = weights.batch or problem.batch
        raise ValueError(
            f"`noise_std` must be one number or one for each of the batch of {batch}: got {level.shape[0]}."
        )
    return sampled_run(
        problem,
        weights,
        learning_rate=learning_rate,
        steps=steps,
        key=key,
        update=update,
        hyper={"noise": level} if samples is None else {"noise": level / np.sqrt(samples)},
        save_every=save_every,
        stop=stop,
        dtype=dtype,
        reduce=reduce,
        keep=keep,
        device=device,
        throw=throw,
        title="label-noise descent",
        attributes={"trainer": "label_noise_descent"},
    )


def _population_step(objective: Any, hyper: Any, params: Any, index: Any, seen: Any) -> dict[str, Any]:
    A, residual = seen
    draw = jax.random.normal(jax.random.fold_in(params["key"], index), residual.shape, A.dtype)
    spread = draw if objective.scales is None else draw * objective.scales
    return moved(params, hyper["learning_rate"], residual + hyper["noise"] * spread)


def _step(objective: Any, hyper: Any, params: Any, index: Any, seen: Any) -> dict[str, Any]:
    A, residual = seen
    samples, outputs = objective.outputs.shape
    draw = jax.random.normal(jax.random.fold_in(params["key"], index), (outputs, samples), A.dtype)
    return moved(params, hyper["learning_rate"], residual + hyper["noise"] * (draw @ objective.inputs) / samples)
