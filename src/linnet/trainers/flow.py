"""Gradient flow of all layers, by an adaptive eighth-order solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, non_negative, positive, times_array, within_scope
from linnet._memory import check_fits
from linnet.inits.weights import Weights, product_of
from linnet.precision import computing, device_name
from linnet.problems.problem import Problem
from linnet.reductions.trial_descent import StepSizes
from linnet.trainers import _flow_rounds as flow_rounds
from linnet.trainers._compiling import QUICK_COMPILATION
from linnet.trainers._flow_remainder import FlowRemainder
from linnet.trainers._mode_coordinates import ModeCoordinates
from linnet.trainers._objective import (
    ProductObjective,
    TestLosses,
    batch_axes,
    losses_at,
    test_losses,
    training_objective,
)
from linnet.trainers._start import coordinates_of_run, initial_params, pad_width, without_padding
from linnet.trainers._states import Array, Arrays, Params, layer_names_in, layers_of
from linnet.trajectories.status import DivergedError, RoundingError, Status, StepLimitError
from linnet.trajectories.trajectory import Trajectory

EVALUATIONS = 1000  # of the gradient, by a flow that is not stiff
MIN_FLOAT32_RTOL = 1e-6  # ten roundings of a float32: no step could be exact to less
SMALL_ATOL = 1e-18  # absolute tolerance that is below the rounding of learned weights
# Growth of the weights times a rounding, from which on a flow is run twice; the relative change of its initial weights
# then, in roundings; and the relative difference of the products that is allowed.
MIN_GROWTH, MOVED_BY, MAX_DIFFERENCE = 1e-3, 100.0, 1e-6


@within_scope
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
    r"""Gradient flow of all layers on the canonical clock, to ten digits.

    $$ \dot W_1 = W_2^T R - \lambda W_1, \qquad \dot W_2 = R W_1^T - \lambda W_2, \qquad R = \Gamma - W_2 W_1 \Sigma, $$

    and of deeper networks $\dot W_l = (W_L \cdots W_{l+1})^T R (W_{l-1} \cdots W_1)^T - \lambda W_l$.

    **Arguments:**

    - `problem`: what is to be learned
    - `weights`: weights at time 0, of any depth; a leading axis is a batch of networks
    - `times`: increasing, from 0 on, (time,); the start is among the states only if 0 is given
    - `weight_decay`: $\lambda$, zero by default
    - `rtol`: relative tolerance
    - `atol`: absolute tolerance; by default `rtol` times the root mean square of the starting weights (at most 1), of
      each network of a batch by itself, so that a start of scale 1e-5 is followed as exactly as one of scale 1
    - `dtype`: float64 by default, or `"float32"`
    - `reduce`: whether to run in reduced coordinates, at a cost that does not depend on the width
    - `max_steps`: of the solver
    - `device`: `"cpu"` or `"gpu"`; by default the one that JAX prefers
    - `throw`: whether to raise, or to say in the status: `StepLimitError` if `max_steps` did not suffice (after a
      fiftieth of them, where at its pace a flow would need more than three times as many), `DivergedError` if the loss
      is not finite (a flow of the square loss does not diverge, that of a general cost may), and `RoundingError` if
      the flow depends on rounding

    **Tiny initializations.** While a mode is learned, its rounding, $10^{-16}$, is added to modes that may still be at
    $10^{-40}$. With whitened inputs (and `reduce=True`) weights below 1e-8 are therefore followed in the singular basis
    of the target, each mode on its own scale: exactly, down to a standard deviation of 1e-150. With any other inputs
    initializations down to 1e-12 are. Below, the flow is run twice from weights that differ by a few roundings; if the
    products differ by more than a millionth, it raises `RoundingError`, and `status.trusted_until` is the last of
    `times` to which they do not.

    **Returns** a `Trajectory`. Flows of the square loss that take long are not integrated step by step: the end of one
    that has converged is known in closed form, to rounding (`linnet.trainers._flow_remainder`), for up to 1500 entries
    of the product; one whose fast modes have converged while others fade like $1/t$ is followed by an implicit solver
    (`linnet.trainers._stiff`), for up to 1024 weights after the reduction, to about nine digits of what is left of the
    fading modes. With weight decay only the implicit solver shortens long flows. Members of a batch end by themselves:
    one that needs more than 2000 steps holds up the others by its own steps alone, at most `max_steps`, and a fiftieth
    of them where it cannot arrive. Widths below `in_dim + out_dim` are run at one of a few (`_start.py`): only the
    first of them is compiled. So are numbers of `times` up to 64.

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
        integrate = partial(_integrate, objective, settings, tolerance, remainder)
        states, taken, failed = integrate(layers)
        trusted_until = _last_time_before_rounding(integrate, layers, states, padded_times, rtol, run_dtype)
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
        rounded = np.isfinite(trusted_until)
        reasons = np.select(
            [np.asarray(failed), lost, rounded], ["step limit", "not finite", "rounding"], default="completed"
        )
    status = (
        Status(reasons, taken, trusted_until)
        if reasons.ndim
        else Status(str(reasons), int(taken), float(trusted_until))
    )
    if throw and "step limit" in reasons:
        raise StepLimitError(_advice_on_steps(max_steps, save_times, tolerance, atol is None, problem, reduce))
    if throw and "rounding" in reasons:
        raise RoundingError(
            f"the flow depends on rounding after t = {np.min(trusted_until):.6g}: a direction that grows there began "
            "below the precision of the weights. Ask for `times` up to there, take a larger initialization, or write "
            "the problem with whitened inputs and `reduce=True`, for which tiny initializations are followed exactly. "
            "With `throw=False` the run is returned, and `status.trusted_until` is that time."
        )
    if throw and not status.ok:
        raise DivergedError(
            f"the loss is not finite along the flow to t = {save_times[-1]:g}. Start where `cost` and its gradient are "
            "finite."
        )
    loss = kept.pop("loss")
    return Trajectory(save_times, None, loss, status, reduction, kept, rest[: len(save_times)], attributes)


