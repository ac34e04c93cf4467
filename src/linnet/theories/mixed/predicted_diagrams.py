"""The phase diagram without training: least test error, its time, stable rank and train error of every cell."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from linnet._arguments import count, partly_representable, positive, real_array, refuse_infinite
from linnet._randomness import Key, words
from linnet._workers import cores
from linnet.problems.problem import Problem
from linnet.theories.mixed._drawn_cells import MOST_UNITS, DrawnStarts, Least, has_few_units, joined
from linnet.theories.mixed._wide_cells import drawn_cells, wide_error, wide_errors
from linnet.theories.mixed.task_spectra import Spectrum, task_spectrum

if TYPE_CHECKING:
    import xarray as xr

_COARSE = 20  # times looked at first; the bulk is in groups there
_COARSE_GROUPS = 24
_NODES = 8  # steps to the least test error at first
_STEP_ERROR = 0.004  # of the splitting, above which its steps are halved
_REST = 0.3  # of what finer steps change, which their own order tells and is corrected: the part that may be wrong
_MOST_HALVINGS, _FEW_UNITS = 2, 6  # two more of networks of few units, whose scatter is least and which are cheap
_STANDARD_ERROR = 0.008  # of the mean over starts, above which more are drawn
_MOST_DRAWS = 400
_ROUNDS = 2  # in which more are drawn
_FIRST_DRAWS = 4  # starts that are followed at more variances than the others
_MOST_VARIANCES, _SPACING = 18, np.log(2.5)  # at which they are, and how far apart at least
_LEAST_ERROR = 0.0025  # of drawn cells: bulk in groups, times between nodes, entries of the truth beside the diagonal
_EVERY = 3  # of these spacings: as far apart steps are chosen and all starts are followed
# of the coarse diagram, for a live page: units, how far apart variances are, and steps to the least test error
_COARSE_UNITS, _COARSE_SPACING, _COARSE_NODES = 28, np.log(4), 6
_MOST_NUMBERS = 600_000  # of the layers that are stepped at once: what stays in the cache is what is fast
_MOST_THREADS = 8
_PLATEAU = 0.5  # relative error of a best time beyond which it means nothing


@dataclass(frozen=True)
class PredictedDiagram:
    r"""Every cell of the diagram, arrays (width, variance); losses and times are canonical, errors relative.

    **Attributes:**

    - `best_test`: the least $|A - A^*|_F^2/2$ over all times, on average over starts
    - `best_time`: when it is reached; NaN where the curve has a plateau and no time is meaningful
    - `stable_rank`: $|A|_F^2/|A|_{op}^2$ then
    - `train_at_best`: $|A - Y|_F^2/2$ then
    - `error`: of `best_test`: the model's and the standard error of the mean over starts together
    - `best_time_error`: of `best_time`, likewise; NaN where that is
    - `scatter`: standard deviation of `best_test` from network to network; NaN where no whole network was drawn
    - `covered`: whether `error` is below `limit`
    - `variances`, `widths`: the axes
    - `limit`: of `error`

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.mixed import predicted_diagram
        >>> task = ln.problems.low_rank_plus_noise(50, rank=3, key=0)
        >>> diagram = predicted_diagram(task, [1e-5, 1.0], [1000])
        >>> bool(diagram.best_test[0, 0] < diagram.best_test[0, 1])  # a small start generalises better
        True
    """

    best_test: Float[np.ndarray, "width variance"]
    best_time: Float[np.ndarray, "width variance"]
    stable_rank: Float[np.ndarray, "width variance"]
    train_at_best: Float[np.ndarray, "width variance"]
    error: Float[np.ndarray, "width variance"]
    best_time_error: Float[np.ndarray, "width variance"]
    scatter: Float[np.ndarray, "width variance"]
    variances: Float[np.ndarray, " variance"]
    widths: Float[np.ndarray, " width"]
    limit: float

    def __repr__(self) -> str:
        size = f"{self.widths.size} widths x {self.variances.size} variances"
        return f"PredictedDiagram({size}, {self.covered.sum()} of {self.covered.size} covered)"

    @property
    def covered(self) -> Bool[np.ndarray, "width variance"]:
        return np.asarray(self.error < self.limit)

    def to_dataset(self) -> xr.Dataset:
        """An xarray dataset (width, variance) with the same names."""
        import xarray as xr

        names = (*_NAMES, "covered")
        return xr.Dataset(
            {name: (("width", "variance"), getattr(self, name)) for name in names},
            coords={"width": self.widths, "variance": self.variances},
            attrs={"limit": self.limit, "units": "canonical: the paper's errors are 2/(k d) times these"},
        )


_MEANS = ("time", "test", "train", "rank")
_NAMES = ("best_test", "best_time", "stable_rank", "train_at_best", "error", "best_time_error", "scatter")


@partly_representable
def predicted_diagram(
    problem: Problem | Spectrum,
    variances: object,
    widths: object,
    *,
    draws: int = 16,
    limit: float = 0.03,
    points: int | None = None,
    key: Key = 0,
    depth: int = 2,
) -> PredictedDiagram:
    r"""All cells of the phase diagram of variance and width, from one SVD of the target.

    Wide cells ($w \ge 2\max(k, d)$, and more where the start's own product counts) follow the spectral flow
    (`mode_values`, $g = \sigma^2 w$) plus the start's own product. All others are means over drawn starts, each by the
    splitting of `split_flow` with as many steps as its own error asks for, and over more starts where networks differ.

    **Arguments:**

    - `problem`: whitened, with a truth; or a `Spectrum` (`task_spectrum`, `asymptotic_spectrum`)
    - `variances`: $\sigma^2 > 0$ of the entries of both layers, (variance,)
    - `widths`: $w \ge 1$, whole numbers of any size, (width,)
    - `draws`: starts drawn for a cell that is not wide; up to 400 of a narrow one, until the standard error of their
      mean is below 0.8%. With 2 all of it is coarser and no more are drawn: for a live page. With 0 such cells keep the
      wide formula, and their error is unknown (NaN)
    - `limit`: of `.error`, up to which a cell is `.covered`
    - `points`: the bulk of the spectrum in so many groups, which is faster. Default: all modes
    - `key`: of the starts
    - `depth`: the number of layers, 2 to 6; beyond 2 by the formula of wide networks (`theories.deep.deep_diagram`)

    **Returns** a `PredictedDiagram`. Losses are canonical; the errors per entry of Tu et al. are $2/d^2$ times these.

    **Valid** for whitened inputs and Gaussian starts; `.error` says how far it can be off, measured on networks trained
    for tasks of several ranks, spectra, noise levels and shapes (`linnet verify linnet`).

    **Reference:** ours, from Varre et al. 2023, Theorem C.12, for the experiment of Tu et al. 2024, Figure 2.

    **Example:**

        >>> from linnet.theories.mixed import predicted_diagram
        >>> from linnet.problems import low_rank_plus_noise
        >>> diagram = predicted_diagram(low_rank_plus_noise(50, rank=3, key=0), [1e-4, 1e-2], [200, 10_000])
        >>> diagram
        PredictedDiagram(2 widths x 2 variances, 4 of 4 covered)
    """
    spectrum = spectrum_of(problem, points)
    if not spectrum.has_truth:
        raise ValueError("`problem` must have a `truth`: the test error measures the distance to it.")
    sizes, units, limit = _axis("variances", variances), _widths(widths), positive("limit", limit)
    draws = count("draws", draws, least=0, most=_MOST_DRAWS)
    if count("depth", depth, least=2, most=6) > 2:
        return _deeper(spectrum, sizes, units, limit, depth)
    if draws == 1:
        raise ValueError("`draws` must be 0 or at least 2: one start has no standard error.")
    distinct, back = np.unique(units, return_inverse=True)
    shape = (distinct.size, sizes.size)
    thresholds = (distinct[:, None] * sizes).ravel()
    key = words(key)
    found = _wide_best(spectrum, thresholds, np.repeat(distinct, sizes.size))
    refuse_infinite(thresholds, *found)
    time, test, train, rank, own, bend = (part.reshape(shape) for part in found)
    model = spectrum, distinct[:, None], distinct[:, None] * sizes, own / test
    error = wide_error(*model)
    moment = _time_error(bend, error, 0.0)
    scatter = np.full(shape, np.nan)
    drawn = drawn_cells(*model)
    error[drawn], moment[drawn] = np.nan, np.nan

    def follow(row: int) -> tuple[np.ndarray, ...]:
        at = drawn[row]
        return _Row(spectrum, distinct[row], sizes[at], time[row, at], draws=draws, key=key).cells()

    rows = np.flatnonzero(drawn.any(axis=1) & (draws > 0))
    for row, cells in zip(rows, _on_threads(follow, rows.tolist()), strict=True):
        for whole, part in zip((test, time, rank, train, error, moment, scatter), cells, strict=True):
            whole[row, drawn[row]] = part
    time = np.where(moment < _PLATEAU, time, np.nan) if draws else time
    parts = test / 2, time, rank, train / 2, error, np.where(np.isfinite(time), moment, np.nan), scatter
    arrays = dict(zip(_NAMES, (part[back] for part in parts), strict=True))
    return PredictedDiagram(**arrays, variances=sizes, widths=units, limit=limit)


def _on_threads(follow: Callable[[int], tuple[np.ndarray, ...]], rows: list[int]) -> list[tuple[np.ndarray, ...]]:
    """The rows of the diagram, a few at once: NumPy's loops over stacks of matrices let other threads run."""
    threads = min(cores(), _MOST_THREADS, len(rows))
    if threads < 2:
        return [follow(row) for row in rows]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(follow, rows))


