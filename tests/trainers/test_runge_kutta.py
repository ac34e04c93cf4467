"""The solver of flows: its coefficients, its accuracy, its steps, and what it saves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from linnet.precision import computing
from linnet.trainers import _runge_kutta as runge_kutta

NODES = runge_kutta.STAGE_WEIGHTS.sum(axis=1)


@jax.vmap
def pendulum(state):
    """Nonlinear, with no time in it; the last entry is a second clock."""
    return jnp.stack([state[1], -jnp.sin(state[0]), jnp.ones(())])


def norm(entries):
    return jnp.sqrt(jnp.mean(entries**2, axis=1))


compiled = jax.jit(runge_kutta.solve, static_argnames=("slope", "norm", "max_steps"))


def solved(slope, starts, times, *, time=0.0, rtol=1e-10, atol=1e-12, max_steps=1000):
    with computing(None, "cpu"):
        starts, times = np.asarray(starts, float), np.asarray(times, float)
        begins = np.full(len(starts), time)
        return compiled(slope, starts, begins, times, rtol=rtol, atol=atol, norm=norm, max_steps=max_steps)


@pytest.mark.parametrize(
    ("weights", "order"), [(runge_kutta.STAGE_WEIGHTS[13], 8), (runge_kutta.SEVENTH_ORDER_WEIGHTS, 7)]
)
def test_the_weights_integrate_polynomials_up_to_their_order(weights, order):
    """Quadrature with and without an inner stage: conditions of the order."""
    outer = [abs(weights @ NODES**power - 1 / (power + 1)) for power in range(order + 1)]
    inner = [
        abs(weights @ runge_kutta.STAGE_WEIGHTS @ NODES**power - 1 / ((power + 1) * (power + 2)))
        for power in range(order)
    ]
    assert max(outer[:order] + inner[: order - 1]) < 1e-14


def test_it_follows_scipy_and_stays_within_the_tolerance():
    starts, times = np.array([[2.0, 0.0, 0.0], [0.1, 1.5, 0.0]]), np.array([0.0, 0.3, 2.0, 20.0])
    found = solved(pendulum, starts, times)
    for start, states in zip(starts, np.asarray(found.states), strict=True):
        wanted = solve_ivp(
            lambda t, y: [y[1], -np.sin(y[0]), 1.0],
            (0, 20),
            start,
            method="DOP853",
            t_eval=times,
            rtol=1e-13,
            atol=1e-13,
        ).y.T
        assert np.abs(states - wanted).max() < 3e-9
    assert (np.asarray(found.end) == np.asarray(found.states)[:, -1]).all()
    assert np.asarray(found.time).tolist() == [20.0, 20.0]


def test_steps_grow_by_the_order_and_errors_fall_with_the_tolerance():
    tolerances = 10.0 ** -np.arange(4, 13)
    rtol = tolerances[:, None]
    run = solved(lambda y: -y, np.ones((9, 1)), [5.0], rtol=rtol, atol=1e-3 * rtol)
    errors = np.abs(np.asarray(run.end)[:, 0] / np.exp(-5.0) - 1)
    assert (errors < 5 * tolerances).all() and errors[-1] < 1e-12
    growth = np.polyfit(np.log(tolerances[4:]), np.log(np.asarray(run.steps)[4:]), 1)[0]
    assert -1 / 6 < growth < -1 / 11


def test_a_member_takes_the_steps_it_takes_alone():
    starts = np.array([[2.0, 0.0, 0.0], [1e-6, 0.0, 0.0], [3.1, 2.0, 0.0]])
    together = solved(pendulum, starts, [1.0, 7.0])
    for member, start in enumerate(starts):
        alone = solved(pendulum, start[None], [1.0, 7.0])
        assert int(alone.steps[0]) == int(together.steps[member])
        assert np.abs(np.asarray(alone.states[0] - together.states[member])).max() < 1e-13


def test_times_that_have_passed_are_saved_too_and_of_equal_ones_the_first():
    found = solved(pendulum, [[1.0, 0.0, 2.0]], [0.0, 1.0, 2.0, 3.0, 3.0, 3.0], time=2.0)
    clock = np.asarray(found.states)[0, :, 2]
    assert clock == pytest.approx([2.0, 2.0, 2.0, 3.0, np.inf, np.inf], abs=1e-14)


def test_times_that_were_not_reached_are_infinite():
    found = solved(pendulum, [[1.0, 0.0, 0.0]], [0.005, 100.0], max_steps=5)
    states = np.asarray(found.states)[0]
    assert np.isfinite(states[0]).all() and np.isinf(states[1]).all()
    assert int(found.steps[0]) == 5 and 0.005 < float(found.time[0]) < 100
    assert float(found.end[0, 2]) == pytest.approx(float(found.time[0]), abs=1e-14)


def test_a_step_into_the_undefined_is_taken_shorter():
    """y' = -1/(2 sqrt(y)) is defined until y = 0 at t = 4/3; steps beyond give NaN, and are tried again."""
    found = solved(lambda y: -0.5 / jnp.sqrt(y), [[1.0]], [1.3, 1.4], max_steps=300)
    assert float(found.states[0, 0, 0]) == pytest.approx((1 - 0.75 * 1.3) ** (2 / 3), abs=1e-8)
    assert np.isinf(float(found.states[0, 1, 0])) and 1.3 < float(found.time[0]) < 1.34
