"""Cells of the phase diagram that are not wide: a closed form from the factors of drawn starts and their imbalance."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet._randomness import Key, generator
from linnet.theories.mixed._wide_cells import Errors
from linnet.theories.mixed.task_spectra import Spectrum

_MOST_UNITS = 64  # that are computed with; wider networks are thinned
_FEWEST_ROWS = 40  # of the bulk, however wide the network
_MOST_ROWS = 200  # of the bulk, before equal modes are gathered
_LEAST_GROWTH = 1e-5  # of the exponent of the first mode: the growth divided out must not vanish
_MOST_GROWTH = 300.0  # of the exponent of the first mode: e^600 is still a number
_MOST_TILT = 8.0  # exponent of the imbalance; it is claimed to 1
_BULK_GROWTH = 16.0  # of the exponent of the bulk, whose rows are squared
_POWER_STEPS = 30
_ROOT = np.sqrt(0.5)


class DrawnStart:
    r"""One Gaussian start of a width, in the singular basis of the target: errors at every variance and time.

    The flow of a network with imbalance $M = W_1 W_1^\top - W_2^\top W_2$ is, with $Q = [W_1^\top; W_2]$,

    $$ \dot Q = \begin{pmatrix} 0 & Y^\top \\ Y & 0 \end{pmatrix} Q - \tfrac12 Q Q^\top Q
       + \tfrac12 \begin{pmatrix} I & 0 \\ 0 & -I \end{pmatrix} Q M. $$

    Without its last term it has a closed form, the balanced one. The last term alone multiplies $W_1$ by $e^{Mt/2}$
    and $W_2$ by $e^{-Mt/2}$. Half of it, the balanced flow, and the other half (which leaves the product as it is) give

    $$ A(t) = \text{balanced flow over } t \text{ from } (e^{Mt/4} W_1,\; W_2 e^{-Mt/4}), $$

    exact for $M = 0$ and to second order in $t$ for any $M$.

    A network of more than 64 units is thinned: the bulk and the width shrink by one factor while the variance grows
    by it, which keeps every mean that counts (threshold, start's noise, imbalance); modes that stand apart are kept.

    **Arguments:** `spectrum` of the task, `width` of the network, `key`.
    """

    def __init__(self, spectrum: Spectrum, width: float, key: Key):
        self.spectrum, self.apart = spectrum, spectrum.apart
        bulk = float(spectrum.multiplicities[self.apart :].sum())
        idle = abs(spectrum.outputs - spectrum.inputs)
        units, rows = _thinned(width, self.apart, bulk)
        self.thinning = bulk / rows if rows else 1.0
        # the threshold of modes that stand apart is that of the whole network, the bulk's that of what they leave of it
        raised = np.sqrt(width / units)
        scale = np.sqrt((width - self.apart) / (units - self.apart)) if units < width else 1.0
        values, overlaps, numbers = _members(spectrum, rows, units)
        sides, spare = _start(generator(key), self.apart, numbers, idle / self.thinning, units)
        lengths = [round(min(number, 2 * units)) for number in numbers]
        self.S = np.concatenate([spectrum.values[: self.apart], np.repeat(values, lengths)])
        self.share = np.concatenate([spectrum.overlaps[: self.apart], np.repeat(overlaps, lengths)])
        size = np.where(np.arange(self.S.size) < self.apart, raised, scale)[:, None]
        first, second, spare = size * sides[0], size * sides[1], scale * spare
        self.units = first.shape[1]
        self.idle_inputs = spectrum.inputs > spectrum.outputs
        sign = 1.0 if self.idle_inputs else -1.0
        self.rates, turn = np.linalg.eigh(first.T @ first - second.T @ second + sign * spare.T @ spare)
        self.first, self.second, self.spare = first @ turn, second @ turn, spare @ turn
        tops = [(_MOST_GROWTH, self.S[: self.apart]), (_BULK_GROWTH, self.S[self.apart :])]
        self.earliest = _LEAST_GROWTH / max(float(self.S.max()), np.finfo(float).tiny)
        self.latest = min((most / S.max() for most, S in tops if S.size and S.max() > 0), default=np.inf)

    def errors(self, variances: np.ndarray, times: np.ndarray, *, largest: bool = True) -> Errors:
        """`Errors` of each variance at its own times, (variance, time); the largest singular value if asked for."""
        columns = [self._measured(self._product(variances, times[:, i]), largest) for i in range(times.shape[1])]
        return Errors(*(np.stack(part, axis=1) for part in zip(*columns, strict=True)))

    def run(self, variance: float, times: np.ndarray) -> tuple[Errors, np.ndarray]:
        """`Errors` (time, 1) of one variance, and $u_i^T A v_i$ of the spectrum's entries (time, mode)."""
        A = self._product(np.full(times.size, variance), times)
        rows = np.einsum("tii->ti", A[:, : self.S.size, : self.S.size])
        order = np.argsort(self.S[self.apart :]) + self.apart
        bulk = self.spectrum.values[self.apart :]
        # thinned rows stand between the entries of the bulk
        inside = [np.interp(bulk, self.S[order], row[order]) if order.size else bulk for row in rows]
        errors = Errors(*(part[:, None] for part in self._measured(A, largest=True)))
        return errors, np.concatenate([rows[:, : self.apart], np.stack(inside)], axis=1)

    def _product(self, variances: np.ndarray, times: np.ndarray) -> np.ndarray:
        """A in the singular basis, (variance, output, input); rows and columns are those of the start."""
        steepest = max(float(np.abs(self.rates).max()), np.finfo(float).tiny)
        latest = np.minimum(self.latest, 4 * _MOST_TILT / (variances * steepest))  # by then all that is lazy is learned
        std, t = np.sqrt(variances)[:, None, None], np.clip(times, self.earliest, latest)[:, None]
        tilt = np.exp(variances[:, None] * self.rates * t / 4)[:, None, :]
        first, second = std * self.first * tilt, std * self.second / tilt
        plus, minus = _ROOT * (first + second), _ROOT * (first - second)
        spare = std * self.spare * tilt if self.idle_inputs else std * self.spare / tilt
        return self._solved(plus, minus, spare, t)

    def _growth(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """e^{-St} and (1 - e^{-2St})/2S of every row, (variance, row, 1)."""
        x = self.S * t
        safe = np.where(self.S > 0, self.S, 1.0)
        fallen = np.where(self.S > 0, -np.expm1(-2 * x) / (2 * safe), t)
        return np.exp(-x)[..., None], fallen[..., None]

    def _solved(self, plus: np.ndarray, minus: np.ndarray, spare: np.ndarray, t: np.ndarray) -> np.ndarray:
        """A2 H^{-1} A1^T with H = I + p' D+ p + m' D- m; what grows most is divided out, so that nothing cancels."""
        K, units = self.apart, self.units
        decay, fallen = self._growth(t)
        bulk, rest = plus[:, K:] / decay[:, K:], minus * decay
        # rows of both layers without what grows with the modes that stand apart
        inputs = np.concatenate([_ROOT * rest[:, :K], _ROOT * (bulk + rest[:, K:])], axis=1)
        outputs = np.concatenate([-_ROOT * rest[:, :K], _ROOT * (bulk - rest[:, K:])], axis=1)
        if self.idle_inputs:
            inputs = np.concatenate([inputs, spare], axis=1)
        else:
            outputs = np.concatenate([outputs, spare], axis=1)
        signals, fade, grown = plus[:, :K], decay[:, :K], fallen[:, :K]
        if units <= K + 2:
            rows = [np.sqrt(fallen[:, K:]) * bulk, np.sqrt(fallen) * minus, np.sqrt(t)[:, :, None] * spare]
            return _graded(rows, signals, inputs, outputs, fade, grown)
        H = (
            _turned(bulk) @ (fallen[:, K:] * bulk)
            + _turned(minus) @ (fallen * minus)
            + t[:, :, None] * (_turned(spare) @ spare)
        )
        H[:, np.arange(units), np.arange(units)] += 1
        solved = np.linalg.solve(H, _turned(np.concatenate([signals, inputs], axis=1)))
        A, right, left = outputs @ solved[:, :, K:], signals @ solved[:, :, K:], outputs @ solved[:, :, :K]
        # Woodbury's identity for the growing modes, their growth D = grown/fade^2 divided out
        core = signals @ solved[:, :, :K]
        core[:, np.arange(K), np.arange(K)] += (fade**2 / grown)[:, :, 0]
        core = np.linalg.inv(core)
        slope = _ROOT * (fade / grown)
        pulled = core @ right
        A -= left @ pulled
        A[:, :K] += slope * pulled
        A[:, :, :K] += (left @ core) * _turned(slope)
        A[:, :K, :K] -= core * slope * _turned(slope)
        A[:, np.arange(K), np.arange(K)] += 0.5 / grown[:, :, 0]
        return A

    def _measured(self, A: np.ndarray, largest: bool) -> tuple[np.ndarray, ...]:
        """Norms of the product, the bulk counted as often as it was thinned."""
        K, n = self.apart, self.S.size
        diagonal = np.einsum("vii->vi", A[:, :n, :n])
        often = np.where(np.arange(n) < K, 1.0, self.thinning)
        squares = np.einsum("vij,vij->vi", A[:, :, K:], A[:, :, K:])
        power = (
            (A[:, :, :K] ** 2).sum(axis=(1, 2))
            + squares[:, :K].sum(axis=1)
            + self.thinning * squares[:, K:].sum(axis=1)
        )
        spectrum = self.spectrum
        target = float((spectrum.multiplicities * spectrum.values**2).sum())
        test = power - 2 * diagonal @ (often * self.share) + spectrum.truth_power
        train = power - 2 * diagonal @ (often * self.S) + target
        top = _largest(A) if largest else np.full(len(A), np.nan)
        return test, np.maximum(train, 0.0), power, top, np.full(len(A), np.nan)


def _turned(array: np.ndarray) -> np.ndarray:
    return np.swapaxes(array, -1, -2)


def _graded(
    quiet: list[np.ndarray],
    signals: np.ndarray,
    inputs: np.ndarray,
    outputs: np.ndarray,
    fade: np.ndarray,
    grown: np.ndarray,
) -> np.ndarray:
    """The product of a network hardly wider than the modes that stand apart: by QR, what grows most first.

    H is the sum of the squares of `quiet` rows, of the growing `signals`, and of one. Squared, it would not be
    positive to rounding: a unit that no signal uses is beside ones that have grown by e^600.
    """
    K, units = signals.shape[1:]
    basis, corner = np.linalg.qr(_turned(signals), mode="complete")
    # signals @ basis, with exact zeros: a rounding error of the first would drown the second
    signals, inputs, outputs = _turned(np.triu(corner)), inputs @ basis, outputs @ basis
    ones = np.broadcast_to(np.eye(units), (len(signals), units, units))
    squares = [np.sqrt(grown) / fade * signals, np.concatenate(quiet, axis=1) @ basis, ones]
    triangle: np.ndarray = np.linalg.qr(np.concatenate(squares, axis=1)).R
    for rows in (inputs, outputs):
        rows[:, :K] += _ROOT / fade * signals
    solved = np.linalg.solve(_turned(triangle), _turned(np.concatenate([inputs, outputs], axis=1)))
    return _turned(solved[:, :, inputs.shape[1] :]) @ solved[:, :, : inputs.shape[1]]


def _largest(A: np.ndarray) -> np.ndarray:
    """Squared largest singular value of each matrix, by power iteration; of several close ones any will do."""
    vector = np.random.default_rng(0).standard_normal((len(A), A.shape[2], 1))
    for _ in range(_POWER_STEPS):
        vector /= np.linalg.norm(vector, axis=1, keepdims=True)
        vector = _turned(A) @ (A @ vector)
    return np.linalg.norm(vector, axis=(1, 2))


def _thinned(width: float, apart: int, bulk: float) -> tuple[float, float]:
    """Units and rows of the bulk to compute with: all of them, or both fewer by one factor and nearly whole."""
    # a narrow network costs what its width costs, a wide one (reduced) what its rows cost
    factor = min((width - apart) / max(_MOST_UNITS - apart, 1), bulk / _FEWEST_ROWS)
    if factor <= 1 or width <= _MOST_UNITS:
        return width, bulk
    rows = np.arange(max(1, np.floor(0.8 * bulk / factor)), np.ceil(bulk / factor) + 1)
    units = apart + (width - apart) * rows / bulk
    chosen = int(np.argmin(np.abs(units - np.round(units)) / units))
    return float(np.round(units[chosen])), float(rows[chosen])


def _members(spectrum: Spectrum, rows: float, units: float) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Values and overlaps of the bulk's rows: one by one where they are few, else in groups of equal modes."""
    if not rows:
        return np.zeros(0), np.zeros(0), []
    most = max(_MOST_ROWS, 4 * units)
    if rows <= most:
        number = max(round(rows), 1)
        fewer = spectrum.grouped(number)
        ends = np.cumsum(fewer.multiplicities[spectrum.apart :])
        at = spectrum.apart + np.searchsorted(ends, (np.arange(number) + 0.5) * ends[-1] / number)
        return fewer.values[at], fewer.overlaps[at], [1.0] * number
    fewer = spectrum.grouped(int(most // (2 * units)))
    bulk = slice(spectrum.apart, None)
    numbers = fewer.multiplicities[bulk] * (rows / fewer.multiplicities[bulk].sum())
    return fewer.values[bulk], fewer.overlaps[bulk], numbers.tolist()


def _start(draw: np.random.Generator, apart: int, numbers: list[float], idle: float, units: float) -> tuple[Any, Any]:
    """Standard normal rows of both layers, (layer, row, unit), and those of the larger side alone, (row, unit)."""
    rows = apart + sum(numbers)
    if units > 2 * rows + idle:  # wide: only the triangle of [W1^T; W2] that has the same products (Bartlett)
        triangle = _triangle(draw, units, round(2 * rows + idle)).T
        n = round(rows)
        return np.stack([triangle[:n], triangle[n : 2 * n]]), triangle[2 * n :]
    units = round(units)
    blocks = [draw.standard_normal((apart, 2 * units))]
    blocks += [_gaussian(draw, number, 2 * units) for number in numbers]
    stacked = np.vstack(blocks)
    return np.stack([stacked[:, :units], stacked[:, units:]]), _gaussian(draw, idle, units)


def _gaussian(draw: np.random.Generator, number: float, columns: int) -> np.ndarray:
    """As many Gaussian rows; of more rows than columns only the triangle that has the same products."""
    if number <= columns:
        return draw.standard_normal((round(number), columns))
    return _triangle(draw, number, columns)


def _triangle(draw: np.random.Generator, number: float, columns: int) -> np.ndarray:
    """The triangular factor of `number` Gaussian rows of so many columns (Bartlett); `number` need not be whole."""
    triangle = np.triu(draw.standard_normal((columns, columns)), 1)
    triangle[np.diag_indices(columns)] = np.sqrt(draw.chisquare(number - np.arange(columns)))
    return triangle
