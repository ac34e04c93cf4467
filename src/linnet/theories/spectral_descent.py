"""Spectral descent, which is Muon with small steps and no momentum: the singular values of the target are clipped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import (
    broadcast,
    count,
    non_negative,
    none_negative,
    partly_representable,
    real_array,
    refuse_infinite,
    representable,
    times_array,
)
from linnet.problems.problem import Problem
from linnet.theories.lazy_active.closed_form import whitened_target
from linnet.theories.lazy_active.spectral_flows import clock_of, modes_of
from linnet.theories.lazy_active.task_spectra import TaskSpectrum, task_spectrum

NEWTON_STEPS = 60
NEWTON_TOLERANCE = 1e-15
MIN_UNCERTAINTY = 0.005  # of finite widths and steps; measured on networks of 24 inputs
LARGE_RATIO = 1e9  # of level and threshold, from which on the square of its inverse is lost in rounding


@dataclass(frozen=True)
class SpectralMinimum:
    """Result of `minimum`: the minimum test loss of spectral descent over all times.

    **Attributes:**

    - `test_loss`: test loss $|A - A^*|_F^2/2$ at its minimum
    - `time`: time of the minimum (sum of the learning rates)
    - `level`: level at which the singular values of the target are clipped at that time
    - `uncertainty`: uncertainty of `test_loss` as a fraction of it; infinite if there is no formula, and then all
      numbers are NaN

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.spectral_descent import minimum
        >>> problem = ln.Problem.from_target(np.diag([3.0, 1.0]), truth=np.diag([2.5, 1.0]))
        >>> best = minimum(problem, 0.0)
        >>> round(best.level, 12), round(best.time, 12), round(best.test_loss, 12)
        (2.5, 1.581138830084, 0.0)
    """

    test_loss: float
    time: float
    level: float
    uncertainty: float


@representable
def level(threshold: float, times: ArrayLike) -> Float[np.ndarray, " time"]:
    r"""Return the strength, over time, that all modes share under spectral descent until they reach their targets.

    If the layers have different shapes or learning rates, use `unequal_levels`.

    $$ \dot s = 2 (s^2 + g^2)^{1/4},\quad s(0) = 0: \qquad
       t = \frac{s}{2\sqrt g}\,{}_2F_1\!\left(\tfrac14, \tfrac12; \tfrac32; -\frac{s^2}{g^2}\right) $$

    **Arguments:**

    - `threshold`: threshold $g = \sigma^2 w \ge 0$; at $g = 0$ the level is $t^2$
    - `times`: times (sums of the learning rates), strictly increasing, (time,); the last may be infinite

    **Returns** $s(t)$, (time,), accurate to 1e-13.

    **Valid when** `mode_values` is valid.

    **Example:**

        >>> from linnet.theories.spectral_descent import level
        >>> level(0.0, [0.0, 1.0, 3.0]).tolist(), level(1.0, [0.0, 1.0, 3.0]).round(3).tolist()
        ([0.0, 1.0, 9.0], [0.0, 2.492, 12.94])
    """
    g, t = non_negative("threshold", threshold), clock_of(times)
    reached = np.maximum(
        2 * np.sqrt(g) * t if g > 0 else 0.0, t**2
    )  # not beyond the level, from where Newton's steps go up to it
    moving = np.isfinite(reached) & (reached > 0)
    for _ in range(NEWTON_STEPS if g > 0 else 0):
        s = reached[moving]
        change = 2 * (t[moving] - _time_of_level(s, g)) * np.sqrt(np.hypot(s, g))
        reached[moving] = s + change
        if (np.abs(change) <= NEWTON_TOLERANCE * s).all():
            break
    return reached


@representable
def mode_values(target_values: ArrayLike, threshold: float, times: ArrayLike) -> Float[np.ndarray, "time mode"]:
    r"""Return the strength of each singular mode of the target under spectral descent, from a wide Gaussian
    initialization.

    Under gradient descent, the same quantity is `theories.lazy_active.mode_values`.

    $$ s_i(t) = \min(S_i, s(t)) $$

    with the same `level` $s(t)$ for all modes. Under gradient flow strong modes are learned first. Under spectral
    descent all modes grow at the same speed, so weak modes reach their targets first.

    **Arguments:**

    - `target_values`: singular values $S \ge 0$ of the target, (mode,)
    - `threshold`: threshold $g = \sigma^2 w \ge 0$, which affects only the time scale
    - `times`: times (sums of the learning rates), strictly increasing; the last may be infinite. (time,)

    **Returns** $s_i(t)$, (time, mode).

    **Valid when** inputs are whitened, steps are small, and the layers are wide and Gaussian with $g$ small compared
    with the target. Then both Gram matrices of the initialization are close to $g I$, and the initial product is
    negligible.

    It describes `trainers.updates.SpectralDescent`. `Muon` differs in two ways: its momentum delays learning, and its
    Newton-Schulz iteration makes singular values that are not all 1. With finite steps, a mode oscillates around its
    target by at most a step.

    **Example:**

        >>> from linnet.theories.spectral_descent import mode_values
        >>> mode_values([9.0, 2.0], 0.0, [1.0, 2.0, float("inf")]).tolist()
        [[1.0, 1.0], [4.0, 2.0], [9.0, 2.0]]
    """
    return np.minimum(modes_of(target_values, "target_values"), level(threshold, times)[:, None])


@representable
def unequal_levels(
    first: ArrayLike, second: ArrayLike, rates: tuple[float, float], times: ArrayLike, *, initial: ArrayLike = 0.0
) -> Float[np.ndarray, "time mode"]:
    r"""Return the level of each mode over time if the layers differ in size or learning rate.

    Muon has such learning rates, because they depend on the shape of a layer. For equal layers, `level` has a closed
    form.

    $$ \dot s = \sqrt{\kappa^2 + 4 c_1 c_2 \sqrt{a^2 b^2 - s_0^2 + s^2}}, \qquad \kappa = c_2 a - c_1 b $$

    This equation follows from two quantities that $\dot W_l = c_l\,\mathrm{polar}(G_l)$ conserves: $c_2 |p| - c_1 |q|$
    and $|p|^2 |q|^2 - s^2$, where $p = W_1 v$, $q = W_2^\top u$ and $s = p \cdot q$. For $a = b = \sqrt g$ and equal
    rates, the result is `level`.

    **Arguments:**

    - `first`, `second`: norms $a = |W_1 v_i|$ and $b = |W_2^\top u_i|$ at initialization, (mode,)
    - `rates`: learning rates $c_1$ and $c_2$ of the layers, in units of the common one
    - `times`: times (sums of the learning rates), increasing, (time,)
    - `initial`: initial strength $s_0$, at most $a b$, one number or one for each mode

    **Returns** the level of each mode, (time, mode): its strength until it reaches its target.

    **Valid when** `mode_values` is valid, except that the Gram matrices of the layers may differ.

    **Reference:** own result.

    **Example:**

        >>> from linnet.theories.spectral_descent import level, unequal_levels
        >>> unequal_levels([1.0], [1.0], (1.0, 1.0), [0.0, 1.0])[:, 0].round(6).tolist()
        [0.0, 2.492424]
        >>> level(1.0, [0.0, 1.0]).round(6).tolist()
        [0.0, 2.492424]
    """
    from scipy.integrate import solve_ivp

    a, b = (real_array(name, value, ndim=1) for name, value in (("first", first), ("second", second)))
    a, b, begin = broadcast(first=a, second=b, initial=real_array("initial", initial, ndim=(0, 1)))
    factors, clock = real_array("rates", rates, ndim=1), times_array("times", times)
    if factors.size != 2 or (factors < 0).any():
        raise ValueError(f"`rates` must be two factors that are not negative: got {factors.tolist()}.")
    c1, c2 = factors
    refuse_infinite(c1 * c2, (a * b) ** 2, (c2 * a - c1 * b) ** 2, begin**2)
    kept, product = c2 * a - c1 * b, np.maximum((a * b) ** 2 - begin**2, 0.0)

    def speed(_: float, s: np.ndarray) -> np.ndarray:
        return np.sqrt(kept**2 + 4 * c1 * c2 * np.sqrt(product + s**2))

    if clock[-1] == 0:
        return np.broadcast_to(begin, (clock.size, a.size)).copy()
    floor = 1e-11 * float(speed(0.0, begin).max() * clock[-1])
    run = solve_ivp(speed, (0.0, clock[-1]), begin, "DOP853", t_eval=clock, rtol=1e-10, atol=max(floor, 1e-300))
    if not run.success:
        raise ArithmeticError(f"the levels could not be followed to `times` {clock[-1]:g}: {run.message}")
    return np.asarray(run.y.T)


@representable
def product(target: ArrayLike | Problem, threshold: float, times: ArrayLike) -> Float[np.ndarray, "time output input"]:
    r"""Return the product over time under spectral descent, which clips the singular values of the target.

    $$ A(t) = U \min(S, s(t)) V^\top $$

    If you need only singular values, use `mode_values`.

    **Arguments:**

    - `target`: target matrix $Y = U S V^\top$, (output, input), or a `Problem` with whitened inputs
    - `threshold`: threshold $g = \sigma^2 w \ge 0$
    - `times`: canonical times (sums of learning rates), strictly increasing, (time,); the last may be infinite

    **Returns** $A(t)$, (time, output, input).

    **Valid when** `mode_values` is valid.

    **Example:**

        >>> from linnet.theories.spectral_descent import product
        >>> product([[9.0, 0.0], [0.0, 2.0]], 0.0, [2.0]).round(12).tolist()
        [[[4.0, 0.0], [0.0, 2.0]]]
    """
    left, values, right = np.linalg.svd(whitened_target(target), full_matrices=False)
    return (left * mode_values(values, threshold, times)[:, None, :]) @ right


@partly_representable
def minimum(problem: Problem | TaskSpectrum, threshold: float, *, width: int | None = None) -> SpectralMinimum:
    r"""Return the minimum test loss of spectral descent over all times, with its time, without training.

    `ln.phase_diagram(..., update=SpectralDescent())` computes the same minimum for a plane of networks.

    Between two neighboring singular values the test loss is quadratic in the level, so the minimum is exact.

    **Arguments:**

    - `problem`: learning problem with whitened inputs and a `truth`, or its `TaskSpectrum`
    - `threshold`: threshold $g = \sigma^2 w \ge 0$
    - `width`: number of hidden units $w$, infinite by default; there is no formula if it is smaller than both the
      number of inputs and the number of outputs, because the network cannot hold all modes

    **Returns** a `SpectralMinimum`. Its `uncertainty` combines 0.5% with the norm of the initial product over the norm
    of the error, but is not more than the rise from the minimum to the end. If the initial product is larger than the
    error, the second part is the square of their ratio.

    **Example:**

        >>> import linnet as ln
        >>> task = ln.problems.low_rank_plus_noise(50, rank=3, key=0)
        >>> wide = ln.theories.spectral_descent.minimum(task, 0.01, width=1000)
        >>> descent = ln.theories.lazy_active.predicted_diagram(task, [1e-5], [1000])
        >>> round(wide.test_loss), round(float(descent.min_test_loss[0, 0]))  # gradient descent denoises better
        (1136, 165)
    """
    g = non_negative("threshold", threshold)
    spectrum = problem if isinstance(problem, TaskSpectrum) else task_spectrum(problem)
    if not spectrum.has_truth:
        raise ValueError("`problem` must have a `truth`: the test loss is the distance to it.")
    width = None if width is None else count("width", width)
    if width is not None and width < min(spectrum.outputs, spectrum.inputs):
        return SpectralMinimum(np.nan, np.nan, np.nan, np.inf)
    values, overlaps, counted = spectrum.values, spectrum.overlaps, spectrum.multiplicities
    levels = _candidate_levels(values, overlaps, counted)

    def losses(clipped: np.ndarray) -> np.ndarray:
        return 0.5 * ((clipped**2) @ counted - 2 * clipped @ (counted * overlaps) + spectrum.truth_power)

    path = losses(np.minimum(values, levels[:, None]))
    best = int(np.argmin(path))
    loss, end = max(float(path[best]), 0.0), float(losses(values))
    uncertainty = 0.0
    if width is not None:
        initial = g / np.sqrt(float(width)) * np.sqrt(spectrum.outputs * spectrum.inputs)  # norm of the product
        share = initial / np.sqrt(2 * loss) if loss > 0 else np.inf
        uncertainty = MIN_UNCERTAINTY + (share**2 if share > 1 else min(share, end / loss - 1))
    time = float(_time_of_level(levels[best], g))
    refuse_infinite(loss, time, float(uncertainty))
    return SpectralMinimum(loss, time, float(levels[best]), float(uncertainty))


def _candidate_levels(values: np.ndarray, overlaps: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return the levels at which the test loss may be minimal: 0, all singular values, and the vertices of the
    parabolas between them. Above the i-th of the decreasing `values` the i larger ones are clipped."""
    vertices = np.cumsum(counted * overlaps) / np.cumsum(counted)
    lower = np.append(values[1:], 0.0)
    inside = vertices[(vertices > lower) & (vertices < values)]
    return np.concatenate([[0.0], values, inside])


