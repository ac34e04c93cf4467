"""Test error against the number of samples: predicted from the spectrum of one table, and measured on parts of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, partly_representable, samples, whole_numbers
from linnet._randomness import Key, generator
from linnet.forecasts._random_streams import PARTS_OF_LEARNING_CURVES
from linnet.forecasts._rows import Decomposition, Rows
from linnet.forecasts.curves import standard_error
from linnet.theories import ridge as theory
from linnet.theories.sample_spectra import spectrum_from_svd

DEFAULT_SIZES = 8  # numbers of rows
DEFAULT_REPEATS = 12  # random parts of the table for each
MIN_STABLE_PENALTY = 1e-9  # of the inputs' variance: with a larger penalty the normal equations keep seven digits


@dataclass(frozen=True)
class LearningCurve:
    r"""Test error of ridge regression against the number of training rows, as fractions of the targets' variance.

    **Attributes:**

    - `samples`: numbers of training rows, (size,)
    - `measured`: mean test error over random parts of the table, (size,)
    - `standard_error`: standard error of the measured error, (size,)
    - `predicted`: error predicted by the theory of ridge regression from the spectrum of the table, (size,); NaN if it
      cannot be predicted
    - `ridge`: ridge penalty $\lambda$

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import learning_curve
        >>> X = np.random.default_rng(0).standard_normal((200, 3))
        >>> curve = learning_curve(X, X[:, 0], ridge=1e-3, sizes=[20, 100])
        >>> bool(curve.measured[1] < curve.measured[0])
        True
    """

    samples: Int[np.ndarray, " size"]
    measured: Float[np.ndarray, " size"]
    standard_error: Float[np.ndarray, " size"]
    predicted: Float[np.ndarray, " size"]
    ridge: float

    @property
    def gap(self) -> float:
        """Mean of |predicted - measured|/measured over the sizes; NaN if nothing is predicted."""
        known = np.isfinite(self.predicted)
        if not known.any():
            return float("nan")
        return float(np.mean(np.abs(self.predicted[known] / self.measured[known] - 1)))


@partly_representable
def learning_curve(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    ridge: float,
    preprocess: str = "standardize",
    sizes: ArrayLike | None = None,
    repeats: int = DEFAULT_REPEATS,
    key: Key = 0,
) -> LearningCurve:
    r"""Measure how the test error of ridge regression falls with the number of rows, and compare it with theory.

    Use this curve to decide whether more rows are worth collecting. For the theory alone, use `theories.ridge.risk`.

    - **Measured:** for each size, $n$ rows of the table are drawn without replacement, and the remaining rows are the
      test set. This is repeated `repeats` times.
    - **Predicted:** `theories.ridge.risk` with the spectrum, overlaps and noise that `theories.ridge.estimate` finds in
      the whole table. The variance of the noise and the cost of the estimated intercept are added.

    **Arguments:**

    - `X`: inputs, (sample, input)
    - `Y`: targets, (sample, output) or (sample,)
    - `ridge`: penalty $\lambda$ in $(X^T X + \lambda n I)^{-1} X^T Y$
    - `preprocess`: treatment of the columns: `"standardize"`, `"center"` or `"whiten"`
    - `sizes`: numbers of training rows; by default eight, up to four fifths of the table
    - `repeats`: number of random parts for each size
    - `key`: seed of the random parts

    **Returns** a `LearningCurve`.

    **Valid when** the rows are independent, the inputs are nearly Gaussian, and there are many more rows than inputs.
    If there are not more rows than inputs, nothing is predicted.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import learning_curve
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((400, 5))
        >>> curve = learning_curve(X, X[:, 0] + random.standard_normal(400), ridge=0.01, sizes=[40, 200])
        >>> bool(np.all(np.abs(curve.predicted / curve.measured - 1) < 0.2))
        True
    """
    X, Y = samples(X, Y)
    return learning_curve_from_rows(
        Rows.from_data(X, Y, preprocess), ridge=ridge, sizes=sizes, repeats=repeats, key=key
    )


def learning_curve_from_rows(
    rows: Rows, *, ridge: float, sizes: ArrayLike | None = None, repeats: int = DEFAULT_REPEATS, key: Key = 0
) -> LearningCurve:
    """Compute `learning_curve` from rows that are scaled already."""
    n, repeats, ridge = len(rows.inputs), count("repeats", repeats, least=2, most=10_000), non_negative("ridge", ridge)
    if n < 4:
        raise ValueError(f"`X` must have at least 4 rows, some to fit and some to test on: got {n}.")
    chosen = (
        np.unique(np.round(np.geomspace(min(8, n // 2), 0.8 * n, DEFAULT_SIZES)).astype(int))
        if sizes is None
        else whole_numbers("sizes", sizes)
    )
    if chosen.min() < 2 or chosen.max() > n - 1:
        raise ValueError(f"`sizes` must lie between 2 and {n - 1}, leaving rows to test on: got {chosen.tolist()}.")
    variance = rows.outputs.var(axis=0)
    varies = variance > 0
    if not varies.any():
        raise ValueError("`Y` must vary: all its columns are constant, and there is nothing to learn.")
    outputs, variance = rows.outputs[:, varies], variance[varies]
    random = generator(key, PARTS_OF_LEARNING_CURVES)
    errors = np.empty((len(chosen), repeats))
    for i, size in enumerate(chosen):
        for j in range(repeats):
            train, test = np.split(random.permutation(n), [size])
            errors[i, j] = (_ridge_test_errors(rows.inputs, outputs, train, test, ridge) / variance).mean()
    predicted = _predicted_errors(rows.svd, outputs, variance, chosen, ridge)
    return LearningCurve(chosen, errors.mean(axis=1), standard_error(errors), predicted, ridge)


def _ridge_test_errors(X: np.ndarray, Y: np.ndarray, train: np.ndarray, test: np.ndarray, ridge: float) -> np.ndarray:
    """Return the mean squared test error of each target, of ridge with an intercept fitted on the rows `train`."""
    mean, level = X[train].mean(axis=0), Y[train].mean(axis=0)
    A, B = X[train] - mean, Y[train] - level
    gram = A.T @ A if len(A) > A.shape[1] else None
    if gram is not None and ridge * len(train) > MIN_STABLE_PENALTY * np.trace(gram):
        gram[np.diag_indices_from(gram)] += ridge * len(train)
        coefficients = np.linalg.solve(gram, A.T @ B)
    else:
        left, singular, right = np.linalg.svd(A, full_matrices=False)
        keep = singular > singular[0] * max(A.shape) * np.finfo(float).eps
        shrunk = np.where(keep, singular / np.where(keep, singular**2 + ridge * len(train), 1.0), 0.0)
        coefficients = (right.T * shrunk) @ (left.T @ B)
    return ((Y[test] - level - (X[test] - mean) @ coefficients) ** 2).mean(axis=0)


def _predicted_errors(
    svd: Decomposition, outputs: np.ndarray, variance: np.ndarray, sizes: np.ndarray, ridge: float
) -> np.ndarray:
    """Return the predicted test error at every size; NaN where there are no more rows than inputs."""
    rows = len(svd.left)
    if rows - 1 <= len(svd.scales) or not svd.scales.any():
        return np.full(len(sizes), np.nan)
    eigenvalues, overlaps, noise = spectrum_from_svd(svd.left, svd.scales * np.sqrt(rows / (rows - 1)), outputs)
    risks = []
    for size in sizes:
        # an intercept takes one sample, and its own error is that of a mean
        penalty = ridge * size / (size - 1)
        excess = theory.risk(eigenvalues, overlaps, size - 1, ridge=penalty, noise_variance=noise)
        total = (np.asarray(excess) + noise) * (1 + 1 / size)
        risks.append(float((total / variance).mean()))
    return np.array(risks)
