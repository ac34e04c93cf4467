"""Cells of the phase diagram that are not wide: the splitting from drawn starts, batched over starts and variances."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from linnet._randomness import Key, generator
from linnet.theories.mixed._wide_cells import Errors
from linnet.theories.mixed.splitting import MOST_GROWTH, Layers
from linnet.theories.mixed.task_spectra import Spectrum

MOST_UNITS = 40  # that are computed with; wider networks are thinned
_MOST_ROWS = 200  # of the bulk, before equal modes are gathered
_GROUPS = 16  # of the bulk, in the narrowest networks
_MOST_NODES = 72  # steps of a run, three times as many of few units
_LOOKS = 2  # at the least error between nodes
_POWER_STEPS = 20
_LEAST_TEST = 1e-12  # of the truth's power: rounding
_FLOAT32_RANGE = (1e-15, 1e12)  # of variances and singular values: their products are far from the ends
_FLOAT32_GROWTH = 4.0  # exponent of the fastest mode over one step: what `MOST_GROWTH` is in float64
_MOST_TILT = 40.0  # exponent of the largest tilt over two steps
_ROUNDING = 1e-7  # of the target's power, in float32
_ROOT_TOLERANCE = 1e-6  # of the root of every step
_RISING = 1.005  # ... or so many times, long after it
_RISEN = 1.5  # a run ends where its test error is so many times the least one
_FLAT = 1e-4  # of the train error, over a step: the run has arrived
_FLAT_FOR_FEW = 3e-6  # ... for few units, which rest between two modes
_RUN_GROWTH, _RUN_TILT, _RUN_STEPS = 3.0, 0.2, 400  # of `run`: exponents over a step, and steps at most


@dataclass(frozen=True)
class Least:
    """The least test error of every start and variance, twice the losses, arrays (draw, variance).

    `bend` is the second derivative of ln(test) in ln(time) there; `open` says that the error was still falling; `odd`
    are two numbers of a start whose sign is as likely as not, (draw, variance, 2): all else being equal, the test error
    follows the trace of the start's product over the bulk, plain and weighted by singular values.
    """

    time: np.ndarray
    test: np.ndarray
    train: np.ndarray
    rank: np.ndarray
    bend: np.ndarray
    open: np.ndarray
    odd: np.ndarray

    def __getitem__(self, chosen: object) -> Least:
        """Some of the starts and variances."""
        return Least(*(getattr(self, one.name)[chosen] for one in fields(Least)))


def joined(runs: list[Least]) -> Least:
    """The runs of several batches of starts as one."""
    return Least(*(np.concatenate([getattr(one, name.name) for one in runs]) for name in fields(Least)))


def has_few_units(width: float, spectrum: Spectrum) -> bool:
    """Whether units must choose among the signals: the test error may rise, and fall again when they have turned."""
    return width <= spectrum.apart + 2


class DrawnStarts:
    r"""Gaussian starts of one width in the singular basis of the target: errors at every variance, by `Layers`.

    A start scales: one draw serves every variance. A network of more than 40 units is thinned: bulk and width shrink by
    one factor while the variance grows by it, which keeps every mean that counts (threshold, start's noise, imbalance)
    but not what differs from network to network; modes that stand apart are kept.

    **Arguments:** `spectrum` of the task, `width` of the network, `keys`, one for each start, and `units` to compute
    with at most.
    """

    def __init__(self, spectrum: Spectrum, width: float, keys: list[Key], units: int = MOST_UNITS):
        self.spectrum, self.apart = spectrum, spectrum.apart
        bulk = float(spectrum.multiplicities[self.apart :].sum())
        idle = abs(spectrum.outputs - spectrum.inputs)
        number, members = _thinned(width, self.apart, bulk, units)
        self.thinned = number < width and members < bulk
        self.thinning = bulk / members if members else 1.0
        # the threshold of modes that stand apart is that of the whole network, the bulk's that of what they leave of it
        raised = np.sqrt(width / number)
        scale = np.sqrt((width - self.apart) / (number - self.apart)) if number < width else 1.0
        values, overlaps, numbers = _members(spectrum, members, number)
        lengths = [round(min(one, 2 * number)) for one in numbers]
        self.S = np.concatenate([spectrum.values[: self.apart], np.repeat(values, lengths)])
        self.share = np.concatenate([spectrum.overlaps[: self.apart], np.repeat(overlaps, lengths)])
        self.signals, self.mixed = self._signals_and_rest()
        drawn = [_start(generator(key), self.apart, numbers, idle / self.thinning, number) for key in keys]
        size = np.where(np.arange(self.S.size) < self.apart, raised, scale)[:, None]
        rows = np.stack([np.concatenate([size * sides[0], size * sides[1], scale * rest]) for sides, rest in drawn])
        self.idle_inputs, n = spectrum.inputs > spectrum.outputs, self.S.size
        sign = 1.0 if self.idle_inputs else -1.0
        M = _gram(rows[:, :n]) - _gram(rows[:, n : 2 * n]) + sign * _gram(rows[:, 2 * n :])
        rates, turn = np.linalg.eigh(M)
        self.layers = Layers(self.S, rows @ turn, rates, idle_inputs=self.idle_inputs, tolerance=_ROOT_TOLERANCE)
        self.number, self.units = len(keys), rows.shape[2]
        self.few_units = has_few_units(width, spectrum)
        self.fastest = max(float(self.S.max()), np.finfo(float).tiny)

    def _signals_and_rest(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The truth among the modes that stand apart, (apart, apart), and its entries between them and the bulk.

        These are (2, apart, bulk) where the rows of the bulk are its modes one by one, else none. A network that has
        learned half of two modes of close values is nearer to the truth, or farther from it, than their overlaps tell.
        """
        entries, K = self.spectrum.mixed_overlaps, self.apart
        signals = np.diag(self.share[:K])
        if entries is None or not K:
            return signals, None
        signals = np.where(np.eye(K, dtype=bool), signals, entries[0, :, :K])
        single = entries.shape[2] == self.S.size and np.array_equal(self.S, self.spectrum.values)
        return signals, entries[..., K:] if single else None

    def at(self, variances: np.ndarray, number: type[np.floating[Any]] = np.float64) -> Layers:
        """Networks of every draw (slowest) at every variance, in numbers of that kind."""
        layers = self.layers
        size = np.sqrt(variances).astype(number)
        rows = layers.rows.astype(number)[:, None] * size[None, :, None, None]
        rates = (layers.rates[:, None] * variances[None, :, None]).reshape(-1, self.units)
        rows = rows.reshape(-1, *layers.rows.shape[1:])
        return Layers(self.S, rows, rates, idle_inputs=self.idle_inputs, tolerance=layers.tolerance)

    def number_kind(self, variances: np.ndarray) -> type[np.floating[Any]]:
        """Half the digits, at half the cost, where nothing comes near the ends of their range."""
        sizes = np.concatenate([variances, variances * self.layers.rows.shape[1], self.S[:1]])
        inside = (sizes > _FLOAT32_RANGE[0]) & (sizes < _FLOAT32_RANGE[1])
        return np.float32 if inside.all() else np.float64

    def least(self, variances: np.ndarray, steps: np.ndarray, horizons: np.ndarray) -> Least:
        """The least test error over all times; `steps`, and `horizons` to look at in any case, (variance,)."""
        total = self.number * variances.size
        number = self.number_kind(variances)
        growth = MOST_GROWTH if number is np.float64 else _FLOAT32_GROWTH
        steepest = np.maximum(np.abs(self.layers.rates).max() * variances, np.finfo(float).tiny)
        tau = np.tile(np.minimum(steps, np.minimum(growth / self.fastest, _MOST_TILT / steepest)), self.number)
        horizon = np.tile(horizons, self.number)
        layers = self.at(variances, number)
        before, best_at = layers.copy(), np.zeros(total, dtype=int)
        errors = self.measured(layers)
        best, previous = errors.test.copy(), errors.train
        left, latest = errors.test.copy(), errors.test  # test errors of the nodes before the least ones, and the last
        first = best  # those of the first node
        after = np.full(total, np.nan)  # test errors of the nodes after the least ones
        live = np.arange(total)
        last = np.zeros(total, dtype=int)
        still_moves = _FLAT_FOR_FEW if self.few_units else _FLAT
        for node in range(1, (3 if self.few_units else 1) * _MOST_NODES + 1):
            moved = layers.stepped(tau[live])
            errors = self.measured(moved)
            first = errors.test if node == 1 else first
            better = np.flatnonzero(errors.test < best[live])
            if better.size:
                chosen = live[better]
                before.put(chosen, layers, better)
                best[chosen], best_at[chosen], left[chosen] = errors.test[better], node, latest[better]
            next_one = node == np.maximum(best_at[live], 1) + 1
            after[live[next_one]] = errors.test[next_one]
            last[live] = node
            passed = (node >= best_at[live] * 1.3 + 2) & (node * tau[live] >= horizon[live])
            risen = (errors.test > _RISEN * best[live]) & (node >= best_at[live] + 3)
            flat = np.abs(previous - errors.train) < still_moves * errors.train + _ROUNDING * self._target_power()
            # few units turn from one mode to another, and the test error falls again
            past = flat if self.few_units else (errors.test > _RISING * best[live]) | flat
            on = ~(risen | (passed & past))
            if not on.any():
                break
            live, layers, previous, latest = live[on], moved[on], errors.train[on], errors.test[on]
        still = (best_at >= last) & (best_at > 0)
        start = np.maximum(best_at - 1, 0) * tau
        middle = np.where(best_at > 0, best, first)
        values = np.stack([left, middle, np.where(np.isfinite(after), after, middle)])
        found = self._between(before, start, tau, values)
        parts = [part.reshape(self.number, variances.size) for part in (*found, still)]
        bulk = np.vecdot(self.layers.first[:, self.apart :], self.layers.second[:, self.apart :])
        odd = np.stack([bulk.sum(axis=1), bulk @ self.S[self.apart :]], axis=1)
        parts.append(np.broadcast_to(odd[:, None], (self.number, variances.size, 2)))
        return Least(*parts)

    def _between(
        self, before: Layers, start: np.ndarray, step: np.ndarray, values: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        """Time, test, train, rank and bend of the least error: where a parabola says, and once more with that value.

        The networks stand one step before their least node; `values` are the test errors then, a step later and two
        steps later, (3, run). The parabola is one of logarithms: coarse steps see the error fall by a large factor.
        """
        floor = _LEAST_TEST * self.spectrum.truth_power
        places, logs = np.array([[-1.0], [0.0], [1.0]]) + 0 * step, np.log(np.maximum(values, floor))
        ends = []
        for _ in range(_LOOKS):
            place, bend = _vertex(places, logs)
            layers = before.stepped((1 + place) * step)
            ends.append((place, self.measured(layers, largest=True)))
            new = np.log(np.maximum(ends[-1][1].test, floor))
            places, logs = _bracket(places, logs, place, new)
        better = ends[1][1].test < ends[0][1].test
        place, test, train, power, largest = (
            np.where(better, two, one)
            for one, two in zip(*([at, e.test, e.train, e.power, e.largest] for at, e in ends), strict=True)
        )
        time = start + (1 + place) * step
        rank = power / np.maximum(largest, np.finfo(float).tiny)
        return time, test, train, np.maximum(rank, 1.0), np.maximum(bend, 0) / step**2 * time**2

    def run(self, variance: float, times: np.ndarray) -> tuple[Errors, np.ndarray]:
        """`Errors` (draw, time) of one variance, and $u_i^T A v_i$ of the spectrum's entries (draw, time, mode)."""
        layers = self.at(np.array([variance]))
        steepest = max(float(np.abs(layers.rates).max(initial=0.0)), np.finfo(float).tiny)
        bulk = float(self.S[self.apart :].max(initial=0.0)) or float(self.S.max())
        latest = max(16 / max(bulk, np.finfo(float).tiny), 4 / variance / max(self.spectrum.inputs, 1.0))
        latest = min(latest, 300 / max(float(self.S[0]), np.finfo(float).tiny)) if self.S[0] > 0 else latest
        clock = np.minimum(times, latest)
        longest = min(_RUN_GROWTH / self.fastest, 4 * _RUN_TILT / steepest)
        longest = max(longest, float(clock[-1]) / _RUN_STEPS)
        longest = min(longest, MOST_GROWTH / self.fastest)
        series, modes, now = [], [], 0.0
        order = np.argsort(self.S[self.apart :]) + self.apart
        entries = self.spectrum.values[self.apart :]
        for time in clock:
            parts = int(np.ceil((time - now) / longest * (1 - 1e-12))) if time > now else 0
            for _ in range(parts):
                layers = layers.stepped(np.full(self.number, (time - now) / parts))
            now = max(now, float(time))
            series.append(self.measured(layers, largest=True))
            diagonal = (layers.first * layers.second).sum(axis=2)
            # thinned rows stand between the entries of the bulk
            inside = [np.interp(entries, self.S[order], row[order]) if order.size else entries for row in diagonal]
            modes.append(np.concatenate([diagonal[:, : self.apart], np.stack(inside)], axis=1))
        parts_of = zip(*((one.test, one.train, one.power, one.largest, one.own) for one in series), strict=True)
        return Errors(*(np.stack(part, axis=1) for part in parts_of)), np.stack(modes, axis=1)

    def _target_power(self) -> float:
        return float((self.spectrum.multiplicities * self.spectrum.values**2).sum())

    def measured(self, layers: Layers, *, largest: bool = False) -> Errors:
        """Norms of the products by Gram matrices of the units, the bulk counted as often as thinned; (batch,).

        Among the modes that stand apart differences are taken entry by entry: large powers do not cancel.
        """
        K = self.apart
        inputs, outputs = layers.first[:, K:], layers.second[:, K:]
        if layers.spare.shape[1]:
            if self.idle_inputs:
                inputs = np.concatenate([inputs, layers.spare], axis=1)
            else:
                outputs = np.concatenate([outputs, layers.spare], axis=1)
        signal_in, signal_out = _gram(layers.first[:, :K]), _gram(layers.second[:, :K])
        bulk_in, bulk_out = _gram(inputs), _gram(outputs)
        product = (layers.second[:, :K] @ layers.first[:, :K].swapaxes(1, 2)).astype(float)  # (output, input)
        rest = _dot(bulk_in, signal_out + self.thinning * bulk_out) + _dot(signal_in, bulk_out)
        diagonal = np.vecdot(layers.first[:, K:], layers.second[:, K:]).astype(float)
        truth, S = self.signals, self.S
        test = ((product - truth) ** 2).sum(axis=(1, 2)) + rest + self.spectrum.truth_power - (truth**2).sum()
        test -= 2 * self.thinning * (diagonal @ self.share[K:])
        if self.mixed is not None:
            test -= 2 * _dot(layers.second[:, :K], self.mixed[0] @ layers.first[:, K:])
            test -= 2 * _dot(layers.first[:, :K], self.mixed[1] @ layers.second[:, K:])
        train = ((product - np.diag(S[:K])) ** 2).sum(axis=(1, 2)) + rest - 2 * self.thinning * (diagonal @ S[K:])
        train = np.maximum(train + self._target_power() - (S[:K] ** 2).sum(), 0.0)
        power = (product**2).sum(axis=(1, 2)) + rest
        nothing = np.full(power.shape, np.nan)
        top = _largest(signal_in + bulk_in, signal_out + bulk_out) if largest else nothing
        return Errors(test, train, power, top, nothing)


def _dot(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The sum of products of two stacks of matrices, (batch,)."""
    return np.vecdot(one.reshape(len(one), -1), two.reshape(len(two), -1)).astype(float)


def _gram(rows: np.ndarray) -> np.ndarray:
    return rows.swapaxes(1, 2) @ rows


def _vertex(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the parabola through three values is least, between the outer ones, and its second derivative; (run,).

    Where it has no least value, that is the outer place of the lower value.
    """
    (a, b, c), (one, two, three) = places, values
    left, right = (two - one) / (b - a), (three - two) / (c - b)
    bend = 2 * (right - left) / (c - a)
    curved = bend > 0
    vertex = (a + b) / 2 - left / np.where(curved, bend, 1.0)
    return np.where(curved, np.clip(vertex, a, c), np.where(one < three, a, c)), bend


def _bracket(places: np.ndarray, values: np.ndarray, place: np.ndarray, value: np.ndarray) -> tuple[Any, Any]:
    """Three of four places, in order: the lowest value, or the next one inside, between its neighbours."""
    # a new place on an old one would leave a parabola through two points
    gap = np.abs(places - place).min(axis=0)
    moved = np.where(gap < 1e-3, np.where(place > places[1], place - 2e-3, place + 2e-3), place)
    both, four = np.concatenate([places, moved[None]]), np.concatenate([values, value[None]])
    order = np.argsort(both, axis=0)
    both, four = np.take_along_axis(both, order, axis=0), np.take_along_axis(four, order, axis=0)
    middle = np.clip(np.argmin(four, axis=0), 1, 2) + np.array([[-1], [0], [1]])
    return np.take_along_axis(both, middle, axis=0), np.take_along_axis(four, middle, axis=0)


def _largest(inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Squared largest singular value of W2 W1 from its Gram matrices, by power iteration; of close ones any will do."""
    both = inputs @ outputs
    vector = np.random.default_rng(0).standard_normal((len(both), both.shape[2], 1))
    top = np.zeros(len(both))
    for _ in range(_POWER_STEPS):
        vector = both @ vector
        top = np.linalg.norm(vector, axis=(1, 2))
        vector /= np.maximum(top, np.finfo(float).tiny)[:, None, None]
    return top


def _thinned(width: float, apart: int, bulk: float, most: int) -> tuple[float, float]:
    """Units and rows of the bulk to compute with: all of them, or both fewer by one factor and nearly whole."""
    # a narrow network costs what its width costs, a wide one (reduced) what its rows cost
    fewest = max(0.8 * (most - apart), 4.0)
    factor = min((width - apart) / max(most - apart, 4), bulk / fewest)
    if factor <= 1 or width <= most:
        return width, bulk
    rows = np.arange(max(1, np.floor(0.8 * bulk / factor)), np.ceil(bulk / factor) + 1)
    units = apart + (width - apart) * rows / bulk
    chosen = int(np.argmin(np.abs(units - np.round(units)) / units))
    return float(np.round(units[chosen])), float(rows[chosen])


def _members(spectrum: Spectrum, rows: float, units: float) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Values and overlaps of the bulk's rows: one by one where they are few, else in groups of equal modes."""
    if not rows:
        return np.zeros(0), np.zeros(0), []
    most = min(2 * _GROUPS * units, max(_MOST_ROWS, 4 * units))
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
