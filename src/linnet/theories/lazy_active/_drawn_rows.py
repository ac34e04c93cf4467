"""One row of the phase diagram from drawn starts: how long and how finely they are followed, and means with errors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from linnet.theories.lazy_active._drawn_cells import DrawnStarts, Least, has_few_units, joined, shaped
from linnet.theories.lazy_active._interpolation import between, between_error
from linnet.theories.lazy_active.task_spectra import TaskSpectrum

MOST_DRAWS = 400
_UNITS = 35  # computed with at most, next to one for each signal
_STANDARD_ERROR = 0.008  # of the mean over starts
_VARIANCES, _EVERY, _FIRST = 18, 2, 4  # nodes; the first starts are followed at all of them, all starts at every second
_STEPS, _HALVINGS = 8, 2  # to the smallest test error at first, and how often they may be halved
PLATEAU = 0.5  # relative error of a best time beyond which it means nothing
_STEP_ERROR = 0.5  # of the standard error asked for: that of the splitting, above which its steps are halved
_MORE_FOR_FEW = 2.0  # times as many steps of few units, whose test error may rise and fall
_FEW_UNITS = 6  # networks whose scatter is smallest and which are cheap: their steps may be halved twice as often
_TURNING = 20.0  # exponent of the signal while few units turn to it
_MORE_OF_THINNER = 3  # times as many starts, as each of them costs little and says little
_LITTLE_TILT = 0.1  # exponent of the imbalance over a step, below which the splitting is as good as exact
_ROUNDS = 2  # in which more are drawn
_FEWEST_FOR_LINES = 8  # starts: of fewer, means are plain
_LEAST_CHANGE = 0.2  # of the logarithm of the test error over all variances: where it is flat, nodes are even
_LEAST_ERROR = 0.0025  # of drawn cells: bulk in groups, times between nodes
_WEAK_TRUTH = 0.06  # of the fraction of the test error that is truth below the edge of the bulk: it has no mode there
_MOST_NUMBERS = 200_000  # of the layers that are stepped at once: what stays in the cache is what is fast
_MEANS = ("test", "time", "rank", "train")


class DrawnRow:
    """The cells of one width that follow drawn starts: how long and how fine they are followed, and their means.

    The first starts are followed at all nodes, and all of them at every second: what the others change is smooth, as
    one initialization serves all variances. Between these, logarithms are interpolated.
    """

    def __init__(
        self,
        spectrum: TaskSpectrum,
        width: float,
        variances: np.ndarray,
        guess: np.ndarray,
        plain: np.ndarray,
        *,
        draws: int,
        key: list[int],
    ):
        self.spectrum, self.width, self.key, self.draws = spectrum, width, key, draws
        self.asked = np.log(variances)
        self.nodes, ways = variance_nodes(self.asked, np.log(plain), _VARIANCES)
        order = np.argsort(variances)
        guess = np.exp(np.interp(np.log(self.nodes), self.asked[order], np.log(guess[order])))
        signal = float(spectrum.values[int(min(max(spectrum.num_outliers, 1), width)) - 1])
        exponent = np.log(2 + 2 * signal / self.nodes)
        if has_few_units(width, spectrum):  # one of few units may start far from its signal, and turns to it late
            exponent = 2 * exponent + _TURNING
        horizon = exponent / (2 * max(signal, np.finfo(float).tiny))
        self.horizon = np.minimum(horizon, 60 * guess)
        self.guess = np.minimum(guess, 2 * self.horizon)
        self.some = thinly(ways, _EVERY * 1.01)
        self.drawn = dict[int, DrawnStarts]()  # by how much thinner they are

    def runs(self, *blocks: tuple[int, int, np.ndarray, np.ndarray], thinner: int = 1) -> list[Least]:
        """Starts at nodes, (draw, node), for each block of a first and a last start, nodes, and steps at all nodes.

        All blocks are followed together, in groups of networks that fit into the cache.
        """
        last = max(block[1] for block in blocks)
        if thinner not in self.drawn or self.drawn[thinner].number < last:
            keys = [[*self.key, *self.spectrum.draw_words, int(self.width), i] for i in range(last)]
            units = self.spectrum.num_outliers + _UNITS // thinner
            self.drawn[thinner] = DrawnStarts(self.spectrum, self.width, keys, units)
        drawn = self.drawn[thinner]
        draws = np.concatenate([np.repeat(np.arange(i, j), at.size) for i, j, at, _ in blocks])
        nodes = np.concatenate([np.tile(at, j - i) for i, j, at, _ in blocks])
        steps = np.concatenate([np.tile(steps[at], j - i) for i, j, at, steps in blocks])
        arguments = draws, self.nodes[nodes], self.guess[nodes], self.horizon[nodes], steps
        many = max(1, int(_MOST_NUMBERS / (2 * drawn.S.size * drawn.units)))
        chunks = [slice(i, i + many) for i in range(0, draws.size, many)]
        runs = joined([drawn.least(*(part[chunk] for part in arguments)) for chunk in chunks])
        ends = np.cumsum([0, *((j - i) * at.size for i, j, at, _ in blocks)])
        return [shaped(runs[ends[k] : ends[k + 1]], j - i, at.size) for k, (i, j, at, _) in enumerate(blocks)]

    def first_runs(self) -> tuple[Least, Least, np.ndarray, np.ndarray]:
        """The first starts at all nodes, all starts at some, steps to the smallest error, and what these leave wrong.

        Where a step tilts layers, two draws show the error: what steps of twice the length change is three times what
        is wrong, as the method is of second order.
        """
        every = np.arange(self.nodes.size)
        looked = self.some[thinly(np.arange(self.some.size, dtype=float), 2.0)]
        few = has_few_units(self.width, self.spectrum)
        numbers = np.full(looked.size, (_MORE_FOR_FEW if few else 1) * float(_STEPS))
        imbalance = np.sqrt(2 * max(self.spectrum.inputs, self.spectrum.outputs) * self.width)  # at unit variance
        tilted = imbalance * (self.nodes * self.guess)[looked] / numbers > _LITTLE_TILT
        off, at, places = np.zeros(looked.size), np.log(self.nodes), np.log(self.nodes[looked])
        for left in range(_HALVINGS * (2 if self.width <= _FEW_UNITS else 1), -1, -1):
            steps = np.exp(np.interp(at, places, np.log(numbers)))
            first = min(self.draws, _FIRST)
            blocks = [
                (0, first, every, steps),
                (0, 2, looked[tilted], steps / 2),
                (first, self.draws, self.some, steps),
            ]
            first_starts, twice, others = self.runs(*blocks)
            test = first_starts[:2, looked[tilted]].test.mean(axis=0)
            off[tilted] = np.abs(_ratio(twice.test.mean(axis=0), test) - 1) / 3
            open_ = off > _STEP_ERROR * _STANDARD_ERROR
            if not (left and open_.any()):
                break
            numbers[open_] *= 2
        starts = joined([first_starts[:, self.some], others])
        return first_starts, starts, steps, np.interp(at, places, off)

    def cells(self) -> tuple[np.ndarray, ...]:
        """Test, time, rank, train, errors of test and time, and the scatter, (variance,)."""
        runs, every, steps, off = self.first_runs()
        whole = self.drawn[1]
        means, first = _means(runs), runs[:, self.some]
        best, squared = estimates(every)
        for _ in range(_ROUNDS):  # networks differ: more of them, and then they differ more
            number = int(min(np.ceil(len(every.test) * squared.max() / _STANDARD_ERROR**2), MOST_DRAWS))
            if number <= len(every.test):
                break
            every = joined([every, *self.runs((len(every.test), number, self.some, steps))])
            best, squared = estimates(every)
        factors = {name: _ratio(best[name], _means(first)[name]) for name in _MEANS}
        if whole.thinned:  # what thinning changes is linear in its factor: twice as thin tells how much
            twice, noise = estimates(*self.runs((0, _MORE_OF_THINNER * self.draws, self.some, steps), thinner=2))
            by = (whole.thinning - 1) / (self.drawn[2].thinning - whole.thinning)
            changes = {name: by * (1 - _ratio(twice[name], best[name])) for name in _MEANS}
            squared = (1 + by) ** 2 * squared + by**2 * noise + (changes["test"] / 4) ** 2
            for name in _MEANS:
                factors[name] *= np.maximum(1 + changes[name], 0.5)
        squared += _LEAST_ERROR**2 + _relative(_WEAK_TRUTH * self._weak_truth(), best["test"]) ** 2
        at = np.log(self.nodes)
        for name in _MEANS:
            means[name] *= np.interp(at, at[self.some], factors[name])
        error = np.hypot(np.interp(at, at[self.some], np.sqrt(squared)), off)
        number, spread = len(every.test), _relative(every.test.std(axis=0, ddof=1), every.test.mean(axis=0))
        varied = every.time.std(axis=0, ddof=1) / np.maximum(best["time"], np.finfo(float).tiny)
        moment = time_error(np.median(runs.bend, axis=0), error, np.interp(at, at[self.some], varied) / np.sqrt(number))
        varied = np.interp(at, at[self.some], varied)
        moment = np.where((runs.open.mean(axis=0) > 0.1) | (varied > PLATEAU), np.inf, moment)
        scatter = np.full(at.size, np.nan) if whole.thinned else np.interp(at, at[self.some], spread)
        log_means = np.log(np.maximum(np.stack([means[name] for name in _MEANS], axis=1), np.finfo(float).tiny))
        smooth = np.exp(between(at, log_means, self.asked)).T
        error, moment, scatter = (np.interp(self.asked, at, part) for part in (error, moment, scatter))
        error = np.hypot(error, between_error(at, log_means[:, 0], self.asked))
        return *smooth, error, moment, scatter

    def _weak_truth(self) -> float:
        """The truth's power below the edge of the bulk, where it has no separate mode."""
        spectrum, bulk = self.spectrum, slice(self.spectrum.num_outliers, None)
        return max(float((spectrum.multiplicities * spectrum.overlaps * spectrum.values)[bulk].sum()), 0.0)


