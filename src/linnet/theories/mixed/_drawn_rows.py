"""One row of the phase diagram from drawn starts: how long and how finely they are followed, and means with errors."""

from __future__ import annotations

import numpy as np

from linnet.theories.mixed._drawn_cells import MOST_UNITS, DrawnStarts, Least, has_few_units, joined
from linnet.theories.mixed.task_spectra import Spectrum

_NODES = 8  # steps to the least test error at first
_STEP_ERROR = 0.004  # of the splitting, above which its steps are halved
_REST = 0.3  # of what finer steps change, which their own order tells and is corrected: the part that may be wrong
_MOST_HALVINGS, _FEW_UNITS = 2, 6  # two more of networks of few units, whose scatter is least and which are cheap
_STANDARD_ERROR = 0.008  # of the mean over starts, above which more are drawn
MOST_DRAWS = 400
_ROUNDS = 2  # in which more are drawn
_FIRST_DRAWS = 4  # starts that are followed at more variances than the others
_MOST_VARIANCES, _SPACING = 18, np.log(2.5)  # at which they are, and how far apart at least
_LEAST_ERROR = 0.0025  # of drawn cells: bulk in groups, times between nodes, entries of the truth beside the diagonal
_EVERY = 3  # of these spacings: as far apart steps are chosen and all starts are followed
# of the coarse diagram, for a live page: units, how far apart variances are, and steps to the least test error
_COARSE_UNITS, _COARSE_SPACING, _COARSE_NODES = 28, np.log(4), 6
_MOST_NUMBERS = 600_000  # of the layers that are stepped at once: what stays in the cache is what is fast
PLATEAU = 0.5  # relative error of a best time beyond which it means nothing
_MEANS = ("time", "test", "train", "rank")


