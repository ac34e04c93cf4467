"""Diagnosing a table: folds, other methods, cross-validation, another scale of the start, the run on all rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from linnet._arguments import of_kind, partly_representable
from linnet._progress import bar
from linnet._randomness import words as key_words
from linnet.forecasts._rows import Rows
from linnet.forecasts.comparison import Comparison, compare
from linnet.forecasts.cross_validation import check_batch_fits, cross_validate
from linnet.forecasts.curves import Curves, mean_and_standard_error
from linnet.forecasts.diagnosis import Diagnosis
from linnet.forecasts.folds import Fold, all_folds
from linnet.forecasts.forecasting import forecast
from linnet.forecasts.regimes_of_starts import StartRegimes, start_regimes
from linnet.forecasts.scale_trials import MAX_STEPS_FACTOR, ScaleTrial, is_significant, smaller_start_factor
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
    width: int = 512,
    init: object = "pytorch",
    init_scale: float = 1.0,
    learning_rate: object = "stable",
    steps: int | None = None,
    folds: int = 5,
    seeds: int = 3,
    scale: str = "std",
    drop: object = None,
    missing: str = "refuse",
    key: object = 0,
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


@partly_representable
def diagnose_table(
    data: DataTable,
    settings: Settings | None = None,
    *,
    comparing: Callable[[Rows, list[Fold], Settings], Comparison] = compare,
) -> Diagnosis:
    """What a two-layer linear network learns from a table that was read from a file: `diagnose` for `forecasts.read`.

    **Arguments:**

    - `data`: a `DataTable`
    - `settings`: `forecasts.Settings`; by default those of `diagnose`
    - `comparing`: what compares the table with other methods; pass one to diagnose many networks with one comparison

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
    rows = data.shape[0]
    folds, least = asked.folds, 2 * asked.folds
    if rows < least:
        raise ValueError(
            f"a table must have at least 2 rows for each of the {folds if folds < 10**9 else float(folds)} folds "
            f"(`folds`), {float(least):g}: got {rows}."
        )
    whole = Rows.from_data(data.inputs, data.outputs, asked.scale)
    starts = _draw_starts(asked, whole)
    with bar("folds", 3) as advance:
        parts = all_folds(data.inputs, data.outputs, folds=folds, scale=asked.scale, key=asked.key)
        comparison = comparing(whole, parts, asked)
        advance(1, "cross-validation")
        curves = cross_validate(
            parts,
            starts,
            learning_rate=asked.rate,
            steps=asked.steps,
            longest=asked.longest,
            least_time=_stopping_time_of_flow(comparison, starts[0]),
        )
        advance(1, "the run on all rows")
        problem = whole.problem
        judged = start_regimes(problem, starts[0], ridge=comparison.samples.ridge)
        factor = _factor_to_try(comparison, curves, judged)
        trial = None if factor is None else _try_scale(factor, whole, parts, asked, curves)
        ahead = forecast(problem, starts[0], learning_rate=curves.learning_rate, steps=int(curves.steps[-1]))
        _ = ahead.largest_stable_rate
        advance(1)
    spreads = layer_stds(asked.init, in_dim=problem.in_dim, width=asked.width, scale=asked.init_scale)
    used = {
        "rows": rows,
        "inputs": data.shape[1],
        "targets": problem.out_dim,
        "width": starts[0].full_width,
        "init": "weights" if isinstance(asked.init, Weights) else asked.init,
        "init_scale": asked.init_scale,
        "learning_rate": curves.learning_rate,
        "folds": folds,
        "seeds": len(starts),
        "scale": asked.scale,
        "key": int(asked.key) if isinstance(asked.key, (int, np.integer)) else asked.key,
    }
    stein = stein_stop(problem, ahead, asked.scale)
    return Diagnosis(data, ahead, curves, comparison, trial, stein, spreads, used)


def _draw_starts(asked: Settings, whole: Rows) -> list[Weights]:
    """Draw the starts of all seeds; weights that are given are the only start."""
    (rows, in_dim), out_dim = whole.inputs.shape, whole.outputs.shape[1]
    seeds = 1 if isinstance(asked.init, Weights) else asked.seeds
    check_batch_fits(asked.folds, rows - rows // asked.folds, in_dim, seeds)
    starts = []
    with bar("starts", seeds if seeds > 100 else 0) as advance:
        for seed in range(seeds):
            key = [*key_words(asked.key), seed]
            starts.append(
                start(asked.init, in_dim=in_dim, out_dim=out_dim, width=asked.width, scale=asked.init_scale, key=key)
            )
            advance(1)
    return starts


def _factor_to_try(comparison: Comparison, curves: Curves, judged: StartRegimes) -> float | None:
    """Choose the factor of the start to try in the same folds: where this one hurts, one that does not; with one target
    the best of the exact flow, if it promises a gain; with several one that makes modes active, or lazy; else None."""
    factor, flows = smaller_start_factor(curves, comparison.mean_error), comparison.thresholds
    if factor is not None:
        return factor
    if flows is None:
        learns = (comparison.mean_error - curves.honest_error()).mean() > 0
        return judged.advised_factor if learns else None
    now = float(judged.regimes.thresholds.mean())
    if now <= 0:
        return None
    gain, spread = flows.gain(now)
    return float(np.sqrt(flows.best / now)) if is_significant(gain, spread, flows.mean.min()) else None


def _try_scale(factor: float, whole: Rows, parts: list[Fold], asked: Settings, curves: Curves) -> ScaleTrial:
    """Train from the start times `factor` in the same folds, and measure the gain over `curves`."""
    scale = float(f"{factor * asked.init_scale:.2g}")  # the digits that are printed are those that were tried
    starts = _draw_starts(replace(asked, init_scale=scale), whole)
    longest = min(asked.longest, MAX_STEPS_FACTOR * int(curves.steps[-1]))
    other = cross_validate(parts, starts, learning_rate=asked.rate, steps=asked.steps, longest=longest)
    gain, spread = mean_and_standard_error(curves.honest_error() - other.honest_error())
    return ScaleTrial(scale, other, gain, spread)


def _stopping_time_of_flow(comparison: Comparison, weights: Weights) -> float:
    """Return the time at which the exact flow of one target would stop: cross-validation trains at least that long."""
    if comparison.thresholds is None:
        return 0.0
    threshold = start_threshold(weights)
    return comparison.thresholds.time(threshold) if threshold > 0 else 0.0
