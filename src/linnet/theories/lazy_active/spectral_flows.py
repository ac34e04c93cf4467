"""The spectral flow: each mode of a wide network over time, from a negligible initial product."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet._arguments import non_negative, none_negative, real_array, representable, times_array
from linnet.theories.lazy_active._decaying_threshold import decaying_modes

# Factors of 2^27 + 1 split a float64 into two halves whose products are exact (Dekker).
_SPLIT = 134217729.0
# Products of rates and times are split only where the split itself can neither overflow nor matter: below, exp is 1.
_SPLITTABLE = 1e280


@representable
def mode_values(
    values: object, threshold: float, times: object, *, weight_decay: float = 0.0
) -> Float[np.ndarray, "time mode"]:
    r"""Return the strength of each mode of a wide two-layer network over time, from a zero initial product.

    It is the simplest formula of lazy and active training. If the initial product matters, use `self_consistent`.

    $$ \dot s = 2\sqrt{s^2 + g^2}\,(S - s),\quad s(0) = 0: \qquad
       s(t) = S\,\frac{(1 - E)(1 + q^2 E)}{(1 + a q E)(1 - q E/a)}, $$
    $$ \rho = \sqrt{S^2 + g^2},\quad E = e^{-2\rho t},\quad a = (S + \rho)/g,\quad q = (a - 1)/(a + 1) $$

    All brackets are positive and computed without cancellation, so the result is accurate to 1e-13 for $g/S$ from
    1e-300 to 1e300.

    Under weight decay $\lambda$ the threshold decays too, so that modes which begin lazily become active, and modes
    below $\lambda$ are removed:

    $$ \dot s = 2\sqrt{s^2 + g(t)^2}\,(S - s) - 2\lambda s, \quad g(t) = g e^{-2\lambda t}, \quad
       s(\infty) = \max(S - \lambda, 0). $$

    That equation is integrated, to 1e-12.

    **Arguments:**

    - `values`: singular values $S \ge 0$ of the target, (mode,)
    - `threshold`: threshold $g = \sigma^2 w \ge 0$. At $g = 0$ nothing ever moves.
    - `times`: times (learning rate times number of steps), strictly increasing, (time,); the last may be infinite
    - `weight_decay`: coefficient $\lambda$ of weight decay, zero by default

    **Returns** $s(t)$, (time, mode).

    **Valid when** $\Sigma = I$ and the initial product is negligible.

    **Reference:** Varre et al. 2023, Theorem C.12 with $\gamma = g$, rearranged. It solves eq. (1) of Tu et al. 2024
    from $A = 0$.

    **Example:**

        >>> from linnet.theories.lazy_active import mode_values
        >>> mode_values([2.0, 0.5], 0.1, [0.0, 1.0, float("inf")]).round(4)
        array([[0.    , 0.    ],
               [1.1788, 0.1026],
               [2.    , 0.5   ]])
        >>> mode_values([2.0, 0.5], 0.1, [1.0, float("inf")], weight_decay=0.3).round(4)
        array([[0.8185, 0.0588],
               [1.7   , 0.2   ]])
    """
    S, g, t = modes_of(values), non_negative("threshold", threshold), clock_of(times)
    decay = non_negative("weight_decay", weight_decay)
    return decaying_modes(S, np.array([g]), t[None], decay)[0] if decay else _flow(S, g, t[:, None])


@representable
def mode_slopes(values: object, threshold: float, times: object) -> Float[np.ndarray, "time mode"]:
    r"""Return how strongly a mode responds to a change of its own target: the derivative $\partial s(t)/\partial S$.

    It is the derivative of `mode_values`. Use it as `slopes` of `theories.denoising.sure`.

    **Arguments:**

    - `values`: singular values $S \ge 0$ of the target, (mode,)
    - `threshold`: threshold $g = \sigma^2 w \ge 0$
    - `times`: times (learning rate times number of steps), strictly increasing, (time,); the last may be infinite

    **Returns** $\partial s(t)/\partial S$, (time, mode).

    **Valid when** `mode_values` is.

    **Example:**

        >>> from linnet.theories.lazy_active import mode_slopes
        >>> mode_slopes([2.0, 0.5], 0.1, [1.0, float("inf")]).round(3)  # at the end, the mode equals its target
        array([[1.306, 0.254],
               [1.   , 1.   ]])
    """
    S, g, t = modes_of(values), non_negative("threshold", threshold), clock_of(times)[:, None]
    return _slopes(S, g, t, _flow(S, g, t))


def modes_of(values: object, name: str = "values") -> np.ndarray:
    """Singular values as an array: one axis, none negative."""
    return none_negative(name, np.atleast_1d(real_array(name, values, ndim=(0, 1))))


def clock_of(times: object) -> np.ndarray:
    """Times: one axis, non-negative, strictly increasing; the last may be infinite."""
    return times_array("times", times, finite=False)


def _letters(S: np.ndarray, g: np.ndarray | float, t: np.ndarray) -> tuple[np.ndarray, ...]:
    """rho, q, sqrt(a), E, sqrt(E) and 1 - E, broadcast; g may be an array as well."""
    rho = np.hypot(S, g)
    excess = S * (1 + S / np.where(rho + g > 0, rho + g, 1.0))  # S + rho - g, without its cancellation
    total = S + rho + g
    q = excess / np.where(total > 0, total, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(S + rho) / np.sqrt(g)
    exponent, rest = _product(2 * rho, t)
    # E as the square of its root: next to a = 1e300 it counts down to 1e-320, where it has lost its digits
    half = np.exp(-exponent / 2) * (1 - rest / 2)
    grown = -np.expm1(-exponent) + rest * np.exp(-exponent)
    return rho, q, root, half * half, half, grown


def _product(rate: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """rate * time and the rounding error of that product: next to a growth of e^700 it would cost 1e-13."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        whole = np.where(rate > 0, rate * np.where(rate > 0, time, 0.0), 0.0)
        (high, low), (upper, lower) = _halves(rate), _halves(time)
        rest = ((high * upper - whole) + high * lower + low * upper) + low * lower
    exact = (whole > 1) & (whole < 1500) & (rate < _SPLITTABLE) & (time < _SPLITTABLE)
    return whole, np.where(exact, rest, 0.0)


