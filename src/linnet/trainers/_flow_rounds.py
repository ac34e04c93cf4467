"""Integrate flows in rounds of steps, and leave out of the next round what has converged, arrived or stopped moving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from linnet import _progress as progress
from linnet.inits.weights import product_of
from linnet.trainers._compiling import QUICK_COMPILATION
from linnet.trainers._flow_remainder import FlowRemainder, LaterLayers
from linnet.trainers._layer_steps import negative_gradients
from linnet.trainers._objective import ProductObjective, batch_axes, batch_member
from linnet.trainers._pauses import operations_per_step, steps_per_call
from linnet.trainers._runge_kutta import SolverResult, solve
from linnet.trainers._states import Array

ROUND_STEPS = (2000, 500, 200, 50)  # one of these: most flows take a few hundred, a step of the largest up to a second
STAGES_PER_STEP = 13  # of the method of `_runge_kutta`, each with the products of a step of descent
MIN_JUDGED_SHARE = 0.02  # fraction of the steps allowed, after which a flow is asked whether it can arrive at all
BAR_AFTER_ROUNDS = 5  # a progress bar appears: most flows have arrived by then
HOPELESS_FACTOR = 3.0  # times the steps allowed: a flow that would need more at its pace is given up
MIN_PADDED_TIMES = 4  # a smaller number of times is padded to it
MAX_PADDED_TIMES = 64  # a larger number of times is not padded
MAX_PADDED_ENTRIES = 100_000  # entries of all layers, from which on states saved twice would take much memory
SLOW_STEPS = 20_000  # steps it would need at its pace, from which on an implicit solver is tried

Shapes = tuple[tuple[int, ...], ...]  # of all layers: rows and columns


@dataclass(frozen=True)
class FlowSettings:
    """What all networks of a batch have in common: where to save, how exactly, and in how many steps.

    `own_share` of the hidden units are the network's, the others are padding (`_start`): an error is the mean over its
    own entries. `decay` is that of the weights.
    """

    times: Float[np.ndarray, " time"]
    rtol: float
    max_steps: int
    own_share: float
    decay: float = 0.0


@dataclass
class FlowRun:
    """The progress of one network: states saved so far (NaN for later times), its present state, and how it ended.

    A state is the entries of all layers in one row (`join_layers`).
    """

    state: np.ndarray
    shapes: Shapes
    settings: FlowSettings
    atol: float
    remainder: FlowRemainder | None  # None for deep networks and for costs that are not square
    time: float = 0.0
    taken: int = 0
    pending: bool = True
    failed: bool = False
    may_try_implicit: bool = True  # until the implicit solver has given up
    saved: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.saved = np.full((len(self.settings.times), self.state.size), np.nan, self.state.dtype)

    def store_round(self, result: SolverResult, steps: int, steps_used_share: float) -> None:
        """Store the result of a round, without its batch axis, and decide whether another one follows.

        A time is stored once: where `saved` is NaN and the states of the result are finite (not reached: infinite).
        `steps` are those allowed in a round, `steps_used_share` is the fraction of all allowed ones that are used now.
        """
        new = np.isnan(self.saved).all(axis=1) & np.isfinite(result.states).all(axis=1)
        self.saved[new] = result.states[new]
        pace = (float(result.time) - self.time) / steps
        self.state, self.time = np.asarray(result.end), float(result.time)
        self.taken += int(result.steps)
        arrived = result.time >= np.asarray(self.settings.times[-1], result.time.dtype)
        ended = bool(arrived) or not np.isfinite(self.time)
        if ended or self._try_closed_form() or self._try_implicit_solver(SLOW_STEPS * pace):
            self.pending = False
        elif steps_used_share >= MIN_JUDGED_SHARE:
            self.failed = steps_used_share >= 1 or self.time_left > HOPELESS_FACTOR * self.settings.max_steps * pace
            self.pending = not self.failed

    @property
    def time_left(self) -> float:
        """Return the time from the present state to the last of the given times."""
        return float(self.settings.times[-1]) - self.time

    def _try_closed_form(self) -> bool:
        """Fill in the rest of the flow if it has a closed form; return whether it has."""
        return self.remainder is not None and self._fill_in(self.remainder.closed_form)

    def _try_implicit_solver(self, short_time: float) -> bool:
        """Fill in the rest of the flow by an implicit solver, unless at most `short_time` is left; return whether it
        arrived. One that gave up is not tried again."""
        steps_left = self.settings.max_steps - self.taken
        if self.remainder is None or self.time_left <= short_time or not self.may_try_implicit or steps_left <= 0:
            return False
        self.may_try_implicit = self._fill_in(partial(self.remainder.implicit, max_steps=steps_left))
        return self.may_try_implicit

    def _fill_in(self, layers_at: Callable[..., LaterLayers | None]) -> bool:
        """Fill in the states that are still NaN by a method of `FlowRemainder`; return whether that had them. There are
        two layers: deeper networks have no `remainder`."""
        late = np.isnan(self.saved).all(axis=1)
        times = np.maximum(self.settings.times[late] - self.time, 0.0)
        first, second = split_layers(self.state.astype(np.float64), self.shapes)
        rest = layers_at(first, second, times=times, rtol=self.settings.rtol, atol=self.atol)
        if rest is None:
            return False
        self.saved[late], steps = join_layers(rest[:2]), rest[2]
        self.taken += steps
        return True


def join_layers(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the entries of all layers in one row, behind the axes that the layers have in front."""
    return np.concatenate([layer.reshape(*layer.shape[:-2], -1) for layer in layers], axis=-1)


