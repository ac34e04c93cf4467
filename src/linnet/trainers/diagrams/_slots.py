"""Many runs in a compiled batch of one size on every device, whose slots are filled again as runs end.

A compiled batch of one size gives a run the same bits whatever runs next to it, while batches of different sizes need
not. So the size stays, and the next run takes the slot of one that has ended: few steps are computed for nothing.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from linnet._memory import GIBIBYTE, available
from linnet.precision import computing, devices
from linnet.trainers import _loop as loop
from linnet.trainers._compiling import QUICK_COMPILATION, JitByPlatform, Options
from linnet.trainers._states import Array, Arrays, MonitoredLoss, Objective, State

# On GPUs XLA times dozens of kernels for every product before it takes one: half a minute at the start of a process for
# a fifth of the steps' time, and bits that differ from process to process. Other devices do not read these options.
UNTUNED: Options = {
    "xla_gpu_autotune_level": "0",
    "xla_gpu_enable_triton_gemm": False,
    **QUICK_COMPILATION,
}
LOG = logging.getLogger("linnet.slots")
# Slots are filled and read once for each run. Without optimization a CPU compiles that in half the time, and takes some
# 100 ns longer for every number of the run, less than a few of its steps take.
_jit_once_per_run = partial(
    JitByPlatform,
    on_cpu={**UNTUNED, "xla_backend_optimization_level": "0"},
    elsewhere=UNTUNED,
    static_argnames=("kind",),
)
COPIES_PER_SLOT = 3  # a slot's arrays exist twice while it steps, next to what the step computes on the way
MEMORY_SHARE = 0.9  # of the free memory that slots may take
STEPS_PER_CALL = 512  # between returns to Python, where Ctrl-C is heard, if no run has ended


@dataclass(frozen=True)
class RunKind:
    """What the runs of a queue have in common: functions of single runs, written with jax.numpy and compiled as one.

    - `draw(shared, spec)`: what stays fixed in the slot, and the starting `params`, from the numbers that describe
      the run
    - `bind(shared, slot)`: objective, test loss and hyperparameters, as in `RunConstants` of the loop
    - `result(state)`: what is kept of a run that has ended, besides its "step" and "code"

    Programs are compiled for a kind: equal ones must compare equal. "steps" and "max_loss" of a spec or slot are names
    of this file's own.
    """

    plan: loop.Plan
    draw: Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]
    bind: Callable[[Arrays, Arrays], tuple[Objective, MonitoredLoss | None, Arrays]]
    result: Callable[[State], Arrays]


@dataclass(frozen=True)
class RunResults:
    """What is kept of all runs of a queue, whether slots or workers (`_workers`) have trained them.

    - `results`: arrays by name, with runs along the first axis; "step" and "code" are always there
    - `limits`: maximum number of steps of each run
    - `executed`: steps computed, those of slots that stood still included
    - `summary`: number of networks trained at once and their device, in words
    """

    results: dict[str, np.ndarray]
    limits: np.ndarray | int
    executed: int
    summary: str

    @property
    def needed(self) -> int:
        """Return how many of the steps were steps of runs; one in which a run was found to be at its end counts."""
        steps, codes = self.results["step"], self.results["code"]
        return int((steps + ((codes > 0) & (steps < self.limits))).sum())


def train_in_slots(
    kind: RunKind,
    specs: Callable[[list[int]], dict[str, np.ndarray]],
    steps: Sequence[int] | np.ndarray,
    *,
    slots: int,
    shared: Mapping[str, np.ndarray],
    refill: int = 1,
    expected: np.ndarray | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    tf32: bool = False,
    advance: Callable[[int], None] = lambda ended: None,
) -> RunResults:
    """Train every run until its stopping rule or divergence ends it, or for all of its `steps`.

    - `specs(runs)`: the numbers that describe these runs, stacked; called when slots are free, by one thread for each
      device
    - `slots`: runs carried at once, on each device
    - `shared`: arrays that all runs read
    - `refill`: slots that are emptied and filled together
    - `expected`: about how long each run is; the longest begin first, so that none is left alone at the end
    - `advance(n)`: called when n more runs have ended

    All devices of the given kind (or of JAX's default) take runs from one queue. Slots that would not fit their
    memory are left out; where an allocation fails all the same, the runs go on in fewer slots, with a warning.
    """
    limits = np.asarray(steps, dtype=np.int64)
    order = np.arange(limits.size) if expected is None else np.argsort(-np.asarray(expected), kind="stable")
    refill = min(refill, slots)
    used = devices(device)[: max(1, limits.size // refill)]
    slots = min(slots, -(-limits.size // len(used))) if len(used) > 1 else slots
    queue = _Queue(kind, specs, limits, shared, refill, advance, deque(order.tolist()))
    if len(used) == 1:
        queue.work(slots, dtype, used[0], tf32)
    else:
        with ThreadPoolExecutor(len(used)) as threads:
            for done in [threads.submit(queue.work, slots, dtype, each, tf32) for each in used]:
                done.result()
    return RunResults(queue.results, limits, queue.executed, "; ".join(queue.summaries))


@dataclass
class _Queue:
    """The queue of runs, and the results of those that have ended; threads, one for each device, share it."""

    kind: RunKind
    specs: Callable[[list[int]], dict[str, np.ndarray]]
    limits: np.ndarray
    shared: Mapping[str, np.ndarray]
    refill: int
    advance: Callable[[int], None]
    waiting: deque[int]
    results: dict[str, np.ndarray] = field(default_factory=dict)
    executed: int = 0
    summaries: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)  # held where waiting, results or numbers change

    def work(self, slots: int, dtype: DTypeLike | None, device: jax.Device, tf32: bool) -> None:
        """Train runs on one device until none waits; with fewer slots if memory does not suffice."""
        with computing(dtype, tf32=tf32), jax.default_device(device):
            shared = jax.tree.map(jnp.asarray, self.shared)
            with self.lock:
                slots = self._fit_slots(shared, slots, device)
            while True:
                occupants = np.full(slots, -1)
                try:
                    return self._run_until_none_waits(shared, occupants)
                except jax.errors.JaxRuntimeError as error:
                    if "RESOURCE_EXHAUSTED" not in str(error) or slots == 1:
                        raise
                with self.lock:
                    self.waiting.extendleft(reversed(occupants[occupants >= 0].tolist()))
                slots = max(1, slots // 2)
                warnings.warn(f"{2 * slots} runs at once do not fit on {device}: going on with {slots}.", stacklevel=2)

    def _fit_slots(self, shared: Arrays, slots: int, device: jax.Device) -> int:
        """Return how many slots the device's memory has room for, at most `slots`; say so in the summaries. The caller
        holds the lock."""
        run = self.waiting[0] if self.waiting else 0
        specs = {**self.specs([run]), "steps": self.limits[[run]]}
        arrays = jax.tree.leaves(_slot_shapes(shared, specs, self.kind))
        bytes_each = COPIES_PER_SLOT * sum(leaf.size * leaf.dtype.itemsize for leaf in arrays)
        memory = device.memory_stats() or {}
        free = memory["bytes_limit"] - memory["bytes_in_use"] if "bytes_limit" in memory else available()
        fitting = int(np.clip(MEMORY_SHARE * free / bytes_each, 1, slots))
        self.summaries.append(
            f"{self.limits.size} runs, {fitting} at a time on {device}: "
            f"{fitting * bytes_each / GIBIBYTE:.2f} of {free / GIBIBYTE:.1f} GiB free"
        )
        LOG.info(self.summaries[-1])
        return fitting

    def _run_until_none_waits(self, shared: Arrays, occupants: np.ndarray) -> None:
        """Carry runs until none waits: fill free slots, step, read the slots of runs that have ended.

        `occupants` are the runs in the slots, -1 for a free one. It is kept up to date: where memory runs out, `work`
        reads there which runs have still to be trained.
        """
        held = None
        while True:
            held = self._fill_free_slots(shared, held, occupants)
            busy = int((occupants >= 0).sum())
            if not busy:
                return
            assert held is not None
            slot, state = held
            enough = occupants.size - busy + (min(self.refill, busy) if self.waiting else busy)
            ran, state = _step_slots(shared, slot, state, enough, kind=self.kind)
            held = slot, state
            ended = self._empty_ended_slots(shared, slot, state, occupants)
            with self.lock:
                self.executed += int(ran) * occupants.size
            self.advance(ended)

    def _fill_free_slots(
        self, shared: Arrays, held: tuple[Arrays, State] | None, occupants: np.ndarray
    ) -> tuple[Arrays, State] | None:
        """Put waiting runs into free slots, and into `occupants`; return the slots and their states.

        `held` are those before, which are donated; None before the first run.
        """
        while (free := np.flatnonzero(occupants < 0)[: self.refill]).size and (runs := self._take_waiting(free.size)):
            free = free[: len(runs)]
            occupants[free] = runs
            filled = runs + runs[-1:] * (self.refill - len(runs))  # the last one again, into no slot
            specs = {**self.specs(filled), "steps": self.limits[filled]}
            held = _empty_slots(shared, specs, occupants.size, self.kind) if held is None else held
            held = _fill_slots(shared, *held, self._pad_numbers(free, occupants.size), specs, kind=self.kind)
        return held

    def _empty_ended_slots(self, shared: Arrays, slot: Arrays, state: State, occupants: np.ndarray) -> int:
        """Keep the results of runs that have ended and take these out of `occupants`; return how many they are."""
        over = (np.asarray(state.code) != 0) | (np.asarray(state.step) >= self.limits[occupants])
        ended = np.flatnonzero(over & (occupants >= 0))
        for group in (ended[i : i + self.refill] for i in range(0, ended.size, self.refill)):
            results = _read_slots(shared, slot, state, self._pad_numbers(group, 0), kind=self.kind)
            self._keep_results(
                occupants[group], {name: np.asarray(value)[: group.size] for name, value in results.items()}
            )
            occupants[group] = -1
        return ended.size

    def _take_waiting(self, count: int) -> list[int]:
        """Take at most `count` runs from the queue."""
        with self.lock:
            return [self.waiting.popleft() for _ in range(min(count, len(self.waiting)))]

    def _pad_numbers(self, numbers: np.ndarray, filler: int) -> np.ndarray:
        """Pad numbers of slots with `filler` to the length `refill`, for which filling and reading are compiled."""
        return np.concatenate([numbers, np.full(self.refill - numbers.size, filler)])

    def _keep_results(self, runs: np.ndarray, results: dict[str, np.ndarray]) -> None:
        """Keep the results of runs that have ended."""
        with self.lock:
            for name, value in results.items():
                if name not in self.results:
                    self.results[name] = np.zeros((self.limits.size, *value.shape[1:]), value.dtype)
                self.results[name][runs] = value


def _draw_run(shared: Arrays, spec: Arrays, *, kind: RunKind) -> tuple[Arrays, State]:
    """Return what the slot of a new run keeps, its limits included, and the state of the run before its first step."""
    slot, params = kind.draw(shared, spec)
    objective, _, _ = kind.bind(shared, slot)
    max_loss = loop.divergence_threshold(objective, objective.at(params)[0])
    slot = {**slot, "max_loss": max_loss, "steps": spec["steps"]}
    return slot, loop.initial_state(params, plan=kind.plan)


def _slot_shapes(shared: Arrays, specs: Arrays, kind: RunKind) -> tuple[Arrays, State]:
    """Return shapes and number types of the slots and states of these runs, without computing any."""
    return jax.eval_shape(jax.vmap(partial(_draw_run, kind=kind), in_axes=(None, 0)), shared, specs)


def _empty_slots(shared: Arrays, specs: Arrays, slots: int, kind: RunKind) -> tuple[Arrays, State]:
    """Return empty slots: as wide as a run needs, and at their end, so that they stand still."""
    shapes = _slot_shapes(shared, specs, kind)
    slot, state = jax.tree.map(lambda leaf: jnp.zeros((slots, *leaf.shape[1:]), leaf.dtype), shapes)
    return slot, replace(state, code=state.code + loop.DIVERGED_CODE)


@partial(_jit_once_per_run, donate_argnames=("slot", "state"))
def _fill_slots(
    shared: Arrays, slot: Arrays, state: State, numbers: Array, specs: Arrays, *, kind: RunKind
) -> tuple[Arrays, State]:
    """Put new runs into the slots of these numbers; one beyond the last slot, which only pads the batch, is dropped.

    `slot` and `state` are donated: only what is returned may be used afterwards.
    """
    fresh = jax.vmap(partial(_draw_run, kind=kind), in_axes=(None, 0))(shared, specs)
    return jax.tree.map(lambda old, new: old.at[numbers].set(new, mode="drop"), (slot, state), fresh)


@partial(jax.jit, static_argnames=("kind",), donate_argnames=("state",), compiler_options=UNTUNED)
def _step_slots(shared: Arrays, slot: Arrays, state: State, enough: Array, *, kind: RunKind) -> tuple[Array, State]:
    """Step all slots until `enough` of them are at their end, at most `STEPS_PER_CALL` times; return the number of
    steps, and the states afterwards. `state` is donated: only what is returned may be used afterwards."""

    def step_slot(slot: Arrays, state: State) -> State:
        constants = loop.RunConstants(*kind.bind(shared, slot), slot["max_loss"])
        return loop.take_step(constants, state, slot["steps"], plan=kind.plan)

    def goes_on(carry: tuple[Array, State]) -> Array:
        over = (carry[1].code != 0) | (carry[1].step >= slot["steps"])
        return (carry[0] < STEPS_PER_CALL) & (jnp.sum(over) < enough)

    step = jax.vmap(step_slot)
    return jax.lax.while_loop(goes_on, lambda carry: (carry[0] + 1, step(slot, carry[1])), (jnp.asarray(0), state))


@_jit_once_per_run
def _read_slots(shared: Arrays, slot: Arrays, state: State, numbers: Array, *, kind: RunKind) -> Arrays:
    """Return the results of the runs in the slots of these numbers, which have ended."""

    def read_slot(slot: Arrays, state: State) -> Arrays:
        constants = loop.RunConstants(*kind.bind(shared, slot), slot["max_loss"])
        state = loop.judge_last(constants, state, plan=kind.plan)
        return {"step": state.step, "code": state.code, **kind.result(state)}

    return jax.vmap(read_slot)(*jax.tree.map(lambda leaf: leaf[numbers], (slot, state)))
