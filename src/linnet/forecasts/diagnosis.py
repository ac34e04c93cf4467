"""A diagnosis of one's own table: what was found of a two-layer linear network on it, in numbers and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import path_of
from linnet.forecasts.comparison import Comparison
from linnet.forecasts.curves import Curves, mean_and_standard_error
from linnet.forecasts.forecasting import Forecast, forecast
from linnet.forecasts.regimes_of_starts import StartRegimes, start_regimes
from linnet.forecasts.samples import LearningCurve
from linnet.forecasts.scale_trials import ScaleTrial
from linnet.forecasts.stein import SteinStop
from linnet.forecasts.tables import DataTable

if TYPE_CHECKING:
    import xarray as xr

MAX_LINES = 24  # and the command adds where the page is
FINE_STEPS_PER_STEP = 32  # steps in place of one, to see when modes are learned that one step learns
COARSE_STEPS = 8  # modes that are half learned sooner are looked at in finer steps


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` returns.

    `findings()` are sentences, at most 24; `write(folder)` makes the page.

    **Attributes:**

    - `table`: the data as read, with notes on what was found in it
    - `forecast`: the run on all rows (see `forecast`)
    - `curves`: training losses and held-out errors of all folds and seeds (see `forecasts.Curves`)
    - `comparison`: other methods, numbers of rows and scales of the start (see `forecasts.Comparison`)
    - `trial`: another scale of the start in the same folds (see `forecasts.ScaleTrial`); None where none was tried
    - `stein`: the stopping step by Stein's estimate, for whitened inputs; otherwise None
    - `stds`: the standard deviations of the two layers at the start
    - `settings`: width, init, scale, folds, seeds and the rest, as used

    `regimes` says which modes are lazy or active and which scale of the start changes that (see
    `forecasts.StartRegimes`); `advised_scale` is the `init_scale` at which it does, `helpful_scale` one that lowers the
    held-out error.

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import diagnose
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> diagnosis = diagnose(X, X[:, 0] + 0.1 * random.standard_normal(40), seeds=1, steps=50)
        >>> len(diagnosis.findings()) <= 24, diagnosis.curves.errors.shape[1:]
        (True, (5, 1))
    """

    table: DataTable
    forecast: Forecast = field(repr=False)
    curves: Curves = field(repr=False)
    comparison: Comparison = field(repr=False)
    trial: ScaleTrial | None = field(repr=False)
    stein: SteinStop | None = field(repr=False)
    stds: tuple[float, float]
    settings: dict[str, Any]

    @property
    def stop(self) -> int:
        """The step at which to stop, by cross-validation."""
        return self.curves.step

    @property
    def rivals(self) -> dict[str, Float[np.ndarray, " fold"]]:
        """Held-out errors of other methods, fold by fold."""
        return self.comparison.rivals

    @property
    def samples(self) -> LearningCurve:
        """The test error of ridge against the number of rows."""
        return self.comparison.samples

    @cached_property
    def regimes(self) -> StartRegimes:
        """Lazy or active, mode by mode, judged by what ridge regression learns from the table."""
        return start_regimes(self.forecast.problem, self.forecast.weights, ridge=self.samples.ridge)

    @property
    def advised_scale(self) -> float | None:
        """The `init_scale` at which all modes are certainly active or, where they are active already, certainly lazy;
        None if there is none, or if nothing is learned. It changes how modes are learned, not by itself the error."""
        factor = self.regimes.advised_factor if self.gain_over_mean[0] > 0 else None
        return None if factor is None else factor * float(self.settings["init_scale"])

    @property
    def helpful_scale(self) -> float | None:
        """The `init_scale` that was tried in the same folds and lowers the held-out error by more than its error."""
        return self.trial.init_scale if self.trial is not None and self.trial.helps else None

    @property
    def gain_over_mean(self) -> tuple[float, float]:
        """By how much the network's held-out error is lower than that of the mean of the training rows, with its
        standard error over folds."""
        return mean_and_standard_error(self.comparison.mean_error - self.curves.honest_error())

    @cached_property
    def half_times(self) -> Float[np.ndarray, " mode"]:
        """The time, steps times rate, at which each mode is half learned; modes that one step learns are looked at in
        finer steps."""
        ahead = self.forecast
        half = ahead.half_steps
        known = half[np.isfinite(half)]
        times = half * ahead.learning_rate
        if not known.size or known.min() >= COARSE_STEPS:
            return times
        steps = int(FINE_STEPS_PER_STEP * (min(known.max(), 2 * COARSE_STEPS) + 1))
        fine = forecast(
            ahead.problem, ahead.weights, learning_rate=ahead.learning_rate / FINE_STEPS_PER_STEP, steps=steps
        )
        finer = fine.half_steps * fine.learning_rate
        return np.where(np.isfinite(finer), finer, times)

    def findings(self) -> list[str]:
        """What was found, in at most 24 lines."""
        from linnet.forecasts._diagnosis_sentences import findings

        lines = findings(self)
        return lines if len(lines) <= MAX_LINES else [*lines[: MAX_LINES - 1], "More is on the page."]

    def __str__(self) -> str:
        return "\n".join(self.findings())

    def write(self, out: object) -> Path:
        """Write a page and the numbers beside it (netCDF) into the folder `out`; return the path of the page."""
        from linnet.forecasts._diagnosis_page import write

        return write(self, path_of("out", out))

    def to_dataset(self) -> xr.Dataset:
        """The forecast's dataset, with the curves, the rivals and the learning curve along `cv_step`, `fold`, `seed`
        and `rows`; docs/schema.md lists the names."""
        import xarray as xr

        c, s = self.curves, self.samples
        more: dict[str, Any] = {
            "cv_training": (("cv_step", "fold", "seed"), c.training),
            "cv_error": (("cv_step", "fold", "seed"), c.errors),
            "network_error": ("fold", c.honest_error()),
            "measured_error": ("rows", s.measured),
            "measured_standard_error": ("rows", s.standard_error),
            "predicted_error": ("rows", s.predicted),
        }
        more |= {f"{name.replace(' ', '_').replace('-', '_')}_error": ("fold", v) for name, v in self.rivals.items()}
        coordinates: dict[str, Any] = {"cv_step": c.steps, "rows": s.samples}
        if (screened := self.comparison.thresholds) is not None:
            more["threshold_error"] = (("start_threshold", "fold"), screened.errors)
            coordinates["start_threshold"] = screened.thresholds
        more["regime"] = ("mode", np.array(self.regimes.words))
        more["half_time"] = ("mode", self.half_times)
        beside = xr.Dataset(more, coordinates)
        whole = self.forecast.to_dataset().merge(beside)
        return whole.assign_attrs(stop=self.stop, **{k: str(v) for k, v in self.settings.items()})


def training_shares(diagnosis: Diagnosis) -> Float[np.ndarray, "time fold seed"]:
    """Return training losses as shares of the targets' variance: twice the loss, half the squared error, over it."""
    outputs = diagnosis.forecast.problem.outputs
    assert outputs is not None
    return 2 / float(outputs.var(axis=0).sum()) * diagnosis.curves.training
