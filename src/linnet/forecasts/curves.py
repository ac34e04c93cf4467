"""Results of a cross-validation: errors along descent in every fold, and the step that they choose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

FLAT_CHANGE = 1e-3  # of the held-out error, relative: less is no change
MAX_RISE = 1e-6  # of a training loss from one saved state to the next, relative: rounding rises less


@dataclass(frozen=True)
class CrossValidationCurves:
    """Training losses and held-out errors during training, for all folds and seeds.

    Held-out errors are unexplained fractions of the targets' variance, averaged over targets. Predicting the mean has
    an error of about 1.

    **Attributes:**

    - `steps`: numbers of the saved steps, (time,)
    - `training`: losses on the scaled training rows, half the squared error, (time, fold, seed)
    - `errors`: errors on the held-out rows, (time, fold, seed)
    - `learning_rate`: learning rate of the descent

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import CrossValidationCurves
        >>> curves = CrossValidationCurves(np.array([0, 10]), np.ones((2, 5, 1)), np.ones((2, 5, 1)), 0.1)
        >>> curves.errors.shape  # time, fold, seed
        (2, 5, 1)
    """

    steps: Int[np.ndarray, " time"]
    training: Float[np.ndarray, "time fold seed"]
    errors: Float[np.ndarray, "time fold seed"]
    learning_rate: float

    @cached_property
    def mean(self) -> Float[np.ndarray, " time"]:
        """Held-out error, averaged over folds and seeds."""
        return self.errors.mean(axis=(1, 2))

    @cached_property
    def standard_error(self) -> Float[np.ndarray, " time"]:
        """The standard error of `mean` over folds."""
        return standard_error(self.errors.mean(axis=2))

    @property
    def best(self) -> int:
        """The index of the smallest mean error."""
        return int(np.argmin(self.mean))

    @property
    def step(self) -> int:
        """Step with the smallest mean error, at which to stop."""
        return int(self.steps[self.best])

    @property
    def steps_within_one_error(self) -> tuple[int, int]:
        """The first and last step around `step` within one standard error of the paired difference from its error."""
        folds = self.errors.mean(axis=2)
        excess = folds - folds[self.best]
        far = np.flatnonzero(~(excess.mean(axis=1) <= standard_error(excess)))  # the best itself is near
        low = far[far < self.best].max(initial=-1) + 1
        high = far[far > self.best].min(initial=len(folds)) - 1
        return int(self.steps[low]), int(self.steps[high])

    @property
    def loss_rises(self) -> bool:
        """Whether the training loss of any run rises during training, because the learning rate is too large."""
        return bool((self.training[1:] > (1 + MAX_RISE) * self.training[:-1]).any())

    @property
    def flat_from(self) -> int | None:
        """Step from which the mean error stays within 0.1% of its minimum until the end. None if the error rises again,
        or if it has been so for less than half of the run."""
        away = np.flatnonzero(self.mean > (1 + FLAT_CHANGE) * self.mean[self.best])
        first = int(away[-1]) + 1 if away.size else 0
        if first == len(self.steps) or 2 * self.steps[first] > self.steps[-1]:
            return None
        return int(self.steps[first])

    @property
    def still_falling(self) -> bool:
        """Whether the error is smallest at the last step, and was more than 0.1% higher half as many steps before."""
        return self.best == len(self.steps) - 1 and self.flat_from is None

    @property
    def late_fall(self) -> tuple[float, float]:
        """Decrease of the error over the last half of the run, with its standard error over folds."""
        folds, half = self.errors.mean(axis=2), int(np.searchsorted(self.steps, self.steps[-1] / 2))
        return mean_and_standard_error(folds[half] - folds[-1])

    def out_of_fold_error(self) -> Float[np.ndarray, " fold"]:
        """Error of each fold at the step that is best on the other folds."""
        return errors_at_choices_of_others(self.errors.mean(axis=2))


def errors_at_choices_of_others(errors: Float[np.ndarray, "choice fold"]) -> Float[np.ndarray, " fold"]:
    """Return each fold's error at the choice that is best on average over the other folds."""
    total = errors.sum(axis=1, keepdims=True)
    return errors[np.argmin(total - errors, axis=0), np.arange(errors.shape[1])]


def mean_and_standard_error(gaps: Float[np.ndarray, " fold"]) -> tuple[float, float]:
    """Return the mean of differences within folds, and its standard error."""
    return float(gaps.mean()), float(standard_error(gaps))


def standard_error(values: Float[np.ndarray, "*choice fold"]) -> Float[np.ndarray, "*choice"]:
    """Return the standard error of means over folds, the last axis."""
    return values.std(axis=-1, ddof=1) / np.sqrt(values.shape[-1])
