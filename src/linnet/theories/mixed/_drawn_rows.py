"""One row of the phase diagram from drawn starts: how long and how finely they are followed, and means with errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from linnet.theories.mixed._drawn_cells import DrawnStarts, Least, has_few_units, joined
from linnet.theories.mixed._interpolation import between, between_error
from linnet.theories.mixed.task_spectra import Spectrum

MOST_DRAWS = 400
PLATEAU = 0.5  # relative error of a best time beyond which it means nothing
_STEP_ERROR = 0.5  # of the standard error asked for: that of the splitting, above which its steps are halved
_REST = 0.3  # of what finer steps change, which their own order tells and is corrected: the part that may be wrong
_FEW_UNITS = 6  # networks whose scatter is least and which are cheap: their steps may be halved twice as often
_PILOTS_OF_FEW = 8  # starts of few units that say how long and how finely all are followed; one of others
_EARLIER = 16.0  # times earlier than the last of them the first may have its least error
_ROUNDS = 2  # in which more are drawn
_FEWEST_FOR_LINES = 8  # starts: of fewer, means are plain
_LEAST_CHANGE = 0.2  # of the logarithm of the test error over all variances: where it is flat, nodes are even
_LEAST_ERROR = 0.0025  # of drawn cells: bulk in groups, times between nodes
_WEAK_TRUTH = 0.06  # of the share of the test error that is truth below the edge of the bulk: it has no mode there
_MOST_NUMBERS = 600_000  # of the layers that are stepped at once: what stays in the cache is what is fast
_MEANS = ("test", "time", "rank", "train")


@dataclass(frozen=True)
class Effort:
    """How finely drawn starts are followed: units that are computed with, and the standard error of their mean.

    The `first` starts are followed at so many `variances` at most, and all of them at every so many of these; `nodes`
    are steps to the least test error at first, which may be halved so often. `most_draws` are those of
    networks of that many units; narrower ones may have more.
    """

    units: int
    standard_error: float
    variances: int
    every: int
    first: int
    nodes: int
    halvings: int
    most_draws: int


FINE = Effort(
    units=40, standard_error=0.008, variances=18, every=2, first=4, nodes=8, halvings=2, most_draws=MOST_DRAWS
)
COARSE = Effort(
    units=28, standard_error=0.02, variances=10, every=1, first=MOST_DRAWS, nodes=6, halvings=1, most_draws=12
)


class DrawnRow:
    """The cells of one width that follow drawn starts: how long and how fine they are followed, and their means.

    The first starts are followed at 18 variances at most, and all of them at every second: what the others
    change is smooth, as one start serves all variances. Between these, logarithms are interpolated.
    """

    def __init__(
        self,
        spectrum: Spectrum,
        width: float,
        variances: np.ndarray,
        guess: np.ndarray,
        plain: np.ndarray,
        *,
        draws: int,
        key: list[int],
        effort: Effort = FINE,
    ):
        self.spectrum, self.width, self.key, self.draws, self.effort = spectrum, width, key, draws, effort
        self.asked = np.log(variances)
        self.nodes, ways = _spread(self.asked, np.log(plain), effort.variances)
        order = np.argsort(variances)
        guess = np.exp(np.interp(np.log(self.nodes), self.asked[order], np.log(guess[order])))
        signal = float(spectrum.values[int(min(max(spectrum.apart, 1), width)) - 1])
        often = 2 if has_few_units(width, spectrum) else 1  # one of few units may start far from its signal
        horizon = often * np.log(2 + 2 * signal / self.nodes) / (2 * max(signal, np.finfo(float).tiny))
        self.horizon = np.minimum(horizon, 60 * guess)
        self.some = thinly(ways, effort.every * 1.01)
        self.steps, self.off, self.finer = self._steps(guess)

    def starts(self, first: int, last: int, thinner: int = 1) -> DrawnStarts:
        keys = [[*self.key, int(self.width), i] for i in range(first, last)]
        return DrawnStarts(self.spectrum, self.width, keys, self.effort.units // thinner)

    def _steps(self, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Steps at the nodes, the error of the splitting, and by which factor finer steps change the means.

        A start finds the time, of few units more of them; then two halve the steps. What a half of them changes is
        three quarters of what they leave to be changed, as the method is of second order.
        """
        pair, some = self.starts(0, 2), self.some[thinly(np.arange(self.some.size, dtype=float), 2.0)]
        sizes, horizon = self.nodes[some], self.horizon[some]
        few = has_few_units(self.width, self.spectrum)
        starts = self.starts(0, _PILOTS_OF_FEW if few else 1)
        pilot = starts.least(sizes, np.maximum(guess[some], horizon / 3) / (4 * _PILOTS_OF_FEW if few else 8), horizon)
        longest = np.maximum(pilot.time.max(axis=0), 1e-3 * guess[some])
        # of few units some dip early, others settle late
        steps = np.clip(pilot.time.min(axis=0), longest / _EARLIER, longest) / self.effort.nodes
        horizon = np.maximum(horizon, 1.5 * longest)
        finer = {name: np.ones(some.size) for name in _MEANS}
        off = np.full(some.size, np.inf)
        most = self.effort.halvings * (2 if self.width <= _FEW_UNITS else 1)
        for halving in range(most + 1):
            open_ = np.flatnonzero(off > _STEP_ERROR * self.effort.standard_error)
            if not open_.size:
                break
            steps[open_] /= 2 if halving else 1
            both = np.concatenate([open_, open_])
            two = _means(pair.least(sizes[both], np.outer([1, 0.5], steps[open_]).ravel(), horizon[both]))
            for name in _MEANS:
                ratio = _ratio(two[name][open_.size :], two[name][: open_.size])
                finer[name][open_] = np.clip(1 + 4 / 3 * (ratio - 1), 0.8, 1.25)
            off[open_] = _REST * np.abs(finer["test"][open_] - 1)
        at, places = np.log(self.nodes), np.log(sizes)
        self.horizon = np.exp(np.interp(at, places, np.log(horizon)))
        steps = np.exp(np.interp(at, places, np.log(steps)))
        finer = {name: np.interp(at[self.some], places, factor) for name, factor in finer.items()}
        return steps, np.interp(at, places, off), finer

    def least(self, first: int, last: int, some: np.ndarray | slice = slice(None), thinner: int = 1) -> Least:
        """Runs of the starts `first` to `last` at some of the nodes, as many at once as stay in the cache."""
        sizes, runs, i = self.nodes[some], list[Least](), first
        while i < last:
            chunk = self.starts(i, i + 1, thinner)
            many = max(1, int(_MOST_NUMBERS / (2 * chunk.S.size * chunk.units * sizes.size)))
            chunk = self.starts(i, min(i + many, last), thinner)
            runs.append(chunk.least(sizes, self.steps[some], self.horizon[some]))
            i += many
        return joined(runs)

    def cells(self) -> tuple[np.ndarray, ...]:
        """Test, time, rank, train, errors of test and time, and the scatter, (variance,)."""
        draws, wanted, whole = self.draws, self.effort.standard_error, self.starts(0, 1)
        most = min(self.effort.most_draws * max(1.0, self.effort.units / whole.units) ** 2, MOST_DRAWS)
        runs = self.least(0, min(draws, self.effort.first))
        means, first = _means(runs), runs[:, self.some]
        every = (
            first if draws <= self.effort.first else joined([first, self.least(self.effort.first, draws, self.some)])
        )
        best, squared = estimates(every)
        for _ in range(_ROUNDS):  # networks differ: more of them, and then they differ more
            number = int(min(np.ceil(len(every.test) * squared.max() / wanted**2), most))
            if number <= len(every.test):
                break
            every = joined([every, self.least(len(every.test), number, self.some)])
            best, squared = estimates(every)
        factors = {name: self.finer[name] * _ratio(best[name], _means(first)[name]) for name in _MEANS}
        if whole.thinned:  # what thinning changes is linear in its factor: twice as thin tells how much
            twice, noise = estimates(self.least(0, draws, self.some, thinner=2))
            by = (whole.thinning - 1) / (self.starts(0, 1, thinner=2).thinning - whole.thinning)
            changes = {name: by * (1 - _ratio(twice[name], best[name])) for name in _MEANS}
            squared = (1 + by) ** 2 * squared + by**2 * noise + (changes["test"] / 4) ** 2
            for name in _MEANS:
                factors[name] *= np.maximum(1 + changes[name], 0.5)
        squared += _LEAST_ERROR**2 + (_WEAK_TRUTH * self._weak_truth() / best["test"]) ** 2
        at = np.log(self.nodes)
        for name in _MEANS:
            means[name] *= np.interp(at, at[self.some], factors[name])
        error = np.hypot(np.interp(at, at[self.some], np.sqrt(squared)), self.off)
        number, spread = len(every.test), every.test.std(axis=0, ddof=1) / every.test.mean(axis=0)
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
        """The truth's power below the edge of the bulk, where it has no mode of its own."""
        spectrum, bulk = self.spectrum, slice(self.spectrum.apart, None)
        return max(float((spectrum.multiplicities * spectrum.overlaps * spectrum.values)[bulk].sum()), 0.0)


