"""A diagnosis of one's own data: what a two-layer linear network will learn, when to stop, whether it is worth it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import of_kind, partly_representable, path_of
from linnet._progress import bar
from linnet._randomness import words as key_words
from linnet.forecasts._ridge import leave_one_out
from linnet.forecasts._rivals import rivals
from linnet.forecasts.folds import Curves, Fold, all_folds, check_batch_fits, cross_validate, paired, target_scaler
from linnet.forecasts.forecasting import Forecast, forecast
from linnet.forecasts.regimes_of_starts import StartRegimes, start_regimes
from linnet.forecasts.samples import LearningCurve, learning_curve
from linnet.forecasts.scale_trials import LONGER, MATTERS, SURE, ScaleTrial, helpful_factor
from linnet.forecasts.scaling import scaler
from linnet.forecasts.settings import Settings
from linnet.forecasts.starts import start, stds
from linnet.forecasts.stein import SteinStop, stein_stop
from linnet.forecasts.tables import DataTable, data_table
from linnet.forecasts.threshold_curves import ThresholdCurve, threshold_curve
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem

if TYPE_CHECKING:
    import xarray as xr

MOST_LINES = 24  # and the command adds where the page is
FINE = 32  # steps in place of one, to see when modes are learned that one step learns
COARSE_STEPS = 8  # modes that are half learned sooner are looked at in finer steps


@dataclass(frozen=True)
class Comparison:
    """What a table says whatever network is trained on it.

    **Attributes:**

    - `rivals`: held-out errors of ridge, partial least squares and reduced-rank regression, by name, each (fold,)
    - `samples`: test error against the number of rows, predicted and measured
    - `thresholds`: with one target, the held-out error against the scale of the start; otherwise None
    - `mean_error`: of predicting the mean of the training rows, (fold,); about 1, more where rows are few

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> sorted(ln.diagnose(X, X[:, 0] + random.standard_normal(40), seeds=1, steps=5).rivals)
        ['partial least squares', 'reduced-rank regression', 'ridge']
    """

    rivals: dict[str, Float[np.ndarray, " fold"]]
    samples: LearningCurve
    thresholds: ThresholdCurve | None
    mean_error: Float[np.ndarray, " fold"]


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` returns.

    `findings()` are sentences, at most 24; `write(folder)` makes the page.

    **Attributes:**

    - `table`: the data as read, with notes on what was found in it
    - `forecast`: the run on all rows (see `forecast`)
    - `curves`: training and held-out errors of all folds and seeds (see `forecasts.folds.Curves`)
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
        return paired(self.comparison.mean_error - self.curves.honest_error())

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
        steps = int(FINE * (min(known.max(), 2 * COARSE_STEPS) + 1))
        fine = forecast(ahead.problem, ahead.weights, learning_rate=ahead.learning_rate / FINE, steps=steps)
        finer = fine.half_steps * fine.learning_rate
        return np.where(np.isfinite(finer), finer, times)

    def findings(self) -> list[str]:
        """What was found, in at most 24 lines."""
        from linnet.forecasts._findings import findings

        lines = findings(self)
        return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], "More is on the page."]

    def __str__(self) -> str:
        return "\n".join(self.findings())

    def write(self, out: Any) -> Path:
        """Writes a page of its own and the numbers beside it (netCDF) into the folder `out`; returns the page."""
        from linnet.forecasts._report import write

        return write(self, path_of("out", out))

    def to_dataset(self) -> xr.Dataset:
        """The forecast's dataset, with the curves, the rivals and the learning curve along `cv_step`, `fold`, `seed`
        and `rows`."""
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


@partly_representable
def diagnose(
    X: Any,
    Y: Any,
    *,
    width: int = 512,
    init: Any = "pytorch",
    init_scale: float = 1.0,
    learning_rate: Any = "stable",
    steps: int | None = None,
    folds: int = 5,
    seeds: int = 3,
    scale: str = "std",
    drop: Any = None,
    missing: str = "refuse",
    key: Any = 0,
) -> Diagnosis:
    """What a two-layer linear network of this width learns from a table, when to stop it, and how it compares.

    **Arguments:**

    - `X`: (sample, input), an array or a data frame of numbers (see `forecasts.data_table`)
    - `Y`: (sample, output) or (sample,)
    - `width`: of the hidden layer, which costs nothing
    - `init`: `"pytorch"`, `"gaussian"`, a pair of standard deviations, or `Weights`
    - `init_scale`: multiplies both layers
    - `learning_rate`: for half the squared error (`forecasts.pytorch_rates`): `"stable"` is a quarter of the largest at
      which no run diverges, or a number
    - `steps`: at most; by default until the held-out error is past its minimum or flat, at most 16 000
    - `folds`: of the cross-validation
    - `seeds`: of the start; all folds and seeds are trained in one batch
    - `scale`: what is done to columns, `"std"` (centred, unit variance: inputs and targets), `"none"` (centred only) or
      `"whiten"` (inputs uncorrelated), learned from training rows alone
    - `drop`: the columns of `X` to leave out, text and dates too
    - `missing`: `"refuse"`, `"drop"` rows, or fill with the `"mean"`
    - `key`: the seed of splits and starts

    **Returns** a `Diagnosis`; print it, or `write` its page.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> diagnosis = ln.diagnose(X, X[:, 0] + 0.1 * random.standard_normal(40), seeds=1, steps=50)
        >>> diagnosis.regimes.words
        ['lazy']
    """
    settings = Settings(
        width=width,
        init=init,
        init_scale=init_scale,
        learning_rate=learning_rate,
        steps=steps,
        folds=folds,
        seeds=seeds,
        scale=scale,
        key=key,
    )
    return diagnose_table(data_table(X, Y, drop=drop, missing=missing), settings)


def compare(data: DataTable, parts: list[Fold], settings: Settings) -> Comparison:
    """Other methods in the folds `parts` of a table, numbers of rows, scales: what does not depend on the network."""
    inputs = scaler(data.inputs, settings.scale).apply(data.inputs)
    outputs = target_scaler(data.outputs, settings.scale).apply(data.outputs)
    penalty, _ = leave_one_out(inputs, outputs)
    curve = learning_curve(data.inputs, data.outputs, ridge=penalty, scale=settings.scale, key=settings.key)
    nothing = np.zeros((1, outputs.shape[1], inputs.shape[1]))
    mean_error = np.array([part.error(nothing)[0] for part in parts])
    return Comparison(rivals(parts), curve, threshold_curve(parts) if outputs.shape[1] == 1 else None, mean_error)


@partly_representable
def diagnose_table(
    data: DataTable,
    settings: Settings | None = None,
    *,
    comparing: Callable[[DataTable, list[Fold], Settings], Comparison] = compare,
) -> Diagnosis:
    """What a two-layer linear network learns from a table that was read from a file: `diagnose` for `forecasts.read`.

    **Arguments:**

    - `data`: a `DataTable`
    - `settings`: `forecasts.Settings`; by default those of `diagnose`
    - `comparing`: what compares the table with other methods; one who asks for many networks compares once

    **Returns** a `Diagnosis`.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.forecasts import Settings, diagnose_table
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> data = ln.forecasts.data_table(X, X[:, 0] + 0.1 * random.standard_normal(40))
        >>> diagnose_table(data, Settings(seeds=1, steps=50)).settings["width"]
        512
    """
    of_kind("data", data, DataTable, "`forecasts.data_table`, `read` or `from_frame`")
    asked = Settings() if settings is None else of_kind("settings", settings, Settings, "`forecasts.Settings`")
    rows, _, out_dim = data.shape
    folds, least = asked.folds, 2 * asked.folds
    if rows < least:
        raise ValueError(
            f"a table must have at least 2 rows for each of the {folds if folds < 10**9 else float(folds)} folds "
            f"(`folds`), {float(least):g}: got {rows}."
        )
    inputs = scaler(data.inputs, asked.scale).apply(data.inputs)
    outputs = target_scaler(data.outputs, asked.scale).apply(data.outputs)
    starts = _starts(asked, inputs.shape[1], out_dim, rows)
    with bar("folds", 3) as advance:
        parts = all_folds(data.inputs, data.outputs, folds=folds, scale=asked.scale, key=asked.key)
        comparison = comparing(data, parts, asked)
        advance(1, "cross-validation")
        curves = cross_validate(
            parts,
            starts,
            learning_rate=asked.rate,
            steps=asked.steps,
            longest=asked.longest,
            least_time=_screened_time(comparison, starts[0]),
        )
        advance(1, "the run on all rows")
        problem = Problem.from_data(inputs, outputs)
        trial = _tried(
            parts, asked, comparison, curves, start_regimes(problem, starts[0], ridge=comparison.samples.ridge)
        )
        ahead = forecast(problem, starts[0], learning_rate=curves.learning_rate, steps=int(curves.steps[-1]))
        _ = ahead.largest_stable_rate
        advance(1)
    fixed = isinstance(asked.init, Weights)
    spreads = (
        _layer_stds(starts[0])
        if fixed
        else stds(asked.init, in_dim=inputs.shape[1], width=asked.width, scale=asked.init_scale)
    )
    used = {
        "rows": rows,
        "inputs": data.shape[1],
        "targets": out_dim,
        "width": starts[0].full_width,
        "init": "weights" if fixed else asked.init,
        "init_scale": asked.init_scale,
        "learning_rate": curves.learning_rate,
        "folds": folds,
        "seeds": len(starts),
        "scale": asked.scale,
        "key": int(asked.key) if isinstance(asked.key, (int, np.integer)) else asked.key,
    }
    stein = stein_stop(problem, ahead, asked.scale)
    return Diagnosis(data, ahead, curves, comparison, trial, stein, spreads, used)


def _starts(asked: Settings, in_dim: int, out_dim: int, rows: int) -> list[Weights]:
    """The starts of all seeds; weights that are given are one."""
    seeds = 1 if isinstance(asked.init, Weights) else asked.seeds
    check_batch_fits(asked.folds, rows - rows // asked.folds, in_dim, seeds)
    shape: dict[str, Any] = {"in_dim": in_dim, "out_dim": out_dim, "width": asked.width, "scale": asked.init_scale}
    starts = []
    with bar("starts", seeds if seeds > 100 else 0) as advance:
        for seed in range(seeds):
            starts.append(start(asked.init, **shape, key=[*key_words(asked.key), seed]))
            advance(1)
    return starts


def _tried(
    parts: list[Fold], asked: Settings, comparison: Comparison, curves: Curves, judged: StartRegimes
) -> ScaleTrial | None:
    """Another scale of the start in the same folds: where this one hurts, one that does not; with one target the best
    of the exact flow, where it promises a gain; with several the one that makes modes active, or lazy."""
    factor, flows = helpful_factor(curves, comparison.mean_error), comparison.thresholds
    if factor is None and flows is None:
        learns = (comparison.mean_error - curves.honest_error()).mean() > 0
        factor = judged.advised_factor if learns else None
    elif factor is None and flows is not None and (now := float(judged.regimes.thresholds.mean())) > 0:
        gain, spread = flows.gain(now)
        if gain > max(SURE * spread, MATTERS * flows.mean.min()):
            factor = float(np.sqrt(flows.best / now))
    if factor is None:
        return None
    scale = float(f"{factor * asked.init_scale:.2g}")  # the digits that are printed are those that were tried
    in_dim, out_dim = len(judged.regimes.right), len(judged.regimes.left)
    starts = _starts(replace(asked, init_scale=scale), in_dim, out_dim, sum(len(part.held_inputs) for part in parts))
    longest = min(asked.longest, LONGER * int(curves.steps[-1]))
    other = cross_validate(parts, starts, learning_rate=asked.rate, steps=asked.steps, longest=longest)
    gain, spread = paired(curves.honest_error() - other.honest_error())
    return ScaleTrial(scale, other, gain, spread)


def _screened_time(comparison: Comparison, weights: Weights) -> float:
    """When the exact flow of one target would stop: cross-validation trains at least so long."""
    if comparison.thresholds is None:
        return 0.0
    first, second = (weights.first**2).sum() / weights.in_dim, (weights.second**2).sum()
    threshold = float(first + second) / 2
    return comparison.thresholds.time(threshold) if threshold > 0 else 0.0


def _layer_stds(weights: Weights) -> tuple[float, float]:
    """The standard deviations of layers given as they are, from their lengths."""
    first = (weights.first**2).sum() / (weights.full_width * weights.in_dim)
    second = (weights.second**2).sum() / (weights.full_width * weights.out_dim)
    return float(np.sqrt(first)), float(np.sqrt(second))
