"""The phase diagram without training: minimum test loss, its time, stable rank and training loss of every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from linnet._arguments import count, non_negative, partly_representable, positive, real_array, refuse_infinite
from linnet._randomness import Key, words
from linnet.problems.problem import Problem
from linnet.theories.lazy_active._drawn_plane import fill
from linnet.theories.lazy_active._drawn_rows import MOST_DRAWS, PLATEAU, DrawnRow, time_error
from linnet.theories.lazy_active._other_dynamics import decaying_cells, spectral_cells
from linnet.theories.lazy_active._wide_cells import drawn_cells, wide_best, wide_error
from linnet.theories.lazy_active.task_spectra import TaskSpectrum, in_units, task_spectrum

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class PredictedDiagram:
    r"""Result of `predicted_diagram`: arrays (width, variance) with one entry for each cell of the diagram.

    **Attributes:**

    - `min_test_loss`: minimum of $|A - A^*|_F^2/2$ over all times, a mean over initializations
    - `best_time`: time of that minimum; NaN if the curve has a plateau and no time is meaningful
    - `stable_rank`: stable rank $|A|_F^2/|A|_{op}^2$ at that time
    - `train_at_best`: training loss $|A - Y|_F^2/2$ at that time
    - `uncertainty`: uncertainty of `min_test_loss` as a fraction of it; it combines the error of the formula and the
      standard error over initializations
    - `best_time_uncertainty`: uncertainty of `best_time` as a fraction of it; NaN if `best_time` is NaN
    - `scatter`: standard deviation of `min_test_loss` over networks; NaN if no complete network was drawn, as for three
      layers and more
    - `covered`: whether `uncertainty` is below `limit`
    - `variances`, `widths`: axes of the diagram
    - `limit`: largest `uncertainty` of a covered cell
    - `depth`: number of layers

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import predicted_diagram
        >>> task = ln.problems.low_rank_plus_noise(50, rank=3, key=0)
        >>> diagram = predicted_diagram(task, [1e-5, 1.0], [1000])
        >>> bool(diagram.min_test_loss[0, 0] < diagram.min_test_loss[0, 1])  # a small initialization generalizes better
        True
    """

    min_test_loss: Float[np.ndarray, "width variance"]
    best_time: Float[np.ndarray, "width variance"]
    stable_rank: Float[np.ndarray, "width variance"]
    train_at_best: Float[np.ndarray, "width variance"]
    uncertainty: Float[np.ndarray, "width variance"]
    best_time_uncertainty: Float[np.ndarray, "width variance"]
    scatter: Float[np.ndarray, "width variance"]
    variances: Float[np.ndarray, " variance"]
    widths: Float[np.ndarray, " width"]
    limit: float
    depth: int = 2

    def __repr__(self) -> str:
        size = f"{self.widths.size} widths x {self.variances.size} variances"
        return f"PredictedDiagram({size}, {self.covered.sum()} of {self.covered.size} covered)"

    @property
    def covered(self) -> Bool[np.ndarray, "width variance"]:
        return np.asarray(self.uncertainty < self.limit)

    def to_dataset(self) -> xr.Dataset:
        """An xarray dataset (width, variance) with the same names."""
        import xarray as xr

        names = (*_NAMES, "covered")
        return xr.Dataset(
            {name: (("width", "variance"), getattr(self, name)) for name in names},
            coords={"width": self.widths, "variance": self.variances},
            attrs={
                "limit": self.limit,
                "depth": self.depth,
                "units": "canonical: the paper's errors are 2/(k d) times these",
            },
        )


_NAMES = (
    "min_test_loss",
    "best_time",
    "stable_rank",
    "train_at_best",
    "uncertainty",
    "best_time_uncertainty",
    "scatter",
)


@partly_representable
def predicted_diagram(
    problem: Problem | TaskSpectrum,
    variances: object,
    widths: object,
    *,
    draws: int = 16,
    limit: float = 0.03,
    points: int | None = None,
    key: Key = 0,
    depth: int = 2,
    update: Any = None,
    weight_decay: float = 0.0,
) -> PredictedDiagram:
    r"""Compute the phase diagram of width and initial variance without training.

    `ln.phase_diagram` calls this function and is shorter to use. To train the networks of the diagram instead, use
    `trainers.gaussian_diagram`.

    A cell is wide if $w \ge 2\max(k, d)$ and the initial product is small enough. Wide cells follow `mode_values` with
    $g = \sigma^2 w$, plus the contribution of the initial product. All other cells are means over random
    initializations, each integrated by `split_flow` until its estimated error is small. If the networks of a cell
    differ much, more initializations are drawn. Widths closer than a factor of 2.5 are partly interpolated.

    **Arguments:**

    - `problem`: learning problem with whitened inputs and a signal (`truth`), or a `TaskSpectrum` (`task_spectrum`,
      `asymptotic_spectrum`)
    - `variances`: variances $\sigma^2 > 0$ of the entries of both layers, (variance,)
    - `widths`: widths $w \ge 1$, whole numbers of any size, (width,)
    - `draws`: number of initializations for a cell that is not wide; for a narrow one, up to 400 are drawn, until the
      standard error of the mean is below 0.8%. With 0, such cells use the formula of wide cells, with an uncertainty of
      NaN
    - `limit`: largest `uncertainty` of a covered cell
    - `points`: number of groups into which bulk singular values are binned, which is faster; the default keeps all
      modes
    - `key`: seed of the initializations, which are drawn for each task and width separately. The cells of one width
      share them, so their errors are correlated; errors at different widths are independent
    - `depth`: number of layers, 2 to 6; beyond 2 by the formula of wide networks (`theories.deep.deep_diagram`)
    - `update`: optimizer in place of gradient descent: `trainers.updates.SpectralDescent()` or `Muon(...)`, which clip
      the target (`theories.spectral_descent`). Muon has no `best_time`
    - `weight_decay`: coefficient of weight decay. The minimum over all times may then be at the end, where `best_time`
      is infinite

    With an `update` or weight decay there is no formula for networks that are not wide. Their cells are NaN, with an
    infinite `uncertainty`.

    **Returns** a `PredictedDiagram`. The errors per entry of Tu et al. are $2/d^2$ times its losses.

    **Valid** for whitened inputs and Gaussian weights. `.uncertainty` estimates the error. It was tested on networks
    trained for tasks of several ranks, spectra, noise levels and shapes (`linnet verify own`).

    **Reference:** own result, from Varre et al. 2023, Theorem C.12, for the experiment of Tu et al. 2024, Figure 2.

    **Example:**

        >>> from linnet.theories.lazy_active import predicted_diagram
        >>> from linnet.problems import low_rank_plus_noise
        >>> diagram = predicted_diagram(low_rank_plus_noise(50, rank=3, key=0), [1e-4, 1e-2], [200, 10_000])
        >>> diagram
        PredictedDiagram(2 widths x 2 variances, 4 of 4 covered)
    """
    spectrum = spectrum_of(problem, points, truth=True)
    sizes, units, limit = check_axis("variances", variances), check_widths(widths), positive("limit", limit)
    draws = count("draws", draws, least=0, most=MOST_DRAWS)
    layers, decay = count("depth", depth, least=2, most=6), non_negative("weight_decay", weight_decay)
    if update is not None or decay:
        if layers > 2 or (update is not None and decay):
            raise ValueError("`update` and `weight_decay` are for two layers, and for one of them at a time.")
        plane = spectrum, units, units[:, None] * sizes
        parts = decaying_cells(*plane, decay) if update is None else spectral_cells(*plane, update)
        unknown = np.full(plane[2].shape, np.nan)
        arrays: dict[str, Any] = dict(zip(_NAMES, (*parts, unknown, unknown), strict=True))
        return PredictedDiagram(**arrays, variances=sizes, widths=units, limit=limit)
    if layers > 2:
        from linnet.theories.deep.diagram import deep_diagram

        return deep_diagram(spectrum, sizes, units, depth=layers, limit=limit)
    if draws == 1:
        raise ValueError("`draws` must be 0 or at least 2: one initialization has no standard error.")
    distinct, back = np.unique(units, return_inverse=True)
    shape = (distinct.size, sizes.size)
    thresholds = (distinct[:, None] * sizes).ravel()
    key = words(key)
    found = wide_best(spectrum, thresholds, np.repeat(distinct, sizes.size))
    refuse_infinite(thresholds, *found)
    time, test, train, rank, own, bend = (part.reshape(shape) for part in found)
    model = spectrum, distinct[:, None], distinct[:, None] * sizes, own / test
    error = wide_error(*model)
    moment = time_error(bend, error, 0.0)
    scatter = np.full(shape, np.nan)
    drawn = drawn_cells(*model)
    error[drawn], moment[drawn] = np.nan, np.nan

    unit, scaled = spectrum.unit, in_units(spectrum, spectrum.unit)

    def follow(row: int) -> tuple[np.ndarray, ...]:
        at = drawn[row]
        wide = unit * time[row, at], test[row, at] / unit / unit
        found = DrawnRow(scaled, distinct[row], sizes[at] / unit, *wide, draws=draws, key=key).cells()
        back = unit * unit, 1 / unit, 1.0, unit * unit, 1.0, 1.0, 1.0  # test, time, rank, train, errors and scatter
        return tuple(factor * part for factor, part in zip(back, found, strict=True))

    if draws:
        cells = [test, time, rank, train, error, moment, scatter]
        fill(cells, drawn, distinct, follow, signals=spectrum.num_outliers)
    time = np.where(moment < PLATEAU, time, np.nan) if draws else time
    parts = test / 2, time, rank, train / 2, error, np.where(np.isfinite(time), moment, np.nan), scatter
    arrays = dict(zip(_NAMES, (part[back] for part in parts), strict=True))
    return PredictedDiagram(**arrays, variances=sizes, widths=units, limit=limit)


def spectrum_of(problem: Problem | TaskSpectrum, points: int | None = None, *, truth: bool = False) -> TaskSpectrum:
    """The spectrum of a problem, or the one given; its bulk in groups where `points` are asked for. A test error needs
    a `truth`."""
    spectrum = problem if isinstance(problem, TaskSpectrum) else task_spectrum(problem)
    if truth and not spectrum.has_truth:
        raise ValueError("`problem` must have a `truth`: the test error measures the distance to it.")
    return spectrum if points is None else spectrum.grouped(points)


def check_axis(name: str, values: object) -> np.ndarray:
    """Return an axis of positive numbers, checked."""
    array = np.atleast_1d(real_array(name, values, ndim=(0, 1)))
    if (array <= 0).any():
        raise ValueError(f"`{name}` must be positive: the smallest is {array.min():.6g}.")
    return array


def check_widths(values: object) -> np.ndarray:
    """Return an axis of whole numbers, checked."""
    array = check_axis("widths", values)
    if (array != np.round(array)).any():
        raise ValueError(f"`widths` must be whole numbers: got {array[array != np.round(array)][0]:g}.")
    return array
