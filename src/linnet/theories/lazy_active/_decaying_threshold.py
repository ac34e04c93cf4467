r"""Modes under weight decay, which lets their threshold decay too.

With $g(t) = g e^{-2\lambda t}$ and $s = g(t) \sinh x$, the equation
$\dot s = 2\sqrt{s^2 + g(t)^2}(S - s) - 2\lambda s$ is

$$ \dot x = 2 (S - g(t) \sinh x), \qquad x(0) = 0, $$

in which nothing cancels and everything is damped. Each mode is followed by collocation of high order at Radau's points,
with separate steps, until its threshold is negligible. From there on it is logistic,
$\dot s = 2 s (S - \lambda - s)$. SciPy's solvers would take seconds for what takes a tenth of one here.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

STAGES = 9  # points in a step
TOLERANCE = 2e-14  # of the last Legendre coefficient of x in a step, relative to x or to 1
NEWTON_TOLERANCE = 1e-14
NEWTON_STEPS = 15
FIRST_STEP = 0.3  # in units of the shortest time scale
SHRINK, GROW, SAFETY = 0.2, 4.0, 0.7
MAX_STEPS = 20_000
NEGLIGIBLE = 22.0  # x from which on g(t)^2/s^2 is below 1e-18


class Collocation(NamedTuple):
    """Points c of a step of length 1, the integrals of their Lagrange polynomials up to each point, and two matrices of
    the polynomial through the initialization and all points: to the last Legendre coefficient, and barycentric
    weights."""

    points: np.ndarray
    integrals: np.ndarray
    last_coefficient: np.ndarray
    barycentric: np.ndarray


def decaying_modes(
    values: Float[np.ndarray, " mode"],
    thresholds: Float[np.ndarray, " cell"],
    times: Float[np.ndarray, "cell time"],
    decay: float,
) -> Float[np.ndarray, "cell time mode"]:
    """Return s(t) of every mode from zero, to about 1e-12; the `times` of a cell increase, and the last of every cell
    may be infinite."""
    found = np.zeros((*times.shape, values.size))
    found[~np.isfinite(times)] = np.maximum(values - decay, 0.0)
    found[thresholds == 0] = 0.0
    finite = np.flatnonzero(np.isfinite(times[0]))
    cell, mode = np.nonzero((thresholds[:, None] > 0) & (values > 0))
    if finite.size and cell.size:
        path = _integrate(values[mode], np.log(thresholds[cell]), times[cell][:, finite].T, decay)
        found[cell[:, None], finite, mode[:, None]] = path.T
    return found


def _logistic(S: np.ndarray, begin: np.ndarray, time: np.ndarray, decay: float) -> np.ndarray:
    """Return s a `time` after it was at `begin`, where the threshold is negligible."""
    rate = S - decay
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        risen = np.where(rate == 0, 2 * time, -np.expm1(-2 * rate * time) / rate)
        return np.where(begin > 0, begin / (np.exp(-2 * rate * time) + begin * risen), 0.0)


def _strengths(x: np.ndarray, log_threshold: np.ndarray) -> np.ndarray:
    """Return s = g sinh x, where neither a large x overflows nor a small one cancels."""
    with np.errstate(under="ignore"):
        small = np.exp(log_threshold) * np.sinh(np.minimum(x, 1.0))
        large = 0.5 * (np.exp(x + log_threshold) - np.exp(log_threshold - x))
    return np.where(x < 1, small, large)


def _integrate(S: np.ndarray, log_threshold: np.ndarray, times: np.ndarray, decay: float) -> np.ndarray:
    """Return s of each mode, with its own threshold, at its own times, (time, mode)."""
    points = _collocation()
    x, now, found = np.zeros(S.size), np.zeros(S.size), np.zeros(times.shape)
    with np.errstate(over="ignore", under="ignore"):
        step = FIRST_STEP / (2 * (np.hypot(S, np.exp(log_threshold)) + decay))
    for _ in range(MAX_STEPS):
        active = np.flatnonzero((now < times[-1]) & (x < NEGLIGIBLE))
        if not active.size:
            begin = _strengths(x, log_threshold - 2 * decay * now)
            later = _logistic(S, begin, np.maximum(times - now, 0.0), decay)
            return np.where(times > now, later, _strengths(found, log_threshold - 2 * decay * times))
        begin, length = now[active], step[active]
        path, error = _collocate(S[active], log_threshold[active], decay, begin, x[active], length, points)
        good = error <= 1
        kept, end = active[good], begin[good] + length[good]
        inside = (times[:, kept] > begin[good]) & (times[:, kept] <= end)
        if inside.any():
            rows, columns = np.nonzero(inside)
            shares = (times[rows, kept[columns]] - begin[good][columns]) / length[good][columns]
            found[rows, kept[columns]] = _interpolate(path[good][columns], shares, points)
        x[kept], now[kept] = path[good][:, -1], end
        with np.errstate(divide="ignore"):
            factor = SAFETY * np.maximum(error, 1e-30) ** (-1 / STAGES)
        step[active] = length * np.clip(factor, SHRINK, np.where(good, GROW, 1.0))
    raise ArithmeticError(
        f"the modes were not followed to t = {times.max():g} in {MAX_STEPS} steps. Ask for earlier `times`."
    )


def _collocate(
    S: np.ndarray,
    log_threshold: np.ndarray,
    decay: float,
    begin: np.ndarray,
    x: np.ndarray,
    length: np.ndarray,
    points: Collocation,
) -> tuple[np.ndarray, np.ndarray]:
    """Return x at initialization and the points of one step of each mode, (mode, 1 + point), and its error over the
    tolerance; infinite where Newton's iterations did not converge."""
    a = log_threshold[:, None] - 2 * decay * (begin[:, None] + length[:, None] * points.points)
    # where the slope vanishes: x stays below, and so may the iterations
    rest = np.logaddexp(0.0, np.log(S)[:, None] - a) + np.log(2.0)
    guess = np.clip(x[:, None] + 2 * S[:, None] * length[:, None] * points.points, 0.0, rest)
    matrix, identity = length[:, None, None] * points.integrals, np.eye(STAGES)
    size = np.inf
    for _ in range(NEWTON_STEPS):
        up, down = np.exp(guess + a), np.exp(a - guess)
        slope = 2 * (S[:, None] - _strengths(guess, a))
        left = guess - x[:, None] - np.einsum("mij,mj->mi", matrix, slope)
        jacobian = identity + matrix * (up + down)[:, None, :]
        change = np.linalg.solve(jacobian, left[:, :, None])[:, :, 0]
        after = np.clip(guess - change, 0.0, rest)
        size = np.abs(after - guess).max(axis=1) / np.clip(np.abs(after).max(axis=1), 1e-300, 1.0)
        guess = after
        if (size < NEWTON_TOLERANCE).all():
            break
    path = np.concatenate([x[:, None], guess], axis=1)
    scale = np.clip(np.abs(path).max(axis=1), 1e-300, 1.0)
    error = np.abs(path @ points.last_coefficient) / scale / TOLERANCE
    # rounding of a large x cannot be resolved any further
    error = np.where(error * TOLERANCE * scale < 4 * np.finfo(float).eps * np.abs(path).max(axis=1), 0.0, error)
    return path, np.where(size < 1e-10, error, np.inf)


