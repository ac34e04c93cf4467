r"""The scalar that drives a network of one output: its second layer's squared length over time.

In the clock $dT = a\,dt$ the vector z, with predictor $b = \sqrt{a}\, z$ and $a = 2g + |z|^2$, is a linear filter of c:

$$ \frac{dz}{dT} = y(T)\, c - S z, \qquad y = a^{-1/2} $$

So all that is not a formula is the scalar y. Steps are collocation at Gauss points: y is a polynomial on a step, and
every mode is integrated exactly against it, however stiff it is.
"""

from __future__ import annotations

import math

import numpy as np

_STAGES = 6
_NODES, _WEIGHTS = (
    (np.polynomial.legendre.leggauss(_STAGES)[0] + 1) / 2,
    np.polynomial.legendre.leggauss(_STAGES)[1] / 2,
)
_POWERS = np.arange(_STAGES)
_TO_MONOMIALS = np.linalg.inv(_NODES[:, None] ** _POWERS)  # values at the nodes -> coefficients of s^k on [0, 1]
_FINE = (np.polynomial.legendre.leggauss(20)[0] + 1) / 2, np.polynomial.legendre.leggauss(20)[1] / 2
_TOLERANCE = 1e-9  # of the polynomial at the end of a step, relative: the modes are then good to 1e-12
_SMALL = 4.0  # of rate x step: above it the recursion upwards keeps its digits, below it the one downwards does
# The series in rate x step that the latter begins with, 5! sum_j (-x)^j / (j + 6)!; what is left out is 1e-19.
_SERIES = [(-1) ** j * math.factorial(_STAGES - 1) / math.factorial(j + _STAGES) for j in range(28)]
_MAX_STEPS = 20_000
_MAX_ITERATIONS = 30


class ClockError(ArithmeticError):
    """The steps did not reach the time that was asked for.

    **Example:**

        >>> from linnet.theories.one_output import ClockError
        >>> issubclass(ClockError, ArithmeticError)
        True
    """


def _integrals(rates: np.ndarray, theta: np.ndarray | float) -> np.ndarray:
    r"""$\int_0^\theta e^{-\lambda(\theta - s)} s^k ds$ by share of the step, rate and power, (share, mode, power)."""
    shares = np.atleast_1d(theta)[:, None]
    reach = shares * rates
    small = np.abs(reach) < _SMALL
    result = np.empty((*reach.shape, _STAGES), dtype=rates.dtype)
    powers = np.broadcast_to((shares ** (_POWERS + 1))[:, None], result.shape)
    near = reach[small]
    rows = [np.polynomial.polynomial.polyval(near, _SERIES)]  # of the highest power, on [0, 1]
    for power in range(_STAGES - 1, 0, -1):
        rows.append((1 - near * rows[-1]) / power)
    result[small] = np.stack(rows[::-1], axis=-1) * powers[small]
    part, stiff = powers[~small], np.broadcast_to(rates, reach.shape)[~small]
    rows = [-np.expm1(-reach[~small]) / stiff]
    for power in range(1, _STAGES):
        rows.append((part[:, power - 1] - power * rows[-1]) / stiff)
    result[~small] = np.stack(rows, axis=-1)
    return result


