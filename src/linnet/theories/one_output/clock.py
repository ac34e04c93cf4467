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
_IDENTITY = np.eye(_STAGES)
_SCALES = (_NODES ** (_POWERS[:, None] + 1))[..., None]  # of an integral of s^k up to a node, (power, node, mode)
_TO_MONOMIALS = np.linalg.inv(_NODES[:, None] ** _POWERS)  # values at the nodes -> coefficients of s^k on [0, 1]
_TOLERANCE = 1e-9  # of the polynomial at the end of a step, relative: the modes are then good to 1e-12
_SMALL = 4.0  # of rate x step: above it the recursion upwards keeps its digits, below it the one downwards does
# The series in rate x step that the latter begins with, 5! sum_j (-x)^j / (j + 6)!; what is left out is 1e-19.
_SERIES = [(-1) ** j * math.factorial(_STAGES - 1) / math.factorial(j + _STAGES) for j in range(28)]
_MAX_STEPS = 20_000
_MAX_ITERATIONS = 30
_SETTLED = 1e-8  # of the last change of a fraction of a step: Newton's method is then off by its square
_TIMES_TOGETHER = 64  # times inside one step that are looked up together: more take memory, and gain nothing


class ClockError(ArithmeticError):
    """Raised if the steps did not reach a requested time.

    **Example:**

        >>> from linnet.theories.one_output import ClockError
        >>> issubclass(ClockError, ArithmeticError)
        True
    """


def _integrals(reach: np.ndarray, decay: np.ndarray) -> np.ndarray:
    r"""$\int_0^1 e^{-x(1 - s)} s^k ds$ by power k and x, (power, ...): `reach` is x, `decay` is $e^{-x}$."""
    small = np.abs(reach) < _SMALL
    result = np.empty((_STAGES, *reach.shape), dtype=reach.dtype)
    if small.any():
        near = np.where(small, reach, 0.0)
        row = np.full(near.shape, _SERIES[-1], dtype=near.dtype)  # of the highest power
        for coefficient in _SERIES[-2::-1]:
            row *= near
            row += coefficient
        result[-1] = row
        for power in range(_STAGES - 1, 0, -1):
            row = (1 - near * row) / power
            result[power - 1] = row
    if not small.all():
        large = ~small
        far = np.where(large, reach, _SMALL)
        row = (1 - decay) / far
        np.copyto(result[0], row, where=large)
        for power in range(1, _STAGES):
            row = (1 - power * row) / far
            np.copyto(result[power], row, where=large)
    return result


