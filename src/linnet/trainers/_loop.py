"""The compiled loop behind every discrete trainer: steps, early stopping, divergence, what is noted on the way, saving.

A trainer supplies an objective, perhaps test losses (`_objective`), and a step of the layers (`_states.StepFunction`),
written with jax.numpy. `_states` has the names that go from one to the other: parameters, hyperparameters, what an
objective has seen.

`take_step` is the one step of them all: judge the state, note what is to be noted, move unless it is the end. `run`
carries a batch that starts together and saves states on the way; `diagrams/_slots` fills slots again as runs end.
`initial_state`, `divergence_threshold` and `judge` serve NumPy's numbers too: `diagrams/_numpy_run` judges runs that
are not compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import jax
import jax.numpy as jnp
import numpy as np

from linnet._memory import check_fits
from linnet._progress import bar
from linnet.inits.weights import product_of
from linnet.reductions.reduction import Reduction
from linnet.trainers._array_or_number import select
from linnet.trainers._compiling import QUICK_COMPILATION, jit_drawing
from linnet.trainers._objective import TestLosses, batch_axes, losses_at
from linnet.trainers._pauses import operations_per_step, steps_per_call
from linnet.trainers._start import without_padding
from linnet.trainers._states import (
    Array,
    Arrays,
    Hyper,
    MonitoredLoss,
    Objective,
    Params,
    Remembered,
    Seen,
    State,
    StepFunction,
    layer_names_in,
    layers_of,
)
from linnet.trainers.stopping import Rule
from linnet.trajectories.saving import Saving
from linnet.trajectories.status import Status
from linnet.trajectories.trajectory import Trajectory

KEEP_CHOICES = ("weights", "products", "losses")
DIVERGED_CODE = 1  # codes above it are the stopping rule's own
SAVES_PER_CALL = 64  # states that one compiled call returns, where many are saved ...
BYTES_PER_CALL = 2**24  # ... unless their layers take more: memory that is taken and given back each time is slow
PAUSE_OPERATIONS = 1e9  # operations between two looks at a run, some 20 milliseconds: a look takes a third of a step
DIVERGENCE_FACTOR = 1e8  # a loss this many times the first one, or the scale of the targets, counts as divergence
RunToEach = Callable[..., tuple[State, Array, Arrays]]  # `_run_to_each`, compiled in one of three ways


class Record(Protocol):
    """Record of every state of a run: a frozen dataclass, compiled into the loop."""

    def start(self, params: Params) -> Remembered:
        """Return the record before the first state."""

    def update(self, record: Remembered, step: Array, loss: Array, test_loss: Array, seen: Seen) -> Remembered:
        """Return the record after one more state."""


@dataclass(frozen=True)
class Plan:
    """How a run is to be carried out: the static part of the compiled loop. Equal plans share a program.

    - `keep`: content of a saved state, one of `KEEP_CHOICES`
    - `record`: function of every state whose result is recorded; None records nothing
    - `optimized`: compile the loop of `run` for longer, for runs of many steps
    """

    update: StepFunction
    rule: Rule
    keep: str = "losses"
    record: Record | None = None
    optimized: bool = False

    @property
    def reasons(self) -> np.ndarray:
        """Return why a run ended, by its code: the first two are 0 and `DIVERGED_CODE`, the rule's own follow."""
        return np.array(["completed", "diverged", *self.rule.reasons])


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class RunConstants:
    """What stays the same from step to step: what is descended and what is tested, the hyperparameters, and the loss
    beyond which a run has diverged (`divergence_threshold`)."""

    objective: Objective
    test: MonitoredLoss | None
    hyper: Hyper
    max_loss: Array

    def batch_axes(self) -> RunConstants:
        """Return the `in_axes` for a batch of runs: a schedule is shared, other numbers may be one for each member."""
        own = {name: 0 if jnp.ndim(value) and name != "schedule" else None for name, value in self.hyper.items()}
        return RunConstants(batch_axes(self.objective), batch_axes(self.test), own, 0)  # type: ignore[arg-type]


def initial_state(params: Params, *, plan: Plan) -> State:
    """Return the state of one run before its first step."""
    record = None if plan.record is None else plan.record.start(params)
    return State(params, plan.rule.start(), np.int64(0), np.int64(0), record)  # type: ignore[arg-type]