def _halves(number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two numbers of half the digits whose sum is the number; beyond `_SPLITTABLE` they are not finite."""
    high = number * _SPLIT - (number * _SPLIT - number)
    return high, number - high


def _flow(S: np.ndarray, g: np.ndarray | float, t: np.ndarray) -> np.ndarray:
    """s(t) for arrays that broadcast: the formula of `mode_values`, for g > 0; zeros where g or S is zero."""
    _, q, root, E, half, grown = _letters(S, g, t)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        rise = root * half  # sqrt(a E)
        front = S * grown * ((1 + q * q * E) / (1 - q * E / root**2))
        # 1/(1 + a q E) without a overflowing: divided twice by sqrt(a E) where that is large
        value = np.where(rise > 1, front / rise / rise / (q + 1 / rise / rise), front / (1 + q * rise * rise))
    return np.where((np.asarray(g) > 0) & (S > 0), value, 0.0)


def _slopes(S: np.ndarray, g: np.ndarray | float, t: np.ndarray, s: np.ndarray) -> np.ndarray:
    """ds/dS from the logarithmic derivatives of the brackets; at S = 0 it is 1 - e^(-2gt)."""
    rho, q, root, E, half, grown = _letters(S, g, t)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        pull = np.where(np.isinf(t), 0.0, 2 * np.where(np.isinf(t), 0.0, t) * S / rho)  # -d ln E/dS
        bend = (1 - q * q) / (2 * rho)  # dq/dS
        share = np.where(root * half > 1, 1 / (1 + 1 / (q * (root * half) ** 2)), q * (root * half) ** 2)
        share = np.where(root * half > 1, share, share / (1 + share))  # aqE/(1 + aqE)
        less = E / root**2  # E/a
        logarithmic = (
            1 / S
            + pull * E / grown
            + (2 * q * bend - q * q * pull) * E / (1 + q * q * E)
            - share * (1 / rho + bend / q - pull)
            + less * (bend - q / rho - q * pull) / (1 - q * less)
        )
        slope = np.where(grown > 0, s * logarithmic, 0.0)
    return np.where(np.asarray(g) > 0, np.where(S > 0, slope, grown), 0.0)
