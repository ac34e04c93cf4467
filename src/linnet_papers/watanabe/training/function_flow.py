"""Gradient flow of one output in function space: predictor and tangent kernel, at any width and condition number."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

POWER_ITERATIONS = (
    15  # for the norm of the first kernel: they find 87% and more of that of a random one; 86% keep steps stable
)
SAFETY, SMALLEST, LARGEST = 0.9, 0.2, 3.0  # of the next step in units of this one, by an error of second order
FIRST_STEP = 0.01  # of the time in which the predictor would learn, or the gain act, at the pace of the initialization


class FunctionState(NamedTuple):
    r"""A scalar network as its training sees it, in the eigenbasis of the inputs: `product` $p = W_2 W_1$ (r,), `gain`
    $\alpha = |W_2|^2$ and `kernel` $C = W_1^T W_1$ (r, r)."""

    product: Array
    gain: Array
    kernel: Array


class FunctionRun(NamedTuple):
    """Where a run ended: its state, the canonical time, the loss relative to that of zero, and the steps taken."""

    state: FunctionState
    time: Array
    loss: Array
    steps: Array


@partial(jax.jit, static_argnames=("max_steps",), donate_argnames=("start",))
def function_flow(
    values: Array,
    cross: Array,
    start: FunctionState,
    *,
    loss: Array | float = 1e-8,
    until: Array | float = jnp.inf,
    tolerance: Array | float = 1e-3,
    max_steps: int = 100_000,
) -> FunctionRun:
    r"""The flow of a scalar network until its training `loss` (relative to that of the zero function) or the time
    `until`.

    With $\Sigma = \mathrm{diag}(l)$ and $R = \Gamma - p\Sigma$, the gradient flow of both layers closes on $(p,
    \alpha, C)$ exactly,

    $$ \dot p = \alpha R + R C, \qquad \dot\alpha = 2 p R^T, \qquad \dot C = R^T p + p^T R, $$

    whatever the width. Deep in training it is stiff, with the condition number of the data: the step is Verwer's
    Rosenbrock method ROS2, of second order whatever matrix stands for the Jacobian and stable at any step size where
    that matrix is close. Here it is $-(\alpha + |C(0)| + p^T p/\alpha)\Sigma$, which is diagonal plus rank one, exact
    for aligned networks and too large for others, but for the estimate of $|C(0)|$: that is too small by some percent,
    and ROS2 is stable while the Jacobian is at most 1.17 times the matrix. So a step costs two products with C and one
    update of it, and there are hundreds of steps instead of tens of thousands.

    **Arguments:** `values` $l_i > 0$ (r,), `cross` $\Gamma$ (r,) and `start` in the eigenbasis of the covariance; all
    of one dtype, inside `linnet.precision.computing`. `start` is donated: its arrays cannot be used afterwards.
    `tolerance` is the relative error of a step.
    """
    gamma = jnp.asarray(1 - 0.5**0.5, values.dtype)
    power = jnp.sum(cross**2 / values)
    kernel_norm = _largest_eigenvalue(start.kernel)

    def relative_loss(product: Array) -> Array:
        """Return the training loss of a product over that of zero."""
        return jnp.sum((cross - values * product) ** 2 / values) / power

    def trial_step(p: Array, gain: Array, kernel: Array, step: Array) -> tuple[Array, Array, Array, Array]:
        """Return product and gain after a step of this length by ROS2, the sum of the kernel's slopes at its two
        stages, and the relative error."""
        damping = gamma * step
        weight = 1 / (1 + damping * (gain + kernel_norm) * values)
        norm = 1 + damping / gain * jnp.sum(weight * values * p**2)

        def solve(v: Array) -> Array:
            """Solve with the identity minus the damped Jacobian, which is diagonal plus rank one."""
            share = jnp.sum(weight * values * p * v) / norm
            return weight * (v - damping / gain * share * p)

        R = cross - values * p
        rise = 2 * p @ R
        k1 = solve(gain * R + kernel @ R)
        p1, gain1 = p + step * k1, gain + step * rise
        R1 = cross - values * p1
        moved = kernel @ R1 + step * ((R @ R1) * p + (p @ R1) * R)
        k2 = solve(gain1 * R1 + moved - 2 * k1)
        new = p + step * (1.5 * k1 + 0.5 * k2)
        rise1 = 2 * p1 @ R1
        error = step * 0.5 * jnp.linalg.norm(k1 + k2) / jnp.maximum(jnp.linalg.norm(p), jnp.linalg.norm(new))
        error = jnp.maximum(error, 0.5 * step * jnp.abs(rise1 - rise) / gain)
        slopes = R[:, None] * p + p[:, None] * R + R1[:, None] * p1 + p1[:, None] * R1
        return new, gain + 0.5 * step * (rise + rise1), slopes, error

    def goes_on(carry: tuple) -> Array:
        _, time, _, now, count = carry
        return (now > loss) & (time < until) & (count < max_steps)

    def advance(carry: tuple) -> tuple:
        """Try a step, accept it if its error is small enough, and choose the length of the next one."""
        (p, gain, kernel), time, step, _, count = carry
        step = jnp.minimum(step, until - time)
        new, new_gain, kernel_slopes, error = trial_step(p, gain, kernel, step)
        good = (error <= tolerance) & (new_gain > 0)
        kernel = kernel + jnp.where(good, 0.5 * step, 0) * kernel_slopes
        state = FunctionState(jnp.where(good, new, p), jnp.where(good, new_gain, gain), kernel)
        factor = jnp.clip(SAFETY * jnp.sqrt(tolerance / jnp.maximum(error, 1e-30)), SMALLEST, LARGEST)
        factor = jnp.where(jnp.isfinite(error), factor, SMALLEST)
        # A last step cut short by `until` must not shorten those that could follow.
        return state, time + jnp.where(good, step, 0), step * factor, relative_loss(state.product), count + 1

    first = FIRST_STEP / (jnp.linalg.norm(cross) + start.gain * jnp.max(values))
    zero = jnp.zeros((), values.dtype)
    carry = (start, zero, first.astype(values.dtype), relative_loss(start.product), jnp.asarray(0))
    state, time, _, now, count = jax.lax.while_loop(goes_on, advance, carry)
    return FunctionRun(state, time, now, count)


def _largest_eigenvalue(kernel: Array) -> Array:
    """Return the largest eigenvalue of a positive semidefinite matrix by power iteration: from below, by a few percent
    where eigenvalues lie close to the largest one."""

    def iterate(_: int, v: Array) -> Array:
        v = kernel @ v
        return v / jnp.maximum(jnp.linalg.norm(v), jnp.finfo(v.dtype).tiny)

    start = jnp.ones(kernel.shape[0], kernel.dtype) / kernel.shape[0] ** 0.5
    return jnp.linalg.norm(kernel @ jax.lax.fori_loop(0, POWER_ITERATIONS, iterate, start))
