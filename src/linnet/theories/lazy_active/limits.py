"""The limits of the self-consistent dynamics, mode by mode: lazy, balanced and aligned initializations."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import (
    broadcast,
    non_negative,
    none_negative,
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
    target: ArrayLike, initial_product: ArrayLike, threshold: float, times: ArrayLike
) -> Float[np.ndarray, "time output input"]:
    r"""Return the product over time in the lazy limit, where signal and noise are learned equally fast.

    It is the limit in which all modes are far below the threshold. For modes near the threshold, use `self_consistent`.

    $$ A(t) = Y + e^{-2gt}(A_0 - Y) $$

    **Arguments:**

    - `target`: target $Y$, (output, input)
    - `initial_product`: initial product $A_0$, (output, input)
    - `threshold`: threshold $g = \sigma^2 w$
    - `times`: times (learning rate times number of steps), (time,)

    **Returns** $A(t)$, (time, output, input).

    **Valid when** $g$ is large compared with the singular values of $A(t)$.

    **Reference:** Tu et al. 2024, section 1.4.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import lazy_flow
        >>> lazy_flow(np.diag([2.0, 0.5]), np.zeros((2, 2)), 10.0, [0.05]).round(3)  # both at 1 - 1/e of their targets
        array([[[1.264, 0.   ],
                [0.   , 0.316]]])
    """
    goal, first = real_array("target", target, ndim=2), real_array("initial_product", initial_product, ndim=2)
    same_shape(target=goal, initial_product=first)
    rate = 2 * non_negative("threshold", threshold)
    return goal + np.exp(-rate * times_array("times", times))[:, None, None] * (first - goal)


@representable
def lazy_descent(
    target: ArrayLike, initial_product: ArrayLike, threshold: float, learning_rate: float, steps: ArrayLike | None
) -> Float[np.ndarray, "time output input"]:
    r"""Return the product after given numbers of gradient steps in the lazy limit, where all modes are far below the
    threshold.

    `lazy_flow` is the limit of small steps.

    $$ A_n = Y + (1 - 2\,\mathrm{lr}\,g)^n (A_0 - Y) $$

    In the paper's symbols the factor is $1 - 4 d^{-2} \eta \sigma^2 w$. **Reference:** Tu et al. 2024, section 1.4.

    **Arguments:**

    - `target`: target $Y$, (output, input)
    - `initial_product`: initial product $A_0$, (output, input)
    - `threshold`: threshold $g = \sigma^2 w$
    - `learning_rate`: learning rate lr
    - `steps`: numbers of steps, (time,)

    **Returns** $A_n$, (time, output, input).

    **Valid when** $g$ is large compared with the singular values of $A$, and $\mathrm{lr}\,g$ is small compared with 1.

    **Example:**

        >>> from linnet.theories.lazy_active import lazy_descent
        >>> lazy_descent([[1.0]], [[0.0]], 10.0, 0.005, [0, 1, 10, 100]).ravel().round(4)
        array([0.    , 0.1   , 0.6513, 1.    ])
    """
    goal, first = real_array("target", target, ndim=2), real_array("initial_product", initial_product, ndim=2)
    same_shape(target=goal, initial_product=first)
    factor = 1 - 2 * positive("learning_rate", learning_rate) * non_negative("threshold", threshold)
    return goal + (factor ** whole_steps("steps", steps))[:, None, None] * (first - goal)


@representable
def lazy_error_floor(truth: ArrayLike, noise: ArrayLike, remaining: ArrayLike) -> Float[np.ndarray, " state"]:
    """Return the squared error of the mean product during lazy training, a lower bound for the mean test error.

    If the minimum test loss is near this floor, a smaller initialization may help.

    $$ |-q^n A^* + (1 - q^n) E|_F^2 $$

    **Arguments:**

    - `truth`: signal $A^*$, (output, input)
    - `noise`: noise $E$, (output, input)
    - `remaining`: fraction $q^n$ of the target that is not yet learned, (state,)

    **Returns** $|E[A] - A^*|_F^2$, (state,).

    **Departs from the print** (section 1.4, D.1), which has $+q^n A^*$. The average over $E$ is the same, but the value
    for a single $E$ differs.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.lazy_active import lazy_error_floor
        >>> truth, noise = np.diag([3.0, 0.0]), np.diag([0.0, 4.0])
        >>> lazy_error_floor(truth, noise, [1.0, 0.64, 0.0])  # the smallest error is at 0.64
        array([ 9.  ,  5.76, 16.  ])
    """
    left = np.atleast_1d(real_array("remaining", remaining, ndim=(0, 1)))[:, None, None]
    signal, error = real_array("truth", truth, ndim=2), real_array("noise", noise, ndim=2)
    same_shape(truth=signal, noise=error)
    return ((-left * signal + (1 - left) * error) ** 2).sum(axis=(1, 2))


@representable
def balanced_modes(targets: ArrayLike, initial_values: ArrayLike, times: ArrayLike) -> Float[np.ndarray, "time mode"]:
    r"""Return the singular values over time of a balanced two-layer network that is aligned with its target.

    They grow along a logistic curve. This is the limit of a small threshold; for any threshold, use `aligned_modes`.

    $$ \dot s = 2 |s| (s^* - s): \qquad s(t) = \frac{s^*}{1 + (s^*/s_0 - 1) e^{-2 s^* t}} \quad (s_0 > 0) $$

    A negative initial value never reaches its target. It decays to 0.

    **Arguments:**

    - `targets`: strengths $s^* \ge 0$ of the modes in the target, (mode,)
    - `initial_values`: initial strengths $s_0$, of any sign, (mode,)
    - `times`: times (learning rate times number of steps), (time,)

    **Returns** $s(t)$, (time, mode).

    **Reference:** Tu et al. 2024, section 1.5, whose step $2\eta$ should read $4\eta/d^2$ for its loss.

    **Example:**

        >>> from linnet.theories.lazy_active import balanced_modes
        >>> balanced_modes([1.0, 1.0], [0.01, -0.01], [0.0, 5.0, 10.0]).round(3)
        array([[ 0.01 , -0.01 ],
               [ 0.996, -0.   ],
               [ 1.   , -0.   ]])
    """
    goal, first, clock = _modes(targets, initial_values, times)
    decay = np.exp(-2 * goal * clock)
    # the integral of e^(-2 s* t), which is t where s* = 0
    spent = np.where(goal > 0, -np.expm1(-2 * goal * clock) / np.where(goal > 0, 2 * goal, 1.0), clock)
    rising = first / (decay + 2 * np.abs(first) * spent)
    stuck = first * decay / (1 + 2 * np.abs(first) * spent)
    return np.where(first > 0, rising, stuck)


@representable
def aligned_modes(
    targets: ArrayLike, initial_values: ArrayLike, threshold: float, times: ArrayLike
) -> Float[np.ndarray, "time mode"]:
    r"""Return the singular values over time of a wide two-layer network that is aligned with its target.

    Modes far below the threshold relax exponentially, modes far above it grow along a logistic curve. If the initial
    product is zero, use `mode_values`.

    $$ \dot s = 2 \sqrt{s^2 + g^2}\,(s^* - s) $$

    **Arguments:**

    - `targets`: strengths $s^* \ge 0$ of the modes in the target, (mode,)
    - `initial_values`: initial strengths $s_0$, of any sign, (mode,)
    - `threshold`: threshold $g$
    - `times`: times (learning rate times number of steps), (time,)

    **Returns** $s(t)$, (time, mode).

    **Valid when** $A_0$ has the singular vectors of the target. **Reference:** Tu et al. 2024, section 2 and E.3.

    **Example:**

        >>> from linnet.theories.lazy_active import aligned_modes
        >>> aligned_modes([4.0, 0.5], [0.0, 0.0], 0.1, [0.0, 0.5, 1.0]).round(3)
        array([[0.   , 0.   ],
               [1.646, 0.049],
               [3.898, 0.103]])
    """
    g = non_negative("threshold", threshold)
    if g == 0:
        return balanced_modes(targets, initial_values, times)
    goal, first, clock = _modes(targets, initial_values, times)
    big = np.sqrt(g + np.hypot(first, g))
    small = first / big
    rate = np.hypot(goal, g)
    norm = np.hypot(goal, rate + g)
    near, far = (rate + g) / norm, goal / norm
    plus, minus = (near * big + far * small), far * big - near * small
    # a start of the other sign cancels there: the same sum without differences
    beyond, over = g * (1 + g / (rate + goal)), g * (1 + g / (np.hypot(first, g) + np.abs(first)))
    plus = np.where(first < 0, (goal * over + beyond * np.abs(first) + beyond * over) / (norm * big), plus)
    decay = np.exp(-rate * clock)
    ratio = minus / plus
    spent = -np.expm1(-2 * rate * clock) / (2 * rate)
    gram = (decay / plus) ** 2 + spent * (1 + (ratio * decay) ** 2)
    turn = ratio * decay**2
    return (far - near * turn) * (near + far * turn) / gram


@representable
def mode_speed(values: ArrayLike, threshold: float) -> Float[np.ndarray, " ..."]:
    r"""Return the effective learning rate of a mode: constant if the mode is lazy, proportional to its strength if
    active.

    Multiplied by the residual it is the velocity of the mode:

    $$ \dot s = 2\sqrt{s^2 + g^2}\; u^\top R v $$

    where $u, v$ are the singular vectors of $s$ and $R$ is the residual.

    **Valid for** the self-consistent dynamics, and for Gaussian weights up to $O(\sqrt{d/w})$.

    **Reference:** Tu et al. 2024, section 2.

    **Arguments:**

    - `values`: singular values $s$ of the product, any shape
    - `threshold`: threshold $g$

    **Returns** $2\sqrt{s^2 + g^2}$, shaped like `values`.

    **Example:**

        >>> from linnet.theories.lazy_active import mode_speed
        >>> mode_speed([0.0, 3.0, 30.0], 4.0).round(2)
        array([ 8.  , 10.  , 60.53])
    """
    return 2 * np.hypot(real_array("values", values), non_negative("threshold", threshold))


@representable
def predicted_alignment(values: ArrayLike, threshold: float) -> Float[np.ndarray, " ..."]:
    r"""Return how well the two layers are aligned along a mode: a cosine from 0 (lazy) to 1 (active).

    It holds for the self-consistent dynamics. To classify the modes of given weights, use `observables.regimes`.

    $$ \cos\angle(W_1 v, W_2^\top u) = \frac{s}{\sqrt{s^2 + g^2}} $$

    **Arguments:**

    - `values`: singular values $s$ of the product, any shape
    - `threshold`: threshold $g$

    **Returns** the cosines, shaped like `values`.

    **Reference:** Tu et al. 2024, remark before section 2.1, where "perpendicular" should read "parallel".

    **Example:**

        >>> from linnet.theories.lazy_active import predicted_alignment
        >>> predicted_alignment([0.0, 3.0, 400.0], 4.0).round(4)
        array([0. , 0.6, 1. ])
    """
    singular = real_array("values", values)
    length = np.hypot(singular, non_negative("threshold", threshold))
    return np.divide(singular, length, out=np.zeros_like(singular), where=length > 0)


def crossing_times(
    targets: ArrayLike, initial_values: ArrayLike, threshold: float, level: float | None = None
) -> Float[np.ndarray, " mode"]:
    r"""Return the times at which aligned singular values reach a level, by default the threshold $g$.

    For measured curves, use `observables.crossing_time`.

    $$ t = \frac{1}{2D} \ln \frac{\Phi(\mathrm{level})}{\Phi(s_0)}, \qquad
       \Phi(s) = \frac{s^* s + g^2 + D\sqrt{s^2 + g^2}}{s^* - s}, \quad D = \sqrt{s^{*2} + g^2} $$

    **Arguments:**

    - `targets`: strengths $s^* \ge 0$ of the modes in the target, (mode,)
    - `initial_values`: initial strengths $s_0$, of any sign, (mode,)
    - `threshold`: threshold $g$
    - `level`: strength that is crossed; the threshold by default

    **Returns** the times, (mode,); infinite if the level is above the target, and 0 if the initial strength is above
    the level.

    **Reference:** integral of an equation of Tu et al. 2024, E.3; the integral is not in the paper.

    **Example:**

        >>> from linnet.theories.lazy_active import crossing_times
        >>> crossing_times([4.0, 1.0, 0.05], [0.0, 0.0, 0.0], 0.1).round(4)  # the last never becomes active
        array([0.1115, 0.4628,    inf])
    """
    goal, first = (
        np.atleast_1d(real_array("targets", targets)),
        np.atleast_1d(real_array("initial_values", initial_values)),
    )
    goal, first = broadcast(targets=goal, initial_values=first)
    g = non_negative("threshold", threshold)
    aim = g if level is None else number("level", level)
    reach = np.hypot(goal, g)
    result = np.full(goal.shape, np.inf)
    result[first >= aim] = 0.0
    moving = (first < aim) & (goal > aim) & ((g > 0) | (first > 0))

    goal, reach, first = goal[moving], reach[moving], first[moving]

    def log_phi(s: np.ndarray | float) -> np.ndarray:
        """ln Phi - ln D, of ratios only: products of such sizes might not be numbers."""
        unit = np.maximum(np.abs(s), g)
        inner, outer = goal / reach * (s / unit) + g / reach * (g / unit), np.hypot(s / unit, g / unit)
        with np.errstate(divide="ignore", invalid="ignore"):  # of the branch that is not taken
            share = np.log(unit / 2 / (goal / 2 - s / 2))
            # below zero the sum cancels; times its conjugate it is (g (s* - s))^2
            falling = 2 * np.log(g / reach) - share - np.log(outer - inner)
            return np.where(inner < 0, falling, share + np.log(outer + inner))

    # Near its level a mode has two equal logarithms: there by the difference of Phi, in which nothing cancels.
    unit = np.maximum(np.abs(first), g)
    inner, outer = goal / reach * (first / unit) + g / reach * (g / unit), np.hypot(first / unit, g / unit)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # of the branch that is not taken
        way, slope = (aim - first) / unit, (aim + first) / (np.hypot(aim, g) + np.hypot(first, g))
        close = np.log1p(way * (goal / reach + slope) / (inner + outer)) + np.log1p((aim - first) / (goal - aim))
        near = (inner > -outer / 2) & (first > -goal / 2) & (way < 1)
        result[moving] = np.where(near, close, log_phi(aim) - log_phi(first)) / reach / 2
    return result


def _modes(targets: object, initial_values: object, times: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    goal, first = (
        np.atleast_1d(real_array(name, value, ndim=(0, 1)))
        for name, value in (("targets", targets), ("initial_values", initial_values))
    )
    goal, first = broadcast(targets=none_negative("targets", goal), initial_values=first)
    return goal, first, times_array("times", times)[:, None]