class Clock:
    r"""The filter $\phi_i(T) = \int_0^T e^{-l_i (T - T')} y(T') dT'$ of every rate, marched until a canonical time.

    `rates` are the eigenvalues $l_i$ (or complex nodes of a contour, with positive real parts), `squares` the weights
    of $|z|^2 = \mathrm{Re} \sum_i w_i \phi_i^2$ (for data $c_i^2$), and `threshold` is g. `size` is $|c|$: the first
    step is a fraction of the time $2g/|c|$ in which y begins to fall.
    """

    def __init__(self, rates: np.ndarray, squares: np.ndarray, threshold: float, size: float):
        self.rates, self._g = rates, threshold
        self._driving = squares != 0  # the others follow y, and may grow until their squares overflow
        self._squares = squares[self._driving]
        self._filter, self._time = np.zeros(rates.size, dtype=rates.dtype), 0.0
        largest = max(float(np.abs(rates).max(initial=0.0)), np.finfo(float).tiny)
        self._step = 0.02 * min(2 * threshold / max(size, np.finfo(float).tiny), 1 / largest)
        self._y = np.full(_STAGES, float(self._inverse(self._filter)))

    def _inverse(self, values: np.ndarray) -> np.ndarray:
        return (2 * self._g + np.maximum((values[..., self._driving] ** 2 @ self._squares).real, 0.0)) ** -0.5

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The filter (time, rate) and a (time,) at increasing canonical times."""
        order = np.argsort(times, kind="stable")
        filters, lengths = np.empty((times.size, self.rates.size), dtype=self.rates.dtype), np.empty(times.size)
        steps, moved = 0, None  # a step that is tried, and not yet accepted: several times may lie in it
        for index in order:
            goal = times[index]
            while True:
                if goal <= self._time:
                    filters[index] = self._filter
                    break
                if moved is None:
                    moved = self._attempt()
                    steps += 1
                if steps > _MAX_STEPS:
                    raise ClockError(f"{_MAX_STEPS} steps did not reach t = {goal:g}.")
                coefficients, passed, end, error = moved
                if error > _TOLERANCE:
                    self._step *= max(0.2, 0.8 * (_TOLERANCE / error) ** (1 / _STAGES))
                    if self._time + self._step * self._inverse(self._filter) ** 2 == self._time:
                        raise ClockError(
                            f"no step from t = {self._time:g} on is accurate: t = {goal:g} is not reached."
                        )
                    moved = None
                    continue
                if self._time + passed >= goal:
                    filters[index] = self._inside(coefficients, goal - self._time)
                    break
                self._accept(coefficients, passed, end, error)
                moved = None
            lengths[index] = float(self._inverse(filters[index])) ** -2
        return filters, lengths

    def _attempt(self) -> tuple[np.ndarray, float, np.ndarray, float]:
        """One step: the polynomial of y, the canonical time it takes, the filter at its end, its error."""
        h, scaled = self._step, self.rates * self._step
        shares = np.append(_NODES, 1.0)
        kept = np.exp(-np.outer(shares, scaled)) * self._filter
        weights = (_integrals(scaled, shares) @ _TO_MONOMIALS) * h  # (stages and end, mode, stage)
        y = self._y
        for _ in range(_MAX_ITERATIONS):
            # Newton in log y: late, when z follows y, plain iteration of y = a^(-1/2) would go to and fro for ever
            values = kept[:-1] + weights[:-1] @ y
            gaps = np.log(y / self._inverse(values))
            driving = values[:, self._driving] * self._squares
            slopes = np.einsum("im,imj->ij", driving, weights[:-1, self._driving]).real
            slopes = slopes * y / self._inverse(values) ** -2
            change = np.linalg.solve(np.eye(_STAGES) + slopes, -gaps)
            y = y * np.exp(np.clip(change, -2, 2))
            if np.abs(change).max() < 1e-14:
                break
        else:
            if not np.abs(change).max() < 1e-11:
                return np.zeros(_STAGES), 0.0, self._filter, np.inf
        self._last = y
        coefficients = _TO_MONOMIALS @ y
        end = kept[-1] + weights[-1] @ y
        error = abs(float(coefficients.sum() / self._inverse(end)) - 1)
        return coefficients, h * float(_WEIGHTS @ y**2), end, error

    def _inside(self, coefficients: np.ndarray, wanted: float) -> np.ndarray:
        """The filter where the canonical time of this step is `wanted`: Newton in the share of the step."""
        nodes, weights = _FINE

        def passed(theta: float) -> float:
            y = ((theta * nodes)[:, None] ** _POWERS) @ coefficients
            return self._step * theta * float(weights @ y**2)

        low, high, theta = 0.0, 1.0, min(wanted / passed(1.0), 1.0)
        for _ in range(100):
            gap = passed(theta) - wanted
            low, high = (low, theta) if gap > 0 else (theta, high)
            slope = self._step * float((theta**_POWERS) @ coefficients) ** 2
            new = theta - gap / slope
            new = new if low < new < high else (low + high) / 2
            if abs(new - theta) <= 1e-15 * theta:
                break
            theta = new
        scaled = self.rates * self._step
        return np.exp(-scaled * theta) * self._filter + self._step * (_integrals(scaled, theta)[0] @ coefficients)

    def _accept(self, coefficients: np.ndarray, passed: float, end: np.ndarray, error: float) -> None:
        self._time += passed
        self._filter = end
        growth = min(4.0, 0.8 * (_TOLERANCE / max(error, 1e-300)) ** (1 / _STAGES))
        self._y = np.maximum(((1 + growth * _NODES)[:, None] ** _POWERS) @ coefficients, 0.3 * self._last[-1])
        if growth > 2 or not np.all(np.isfinite(self._y)):
            self._y = np.full(_STAGES, float(self._inverse(end)))
        self._step *= growth
