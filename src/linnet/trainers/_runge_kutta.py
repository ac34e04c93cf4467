"""Dormand and Prince's method of order 8 in one compiled loop: steps that end at the given times.

Members of a batch take separate steps, side by side. Method, step control and first step are taken from diffrax's
`Dopri8`, which served before: for small networks it took five times as long for a step, and three times to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from linnet.trainers._states import Array

SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 10.0  # of the next step in units of this one, by the error of order 8
FIRST_STEP = 0.01  # length of the first step that is tried; one that is too long is shortened
ROUNDINGS = 2  # of the largest entry, below which no error of another one is judged
STEP_STRETCH = 1e-12  # fraction of the way to the next time, by which a step may be longer to end there

# Prince and Dormand (1981), RK8(7)13M: row i weighs the slopes before stage i + 1, the last row gives the new state.
STAGE_WEIGHTS = np.zeros((14, 14))
for _row, _entries in enumerate([
    {0: 1 / 18},
    {0: 1 / 48, 1: 1 / 16},
    {0: 1 / 32, 2: 3 / 32},
    {0: 5 / 16, 2: -75 / 64, 3: 75 / 64},
    {0: 3 / 80, 3: 3 / 16, 4: 3 / 20},
    {0: 29443841 / 614563906, 3: 77736538 / 692538347, 4: -28693883 / 1125000000, 5: 23124283 / 1800000000},
    {0: 16016141 / 946692911, 3: 61564180 / 158732637, 4: 22789713 / 633445777, 5: 545815736 / 2771057229,
     6: -180193667 / 1043307555},
    {0: 39632708 / 573591083, 3: -433636366 / 683701615, 4: -421739975 / 2616292301, 5: 100302831 / 723423059,
     6: 790204164 / 839813087, 7: 800635310 / 3783071287},
    {0: 246121993 / 1340847787, 3: -37695042795 / 15268766246, 4: -309121744 / 1061227803, 5: -12992083 / 490766935,
     6: 6005943493 / 2108947869, 7: 393006217 / 1396673457, 8: 123872331 / 1001029789},
    {0: -1028468189 / 846180014, 3: 8478235783 / 508512852, 4: 1311729495 / 1432422823, 5: -10304129995 / 1701304382,
     6: -48777925059 / 3047939560, 7: 15336726248 / 1032824649, 8: -45442868181 / 3398467696,
     9: 3065993473 / 597172653},
    {0: 185892177 / 718116043, 3: -3185094517 / 667107341, 4: -477755414 / 1098053517, 5: -703635378 / 230739211,
     6: 5731566787 / 1027545527, 7: 5232866602 / 850066563, 8: -4093664535 / 808688257, 9: 3962137247 / 1805957418,
     10: 65686358 / 487910083},
    {0: 403863854 / 491063109, 3: -5068492393 / 434740067, 4: -411421997 / 543043805, 5: 652783627 / 914296604,
     6: 11173962825 / 925320556, 7: -13158990841 / 6184727034, 8: 3936647629 / 1978049680, 9: -160528059 / 685178525,
     10: 248638103 / 1413531060},
    {0: 14005451 / 335480064, 5: -59238493 / 1068277825, 6: 181606767 / 758867731, 7: 561292985 / 797845732,
     8: -1041891430 / 1371343529, 9: 760417239 / 1151165299, 10: 118820643 / 751138087, 11: -528747749 / 2220607170,
     12: 1 / 4},
], start=1):  # fmt: skip
    STAGE_WEIGHTS[_row, list(_entries)] = list(_entries.values())
# The weights of the embedded method of order 7.
SEVENTH_ORDER_WEIGHTS = np.array([
    13451932 / 455176623, 0, 0, 0, 0, -808719846 / 976000145, 1757004468 / 5645159321, 656045339 / 265891186,
    -3867574721 / 1518517206, 465885868 / 322736535, 53011238 / 667516719, 2 / 45, 0, 0,
])  # fmt: skip
ERROR_WEIGHTS = STAGE_WEIGHTS[13] - SEVENTH_ORDER_WEIGHTS


class SolverResult(NamedTuple):
    """States at all times (batch, time, entry), infinite where they were not reached; then of each member the last
    state, its time, and how many steps were tried. Of equal times the first has the state."""

    states: Array
    end: Array
    time: Array
    steps: Array


class _SolverState(NamedTuple):
    """The progress of each member: its time, the index of the next of the given times, the length of the next step, its
    state and slope, the steps that were tried, and what was saved."""

    time: Array
    next_index: Array
    length: Array
    state: Array
    slope: Array
    steps: Array
    saved: Array


def solve(
    slope: Callable[[Array], Array],
    start: Array,
    time: Array,
    times: Array,
    *,
    rtol: Array,
    atol: Array,
    norm: Callable[[Array], Array],
    max_steps: int,
) -> SolverResult:
    """Integrate `slope` of the states (batch, entry) from `time` (batch,) to the last of `times`, in at most
    `max_steps` steps. `norm` returns the norms (batch,) of errors over tolerances, which are to stay below one."""
    # Entries far below the largest one hold its rounding.
    rounding = ROUNDINGS * jnp.finfo(start.dtype).eps
    stages, error_weights = (jnp.asarray(weights, start.dtype) for weights in (STAGE_WEIGHTS, ERROR_WEIGHTS))
    end, members = times[-1], jnp.arange(start.shape[0])

    def tolerated(largest: Array) -> Array:
        """Return the errors allowed by the size of the entries."""
        return rtol * largest + rounding * jnp.max(largest, axis=1, keepdims=True)

    def time_at(index: Array) -> Array:
        """Return the given time of an index: the last one for a member that has none ahead."""
        return times[jnp.minimum(index, times.size - 1)]

    def shortened_step(time: Array, index: Array, length: Array) -> Array:
        """Return the length of a step, shortened where it would pass the next time, or stretched to end there; 0 for a
        member at the last time."""
        left = time_at(index) - time
        return jnp.where(length >= (1 - STEP_STRETCH) * left, left, length)

    def try_step(walk: _SolverState) -> _SolverState:
        """Try a step of each member: keep those whose error is small enough, and choose the length of the next."""

        # Stage 0 evaluates where the step begins; the others where the earlier slopes lead. The last is the end.
        def evaluate_stage(index: Array, carried: tuple[Array, Array]) -> tuple[Array, Array]:
            slopes, _ = carried
            reached = walk.state + walk.length[:, None] * jnp.tensordot(stages[index], slopes, 1)
            return jax.lax.dynamic_update_index_in_dim(slopes, slope(reached), index, 0), reached

        slopes = jnp.zeros((14, *start.shape), start.dtype).at[0].set(walk.slope)
        slopes, reached = jax.lax.fori_loop(1, 14, evaluate_stage, (slopes, walk.state))
        error = walk.length[:, None] * jnp.tensordot(error_weights, slopes, 1)
        largest = jnp.maximum(jnp.abs(walk.state), jnp.nan_to_num(jnp.abs(reached)))
        scaled = norm(jnp.where(jnp.isnan(error), jnp.inf, error) / (atol + tolerated(largest)))
        under_way = walk.time < end
        kept = (scaled < 1) & under_way
        factor = jnp.clip(SAFETY * scaled ** (-1 / 8), jnp.where(kept, 1.0, SMALLEST), jnp.where(kept, LARGEST, SAFETY))
        ahead = time_at(walk.next_index)
        arrives = kept & (walk.length >= ahead - walk.time)
        now = jnp.where(arrives, ahead, jnp.where(kept, walk.time + walk.length, walk.time))
        saved = walk.saved.at[members, jnp.where(arrives, walk.next_index, times.size)].set(reached, mode="drop")
        index = walk.next_index + arrives
        length = shortened_step(now, index, walk.length * factor)
        state, moved = (
            jnp.where(kept[:, None], new, old) for new, old in ((reached, walk.state), (slopes[13], walk.slope))
        )
        return _SolverState(now, index, length, state, moved, walk.steps + under_way, saved)

    def goes_on(walk: _SolverState) -> Array:
        """Return whether a member has still to arrive, and may."""
        return jnp.any((walk.time < end) & (walk.steps < max_steps))

    passed = times <= time[:, None]
    index = jnp.sum(passed, axis=1)
    length = shortened_step(time, index, jnp.full(time.shape, FIRST_STEP, time.dtype))
    saved = jnp.where(passed[..., None], start[:, None], jnp.inf)
    steps = jnp.zeros(time.shape, int)
    walk = _SolverState(time, index, length, start, slope(start), steps, saved)
    walk = jax.lax.while_loop(goes_on, try_step, walk)
    return SolverResult(walk.saved, walk.state, walk.time, walk.steps)