class DrawnRow:
    """The cells of one width that follow drawn starts: how long and how fine they are followed, and their means.

    The first starts are followed at 18 variances at most, and all of them at about every third: what the others
    change is smooth, as one start serves all variances. Between these, logarithms are interpolated. With two starts
    all of it is coarse.
    """

    def __init__(
        self,
        spectrum: Spectrum,
        width: float,
        variances: np.ndarray,
        guess: np.ndarray,
        *,
        draws: int,
        key: list[int],
    ):
        self.spectrum, self.width, self.key, self.draws = spectrum, width, key, draws
        self.coarse = draws == 2
        self.units = _COARSE_UNITS if self.coarse else MOST_UNITS
        order = np.argsort(variances)
        self.asked, ends = np.log(variances), np.log(variances[order[[0, -1]]])
        spacing = _COARSE_SPACING if self.coarse else _SPACING
        number = int(np.clip(np.ceil((ends[1] - ends[0]) / spacing), 4, _MOST_VARIANCES - 1)) + 1
        few = variances.size <= number
        self.nodes = np.unique(variances) if few else np.exp(np.linspace(ends[0], ends[1], number))
        guess = np.exp(np.interp(np.log(self.nodes), self.asked[order], np.log(guess[order])))
        signal = float(spectrum.values[int(min(max(spectrum.apart, 1), width)) - 1])
        often = 2 if has_few_units(width, spectrum) else 1  # one of few units may start far from its signal
        horizon = often * np.log(2 + 2 * signal / self.nodes) / (2 * max(signal, np.finfo(float).tiny))
        self.horizon = np.minimum(horizon, 60 * guess)
        self.some = thinly(np.log(self.nodes), _EVERY * spacing * 1.01)
        self.steps, self.off, self.finer = self._steps(guess)

    def starts(self, first: int, last: int, thinner: int = 1) -> DrawnStarts:
        keys = [[*self.key, int(self.width), i] for i in range(first, last)]
        return DrawnStarts(self.spectrum, self.width, keys, self.units // thinner)

    def _steps(self, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
        """Steps at the nodes, the error of the splitting, and by which factor finer steps change the means.

        Two starts find the time, then they halve the steps; what a half of them changes is three quarters of what they
        leave to be changed, as the method is of second order.
        """
        pair, some = self.starts(0, 2), self.some
        sizes, horizon = self.nodes[some], self.horizon[some]
        pilot = pair.least(sizes, np.maximum(guess[some], horizon / 3) / 8, horizon)
        longest = np.maximum(pilot.time.max(axis=0), 1e-3 * guess[some])
        steps = longest / (_COARSE_NODES if self.coarse else _NODES)
        horizon = np.maximum(horizon, 1.5 * longest)
        means = _means(pair.least(sizes, steps, horizon))
        finer = {name: np.ones(some.size) for name in _MEANS}
        off = np.full(some.size, np.inf)
        most = _MOST_HALVINGS + 2 * (self.width <= _FEW_UNITS)
        for halving in range(1 if self.coarse else most + 1):
            open_ = np.flatnonzero(off > _STEP_ERROR)
            if not open_.size:
                break
            steps[open_] /= 2 if halving else 1
            halved = _means(pair.least(sizes[open_], steps[open_] / 2, horizon[open_]))
            for name in _MEANS:
                ratio = _ratio(halved[name], means[name][open_])
                finer[name][open_] = np.clip(1 + 4 / 3 * (ratio - 1), 0.8, 1.25)
                means[name][open_] = halved[name]
            off[open_] = _REST * np.abs(finer["test"][open_] - 1)
        at, between = np.log(self.nodes), np.log(sizes)
        self.horizon = np.exp(np.interp(at, between, np.log(horizon)))
        steps = np.exp(np.interp(at, between, np.log(steps)))
        return steps, np.interp(at, between, off), finer

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
        draws = self.draws
        runs = self.least(0, min(draws, _FIRST_DRAWS))
        means, first = _means(runs), runs[:, self.some]
        every = first if draws <= _FIRST_DRAWS else joined([first, self.least(_FIRST_DRAWS, draws, self.some)])
        spread = every.test.std(axis=0, ddof=1) / every.test.mean(axis=0)
        for _ in range(0 if self.coarse else _ROUNDS):  # networks differ: more of them, and then they differ more
            number = int(min(np.ceil((spread.max() / _STANDARD_ERROR) ** 2), MOST_DRAWS))
            if number <= len(every.test):
                break
            every = joined([every, self.least(len(every.test), number, self.some)])
            spread = every.test.std(axis=0, ddof=1) / every.test.mean(axis=0)
        number = len(every.test)
        squared = spread**2 / number + _LEAST_ERROR**2
        factors = {name: self.finer[name] * _ratio(_means(every)[name], _means(first)[name]) for name in _MEANS}
        whole = self.starts(0, 1)
        if whole.thinned:  # what thinning changes is linear in its factor: twice as thin tells how much
            twice, thinner = self.least(0, draws, self.some, thinner=2), self.starts(0, 1, thinner=2)
            by = (whole.thinning - 1) / (thinner.thinning - whole.thinning)
            for name in _MEANS:
                change = by * (1 - _ratio(_means(twice)[name], _means(every)[name]))
                factors[name] *= np.maximum(1 + change, 0.5)
                if name == "test":
                    noise = twice.test.std(axis=0, ddof=1) / twice.test.mean(axis=0)
                    squared += (by**2 + 2 * by) * spread**2 / number + by**2 * noise**2 / draws + (change / 4) ** 2
        at = np.log(self.nodes)
        for name in _MEANS:
            means[name] *= np.interp(at, at[self.some], factors[name])
        error = np.hypot(np.interp(at, at[self.some], np.sqrt(squared)), self.off)
        varied = every.time.std(axis=0, ddof=1) / np.maximum(_means(every)["time"], np.finfo(float).tiny)
        moment = time_error(np.median(runs.bend, axis=0), error, np.interp(at, at[self.some], varied) / np.sqrt(number))
        varied = np.interp(at, at[self.some], varied)
        moment = np.where((runs.open.mean(axis=0) > 0.1) | (varied > PLATEAU), np.inf, moment)
        scatter = np.full(at.size, np.nan) if whole.thinned else np.interp(at, at[self.some], spread)
        smooth = [self._between(means[name]) for name in ("test", "time", "rank", "train")]
        return *smooth, *(np.interp(self.asked, at, part) for part in (error, moment, scatter))

    def _between(self, values: np.ndarray) -> np.ndarray:
        """Positive values at the nodes, at the variances asked for: by a cubic spline of logarithms."""
        nodes = np.log(self.nodes)
        if nodes.size < 4:
            return np.asarray(np.exp(np.interp(self.asked, nodes, np.log(values))))
        from scipy.interpolate import Akima1DInterpolator

        curve = Akima1DInterpolator(nodes, np.log(np.maximum(values, np.finfo(float).tiny)), method="makima")
        return np.asarray(np.exp(curve(np.clip(self.asked, nodes[0], nodes[-1]))))


def _means(runs: Least) -> dict[str, np.ndarray]:
    """Means over starts, (variance,)."""
    return {name: getattr(runs, name).mean(axis=0) for name in _MEANS}


def thinly(places: np.ndarray, gap: float) -> np.ndarray:
    """The first and the last of increasing places, and as few between as leave no larger gap than there must be."""
    chosen = [0]
    for i in range(1, places.size - 1):
        if places[i + 1] - places[chosen[-1]] > gap:
            chosen.append(i)
    return np.array([*chosen, places.size - 1]) if places.size > 1 else np.zeros(1, dtype=int)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """By which factor a mean changes, at most 4; a mean of nothing does not."""
    return np.clip(np.divide(above, below, out=np.ones_like(below), where=below > 0), 0.25, 4)


def time_error(bend: np.ndarray, off: np.ndarray, standard_error: np.ndarray | float) -> np.ndarray:
    """Of the time of a least error that is uncertain by `off`: ln(test) = bend (ln t)^2/2 there."""
    with np.errstate(over="ignore"):
        return np.asarray(np.hypot(np.sqrt(2 * off / np.maximum(bend, 1e-300)), standard_error))