def split_layers(entries: Any, shapes: Shapes) -> list[Any]:
    """Return the layers of these shapes from their entries in one row, NumPy's or JAX's: undo `join_layers`."""
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    return [
        entries[..., end - rows * columns : end].reshape(*entries.shape[:-1], rows, columns)
        for end, (rows, columns) in zip(ends.tolist(), shapes, strict=True)
    ]


def pad_times(times: Float[np.ndarray, " time"], entries: int) -> Float[np.ndarray, " padded"]:
    """Return the times, padded with the last one to a power of two where there are at most `MAX_PADDED_TIMES`.

    So flows that ask for few times, whatever their number, share one compiled program, which takes seconds to make. A
    state that is saved twice costs no step, but memory: not for states of more than `MAX_PADDED_ENTRIES` entries.
    `flow` cuts the states of the padding off.

    >>> import numpy as np
    >>> from linnet.trainers._flow_rounds import pad_times
    >>> pad_times(np.array([1.0, 2.0, 5.0, 8.0, 9.0]), entries=100).tolist()
    [1.0, 2.0, 5.0, 8.0, 9.0, 9.0, 9.0, 9.0]
    """
    count = len(times)
    if count > MAX_PADDED_TIMES or entries > MAX_PADDED_ENTRIES:
        return times
    return np.concatenate([times, np.full(max(MIN_PADDED_TIMES, 1 << (count - 1).bit_length()) - count, times[-1])])