def _deeper(spectrum: Spectrum, sizes: np.ndarray, units: np.ndarray, limit: float, depth: int) -> PredictedDiagram:
    """The diagram of a deeper network: wide cells, with the error measured on trained ones."""
    from linnet.theories.deep.diagram import deep_diagram

    told = deep_diagram(spectrum, sizes, units, depth=depth)
    unknown = np.full(told.best_test.shape, np.nan)
    return PredictedDiagram(
        best_test=told.best_test,
        best_time=told.best_time,
        stable_rank=told.stable_rank,
        train_at_best=told.train_at_best,
        error=told.error,
        best_time_error=unknown,
        scatter=unknown,
        variances=sizes,
        widths=units,
        limit=limit,
    )


def spectrum_of(problem: Problem | Spectrum, points: int | None = None) -> Spectrum:
    """The spectrum of a problem, or the one given; its bulk in groups where `points` are asked for."""
    spectrum = problem if isinstance(problem, Spectrum) else task_spectrum(problem)
    return spectrum if points is None else spectrum.grouped(points)


def _axis(name: str, values: object) -> np.ndarray:
    array = np.atleast_1d(real_array(name, values, ndim=(0, 1)))
    if (array <= 0).any():
        raise ValueError(f"`{name}` must be positive: the least is {array.min():.6g}.")
    return array


