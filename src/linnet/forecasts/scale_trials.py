"""Another scale of the initialization, tried in the same folds before it is advised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linnet.forecasts.comparison import Comparison
from linnet.forecasts.curves import CrossValidationCurves, mean_and_standard_error
from linnet.forecasts.regimes_of_starts import StartRegimes

SIGNIFICANT_STANDARD_ERRORS = 2.0  # standard errors of a difference within folds: less is not advised
MIN_GAIN = 0.01  # of the error: less is no gain worth advice
MAX_COST_OF_START = 0.05  # of the variance: what an initialization may cost before another is tried
COST_AT_TRIAL = 0.02  # of the variance: what the initialization costs at the scale that is tried then
SMALLER_PRODUCT = 0.3  # times the layers: a tenth of the initial product
MAX_STEPS_FACTOR = 4  # times the steps of the first cross-validation are allowed to another scale


@dataclass(frozen=True)
class ScaleTrial:
    """Result of training with another scale of the initialization, in the same folds.

    **Attributes:**

    - `init_scale`: scale that was tried
    - `curves`: training losses and held-out errors from there (see `forecasts.CrossValidationCurves`)
    - `gain`: decrease of the held-out error compared with the requested scale; negative if the error is larger
    - `gain_error`: standard error of `gain`, from the differences within folds

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import CrossValidationCurves, ScaleTrial
        >>> curves = CrossValidationCurves(np.array([0, 10]), np.ones((2, 5, 1)), np.ones((2, 5, 1)), 0.1)
        >>> ScaleTrial(0.5, curves, gain=0.1, gain_error=0.08).helps
        False
    """

    init_scale: float
    curves: CrossValidationCurves
    gain: float
    gain_error: float

    @property
    def helps(self) -> bool:
        """Whether the error is lower by more than two standard errors, and by more than 1%."""
        return is_significant(self.gain, self.gain_error, self.curves.out_of_fold_error().mean())

    @property
    def harms(self) -> bool:
        """Whether the error is higher by more than two standard errors, and by more than 1%."""
        return is_significant(-self.gain, self.gain_error, self.curves.out_of_fold_error().mean())


def is_significant(gain: float, standard_error: float, level: float) -> bool:
    """Return whether a gain is more than two of its standard errors, and more than 1% of the error `level`."""
    return bool(gain > max(SIGNIFICANT_STANDARD_ERRORS * standard_error, MIN_GAIN * level))


def factor_to_try(comparison: Comparison, curves: CrossValidationCurves, regimes: StartRegimes) -> float | None:
    """Choose the factor of the initialization to try in the same folds; None where nothing speaks for another one.

    Where this start hurts, one that does not; otherwise, with one target the best of the exact flow, if it promises a
    gain, or a smaller one if the network is worse than that flow, which has no initial product; with several targets
    one that makes modes active, or lazy.
    """
    flows = comparison.thresholds
    if (smaller := smaller_start_factor(curves, comparison.mean_error)) is not None:
        return smaller
    if flows is None:
        learns = (comparison.mean_error - curves.out_of_fold_error()).mean() > 0
        return regimes.advised_factor if learns else None
    now = float(regimes.regimes.thresholds.mean())
    if now <= 0:
        return None
    if is_significant(*flows.gain(now), flows.mean.min()):
        return float(np.sqrt(flows.best / now))
    cost = mean_and_standard_error(curves.out_of_fold_error() - flows.errors_at(now))
    return SMALLER_PRODUCT if is_significant(*cost, flows.mean.min()) else None


def smaller_start_factor(curves: CrossValidationCurves, mean_error: np.ndarray) -> float | None:
    """Return the factor by which to shrink an initialization that hurts, to one that costs 2% of the variance; else
    None.

    The cost of an initialization is its error before training beyond that of the mean; it falls at least with the
    square of the factor. A start hurts if it certainly costs more than 5%, unless training beyond one step makes it
    better than the mean.
    """
    excess, spread = mean_and_standard_error(curves.errors[0].mean(axis=1) - mean_error)
    if excess <= max(MAX_COST_OF_START, SIGNIFICANT_STANDARD_ERRORS * spread) or (
        curves.step > 1 and curves.out_of_fold_error().mean() < mean_error.mean()
    ):
        return None
    return float(np.sqrt(COST_AT_TRIAL / excess))