def estimates(runs: Least) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Means over starts, (variance,), and the square of the relative standard error of the mean test error.

    A mean is what a line through the starts says where `odd` vanishes, as it does on average: half of what differs
    from start to start and more is the odd part. Few starts have plain means. Student's t raises the error of few.
    """
    number, parts = len(runs.test), runs.odd.shape[2]
    if number < _FEWEST_FOR_LINES:
        parts = 0
    odd = runs.odd[..., :parts].swapaxes(0, 1)
    odd = odd / np.maximum(odd.std(axis=1, keepdims=True), np.finfo(float).tiny)
    lines = np.concatenate([np.ones((len(odd), number, 1)), odd], axis=2)  # (variance, draw, 1 and parts)
    inverse = np.linalg.pinv(lines)
    means = {name: np.vecdot(inverse[:, 0], getattr(runs, name).T) for name in _MEANS}
    left = runs.test.T - (lines @ (inverse @ runs.test.T[..., None]))[..., 0]
    free = number - 1 - parts
    squared = np.vecdot(inverse[:, 0], inverse[:, 0]) * np.vecdot(left, left) / free * _few(free) ** 2
    return means, _relative(squared, means["test"] ** 2)


def _means(runs: Least) -> dict[str, np.ndarray]:
    """Means over starts, (variance,)."""
    return {name: getattr(runs, name).mean(axis=0) for name in _MEANS}


def variance_nodes(asked: np.ndarray, plain: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances to follow, at most this number, from the logarithms of the requested ones; and the ways to them.

    A way is the distance from the first one and what the logarithm of the `plain` test error changes over it, each in
    units of its whole: nodes are dense where the error changes, at equal ways, the whole being `most` - 1.
    """
    distinct, first = np.unique(asked, return_index=True)
    if distinct.size == 1:
        return np.exp(distinct), np.zeros(1)
    lengths, changes = np.diff(distinct), np.abs(np.diff(plain[first]))
    steps = lengths / lengths.sum() + changes / max(changes.sum(), _LEAST_CHANGE)
    ways = np.concatenate([[0.0], np.cumsum(steps)]) * (most - 1) / steps.sum()
    if distinct.size <= most:
        return np.exp(distinct), ways
    even = np.arange(most, dtype=float)
    return np.exp(np.interp(even, ways, distinct)), even