States = tuple[list[np.ndarray], np.ndarray, np.ndarray]  # layers at all times, steps, whether they did not suffice


def _integrate(
    objective: ProductObjective,
    settings: flow_rounds.FlowSettings,
    atol: np.ndarray,
    remainder: FlowRemainder | None,
    layers: tuple[Array, ...],
) -> States:
    """Return `flow_rounds.integrate_flow`, from tiny weights on whitened inputs in the coordinates of the modes."""
    modes = ModeCoordinates.for_flow(objective, layers)
    if modes is None:
        return flow_rounds.integrate_flow(objective, layers, settings, atol, remainder)
    dtype = np.dtype(layers[0].dtype)
    entered = modes.enter(*(np.asarray(layer, dtype=float) for layer in layers))
    inside = tuple(jnp.asarray(layer, dtype) for layer in entered)
    own = replace(settings, times=settings.times * modes.scale, decay=settings.decay / modes.scale, by_mode=True)
    states, taken, failed = flow_rounds.integrate_flow(
        modes.objective(dtype), inside, own, atol, modes.remainder(own.decay)
    )
    left = [state.astype(dtype) for state in modes.leave(*states)]
    for state, layer in zip(left, layers, strict=True):
        state[settings.times == 0] = np.asarray(layer)
    return left, taken, failed


def _last_time_before_rounding(
    integrate: Callable[[tuple[Array, ...]], States],
    layers: tuple[Array, ...],
    states: list[np.ndarray],
    times: np.ndarray,
    rtol: float,
    dtype: np.dtype,
) -> np.ndarray:
    """Return the last time to which each flow does not depend on rounding; infinity if it never does.

    While a large mode is learned, its rounding is added to directions that may still be far smaller, and grows with
    them. Only weights that grow by more than `MIN_GROWTH` roundings can be lost so. These flows are run again from
    weights that differ by a few roundings: where the products differ by more, rounding has decided.
    """
    epsilon = float(np.finfo(dtype).eps)
    inside = (-1, -2)
    first_sizes = np.max([np.abs(np.asarray(layer)).max(axis=inside) for layer in layers], axis=0)
    sizes = np.max([np.nan_to_num(np.abs(state)).max(axis=(0, *inside)) for state in states], axis=0)
    never = np.full(first_sizes.shape, np.inf)
    if not (sizes * epsilon > MIN_GROWTH * np.where(first_sizes > 0, first_sizes, np.inf)).any():
        return never
    random = np.random.default_rng(0)
    moved = tuple(
        layer * jnp.asarray(1 + MOVED_BY * epsilon * random.uniform(0.5, 1, layer.shape), layer.dtype)
        for layer in layers
    )
    with np.errstate(over="ignore", invalid="ignore"):
        here, there = product_of(states), product_of(integrate(moved)[0])
        apart = np.abs(here - there).max(axis=inside)
        largest = np.nan_to_num(np.abs(here)).max(axis=(0, *inside))
    far = apart > np.maximum(MAX_DIFFERENCE, 1e3 * max(rtol, epsilon)) * largest
    last = np.maximum(np.argmax(far, axis=0) - 1, 0)
    return np.where(far.any(axis=0), np.where(far[0], 0.0, times[last]), never)


def _advice_on_steps(
    max_steps: int, times: np.ndarray, atol: np.ndarray, atol_by_default: bool, problem: Problem, reduced: bool
) -> str:
    """Return what a flow that needs too many steps should be told."""
    advice = "Allow more, ask for a shorter time or a larger `rtol`"
    if atol_by_default and np.min(atol) < SMALL_ATOL:
        advice += (
            f", or for a larger `atol`: by default it is {np.min(atol):.2g} here, from the tiny initial weights; "
            f"`atol=1e-18` asks for no more than the precision of learned weights"
        )
        if problem.whitened and not reduced:
            advice += ". With `reduce=True` tiny initializations on whitened inputs are followed in few steps"
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
