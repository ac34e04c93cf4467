"""Gradient flow of all layers, by an adaptive eighth-order solver."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, non_negative, positive, times_array
from linnet._memory import check_fits
from linnet.inits.weights import Weights
from linnet.precision import computing, device_name
from linnet.problems.problem import Problem
from linnet.reductions.trial_descent import StepSizes
from linnet.trainers import _flow_rounds as flow_rounds
from linnet.trainers._compiling import QUICK_COMPILATION
from linnet.trainers._flow_remainder import FlowRemainder
from linnet.trainers._graded_flow import graded_flow
from linnet.trainers._objective import (
    ProductObjective,
    TestLosses,
    batch_axes,
    batch_member,
    losses_at,
    test_losses,
    training_objective,
)
from linnet.trainers._start import coordinates_of_run, initial_params, pad_width, without_padding
from linnet.trainers._states import Array, Arrays, Params, layer_names_in, layers_of
from linnet.trajectories.status import DivergedError, Status, StepLimitError
from linnet.trajectories.trajectory import Trajectory

EVALUATIONS = 1000  # of the gradient, by a flow that is not stiff
MIN_FLOAT32_RTOL = 1e-6  # ten roundings of a float32: no step could be exact to less
SMALL_ATOL = 1e-18  # absolute tolerance that is below the rounding of learned weights


def gradient_flow(
    problem: Problem,
    weights: Weights,
    *,
    times: ArrayLike,
    weight_decay: float = 0.0,
    rtol: float = 1e-10,
    atol: float | None = None,
    dtype: DTypeLike | None = None,
    reduce: bool = True,
    max_steps: int = 1_000_000,
    device: str | None = None,
    throw: bool = True,
) -> Trajectory:
    r"""Integrate gradient flow of all layers and return the network at the given times, to ten digits.

    Gradient flow is the limit of gradient descent for small steps. It is the right choice for comparing training with a
    theory, because there is no learning rate to choose. To follow a run with a given step size, use `gradient_descent`.

    $$ \dot W_1 = W_2^T R - \lambda W_1, \qquad \dot W_2 = R W_1^T - \lambda W_2, \qquad R = \Gamma - W_2 W_1 \Sigma, $$

    and of deeper networks $\dot W_l = (W_L \cdots W_{l+1})^T R (W_{l-1} \cdots W_1)^T - \lambda W_l$.

    **Arguments:**

    - `problem`: learning problem
    - `weights`: initial weights of any depth, at time 0; a leading axis is a batch of networks
    - `times`: times (learning rate times steps) at which the network is saved, increasing, (time,); include 0 to save
      the initial weights
    - `weight_decay`: coefficient $\lambda$
    - `rtol`: relative tolerance of the solver
    - `atol`: absolute tolerance of the solver; the default is `rtol` times the root mean square of the initial weights
      (at most 1), separately for each network of a batch
    - `dtype`: precision, `"float64"` (default) or `"float32"`
    - `reduce`: whether to train a small network with the same dynamics, at a cost that does not depend on the width
    - `max_steps`: maximum number of solver steps
    - `device`: `"cpu"` or `"gpu"`; the default is the device that JAX prefers
    - `throw`: whether a failed run raises an exception; if not, `status` of the result holds the reason

    **Raises** `StepLimitError` if `max_steps` is not enough. The solver gives up early if the first fiftieth of the
    steps suggests that it needs more than three times the limit. Raises `DivergedError` if the loss is not finite,
    which can happen only for a general cost.

    **Tiny initializations.** The first mode that is learned has rounding errors of about $10^{-16}$, which could take
    the place of modes that are still at $10^{-40}$. If all weights of two layers are tiny, each direction is therefore
    integrated on a scale of its own (`linnet.trainers._graded_flow`). The result is as accurate as `rtol` requires
    down to a standard deviation of 1e-150, for any inputs and costs.

    **Returns** a `Trajectory`.

    **Long flows** of the squared loss have two shortcuts:

    - When a flow has nearly converged, its end is computed in closed form, to rounding. This needs a product with at
      most 1500 entries, and no weight decay (`linnet.trainers._flow_remainder`).
    - If the fast modes have converged while others fade like $1/t$, an implicit solver takes over. This needs at most
      1024 weights after the reduction. What is left of the fading modes is accurate to about nine digits
      (`linnet.trainers._stiff`).

    **Speed.** The networks of a batch stop independently, so one slow network costs only its own steps. Runs that
    differ only in a width below `in_dim + out_dim`, or in a number of `times` up to 64, share a few compiled programs.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.trainers import gradient_flow
        >>> start = ln.inits.reduced_gaussian(key=0, in_dim=2, out_dim=2, width=10**9, stds=1e-5)
        >>> run = gradient_flow(ln.Problem.from_target(np.diag([8.0, 1.0])), start, times=[0.0, 0.5, 1.0])
        >>> theory = ln.theories.lazy_active.self_consistent(np.diag([8.0, 1.0]), start.product, 0.1, run.times)
        >>> bool(np.abs(run.products - theory).max() < 1e-3)  # a billion hidden units
        True
    """
    save_times = times_array("times", times)
    if 0 < save_times[-1] < np.finfo(float).tiny:
        raise ValueError(
            f"`times` must end at 0 or above 2.3e-308, the smallest number of full precision: got {save_times[-1]}."
        )
    rtol = positive("rtol", rtol)
    max_steps = count("max_steps", max_steps)
    decay = non_negative("weight_decay", weight_decay)
    likely_steps = _likely_evaluations(problem, weights, save_times[-1])
    tried = [StepSizes(decay=decay, run_steps=likely_steps)]
    reduction = coordinates_of_run(problem, weights, reduce, step_sizes=tried)
    with computing(dtype, device) as run_dtype:
        objective = training_objective(problem, reduction, run_dtype)
        padded = pad_width(reduction) if reduce else reduction
        test = test_losses(padded, run_dtype)
        params = initial_params(padded, run_dtype)
        layers = tuple(layers_of(params))
        check_fits(
            8 * len(save_times) * sum(layer.size for layer in layers),
            f"keeping {len(save_times)} states",
            "Ask for fewer `times`.",
        )
        if run_dtype == np.float32:
            rtol = max(rtol, MIN_FLOAT32_RTOL)
        tolerance = (
            _absolute_tolerances(reduction.weights, rtol) if atol is None else np.asarray(positive("atol", atol))
        )
        padded_times = flow_rounds.pad_times(save_times, entries=sum(layer.size for layer in layers))
        own_share = reduction.weights.width / padded.weights.width
        settings = flow_rounds.FlowSettings(padded_times, rtol, max_steps, own_share, decay)
        remainder = FlowRemainder.from_problem(problem, reduction, decay) if len(layers) == 2 else None
        tiny = len(layers) == 2 and _are_tiny(problem, layers)
        integrate = _integrate_from_tiny_weights if tiny else flow_rounds.integrate_flow
        states, taken, failed = integrate(objective, layers, settings, tolerance, remainder)
        named = dict(zip(layer_names_in(params), states, strict=True))
        shape = states[0].shape[:-2]
        rest = np.broadcast_to(np.exp(-decay * padded_times).reshape(-1, *[1] * (len(shape) - 1)), shape)
        values = {**_losses_of_states(objective, test, {**named, "rest": rest}), **named}
        kept = {name: np.array(np.asarray(value)[: len(save_times)]) for name, value in values.items()}
        for value in kept.values():
            value[np.isinf(value)] = np.nan  # states that were not reached
        kept = without_padding(kept, reduction)
        attributes = {
            "trainer": "gradient_flow",
            "weight_decay": decay,
            "rtol": rtol,
            "atol": tolerance.tolist(),
            "dtype": run_dtype.name,
            "device": device_name(),
        }
        lost = ~np.isfinite(kept["loss"]).all(axis=0)
        reasons = np.where(np.asarray(failed), "step limit", np.where(lost, "not finite", "completed"))
    status = Status(reasons if reasons.ndim else str(reasons), taken if reasons.ndim else int(taken))
    if throw and "step limit" in reasons:
        raise StepLimitError(_advice_on_steps(max_steps, save_times, tolerance, atol is None))
    if throw and not status.ok:
        raise DivergedError(
            f"the loss is not finite along the flow to t = {save_times[-1]:g}. Start where `cost` and its gradient are "
            "finite."
        )
    loss = kept.pop("loss")
    return Trajectory(save_times, None, loss, status, reduction, kept, rest[: len(save_times)], attributes)


States = tuple[list[np.ndarray], np.ndarray, np.ndarray]  # layers at all times, steps, whether they did not suffice


def _integrate_from_tiny_weights(
    objective: ProductObjective,
    layers: tuple[Array, ...],
    settings: flow_rounds.FlowSettings,
    atol: np.ndarray,
    remainder: FlowRemainder | None,
) -> States:
    """Return what `flow_rounds.integrate_flow` returns; of networks with tiny weights, one by one, each direction has a
    scale of its own at first (`graded_flow`)."""
    if layers[0].ndim == 2:
        return _integrate_one(objective, layers, settings, float(atol), remainder)
    members = [
        _integrate_one(
            batch_member(objective, index),
            tuple(layer[index] for layer in layers),
            settings,
            float(np.broadcast_to(atol, len(layers[0]))[index]),
            None if remainder is None else batch_member(remainder, index),
        )
        for index in range(len(layers[0]))
    ]
    states, taken, failed = zip(*members, strict=True)
    return [np.stack(each, axis=1) for each in zip(*states, strict=True)], np.array(taken), np.array(failed)


def _are_tiny(problem: Problem, layers: tuple[Array, ...]) -> bool:
    """Return whether all weights are so small that rounding of what is learned first would hide the rest."""
    largest = max(float(np.abs(np.asarray(layer)).max(initial=0.0)) for layer in layers)
    solution = 1.0 if problem.cost is not None else float(np.abs(problem.min_norm_solution()).max(initial=0.0))
    return 0 < largest < np.sqrt(np.finfo(layers[0].dtype).eps * solution)


def _integrate_one(
    objective: ProductObjective,
    layers: tuple[Array, ...],
    settings: flow_rounds.FlowSettings,
    atol: float,
    remainder: FlowRemainder | None,
) -> States:
    """Return what `flow_rounds.integrate_flow` returns, of one network from tiny weights."""
    dtype = np.dtype(layers[0].dtype)
    graded = graded_flow(
        lambda product: np.asarray(_residual(objective, jnp.asarray(product, dtype)), dtype=float),
        np.asarray(layers[0], dtype=float),
        np.asarray(layers[1], dtype=float),
        settings.times,
        rtol=settings.rtol,
        decay=settings.decay,
        max_steps=settings.max_steps,
    )
    states, taken = [graded.first, graded.second], graded.steps
    left = settings.times[len(graded.first) :]
    failed = len(left) > 0 and taken >= settings.max_steps
    if failed:
        states = [np.concatenate([part, np.full((len(left), *part.shape[1:]), np.nan)]) for part in states]
    elif len(left):
        times = flow_rounds.pad_times(left - graded.time, entries=sum(layer.size for layer in layers))
        own = replace(settings, times=times, max_steps=settings.max_steps - graded.steps)
        end = tuple(jnp.asarray(layer, dtype) for layer in graded.end)
        rest, more, unfinished = flow_rounds.integrate_flow(objective, end, own, np.asarray(atol), remainder)
        states = [np.concatenate([part, late[: len(left)]]) for part, late in zip(states, rest, strict=True)]
        taken, failed = taken + int(more), bool(unfinished)
    return [state.astype(dtype) for state in states], np.asarray(taken), np.asarray(failed)


@partial(jax.jit, compiler_options=QUICK_COMPILATION)
def _residual(objective: ProductObjective, product: Array) -> Array:
    """Return the residual -dL/dA at a product."""
    return objective.evaluate(product)[1]


def _advice_on_steps(max_steps: int, times: np.ndarray, atol: np.ndarray, atol_by_default: bool) -> str:
    """Return what a flow that needs too many steps should be told."""
    advice = "Allow more, ask for a shorter time or a larger `rtol`"
    if atol_by_default and np.min(atol) < SMALL_ATOL:
        advice += (
            f", or for a larger `atol`: by default it is {np.min(atol):.2g} here, from the tiny initial weights; "
            f"`atol={SMALL_ATOL:g}` asks for no more than the precision of learned weights"
        )
    return f"the flow needed more than `max_steps` = {max_steps} steps to reach t = {times[-1]:g}. {advice}."


def _likely_evaluations(problem: Problem, weights: Weights, end: float) -> float:
    """Estimate how many gradients a flow to `end` takes, by the curvature at its limit; infinite if none is known."""
    if problem.cost is not None or weights.depth == 2:
        return np.inf
    size = float(np.linalg.norm(problem.min_norm_solution(), axis=(-2, -1)).max())
    largest = float(problem.factor.scales.max(initial=0.0)) ** 2
    return EVALUATIONS + 2 * end * weights.depth * largest * size ** (2 - 2 / weights.depth)


def _absolute_tolerances(weights: Weights, rtol: float) -> np.ndarray:
    """Return the absolute tolerance of one network, or of every network of a batch by its own scale."""
    layers = weights.layers
    inside = (-1, -2)
    top = np.max([np.abs(layer).max(axis=inside) for layer in layers], axis=0)
    safe = np.where(top > 0, top, 1.0)[..., None, None]  # nothing under- or overflows
    squares = sum(((layer / safe) ** 2).sum(axis=inside) for layer in layers)
    entries = sum(layer.shape[-1] * layer.shape[-2] for layer in layers)
    scale = np.where(top > 0, top * np.sqrt(squares / entries), 1.0)
    return np.asarray(np.maximum(rtol * np.minimum(1.0, scale), np.finfo(float).tiny))


@partial(jax.jit, compiler_options=QUICK_COMPILATION)
def _losses_of_states(objective: ProductObjective, test: TestLosses | None, states: Params) -> Arrays:
    """Return the losses of states that have the times in front, and the members of a batch next."""
    batched = states["first"].ndim == 4
    losses = jax.vmap(losses_at, (batch_axes(objective), batch_axes(test), 0)) if batched else losses_at
    return jax.vmap(losses, (None, None, 0))(objective, test, states)
