"""The folds of a cross-validation: rows held out, and the others scaled by their own moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet._arguments import count, flag, representable, samples
from linnet._randomness import Key, generator
from linnet.forecasts._random_streams import SPLITS_INTO_FOLDS
from linnet.forecasts._rows import Rows
from linnet.forecasts.scaling import check_preprocess, scaler, target_scaler


@dataclass(frozen=True)
class Fold(Rows):
    """One split: scaled training rows, and the held-out rows, scaled alike.

    `units` (output,) takes squared errors of scaled targets to fractions of their variance in the whole table; a target
    that is constant there counts nothing.
    """

    held_inputs: Float[np.ndarray, "row input"]
    held_outputs: Float[np.ndarray, "row output"]
    units: Float[np.ndarray, " output"]

    def error(self, products: Float[np.ndarray, "time output input"]) -> Float[np.ndarray, " time"]:
        """Return the fraction of the targets' variance that is not explained on the held-out rows, at every time.

        Whitening may leave a fold fewer inputs than the whole table: the others are zero in it.
        """
        times, k, _ = products.shape
        seen = products[..., : self.held_inputs.shape[1]]
        predicted = (seen.reshape(times * k, -1) @ self.held_inputs.T).reshape(times, k, -1)
        squares = ((predicted - self.held_outputs.T) ** 2).mean(axis=2)
        return (squares * self.units).sum(axis=1) / k


def split_rows(rows: int, folds: int, key: Key) -> list[np.ndarray]:
    """Return the numbers of the rows, split at random into `folds` parts whose sizes differ by at most one."""
    folds = count("folds", folds, least=2)
    if rows < 2 * folds:
        raise ValueError(f"`folds` must leave at least 2 rows in each: got {folds} folds for {rows} rows.")
    return [np.sort(part) for part in np.array_split(generator(key, SPLITS_INTO_FOLDS).permutation(rows), folds)]


def make_fold(
    X: np.ndarray,
    Y: np.ndarray,
    held: np.ndarray,
    preprocess: str,
    *,
    center: bool = True,
    training: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Fold:
    """Make the fold that holds out the rows `held`: columns are scaled by the rows `training`, by default the others.

    With `weights` each row counts by its own, in training and in the error.
    """
    if training is None:
        rest = np.ones(len(X), dtype=bool)
        rest[held] = False
        training = np.flatnonzero(rest)
    own = None if weights is None else weights[training]
    inputs = scaler(X[training], preprocess, center=center, weights=own)
    outputs = target_scaler(Y[training], preprocess, center=center, weights=own)
    mean = np.average(Y, axis=0, weights=weights)
    variance = np.average((Y - mean) ** 2, axis=0, weights=weights)
    varies = variance > 0
    units = np.where(varies, outputs.scale**2 / np.where(varies, variance, 1.0), 0.0) * len(varies)

    def scaled(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and targets of these rows, scaled and weighed."""
        factors = 1.0 if weights is None else root_weights(weights[rows])[:, None]
        return factors * inputs.apply(X[rows]), factors * outputs.apply(Y[rows])

    return Fold(*scaled(training), *scaled(held), units / max(varies.sum(), 1))


def root_weights(weights: np.ndarray) -> np.ndarray:
    """Return the factors of rows for which plain means of squares and products are means by `weights`."""
    return np.sqrt(weights * len(weights) / weights.sum())


def folds_list(folds: object) -> list[Fold]:
    """Return one or more folds as a list; refuse anything else."""
    if not isinstance(folds, (list, tuple)) or not folds or not all(isinstance(fold, Fold) for fold in folds):
        raise ValueError("`folds` must be what `all_folds` returns: one or more of them.")
    return list(folds)


@representable
def all_folds(
    X: np.ndarray, Y: np.ndarray, *, folds: int = 5, preprocess: str = "standardize", center: bool = True, key: Key = 0
) -> list[Fold]:
    """Split a table at random into folds, each scaled by its own training rows.

    The result is the input of `cross_validate` and `threshold_curve`.

    **Arguments:**

    - `X`: (sample, input)
    - `Y`: (sample, output)
    - `folds`: number of folds
    - `preprocess`: `"standardize"`, `"center"` or `"whiten"`
    - `center`: whether columns are centered
    - `key`: seed of the split

    **Returns** a list of `Fold`: training and held-out rows, scaled.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import all_folds
        >>> X = np.random.default_rng(0).standard_normal((20, 3))
        >>> parts = all_folds(X, X[:, :1], folds=4)
        >>> len(parts), parts[0].inputs.shape
        (4, (15, 3))
    """
    X, Y = samples(X, Y)
    check_preprocess(preprocess)
    return [make_fold(X, Y, held, preprocess, center=flag("center", center)) for held in split_rows(len(X), folds, key)]
