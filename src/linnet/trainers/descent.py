"""Gradient descent on all layers at once, at any width and depth."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import non_negative, shown
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem
from linnet.reductions.trial_descent import MAX_STEPS, StepSizes
from linnet.trainers._discrete_run import DiscreteRun
from linnet.trainers._layer_steps import UPDATES, UserUpdate
from linnet.trainers._states import StepFunction, layer_names_at_depth
from linnet.trainers._trial_runs import TrialRun
from linnet.trainers.schedules import Rate
from linnet.trainers.stopping import Rule
from linnet.trainers.updates import Update
from linnet.trajectories.saving import Saving
from linnet.trajectories.trajectory import Trajectory

SMALLEST_SHARE = 2e-14  # of initial weights over those that are learned: rounding is then a hundredth of what waits


def gradient_descent(
    problem: Problem,
    weights: Weights,
    *,
    learning_rate: Rate,
    steps: int,
    save_every: int | Saving = 1,
    weight_decay: float = 0.0,
    momentum: float = 0.0,
    update: str | Update = "simultaneous",
    stop: Rule | float | None = None,
    dtype: DTypeLike | None = None,
    reduce: bool = True,
    keep: str = "weights",
    device: str | None = None,
    throw: bool = True,
    layer_rates: ArrayLike | None = None,
) -> Trajectory:
    r"""Train all layers by full-batch gradient descent.

    With this function you follow a run step by step: with its step size, momentum and weight decay, or with Muon. We
    recommend `stable_learning_rate(problem, weights)` to choose the learning rate. To compare with a theory,
    `gradient_flow` has no step size.

    $$ W_1 \leftarrow W_1 + \eta (W_2^T R - \lambda W_1), \quad W_2 \leftarrow W_2 + \eta (R W_1^T - \lambda W_2), $$

    with $R = \Gamma - W_2 W_1 \Sigma$ (or minus the gradient of the cost); of deeper networks $W_l$ moves along
    $(W_L \cdots W_{l+1})^T R (W_{l-1} \cdots W_1)^T$.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights, of any depth; a leading axis is a batch of networks
    - `learning_rate`: step size $\eta$: one number, one number for each network of a batch, a `Schedule`, or a function
      of the step
    - `steps`: number of gradient steps
    - `save_every`: interval between saved steps, or a policy such as `trajectories.log_spaced(50)`; the first and the
      last step are always saved
    - `weight_decay`: coefficient $\lambda$
    - `momentum`: coefficient $\mu$ of $v \leftarrow \mu v + (\dots)$, $W \leftarrow W + \eta v$
    - `update`: rule for one step. `"simultaneous"` moves both layers at once. `"sequential"` moves $W_1$ first, and
      then $W_2$ with the new $W_1$ and the old residual. Or an object of `linnet.trainers.updates`, such as `Muon()`,
      with its own momentum and weight decay
    - `stop`: loss at which to stop early, or a rule of `trainers.stopping`
    - `dtype`: precision, `"float64"` (default) or `"float32"`
    - `reduce`: whether to train a small network with the same dynamics; full weights are computed when you ask for them
    - `keep`: content of a saved state: `"weights"`, `"products"` or `"losses"`
    - `device`: `"cpu"` or `"gpu"`; the default is the device that JAX prefers
    - `throw`: whether a diverging run raises `DivergedError`; if not, `status` of the result holds the reason
    - `layer_rates`: learning rate of each layer as a multiple of `learning_rate`, see `inits.scaling`

    **Warns** if the weights are so tiny that rounding decides which modes they learn next; `gradient_flow` is exact.

    **Returns** a `Trajectory`. For three or more Gaussian layers the reduction is approximate, with a relative error of
    about 1e-8 in the products; `run.reduction.error` holds the estimated error. With fewer
    samples than inputs it is larger, about 1e-6 on inputs that the data never touch.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers import gradient_descent
        >>> problem = ln.Problem.from_target([[2.0, 0.0], [0.0, 0.5]])
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=100, stds=0.01)
        >>> run = gradient_descent(problem, start, learning_rate=0.1, steps=200, save_every=20)
        >>> run.products[-1].diagonal().round(3).tolist(), run.steps[:3].tolist()
        ([2.0, 0.5], [0, 20, 40])
    """
    run = DiscreteRun(
        problem, weights, learning_rate, steps, save_every, stop, dtype, device, throw, layer_rates, reduce, keep
    )
    hyper = {"weight_decay": non_negative("weight_decay", weight_decay), "momentum": non_negative("momentum", momentum)}
    if hyper["momentum"] >= 1:
        raise ValueError(f"`momentum` must be below 1: got {hyper['momentum']}.")
    step = _resolve_update(update, weights, plain=not any(hyper.values()), reduced=reduce)
    if isinstance(update, str):
        _warn_of_rounding(problem, weights, steps * float(np.max(run.rates.constant)))
    start = step.start if isinstance(step, UserUpdate) else dict
    own_run = None if update == "simultaneous" else TrialRun(step, start, {**run.rates_by_layer(decays=False), **hyper})
    return run.train(
        "gradient_descent",
        step,
        title="gradient descent",
        start=start,
        hyper=hyper,
        step_sizes=[replace(sizes, run=own_run) for sizes in _step_sizes(run, hyper)],
        attributes={**hyper, "update": update if isinstance(update, str) else type(update).__name__},
    )


def _warn_of_rounding(problem: Problem, weights: Weights, time: float) -> None:
    """Warn of an initialization so small that rounding of what is learned first takes the place of what waits."""
    if problem.cost is not None or weights.depth > 2 or min(problem.in_dim, problem.out_dim) < 2:
        return
    largest = float(max(np.abs(layer).max(initial=0.0) for layer in weights.layers))
    size = float(np.sqrt(np.abs(problem.min_norm_solution()).max(initial=0.0)))
    pull = float(np.linalg.norm(problem.cross, 2, axis=(-2, -1)).max())
    if 0 < largest < SMALLEST_SHARE * size and time * pull > np.log(size / largest):
        warnings.warn(
            f"with initial weights of {largest:.2g}, rounding of the modes that are learned first takes the place of "
            "those that wait: these are learned too early. `ln.gradient_flow` follows them exactly.",
            stacklevel=4,  # the line that calls `gradient_descent`
        )


def _resolve_update(update: str | Update, weights: Weights, *, plain: bool, reduced: bool) -> StepFunction:
    """Return the update of the loop that `update` names, or that wraps the user's own; refuse what a run cannot use."""
    if isinstance(update, str) and update in UPDATES:
        return UPDATES[update]
    if isinstance(update, (str, type)) or not isinstance(update, Update):
        names = ", ".join(sorted(UPDATES))
        raise ValueError(
            f"`update` must be one of {names}, or a rule of `linnet.trainers.updates`: got {shown(update)}."
        )
    if not plain:
        raise ValueError(
            "`weight_decay` and `momentum` belong to plain descent: give them to `update`, as in "
            "`updates.Muon(momentum=0.9, weight_decay=0.1)`, or write them into a custom update."
        )
    if reduced and not update.equivariant:
        raise ValueError(
            f"`update` {type(update).__name__} does not commute with rotations (`equivariant`): give `reduce=False`."
        )
    if hasattr(update, "with_shapes"):
        layers = layer_names_at_depth(weights.depth)
        return UserUpdate(update.with_shapes(dict(zip(layers, _full_shapes(weights), strict=True))))
    return UserUpdate(update)


def _full_shapes(weights: Weights) -> list[tuple[int, int]]:
    """Return the shapes of the layers of the network that the weights represent, wider than they may be."""
    sides = [weights.in_dim, *weights.widths, weights.out_dim]
    if weights.full_width != weights.width:  # of a network that was drawn in reduced form
        sides[1:-1] = [weights.full_width] * len(weights.widths)
    return [(above, below) for below, above in itertools.pairwise(sides)]


def _step_sizes(run: DiscreteRun, hyper: dict[str, float]) -> list[StepSizes]:
    """Return the step sizes of each member of a batch, by which a deep network is reduced: of the first steps alone, as
    many as a trial descent takes at most."""
    own = None if run.layer_rates is None else np.asarray(run.layer_rates, dtype=float)
    steps, schedule = max(min(run.steps, MAX_STEPS), 1), run.rates.schedule
    each = np.ones(steps) if schedule is None else schedule[:steps]
    return [
        StepSizes(rate * each, hyper["momentum"], hyper["weight_decay"], own, run_steps=run.steps)
        for rate in np.atleast_1d(run.rates.constant)
    ]