def integrate_flow(
    objective: ProductObjective,
    layers: tuple[Array, ...],
    settings: FlowSettings,
    atol: Float[np.ndarray, " ..."],
    remainder: FlowRemainder | None,
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return all layers at all times (NaN where they were not reached), the steps, and whether they did not suffice.

    `atol` is one number, or one for each member of a batch.

    After every round a flow that has converged is ended in closed form (`_flow_remainder`), and one that would need
    `SLOW_STEPS` more steps is tried with an implicit solver, once (`_stiff`). Once half of a batch has ended the
    others go on one by one: each costs its own steps, at most `max_steps`, and a fiftieth of them where it would
    need more than three times as many at its pace.
    """
    rounds = -(-settings.max_steps // _steps_per_round(*layers))
    steps = -(-settings.max_steps // rounds)
    batched = layers[0].ndim == 3
    starts = join_layers([np.asarray(layer) for layer in layers])
    starts = starts if batched else starts[None]
    shapes = tuple(layer.shape[-2:] for layer in layers)
    runs = [
        FlowRun(start, shapes, settings, own_atol, None if remainder is None else batch_member(remainder, index))
        for index, (start, own_atol) in enumerate(zip(starts, np.broadcast_to(atol, len(starts)).tolist(), strict=True))
    ]
    with ExitStack() as stack:
        for turn in range(rounds):
            if not any(run.pending for run in runs):
                break
            if turn == BAR_AFTER_ROUNDS:
                advance = stack.enter_context(progress.bar("flow", rounds, done=turn, unit=f"x {steps} steps"))
            _advance_round(objective, runs, steps, (turn + 1) / rounds)
            if turn >= BAR_AFTER_ROUNDS:
                advance(1)
    states = split_layers(np.stack([run.saved for run in runs], axis=1), shapes)
    taken, failed = np.array([run.taken for run in runs]), np.array([run.failed for run in runs])
    return (states, taken, failed) if batched else ([state[:, 0] for state in states], taken[0], failed[0])


def _advance_round(objective: ProductObjective, runs: list[FlowRun], steps: int, steps_used_share: float) -> None:
    """Integrate one more round of unfinished `runs`, in place: in one batch if these are more than half, else singly.

    `steps` are the steps of a round, `steps_used_share` the fraction of all allowed ones that are used after it.
    """
    pending = [index for index, run in enumerate(runs) if run.pending]
    if 2 * len(pending) > len(runs) > 1:
        groups = [(objective, runs)]
    else:
        groups = [(batch_member(objective, index), [runs[index]]) for index in pending]
    settings, dtype = runs[0].settings, runs[0].state.dtype
    for own_objective, group in groups:
        # Those that have ended stand at the last time, which costs no step.
        time = [run.time if run.pending else settings.times[-1] for run in group]
        numbers = time, settings.times, settings.rtol, [run.atol for run in group], settings.own_share, settings.decay
        result = _solve_round(
            own_objective,
            np.stack([run.state for run in group]),
            *(np.asarray(number, dtype) for number in numbers),
            shapes=group[0].shapes,
            max_steps=steps,
        )
        result = jax.tree.map(np.asarray, result)
        for position, run in enumerate(group):
            if run.pending:
                run.store_round(jax.tree.map(itemgetter(position), result), steps, steps_used_share)


def _steps_per_round(*layers: Array) -> int:
    """Return the number of steps of a round, the largest of `ROUND_STEPS` that fits into one call: each is compiled."""
    most = steps_per_call(layers[0], STAGES_PER_STEP * operations_per_step(layers))
    return next((steps for steps in ROUND_STEPS if steps <= most), ROUND_STEPS[-1])


@partial(jax.jit, static_argnames=("shapes", "max_steps"), compiler_options=QUICK_COMPILATION)
def _solve_round(
    objective: ProductObjective,
    start: Array,
    time: Array,
    times: Array,
    rtol: Array,
    atol: Array,
    own_share: Array,
    decay: Array,
    *,
    shapes: Shapes,
    max_steps: int,
) -> SolverResult:
    """Integrate one round of a batch, from the state (batch, entry) and the time of each member, in at most `max_steps`
    steps."""

    def slope(objective: ProductObjective, entries: Array) -> Array:
        """Return the time derivative of all entries: minus the gradient, and minus their decay."""
        layers = split_layers(entries, shapes)
        directions = negative_gradients(layers, objective.evaluate(product_of(layers))[1])
        return jnp.concatenate([direction.reshape(-1) for direction in directions]) - decay * entries

    def norm(entries: Array) -> Array:
        """Return the root mean square over the network's own entries; of the others every error is zero."""
        return jnp.sqrt(jnp.sum(entries**2, axis=1) / (own_share * entries.shape[1]))

    return solve(
        partial(jax.vmap(slope, in_axes=(batch_axes(objective), 0)), objective),
        start,
        time,
        times,
        rtol=rtol,
        atol=atol[:, None],
        norm=norm,
        max_steps=max_steps,
    )
