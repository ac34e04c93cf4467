"""Other linear methods in the same folds: ridge, partial least squares, reduced-rank regression."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet.forecasts._rows import Rows
from linnet.forecasts.curves import errors_at_choices_of_others
from linnet.forecasts.folds import Fold

PENALTIES = np.geomspace(1e-6, 1e6, 37)  # of ridge, per row: those tried
MAX_COMPONENTS = 15  # of partial least squares: those tried


def baseline_errors(folds: list[Fold]) -> dict[str, Float[np.ndarray, " fold"]]:
    """Return the held-out error of each method in each fold, with every choice made without the held-out rows.

    Ridge chooses its penalty by leave-one-out within the training rows; the components of partial least squares and the
    rank of reduced-rank regression are those that are best in the other folds. Errors as in `Fold.error`; 1 is as good
    as the mean. The methods have the names of the variables in `Diagnosis.to_dataset` too (docs/schema.md).
    """
    ridge, partial, reduced = [], [], []
    for fold in folds:
        penalty, coefficients = ridge_by_leave_one_out(fold)
        ridge.append(fold.error(coefficients[None])[0])
        few = fold.condensed_rows
        partial.append(_pad_errors(fold.error(_partial_least_squares(few)), MAX_COMPONENTS))
        reduced.append(_pad_errors(fold.error(_reduced_rank_ridge(few, penalty)), fold.outputs.shape[1]))
    return {
        "ridge": np.array(ridge),
        "partial least squares": errors_at_choices_of_others(np.stack(partial, axis=1)),
        "reduced-rank regression": errors_at_choices_of_others(np.stack(reduced, axis=1)),
    }


def ridge_by_leave_one_out(rows: Rows) -> tuple[float, Float[np.ndarray, "output input"]]:
    r"""Return the penalty per row with the smallest leave-one-out error, and the coefficients of ridge regression at
    it.

    The residual of a row that is left out is its residual over $1 - h$, with $h$ its leverage.
    """
    left, scales, right = rows.svd
    seen = left.T @ rows.outputs
    variances = scales[:, None] ** 2
    shares = variances / (variances + PENALTIES)  # direction, penalty
    kept = np.maximum(1 - left**2 @ shares, np.finfo(float).eps)
    errors = np.zeros(len(PENALTIES))
    for output, along in zip(rows.outputs.T, seen.T, strict=True):
        residuals = (output[:, None] - left @ (shares * along[:, None])) / kept
        errors += (residuals**2).mean(axis=0)
    best = int(np.argmin(errors))
    filtered = scales / (scales**2 + PENALTIES[best])
    return float(PENALTIES[best]), ((right.T * (filtered / np.sqrt(len(left)))) @ seen).T


def _partial_least_squares(rows: Rows) -> Float[np.ndarray, "component output input"]:
    """Return the coefficients of partial least squares with 1, 2, ... components (Dayal and MacGregor 1997).

    It ends early where the components so far have explained all that the inputs can: there are no more.
    """
    variances, left = rows.inputs.T @ rows.inputs, rows.inputs.T @ rows.outputs
    enough = np.finfo(float).eps * np.linalg.norm(left)
    rotations, loadings = list[np.ndarray](), list[np.ndarray]()
    products = [np.zeros(left.T.shape)]
    while len(rotations) < MAX_COMPONENTS and np.linalg.norm(left) > len(left) * enough:
        turned = weight = np.linalg.svd(left, full_matrices=False)[0][:, 0]
        for rotation, loading in zip(rotations, loadings, strict=True):
            turned = turned - (loading @ weight) * rotation
        seen = variances @ turned
        power = turned @ seen
        rotations.append(turned)
        loadings.append(seen / power)
        along = turned @ left / power
        left = left - np.outer(seen, along)
        products.append(products[-1] + np.outer(along, turned))
    return np.stack(products[1:] or products)


def _reduced_rank_ridge(rows: Rows, penalty: float) -> Float[np.ndarray, "rank output input"]:
    """Return the coefficients of reduced-rank ridge regression, of rank 1, 2, ...: ridge (`penalty` per row), cut to
    the leading directions of the fit."""
    X, Y, penalty = rows.inputs, rows.outputs, penalty * len(rows.inputs)
    gram = X.T @ X + penalty * np.eye(X.shape[1])
    full = np.linalg.solve(gram, X.T @ Y)  # (input, output)
    fitted = np.concatenate([X @ full, np.sqrt(penalty) * full])
    _, _, right = np.linalg.svd(fitted, full_matrices=False)
    return np.stack([(full @ right[:r].T @ right[:r]).T for r in range(1, len(right) + 1)])


def _pad_errors(errors: np.ndarray, length: int) -> np.ndarray:
    """Return errors at `length` choices: the last one repeated where there are fewer, the first ones where more."""
    return np.concatenate([errors, np.full(max(0, length - len(errors)), errors[-1])])[:length]
