"""Other linear methods in the same folds: ridge, partial least squares, reduced-rank regression."""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Float

from linnet import _extras as extras
from linnet.forecasts._ridge import leave_one_out
from linnet.forecasts.folds import Fold, chosen_elsewhere

COMPONENTS = 15  # of partial least squares, at most


def rivals(folds: list[Fold]) -> dict[str, Float[np.ndarray, " fold"]]:
    """The held-out error of each method in each fold, with every choice made without the held-out rows.

    Ridge chooses its penalty by leave-one-out within the training rows; the components of partial least squares and the
    rank of reduced-rank regression are those that are best in the other folds. Errors as in `Fold.error`; 1 is as good
    as the mean.
    """
    decomposition = extras.need("sklearn.cross_decomposition", "the comparison with other methods")

    ridge, partial, reduced = [], [], []
    for fold in folds:
        X, Y = fold.inputs, fold.outputs
        penalty, coefficients = leave_one_out(X, Y)
        ridge.append(fold.error(coefficients[None])[0])
        most = min(COMPONENTS, *_sizes(X))
        with warnings.catch_warnings():  # components beyond the rank of the data: they are zero
            warnings.simplefilter("ignore")
            pls = decomposition.PLSRegression(n_components=most, scale=False).fit(X, Y)
        turned, loadings = pls.x_rotations_, pls.y_loadings_
        products = [loadings[:, :a] @ turned[:, :a].T for a in range(1, turned.shape[1] + 1)]
        partial.append(_padded(fold.error(np.stack(products)), COMPONENTS))
        reduced.append(_padded(fold.error(_ranks(X, Y, penalty * len(X))), Y.shape[1]))
    return {
        "ridge": np.array(ridge),
        "partial least squares": chosen_elsewhere(np.stack(partial, axis=1)),
        "reduced-rank regression": chosen_elsewhere(np.stack(reduced, axis=1)),
    }


def _ranks(X: np.ndarray, Y: np.ndarray, penalty: float) -> Float[np.ndarray, "rank output input"]:
    """Reduced-rank ridge regression of every rank: the ridge solution, cut to the leading directions of its own fit."""
    gram = X.T @ X + penalty * np.eye(X.shape[1])
    full = np.linalg.solve(gram, X.T @ Y)  # (input, output)
    fitted = np.concatenate([X @ full, np.sqrt(penalty) * full])
    _, _, right = np.linalg.svd(fitted, full_matrices=False)
    return np.stack([(full @ right[:r].T @ right[:r]).T for r in range(1, len(right) + 1)])


def _sizes(X: np.ndarray) -> tuple[int, int]:
    singular = np.linalg.svd(X, compute_uv=False)
    rank = int((singular > singular[0] * max(X.shape) * np.finfo(float).eps).sum())
    return rank, len(X) - 1


def _padded(errors: np.ndarray, length: int) -> np.ndarray:
    """Folds of lower rank repeat their last choice."""
    return np.concatenate([errors, np.full(max(0, length - len(errors)), errors[-1])])[:length]
