"""One run and its prediction on one core, by NumPy: BLAS products into arrays that are allocated once.

For products of a few hundred rows BLAS is faster than compiled code. Stopping rules, record and divergence are the same
as in the compiled loop, given numbers in place of arrays; the step is tested against the compiled one (`_paired_step`):
change both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linnet.inits.balanced_weights import balanced
from linnet.precision import computing
from linnet.trainers import _loop as loop
from linnet.trainers._states import Params, State
from linnet.trainers.diagrams._diagram import DiagramSettings, RunStart


def train(
    start: RunStart, settings: DiagramSettings, *, canceled: Callable[[], bool] = lambda: False
) -> tuple[dict[str, Any], int]:
    """Train a run to its end, unless it is canceled; return what is kept of it (`_run_result`), and how many steps
    were executed.

    States are judged and steps are counted as by `take_step` and `judge_last` of the loop: change both.
    """
    # Divergence is found by looking at the loss, not by NumPy's warnings on the way there.
    with computing(settings.dtype), np.errstate(all="ignore"):
        pair, plan = _PairedRun(start, settings.dtype), settings.plan
        state, executed = loop.initial_state(pair.params, plan=plan), 0
        max_loss = loop.divergence_threshold(pair, pair.at(pair.params)[0])
        constants = loop.RunConstants(pair, _NumpyTruthLoss(start.truth), {}, max_loss)
        schedule = None if settings.schedule is None else settings.schedule.astype(settings.dtype)
        while not canceled():
            state, _ = loop.judge(constants, state, plan=plan)
            if state.step >= settings.steps:
                break
            executed += 1
            if state.code:
                break
            rate = pair.rate if schedule is None else pair.rate * schedule[state.step]
            pair.step_both(rate, state.record["best_product"], sequential=settings.update == "sequential")
            state.step = state.step + 1
        return _run_result(state), executed


class _Network:
    """Two layers, the first one transposed, with room for all that a step computes on the way.

    `evaluate` and `step` alternate: the first fills `product` and `residual`, the second consumes the residual.
    Products are taken by `np.dot`: for outer products, the products of one unit, `np.matmul` takes eight times as long.
    """

    def __init__(self, first: np.ndarray, second: np.ndarray, dtype: np.dtype) -> None:
        self.first, self.second = np.array(first.T, dtype, order="C"), np.array(second, dtype, order="C")
        self.first_move, self.second_move = np.empty_like(self.first), np.empty_like(self.second)
        self.product, self.residual = (np.empty((second.shape[0], first.shape[1]), dtype) for _ in range(2))

    def evaluate(self, target: np.ndarray) -> None:
        """Compute the product and the residual, target minus product, in place."""
        np.dot(self.second, self.first.T, out=self.product)
        np.subtract(target, self.product, out=self.residual)

    def step(self, rate: np.floating, sequential: bool) -> None:
        """Step both layers in place from the residual of `evaluate`, which is overwritten; `sequential` moves the
        second along the new first."""
        scaled_residual = np.multiply(self.residual, rate, out=self.residual)
        np.dot(scaled_residual.T, self.second, out=self.first_move)
        if sequential:
            self.first += self.first_move
        np.dot(scaled_residual, self.first, out=self.second_move)
        if not sequential:
            self.first += self.first_move
        self.second += self.second_move


class _PairedRun:
    """A run: the network, the narrow one that predicts it, and |G - A|^2/2, as `loop.judge` asks for it.

    `params` are views of the layers, for the record's shapes; the state of the run is in the networks, which `at` reads
    whatever parameters it is given.
    """

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
        """Return the loss, with the product and the squared distance to the narrow network's.

        The product is an array that the next call overwrites, unless `step_both` is told that it is the best.
        """
        self.network.evaluate(self.target)
        self.narrow.evaluate(self.target)
        np.subtract(self.network.product, self.narrow.product, out=self.gap)
        return 0.5 * _sum_of_squares(self.network.residual), (self.network.product, _sum_of_squares(self.gap))

    def loss_scale(self) -> Any:
        """Return the loss of a network that is zero."""
        return 0.5 * _sum_of_squares(self.target)

    def step_both(self, rate: np.floating, best_product: np.ndarray, *, sequential: bool) -> None:
        """Step both networks from the residuals of the last `at`, which are overwritten.

        `best_product` is the array that `BestRecord` holds. Where that is the present product it must not be
        overwritten: the next one goes into the array of the best one before, which is not used any more.
        """
        self.network.step(rate, sequential)
        self.narrow.step(rate, sequential=False)
        if best_product is self.network.product:
            self.network.product, self.spare = self.spare, self.network.product


class _NumpyTruthLoss:
    """The test loss |A - T|^2/2, subtracted in float64: from a small initialization A moves by less than the rounding
    of T."""

    def __init__(self, truth: np.ndarray) -> None:
        self.truth, self.error = truth.astype(np.float64), np.empty(truth.shape)

    def at(self, params: Params, seen: tuple[np.ndarray, Any]) -> Any:
        """Return the test loss at the product that was seen."""
        np.subtract(self.truth, seen[0], out=self.error)
        return 0.5 * np.vdot(self.error, self.error)


def _run_result(state: State) -> dict[str, Any]:
    """Return what is kept of a run: step, code and record, with the stable rank of the best product in place of the
    product, as `_paired_step.run_result` does for compiled runs."""
    record = dict(state.record)
    product = record.pop("best_product").astype(np.float64)
    record["stable_rank"] = (product**2).sum() / np.linalg.norm(product, 2) ** 2
    return {"step": state.step, "code": state.code, **record}


def _sum_of_squares(matrix: np.ndarray) -> Any:
    """Return the sum of squares in float64; in float32 only each row, as the squares of many would lose digits."""
    if matrix.dtype == np.float64:
        return np.vdot(matrix, matrix)
    return np.vecdot(matrix, matrix).sum(dtype=np.float64)
