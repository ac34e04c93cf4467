"""Diagnosing a table: folds, other methods, cross-validation, another scale of the initialization, the run on all
rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from numpy.typing import ArrayLike

from linnet._arguments import of_kind, partly_representable, shown
from linnet._progress import bar
from linnet._randomness import words as key_words
from linnet.forecasts._rows import Rows
from linnet.forecasts.comparison import Comparison, compare
from linnet.forecasts.cross_validation import check_batch_fits, cross_validate
from linnet.forecasts.curves import CrossValidationCurves, mean_and_standard_error
from linnet.forecasts.diagnosis import Diagnosis
from linnet.forecasts.folds import Fold, all_folds
from linnet.forecasts.forecasting import forecast
from linnet.forecasts.regimes_of_starts import start_regimes
from linnet.forecasts.scale_trials import MAX_STEPS_FACTOR, ScaleTrial, factor_to_try
from linnet.forecasts.settings import Settings
from linnet.forecasts.starts import layer_stds, start
from linnet.forecasts.stein import stein_stop
from linnet.forecasts.tables import DataTable, data_table
from linnet.forecasts.threshold_curves import start_threshold
from linnet.inits.weights import Weights


@partly_representable
def diagnose(
    X: ArrayLike,
    Y: ArrayLike,
    *,
    width: int = Settings.width,
    init: object = Settings.init,
    init_scale: float = Settings.init_scale,
    learning_rate: float | str = Settings.learning_rate,
    steps: int | None = Settings.steps,
    folds: int = Settings.folds,
    seeds: int = Settings.seeds,
    preprocess: str = Settings.preprocess,
    drop: object = None,
    missing: str = "error",
    key: object = Settings.key,
) -> Diagnosis:
    """Recommend when to stop training a linear network on a table, and compare it with ridge regression.

    Do not expect to beat ridge regression: this function is for data on which you train a linear network anyway. For a
    table from a file, use `forecasts.diagnose_table`; for one run without cross-validation, `ln.forecast`.

    **Arguments:**

    - `X`: inputs, (sample, input), an array or a data frame of numbers (see `forecasts.data_table`)
    - `Y`: targets, (sample, output) or (sample,)
    - `width`: number of hidden units; does not affect the cost
    - `init`: initialization: `"pytorch"`, `"gaussian"`, a pair of standard deviations, or `Weights`
    - `init_scale`: factor by which both initial layers are multiplied
    - `learning_rate`: learning rate for half the squared error (`forecasts.pytorch_rates`): `"stable"` is a quarter of
      the largest at which no run diverges, or a number
    - `steps`: maximum number of gradient steps; by default training ends when the held-out error is past its minimum or
      flat, after 16 000 steps at the latest
    - `folds`: number of folds of the cross-validation
    - `seeds`: number of random initializations in each fold; all folds and seeds are trained in one batch
    - `preprocess`: treatment of the columns: `"standardize"` (centered, unit variance: inputs and targets), `"center"`
      (centered only) or `"whiten"` (inputs uncorrelated), learned from training rows alone
    - `drop`: columns of `X` to leave out, such as text and dates
    - `missing`: treatment of rows with missing values: `"error"`, `"drop"`, or fill with the column's `"mean"`
    - `key`: seed of the splits and of the initial weights

    **Returns** a `Diagnosis`; print it, or `write` its page.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> diagnosis = ln.diagnose(X, X[:, 0] + 0.1 * random.standard_normal(40), seeds=1, steps=50)
        >>> diagnosis.regimes.labels
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
        preprocess=preprocess,
        key=key,
    )
    return diagnose_table(data_table(X, Y, drop=drop, missing=missing), settings)


