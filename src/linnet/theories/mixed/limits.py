"""The limits of the self-consistent dynamics, mode by mode: lazy, balanced and aligned starts."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet.arguments import (
    broadcast,
    non_negative,
    number,
    positive,
    real_array,
    representable,
    same_shape,
    times_array,
    whole_steps,
)


@representable
def lazy_flow(
    target: ArrayLike, start: ArrayLike, threshold: float, times: ArrayLike
) -> Float[np.ndarray, "time output input"]:
    r"""Products far below the threshold: every direction relaxes at one rate, noise as fast as signal.

    $$ A(t) = Y + e^{-2gt}(A_0 - Y) $$

    **Arguments:** `target` is $Y$, `start` is $A_0$, `threshold` is $g = \sigma^2 w$. Returns (time, output, input).

    **Valid when** $g$ is large against the singular values of $A(t)$. **Reference:** Tu et al. 2024, section 1.4.
    """
    goal, first = real_array("target", target, ndim=2), real_array("start", start, ndim=2)
    same_shape(target=goal, start=first)
    rate = 2 * non_negative("threshold", threshold)
    return goal + np.exp(-rate * times_array("times", times))[:, None, None] * (first - goal)


@representable
def lazy_descent(
    target: ArrayLike, start: ArrayLike, threshold: float, learning_rate: float, steps: ArrayLike | None
) -> Float[np.ndarray, "time output input"]:
    r"""Products of gradient descent far below the threshold, after each number of `steps`.

    $$ A_n = Y + (1 - 2\,\mathrm{lr}\,g)^n (A_0 - Y) $$

    In the paper's symbols the factor is $1 - 4 d^{-2} \eta \sigma^2 w$. **Reference:** Tu et al. 2024, section 1.4.

    **Valid when** $g$ is large against the singular values of $A$, and $\mathrm{lr}\,g$ small against 1.
    """
    goal, first = real_array("target", target, ndim=2), real_array("start", start, ndim=2)
    same_shape(target=goal, start=first)
    factor = 1 - 2 * positive("learning_rate", learning_rate) * non_negative("threshold", threshold)
    return goal + (factor ** whole_steps("steps", steps))[:, None, None] * (first - goal)


@representable
def lazy_error_floor(truth: ArrayLike, noise: ArrayLike, remaining: ArrayLike) -> Float[np.ndarray, " state"]:
    r"""$|E[A] - A^*|_F^2$ when a fraction `remaining` $= q^n$ of the way to $A^* + E$ is left: a floor for the mean
    test error.

    $$ |-q^n A^* + (1 - q^n) E|_F^2 $$

    **Departs from the print** (section 1.4, D.1), which has $+q^n A^*$: the same on average over $E$, another number
    for one $E$.
    """
    left = np.atleast_1d(real_array("remaining", remaining, ndim=(0, 1)))[:, None, None]
    signal, error = real_array("truth", truth, ndim=2), real_array("noise", noise, ndim=2)
    same_shape(truth=signal, noise=error)
    return ((-left * signal + (1 - left) * error) ** 2).sum(axis=(1, 2))


@representable
def balanced_modes(targets: ArrayLike, starts: ArrayLike, times: ArrayLike) -> Float[np.ndarray, "time mode"]:
    r"""Singular values of a balanced network aligned with its target: logistic growth, or a decay to zero.

    $$ \dot s = 2 |s| (s^* - s): \qquad s(t) = \frac{s^*}{1 + (s^*/s_0 - 1) e^{-2 s^* t}} \quad (s_0 > 0) $$

    A start of the other sign never arrives: it decays to 0. **Arguments:** `targets` are $s^* \ge 0$, `starts` are
    $s_0$. Returns (time, mode). **Reference:** Tu et al. 2024, section 1.5, whose step $2\eta$ should read
    $4\eta/d^2$ for its loss.
    """
    goal, first, clock = _modes(targets, starts, times)
    decay = np.exp(-2 * goal * clock)
    # the integral of e^(-2 s* t), which is t where s* = 0
    spent = np.where(goal > 0, -np.expm1(-2 * goal * clock) / np.where(goal > 0, 2 * goal, 1.0), clock)
    rising = first / (decay + 2 * np.abs(first) * spent)
    stuck = first * decay / (1 + 2 * np.abs(first) * spent)
    return np.where(first > 0, rising, stuck)


@representable
def aligned_modes(
    targets: ArrayLike, starts: ArrayLike, threshold: float, times: ArrayLike
) -> Float[np.ndarray, "time mode"]:
    r"""Singular values of the mixed dynamics aligned with its target: linear below the threshold, logistic above.

    $$ \dot s = 2 \sqrt{s^2 + g^2}\,(s^* - s) $$

    **Arguments:** `targets` are $s^* \ge 0$, `starts` are $s_0$ of any sign, `threshold` is $g$. Returns (time, mode).

    **Valid when** $A_0$ has the singular vectors of the target. **Reference:** Tu et al. 2024, section 2 and E.3.
    """
    g = non_negative("threshold", threshold)
    if g == 0:
        return balanced_modes(targets, starts, times)
    goal, first, clock = _modes(targets, starts, times)
    big = np.sqrt(g + np.hypot(first, g))
    small = first / big
    rate = np.hypot(goal, g)
    norm = np.hypot(goal, rate + g)
    near, far = (rate + g) / norm, goal / norm
    plus, minus = near * big + far * small, far * big - near * small
    decay = np.exp(-rate * clock)
    ratio = minus / plus
    spent = -np.expm1(-2 * rate * clock) / (2 * rate)
    gram = (decay / plus) ** 2 + spent * (1 + (ratio * decay) ** 2)
    turn = ratio * decay**2
    return (far - near * turn) * (near + far * turn) / gram


@representable
def mode_speed(values: ArrayLike, threshold: float) -> Float[np.ndarray, " ..."]:
    r"""Effective learning rate along a singular value: $2\sqrt{s^2 + g^2}$, constant when lazy, proportional to $s$
    when active.

    $\dot s = 2\sqrt{s^2 + g^2}\; u^\top R v$ for the singular pair $u, v$ of $s$. **Valid for** the self-consistent
    dynamics; for Gaussian weights up to $O(\sqrt{d/w})$. **Reference:** Tu et al. 2024, section 2.
    """
    return 2 * np.hypot(real_array("values", values), non_negative("threshold", threshold))


@representable
def mode_alignment(values: ArrayLike, threshold: float) -> Float[np.ndarray, " ..."]:
    r"""Cosine between $W_1 v$ and $W_2^\top u$ for the singular pair of $s$: $s/\sqrt{s^2 + g^2}$, 0 when lazy and 1
    when active.

    **Reference:** Tu et al. 2024, the remark before section 2.1, where "perpendicular" should read "parallel".
    """
    singular = real_array("values", values)
    length = np.hypot(singular, non_negative("threshold", threshold))
    return np.divide(singular, length, out=np.zeros_like(singular), where=length > 0)


def crossing_times(
    targets: ArrayLike, starts: ArrayLike, threshold: float, level: float | None = None
) -> Float[np.ndarray, " mode"]:
    r"""When an aligned singular value reaches `level` (by default the threshold $g$); infinite where it never does.

    $$ t = \frac{1}{2D} \ln \frac{\Phi(\mathrm{level})}{\Phi(s_0)}, \qquad
       \Phi(s) = \frac{s^* s + g^2 + D\sqrt{s^2 + g^2}}{s^* - s}, \quad D = \sqrt{s^{*2} + g^2} $$

    **Arguments:** as in `aligned_modes`. **Valid when** $s_0 < \mathrm{level}$; a mode that starts above it has
    crossed at 0.

    **Reference:** the integral of the equation of Tu et al. 2024, E.3; not in the paper.
    """
    goal, first = np.atleast_1d(real_array("targets", targets)), np.atleast_1d(real_array("starts", starts))
    goal, first = broadcast(targets=goal, starts=first)
    g = non_negative("threshold", threshold)
    aim = g if level is None else number("level", level)
    unit = max(float(np.abs(goal).max()), float(np.abs(first).max()), g, abs(aim)) or 1.0
    goal, first, g, aim = goal / unit, first / unit, g / unit, aim / unit  # nothing below over- or underflows
    reach = np.hypot(goal, g)
    result = np.full(goal.shape, np.inf)
    result[first >= aim] = 0.0
    moving = (first < aim) & (goal > aim) & ((g > 0) | (first > 0))

    def log_phi(s: np.ndarray | float) -> np.ndarray:
        inner, outer = goal[moving] * s + g**2, reach[moving] * np.hypot(s, g)
        far = goal[moving] - s
        with np.errstate(divide="ignore"):  # of the branch that is not taken
            # below zero the sum cancels; times its conjugate it is (g (s* - s))^2
            falling = 2 * np.log(g) + np.log(far) - np.log(outer - inner)
            return np.where(inner < 0, falling, np.log(outer + inner) - np.log(far))

    result[moving] = (log_phi(aim) - log_phi(first[moving])) / (2 * reach[moving]) / unit
    return result


def _modes(targets: object, starts: object, times: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    goal, first = (
        np.atleast_1d(real_array(name, value, ndim=(0, 1)))
        for name, value in (("targets", targets), ("starts", starts))
    )
    if (goal < 0).any():
        raise ValueError(f"`targets` are singular values and must not be negative: the smallest is {goal.min()}.")
    goal, first = broadcast(targets=goal, starts=first)
    return goal, first, times_array("times", times)[:, None]
