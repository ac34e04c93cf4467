"""Integrate flows in rounds of steps, and leave out of the next round what has converged, arrived or stopped moving."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from linnet import _progress as progress
from linnet.inits.layers import product_of
from linnet.trainers._compiling import QUICK_COMPILATION
from linnet.trainers._flow_end import FlowEnd, RestOfFlow
from linnet.trainers._objective import ProductObjective, batch_axes, batch_member
from linnet.trainers._pauses import operations_per_step, steps_per_call
from linnet.trainers._runge_kutta import solve
from linnet.trainers._states import Array
from linnet.trainers._updates import negative_gradients

MAX_ROUND_STEPS = 2000  # most flows take a few hundred
MIN_ROUND_STEPS = 50  # for the largest flows: a step of theirs takes up to a second
STEP_SHARE = 0.02  # share of the steps allowed, after which a flow is asked whether it can arrive at all
BAR_AFTER_ROUNDS = 5
HOPELESS_FACTOR = 3.0  # times the steps allowed, that it would need at its pace
MIN_PADDED_TIMES = 4  # a smaller number of times is padded to it
MAX_PADDED_TIMES = 64  # a larger number of times is not padded
MAX_PADDED_ENTRIES = 100_000  # entries of both layers
SLOW_STEPS = 20_000  # steps it would need at its pace, from which on an implicit solver is tried


@dataclass(frozen=True)
class FlowSettings:
    """Where to save, how exactly, and in how many steps; `atol` is one number, or one for each member of a batch.

    `share` of the hidden units are the network's, the others are padding (`_start`): an error is the mean
    over its own entries.
    """

    times: Float[np.ndarray, " time"]
    rtol: float
    atol: Float[np.ndarray, " ..."]
    max_steps: int
    share: float = 1.0


@dataclass
class FlowRun:
    """The progress of one network: states saved so far (NaN for later times), its present state, and how it ended."""

    layers: tuple[np.ndarray, ...]
    settings: FlowSettings
    flow_end: FlowEnd | None
    time: float = 0.0
    taken: int = 0
    pending: bool = True
    failed: bool = False
    stiff: bool = True  # until an implicit solver has given up
    states: tuple[np.ndarray, ...] = field(init=False)

    def __post_init__(self) -> None:
        shapes = ((len(self.settings.times), *layer.shape) for layer in self.layers)
        self.states = tuple(np.full(shape, np.nan, self.layers[0].dtype) for shape in shapes)

    def store_round(self, results: Sequence[np.ndarray], steps: int, share: float) -> None:
        """Store the result of a round, and decide whether another one follows."""
        depth = len(self.layers)
        time, taken, arrived = results[2 * depth :]
        new = np.isnan(self.states[0]).all(axis=(-1, -2)) & np.isfinite(results[0]).all(axis=(-1, -2))
        for state, layer in zip(self.states, results[:depth], strict=True):
            state[new] = layer[new]
        pace = (float(time) - self.time) / steps
        self.layers, self.time, self.taken = tuple(results[depth : 2 * depth]), float(time), self.taken + int(taken)
        if arrived or not np.isfinite(self.time):
            self.pending = False
        elif not self._try_closed_form() and not self._try_implicit_solver(SLOW_STEPS * pace) and share >= STEP_SHARE:
            self.failed = share >= 1 or self.time_left > HOPELESS_FACTOR * self.settings.max_steps * pace
            self.pending = not self.failed

    @property
    def time_left(self) -> float:
        """Return the time from the present state to the last of the given times."""
        return float(self.settings.times[-1]) - self.time

    def _try_closed_form(self) -> bool:
        """Fill in the rest of the flow if it has a closed form; return whether it has."""
        return self.flow_end is not None and self._fill_in(self.flow_end.closed_end)

    def _try_implicit_solver(self, soon: float) -> bool:
        """Fill in the rest of the flow by an implicit solver, unless its end is `soon` reached; return whether it
        arrived."""
        steps_left = self.settings.max_steps - self.taken
        if self.flow_end is None or self.time_left <= soon or not self.stiff or steps_left <= 0:
            return False
        self.stiff = self._fill_in(partial(self.flow_end.implicit_end, max_steps=steps_left))
        return self.stiff

    def _fill_in(self, rest_of_flow: Callable[..., RestOfFlow | None]) -> bool:
        """Fill in the states that are still to be found, and end the run; return whether `rest_of_flow` has them."""
        late = np.isnan(self.states[0]).all(axis=(-1, -2))
        times = np.maximum(self.settings.times[late] - self.time, 0.0)
        rest = rest_of_flow(*self.layers, times=times, rtol=self.settings.rtol, atol=float(self.settings.atol))
        if rest is None:
            return False
        self.states[0][late], self.states[1][late], steps = rest
        self.taken += steps
        self.pending = False
        return True


def pad_times(times: Float[np.ndarray, " time"], entries: int) -> Float[np.ndarray, " padded"]:
    """Return the times, padded with the last one to a power of two where there are at most `MAX_PADDED_TIMES`.

    So flows that ask for few times, whatever their number, share one compiled program, which takes seconds to make.
    What is saved twice costs no step, but memory: not for states of more than `MAX_PADDED_ENTRIES` entries.

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
    objective: ProductObjective, layers: tuple[Array, ...], settings: FlowSettings, flow_end: FlowEnd | None
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Return all layers at all times (NaN where they were not reached), the steps, and whether they did not suffice.

    After every round a flow that has converged is ended in closed form (`_flow_end`), and one that would need
    `SLOW_STEPS` more steps is tried with an implicit solver, once (`_stiff`). Once half of a batch has ended the
    others go on one by one: each costs its own steps, at most `max_steps`, and a fiftieth of them where it would
    need more than three times as many at its pace.
    """
    rounds = -(-settings.max_steps // _steps_per_round(*layers))
    steps = -(-settings.max_steps // rounds)
    batched = layers[0].ndim == 3
    begun = [np.asarray(layer) if batched else np.asarray(layer)[None] for layer in layers]
    tolerances = np.broadcast_to(settings.atol, len(begun[0]))
    runs = [
        FlowRun(
            tuple(layer[i] for layer in begun),
            replace(settings, atol=tolerances[i]),
            None if flow_end is None else batch_member(flow_end, i),
        )
        for i in range(len(begun[0]))
    ]
    solve_round = partial(_solve_round, max_steps=steps)
    with ExitStack() as stack:
        for turn in range(rounds):
            if not any(run.pending for run in runs):
                break
            if turn == BAR_AFTER_ROUNDS:
                advance = stack.enter_context(progress.bar("flow", rounds, done=turn, unit=f"x {steps} steps"))
            _advance_round(objective, runs, solve_round, steps, (turn + 1) / rounds)
            if turn >= BAR_AFTER_ROUNDS:
                advance(1)
    states = [np.stack(several, axis=1) for several in zip(*(run.states for run in runs), strict=True)]
    taken, failed = np.array([run.taken for run in runs]), np.array([run.failed for run in runs])
    return (states, taken, failed) if batched else ([state[:, 0] for state in states], taken[0], failed[0])


def _advance_round(
    objective: ProductObjective,
    runs: list[FlowRun],
    solve_round: Callable[..., Any],
    steps: int,
    steps_used_share: float,
) -> None:
    """Integrate one more round of unfinished `runs`, in place: in one batch if these are more than half, else singly.

    `steps` are the steps of a round, `steps_used_share` the share of all allowed ones that are used after it.
    """
    pending = [index for index, run in enumerate(runs) if run.pending]
    together = 2 * len(pending) > len(runs) > 1
    for chosen in [list(range(len(runs)))] if together else [[index] for index in pending]:
        own, group = objective if together else batch_member(objective, chosen[0]), [runs[index] for index in chosen]
        results = [np.asarray(value) for value in solve_round(own, *_solver_arguments(group))]
        for position, run in enumerate(group):
            if run.pending:
                run.store_round([value[position] for value in results], steps, steps_used_share)


def _steps_per_round(*layers: Array) -> int:
    """Return the number of steps of a round, one of few values, since each is compiled."""
    most = steps_per_call(layers[0], 13 * operations_per_step(layers))  # stages, and products in each
    return next((length for length in (MAX_ROUND_STEPS, 500, 200) if length <= most), MIN_ROUND_STEPS)


def _solver_arguments(runs: list[FlowRun]) -> tuple[Any, ...]:
    """Return the arguments of `_solve_round`: the layers, their times, the times to save, tolerances and share."""
    settings, layers = runs[0].settings, zip(*(run.layers for run in runs), strict=True)
    # those that have ended stand at the last time, which costs no step
    time = [run.time if run.pending else settings.times[-1] for run in runs]
    numbers = (time, settings.times, settings.rtol, [run.settings.atol for run in runs], settings.share)
    return tuple(map(np.stack, layers)), *(np.asarray(number, runs[0].layers[0].dtype) for number in numbers)


@partial(jax.jit, static_argnames=("max_steps",), compiler_options=QUICK_COMPILATION)
def _solve_round(
    objective: ProductObjective,
    layers: tuple[Array, ...],
    time: Array,
    times: Array,
    rtol: Array,
    atol: Array,
    share: Array,
    *,
    max_steps: int,
) -> tuple[Array, ...]:
    """Integrate one round of a batch. Return all layers at all times (infinite where not reached) and at the end of the
    round, its time, the steps it took, and whether that is the last time. At times before `time` the layers are those
    it began with."""
    shapes = [layer.shape[-2:] for layer in layers]
    borders = np.cumsum([np.prod(shape) for shape in shapes])
    start = jnp.concatenate([layer.reshape(len(layer), -1) for layer in layers], axis=1)

    def split_layers(entries: Array) -> tuple[Array, ...]:
        """Return the layers from all their entries in one row."""
        split = jnp.split(entries, borders[:-1], axis=-1)
        return tuple(part.reshape(*entries.shape[:-1], *shape) for part, shape in zip(split, shapes, strict=True))

    def slope(objective: ProductObjective, entries: Array) -> Array:
        """Return the time derivative of all entries: minus the gradient."""
        layers = split_layers(entries)
        directions = negative_gradients(layers, objective.evaluate(product_of(layers))[1])
        return jnp.concatenate([direction.reshape(-1) for direction in directions])

    def norm(entries: Array) -> Array:
        """Return the root mean square over the network's own entries; of the others every error is zero."""
        return jnp.sqrt(jnp.sum(entries**2, axis=1) / (share * entries.shape[1]))

    solution = solve(
        partial(jax.vmap(slope, in_axes=(batch_axes(objective), 0)), objective),
        start,
        time,
        times,
        rtol=rtol,
        atol=atol[:, None],
        norm=norm,
        max_steps=max_steps,
    )
    arrived = solution.time >= times[-1]
    return (*split_layers(solution.states), *split_layers(solution.end), solution.time, solution.steps, arrived)
