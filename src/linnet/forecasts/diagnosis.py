"""Results of diagnosing a table: numbers and sentences about a two-layer linear network trained on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import path_of
from linnet.forecasts.comparison import Comparison
from linnet.forecasts.curves import CrossValidationCurves, mean_and_standard_error
from linnet.forecasts.forecasting import Forecast, forecast
from linnet.forecasts.regimes_of_starts import StartRegimes
from linnet.forecasts.scale_trials import ScaleTrial
from linnet.forecasts.stein import SteinStop
from linnet.forecasts.tables import DataTable

if TYPE_CHECKING:
    import xarray as xr

COARSE_STEPS = 8  # modes that are half learned sooner are followed again in finer steps
FINE_STEPS_PER_STEP = 32  # in place of one step then, so that their times are not whole numbers of steps


@dataclass(frozen=True)
class Diagnosis:
    """Result of `diagnose`.

    `print` shows the findings, with the verdict first, and `write(folder)` makes a page with plots.

    **Attributes:**

    - `table`: data as read, with notes on unusual columns
    - `forecast`: run on all rows (see `forecast`)
    - `curves`: training losses and held-out errors of all folds and seeds (see `forecasts.CrossValidationCurves`)
    - `comparison`: other methods, numbers of rows and scales of the initialization (see `forecasts.Comparison`)
    - `regimes`: modes that are learned lazily or actively, judged by the solution of ridge regression, and the scale of
      the initialization that changes this (see `forecasts.StartRegimes`)
    - `trial`: another scale of the initialization in the same folds (see `forecasts.ScaleTrial`);
      None if none was tried
    - `stein`: stopping step by SURE, Stein's unbiased risk estimate, for whitened inputs; otherwise None
    - `stds`: initial standard deviations of the two layers
    - `settings`: settings that were used, such as width, init, preprocess, folds and seeds

    `advised_scale` is the `init_scale` at which all modes change their regime, for example from lazy to active.
    `helpful_scale` is an `init_scale` that lowers the held-out error.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import diagnose
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> diagnosis = diagnose(X, X[:, 0] + 0.1 * random.standard_normal(40), seeds=1, steps=50)
        >>> diagnosis.stop, diagnosis.curves.errors.shape[1:]
        (12, (5, 1))
    """

    table: DataTable
    forecast: Forecast = field(repr=False)
    curves: CrossValidationCurves = field(repr=False)
    comparison: Comparison = field(repr=False)
    regimes: StartRegimes = field(repr=False)
    trial: ScaleTrial | None = field(repr=False)
    stein: SteinStop | None = field(repr=False)
    stds: tuple[float, float]
    settings: dict[str, Any]

    @property
    def stop(self) -> int:
        """The step at which to stop, by cross-validation."""
        return self.curves.step

    @property
    def advised_scale(self) -> float | None:
        """`init_scale` at which all modes are certainly active or, if they are active already, certainly lazy. None if
        there is no such scale, or if nothing is learned. It changes how modes are learned, and not necessarily the
        error."""
        factor = self.regimes.advised_factor if self.gain_over_mean[0] > 0 else None
        return None if factor is None else factor * float(self.settings["init_scale"])

    @property
    def helpful_scale(self) -> float | None:
        """`init_scale` that was tried in the same folds and significantly lowers the held-out error; None if there is
        none."""
        return self.trial.init_scale if self.trial is not None and self.trial.helps else None

    @property
    def gain_over_mean(self) -> tuple[float, float]:
        """Return the decrease of the held-out error compared with predicting the mean of the training rows, and its
        standard error over folds."""
        return mean_and_standard_error(self.comparison.mean_error - self.curves.out_of_fold_error())

    @cached_property
    def half_times(self) -> Float[np.ndarray, " mode"]:
        """Time (learning rate times number of steps) at which each mode is half learned. If that takes only a few
        steps, it comes from a second run with smaller steps."""
        run = self.forecast
        half, times = run.half_steps, run.half_steps * run.learning_rate
        reached = half[np.isfinite(half)]
        if not reached.size or reached.min() >= COARSE_STEPS:
            return times
        steps = int(FINE_STEPS_PER_STEP * (min(reached.max(), 2 * COARSE_STEPS) + 1))
        fine = forecast(run.problem, run.weights, learning_rate=run.learning_rate / FINE_STEPS_PER_STEP, steps=steps)
        fine_times = fine.half_steps * fine.learning_rate
        return np.where(np.isfinite(fine_times), fine_times, times)

    def findings(self) -> list[str]:
        """Return the findings in lines: the verdict, then errors, stopping, learning, data and learning rates."""
        from linnet.forecasts._diagnosis_sentences import findings

        return findings(self)

    def __str__(self) -> str:
        return "\n".join(self.findings())

    def write(self, out: object) -> Path:
        """Write a page and the numbers next to it (netCDF) into the folder `out`; return the path of the page."""
        from linnet.forecasts._diagnosis_page import write

        return write(self, path_of("out", out))

    def to_dataset(self) -> xr.Dataset:
        """The forecast's dataset, with the curves, the other methods and the learning curve along `cv_step`, `fold`,
        `seed` and `rows`; docs/schema.md lists the names."""
        import xarray as xr

        cv, rows, flows = self.curves, self.comparison.learning_curve, self.comparison.thresholds
        methods = {"network": cv.out_of_fold_error(), "mean": self.comparison.mean_error, **self.comparison.baselines}
        variables: dict[str, Any] = {
            "cv_training": (("cv_step", "fold", "seed"), cv.training),
            "cv_error": (("cv_step", "fold", "seed"), cv.errors),
            "measured_error": ("rows", rows.measured),
            "measured_standard_error": ("rows", rows.standard_error),
            "predicted_error": ("rows", rows.predicted),
            "regime": ("mode", np.array(self.regimes.labels)),
            "half_time": ("mode", self.half_times),
        }
        for method, errors in methods.items():
            variables[f"{method.replace(' ', '_').replace('-', '_')}_error"] = ("fold", errors)
        coordinates = {"cv_step": cv.steps, "rows": rows.samples}
        if flows is not None:
            variables["threshold_error"] = (("start_threshold", "fold"), flows.errors)
            coordinates["start_threshold"] = flows.thresholds
        whole = self.forecast.to_dataset().merge(xr.Dataset(variables, coordinates))
        return whole.assign_attrs(stop=self.stop, **{name: str(value) for name, value in self.settings.items()})


def training_shares(diagnosis: Diagnosis) -> Float[np.ndarray, "time fold seed"]:
    """Return training losses as fractions of the targets' variance: twice the loss, half the squared error, over it."""
    outputs = diagnosis.forecast.problem.outputs
    assert outputs is not None
    return 2 / float(outputs.var(axis=0).sum()) * diagnosis.curves.training