def _widths(values: object) -> np.ndarray:
    array = _axis("widths", values)
    if (array != np.round(array)).any():
        raise ValueError(f"`widths` must be whole numbers: got {array[array != np.round(array)][0]:g}.")
    return array


def _wide_best(spectrum: Spectrum, thresholds: np.ndarray, widths: np.ndarray) -> tuple[np.ndarray, ...]:
    """Time of the least test error, twice the losses then, stable rank, the start's part and bend; each (cell,)."""
    g, few = thresholds, spectrum.grouped(_COARSE_GROUPS)
    first, last = spectrum.values[0], spectrum.values[max(spectrum.apart - 1, 0)]
    growth = np.log(2 + first / g) / 2
    start = g * g / widths * spectrum.outputs * spectrum.inputs
    early = 0.1 * growth / np.hypot(first, g)
    late = 4 * growth / np.hypot(last, g) + np.log1p(start / max(spectrum.truth_power, np.finfo(float).tiny)) / (2 * g)
    times = early[:, None] * (late / early)[:, None] ** np.linspace(0, 1, _COARSE)
    best = _least(lambda t: wide_errors(few, g, widths, t).test, times)
    step = np.log(1.03)  # the groups' best time is close: one parabola with all modes
    near = wide_errors(spectrum, g, widths, best[:, None] * np.exp(step * np.array([-1, 0, 1]))).test
    best = best * np.exp(_vertex(near, step))
    bend = np.maximum(near[:, 0] - 2 * near[:, 1] + near[:, 2], 0) / step**2 / near[:, 1]
    at = wide_errors(spectrum, g, widths, best[:, None])
    return best, at.test[:, 0], at.train[:, 0], at.power[:, 0] / at.largest[:, 0], at.own[:, 0], bend