def divergence_threshold(objective: Objective, loss: Array) -> Array:
    """Return the loss beyond which a run has diverged: a large multiple of its first `loss`, or of the targets'
    scale."""
    size = objective.loss_scale()
    return DIVERGENCE_FACTOR * (select(abs(loss) <= size, size, abs(loss)) + jnp.finfo(loss.dtype).tiny)


def judge(constants: RunConstants, state: State, *, plan: Plan) -> tuple[State, Seen]:
    """Return the state with its record up to date and the code of why it ends, 0 to go on; and what was seen of it.

    A loss beyond `constants.max_loss` counts as divergence, before the stopping rule. Where neither rule nor record
    needs the test loss, or there is none, they are given the training loss in its place.
    """
    test, max_loss = constants.test, constants.max_loss
    loss, seen = constants.objective.at(state.params)
    looks = plan.record is not None or plan.rule.needs_test
    measured = test.at(state.params, seen) if looks and test is not None else loss
    rule, code = plan.rule.update(state.rule, state.step, loss, measured)
    code = select(code > 0, code + DIVERGED_CODE, 0)
    inside = (loss <= max_loss) & (loss >= -max_loss)  # false for NaN too
    record = None if plan.record is None else plan.record.update(state.record, state.step, loss, measured, seen)
    return State(state.params, rule, state.step, select(inside, code, DIVERGED_CODE), record), seen


def take_step(constants: RunConstants, state: State, until: Array, *, plan: Plan) -> State:
    """Judge the state of one run and take one step, unless it has ended or is at step `until`: then it stands still."""
    going = (state.code == 0) & (state.step < until)
    new, seen = judge(constants, state, plan=plan)
    moving = going & (new.code == 0)
    # A run that stops here keeps the state it was judged by: its step is scaled to nothing.
    now = _hyper_at_step(constants.hyper, state.step)
    active = {**now, "learning_rate": jnp.where(moving, now["learning_rate"], 0)}
    params = plan.update(constants.objective, active, state.params, state.step, seen)
    rule, code, record = jax.tree.map(
        lambda after, before: jnp.where(going, after, before),
        (new.rule, new.code, new.record),
        (state.rule, state.code, state.record),
    )
    return State(params, rule, state.step + moving, code, record)


def _hyper_at_step(hyper: Hyper, step: Array) -> Hyper:
    """Return the hyperparameters of one step: a schedule goes into its learning rate, and stays at its last value."""
    if "schedule" not in hyper:
        return hyper
    values = hyper["schedule"]
    rate = hyper["learning_rate"] * values[jnp.minimum(step, values.shape[0] - 1)]
    return {name: value for name, value in hyper.items() if name != "schedule"} | {"learning_rate": rate}


def _canonical_times(hyper: Hyper, used: np.ndarray) -> np.ndarray:
    """Return the canonical times after `used` steps: (time,), or (time, member) where members differ in their rate. The
    rates belong to `_hyper_at_step`."""
    rate = np.asarray(hyper["learning_rate"], dtype=np.float64)
    if "schedule" in hyper:
        used = np.concatenate([[0.0], np.cumsum(np.asarray(hyper["schedule"], dtype=np.float64))])[used]
    return used * rate if rate.ndim == 0 else used[:, None] * rate


def judge_last(constants: RunConstants, state: State, *, plan: Plan) -> State:
    """Judge the last state of a run, and update its record, as those of all others were before their next step."""
    new, _ = judge(constants, state, plan=plan)
    return jax.tree.map(lambda after, before: jnp.where(state.code == 0, after, before), new, state)


