"""One run and its prediction on one core, by NumPy: BLAS products into arrays that are allocated once.

For products of a few hundred rows BLAS is faster than compiled code. Stopping rules, record and divergence are those of
the compiled loop, given numbers in place of arrays; the step is tested against the compiled one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linnet.inits.structured import balanced
from linnet.precision import computing
from linnet.trainers import _loop as loop
from linnet.trainers._states import Params, State


@dataclass(frozen=True)
class RunStart:
    """What a run begins with: a network in reduced coordinates, what it is to learn, its step size, the threshold g."""

    first: np.ndarray
    second: np.ndarray
    target: np.ndarray
    truth: np.ndarray
    rate: float
    threshold: float


@dataclass(frozen=True)
class RunSettings:
    """What all runs of a diagram have in common.

    - `plan`: the stopping rule and the record
    - `steps`: maximum number of steps
    - `sequential`: whether the second layer sees the new first one
    - `dtype`: of the run's arithmetic
    - `schedule`: what multiplies the learning rate at each step, or None
    """

    plan: loop.Plan
    steps: int
    sequential: bool
    dtype: np.dtype
    schedule: np.ndarray | None = None


def train(
    start: RunStart, settings: RunSettings, *, cancelled: Callable[[], bool] = lambda: False
) -> tuple[dict[str, Any], int]:
    """Train a run to its end, unless it is cancelled: what is kept of it, and how many steps were executed."""
    # Divergence is found by looking at the loss, not by NumPy's warnings on the way there.
    with computing(settings.dtype), np.errstate(all="ignore"):
        pair, test = _Pair(start, settings.dtype), _TruthLoss(start.truth)
        state, executed = loop.started(pair.params, plan=settings.plan), 0
        highest = loop.ceiling(pair, pair.params)
        schedule = None if settings.schedule is None else settings.schedule.astype(settings.dtype)
        while not cancelled():
            state, _ = loop.judged(pair, test, highest, state, plan=settings.plan)
            if state.step >= settings.steps:
                break
            executed += 1
            if state.code:
                break
            rate = pair.rate if schedule is None else pair.rate * schedule[state.step]
            pair.move(rate, state.record["best_product"], sequential=settings.sequential)
            state.step = state.step + 1
        return _result(state), executed


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


class _Pair:
    """A run: the network, the narrow one that predicts it, and |G - A|^2/2, as `loop.judged` asks for it."""

    def __init__(self, start: RunStart, dtype: np.dtype) -> None:
        self.target, self.rate = start.target.astype(dtype), dtype.type(start.rate)
        product = start.second @ start.first
        sign = 1 if product.shape[0] >= product.shape[1] else -1
        narrow = balanced(product, sign * 2 * start.threshold)
        self.network = _Network(start.first, start.second, dtype)
        self.narrow = _Network(narrow.first, narrow.second, dtype)
        self.gap, self.spare = np.empty_like(self.target), np.empty_like(self.target)
        self.params: Any = {"first_transposed": self.network.first, "second": self.network.second}

    def at(self, params: Params) -> tuple[Any, tuple[np.ndarray, Any]]:
        self.network.look(self.target)
        self.narrow.look(self.target)
        np.subtract(self.network.product, self.narrow.product, out=self.gap)
        return 0.5 * _squares(self.network.residual), (self.network.product, _squares(self.gap))

    def size(self) -> Any:
        return 0.5 * _squares(self.target)

    def move(self, rate: np.floating, best: np.ndarray, *, sequential: bool) -> None:
        self.network.move(rate, sequential)
        self.narrow.move(rate, sequential=False)
        if best is self.network.product:  # it is kept, in place of the best one before
            self.network.product, self.spare = self.spare, self.network.product


class _TruthLoss:
    """The test loss |A - T|^2/2, subtracted in float64: from a small start A moves by less than the rounding of T."""

    def __init__(self, truth: np.ndarray) -> None:
        self.truth, self.error = truth.astype(np.float64), np.empty(truth.shape)

    def at(self, params: Params, seen: tuple[np.ndarray, Any]) -> Any:
        np.subtract(self.truth, seen[0], out=self.error)
        return 0.5 * np.vdot(self.error, self.error)


def _result(state: State) -> dict[str, Any]:
    """What is kept of a run: its record, with the stable rank of the best product in place of the product."""
    record = dict(state.record)
    product = record.pop("best_product").astype(np.float64)
    record["stable_rank"] = (product**2).sum() / np.linalg.norm(product, 2) ** 2
    return {"step": state.step, "code": state.code, **record}


def _squares(matrix: np.ndarray) -> Any:
    """The sum of squares, row by row in the run's arithmetic and over the rows in float64."""
    return np.vecdot(matrix, matrix).sum(dtype=np.float64)
