"""The noise of a matrix from its own singular values: the bulk follows a known law, whose scale is the noise."""

from __future__ import annotations

import numpy as np

from linnet._arguments import matrix_shape, real_array, representable
from linnet.theories.noise_bulk import bulk_edges, bulk_quantile, ratio_of

# Shares of the bulk that are looked at: signals that are too weak to stand out push its upper end up.
_SHARES = np.linspace(0.1, 0.75, 14)
_MISFIT_SHARES = np.linspace(0.2, 0.95, 16)  # at which its shape is compared with the law, nearly to its upper end
# Sampling error of the estimate in units of 1/sqrt(entries of the matrix), measured on pure noise (docs/denoising.md).
_SAMPLING = 1.5
# A singular value stands out if it exceeds the bulk's edge by this many widths of the edge's own fluctuation, n^(-2/3).
_EDGE_WIDTHS = 2.0
PROFILE_TURNS = 8  # between noise and directions (`noise_profile`)
_MIN_SINGULAR_VALUES = 4  # singular values that are needed to tell noise from signal


@representable
def noise_level(values: object, shape: tuple[int, int]) -> tuple[float, float]:
    r"""Standard deviation of the noise in a matrix of low rank plus noise, and its standard error.

    Singular values that stand out of the bulk are left aside; the rest are those of noise of the remaining size, so
    every quantile of them over its place in the Marchenko-Pastur law is an estimate; the result is their mean. Its
    error is the sampling error, $1.5/\sqrt{mn}$ of it, and half the difference between the lower and the upper
    quantiles, which sees signals inside the bulk.

    **Arguments:**

    - `values`: all singular values, (mode,)
    - `shape`: of the matrix

    **Returns** the noise and its error. **Valid when** the noise is independent, of one variance, and the rank well
    below half of the smaller side. Many signals at the edge of the bulk pass for noise.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import noise_level
        >>> noise = np.random.default_rng(0).normal(size=(80, 120))
        >>> [round(x, 3) for x in noise_level(np.linalg.svd(noise, compute_uv=False), noise.shape)]
        [0.994, 0.017]
    """
    s = np.sort(real_array("values", values, ndim=1))[::-1]
    rows, columns = matrix_shape("shape", shape)
    if max(rows, columns) > 1e15 * min(rows, columns):
        raise ValueError(f"`shape` must have sides less than 1e15 apart: got {shape}.")
    rows, columns = float(rows), float(columns)  # type: ignore[assignment]  # NumPy takes no root of a huge integer
    if s.size > min(rows, columns):
        raise ValueError(
            f"`values` must be the singular values of `shape`, at most {min(rows, columns):g}: got {s.size}."
        )
    if s.size < _MIN_SINGULAR_VALUES:
        raise ValueError(
            f"the noise cannot be told from {s.size} singular values: at least {_MIN_SINGULAR_VALUES} are needed. "
            "Give `noise_std`."
        )
    aside, levels = 0, np.array([np.nan])
    for _ in range(s.size):
        levels = _levels_by_quantile(s, (rows, columns), aside, _SHARES)
        standing = _number_beyond_bulk(s, (rows, columns), float(levels.mean()))
        if standing <= aside or s.size - standing < _MIN_SINGULAR_VALUES:
            break
        aside = standing
    estimate, half = float(levels.mean()), levels.size // 2
    misfit = abs(float(levels[half:].mean() - levels[:half].mean())) / 2
    return estimate, float(np.hypot(_SAMPLING * estimate / np.sqrt(rows * columns), misfit))


def largest_noise_value(noise: float, shape: tuple[int, int]) -> float:
    """Return the largest singular value of a large matrix of independent noise: the upper of `bulk_edges`, in the units
    of the matrix. The sides are less than 1e15 apart, else `bulk_edges` refuses."""
    return float(noise * np.sqrt(max(shape)) * bulk_edges(ratio_of(*shape))[1])


def _number_beyond_bulk(s: np.ndarray, shape: tuple[int, int], noise: float) -> int:
    """Return the number of singular values beyond the edge of the bulk."""
    return int((s > largest_noise_value(noise, shape) * (1 + _EDGE_WIDTHS * s.size ** (-2 / 3) / 2)).sum())


def _levels_by_quantile(s: np.ndarray, shape: tuple[int, int], aside: int, shares: np.ndarray) -> np.ndarray:
    """Return the noise level by each quantile of the singular values, the `aside` largest left out."""
    sides = (shape[0] - aside, shape[1] - aside)
    places = np.array([bulk_quantile(share, ratio_of(*sides)) for share in shares]) * np.sqrt(max(sides))
    return np.quantile(s[aside:], shares) / places


def bulk_misfit(values: np.ndarray, shape: tuple[int, int]) -> float:
    """Return how far the bulk is from the law of one noise: half the relative spread of the noise by its quantiles."""
    s = np.sort(values)[::-1]
    aside = min(_number_beyond_bulk(s, shape, noise_level(s, shape)[0]), s.size - _MIN_SINGULAR_VALUES)
    levels = _levels_by_quantile(s, shape, aside, _MISFIT_SHARES)
    return float(np.ptp(levels) / (2 * levels.mean()))


def noise_profile(data: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise of rows and of columns (these of mean square 1) from the residuals of the leading directions.

    It alternates between noise and directions, first with rows and columns of one size, signal included: then noisy
    rows do not pass for signal.
    """

    def root_mean_square(values: np.ndarray, axis: int) -> np.ndarray:
        """Return root mean squares over an axis, none below a millionth of that of all: one may divide by them."""
        sizes = np.sqrt((values**2).mean(axis=axis))
        return np.maximum(sizes, 1e-6 * np.sqrt((sizes**2).mean()) + np.finfo(float).tiny)

    outside: int | None = None
    rows = root_mean_square(data, 1)
    columns = root_mean_square(data / rows[:, None], 0)
    for _ in range(PROFILE_TURNS):
        scaled = data / np.outer(rows, columns)
        left, values, right = np.linalg.svd(scaled, full_matrices=False)
        if outside is None:  # once: a quiet column that is taken for signal would look quieter at every turn
            level, _ = noise_level(values, data.shape)
            beyond = int((values > 1.1 * largest_noise_value(level, data.shape)).sum())  # the edge itself fluctuates
            outside = min(beyond, values.size // 3)  # enough must be left to see the noise in
        rest = scaled - (left[:, :outside] * values[:outside]) @ right[:outside]
        factor = root_mean_square(rest, 1)
        rows, columns = rows * factor, columns * root_mean_square(rest / factor[:, None], 0)
        unit = float(np.sqrt((columns**2).mean()))
        rows, columns = rows * unit, columns / unit
    return rows, columns


def level_by_largest_gap(values: np.ndarray, shape: tuple[int, int]) -> float:
    """Return the noise whose bulk would end below the largest relative gap among the first third of the spectrum.

    It is for noise that does not follow the law of the bulk and reaches beyond it. Below a gap deep in the spectrum it
    is less than `noise_level`: who takes the larger of both errs high, and does not overestimate the rank.
    """
    s = np.sort(values)[::-1]
    top = s[: max(2, s.size // 3) + 1]
    gaps = top[:-1] / np.maximum(top[1:], np.finfo(float).tiny)
    begins = int(np.argmax(gaps)) + 1
    return float(s[begins] / largest_noise_value(1.0, shape))