class _Row:
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
        self.some = _thinly(np.log(self.nodes), _EVERY * spacing * 1.01)
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
            number = int(min(np.ceil((spread.max() / _STANDARD_ERROR) ** 2), _MOST_DRAWS))
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
        moment = _time_error(
            np.median(runs.bend, axis=0), error, np.interp(at, at[self.some], varied) / np.sqrt(number)
        )
        varied = np.interp(at, at[self.some], varied)
        moment = np.where((runs.open.mean(axis=0) > 0.1) | (varied > _PLATEAU), np.inf, moment)
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


def _thinly(places: np.ndarray, gap: float) -> np.ndarray:
    """The first and the last of increasing places, and as few between as leave no larger gap than there must be."""
    chosen = [0]
    for i in range(1, places.size - 1):
        if places[i + 1] - places[chosen[-1]] > gap:
            chosen.append(i)
    return np.array([*chosen, places.size - 1]) if places.size > 1 else np.zeros(1, dtype=int)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """By which factor a mean changes, at most 4; a mean of nothing does not."""
    return np.clip(np.divide(above, below, out=np.ones_like(below), where=below > 0), 0.25, 4)


def _time_error(bend: np.ndarray, off: np.ndarray, standard_error: np.ndarray | float) -> np.ndarray:
    """Of the time of a least error that is uncertain by `off`: ln(test) = bend (ln t)^2/2 there."""
    with np.errstate(over="ignore"):
        return np.asarray(np.hypot(np.sqrt(2 * off / np.maximum(bend, 1e-300)), standard_error))


def _least(test: Callable[[np.ndarray], np.ndarray], times: np.ndarray, halvings: int = 2) -> np.ndarray:
    """The time of the least test error of each cell: a geometric grid, its best interval halved, then a parabola."""
    values = test(times)
    at = np.clip(np.argmin(values, axis=1), 1, times.shape[1] - 2)[:, None]
    middle = np.take_along_axis(times, at, axis=1)[:, 0]
    around = np.take_along_axis(values, at + np.array([-1, 0, 1]), axis=1)
    step = np.log(times[:, 1] / times[:, 0])
    for _ in range(halvings):
        step = step / 2
        between = test(middle[:, None] * np.exp(step[:, None] * np.array([-1, 1])))
        five = np.stack([around[:, 0], between[:, 0], around[:, 1], between[:, 1], around[:, 2]], axis=1)
        at = np.clip(np.argmin(five, axis=1), 1, 3)[:, None]
        around = np.take_along_axis(five, at + np.array([-1, 0, 1]), axis=1)
        middle = middle * np.exp(step * (at[:, 0] - 2))
    return middle * np.exp(_vertex(around, step))


def _vertex(values: np.ndarray, step: np.ndarray | float) -> np.ndarray:
    """Where the parabola through three equidistant values is least, from the middle one; at most two steps away."""
    before, middle, after = values.T
    bend = before - 2 * middle + after
    return step * np.where(bend > 0, np.clip((before - after) / (2 * np.where(bend > 0, bend, 1)), -2, 2), 0.0)
