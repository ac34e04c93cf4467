"""Runs that take each other's places: a batch of one size on every device, whose lanes are filled again as runs end.

A compiled batch of one size gives a run the same bits whatever runs beside it, while batches of different sizes need
not. So the size stays, a run that ends leaves, and the next one takes its lane: little is computed that nobody needs.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import DTypeLike

from linnet._memory import GIBIBYTE, available
from linnet.precision import computing, devices
from linnet.trainers import _loop as loop
from linnet.trainers._compiling import QUICKLY
from linnet.trainers._states import Array, Arrays, Objective, State, Tested

# On GPUs XLA times dozens of kernels for every product before it takes one: half a minute at the start of a process for
# a fifth of the steps' time, and bits that differ from process to process. Other devices do not read these options.
UNTUNED: dict[str, str | bool] = {"xla_gpu_autotune_level": "0", "xla_gpu_enable_triton_gemm": False, **QUICKLY}
LOG = logging.getLogger("linnet.lanes")
# Without optimization a CPU's starts and ends compile in half the time, and take some 100 ns longer for every number
# that a run moves: a few small runs never earn the other half back.
UNOPTIMIZED: dict[str, str | bool] = {**UNTUNED, "xla_backend_optimization_level": "0"}
FEW = 10_000_000  # numbers moved by all runs together, worth a second
SPARE = 3  # a lane's arrays are there twice while it steps, beside what the step computes on the way
PAUSE = 512  # steps after which Python has a word, for Ctrl-C, where no run has ended


@dataclass(frozen=True)
class Kind:
    """What the runs of a pool have in common: functions of single runs, written with jax.numpy and compiled as a batch.

    - `draw(shared, order)`: what stays fixed in the lane, and the starting `params`, from the numbers that describe
      the run
    - `bind(shared, lane)`: objective, test loss and hyper-parameters, as in `loop`
    - `result(state)`: what is kept of a run that has ended, besides its "step" and "code"
    """

    plan: loop.Plan
    draw: Callable[[Arrays, Arrays], tuple[Arrays, Arrays]]
    bind: Callable[[Arrays, Arrays], tuple[Objective, Tested | None, Arrays]]
    result: Callable[[State], Arrays]


@dataclass(frozen=True)
class PoolResult:
    """Results of all runs, runs first; steps `executed` on all lanes beside those `needed`; the `plan` in words."""

    results: dict[str, np.ndarray]
    executed: int
    needed: int
    plan: str


def descend(
    kind: Kind,
    orders: Callable[[list[int]], dict[str, np.ndarray]],
    steps: Sequence[int] | np.ndarray,
    *,
    lanes: int,
    shared: Mapping[str, np.ndarray],
    refill: int = 1,
    expected: np.ndarray | None = None,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    tf32: bool = False,
    advance: Callable[[int], None] = lambda ended: None,
) -> PoolResult:
    """Takes every run to its end: at most its `steps`, or where the rule or divergence ends it.

    - `orders(runs)`: the numbers that describe these runs, stacked; asked for when lanes are free
    - `lanes`: runs carried at once, on each device
    - `shared`: arrays that all runs read
    - `refill`: lanes that are emptied and filled together
    - `expected`: about how long each run is; the longest begin first, so that none is left alone at the end
    - `advance(n)`: told of every n runs that have ended

    All devices of the kind asked for (or of JAX's default) take runs from one queue. Lanes that would not fit their
    memory are left out; where an allocation fails all the same, the runs go on in fewer lanes, with a warning.
    """
    limits = np.asarray(steps, dtype=np.int64)
    order = np.arange(limits.size) if expected is None else np.argsort(-np.asarray(expected), kind="stable")
    refill = min(refill, lanes)
    places = devices(device)[: max(1, limits.size // refill)]
    lanes = min(lanes, -(-limits.size // len(places))) if len(places) > 1 else lanes
    pool = _Pool(kind, orders, limits, shared, refill, advance, deque(order.tolist()))
    if len(places) == 1:
        pool.work(lanes, dtype, places[0], tf32)
    else:
        with ThreadPoolExecutor(len(places)) as threads:
            for done in [threads.submit(pool.work, lanes, dtype, place, tf32) for place in places]:
                done.result()
    needed = int((pool.results["step"] + ((pool.results["code"] > 0) & (pool.results["step"] < limits))).sum())
    return PoolResult(pool.results, pool.executed, needed, "; ".join(pool.plans.values()))


class _Pool:
    """The queue of runs, and what came of them."""

    def __init__(
        self,
        kind: Kind,
        orders: Callable[[list[int]], dict[str, np.ndarray]],
        limits: np.ndarray,
        shared: Mapping[str, np.ndarray],
        refill: int,
        advance: Callable[[int], None],
        waiting: deque[int],
    ) -> None:
        self.kind, self.orders, self.limits, self.shared = kind, orders, limits, shared
        self.refill, self.advance, self.waiting = refill, advance, waiting
        self.results: dict[str, np.ndarray] = {}
        self.executed = 0
        self.few = False
        self.plans: dict[Any, str] = {}
        self.lock = threading.Lock()

    def work(self, lanes: int, dtype: DTypeLike | None, place: Any, tf32: bool) -> None:
        """Carries runs on one device until none waits; with fewer lanes where they turn out not to fit."""
        with computing(dtype, tf32=tf32), jax.default_device(place):
            shared = jax.tree.map(jnp.asarray, self.shared)
            with self.lock:
                lanes = self._planned(shared, lanes, place)
            while True:
                occupants = np.full(lanes, -1)
                try:
                    return self._carry(shared, occupants)
                except jax.errors.JaxRuntimeError as error:
                    if "RESOURCE_EXHAUSTED" not in str(error) or lanes == 1:
                        raise
                with self.lock:
                    self.waiting.extendleft(reversed(occupants[occupants >= 0].tolist()))
                lanes = max(1, lanes // 2)
                warnings.warn(f"{2 * lanes} runs at once do not fit on {place}: going on with {lanes}.", stacklevel=2)

    def _planned(self, shared: Arrays, lanes: int, place: Any) -> int:
        """As many lanes as there is memory for, at most `lanes`; the plan is told in one line."""
        run = self.waiting[0] if self.waiting else 0
        orders = {**self.orders([run]), "steps": self.limits[[run]]}
        arrays = jax.tree.leaves(_shapes(shared, orders, self.kind))
        bytes_each = SPARE * sum(leaf.size * leaf.dtype.itemsize for leaf in arrays)
        self.few = place.platform == "cpu" and self.limits.size * sum(leaf.size for leaf in arrays) < FEW
        told = place.memory_stats() or {}
        free = told["bytes_limit"] - told["bytes_in_use"] if "bytes_limit" in told else available()
        fitting = int(np.clip(0.9 * free / bytes_each, 1, lanes))
        self.plans[place] = (
            f"{self.limits.size} runs, {fitting} at a time on {place}: "
            f"{fitting * bytes_each / GIBIBYTE:.2f} of {free / GIBIBYTE:.1f} GiB free"
        )
        LOG.info(self.plans[place])
        return fitting

    def _carry(self, shared: Arrays, occupants: np.ndarray) -> None:
        kind, held = self.kind, None
        fill, take = (_filled_few, _taken_few) if self.few else (_filled, _taken)
        limits = np.zeros(occupants.size, dtype=np.int64)
        while True:
            while (free := np.flatnonzero(occupants < 0)[: self.refill]).size and (runs := self._next(free.size)):
                free = free[: len(runs)]
                occupants[free], limits[free] = runs, self.limits[runs]
                filled = runs + runs[-1:] * (self.refill - len(runs))
                orders = {**self.orders(filled), "steps": self.limits[filled]}
                held = _empty(shared, orders, occupants.size, kind) if held is None else held
                held = fill(shared, *held, self._padded(free, occupants.size), orders, kind=kind)
            busy = int((occupants >= 0).sum())
            if not busy:
                return
            assert held is not None
            lane, state = held
            enough = occupants.size - busy + (min(self.refill, busy) if self.waiting else busy)
            ran, state = _advance(shared, lane, state, enough, kind=kind)
            held = lane, state
            over = (np.asarray(state.code) != 0) | (np.asarray(state.step) >= limits)
            ended = np.flatnonzero(over & (occupants >= 0))
            for group in (ended[i : i + self.refill] for i in range(0, ended.size, self.refill)):
                found = take(shared, lane, state, self._padded(group, 0), kind=kind)
                self._keep(occupants[group], {name: np.asarray(value)[: group.size] for name, value in found.items()})
                occupants[group] = -1
            with self.lock:
                self.executed += int(ran) * occupants.size
            self.advance(ended.size)

    def _next(self, most: int) -> list[int]:
        with self.lock:
            return [self.waiting.popleft() for _ in range(min(most, len(self.waiting)))]

    def _padded(self, places: np.ndarray, filler: int) -> np.ndarray:
        return np.concatenate([places, np.full(self.refill - places.size, filler)])

    def _keep(self, runs: np.ndarray, found: dict[str, np.ndarray]) -> None:
        with self.lock:
            for name, value in found.items():
                if name not in self.results:
                    self.results[name] = np.zeros((self.limits.size, *value.shape[1:]), value.dtype)
                self.results[name][runs] = value


def _drawn(shared: Arrays, order: Arrays, *, kind: Kind) -> tuple[Arrays, State]:
    lane, params = kind.draw(shared, order)
    objective, _, _ = kind.bind(shared, lane)
    lane = {**lane, "ceiling": loop.ceiling(objective, params), "steps": order["steps"]}
    return lane, loop.started(params, plan=kind.plan)


def _shapes(shared: Arrays, orders: Arrays, kind: Kind) -> tuple[Arrays, State]:
    return jax.eval_shape(jax.vmap(partial(_drawn, kind=kind), in_axes=(None, 0)), shared, orders)


def _empty(shared: Arrays, orders: Arrays, lanes: int, kind: Kind) -> tuple[Arrays, State]:
    """Lanes with nobody in them: as wide as a run needs, and at their end."""
    shapes = _shapes(shared, orders, kind)
    lane, state = jax.tree.map(lambda leaf: jnp.zeros((lanes, *leaf.shape[1:]), leaf.dtype), shapes)
    return lane, replace(state, code=state.code + loop.DIVERGED)


def _fill(
    shared: Arrays, lane: Arrays, state: State, places: Array, orders: Arrays, *, kind: Kind
) -> tuple[Arrays, State]:
    """New runs in these places; a place beyond the last lane is for a run that is there only to fill the batch."""
    fresh = jax.vmap(partial(_drawn, kind=kind), in_axes=(None, 0))(shared, orders)
    return jax.tree.map(lambda old, new: old.at[places].set(new, mode="drop"), (lane, state), fresh)


_filled, _filled_few = (
    jax.jit(_fill, static_argnames=("kind",), donate_argnames=("lane", "state"), compiler_options=options)
    for options in (UNTUNED, UNOPTIMIZED)
)


@partial(jax.jit, static_argnames=("kind",), donate_argnames=("state",), compiler_options=UNTUNED)
def _advance(shared: Arrays, lane: Arrays, state: State, enough: Array, *, kind: Kind) -> tuple[Array, State]:
    """Steps of all lanes until `enough` of them are at their end; how many, and the lanes afterwards."""

    def one(lane: Arrays, state: State) -> State:
        objective, test, hyper = kind.bind(shared, lane)
        return loop.stepped(objective, test, hyper, lane["ceiling"], state, lane["steps"], plan=kind.plan)

    def more(carry: tuple[Array, State]) -> Array:
        over = (carry[1].code != 0) | (carry[1].step >= lane["steps"])
        return (carry[0] < PAUSE) & (jnp.sum(over) < enough)

    step = jax.vmap(one)
    return jax.lax.while_loop(more, lambda carry: (carry[0] + 1, step(lane, carry[1])), (jnp.asarray(0), state))


def _take(shared: Arrays, lane: Arrays, state: State, places: Array, *, kind: Kind) -> Arrays:
    """What is kept of the runs in these places, which have ended."""

    def one(lane: Arrays, state: State) -> Arrays:
        objective, test, _ = kind.bind(shared, lane)
        state = loop.closed(objective, test, lane["ceiling"], state, plan=kind.plan)
        return {"step": state.step, "code": state.code, **kind.result(state)}

    return jax.vmap(one)(*jax.tree.map(lambda leaf: leaf[places], (lane, state)))


_taken, _taken_few = (
    jax.jit(_take, static_argnames=("kind",), compiler_options=options) for options in (UNTUNED, UNOPTIMIZED)
)
