"""Does the scale of the initialization matter for this table? With one target, the exact flow answers for all
scales."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from linnet._arguments import partly_representable, positive
from linnet.forecasts.curves import errors_at_choices_of_others, mean_and_standard_error
from linnet.forecasts.folds import Fold, folds_list
from linnet.inits.weights import Weights
from linnet.theories.one_output import product_over_time

RELATIVE_THRESHOLDS = np.geomspace(0.01, 100.0, 7)  # of the threshold, over the length of the solution
# a small initialization learns within a few hundredths of the time before: with 32 its error was up to 0.02 too high
TIMES_PER_THRESHOLD = 96


@dataclass(frozen=True)
class ThresholdCurve:
    """Minimum held-out error of a network with one output, against the scale of its initialization.

    Only the threshold $g = (p + m)/2$ of `theories.one_output` depends on the scale: multiplying the initial weights by
    a factor multiplies $g$ by its square. Errors are fractions of the target's variance. The error of a fold is taken
    at the time that is best on the other folds.

    **Attributes:**

    - `thresholds`: thresholds $g$, (threshold,)
    - `errors`: minimum held-out errors, (threshold, fold)
    - `best_times`: times of the minimum mean error, (threshold,)

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import all_folds, threshold_curve
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((60, 4))
        >>> curve = threshold_curve(all_folds(X, X[:, :1] + random.standard_normal((60, 1)), folds=3))
        >>> curve.errors.shape
        (7, 3)
    """

    thresholds: Float[np.ndarray, " threshold"]
    errors: Float[np.ndarray, "threshold fold"]
    best_times: Float[np.ndarray, " threshold"]

    @property
    def mean(self) -> Float[np.ndarray, " threshold"]:
        """The error, averaged over folds."""
        return self.errors.mean(axis=1)

    @property
    def best(self) -> float:
        """The threshold of the smallest error."""
        return float(self.thresholds[np.argmin(self.mean)])

    @partly_representable
    def gain(self, threshold: float) -> tuple[float, float]:
        """Decrease of the error if the threshold is chosen, compared with this threshold, and its standard error over
        folds: in each fold at the threshold that the others choose, so that a choice among equals gains nothing."""
        return mean_and_standard_error(self.errors_at(threshold) - errors_at_choices_of_others(self.errors))

    @partly_representable
    def errors_at(self, threshold: float) -> Float[np.ndarray, " fold"]:
        """The error of each fold at this threshold."""
        at = np.log(positive("threshold", threshold))
        return np.array([np.interp(at, np.log(self.thresholds), fold) for fold in self.errors.T])

    @partly_representable
    def time(self, threshold: float) -> float:
        """The best time to stop from this threshold, canonical."""
        at = np.log(positive("threshold", threshold))
        return float(np.exp(np.interp(at, np.log(self.thresholds), np.log(self.best_times))))


def start_threshold(weights: Weights) -> float:
    """Return the threshold of the initialization of a network with one output, from the squared norms of its layers."""
    return float((weights.first**2).sum() / weights.in_dim + (weights.second**2).sum()) / 2


def threshold_curve(folds: list[Fold]) -> ThresholdCurve:
    """Return the minimum held-out error of a table with one target, for many scales of the initialization.

    A flat curve means that the scale of the initialization does not matter. It takes one SVD for each fold and no
    training. For several targets there is no such curve; `ln.diagnose` tries one other scale.

    **Arguments:**

    - `folds`: result of `all_folds`, with one target

    **Returns** a `ThresholdCurve`, over thresholds from a hundredth to a hundred times the length of the solution.

    **Valid when** the initial product is negligible, and the network is much wider than its number of inputs
    (`theories.one_output`). The stopping step that `ln.diagnose` recommends comes from exact descent and not from here.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import all_folds, threshold_curve
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((60, 4))
        >>> curve = threshold_curve(all_folds(X, X[:, :1] + random.standard_normal((60, 1)), folds=3))
        >>> bool(0.2 < curve.mean.min() < 1)
        True
    """
    folds = folds_list(folds)
    if folds[0].outputs.shape[1] != 1:
        raise ValueError(f"`folds` must have one target: got {folds[0].outputs.shape[1]}.")
    problems = [fold.problem for fold in folds]
    size = float(np.median([np.linalg.norm(problem.min_norm_solution()) for problem in problems])) or 1.0
    pull = float(np.median([np.linalg.norm(problem.cross) for problem in problems])) or 1.0
    slowest = float(np.median([(problem.factor.scales**2).min() for problem in problems]))
    thresholds, errors, times = RELATIVE_THRESHOLDS * size, [], []
    for g in thresholds:
        speed = float(np.hypot(g, size)) + g
        growth = np.arcsinh(size / g) / pull
        # from a hundredth of the time that learning takes at first until e^-6 is left of the slowest direction
        clock = np.geomspace(1e-2 / (speed * pull / size), growth + 6 / (slowest * speed), TIMES_PER_THRESHOLD)
        held = np.stack(
            [
                fold.error(product_over_time(p, float(g), clock)[:, None, :])
                for fold, p in zip(folds, problems, strict=True)
            ],
            axis=1,
        )
        errors.append(errors_at_choices_of_others(held))
        times.append(clock[int(np.argmin(held.mean(axis=1)))])
    return ThresholdCurve(thresholds, np.stack(errors), np.array(times))
