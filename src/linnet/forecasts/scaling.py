"""How columns are scaled before training: an explicit choice, learned from training rows alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet._arguments import flag, real_array, representable, shown

PREPROCESS_CHOICES = ("center", "standardize", "whiten")


@dataclass(frozen=True)
class Scaler:
    """Preprocessing of the columns of a table: a mean is subtracted, then columns are divided by a scale or whitened.

    **Attributes:**

    - `mean`: mean of each column, (column,)
    - `scale`: scale by which each column is divided, (column,)
    - `matrix`: whitening matrix, (column, direction); None without whitening

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import scaler
        >>> scaler(np.array([[0.0], [2.0]]), "standardize").mean.tolist()
        [1.0]
    """

    mean: Float[np.ndarray, " column"]
    scale: Float[np.ndarray, " column"]
    matrix: Float[np.ndarray, "column direction"] | None = None

    @representable
    def apply(self, values: np.ndarray) -> np.ndarray:
        """Scaled columns, (..., column); whitened ones are (..., direction), which may be fewer than the columns."""
        centered = self._columns_array(values) - self.mean
        return centered / self.scale if self.matrix is None else centered @ self.matrix

    @representable
    def undo(self, values: np.ndarray) -> np.ndarray:
        """Return columns in their original units; whitened columns raise `ValueError`, because directions may be
        missing."""
        if self.matrix is not None:
            raise ValueError("`undo` needs columns that were scaled one by one: these were whitened.")
        return self._columns_array(values) * self.scale + self.mean

    def _columns_array(self, values: object) -> np.ndarray:
        """Return columns as an array; refuse another number of columns than the scaler's."""
        array = real_array("values", values)
        if array.shape[-1:] != self.mean.shape:
            raise ValueError(f"`values` must have {self.mean.size} columns: got shape {array.shape}.")
        return array


@representable
def scaler(values: np.ndarray, preprocess: str, *, center: bool = True, weights: np.ndarray | None = None) -> Scaler:
    """Return a preprocessing of columns, computed from the rows given.

    Use training rows only, and apply the result to held-out rows.

    **Arguments:**

    - `values`: values of the columns, (sample, column)
    - `preprocess`: kind of preprocessing. `"center"` subtracts the mean, `"standardize"` also divides by the standard
      deviation, and `"whiten"` makes uncorrelated directions of unit variance, one for each direction in which rows
      vary
    - `center`: whether to subtract the mean
    - `weights`: weights of the rows in means and variances, (sample,); equal by default

    **Returns** a `Scaler`. Constant columns are only centered.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import scaler
        >>> scaler(np.array([[0.0, 5.0], [2.0, 5.0]]), "standardize").scale.tolist()
        [1.0, 1.0]
    """
    check_preprocess(preprocess)
    X = real_array("values", values, ndim=2)
    shares = None if weights is None else _row_shares(weights, len(X))
    mean = np.average(X, axis=0, weights=shares) if flag("center", center) else np.zeros(X.shape[1])
    ones = np.ones(X.shape[1])
    if preprocess == "center":
        return Scaler(mean, ones)
    if preprocess == "standardize":
        largest = np.abs(X).max(axis=0)
        unit = np.where(largest > 0, largest, 1.0)  # squares of the columns themselves may overflow or vanish
        squares = ((X - mean) / unit) ** 2
        spread = unit * np.sqrt(np.average(squares, axis=0, weights=shares))
        tiny = spread <= 1e-12 * largest
        return Scaler(mean, np.where(tiny, 1.0, spread))
    roots = np.sqrt(1 / len(X)) if shares is None else np.sqrt(shares)[:, None]
    _, singular, right = np.linalg.svd((X - mean) * roots, full_matrices=False)
    rank = int((singular > singular[0] * max(X.shape) * np.finfo(float).eps).sum())
    if rank == 0:
        raise ValueError("`preprocess` 'whiten' needs inputs that vary: all columns are constant.")
    return Scaler(mean, ones, right[:rank].T / singular[:rank])


def check_preprocess(choice: object) -> None:
    """Refuse a scaling that does not exist."""
    if not isinstance(choice, str) or choice not in PREPROCESS_CHOICES:
        raise ValueError(f"`preprocess` must be one of {', '.join(PREPROCESS_CHOICES)}: got {shown(choice)}.")


def target_scaler(Y: np.ndarray, preprocess: str, *, center: bool = True, weights: np.ndarray | None = None) -> Scaler:
    """Return the scaling of targets: standardized, so that each counts alike, unless nothing is to be scaled."""
    return scaler(Y, "center" if preprocess == "center" else "standardize", center=center, weights=weights)


def _row_shares(weights: object, rows: int) -> np.ndarray:
    """Return weights of rows as fractions of their sum; refuse negative ones."""
    array = real_array("weights", weights, ndim=1)
    if array.shape != (rows,) or (array < 0).any() or not array.any():
        raise ValueError(
            f"`weights` must be {rows} numbers that are not negative, and not all zero: got {array.shape}."
        )
    return array / array.sum()