def thinly(places: np.ndarray, gap: float) -> np.ndarray:
    """The first and the last of increasing places, and the fewest between that leave no larger gap than necessary."""
    chosen = [0]
    for i in range(1, places.size - 1):
        if places[i + 1] - places[chosen[-1]] > gap:
            chosen.append(i)
    return np.array([*chosen, places.size - 1]) if places.size > 1 else np.arange(places.size)


@lru_cache(maxsize=MOST_DRAWS)
def _few(free: int) -> float:
    """Factor by which Student's t raises a deviation with few degrees of freedom, at 95%."""
    from scipy.special import stdtrit

    return float(stdtrit(free, 0.975) / 1.96)


def _relative(above: np.ndarray | float, below: np.ndarray) -> np.ndarray:
    """Return a ratio, or 0 for a test error of exactly 0, which nothing scatters around."""
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """By which factor a mean changes, at most 4; a mean of nothing does not."""
    return np.clip(np.divide(above, below, out=np.ones_like(below), where=below > 0), 0.25, 4)


def time_error(bend: np.ndarray, off: np.ndarray, standard_error: np.ndarray | float) -> np.ndarray:
    """Of the time of a least error that is uncertain by `off`: ln(test) = bend (ln t)^2/2 there."""
    with np.errstate(over="ignore"):
        return np.asarray(np.hypot(np.sqrt(2 * off / np.maximum(bend, 1e-300)), standard_error))
