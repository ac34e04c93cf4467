"""The noise of a matrix from the tail of its singular values, which follow a known distribution if they are noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linnet._arguments import matrix_shape, real_array, representable
from linnet.theories.noise_bulk import bulk_cdf, bulk_edges, ratio_of

MIN_SINGULAR_VALUES = 4  # that are needed to tell noise from signal
# A tail is noise if its root mean square distance from the law, in units of the noise, is below
# (0.77 + 0.21 log n)/sqrt(n) with n values in it: 95 of 100 Gaussian matrices are, from 8 x 8 to 200 x 4000.
MISFIT_CONSTANT, MISFIT_SLOPE = 0.77, 0.21
MAX_MISFIT = 1.3  # over that limit, where nothing is below it: one of 20 matrices of noise alone is not
EXACT = 1e-13  # of the largest singular value: a tail below is rounding
MIN_TAIL_SHARE, MIN_TAIL = 1 / 3, 12  # of all singular values; shorter tails of smooth spectra look like noise
# Of correlated noise: its largest value over the median; the gap above it, relative and over all gaps within (of smooth
# spectra and photographs at most 4.2, of correlated noise at least 5.3); values
# between gap and tail, as a fraction of all.
MAX_BULK_WIDTH, MIN_GAP, MIN_GAP_RATIO, MIN_BETWEEN = 8.0, 0.3, 5.0, 0.1
MIN_FREE = 0.1  # of a row or column: what the signal's directions leave of its noise, at least
PROFILE_TURNS = 8  # between noise and directions (`noise_profile`)


@dataclass(frozen=True)
class NoiseTail:
    """The noise that the smallest singular values of a matrix show.

    - `noise_std`: standard deviation of the noise in an entry; only an upper limit if `found` is False
    - `standard_error`: standard error of `noise_std`
    - `removed`: number of singular values above the tail
    - `misfit`: distance of the tail from the distribution of noise, relative to the distance that 95 of 100 noise
      matrices stay below
    - `found`: whether it is noise
    """

    noise_std: float
    standard_error: float
    removed: int
    misfit: float
    found: bool


def noise_tail(values: np.ndarray, shape: tuple[int, int]) -> NoiseTail:
    """Estimate the noise from the tail of the singular values that follows the distribution of noise."""
    s = np.sort(values)[::-1]
    shortest = max(MIN_SINGULAR_VALUES, min(MIN_TAIL, s.size // 2), int(np.ceil(MIN_TAIL_SHARE * s.size)))
    if s[s.size - shortest] <= EXACT * s[0]:
        return NoiseTail(0.0, 0.0, int((s > EXACT * s[0]).sum()), 0.0, True)
    fits = [_fit(s, shape, removed) for removed in range(s.size - shortest + 1)]
    for limit in (1.0, MAX_MISFIT):
        for removed, (level, misfit) in enumerate(fits):
            if misfit <= limit:
                error = level / np.sqrt(2 * (shape[0] - removed) * (shape[1] - removed))
                return NoiseTail(level, float(error), removed, misfit, True)
    removed = int(np.argmin([misfit for _, misfit in fits]))
    level, misfit = fits[removed]
    return NoiseTail(level, level, removed, misfit, False)


def _fit(s: np.ndarray, shape: tuple[int, int], removed: int) -> tuple[float, float]:
    """Return the noise of a tail by least squares, and its misfit over the limit."""
    tail = s[removed:]
    law = _law(shape[0] - removed, shape[1] - removed)[: tail.size]
    level = float(tail @ law / (law @ law))
    limit = (MISFIT_CONSTANT + MISFIT_SLOPE * np.log(tail.size)) / np.sqrt(tail.size)
    return level, float(np.sqrt(np.mean((tail / level - law) ** 2)) / limit)


def _law(rows: int, columns: int) -> np.ndarray:
    """Return the expected singular values of noise of standard deviation one, the largest first."""
    number, ratio = min(rows, columns), ratio_of(rows, columns)
    angles = np.linspace(np.pi, 0, 1025)
    values = np.sqrt(np.maximum(1 + ratio + 2 * np.sqrt(ratio) * np.cos(angles), 0))
    shares = (np.arange(number, 0, -1) - 0.5) / number
    return np.interp(shares, bulk_cdf(values, ratio), values) * np.sqrt(float(max(rows, columns)))


@representable
def noise_level(values: object, shape: tuple[int, int]) -> tuple[float, float]:
    r"""Estimate the standard deviation of the noise in a matrix of low rank plus noise, with its standard error.

    Use it for the level of white noise. `ln.denoise` also tries noise that is uneven or correlated.

    The smallest singular values of such a matrix are close to the singular values of a smaller matrix of noise, which
    follow the Marchenko-Pastur distribution. As few large values as possible are removed, until the remaining tail
    follows this distribution. The noise $s$ is the factor that fits the tail to the distribution by least squares. Its
    standard error is $s/\sqrt{2 m' n'}$, where $m' \times n'$ is the shape of the smaller matrix.

    **Arguments:**

    - `values`: singular values of the matrix, all of them, (mode,)
    - `shape`: shape of the matrix

    **Returns** the standard deviation of the noise and its standard error. If no tail follows the distribution, noise
    and signal cannot be separated. An upper limit is then returned, with a standard error as large as the limit.

    **Valid when** the noise is independent with the same variance everywhere, and the rank is below two thirds of the
    smaller dimension.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import noise_level
        >>> noise = np.random.default_rng(0).normal(size=(80, 120))
        >>> [round(x, 3) for x in noise_level(np.linalg.svd(noise, compute_uv=False), noise.shape)]
        [1.0, 0.007]
    """
    s = real_array("values", values, ndim=1)
    rows, columns = matrix_shape("shape", shape)
    if max(rows, columns) > 1e15 * min(rows, columns):
        raise ValueError(f"`shape` must have dimensions less than 1e15 apart: got {shape}.")
    if s.size != min(rows, columns):
        raise ValueError(f"`values` must be all {min(rows, columns):g} singular values of `shape`: got {s.size}.")
    if s.size < MIN_SINGULAR_VALUES:
        raise ValueError(
            f"`values` must have at least {MIN_SINGULAR_VALUES} singular values to estimate the noise: got {s.size}. "
            "Give `noise_std` instead."
        )
    tail = noise_tail(s, (rows, columns))
    return tail.noise_std, tail.standard_error


def largest_noise_value(noise: float, shape: tuple[int, int]) -> float:
    """Return the largest singular value of a large matrix of independent noise: the upper of `bulk_edges`, in the units
    of the matrix. The dimensions are less than 1e15 apart, else `bulk_edges` refuses."""
    return float(noise * np.sqrt(max(shape)) * bulk_edges(ratio_of(*shape))[1])


def noise_profile(data: np.ndarray, outside: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the noise of rows and of columns (these of mean square 1) from the residuals of the `outside`
    leading directions.

    It alternates between noise and directions, first with rows and columns of one size, signal included: then noisy
    rows do not pass for signal.
    """

    def root_mean_square(values: np.ndarray, axis: int) -> np.ndarray:
        """Return root mean squares over an axis, none below a millionth of that of all: one may divide by them."""
        sizes = np.sqrt((values**2).mean(axis=axis))
        return np.maximum(sizes, 1e-6 * np.sqrt((sizes**2).mean()) + np.finfo(float).tiny)

    rows = root_mean_square(data, 1)
    columns = root_mean_square(data / rows[:, None], 0)
    for _ in range(PROFILE_TURNS):
        scaled = data / np.outer(rows, columns)
        left, values, right = np.linalg.svd(scaled, full_matrices=False)
        rest = scaled - (left[:, :outside] * values[:outside]) @ right[:outside]
        # of a row's noise the directions take its leverage: without this a quiet row looks quieter at every turn
        free_rows = np.maximum(1 - (left[:, :outside] ** 2).sum(axis=1), MIN_FREE)
        free_columns = np.maximum(1 - (right[:outside] ** 2).sum(axis=0), MIN_FREE)
        factor = root_mean_square(rest, 1) / np.sqrt(free_rows)
        rows = rows * factor
        columns = columns * root_mean_square(rest / factor[:, None], 0) / np.sqrt(free_columns)
        unit = float(np.sqrt((columns**2).mean()))
        rows, columns = rows * unit, columns / unit
    return rows, columns


def level_below_gap(values: np.ndarray, shape: tuple[int, int], tail: NoiseTail) -> float | None:
    """Return the noise whose largest singular value lies below a gap far above the tail, if there is one; None if not.

    It is for noise whose bulk does not follow the law, such as correlated noise: a gap divides signals from a bulk
    whose values are close to each other and of one size. A gap below the first value alone does not count: the mean of
    a matrix of positive numbers makes one.
    """
    s = np.sort(values)[::-1]
    top = s[: max(2, s.size // 3) + 1]
    gaps = top[:-1] / np.maximum(top[1:], np.finfo(float).tiny) - 1
    for begins in range(gaps.size, 1, -1):
        gap, within = gaps[begins - 1], gaps[begins:].max(initial=0.0)
        if gap >= max(MIN_GAP, MIN_GAP_RATIO * within):
            far = tail.removed >= begins + MIN_BETWEEN * s.size
            alike = s[begins] <= MAX_BULK_WIDTH * np.median(s[begins:])
            return float(s[begins] / largest_noise_value(1.0, shape)) if far and alike else None
    return None
