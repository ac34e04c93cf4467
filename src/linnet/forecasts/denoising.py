"""A low-rank matrix seen through noise: a network's filter, its threshold and stopping time from the data alone."""

from __future__ import annotations

import html
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import non_negative, real_array
from linnet.forecasts.noise_levels import (
    bulk_misfit,
    largest_noise_value,
    level_by_largest_gap,
    noise_level,
    noise_profile,
)
from linnet.theories.denoising import SpectralRisk
from linnet.theories.lazy_active.spectral_flows import mode_slopes, mode_values
from linnet.theories.spectral_bias import half_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Thresholds looked at, in units of the edge of the noise: below, the filter is a sharp step; above, it is linear.
_THRESHOLDS = np.geomspace(1e-4, 30.0, 14)
_CUTS = 26  # singular values that are half learned at the times looked at
MIN_SIDE = 40  # of a matrix whose bulk is tested
# Of the bulk from the law of one noise, relative: 80 draws of white noise of 40 x 60 and 100 x 100 stay below 0.075.
MAX_MISFIT = 0.08
MISFIT_TIMES_SIDE = 5.0  # over the shorter side: small matrices scatter more, 60 tasks of 40 x 40 by up to 0.11
# The least noise of a row or column over their median: where signals fill a third of the spectrum, the directions of
# the profile can take all of a row, and its noise falls to nothing turn by turn.
MIN_PROFILE = 0.01
MAX_TURNS, TURN_CHANGE = 300, 1e-4  # of filling missing entries
_REFINEMENTS = 60  # evaluations of the search between the points of that grid


