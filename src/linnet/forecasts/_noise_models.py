"""Which noise a matrix has: of one variance, uneven by rows and columns, or with far outliers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linnet.forecasts.noise_levels import NoiseTail, largest_noise_value, level_below_gap, noise_profile, noise_tail

MIN_SIDE = 40  # of a matrix whose noise may be uneven or correlated
MIN_KURTOSIS = 2.5  # excess of the residuals, from which outliers are looked for; uneven rows have up to 2
CLIP = 3.0  # residuals beyond so many standard deviations (from the median absolute deviation) are drawn in
CLIP_TURNS = 12
# Another model of the noise is taken if it leaves at most this fraction of the signals of the simple one, and two
# fewer: the fine structure of a photograph can pass for uneven noise, too.
FEWER_IF_EVENED, FEWER_IF_CLIPPED, FEWER_BY = 0.25, 0.8, 2
# The smallest noise of a row or column over their median: where signals fill a third of the spectrum, the directions of
# the profile can take all of a row, and its noise falls to nothing turn by turn.
MIN_PROFILE = 0.01
UNEVEN = 2.0  # variance of the rows' or columns' noise over that of even noise
_CANDIDATES = (2, 3, 4, 6, 8, 11, 16, 23, 32)  # directions left aside while the noise of rows and columns is found


@dataclass(frozen=True)
class NoiseModel:
    """The noise of a matrix, and the matrix to be filtered.

    - `data`: the matrix, outliers drawn in; `clipped`: the fraction of its entries that were
    - `tail`: the noise of `data` over `rows` and `columns`, which are None where the noise is even
    - `warning`: text of a warning about it
    """

    data: np.ndarray
    tail: NoiseTail
    rows: np.ndarray | None = None
    columns: np.ndarray | None = None
    clipped: float = 0.0
    warning: str = ""

    @property
    def entry_noise(self) -> np.ndarray | float:
        """The relative noise of every entry."""
        return 1.0 if self.rows is None or self.columns is None else np.outer(self.rows, self.columns)


def noise_model(data: np.ndarray) -> NoiseModel:
    """Choose the model of the noise that leaves the fewest signals."""
    left, values, right = np.linalg.svd(data, full_matrices=False)
    plain = NoiseModel(data, noise_tail(values, data.shape))
    if min(data.shape) < MIN_SIDE or plain.tail.noise_std <= 1e-14 * values[0]:
        return plain if plain.tail.found else replace(plain, warning=_UNKNOWN)
    removed = plain.tail.removed
    residual = data - (left[:, :removed] * values[:removed]) @ right[:removed]
    best = plain
    if _has_outliers(residual):
        best = _fewer_signals(plain, _clipped(plain), FEWER_IF_CLIPPED)
    if not plain.tail.found or _is_uneven(residual):
        best = _fewer_signals(best, _fewer_signals(plain, _evened(plain), FEWER_IF_EVENED), 1.0)
        if best.clipped:
            best = _fewer_signals(best, _evened(best), FEWER_IF_EVENED)
        elif best.rows is not None and _has_outliers(residual / best.entry_noise):
            best = _fewer_signals(best, _clipped(best), FEWER_IF_CLIPPED)
    gap = level_below_gap(values, data.shape, plain.tail)
    if gap is not None and gap > 1.1 * plain.tail.noise_std and best is plain:
        level = NoiseTail(gap, gap, 0, plain.tail.misfit, True)
        return replace(plain, tail=level, warning=_CORRELATED.format(gap))
    return best if best.tail.found else replace(best, warning=_UNKNOWN)


_UNKNOWN = (
    "noise and signal cannot be separated: no part of the singular values follows the distribution of noise. The "
    "matrix is returned as it is; give `noise_std` if you know it."
)
_CORRELATED = (
    "the noise does not look independent: below a wide gap the singular values do not follow the law of such noise. "
    "All below the gap is taken for noise, of standard deviation {:.3g}; give `noise_std` if you know it."
)


def _fewer_signals(simple: NoiseModel, other: NoiseModel | None, share: float) -> NoiseModel:
    """Return the other model if it leaves clearly fewer signals."""
    if other is None or not other.tail.found:
        return simple
    signals = simple.tail.removed
    if not simple.tail.found:  # then any model leaves fewer: one is believed that leaves few
        signals, share = min(simple.data.shape), min(share, FEWER_IF_EVENED)
    return other if other.tail.removed <= min(share * signals, signals - FEWER_BY) else simple


def _is_uneven(residual: np.ndarray) -> bool:
    """Return whether rows or columns differ in their noise by more than chance explains."""
    for axis in (0, 1):
        sizes = (residual**2).mean(axis=axis)
        if sizes.var() > UNEVEN * 2 / residual.shape[axis] * sizes.mean() ** 2:
            return True
    return False


def _has_outliers(residual: np.ndarray) -> bool:
    """Return whether the residuals have heavier tails than Gaussian ones."""
    squares = residual**2
    return float((squares**2).mean()) > (3 + MIN_KURTOSIS) * float(squares.mean()) ** 2


def _evened(model: NoiseModel) -> NoiseModel | None:
    """Divide rows and columns by their noise; None if no profile leaves noise that can be identified."""
    best, data = None, model.data
    for outside in _CANDIDATES:
        if outside > min(data.shape) // 3:
            break
        rows, columns = noise_profile(data, outside)
        if any((stds < MIN_PROFILE * np.median(stds)).any() for stds in (rows, columns)):
            continue
        tail = noise_tail(np.linalg.svd(data / np.outer(rows, columns), compute_uv=False), data.shape)
        if tail.found and (best is None or tail.removed < best.tail.removed):
            best = replace(model, tail=tail, rows=rows, columns=columns)
        if best is not None and best.tail.removed <= outside + 1:  # with more aside, more would be taken for signal
            break
    return best


def _clipped(model: NoiseModel) -> NoiseModel | None:
    """Draw outliers in towards an estimate that is itself made without them, in turns."""
    data, scales = model.data, model.entry_noise
    scaled = data / scales
    estimate = np.full_like(scaled, np.median(scaled))
    for _ in range(CLIP_TURNS):
        residual = scaled - estimate
        level = 1.4826 * np.median(np.abs(residual))
        drawn = estimate + np.clip(residual, -CLIP * level, CLIP * level)
        left, values, right = np.linalg.svd(drawn, full_matrices=False)
        tail = noise_tail(values, data.shape)
        shrunk = shrink(values, tail.noise_std, data.shape)
        before, estimate = estimate, (left * shrunk) @ right
        if np.linalg.norm(estimate - before) <= 1e-3 * np.linalg.norm(estimate):
            break
    share = float((np.abs(residual) > CLIP * level).mean())
    return replace(model, data=drawn * scales, tail=tail, clipped=share)


def shrink(values: np.ndarray, noise: float, shape: tuple[int, int]) -> np.ndarray:
    """Return the singular values by the optimal shrinkage of Gavish and Donoho."""
    if noise <= 0:
        return values
    ratio, unit = min(shape) / max(shape), noise * np.sqrt(max(shape))
    y = values / unit
    inside = np.sqrt(np.maximum((y**2 - ratio - 1) ** 2 - 4 * ratio, 0))
    return np.where(values > largest_noise_value(noise, shape), unit * inside / np.maximum(y, 1e-300), 0.0)