@partly_representable
def diagnose_table(
    data: DataTable,
    settings: Settings | None = None,
    *,
    comparing: Callable[[Rows, list[Fold], Settings], Comparison] = compare,
) -> Diagnosis:
    """Recommend when to stop training a linear network on a table that was read from a file.

    `forecasts.read` reads the table, with notes on unusual columns. For arrays and data frames, use `ln.diagnose`.

    **Arguments:**

    - `data`: table, a `DataTable`
    - `settings`: settings, a `forecasts.Settings`; by default those of `diagnose`
    - `comparing`: function that compares the table with other methods; to diagnose many networks of one table, pass one
      that computes the comparison only once

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
    settings = Settings() if settings is None else of_kind("settings", settings, Settings, "`forecasts.Settings`")
    rows, least = data.shape[0], 2 * settings.folds
    if rows < least:
        raise ValueError(
            f"a table must have at least 2 rows for each of the {shown(settings.folds)} folds (`folds`), "
            f"{float(least):g}: got {rows}."
        )
    whole = Rows.from_data(data.inputs, data.outputs, settings.preprocess)
    starts = _draw_starts(settings, whole)
    with bar("folds", 3) as advance:
        folds = all_folds(
            data.inputs, data.outputs, folds=settings.folds, preprocess=settings.preprocess, key=settings.key
        )
        comparison = comparing(whole, folds, settings)
        advance(1, "cross-validation")
        curves = cross_validate(
            folds,
            starts,
            learning_rate=settings.rate,
            steps=settings.steps,
            max_steps=settings.max_steps,
            min_time=_stopping_time_of_flow(comparison, starts[0]),
        )
        advance(1, "the run on all rows")
        problem = whole.problem
        regimes = start_regimes(problem, starts[0], ridge=comparison.learning_curve.ridge)
        factor = factor_to_try(comparison, curves, regimes)
        trial = None if factor is None else _try_scale(factor, whole, folds, settings, curves)
        run = forecast(problem, starts[0], learning_rate=curves.learning_rate, steps=int(curves.steps[-1]))
        _ = run.largest_stable_rate  # takes a while, and is kept: here the bar is shown, in `findings` it is not
        advance(1)
    stein = stein_stop(problem, run, settings.preprocess)
    stds = layer_stds(settings.init, in_dim=problem.in_dim, width=settings.width, scale=settings.init_scale)
    used = {  # these names are read by sentences and page, and are attributes of the dataset
        "rows": rows,
        "inputs": data.shape[1],
        "targets": problem.out_dim,
        "width": starts[0].full_width,
        "init": "weights" if isinstance(settings.init, Weights) else settings.init,
        "init_scale": settings.init_scale,
        "learning_rate": curves.learning_rate,
        "folds": settings.folds,
        "seeds": len(starts),
        "preprocess": settings.preprocess,
        "key": settings.key,
    }
    return Diagnosis(data, run, curves, comparison, regimes, trial, stein, stds, used)


def _draw_starts(settings: Settings, whole: Rows) -> list[Weights]:
    """Draw the starts of all seeds; weights that are given are the only start.

    `cross_validate` refuses what does not fit into memory too, but drawing very many starts would take long before it.
    """
    (rows, in_dim), out_dim = whole.inputs.shape, whole.outputs.shape[1]
    seeds = 1 if isinstance(settings.init, Weights) else settings.seeds
    check_batch_fits(settings.folds, rows - rows // settings.folds, in_dim, seeds)
    starts, shape = [], {"in_dim": in_dim, "out_dim": out_dim, "width": settings.width}
    with bar("starts", seeds if seeds > 100 else 0) as advance:
        for seed in range(seeds):
            key = [*key_words(settings.key), seed]
            starts.append(start(settings.init, **shape, scale=settings.init_scale, key=key))
            advance(1)
    return starts


def _try_scale(
    factor: float, whole: Rows, folds: list[Fold], settings: Settings, curves: CrossValidationCurves
) -> ScaleTrial:
    """Train from the initialization times `factor` in the same folds, and measure the gain over `curves`."""
    scale = float(f"{factor * settings.init_scale:.2g}")  # the digits that are printed are those that were tried
    starts = _draw_starts(replace(settings, init_scale=scale), whole)
    longest = min(settings.max_steps, MAX_STEPS_FACTOR * int(curves.steps[-1]))
    other = cross_validate(folds, starts, learning_rate=settings.rate, steps=settings.steps, max_steps=longest)
    return ScaleTrial(scale, other, *mean_and_standard_error(curves.out_of_fold_error() - other.out_of_fold_error()))


def _stopping_time_of_flow(comparison: Comparison, weights: Weights) -> float:
    """Return the time at which the exact flow of one target would stop: cross-validation trains at least that long."""
    if comparison.thresholds is None:
        return 0.0
    threshold = start_threshold(weights)
    return comparison.thresholds.time(threshold) if threshold > 0 else 0.0