def estimates(runs: Least) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Means over starts, (variance,), and the square of the relative standard error of that of the test error.

    A mean is what a line through the starts says where `odd` vanishes, as it does on average: half of what differs
    from start to start and more is the odd part. Few starts have plain means. Student's t raises the error of few.
    """
    number, parts = len(runs.test), runs.odd.shape[2]
    if number < _FEWEST_FOR_LINES:
        parts = 0
    means: dict[str, np.ndarray] = {name: np.empty(runs.test.shape[1]) for name in _MEANS}
    squared = np.empty(runs.test.shape[1])
    for j in range(squared.size):
        odd = runs.odd[:, j, :parts]
        lines = np.column_stack([np.ones(number), odd / np.maximum(odd.std(axis=0), np.finfo(float).tiny)])
        inverse = np.linalg.pinv(lines)
        for name in _MEANS:
            means[name][j] = inverse[0] @ getattr(runs, name)[:, j]
        test = runs.test[:, j]
        left = test - lines @ (inverse @ test)
        free = number - 1 - parts
        squared[j] = (inverse[0] @ inverse[0]) * (left @ left) / free / means["test"][j] ** 2 * _few(free) ** 2
    return means, squared


def _means(runs: Least) -> dict[str, np.ndarray]:
    """Means over starts, (variance,)."""
    return {name: getattr(runs, name).mean(axis=0) for name in _MEANS}


def _spread(asked: np.ndarray, plain: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Variances to follow, as many at most, from the logarithms of those asked for; and the ways to them.

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
    """The first and the last of increasing places, and as few between as leave no larger gap than there must be."""
    chosen = [0]
    for i in range(1, places.size - 1):
        if places[i + 1] - places[chosen[-1]] > gap:
            chosen.append(i)
    return np.array([*chosen, places.size - 1]) if places.size > 1 else np.arange(places.size)


@lru_cache(maxsize=MOST_DRAWS)
def _few(free: int) -> float:
    """By which factor a deviation of so few degrees of freedom is raised, as Student's t has it at 95%."""
    from scipy.special import stdtrit

    return float(stdtrit(free, 0.975) / 1.96)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """By which factor a mean changes, at most 4; a mean of nothing does not."""
    return np.clip(np.divide(above, below, out=np.ones_like(below), where=below > 0), 0.25, 4)


def time_error(bend: np.ndarray, off: np.ndarray, standard_error: np.ndarray | float) -> np.ndarray:
    """Of the time of a least error that is uncertain by `off`: ln(test) = bend (ln t)^2/2 there."""
    with np.errstate(over="ignore"):
        return np.asarray(np.hypot(np.sqrt(2 * off / np.maximum(bend, 1e-300)), standard_error))