@lru_cache(maxsize=1)
def _collocation() -> Collocation:
    """Return the constants of the method: Radau's points, the last of which is the end of the step."""
    from numpy.polynomial import legendre
    from scipy.special import roots_jacobi

    inner = roots_jacobi(STAGES - 1, 1, 0)[0]
    nodes = np.append(inner, 1.0)  # on [-1, 1]
    values = legendre.legvander(nodes, STAGES - 1)
    integrals = np.stack([legendre.legval(nodes, legendre.legint(unit, lbnd=-1)) for unit in np.eye(STAGES)], axis=1)
    everywhere = np.append(-1.0, nodes)
    last = np.linalg.inv(legendre.legvander(everywhere, STAGES))[-1]
    points = (everywhere + 1) / 2
    barycentric = 1 / np.array([np.prod(2 * (c - np.delete(points, i))) for i, c in enumerate(points)])
    return Collocation(points[1:], 0.5 * integrals @ np.linalg.inv(values), last, barycentric)


def _interpolate(paths: np.ndarray, shares: np.ndarray, points: Collocation) -> np.ndarray:
    """Return the polynomial through the initialization and the points of a step, (step, point), at a fraction of each
    step."""
    away = shares[:, None] - np.append(0.0, points.points)
    met = away == 0
    weights = np.where(met.any(axis=1, keepdims=True), met, points.barycentric / np.where(met, 1.0, away))
    return (weights * paths).sum(axis=1) / weights.sum(axis=1)
