"""Whole networks under gradient flow until their training loss is flat, and the least test error on the way.

The flow of all weights by RK4, which shares no code with what is predicted; of equal networks, a compiled batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from linnet.precision import computing

STEP = 0.8  # times the largest rate of the flow
RISEN = 1.5  # times the least test error: a run is over
LATE, RISEN_LATE = 3, 1.05  # ... and so much at so many times the best time
FLAT = 1e-4  # of the train error, while the time grows by a fifth: the run has arrived
LEARNED = 1e-6  # of the target's power: nothing is left to learn
FINER, LEVELS = 4, 2  # the steps around the least error are so much shorter, twice
MOST_STEPS = 5000

State = tuple[jax.Array, jax.Array]


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
    with computing():
        parts = _train_to_least_error(first, second, target, truth, STEP / speeds, horizon)
        test, time, product, train, ended = (np.asarray(part) for part in parts)
    largest = np.linalg.norm(product, 2, axis=(1, 2))
    return LeastError(test, time, train, (product**2).sum(axis=(1, 2)) / np.maximum(largest, 1e-300) ** 2, ended)


@jax.jit
def _train_to_least_error(first: Any, second: Any, target: Any, truth: Any, steps: Any, horizon: Any) -> Any:
    """Return the least test error of each network, its time, product and train error, and whether the run ended."""

    def errors(state: State) -> tuple[jax.Array, jax.Array]:
        """Return twice the test and the training loss of each network."""
        product = state[1] @ state[0]
        return ((product - truth) ** 2).sum((1, 2)), ((product - target) ** 2).sum((1, 2))

    def runge_kutta_step(state: State, by: Any) -> State:
        """Return the state one step of the classical fourth-order method later."""
        one = _negative_gradient(state, target)
        two = _negative_gradient(_step_along(state, one, by / 2), target)
        three = _negative_gradient(_step_along(state, two, by / 2), target)
        four = _negative_gradient(_step_along(state, three, by), target)
        mean = tuple((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(one, two, three, four, strict=True))
        return _step_along(state, mean, by)

    def coarse_step(carry: Any) -> Any:
        """Take one step of every run that goes on; keep the state before its least error, and decide which are over."""
        step, state, best, at, before, mark, since, over = carry
        moved = runge_kutta_step(state, jnp.where(over, 0.0, steps))
        test, train = errors(moved)
        better = (test < best) & ~over
        before = _where(better, state, before)
        step += 1
        best, at = jnp.where(better, test, best), jnp.where(better, step, at)
        due = step >= jnp.maximum(1.2 * since, since + 10)
        flat = due & (mark - train < FLAT * train) & (train < start_train - largest**2 / 2) & (step > 1.3 * at + 10)
        late = (step > LATE * at + 50) & (test > RISEN_LATE * best)
        over |= ((flat | late) & (step * steps > horizon)) | (test > RISEN * best) | (train < LEARNED * power)
        return step, moved, best, at, before, jnp.where(due, train, mark), jnp.where(due, step, since), over

    state, power, largest = (first, second), (target**2).sum(), jnp.linalg.norm(target, 2)
    test, start_train = errors(state)
    none = jnp.zeros(len(first), dtype=int)
    carry = (0, state, test, none, state, start_train, none, jnp.zeros(len(first), dtype=bool))
    _, _, _, at, before, _, _, over = jax.lax.while_loop(
        lambda carry: (carry[0] < MOST_STEPS) & ~carry[-1].all(), coarse_step, carry
    )
    time = jnp.maximum(at - 1, 0) * steps
    for level in range(1, LEVELS + 1):  # from the state before the least one, over two steps, by shorter ones
        by, start = steps / FINER**level, time

        def finer_step(i: Any, carry: Any, by: Any = by, start: Any = start) -> Any:
            """Take one shorter step; keep the least error so far, its time, and the states at it and before it."""
            state, before, least, best, time = carry
            moved = runge_kutta_step(state, by)
            test = errors(moved)[0]
            better = test < best
            time = jnp.where(better, start + i * by, time)
            return moved, _where(better, state, before), _where(better, moved, least), jnp.minimum(test, best), time

        first_state = (before, before, before, errors(before)[0], time)
        _, before, least, _, time = jax.lax.fori_loop(0, 2 * FINER, finer_step, first_state)
    test, train = errors(least)
    return test, time + by, least[1] @ least[0], train, over


def _negative_gradient(state: State, target: Any) -> State:
    """Return the velocity of both layers under gradient flow on |target - product|^2/2."""
    first, second = state
    rest = target - second @ first
    return jnp.swapaxes(second, 1, 2) @ rest, rest @ jnp.swapaxes(first, 1, 2)


def _step_along(state: State, slope: Any, by: Any) -> State:
    """Return both layers moved along the slope, by a step of its own for each run."""
    first, second = (part + by[:, None, None] * change for part, change in zip(state, slope, strict=True))
    return first, second


def _where(which: Any, new: State, old: State) -> State:
    """Return the new layers of the runs in `which`, the old ones of the others."""
    first, second = (jnp.where(which[:, None, None], one, two) for one, two in zip(new, old, strict=True))
    return first, second
