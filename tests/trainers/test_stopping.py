"""Stopping rules do what they describe, and say the same of numbers, one after another, as inside compiled loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from linnet.precision import computing
from linnet.trainers import stopping

RULES = stopping.first_of(
    stopping.Never(),
    stopping.LossBelow(0.5),
    stopping.TestLossRising(3, after=4),
    stopping.Stalled(relative=1e-3, fallen=0.1),
    stopping.Stalled(absolute=1e-4),
)


def sequences(count=60, length=40):
    draw = np.random.default_rng(5)
    loss = 2 + np.cumsum(draw.standard_normal((count, length)) * draw.choice([1e-5, 0.02, 0.2], (count, 1)), axis=1)
    test = 3 + np.cumsum(draw.standard_normal((count, length)) - 0.1, axis=1)
    loss[0, 3:], loss[1, 5:], test[2, 2:] = np.nan, np.inf, np.nan
    return loss, test


@pytest.fixture(scope="module")
def compiled():
    def step(state, seen):
        return RULES.update(state, *seen)

    def codes(loss, test):
        start = jax.tree.map(jnp.asarray, RULES.start())
        return jax.lax.scan(step, start, (jnp.arange(loss.size), loss, test))[1]

    with computing():
        return np.asarray(jax.jit(jax.vmap(codes))(*sequences()))


def plainly(rule):
    told = []
    with np.errstate(all="ignore"):
        for losses, tests in zip(*sequences(), strict=True):
            state, codes = rule.start(), []
            for step, (loss, test) in enumerate(zip(losses, tests, strict=True)):
                state, code = rule.update(state, np.int64(step), loss, test)
                codes.append(int(code))
            told.append(codes)
    return np.array(told)


def test_numbers_and_traced_arrays_get_the_same_codes(compiled):
    assert (plainly(RULES) == compiled).all()
    assert set(np.unique(compiled)) == {0, 1, 2, 3, 4}
    other = stopping.first_of(*RULES.rules[:2], stopping.TestLossRising(2, after=4), *RULES.rules[3:])
    assert (plainly(other) != compiled).any()  # the control: another patience


def test_the_codes_are_those_that_the_rules_describe(compiled):
    def described(loss, test, i):
        """The rules in words, looking back at whole sequences; comparisons with NaN are false."""
        change = abs(loss[i] - loss[i - 1]) if i else np.inf
        holds = (
            loss[i] <= 0.5,
            i > 4 and all(test[j] > test[j - 1] for j in (i - 2, i - 1, i)),
            i > 0 and change < 1e-3 * abs(loss[i - 1]) and loss[0] - loss[i] > 0.1,
            change < 1e-4,
        )
        return next((code for code, met in enumerate(holds, start=1) if met), 0)

    with np.errstate(all="ignore"):
        expected = [[described(*pair, i) for i in range(len(pair[0]))] for pair in zip(*sequences(), strict=True)]
    assert (compiled == expected).all()
