"""Stein's unbiased risk of a spectral filter: how far a filtered matrix is from the truth, from the data alone."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import matrix_shape, non_negative, none_negative, real_array, representable

# Pairs of singular values closer than this, in parts of the larger one, are taken for equal: their difference has lost
# half its digits, and the limit is good to the square of this.
_TIE = 1e-6


@representable
def sure(
    values: ArrayLike, filtered: ArrayLike, slopes: ArrayLike, *, shape: tuple[int, int], noise_variance: float
) -> Float[np.ndarray, " ..."]:
    r"""Return SURE (Stein's unbiased risk estimate), which estimates the error of a denoised matrix without the signal.

    A spectral filter $f$ replaces each singular value of $Y = A^* + E$, so that $f(Y) = U f(S) V^\top$. SURE is an
    unbiased estimate of $|f(Y) - A^*|_F^2$. `ln.denoise` minimizes it over the filters of linear networks; use `sure`
    to compare other filters.

    $$ -mn v + \sum_i (f_i - s_i)^2 + 2v \Big[ \sum_i f'(s_i) + |m - n| \sum_i \frac{f_i}{s_i}
       + 2 \sum_{i \ne j} \frac{s_i f_i}{s_i^2 - s_j^2} \Big] $$

    For two equal singular values, the last term is its limit $(f_i/s_i + f'(s_i))/2$. For a zero singular value, $f/s$
    is $f'(0)$.

    **Arguments:**

    - `values`: singular values $s_i$ of $Y$, all $\min(m, n)$ of them, (mode,)
    - `filtered`: filtered values $f(s_i)$, (..., mode); leading axes are different filters, for example times
    - `slopes`: derivatives $f'(s_i)$, (..., mode)
    - `shape`: shape $(m, n)$ of $Y$
    - `noise_variance`: variance $v$ of the entries of the noise $E$, which must be known

    **Returns** one number per filter, with a standard deviation of about $v\sqrt{2mn}$. It may therefore be negative.

    **Valid when** the entries of $E$ are independent and Gaussian, and $f$ is continuous with $f(0) = 0$ (a soft
    threshold is, a hard one is not).

    **Reference:** Stein 1981; the divergence of a spectral filter: Candes, Sing-Long and Trzasko 2013.

    **Example:**

        >>> from linnet.theories.denoising import sure
        >>> float(sure([3.0, 1.0], [3.0, 1.0], [1.0, 1.0], shape=(2, 2), noise_variance=0.5))  # Y itself: m n v
        2.0
    """
    return SpectralRisk(values, shape).estimate(filtered, slopes, noise_variance)


class SpectralRisk:
    """Evaluates SURE for many filters of one matrix, faster than repeated calls of `sure`.

    The part that depends only on the singular values is computed once. For a single filter, use `sure`.

    **Arguments:**

    - `values`: all singular values of the matrix, (mode,)
    - `shape`: (rows, columns) of the matrix

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.denoising import SpectralRisk
        >>> Y = np.random.default_rng(0).normal(size=(40, 30))  # nothing but noise
        >>> values = np.linalg.svd(Y, compute_uv=False)
        >>> estimated = SpectralRisk(values, Y.shape).estimate(values / 2, np.full(30, 0.5), noise_variance=1.0)
        >>> round(float(estimated / (Y**2 / 4).sum()), 1)  # relative to the true error of this filter
        1.0
    """

    def __init__(self, values: ArrayLike, shape: tuple[int, int]):
        s = none_negative("values", real_array("values", values, ndim=1))
        rows, columns = matrix_shape("shape", shape)
        if s.size != min(rows, columns):
            raise ValueError(
                f"`values` must be all {min(rows, columns)} singular values of a {rows} x {columns} matrix: "
                f"got {s.size}."
            )
        self.values, self.rows, self.columns = s, rows, columns
        equal = np.abs(s[:, None] - s) <= _TIE * np.maximum(s[:, None], s)
        unit = s.max() if s.max() > 0 else 1.0
        r = s / unit  # squares of the values themselves may overflow or vanish
        gaps = np.where(equal, np.inf, (r[:, None] - r) * (r[:, None] + r))
        with np.errstate(
            divide="ignore", invalid="ignore", over="ignore"
        ):  # of values beyond all others: `estimate` says so
            self._pull = r * (1 / gaps).sum(axis=1) / unit  # of f_i in the sum over pairs
        self._equals = equal.sum(axis=1) - 1  # other values equal to this one

    @representable
    def estimate(self, filtered: ArrayLike, slopes: ArrayLike, noise_variance: float) -> Float[np.ndarray, " ..."]:
        """SURE of each filter; the arguments are those of `sure`."""
        f, slope, s = real_array("filtered", filtered), real_array("slopes", slopes), self.values
        v = non_negative("noise_variance", noise_variance)
        if f.shape != slope.shape or f.shape[-1:] != s.shape:
            raise ValueError(
                f"`filtered` and `slopes` must be (..., {s.size}), as the values: got shapes {f.shape} and "
                f"{slope.shape}."
            )
        shares = np.where(s > 0, f / np.where(s > 0, s, 1.0), slope)  # f/s, and its limit at 0
        # a pair of equal values has the limit f/s + f', half of it from either side
        pairs = 2 * f @ self._pull + (shares + slope) @ (self._equals / 2)
        divergence = slope.sum(axis=-1) + abs(self.rows - self.columns) * shares.sum(axis=-1) + pairs
        return -self.rows * self.columns * v + ((f - s) ** 2).sum(axis=-1) + 2 * v * divergence
