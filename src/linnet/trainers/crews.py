"""Descent beside its prediction on a CPU: every core carries one run at a time, by BLAS products in arrays of its own.

Two cores share one product of a few hundred rows badly, and compiled code makes nothing of it that BLAS does not do
faster. So there is one crew to a core, each with one thread of BLAS, and they take runs from one queue; NumPy lets go
of Python's lock inside its products. A run is computed alone, so its bits depend on nothing but itself. Starts come
from the caller; rules, record and divergence are those of the compiled loop, given numbers in place of arrays.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from linnet.inits.structured import balanced
from linnet.memory import GIBIBYTE, available
from linnet.precision import computing, cores
from linnet.trainers import loop
from linnet.trainers.lanes import PoolResult

LOG = logging.getLogger("linnet.crews")
SHORT = 3_000_000  # operations of a step; where it has fewer, crews spend their time waiting for Python's lock


@dataclass(frozen=True)
class Start:
    """What a run begins with: a network in reduced coordinates, what it is to learn, its step size, the threshold g."""

    first: np.ndarray
    second: np.ndarray
    target: np.ndarray
    truth: np.ndarray
    rate: float
    threshold: float


def descend(
    start: Callable[[int], Start],
    widths: Sequence[int],
    *,
    in_dim: int,
    out_dim: int,
    plan: loop.Plan,
    steps: int,
    sequential: bool,
    products: bool,
    dtype: np.dtype,
    place: Any,
    slots: int | None = None,
    expected: np.ndarray | None = None,
    advance: Callable[[int], None] = lambda ended: None,
) -> PoolResult:
    """Takes every run to its end: its last step, or where the rule or divergence ends it.

    - `start(run)`: asked for when a crew is free, by one crew at a time
    - `widths`: of the networks, which set the memory they are to have
    - `plan`: the stopping rule and the record, one of `paired_descent`
    - `sequential`: whether the second layer sees the new first one
    - `products`: whether the best products are kept
    - `place`: the JAX device of the processor
    - `slots`: runs carried at once; by default one by each core
    - `expected`: about how long each run is; the longest begin first, so that none is left alone at the end
    - `advance(1)`: called when a run has ended

    Crews for which there is no memory are left out; where an allocation fails all the same, a crew leaves its run to
    the others, with a warning.
    """
    narrow, total = min(in_dim, out_dim), len(widths)
    hidden = np.minimum(np.array(widths, dtype=float), in_dim + out_dim) + narrow
    long = 6 * in_dim * out_dim * hidden.max(initial=0) >= SHORT
    most = min(slots or cores(), total) if long else 1
    bytes_each = 8 * (3 * (in_dim + out_dim) * hidden.max(initial=0) + 12 * in_dim * out_dim)
    free = available()
    fitting = int(np.clip(0.9 * free / bytes_each, 1, max(1, most)))
    told = (
        f"{total} runs, {fitting} at a time on {place}: "
        f"{fitting * bytes_each / GIBIBYTE:.2f} of {free / GIBIBYTE:.1f} GiB free"
    )
    LOG.info(told)
    order = np.argsort(-(np.ones(total) if expected is None else np.asarray(expected)) * hidden, kind="stable")
    crews = _Crews(start, plan, steps, sequential, products, dtype, place, advance, deque(order.tolist()), fitting)
    with ONE_BLAS_THREAD:
        crews.descend()
    results = {name: np.array([crews.ends[run][name] for run in range(total)]) for name in crews.ends[0]}
    needed = int((results["step"] + (results["code"] > 0)).sum())
    return PoolResult(results, crews.executed, needed, told)


@dataclass
class _Crews:
    """The runs that wait, what came of the others, and how many steps were taken for them."""

    start: Callable[[int], Start]
    plan: loop.Plan
    steps: int
    sequential: bool
    products: bool
    dtype: np.dtype
    place: Any
    advance: Callable[[int], None]
    waiting: deque[int]
    at_work: int
    executed: int = 0
    given_up: bool = False
    ends: dict[int, dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def descend(self) -> None:
        if self.at_work == 1:
            return self._work()
        with ThreadPoolExecutor(self.at_work) as threads:
            try:
                for done in [threads.submit(self._work) for _ in range(self.at_work)]:
                    done.result()
            except BaseException:  # Ctrl-C is heard here, and the crews are elsewhere
                self.given_up = True
                raise

    def _work(self) -> None:
        """Carries one run after another until none waits."""
        # Divergence is found by looking at the loss, not by NumPy's warnings on the way there.
        with computing(self.dtype), jax.default_device(self.place), np.errstate(all="ignore"):
            while (run := self._next()) is not None:
                try:
                    self._carry(run)
                except MemoryError:
                    with self.lock:
                        if self.at_work == 1:
                            raise
                        self.at_work -= 1
                        self.waiting.appendleft(run)
                    warnings.warn(f"out of memory: going on with {self.at_work} runs at a time.", stacklevel=2)
                    return
                except BaseException:
                    self.given_up = True
                    raise

    def _next(self) -> int | None:
        with self.lock:
            return self.waiting.popleft() if self.waiting and not self.given_up else None

    def _carry(self, run: int) -> None:
        with self.lock:  # the first start may be compiled, which one crew does for all
            start = self.start(run)
        beside, test = _Beside(start, self.dtype), _FromTruth(start.truth)
        state, executed = loop.started(beside.params, plan=self.plan), 0
        highest = loop.ceiling(beside, beside.params)
        while not self.given_up:
            state, _ = loop.judged(beside, test, highest, state, plan=self.plan)
            if state["step"] >= self.steps:
                break
            executed += 1
            if state["code"]:
                break
            beside.move(state["record"]["best_product"], sequential=self.sequential)
            state["step"] += 1
        end = _noted(state, self.products)
        with self.lock:
            self.ends[run] = end
            self.executed += executed
        self.advance(1)


class _Network:
    """Two layers, the first one transposed, with room for all that a step computes on the way.

    Products are taken by `np.dot`: for outer products, those of one unit, `np.matmul` takes eight times as long.
    """

    def __init__(self, first: np.ndarray, second: np.ndarray, dtype: np.dtype) -> None:
        self.first, self.second = np.array(first.T, dtype, order="C"), np.array(second, dtype, order="C")
        self.first_move, self.second_move = np.empty_like(self.first), np.empty_like(self.second)
        self.product, self.residual = (np.empty((second.shape[0], first.shape[1]), dtype) for _ in range(2))

    def look(self, target: np.ndarray) -> None:
        np.dot(self.second, self.first.T, out=self.product)
        np.subtract(target, self.product, out=self.residual)

    def move(self, rate: np.floating, sequential: bool) -> None:
        push = np.multiply(self.residual, rate, out=self.residual)
        np.dot(push.T, self.second, out=self.first_move)
        if sequential:
            self.first += self.first_move
        np.dot(push, self.first, out=self.second_move)
        if not sequential:
            self.first += self.first_move
        self.second += self.second_move


class _Beside:
    """A run: the network, the narrow one that predicts it, and |G - A|^2/2, as `loop.judged` asks for it."""

    def __init__(self, start: Start, dtype: np.dtype) -> None:
        self.target, self.rate = start.target.astype(dtype), dtype.type(start.rate)
        product = start.second @ start.first
        sign = 1 if product.shape[0] >= product.shape[1] else -1
        narrow = balanced(product, sign * 2 * start.threshold)
        self.network = _Network(start.first, start.second, dtype)
        self.narrow = _Network(narrow.first, narrow.second, dtype)
        self.gap, self.spare = np.empty_like(self.target), np.empty_like(self.target)
        self.params = {"first_transposed": self.network.first, "second": self.network.second}

    def at(self, params: dict[str, np.ndarray]) -> tuple[Any, tuple[np.ndarray, Any]]:
        self.network.look(self.target)
        self.narrow.look(self.target)
        np.subtract(self.network.product, self.narrow.product, out=self.gap)
        return 0.5 * _squares(self.network.residual), (self.network.product, _squares(self.gap))

    def size(self) -> Any:
        return 0.5 * _squares(self.target)

    def move(self, best: np.ndarray, *, sequential: bool) -> None:
        self.network.move(self.rate, sequential)
        self.narrow.move(self.rate, sequential=False)
        if best is self.network.product:  # it is kept, in place of the best one before
            self.network.product, self.spare = self.spare, self.network.product


class _FromTruth:
    """The test loss |A - T|^2/2, subtracted in float64: from a small start A moves by less than the rounding of T."""

    def __init__(self, truth: np.ndarray) -> None:
        self.truth, self.error = truth.astype(np.float64), np.empty(truth.shape)

    def at(self, params: dict[str, np.ndarray], seen: tuple[np.ndarray, Any]) -> Any:
        np.subtract(self.truth, seen[0], out=self.error)
        return 0.5 * np.vdot(self.error, self.error)


def _noted(state: loop.State, products: bool) -> dict[str, Any]:
    """What is kept of a run: its record, with the stable rank of the best product, and the product itself if asked."""
    record = dict(state["record"])
    product = record.pop("best_product").astype(np.float64)
    record["stable_rank"] = (product**2).sum() / np.linalg.norm(product, 2) ** 2
    return {"step": state["step"], "code": state["code"], **record, **({"best_product": product} if products else {})}


def _squares(matrix: np.ndarray) -> Any:
    """The sum of squares, row by row in the run's arithmetic and over the rows in float64."""
    return np.vecdot(matrix, matrix).sum(dtype=np.float64)


class _BlasThreads:
    """One thread of BLAS for each caller while anybody is inside, and afterwards what it was before."""

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limits: Any = None

    def __enter__(self) -> None:
        with self.lock:
            if not self.inside:
                from threadpoolctl import threadpool_limits  # not needed, nor installed, where a GPU trains

                self.limits = threadpool_limits(1, user_api="blas")
            self.inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if not self.inside:
                self.limits.restore_original_limits()


ONE_BLAS_THREAD = _BlasThreads()