def time_of_level(levels: ArrayLike, threshold: float) -> Float[np.ndarray, "*levels"]:
    r"""Return the times at which modes of given strengths are learned under spectral descent.

    It is the inverse of `level`, by the formula given there. A mode of strength S is learned at `time_of_level(S, g)`.

    **Arguments:**

    - `levels`: strengths, zero or above, of any shape
    - `threshold`: threshold $g = \sigma^2 w \ge 0$

    **Returns** the times (sums of the learning rates), with the shape of `levels`.

    **Example:**

        >>> from linnet.theories.spectral_descent import time_of_level
        >>> time_of_level([1.0, 9.0], 0.0).tolist()
        [1.0, 3.0]
    """
    s = none_negative("levels", real_array("levels", levels))
    return _time_of_level(s, non_negative("threshold", threshold))


def _time_of_level(s: np.ndarray, g: float) -> np.ndarray:
    """Return `time_of_level` of checked arguments."""
    from scipy.special import gamma, hyp2f1

    delay = gamma(1.5) * gamma(-0.25) / (2 * gamma(0.25))  # of large levels, in units of the root of the threshold
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = s / np.float64(g)
        series = s / (2 * np.sqrt(g)) * hyp2f1(0.25, 0.5, 1.5, -(np.minimum(ratio, LARGE_RATIO) ** 2))
    return np.where(ratio < LARGE_RATIO, series, np.sqrt(s) + delay * np.sqrt(g))