def run(
    objective: Objective,
    test: TestLosses | None,
    params: Params,
    hyper: Hyper,
    *,
    reduction: Reduction,
    plan: Plan,
    steps: int,
    saving: Saving,
    title: str,
    attributes: dict[str, object],
) -> Trajectory:
    """Run `steps` steps from `params` and return what `saving` and `plan.keep` ask for.

    A third axis of `params["first"]`, in front, makes it a batch: all `params` have that axis then, and `NDIM` of
    `objective` and `test` says which of their fields do. A run that diverges does not raise here: its status holds the
    reason, and `_discrete_run` raises. `plan.update` must stand still at a learning rate of 0: so members that have
    ended wait for the others (`take_step`).

    - `params`: parameters of the padded network (`_start.pad_width`); `reduction` belongs to the network itself
    - `hyper`: see `_states.Hyper`; the times of the trajectory are the sums of its learning rates
    - `title`: next to the progress bar
    - `attributes`: attributes of the trajectory's dataset
    """
    if plan.keep not in KEEP_CHOICES:
        raise ValueError(f"`keep` must be one of {KEEP_CHOICES}: got {plan.keep!r}.")
    if plan.rule.needs_test and test is None:
        raise ValueError(
            "`stop` looks at the test loss: it needs a problem with a `truth`, or with held-out samples "
            "(`with_validation`)."
        )
    wanted = saving.steps(steps)
    batched = params["first"].ndim == 3
    check_fits(
        _state_bytes(params, plan.keep) * len(wanted),
        f"keeping {len(wanted)} states",
        "Save less often (`save_every`), or ask for keep='products' or keep='losses'.",
    )
    begin = partial(initial_state, plan=plan)
    state = jax.tree.map(jnp.asarray, jax.vmap(begin)(params) if batched else begin(params))
    max_loss = jnp.asarray(np.full(state.step.shape, np.inf, params["first"].dtype))  # until the first loss is known
    constants = RunConstants(objective, test, hyper, max_loss)
    with bar(title, steps) as advance:
        taken, codes, kept = _run_and_save(constants, state, wanted, plan=plan, advance=advance)
    # Up to the state at which everything had stopped; one recorded at that very step before is not repeated.
    length = min(len(kept["loss"]), int(np.searchsorted(wanted, taken.max())) + 1)
    kept = without_padding({name: value[:length] for name, value in kept.items()}, reduction)
    used = np.minimum(wanted[:length], int(taken.max()))
    reasons = plan.reasons[codes]
    status = Status(reasons if batched else str(reasons), taken if batched else int(taken))
    uncertain = kept.pop("uncertain_from", None)
    if uncertain is not None and (uncertain[-1] >= 0).any():
        status = replace(status, uncertain_from=uncertain[-1] if batched else int(uncertain[-1]))
    loss, rest = kept.pop("loss"), kept.pop("rest")
    return Trajectory(_canonical_times(hyper, used), used, loss, status, reduction, kept, rest, attributes)


