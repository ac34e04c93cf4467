"""The phase diagram without training: least test error, its time, stable rank and train error of every cell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from linnet._arguments import count, partly_representable, real_array, refuse_infinite
from linnet._randomness import Key, words
from linnet.problems.problem import Problem
from linnet.theories.mixed._narrow_cells import DrawnStart
from linnet.theories.mixed._wide_cells import drawn_cells, wide_errors
from linnet.theories.mixed.task_spectra import Spectrum, task_spectrum

if TYPE_CHECKING:
    import xarray as xr

# Where the prediction is claimed: the start's own product is at most this share of the error, and the exponent of its
# imbalance at most this. Chosen on trained cells at d = 50, 100 and 200 (docs/phase_diagram_formula.md).
MOST_SHARE = 0.5
MOST_TILT = 1.0
_COARSE = 20  # times looked at first; the bulk is in groups there
_COARSE_GROUPS = 24
_NEAR = np.geomspace(0.6, 1.7, 6)  # times looked at, in units of a guess
_CLOSE = np.geomspace(0.85, 1.18, 3)  # the same for further starts, from the time of the first
_FAR = np.geomspace(0.4, 40.0, 18)  # the same for networks of too few units, whose modes wait for each other


@dataclass(frozen=True)
class PredictedDiagram:
    r"""Every cell of the diagram, arrays (width, variance); losses and times are canonical.

    **Attributes:**

    - `best_test`: the least $|A - A^*|_F^2/2$ over all times
    - `best_time`: when it is reached
    - `stable_rank`: $|A|_F^2/|A|_{op}^2$ then
    - `train_at_best`: $|A - Y|_F^2/2$ then
    - `covered`: whether the prediction is claimed there: `share` at most 1/2 and `tilt` at most 1
    - `share`: of the start's own product in the test error, by the wide formula
    - `tilt`: $\sigma^2 |M| t/4$ at the best time, the exponent of the start's imbalance; 0 for wide cells
    - `spread`: standard deviation of `best_test` between the starts drawn, in parts of it; NaN for wide cells
    - `variances`, `widths`: the axes

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.mixed import predicted_diagram
        >>> task = ln.problems.low_rank_plus_noise(50, rank=3, key=0)
        >>> told = predicted_diagram(task, [1e-5, 1.0], [1000])
        >>> told.best_test.shape, bool(told.best_test[0, 0] < told.best_test[0, 1])  # a small start generalises better
        ((1, 2), True)
    """

    best_test: Float[np.ndarray, "width variance"]
    best_time: Float[np.ndarray, "width variance"]
    stable_rank: Float[np.ndarray, "width variance"]
    train_at_best: Float[np.ndarray, "width variance"]
    covered: Bool[np.ndarray, "width variance"]
    share: Float[np.ndarray, "width variance"]
    tilt: Float[np.ndarray, "width variance"]
    spread: Float[np.ndarray, "width variance"]
    variances: Float[np.ndarray, " variance"]
    widths: Float[np.ndarray, " width"]

    def __repr__(self) -> str:
        size = f"{self.widths.size} widths x {self.variances.size} variances"
        return f"PredictedDiagram({size}, {self.covered.sum()} of {self.covered.size} covered)"

    def to_dataset(self) -> xr.Dataset:
        """An xarray dataset (width, variance) with the same names."""
        import xarray as xr

        names = (
            "best_test",
            "best_time",
            "stable_rank",
            "train_at_best",
            "covered",
            "share",
            "tilt",
            "spread",
        )
        return xr.Dataset(
            {name: (("width", "variance"), getattr(self, name)) for name in names},
            coords={"width": self.widths, "variance": self.variances},
            attrs={
                "most_share": MOST_SHARE,
                "most_tilt": MOST_TILT,
                "units": "canonical: the paper's errors are 2/(k d) times these",
            },
        )


@partly_representable
def predicted_diagram(
    problem: Problem | Spectrum,
    variances: object,
    widths: object,
    *,
    points: int | None = None,
    draws: int = 2,
    key: Key = 0,
) -> PredictedDiagram:
    r"""All cells of the phase diagram of variance and width, from one SVD of the target.

    Cells of $w \ge 2\max(k, d)$ follow the spectral flow (`mode_values`, $g = \sigma^2 w$) plus the start's own product
    (`wide_cells`). Narrower ones, and those up to $4\max(k, d)$ where that product is more than 2% of the error, follow
    the closed form from the factors of `draws` drawn starts, with their imbalance (`narrow_cells`), on average.

    **Arguments:**

    - `problem`: whitened, with a truth; or a `Spectrum` (`task_spectrum`, `asymptotic_spectrum`)
    - `variances`: $\sigma^2 > 0$ of the entries of both layers, (variance,)
    - `widths`: $w \ge 1$, whole numbers of any size, (width,)
    - `points`: the bulk of the spectrum in so many groups, which is faster. Default: all modes
    - `draws`: starts drawn for a cell that is not wide; with 0 such cells keep the wide formula and are not covered
    - `key`: of those starts

    **Returns** a `PredictedDiagram`. Losses are canonical; the errors per entry of Tu et al. are $2/d^2$ times these.

    **Valid where** `.covered`: measured on networks trained at d = 200, 92% of the plane of Figure 2, median 0.1% off.

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
    sizes, units, draws = _axis("variances", variances), _widths(widths), count("draws", draws, least=0)
    distinct, back = np.unique(units, return_inverse=True)
    shape = (distinct.size, sizes.size)
    thresholds = (distinct[:, None] * sizes).ravel()
    key = words(key)
    found = _wide_best(spectrum, thresholds, np.repeat(distinct, sizes.size))
    refuse_infinite(thresholds, *found)
    time, test, train, rank, own = (part.reshape(shape) for part in found)
    share, tilt, spread = own / test, np.zeros(shape), np.full(shape, np.nan)
    drawn = drawn_cells(spectrum, distinct[:, None], share)
    drift = np.ones(sizes.size)
    rows = np.flatnonzero(drawn.any(axis=1) & (draws > 0))
    for row in rows[::-1]:  # from wide to narrow, as the best times drift from the wide ones
        at = drawn[row]
        starts = [DrawnStart(spectrum, distinct[row], [*key, int(distinct[row]), i]) for i in range(draws)]
        wide, runs = time[row, at].copy(), list[tuple[np.ndarray, ...]]()
        for start in starts:
            guess, near = (runs[-1][0], _CLOSE) if runs else (wide * drift[at], _NEAR)
            runs.append(_drawn_best(start, sizes[at], guess, near))
        stacked = np.array(runs)
        time[row, at], test[row, at], train[row, at], rank[row, at] = stacked.mean(axis=0)
        drift[at] = time[row, at] / wide
        tilt[row, at] = sizes[at] * time[row, at] * np.mean([np.abs(start.rates).max() for start in starts]) / 4
        if draws > 1:
            spread[row, at] = stacked[:, 1].std(axis=0, ddof=1) / test[row, at]
    covered = (share <= MOST_SHARE) & (tilt <= MOST_TILT) & ((draws > 0) | ~drawn)
    return PredictedDiagram(
        best_test=test[back] / 2,
        best_time=time[back],
        stable_rank=rank[back],
        train_at_best=train[back] / 2,
        covered=covered[back],
        share=share[back],
        tilt=tilt[back],
        spread=spread[back],
        variances=sizes,
        widths=units,
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
    """Time of the least test error, twice the losses then, the stable rank, and the start's part; each (cell,)."""
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
    at = wide_errors(spectrum, g, widths, best[:, None])
    return best, at.test[:, 0], at.train[:, 0], at.power[:, 0] / at.largest[:, 0], at.own[:, 0]


def _drawn_best(
    start: DrawnStart, variances: np.ndarray, guess: np.ndarray, near: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Time of the least test error from one start, twice the losses then, and the stable rank; each (variance,)."""
    factors = _FAR if start.units <= start.apart else near
    times = np.minimum(guess[:, None], start.latest / factors[-1]) * factors
    best = _least(lambda t: start.errors(variances, t, largest=False).test, times)
    at = start.errors(variances, best[:, None])
    return best, at.test[:, 0], at.train[:, 0], at.power[:, 0] / at.largest[:, 0]


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
