"""Whole networks under gradient flow until their training loss is flat, and the minimum test error on the way.

The flow of all weights by RK4 in NumPy, which shares no code with what is predicted. The weights of all runs are one
array (run, hidden, input + output): the first layer, and beside it the second one transposed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

STEP = 0.8  # times the largest rate of the flow
RISEN = 1.5  # times the minimum test error: a run is over
LATE, RISEN_LATE = 3, 1.05  # ... and so much at so many times the best time
FLAT = 1e-4  # of the train error, while the time grows by a fifth: the run has arrived
LEARNED = 1e-6  # of the target's power: nothing is left to learn
FINER, LEVELS = 4, 2  # the steps around the minimum error are so much shorter, twice
MOST_STEPS = 5000


class LeastError(NamedTuple):
    """Of each network (run,): twice the losses, canonical times, and whether the run ended by itself."""

    test: np.ndarray
    time: np.ndarray
    train: np.ndarray
    stable_rank: np.ndarray
    ended: np.ndarray


def least_errors(
    first: np.ndarray,
    second: np.ndarray,
    target: np.ndarray,
    truth: np.ndarray,
    speeds: np.ndarray,
    horizon: float | np.ndarray,
) -> LeastError:
    """Train networks from their starts, (run, hidden, input) and (run, output, hidden), on one target.

    `speeds` bound the rates of the flow, (run,); no run is called flat or late before `horizon`, one for all or (run,).
    """
    steps = STEP / speeds
    start = np.concatenate([first, np.swapaxes(second, 1, 2)], axis=2)
    before, time, ended = _coarse_runs(start, target, truth, steps, np.broadcast_to(horizon, steps.shape))
    for level in range(1, LEVELS + 1):  # from the state before the least one, over two steps, by shorter ones
        by = steps / FINER**level
        begun = time
        state = before
        least = state
        products = _products(state, target)
        best = _squared_distances(products, truth)
        for number in range(2 * FINER):
            moved = _runge_kutta_step(state, products, target, by)
            products = _products(moved, target)
            test = _squared_distances(products, truth)
            better = test < best
            time = np.where(better, begun + number * by, time)
            best = np.minimum(test, best)
            before = np.where(better[:, None, None], state, before)
            least = np.where(better[:, None, None], moved, least)
            state = moved
    products = _products(least, target)
    largest = np.linalg.norm(products, 2, axis=(1, 2))
    return LeastError(
        test=_squared_distances(products, truth),
        time=time + by,
        train=_squared_distances(products, target),
        stable_rank=(products**2).sum(axis=(1, 2)) / np.maximum(largest, 1e-300) ** 2,
        ended=ended,
    )


def _coarse_runs(
    start: np.ndarray, target: np.ndarray, truth: np.ndarray, steps: np.ndarray, horizon: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights of each run one step before its minimum test error, their time, and whether the run ended."""
    products = _products(start, target)
    start_train = _squared_distances(products, target)
    power = (target**2).sum()
    largest = np.linalg.norm(target, 2)
    # of each run: its minimum test error, the step of that, and the weights one step before
    best = _squared_distances(products, truth)
    at = np.zeros(len(start))
    before = start.copy()
    # the train error at the last look for flatness, and the step of that
    mark = start_train.copy()
    since = np.zeros(len(start))
    # the runs that are not over, and their weights
    running = np.arange(len(start))
    state = start
    step = 0
    while running.size and step < MOST_STEPS:
        step += 1
        moved = _runge_kutta_step(state, products, target, steps[running])
        products = _products(moved, target)
        test = _squared_distances(products, truth)
        train = _squared_distances(products, target)
        better = test < best[running]
        improved = running[better]
        best[improved] = test[better]
        at[improved] = step
        before[improved] = state[better]
        due = step >= np.maximum(1.2 * since[running], since[running] + 10)
        falls = mark[running] - train >= FLAT * train
        learning = (train >= start_train[running] - largest**2 / 2) | (step <= 1.3 * at[running] + 10)
        late = (step > LATE * at[running] + 50) & (test > RISEN_LATE * best[running])
        over = ((due & ~falls & ~learning) | late) & (step * steps[running] > horizon[running])
        over |= (test > RISEN * best[running]) | (train < LEARNED * power)
        mark[running[due]] = train[due]
        since[running[due]] = step
        if over.any():
            running, moved, products = running[~over], moved[~over], products[~over]
        state = moved
    ended = np.ones(len(start), dtype=bool)
    ended[running] = False
    return before, np.maximum(at - 1, 0) * steps, ended


def _products(weights: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the product of both layers of each run, (run, output, input)."""
    inputs = target.shape[1]
    return np.swapaxes(weights[..., inputs:], 1, 2) @ weights[..., :inputs]


def _squared_distances(products: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Return the squared distance of each product from the goal: twice a loss, (run,)."""
    return ((products - goal) ** 2).sum(axis=(1, 2))


def _runge_kutta_step(weights: np.ndarray, products: np.ndarray, target: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return the weights one step of the classical fourth-order method later, a step of its own for each run."""
    by = by[:, None, None]
    slopes = [_velocity(weights, products, target)]
    for share in (0.5, 0.5, 1.0):
        moved = weights + share * by * slopes[-1]
        slopes.append(_velocity(moved, _products(moved, target), target))
    one, two, three, four = slopes
    return weights + by / 6 * (one + 2 * (two + three) + four)


def _velocity(weights: np.ndarray, products: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the velocity of both layers under gradient flow on |target - product|^2/2."""
    inputs = target.shape[1]
    rest = target - products
    velocity = np.empty_like(weights)
    np.matmul(weights[..., inputs:], rest, out=velocity[..., :inputs])
    np.matmul(weights[..., :inputs], np.swapaxes(rest, 1, 2), out=velocity[..., inputs:])
    return velocity