def _run_and_save(
    constants: RunConstants,
    state: State,
    wanted: np.ndarray,
    *,
    plan: Plan,
    advance: Callable[[int], None],
) -> tuple[np.ndarray, np.ndarray, Arrays]:
    """Run from `state`, the initialization, to the last of the steps `wanted`, or until everything has stopped. Return
    of each run how many steps it took and the code of why it ended; and what is kept of all saved states, the times in
    front.

    `advance(n)` is called when n more steps are done.
    """
    params = state.params
    parts: list[dict[str, np.ndarray]] = []
    if plan.optimized:
        run_to_each: RunToEach = _run_to_each_optimized
    else:
        run_to_each = _run_to_each_drawing if "key" in params else _run_to_each_quick
    operations = operations_per_step(layers_of(params))
    most, least = steps_per_call(params["first"], operations), int(PAUSE_OPERATIONS // operations)
    last, done = int(wanted[-1]), 0
    layer_bytes = sum(layer.size * layer.dtype.itemsize for layer in layers_of(params))
    together = next(size for size in (SAVES_PER_CALL, 32, 16, 8) if size * layer_bytes <= BYTES_PER_CALL or size == 8)
    for untils, keep in _chunks_of_steps(wanted, most, least, together):
        state, max_loss, reached = run_to_each(constants, state, jnp.asarray(untils), plan=plan)
        constants = replace(constants, max_loss=max_loss)
        count = int(keep.sum())
        if count:
            parts.append({name: np.asarray(value)[:count] for name, value in reached.items()})
        advance(min(int(untils[-1]), last) - done)
        done = min(int(untils[-1]), last)
        if np.all(np.asarray(state.code)):  # everything has stopped: the rest would repeat the last state
            if not count:
                parts.append({name: np.asarray(value)[-1:] for name, value in reached.items()})
            break
    taken, codes = np.minimum(np.asarray(state.step), last), np.asarray(state.code)
    return taken, codes, {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _chunks_of_steps(
    wanted: np.ndarray, most: int, least: int = 1, together: int = SAVES_PER_CALL
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the steps to run to, chunk by chunk, and which of them are kept; no chunk is of more than `most` steps.

    `wanted` are the steps to save, from 0 to the last (`Saving.steps`); kept ones come first in their chunk.
    Many saves go in chunks of one length, `together` (one compilation). Between saves that are few or far apart there
    are pauses at which nothing is kept, for the progress bar and for Ctrl-C, `least` steps apart. At the end one step
    more is asked for, which is not kept: so the last state is judged too, as all others are before their next step.
    """
    beyond = int(wanted[-1]) + 1
    if len(wanted) > together:
        padded = np.append(wanted, np.full(together - len(wanted) % together, beyond)).reshape(-1, together)
        if np.diff(padded[:, -1], prepend=0).max() <= most:
            yield from zip(padded, (np.arange(padded.size) < len(wanted)).reshape(padded.shape), strict=True)
            return
    pause = max(1, min(max(int(wanted[-1]) // 50, least), most))
    done = 0
    for save in map(int, wanted):
        for stop in range(done + pause, save, pause):
            yield np.array([stop]), np.array([False])
        yield np.array([save]), np.array([True])
        done = save
    yield np.array([beyond]), np.array([False])


def _state_bytes(params: Params, keep: str) -> int:
    """Return the memory of one kept state of a run, by what `_kept_of_state` keeps."""
    first, second = params["first"], params["second"]
    if keep == "losses":
        return 16 * max(1, first.size // (first.shape[-1] * first.shape[-2]))
    if keep == "products":
        own = second.size // second.shape[-1]
        return first.dtype.itemsize * own * (first.shape[-2] + first.shape[-1])
    return first.dtype.itemsize * sum(layer.size for layer in layers_of(params))


def _kept_of_state(objective: Objective, test: TestLosses | None, params: Params, *, plan: Plan) -> Arrays:
    """Return what the trajectory keeps of one state, by the names that `Trajectory` knows; `run` gives it "loss" and
    "rest" apart. With "products", "second" is the product of all layers above the first, which lifting needs."""
    kept = {**losses_at(objective, test, params), "rest": params["rest"]}
    if plan.keep == "weights":
        kept |= {name: params[name] for name in layer_names_in(params)}
    elif plan.keep == "products":
        layers = layers_of(params)
        kept |= {"product": product_of(layers), "second": product_of(layers[1:])}
    memory = params.get("memory")
    if isinstance(memory, dict) and "uncertain_from" in memory:
        kept["uncertain_from"] = memory["uncertain_from"]
    return kept


def _run_to_each(constants: RunConstants, state: State, untils: Array, *, plan: Plan) -> tuple[State, Array, Arrays]:
    """Run to each of the steps `untils` in turn; return the last state, the loss beyond which it diverges, and what the
    trajectory keeps of each. The first step of all must be 0: the loss there decides what divergence is."""
    step, kept_of_state = partial(take_step, plan=plan), partial(_kept_of_state, plan=plan)
    threshold = divergence_threshold
    if state.params["first"].ndim == 3:
        axes = constants.batch_axes()
        step = jax.vmap(step, (axes, 0, None))
        kept_of_state = jax.vmap(kept_of_state, (axes.objective, axes.test, 0))
        threshold = jax.vmap(threshold, (axes.objective, 0))
    objective, test = constants.objective, constants.test

    def advance_to(carried: tuple[State, Array], until: Array) -> tuple[tuple[State, Array], Arrays]:
        state, max_loss = carried
        now = replace(constants, max_loss=max_loss)
        state = jax.lax.while_loop(
            lambda s: jnp.any((s.step < until) & (s.code == 0)), lambda s: step(now, s, until), state
        )
        kept = kept_of_state(objective, test, state.params)  # type: ignore[arg-type]
        max_loss = jnp.where(until == 0, threshold(objective, kept["loss"]), max_loss).astype(max_loss.dtype)
        return (state, max_loss), kept

    (state, max_loss), kept = jax.lax.scan(advance_to, (state, constants.max_loss), untils)
    return state, max_loss, kept


_run_to_each_quick = jax.jit(_run_to_each, static_argnames=("plan",), compiler_options=QUICK_COMPILATION)
_run_to_each_optimized = jax.jit(_run_to_each, static_argnames=("plan",))
_run_to_each_drawing = jit_drawing(_run_to_each, static_argnames=("plan",))
