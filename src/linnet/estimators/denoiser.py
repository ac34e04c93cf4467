"""Denoising of a low-rank matrix as a transformer of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from linnet._arguments import no_mask
from linnet.forecasts.denoising import denoise

MIN_SINGULAR_VALUES = 4  # singular values from which a noise can be told


class LowRankDenoiser(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""scikit-learn estimator that denoises rows by the filter of a linear network, stopped by SURE (Stein's unbiased
    risk estimate).

    For a single matrix, `ln.denoise` is simpler.

    Fitted on $Y = U S V^T$ (sample, feature) it keeps the share $f(s_i)/s_i$ of direction $v_i$; rows are transformed
    by $x \mapsto V \mathrm{diag}(f/s) V^T x$, with columns in units of their noise (`column_stds_`). Of the matrix it
    was fitted on this is `linnet.denoise`, unless that had outliers. Columns are not centered: the mean is part of the
    matrix.

    **Arguments:**

    - `noise_std`: standard deviation of the noise; None estimates it from the matrix, which needs at least four rows
      and four columns. A smaller matrix is returned unfiltered, with a warning

    **After `fit`:** `components_` (mode, feature) are the directions that are kept and `shares_` (mode,) how much of
    each; `rank_`, `threshold_`, `time_`, `risk_` and `noise_std_` are the attributes of `linnet.denoise`, `path_` all
    that was looked at.

    **Example:**

        >>> import numpy as np
        >>> from linnet.estimators import LowRankDenoiser
        >>> random = np.random.default_rng(0)
        >>> truth = 2 * np.outer(random.standard_normal(60), random.standard_normal(40))
        >>> noisy = truth + random.standard_normal(truth.shape)
        >>> model = LowRankDenoiser().fit(noisy)
        >>> model.rank_, bool(((model.transform(noisy) - truth) ** 2).mean() < 0.1)
        (1, True)
    """

    def __init__(self, noise_std: float | None = None) -> None:
        self.noise_std = noise_std

    def fit(self, X: Any, y: Any = None) -> LowRankDenoiser:
        """Finds the filter of `X` (sample, feature); `y` is ignored."""
        no_mask("X", X)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2, ensure_min_features=2)
        level = self.noise_std
        if level is None and min(X.shape) < MIN_SINGULAR_VALUES:
            level = 0.0
            warnings.warn(
                f"the noise cannot be estimated from {min(X.shape)} singular values: nothing is filtered. Give "
                f"`noise_std`.",
                stacklevel=2,
            )
        denoised = denoise(X, noise_std=level)
        # uneven noise: columns are divided by theirs and multiplied back; that of the rows cancels
        rows = np.ones(len(X)) if denoised.row_stds is None else denoised.row_stds
        columns = np.ones(X.shape[1]) if denoised.column_stds is None else denoised.column_stds
        _, _, right = np.linalg.svd(X / np.outer(rows, columns), full_matrices=False)
        values = denoised.values
        shares = np.divide(denoised.filtered, values, out=np.zeros_like(values), where=values > 0)
        kept = shares > 0
        self.components_, self.shares_, self.column_stds_ = right[kept], shares[kept], columns
        self.rank_, self.threshold_, self.time_ = denoised.rank, denoised.threshold, denoised.time
        self.risk_, self.noise_std_, self.path_ = denoised.risk, denoised.noise_std, denoised.path
        return self

    def transform(self, X: ArrayLike) -> np.ndarray:
        """The rows of `X`, filtered."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        return (X / self.column_stds_ @ self.components_.T * self.shares_) @ self.components_ * self.column_stds_