@dataclass(frozen=True)
class DenoisingPath:
    """Stein's estimate of the squared error for every threshold and time looked at.

    **Attributes:**

    - `thresholds`: $g$, (threshold,)
    - `times`: (threshold, time); at each a singular value `cuts[j]` is half learned
    - `risks`: (threshold, time); `cuts`: (time,)

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
    r"""What `denoise` found.

    **Attributes:**

    - `matrix`: the estimate of the truth, as large as the data
    - `threshold`, `time`: of the network whose product it is, stopped then
    - `risk`: estimated $|\hat A - A^*|_F^2$; `risk_of_data`: that of the data, $mn$ times the noise variance
    - `rank`: how many singular values are kept by more than half; `effective_rank`: the sum of the shares kept
    - `noise_std`, `noise_std_error`: the noise, and its standard error where it was estimated (else 0)
    - `values`, `filtered`: singular values of the data and of the estimate
    - `path`: a `DenoisingPath`, everything that was looked at
    - `noise_misfit`: how far the bulk of singular values is from the law of one noise, relative; 0 where not tested
    - `row_stds`, `column_stds`: the noise of rows and of columns (their product is that of an entry) where they differ
    - `observed`: the share of entries that were not missing

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
    noise_misfit: float = 0.0
    row_stds: Float[np.ndarray, " output"] | None = None
    column_stds: Float[np.ndarray, " input"] | None = None
    observed: float = 1.0

    @property
    def risk_of_data(self) -> float:
        """The squared error of the data themselves, expected from the noise."""
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

    def _repr_html_(self) -> str:
        share = self.risk / self.risk_of_data if self.risk_of_data else float("nan")
        rows = {
            "matrix": f"{self.matrix.shape[0]} × {self.matrix.shape[1]}",
            "noise (standard deviation)": f"{self._noise_text} ({'estimated' if self.noise_std_error else 'given'})",
            "rank": f"{self.rank} (sum of the shares kept: {self.effective_rank:.2f})",
            "threshold g": f"{self.threshold:.4g}",
            "stopping time": f"{self.time:.4g}",
            "estimated squared error": f"{self.risk:.4g}, {share:.1%} of that of the data",
        }
        cells = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in rows.items())
        return f"<table><caption>Denoised matrix</caption>{cells}</table>"

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
    r"""The estimate of a low-rank matrix seen through noise that a linear network gives, stopped when it is best.

    Trained on $Y = A^* + E$ from a negligible start of threshold $g$, a network is at time $t$ the filter
    $U f(S) V^\top$ with $f$ of `theories.lazy_active.mode_values`. Stein's unbiased estimate of $|f(Y) - A^*|_F^2$
    (`theories.denoising.sure`) chooses $g$ and $t$, without training.

    **Arguments:**

    - `Y`: the noisy matrix, (output, input), at least 2 x 2; NaN marks missing entries, a data frame keeps its labels
    - `noise_std`: standard deviation of the entries of $E$; default: from the bulk of singular values (`noise_level`)

    **Returns** a `Denoised`. Pure noise, or a noise said to exceed the matrix, gives rank 0; no noise gives $Y$ back.

    **Missing entries** are filled with the estimate itself, in turns, until it settles (soft-impute with this filter);
    the noise is estimated from the entries that were seen. **Noise of more than one variance** is noticed by the shape
    of the bulk (`noise_misfit`). Where rows or columns differ in their noise, they are divided by it, denoised and
    multiplied back, if the bulk fits then and no rank is added (`row_stds`, `column_stds`); otherwise a warning says
    so, and the noise is taken to reach up to the widest gap of the singular values.

    **Valid when** the noise is independent and Gaussian, with variances that rows and columns explain. Where the rank
    is low, optimal shrinkage (Gavish and Donoho 2017) is better; docs/denoising.md has the table.

    **Reference:** ours; the filter is Varre et al. 2023, Theorem C.12.

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
    """Estimate a matrix without gaps, with rows and columns brought to one noise where theirs differ."""
    plain = _apply_best_filter(data, noise_std)
    if noise_std is not None or min(data.shape) < MIN_SIDE or plain.noise_std <= 1e-14 * plain.values[0]:
        return plain
    misfit = bulk_misfit(plain.values, data.shape)
    most = max(MAX_MISFIT, MISFIT_TIMES_SIDE / min(data.shape))
    if misfit <= most:
        return replace(plain, noise_misfit=misfit)
    # how far such noise reaches is seen in the widest gap of the spectrum, not in the law of the bulk
    careful = _apply_best_filter(data, max(level_by_largest_gap(plain.values, data.shape), plain.noise_std))
    rows, columns = noise_profile(data)
    evened = _apply_best_filter(data / np.outer(rows, columns), None)
    after = bulk_misfit(evened.values, data.shape)
    collapsed = any((stds < MIN_PROFILE * np.median(stds)).any() for stds in (rows, columns))
    # quiet rows or columns would pass for signal
    if collapsed or after > most or not 0 < evened.rank <= careful.rank:
        warnings.warn(
            f"the noise does not look independent and of one variance: its singular values are {misfit:.0%} away from "
            "the law of such noise. A larger noise is taken, so that the rank is not overestimated; give `noise_std` "
            "if you know it.",
            stacklevel=3,  # the line that calls `denoise`
        )
        return replace(careful, noise_misfit=misfit)
    matrix = evened.matrix * np.outer(rows, columns)
    return replace(evened, matrix=matrix, noise_misfit=misfit, row_stds=rows * evened.noise_std, column_stds=columns)


def _denoise_incomplete(data: np.ndarray, seen: np.ndarray, noise_std: float | None) -> Denoised:
    """Estimate a matrix where entries are missing: they are filled with the estimate, in turns, until it settles."""
    if not (seen.any(axis=0).all() and seen.any(axis=1).all()):
        raise ValueError(
            "`Y` must have an entry in every row and every column: leave out those that are missing whole."
        )
    share = float(seen.mean())
    filled = np.where(seen, data, np.nanmean(data))
    spread = float(np.nanstd(data))
    noise = noise_std
    result = _apply_best_filter(filled, noise)
    for turn in range(MAX_TURNS):
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
        # filled entries carry no noise of their own: on average the noise of the whole is that of the entries seen
        result = _apply_best_filter(filled, None if noise is None else noise * np.sqrt(share))
        change = float(np.linalg.norm(result.matrix - before))
        if turn > 1 and change <= TURN_CHANGE * float(np.linalg.norm(before)):
            break
    return replace(result, noise_std=float(noise or 0.0), observed=share)


def _apply_best_filter(data: np.ndarray, noise_std: float | None) -> Denoised:
    """Estimate a matrix by the filter of least estimated risk, for noise of one variance, given or estimated."""
    left, values, right = np.linalg.svd(data, full_matrices=False)
    noise, error = noise_level(values, data.shape) if noise_std is None else (noise_std, 0.0)
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
        noise_std_error=error,
        values=values,
        filtered=filtered,
        path=path,
    )


class _RiskSearch:
    """The search for the least Stein's risk over thresholds and times; a time is given by its cut, the singular value
    that is half learned then."""

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
        """Return threshold, time and risk where the risk is least: from the best of the grid by Nelder-Mead."""
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
    the filter keeps a larger share of a larger value."""
    kept = values > 0
    order = np.argsort(values[kept])
    return (filtered[kept] / values[kept])[order], values[kept][order]
