"""A low-rank matrix seen through noise: a network's filter, its threshold and stopping time from the data alone."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import non_negative, real_array
from linnet._randomness import generator
from linnet.forecasts._noise_models import noise_model
from linnet.forecasts._random_streams import NOISE_OF_SEEN_ENTRIES
from linnet.forecasts.noise_levels import MIN_SINGULAR_VALUES, largest_noise_value
from linnet.theories.denoising import SpectralRisk
from linnet.theories.lazy_active.spectral_flows import mode_slopes, mode_values
from linnet.theories.spectral_bias import half_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Thresholds looked at, in units of the edge of the noise: below, the filter is a sharp step; above, it is linear.
_THRESHOLDS = np.geomspace(1e-4, 30.0, 14)
_CUTS = 26  # singular values that are half learned at the times looked at
MAX_TURNS, TURN_CHANGE = 300, 1e-4  # of filling missing entries
LESS_EACH_TURN = 0.65  # the noise assumed at first is so large that one mode is left; it falls by this factor
SEARCHED_FIRST, SEARCH_EVERY = 10, 10  # the first of those turns, and every tenth: threshold and time are chosen anew
_REFINEMENTS = 60  # evaluations of the search between the points of that grid


@dataclass(frozen=True)
class DenoisingPath:
    """SURE (Stein's unbiased risk estimate) of the squared error for every threshold and time that was tried.

    **Attributes:**

    - `thresholds`: thresholds $g$, (threshold,)
    - `cuts`: singular values that are half learned at each time, (time,)
    - `times`: times at which the singular value `cuts[j]` is half learned, (threshold, time)
    - `risks`: estimated squared errors, (threshold, time)

    **Example:**

        >>> import linnet as ln
        >>> from linnet.forecasts import denoise
        >>> path = denoise(ln.problems.low_rank_plus_noise(40, rank=2, key=0).cross).path
        >>> path.risks.shape == (path.thresholds.size, path.cuts.size)
        True
    """

    thresholds: Float[np.ndarray, " threshold"]
    times: Float[np.ndarray, "threshold time"]
    risks: Float[np.ndarray, "threshold time"]
    cuts: Float[np.ndarray, " time"]


@dataclass(frozen=True)
class Denoised:
    r"""Result of `denoise`.

    **Attributes:**

    - `matrix`: estimate of the signal, with the shape of the data
    - `threshold`, `time`: threshold of the network whose product is `matrix`, and the time at which its training stops
    - `risk`: estimated squared error $|\hat A - A^*|_F^2$; `risk_of_data`: the same for the data before denoising, $mn$
      times the noise variance
    - `rank`: number of singular values of which more than half is kept; `effective_rank`: sum of the fractions kept
    - `noise_std`, `noise_std_error`: standard deviation of the noise, and its standard error (0 if it was given)
    - `values`, `filtered`: singular values of the data and of the estimate
    - `path`: a `DenoisingPath` with all filters that were compared
    - `row_stds`, `column_stds`: noise of rows and of columns if they differ; the noise of an entry is their product
    - `clipped`: fraction of entries that were outliers and were replaced by smaller values

    **Example:**

        >>> import linnet as ln
        >>> from linnet.forecasts import denoise
        >>> task = ln.problems.low_rank_plus_noise(40, rank=2, key=0)
        >>> denoised = denoise(task.cross)
        >>> denoised.rank, bool(((denoised.matrix - task.truth) ** 2).sum() < 0.3 * denoised.risk_of_data)
        (2, True)
    """

    matrix: Float[np.ndarray, "output input"]
    threshold: float
    time: float
    risk: float
    rank: int
    effective_rank: float
    noise_std: float
    noise_std_error: float
    values: Float[np.ndarray, " mode"]
    filtered: Float[np.ndarray, " mode"]
    path: DenoisingPath
    row_stds: Float[np.ndarray, " output"] | None = None
    column_stds: Float[np.ndarray, " input"] | None = None
    clipped: float = 0.0

    @property
    def risk_of_data(self) -> float:
        """Expected squared error of the data before denoising."""
        return self.matrix.size * self.noise_std**2

    @property
    def _noise_text(self) -> str:
        """The noise, with its error where it was estimated."""
        return f"{self.noise_std:.4g}" + (f" ± {self.noise_std_error:.2g}" if self.noise_std_error else "")

    def __repr__(self) -> str:
        rows, columns = self.matrix.shape
        return (
            f"Denoised({rows} x {columns}, rank {self.rank}, noise {self._noise_text}, threshold {self.threshold:.4g}, "
            f"time {self.time:.4g})"
        )

    def plot(self) -> Figure:
        """Estimated error against time for every threshold, and the singular values before and after."""
        from linnet import style

        with style.applied():
            picture, (left, right) = style.subplots(1, 2, size=style.column(2, ratio=0.36))
            scale = self.risk_of_data or 1.0
            for i, color in enumerate(style.shades(self.path.thresholds.size)):
                left.plot(self.path.cuts, self.path.risks[i] / scale, color=color, linewidth=0.8)
            if self.rank and self.path.cuts.size:  # else nothing, or everything, was kept
                chosen = np.interp(0.5, *_kept_shares(self.values, self.filtered))
                left.plot(chosen, self.risk / scale, "o", color=style.ORANGE, label="chosen")
                left.legend()
            left.set(
                title="a  Estimated error, dark: small threshold",
                xlabel="singular value half learned",
                ylabel="error / error of the data",
                ylim=(0, 1.3),
            )
            number = np.arange(1, self.values.size + 1)
            right.plot(number, self.values, color=style.GRAY, label="data", **style.MARKS)
            right.plot(number, self.filtered, color=style.BLUE, label="denoised", **style.MARKS)
            right.set(title=f"b  Singular values, rank {self.rank}", xlabel="number", ylabel="singular value")
            right.legend()
        return picture


def denoise(Y: object, *, noise_std: float | None = None) -> Denoised:
    r"""Estimate a low-rank matrix from a noisy one, as a linear network that stops at the best time.

    We recommend `denoise` for noise that is uneven or correlated along rows, and for a rank that is not small. If the
    rank is small and the noise is white, optimal shrinkage (Gavish and Donoho 2017) is better by 1 to 9%. Give
    `noise_std` if you know it.

    A network that is trained on $Y = A^* + E$ from a negligible initial product computes $U f_t(S) V^\top$, where
    $Y = U S V^\top$ and $f_t$ is `theories.lazy_active.mode_values`. Threshold and time minimize SURE, Stein's unbiased
    risk estimate of $|U f_t(S) V^\top - A^*|_F^2$ (`theories.denoising.sure`). No network is trained.

    **Arguments:**

    - `Y`: noisy matrix, (output, input), at least 2 x 2; NaN marks missing entries, and a data frame keeps its labels
    - `noise_std`: standard deviation of the noise; the default is an estimate from the singular values

    **Returns** a `Denoised`. Pure noise gives rank 0, and so does a `noise_std` that explains all of the data. Data
    without noise are returned unchanged.

    **The noise**, if it is not given, is estimated from the tail of the singular values (`noise_level`). If rows or
    columns differ in their noise, they are divided by it, denoised and multiplied back (`row_stds`, `column_stds`);
    outliers are replaced by smaller values (`clipped`). Each is done only if it leaves clearly fewer signals. If no
    tail follows the distribution of noise, noise and signal cannot be separated: a warning is issued and `Y` is
    returned as it is, with a `noise_std_error` as large as `noise_std`. For correlated noise, the singular values below
    a wide gap do not follow the distribution of noise. All of them then count as noise, with a warning.

    **Missing entries** are filled with the estimate, repeatedly until it settles (soft-impute with this filter). The
    noise is estimated from the observed entries, assuming one variance.

    **Valid when** the noise is independent and Gaussian, with a variance that is a product of a row and a column
    factor, and larger than the smallest singular values of the signal. The fine structure of a photograph looks like
    noise, and the estimate is then 5% to 20% too high. The page "Denoise a matrix" compares
    methods.

    **Reference:** own result; the filter is Varre et al. 2023, Theorem C.12.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import denoise
        >>> draw = np.random.default_rng(0)
        >>> truth = 2 * np.outer(draw.normal(size=60), draw.normal(size=80))
        >>> denoise(truth + draw.normal(size=truth.shape)).rank
        1
    """
    frame: Any = Y if hasattr(Y, "iloc") and getattr(Y, "ndim", 0) == 2 else None
    data = real_array(
        "Y", Y if frame is None else frame.to_numpy(dtype=np.float64, na_value=np.nan), ndim=2, finite=False
    )
    if np.isinf(data).any():
        raise ValueError(f"`Y` must not hold infinities: {int(np.isinf(data).sum())} of {data.size} entries do.")
    if min(data.shape) < 2:
        raise ValueError(f"`Y` must have at least 2 rows and 2 columns: got shape {data.shape}.")
    given = None if noise_std is None else non_negative("noise_std", noise_std)
    for name, size in (("Y", float(np.nanmax(np.abs(data), initial=0.0))), ("noise_std", given or 0.0)):
        if size > 0 and not 1e-140 < size < 1e140:  # squares are taken, and products of them with others
            raise ValueError(f"`{name}` must be between 1e-140 and 1e140 in size: got {size:.3g}. Use other units.")
    seen = ~np.isnan(data)
    result = _denoise_complete(data, given) if seen.all() else _denoise_incomplete(data, seen, given)
    if frame is None:
        return result
    labeled: Any = type(frame)(result.matrix, index=frame.index, columns=frame.columns)
    return replace(result, matrix=labeled)


def _denoise_complete(data: np.ndarray, noise_std: float | None) -> Denoised:
    """Estimate a matrix without missing values: by the model of its noise that leaves the fewest signals."""
    if noise_std is not None:
        return _apply_best_filter(data, noise_std)
    if min(data.shape) < MIN_SINGULAR_VALUES:
        raise ValueError(
            f"`Y` must have at least {MIN_SINGULAR_VALUES} rows and columns to estimate the noise: got shape "
            f"{data.shape}. Give `noise_std` instead."
        )
    model = noise_model(data)
    if model.warning:
        warnings.warn(model.warning, stacklevel=3)  # the line that calls `denoise`
    if not model.tail.found:
        found = _apply_best_filter(data, 0.0)
        return replace(
            found,
            matrix=data.copy(),
            filtered=found.values,
            rank=min(data.shape),
            effective_rank=float(min(data.shape)),
            risk=data.size * model.tail.noise_std**2,
            noise_std=model.tail.noise_std,
            noise_std_error=model.tail.standard_error,
        )
    scales = model.entry_noise
    result = _apply_best_filter(model.data / scales, model.tail.noise_std)
    result = replace(
        result,
        matrix=result.matrix * scales,
        noise_std_error=model.tail.standard_error,
        clipped=model.clipped,
    )
    if model.rows is None:
        return result
    return replace(result, row_stds=model.rows * result.noise_std, column_stds=model.columns)


def _denoise_incomplete(data: np.ndarray, seen: np.ndarray, noise_std: float | None) -> Denoised:
    """Estimate a matrix where entries are missing: they are filled with the estimate, in turns, until it settles."""
    if not (seen.any(axis=0).all() and seen.any(axis=1).all()):
        raise ValueError(
            "`Y` must have an entry in every row and every column: leave out those that are missing whole."
        )
    filled = np.where(seen, data, np.nanmean(data))
    spread = float(np.nanstd(data))
    noise = noise_std
    # Filled entries carry no noise of their own. What counts is how far the noise of the others reaches.
    reach = _largest_value_of_masked_noise(seen) / largest_noise_value(1.0, data.shape)
    # Modes come one after another: gaps filled with too many at first would be taken for signal ever after.
    most = 0.5 * float(np.linalg.norm(filled, 2)) / largest_noise_value(1.0, data.shape)
    result = _apply_best_filter(filled, most)
    for turn in range(1, MAX_TURNS):
        before = np.asarray(result.matrix)
        residual = (data - before)[seen]
        if noise_std is None:  # what the filter leaves of the noise is not seen in the residuals: freedom is taken off
            rows, columns = data.shape
            # at most nine tenths of the entries, so that residuals are left to see the noise in
            freedom = min(result.effective_rank * (rows + columns - result.effective_rank), 0.9 * seen.sum())
            level = float(np.sqrt((residual**2).sum() / (seen.sum() - freedom)))
            noise = level if noise is None else 0.5 * (noise + level)
            noise = min(noise, spread)
        filled = np.where(seen, data, before)
        if turn > SEARCHED_FIRST and turn % SEARCH_EVERY:
            result = _filtered_as(result, filled)
        else:
            result = _apply_best_filter(filled, max((noise or 0.0) * reach, most * LESS_EACH_TURN**turn))
            continue
        if float(np.linalg.norm(result.matrix - before)) <= TURN_CHANGE * float(np.linalg.norm(before)):
            break
    # the noise of as many entries as were seen, less what the rank takes
    error = 0.0 if noise_std is not None or noise is None else noise / np.sqrt(2 * (seen.sum() - freedom))
    return replace(result, noise_std=float(noise or 0.0), noise_std_error=float(error))


def _largest_value_of_masked_noise(seen: np.ndarray) -> float:
    """Return the largest singular value of unit noise in the entries that were seen, the mean of a few draws."""
    draws = generator(0, NOISE_OF_SEEN_ENTRIES).standard_normal((3, *seen.shape))
    return float(np.mean([np.linalg.norm(np.where(seen, draw, 0.0), 2) for draw in draws]))


def _filtered_as(found: Denoised, data: np.ndarray) -> Denoised:
    """Return another matrix through the filter that was found."""
    if not 0 < found.time < np.inf:
        return replace(found, matrix=data.copy() if found.time else np.zeros_like(data))
    left, values, right = np.linalg.svd(data, full_matrices=False)
    filtered = mode_values(values, found.threshold, [found.time])[0]
    shares = filtered / np.where(values > 0, values, 1.0)
    return replace(
        found,
        matrix=(left * filtered) @ right,
        values=values,
        filtered=filtered,
        rank=int((shares > 0.5).sum()),
        effective_rank=float(shares.sum()),
    )


def _apply_best_filter(data: np.ndarray, noise: float) -> Denoised:
    """Estimate a matrix by the filter with the smallest estimated risk, for noise of one known variance."""
    left, values, right = np.linalg.svd(data, full_matrices=False)
    if noise <= 1e-14 * values[0]:  # without noise the data are the truth: the network trained to its end
        path = DenoisingPath(np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))
        filtered = np.where(values > 1e-12 * values[0], values, 0.0)
        matrix, threshold, time, risk = data.copy(), float(values[0]), np.inf if filtered.any() else 0.0, 0.0
    else:
        search = _RiskSearch(values, data.shape, noise)
        path = search.grid()
        threshold, time, risk = search.minimum(path)
        filtered = mode_values(values, threshold, [time])[0]
        nothing = float((values**2).sum()) - data.size * noise**2
        if nothing <= risk:  # the zero matrix is the network before it starts
            time, risk, filtered = 0.0, nothing, np.zeros_like(values)
        matrix = (left * filtered) @ right
    shares = filtered / np.where(values > 0, values, 1.0)
    return Denoised(
        matrix=matrix,
        threshold=threshold,
        time=time,
        risk=risk,
        rank=int((shares > 0.5).sum()),
        effective_rank=float(shares.sum()),
        noise_std=noise,
        noise_std_error=0.0,
        values=values,
        filtered=filtered,
        path=path,
    )


class _RiskSearch:
    """The search for the minimum of SURE over thresholds and times; a time is given by its cut, the singular
    value that is half learned then."""

    def __init__(self, values: np.ndarray, shape: tuple[int, int], noise: float):
        self.values, self.noise, self.risk = values, noise, SpectralRisk(values, shape)
        self.edge = largest_noise_value(noise, shape)

    def grid(self) -> DenoisingPath:
        """Return the risk on a grid of thresholds and times."""
        thresholds = self.edge * _THRESHOLDS
        cuts = np.geomspace(0.3 * self.edge, max(2 * self.edge, 1.5 * float(self.values[0])), _CUTS)
        times = np.stack([half_times(cuts, g) for g in thresholds])
        # a larger cut is half learned sooner: the times fall, and `_risks` takes rising ones
        risks = np.stack([self._risks(g, t[::-1])[::-1] for g, t in zip(thresholds, times, strict=True)])
        return DenoisingPath(thresholds, times, risks, cuts)

    def minimum(self, path: DenoisingPath) -> tuple[float, float, float]:
        """Return threshold, time and risk where the risk is smallest: from the best of the grid by Nelder-Mead."""
        row, column = np.unravel_index(int(np.argmin(path.risks)), path.risks.shape)
        start = np.log([path.thresholds[row], path.cuts[column]])
        # the search may leave the grid, by these factors; beyond them a point counts as the nearest one within
        low = np.log([path.thresholds[0] / 10, path.cuts[0] / 3])
        high = np.log([path.thresholds[-1] * 10, path.cuts[-1] * 3])

        def objective(point: np.ndarray) -> float:
            g, cut = np.exp(np.clip(point, low, high))
            return float(self._risks(g, half_times([cut], g))[0])

        from scipy.optimize import minimize  # where it is needed: it takes half a second to load

        simplex = start + np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.08]])  # about as wide as the cells of the grid
        options: dict[str, Any] = {"initial_simplex": simplex, "maxfev": _REFINEMENTS, "xatol": 1e-3, "fatol": 1e-9}
        optimum = minimize(objective, start, method="Nelder-Mead", options=options)
        g, cut = np.exp(np.clip(optimum.x, low, high))
        return float(g), float(half_times([cut], g)[0]), float(optimum.fun)

    def _risks(self, threshold: float, times: np.ndarray) -> np.ndarray:
        """Return Stein's estimate of the risk at one threshold and several times, which must rise strictly (as
        `mode_values` demands)."""
        return self.risk.estimate(
            mode_values(self.values, threshold, times), mode_slopes(self.values, threshold, times), self.noise**2
        )


def _kept_shares(values: np.ndarray, filtered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares that the filter keeps, and their singular values, both increasing, as `np.interp` needs them:
    the filter keeps a larger fraction of a larger value."""
    kept = values > 0
    order = np.argsort(values[kept])
    return (filtered[kept] / values[kept])[order], values[kept][order]