def _horner(coefficients: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the polynomial at the places."""
    value = np.full(places.shape, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = value * places + coefficient
    return value


def _span(driving: np.ndarray) -> slice | np.ndarray:
    """Return the rates that drive as a slice where they are neighbors: it takes no copies."""
    indices = np.flatnonzero(driving)
    if indices.size and indices[-1] - indices[0] + 1 == indices.size:
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return driving


class Clock:
    r"""The filter $\phi_i(T) = \int_0^T e^{-l_i (T - T')} y(T') dT'$ of every rate, marched until a canonical time.

    `rates` are the eigenvalues $l_i$ (or complex nodes of a contour, with positive real parts), `squares` the weights
    of $|z|^2 = \mathrm{Re} \sum_i w_i \phi_i^2$ (for data $c_i^2$), and `threshold` is g. `size` is $|c|$: the first
    step is a fraction of the time $2g/|c|$ in which y begins to fall.
    """

    def __init__(self, rates: np.ndarray, squares: np.ndarray, threshold: float, size: float):
        self.rates, self._g = rates, threshold
        self._driving = _span(squares != 0)  # the others follow y, and may grow until their squares overflow
        self._squares = squares[self._driving]
        self._filter, self._time = np.zeros(rates.size, dtype=rates.dtype), 0.0
        largest = max(float(np.abs(rates).max(initial=0.0)), np.finfo(float).tiny)
        self._step = 0.02 * min(2 * threshold / max(size, np.finfo(float).tiny), 1 / largest)
        self._y = np.full(_STAGES, float(self._inverse(self._filter)))

    def _inverse(self, values: np.ndarray) -> np.ndarray:
        return self._inverse_of_driving(values[..., self._driving])

    def _inverse_of_driving(self, values: np.ndarray) -> np.ndarray:
        return (2 * self._g + np.maximum((values**2 @ self._squares).real, 0.0)) ** -0.5

    def at(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The filter (time, rate) and a (time,) at increasing canonical times."""
        order = np.argsort(times, kind="stable")
        goals = times[order]
        filters = np.empty((times.size, self.rates.size), dtype=self.rates.dtype)
        steps = 0
        reached = int(np.searchsorted(goals, self._time, side="right"))
        filters[order[:reached]] = self._filter
        while reached < goals.size:
            if self._time + self._step * self._inverse(self._filter) ** 2 == self._time:
                raise ClockError(
                    f"no step from t = {self._time:g} on is accurate: t = {goals[reached]:g} is not reached."
                )
            coefficients, passed, end, error = self._attempt()
            steps += 1
            if steps > _MAX_STEPS:
                raise ClockError(f"{_MAX_STEPS} steps did not reach t = {goals[reached]:g}.")
            if error > _TOLERANCE:
                self._step *= max(0.2, 0.8 * (_TOLERANCE / error) ** (1 / _STAGES))
                continue
            last = int(np.searchsorted(goals, self._time + passed, side="right"))
            for first in range(reached, last, _TIMES_TOGETHER):
                inside = slice(first, min(first + _TIMES_TOGETHER, last))
                filters[order[inside]] = self._inside(coefficients, goals[inside] - self._time)
            reached = last
            if reached < goals.size:
                self._accept(coefficients, passed, end, error)
        return filters, self._inverse(filters) ** -2

    def _attempt(self) -> tuple[np.ndarray, float, np.ndarray, float]:
        """One step: the polynomial of y, the canonical time it takes, the filter at its end, its error."""
        h, scaled = self._step, self.rates * self._step
        inner = _NODES[:, None] * scaled[self._driving]
        reach = np.concatenate([inner.ravel(), scaled])  # up to the nodes, of rates that drive; and to the end, of all
        decay = np.exp(-reach)
        integrals = _integrals(reach, decay)
        start = decay[: inner.size].reshape(inner.shape) * self._filter[self._driving]
        parts = integrals[:, : inner.size].reshape(_STAGES, *inner.shape) * _SCALES
        weights = h * _TO_MONOMIALS.T @ parts.reshape(_STAGES, inner.size)  # of y at the nodes, in values at the nodes
        y = self._y
        for _ in range(_MAX_ITERATIONS):
            # Newton in log y: late, when z follows y, plain iteration of y = a^(-1/2) would go to and fro for ever
            values = start + (y @ weights).reshape(start.shape)
            inverse = self._inverse_of_driving(values)
            gaps = np.log(y / inverse)
            slopes = np.vecdot((values * self._squares).conj(), weights.reshape(_STAGES, *start.shape)).T.real
            slopes = slopes * y / inverse[:, None] ** -2  # of log a^(1/2) at each node, in log y at the others
            change = np.linalg.solve(_IDENTITY + slopes, -gaps)
            y = y * np.exp(change.clip(-2, 2))
            if np.abs(change).max() < 1e-14:
                break
        else:
            if not np.abs(change).max() < 1e-11:
                return np.zeros(_STAGES), 0.0, self._filter, np.inf
        self._last = y
        coefficients = _TO_MONOMIALS @ y
        end = decay[inner.size :] * self._filter + h * (coefficients @ integrals[:, inner.size :])
        error = abs(float(coefficients.sum() / self._inverse(end)) - 1)
        return coefficients, h * float(_WEIGHTS @ y**2), end, error

    def _inside(self, coefficients: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The filters where the canonical times of this step are `wanted`: Newton in the fractions of the step."""

        def passed(theta: np.ndarray) -> np.ndarray:
            return self._step * theta * (_horner(coefficients, theta[:, None] * _NODES) ** 2 @ _WEIGHTS)

        low, high = np.zeros(wanted.size), np.ones(wanted.size)
        theta = np.minimum(wanted / passed(np.ones(1)), 1.0)
        for _ in range(100):
            gap = passed(theta) - wanted
            low, high = np.where(gap > 0, low, theta), np.where(gap > 0, theta, high)
            new = theta - gap / (self._step * _horner(coefficients, theta) ** 2)
            new = np.where((low <= new) & (new <= high), new, (low + high) / 2)
            change, theta = np.abs(new - theta), new
            if (change <= _SETTLED * theta).all():
                break
        reach = theta[:, None] * (self.rates * self._step)
        decay = np.exp(-reach)
        scales = self._step * coefficients[:, None] * theta ** (_POWERS[:, None] + 1)
        return decay * self._filter + np.einsum("kt,ktm->tm", scales, _integrals(reach, decay))

    def _accept(self, coefficients: np.ndarray, passed: float, end: np.ndarray, error: float) -> None:
        self._time += passed
        self._filter = end
        growth = min(4.0, 0.8 * (_TOLERANCE / max(error, 1e-300)) ** (1 / _STAGES))
        self._y = np.maximum(((1 + growth * _NODES)[:, None] ** _POWERS) @ coefficients, 0.3 * self._last[-1])
        if growth > 2 or not np.all(np.isfinite(self._y)):
            self._y = np.full(_STAGES, float(self._inverse(end)))
        self._step *= growth
