"""Cells of the phase diagram that are not wide: the splitting from drawn starts, batched over starts and variances."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from linnet._randomness import Key, generator
from linnet.theories.lazy_active._parabolas import bracket, vertex
from linnet.theories.lazy_active._thinned_starts import bulk_rows, standard_start, thinned_size
from linnet.theories.lazy_active._wide_cells import Errors
from linnet.theories.lazy_active.splitting import MOST_GROWTH, Layers
from linnet.theories.lazy_active.task_spectra import TaskSpectrum

MOST_UNITS = 40  # that are computed with; wider networks are thinned
_MOST_NODES = 72  # steps of a run, three times as many of few units, and more where steps are short
_EVEN = 1.5  # the time that is guessed, over that up to which steps are even
_EARLY = 3.0  # a least error within the first steps, so many times fewer than asked for, is sought by shorter ones
_LATEST = 12.0  # times the time that is guessed, or a third of the horizon, to which few units are followed
_MOST_LOOKS = 9  # at the smallest error between nodes
_LOOK_AGAIN = 3e-4  # relative difference from what a parabola expected ...
_STEEP = 0.03  # ... or a change of the logarithm between its places, beyond which it is not to be trusted
_POWER_STEPS = 20
_LEAST_TEST = 1e-12  # of the truth's power: rounding
_FLOAT32_RANGE = (1e-15, 1e12)  # of variances and singular values: their products are far from the ends
_FLOAT32_GROWTH = 4.0  # exponent of the fastest mode over one step: what `MOST_GROWTH` is in float64
_MOST_TILT = 40.0  # exponent of the largest tilt over two steps
_ROUNDING = 1e-7  # of the target's power, in float32
_ROOT_TOLERANCE = 1e-6  # of the root of every step
_RISING = 1.005  # ... or so many times, long after it
_RISEN = 1.5  # a run ends where its test error is so many times the smallest one
_FLAT = 1e-4  # of the train error, over a step: the run has arrived
_FLAT_FOR_FEW = 3e-6  # ... for few units, which rest between two modes
_RUN_GROWTH, _RUN_TILT, _RUN_STEPS = 3.0, 0.2, 400  # of `run`: exponents over a step, and steps at most


@dataclass(frozen=True)
class Least:
    """The smallest test error of every initialization and variance, twice the losses, arrays (draw, variance) or
    (run,).

    `bend` is the second derivative of ln(test) in ln(time) there; `open` says that the error was still falling; `odd`
    are two numbers of an initialization whose sign is as likely as not, (draw, variance, 2): all else being equal, the
    test error follows the trace of the initialization's product over the bulk, plain and weighted by singular values.
    """

    time: np.ndarray
    test: np.ndarray
    train: np.ndarray
    rank: np.ndarray
    bend: np.ndarray
    open: np.ndarray
    odd: np.ndarray

    def __getitem__(self, chosen: object) -> Least:
        """Some of the initializations and variances."""
        return Least(*(getattr(self, one.name)[chosen] for one in fields(Least)))


def shaped(runs: Least, draws: int, variances: int) -> Least:
    """Runs one after the other as (draw, variance)."""
    parts = (getattr(runs, one.name) for one in fields(Least))
    return Least(*(part.reshape(draws, variances, *part.shape[1:]) for part in parts))


def joined(runs: list[Least]) -> Least:
    """The runs of several batches of initializations as one."""
    return Least(*(np.concatenate([getattr(one, name.name) for one in runs]) for name in fields(Least)))


def has_few_units(width: float, spectrum: TaskSpectrum) -> bool:
    """Whether units must choose among the signals: the test error may rise, and fall again when they have turned."""
    return width <= spectrum.num_outliers + 2


@dataclass
class _Lowest:
    """The lowest node of each run: networks a step before it, and test errors there, at it and a step after it.

    `start` is the time of the first of these, `steps` are the two between them, (2, run), and `values` the errors, (3,
    run); `node` counts nodes from zero at initialization; `open` says that it is the last one.
    """

    before: Layers
    start: np.ndarray
    steps: np.ndarray
    values: np.ndarray
    node: np.ndarray
    open: np.ndarray

    def put(self, chosen: np.ndarray, other: _Lowest) -> None:
        """Replace runs by the runs of another record if these are lower."""
        of = np.flatnonzero(other.values.min(axis=0) <= self.values.min(axis=0)[chosen])
        at = chosen[of]
        self.before.put(at, other.before, of)
        self.steps[:, at], self.values[:, at] = other.steps[:, of], other.values[:, of]
        self.start[at], self.node[at], self.open[at] = other.start[of], other.node[of], other.open[of]


class DrawnStarts:
    r"""Gaussian starts of one width in the singular basis of the target: errors at every variance, by `Layers`.

    An initialization scales: one draw serves every variance. A network of more than 40 units is thinned: bulk and width
    shrink by one factor while the variance grows by it, which keeps every mean that counts (threshold, start's noise,
    imbalance) but not what differs from network to network; modes that stand apart are kept.

    **Arguments:** `spectrum` of the task, `width` of the network, `keys`, one for each initialization, and `units` to
    compute with at most.
    """

    def __init__(self, spectrum: TaskSpectrum, width: float, keys: list[Key], units: int = MOST_UNITS):
        self.spectrum, self.num_outliers = spectrum, spectrum.num_outliers
        bulk = float(spectrum.multiplicities[self.num_outliers :].sum())
        idle = abs(spectrum.outputs - spectrum.inputs)
        number, members = thinned_size(width, self.num_outliers, bulk, units)
        self.thinned = number < width and members < bulk
        self.thinning = bulk / members if members else 1.0
        # the threshold of modes that stand apart is that of the whole network, the bulk's that of what they leave of it
        raised = np.sqrt(width / number)
        scale = np.sqrt((width - self.num_outliers) / (number - self.num_outliers)) if number < width else 1.0
        values, overlaps, numbers = bulk_rows(spectrum, members, number)
        lengths = [round(min(one, 2 * number)) for one in numbers]
        self.S = np.concatenate([spectrum.values[: self.num_outliers], np.repeat(values, lengths)])
        self.share = np.concatenate([spectrum.overlaps[: self.num_outliers], np.repeat(overlaps, lengths)])
        self.signals, self.mixed = self._signals_and_rest()
        drawn = [
            standard_start(generator(key), self.num_outliers, numbers, idle / self.thinning, number) for key in keys
        ]
        size = np.where(np.arange(self.S.size) < self.num_outliers, raised, scale)[:, None]
        rows = np.stack([np.concatenate([size * sides[0], size * sides[1], scale * rest]) for sides, rest in drawn])
        self.idle_inputs, n = spectrum.inputs > spectrum.outputs, self.S.size
        sign = 1.0 if self.idle_inputs else -1.0
        M = _gram(rows[:, :n]) - _gram(rows[:, n : 2 * n]) + sign * _gram(rows[:, 2 * n :])
        rates, turn = np.linalg.eigh(M)
        self.layers = Layers(self.S, rows @ turn, rates, idle_inputs=self.idle_inputs, tolerance=_ROOT_TOLERANCE)
        self.number, self.units = len(keys), rows.shape[2]
        self.few_units = has_few_units(width, spectrum)
        self.fastest = max(float(self.S.max()), np.finfo(float).tiny)
        self.target_power = float((spectrum.multiplicities * spectrum.values**2).sum())

    def _signals_and_rest(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The truth among the modes outside of the bulk, (apart, apart), and its entries between them and the bulk.

        These are (2, apart, bulk) where the rows of the bulk are its modes one by one, else none. A network that has
        learned half of two modes of close values is nearer to the truth, or farther from it, than their overlaps
        suggest.
        """
        entries, K = self.spectrum.mixed_overlaps, self.num_outliers
        signals = np.diag(self.share[:K])
        if entries is None or not K:
            return signals, None
        signals = np.where(np.eye(K, dtype=bool), signals, entries[0, :, :K])
        single = entries.shape[2] == self.S.size and np.array_equal(self.S, self.spectrum.values)
        return signals, entries[..., K:] if single else None

    def at(self, draws: np.ndarray, variances: np.ndarray, number: type[np.floating[Any]] = np.float64) -> Layers:
        """Networks of these draws, each at its variance, (run,), in numbers of that kind."""
        layers = self.layers
        rows = layers.rows.astype(number)[draws] * np.sqrt(variances).astype(number)[:, None, None]
        rates = layers.rates[draws] * variances[:, None]
        return Layers(self.S, rows, rates, idle_inputs=self.idle_inputs, tolerance=layers.tolerance)

    def number_kind(self, variances: np.ndarray) -> type[np.floating[Any]]:
        """Half the digits, at half the cost, where nothing comes near the ends of their range."""
        sizes = np.concatenate([variances, variances * self.layers.rows.shape[1], self.S[:1]])
        inside = (sizes > _FLOAT32_RANGE[0]) & (sizes < _FLOAT32_RANGE[1])
        return np.float32 if inside.all() else np.float64

    def least(
        self, draws: np.ndarray, variances: np.ndarray, guess: np.ndarray, horizon: np.ndarray, steps: np.ndarray
    ) -> Least:
        """The smallest test error over all times, of each of these draws at its variance; arguments and results (run,).

        `guess` is of its time, which is passed by steps of the share 1/`steps` of it; the `horizon` is looked at in any
        case.
        """
        kind = self.number_kind(variances)
        growth = MOST_GROWTH if kind is np.float64 else _FLOAT32_GROWTH
        steepest = np.maximum(np.abs(self.layers.rates).max() * variances, np.finfo(float).tiny)
        longest = np.minimum(growth / self.fastest, _MOST_TILT / steepest)
        first = np.minimum(guess / (_EVEN * steps), longest)
        last = _LATEST * np.maximum(guess, horizon / 3)
        start = self.at(draws, variances, kind)
        lowest = self._followed(start, first, longest, steps, horizon, last)
        early = np.flatnonzero(lowest.node < steps / _EARLY)
        if early.size:  # the first steps were too long for these
            until = 1.3 * first[early] * np.maximum(lowest.node[early], 1)
            first = until / (2 * steps[early])
            again = start[early], first, longest[early], steps[early], until, np.zeros(early.size)
            lowest.put(early, self._followed(*again))
        bulk = np.vecdot(self.layers.first[:, self.num_outliers :], self.layers.second[:, self.num_outliers :])
        odd = np.stack([bulk.sum(axis=1), bulk @ self.S[self.num_outliers :]], axis=1)
        time, test, train, rank, bend = self._between(lowest)
        return Least(time, test, train, rank, bend, lowest.open, odd[draws])

    def _followed(
        self,
        layers: Layers,
        first: np.ndarray,
        longest: np.ndarray,
        steps: np.ndarray,
        horizon: np.ndarray,
        last: np.ndarray,
    ) -> _Lowest:
        """Steps until the smallest test error is passed: even ones, then 1/`steps` of the time; all arguments (run,).

        Few units turn from one mode to another, and the test error falls again: they are followed until their training
        loss is flat, or to the time `last`.
        """
        total = len(layers.rows)
        live, clock, step = np.arange(total), np.zeros(total), first
        errors = self.measured(layers)
        best, previous, latest = errors.test.copy(), errors.train, errors.test
        lowest = _Lowest(
            layers.copy(),
            start=np.zeros(total),
            steps=np.stack([first, first]),
            values=np.stack([latest] * 3),
            node=np.zeros(total, dtype=int),
            open=np.zeros(total, dtype=bool),
        )
        best_time, ends = np.zeros(total), np.zeros(total, dtype=int)
        few = self.few_units and bool(last.any())
        still_moves = _FLAT_FOR_FEW if few else _FLAT
        for node in range(1, (3 if few else 1) * _MOST_NODES + 4 * int(steps.max(initial=0)) + 1):
            moved = layers.stepped(step)
            errors, now = self.measured(moved), clock + step
            if node == 1:
                lowest.values[1:] = errors.test
            better = np.flatnonzero(errors.test < best[live])
            if better.size:
                chosen = live[better]
                lowest.before.put(chosen, layers, better)
                lowest.start[chosen], lowest.steps[0, chosen], lowest.node[chosen] = clock[better], step[better], node
                lowest.values[0, chosen], lowest.values[1:, chosen] = latest[better], errors.test[better]
                best[chosen], best_time[chosen] = errors.test[better], now[better]
            beyond = np.flatnonzero(node == np.maximum(lowest.node[live], 1) + 1)
            lowest.steps[1, live[beyond]], lowest.values[2, live[beyond]] = step[beyond], errors.test[beyond]
            ends[live] = node
            since = now - best_time[live]
            passed = (since >= 0.3 * best_time[live] + step) & (now >= horizon[live])
            risen = (errors.test > _RISEN * best[live]) & (node >= lowest.node[live] + 2)
            flat = np.abs(previous - errors.train) < still_moves * errors.train + _ROUNDING * self.target_power
            past = flat if few else (errors.test > _RISING * best[live]) | flat
            on = np.flatnonzero(~(risen | (passed & past) | (few & (now >= last[live]))))
            if not on.size:
                break
            if on.size < live.size:
                live, now, moved = live[on], now[on], moved[on]
            layers, clock, previous, latest = moved, now, errors.train[on], errors.test[on]
            step = np.minimum(np.maximum(clock / steps[live], first[live]), longest[live])
        lowest.open = (lowest.node >= ends) & (lowest.node > 0)
        return lowest

    def _between(self, lowest: _Lowest) -> tuple[np.ndarray, ...]:
        """Time, test, train, rank and bend of the smallest error: where a parabola says, until it says the error as
        well.

        The parabola is one of logarithms: coarse steps see the error fall by a large factor.
        """
        floor = _LEAST_TEST * self.spectrum.truth_power
        step, total = lowest.steps[0], lowest.start.size
        places = np.stack([-np.ones(total), np.zeros(total), lowest.steps[1] / step])
        logs = np.log(np.maximum(lowest.values, floor))
        live, place = np.arange(total), np.zeros(total)
        least = np.full((4, total), np.inf)  # test, train, power and largest
        bend = np.zeros(total)
        for look in range(_MOST_LOOKS):
            at, curvature, expected = vertex(places[:, live], logs[:, live])
            trusted = np.ptp(logs[:, live], axis=0) < _STEEP
            if look < 2:  # later places are too close to each other
                bend[live] = curvature
            if look % 2:  # a parabola may creep along a steep side: every second look halves the longer part
                a, b, c = places[:, live]
                at = np.where(trusted, at, np.where(b - a > c - b, a + b, b + c) / 2)
            layers = lowest.before[live].stepped((1 + at) * step[live])
            errors = self.measured(layers, largest=True)
            better = np.flatnonzero(errors.test < least[0, live])
            chosen = live[better]
            place[chosen] = at[better]
            least[:, chosen] = np.stack([errors.test, errors.train, errors.power, errors.largest])[:, better]
            new = np.log(np.maximum(errors.test, floor))
            places[:, live], logs[:, live] = bracket(places[:, live], logs[:, live], at, new)
            live = live[(np.abs(new - expected) > _LOOK_AGAIN) | ~trusted]
            if not live.size:
                break
        test, train, power, largest = least
        time = lowest.start + (1 + place) * step
        rank = power / np.maximum(largest, np.finfo(float).tiny)
        return time, test, train, np.maximum(rank, 1.0), np.maximum(bend, 0) / step**2 * time**2

    def run(self, variance: float, times: np.ndarray) -> tuple[Errors, np.ndarray]:
        """`Errors` (draw, time) of one variance, and $u_i^T A v_i$ of the spectrum's entries (draw, time, mode)."""
        layers = self.at(np.arange(self.number), np.full(self.number, variance))
        steepest = max(float(np.abs(layers.rates).max(initial=0.0)), np.finfo(float).tiny)
        bulk = float(self.S[self.num_outliers :].max(initial=0.0)) or float(self.S.max())
        latest = max(16 / max(bulk, np.finfo(float).tiny), 4 / variance / max(self.spectrum.inputs, 1.0))
        latest = min(latest, 300 / max(float(self.S[0]), np.finfo(float).tiny)) if self.S[0] > 0 else latest
        clock = np.minimum(times, latest)
        longest = min(_RUN_GROWTH / self.fastest, 4 * _RUN_TILT / steepest)
        longest = max(longest, float(clock[-1]) / _RUN_STEPS)
        longest = min(longest, MOST_GROWTH / self.fastest)
        series, modes, now = [], [], 0.0
        order = np.argsort(self.S[self.num_outliers :]) + self.num_outliers
        entries = self.spectrum.values[self.num_outliers :]
        for time in clock:
            parts = int(np.ceil((time - now) / longest * (1 - 1e-12))) if time > now else 0
            for _ in range(parts):
                layers = layers.stepped(np.full(self.number, (time - now) / parts))
            now = max(now, float(time))
            series.append(self.measured(layers, largest=True))
            diagonal = (layers.first * layers.second).sum(axis=2)
            # thinned rows stand between the entries of the bulk
            inside = [np.interp(entries, self.S[order], row[order]) if order.size else entries for row in diagonal]
            modes.append(np.concatenate([diagonal[:, : self.num_outliers], np.stack(inside)], axis=1))
        parts_of = zip(*((one.test, one.train, one.power, one.largest, one.own) for one in series), strict=True)
        return Errors(*(np.stack(part, axis=1) for part in parts_of)), np.stack(modes, axis=1)

    def measured(self, layers: Layers, *, largest: bool = False) -> Errors:
        """Squared norms of the products and their differences, the bulk counted as often as thinned; (batch,).

        Among the modes outside of the bulk, differences are taken entry by entry: large powers do not cancel.
        """
        K, truth, S = self.num_outliers, self.signals, self.S
        inputs, outputs = layers.first, layers.second
        if layers.spare.shape[1]:
            if self.idle_inputs:
                inputs = np.concatenate([inputs, layers.spare], axis=1)
            else:
                outputs = np.concatenate([outputs, layers.spare], axis=1)
        by_entries = max(inputs.shape[1], outputs.shape[1]) <= 2 * self.units
        product, diagonal, rest, mixed = (self._by_entries if by_entries else self._by_units)(outputs, inputs)
        bulk = diagonal @ np.stack([self.share[K:], S[K:]], axis=1) * (2 * self.thinning)
        test = _power(product - truth) + rest - bulk[:, 0] - mixed + self.spectrum.truth_power - (truth**2).sum()
        signals = S[:K]
        train = _power(product - np.diag(signals)) + rest - bulk[:, 1] + self.target_power - (signals**2).sum()
        power = _power(product) + rest
        nothing = np.full(power.shape, np.nan)
        top = _largest(_gram(inputs), _gram(outputs)) if largest else nothing
        return Errors(test, np.maximum(train, 0.0), power, top, nothing)

    def _by_entries(self, outputs: np.ndarray, inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The product among signals, its diagonal in the bulk, the power of all other entries, and what truth is there.

        From all entries of the product, where these are few.
        """
        K, n = self.num_outliers, self.S.size
        product = outputs @ inputs.swapaxes(1, 2)  # (output, input)
        bulk = product[:, K:, K:]
        rest = self.thinning * np.vecdot(bulk, bulk).astype(float).sum(axis=1)
        rest += _power(product[:, :K, K:]) + _power(product[:, K:, :K])
        mixed: np.ndarray = np.zeros(len(rest))
        if self.mixed is not None:
            mixed = 2 * (product[:, :K, K:n] * self.mixed[0]).sum(axis=(1, 2))
            mixed += 2 * (product[:, K:n, :K] * self.mixed[1].T).sum(axis=(1, 2))
        diagonal = product.diagonal(axis1=1, axis2=2)[:, K:n]
        return product[:, :K, :K].astype(float), diagonal.astype(float), rest, mixed

    def _by_units(self, outputs: np.ndarray, inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The same from Gram matrices of the units, where these are few."""
        K, n = self.num_outliers, self.S.size
        signal_in, signal_out = inputs[:, :K], outputs[:, :K]
        bulk_in, bulk_out = _gram(inputs[:, K:]), _gram(outputs[:, K:])
        rest = _dot(bulk_in, _gram(signal_out) + self.thinning * bulk_out) + _dot(_gram(signal_in), bulk_out)
        mixed: np.ndarray = np.zeros(len(rest))
        if self.mixed is not None:
            mixed = 2 * _dot(signal_out, self.mixed[0] @ inputs[:, K:n])
            mixed += 2 * _dot(signal_in, self.mixed[1] @ outputs[:, K:n])
        diagonal = np.vecdot(inputs[:, K:n], outputs[:, K:n])
        return (signal_out @ signal_in.swapaxes(1, 2)).astype(float), diagonal.astype(float), rest, mixed


def _power(matrices: np.ndarray) -> np.ndarray:
    """The sum of squares of a stack of matrices, (batch,)."""
    return np.asarray(np.einsum("bij,bij->b", matrices, matrices, dtype=float))


def _dot(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """The sum of products of two stacks of matrices, (batch,)."""
    return np.vecdot(one.reshape(len(one), -1), two.reshape(len(two), -1)).astype(float)


def _gram(rows: np.ndarray) -> np.ndarray:
    return rows.swapaxes(1, 2) @ rows


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
