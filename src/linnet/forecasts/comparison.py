"""Properties of a table that do not depend on the network: other methods, fewer rows, other scales of the
initialization."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet.forecasts._baselines import baseline_errors, ridge_by_leave_one_out
from linnet.forecasts._rows import Rows
from linnet.forecasts.folds import Fold
from linnet.forecasts.learning_curves import LearningCurve, learning_curve_from_rows
from linnet.forecasts.settings import Settings
from linnet.forecasts.threshold_curves import ThresholdCurve, threshold_curve


@dataclass(frozen=True)
class Comparison:
    """Errors of other methods on a table, and other properties of the table that do not depend on the network.

    It is the `comparison` of a `Diagnosis`.

    **Attributes:**

    - `baselines`: held-out errors of ridge, partial least squares and reduced-rank regression, by name, each (fold,)
    - `learning_curve`: test error of ridge against the number of rows, predicted and measured
    - `thresholds`: held-out error against the scale of the initialization, for one target; otherwise None
    - `mean_error`: held-out error of predicting the mean of the training rows, (fold,); about 1, and more if rows are
      few

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> sorted(ln.diagnose(X, X[:, 0] + random.standard_normal(40), seeds=1, steps=5).comparison.baselines)
        ['partial least squares', 'reduced-rank regression', 'ridge']
    """

    baselines: dict[str, Float[np.ndarray, " fold"]]
    learning_curve: LearningCurve
    thresholds: ThresholdCurve | None
    mean_error: Float[np.ndarray, " fold"]


def compare(rows: Rows, folds: list[Fold], settings: Settings) -> Comparison:
    """Measure other methods in the folds of a table, ridge on fewer of its rows, the exact flow from other starts.

    Of the settings it reads `key` alone; rows and folds follow from the table, `preprocess`, `folds` and `key`.
    """
    penalty, _ = ridge_by_leave_one_out(rows)
    one_target = rows.outputs.shape[1] == 1
    nothing = np.zeros((1, rows.outputs.shape[1], rows.inputs.shape[1]))
    return Comparison(
        baselines=baseline_errors(folds),
        learning_curve=learning_curve_from_rows(rows, ridge=penalty, key=settings.key),
        thresholds=threshold_curve(folds) if one_target else None,
        mean_error=np.array([fold.error(nothing)[0] for fold in folds]),
    )
