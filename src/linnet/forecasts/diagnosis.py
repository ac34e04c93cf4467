"""A diagnosis of one's own data: what a two-layer linear network will learn, when to stop, whether it is worth it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from linnet import _extras as extras
from linnet._arguments import count, of_kind, partly_representable, path_of, positive
from linnet._progress import bar
from linnet.forecasts._rivals import PENALTIES, rivals
from linnet.forecasts.folds import LONGEST, Curves, Fold, all_folds, check_batch_fits, cross_validate, target_scaler
from linnet.forecasts.forecasting import Forecast, forecast
from linnet.forecasts.samples import LearningCurve, learning_curve
from linnet.forecasts.scaling import scaler
from linnet.forecasts.starts import start, stds
from linnet.forecasts.stein import SteinStop, stein_stop
from linnet.forecasts.tables import DataTable, data_table
from linnet.inits.weights import Weights
from linnet.problems.problem import Problem

if TYPE_CHECKING:
    import xarray as xr

MOST_LINES = 24  # and the command adds where the page is


@dataclass(frozen=True)
class Diagnosis:
    """What `diagnose` returns.

    `findings()` are sentences, at most 24; `write(folder)` makes the page.

    **Attributes:**

    - `table`: the data as read, with notes on what was found in it
    - `forecast`: the run on all rows (see `forecast`)
    - `curves`: training and held-out errors of all folds and seeds (see `forecasts.folds.Curves`)
    - `rivals`: held-out errors of ridge, partial least squares and reduced-rank regression, fold by fold
    - `samples`: test error against the number of rows, predicted and measured
    - `stein`: the stopping step by Stein's estimate, for whitened inputs; otherwise None
    - `stds`: the standard deviations of the two layers at the start
    - `settings`: width, init, scale, folds, seeds and the rest, as asked for

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import diagnose
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> found = diagnose(X, X[:, 0] + 0.1 * random.standard_normal(40), seeds=1, steps=50)
        >>> len(found.findings()) <= 24, found.curves.errors.shape[1:]
        (True, (5, 1))
    """

    table: DataTable
    forecast: Forecast = field(repr=False)
    curves: Curves = field(repr=False)
    rivals: dict[str, np.ndarray] = field(repr=False)
    samples: LearningCurve = field(repr=False)
    stein: SteinStop | None = field(repr=False)
    stds: tuple[float, float]
    settings: dict[str, Any]

    @property
    def stop(self) -> int:
        """The step at which to stop, by cross-validation."""
        return self.curves.step

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
        more = {
            "cv_training": (("cv_step", "fold", "seed"), c.training),
            "cv_error": (("cv_step", "fold", "seed"), c.errors),
            "network_error": ("fold", c.honest_error()),
            "measured_error": ("rows", s.measured),
            "measured_standard_error": ("rows", s.standard_error),
            "predicted_error": ("rows", s.predicted),
        }
        more |= {f"{name.replace(' ', '_').replace('-', '_')}_error": ("fold", v) for name, v in self.rivals.items()}
        beside = xr.Dataset(more, {"cv_step": c.steps, "rows": s.samples})
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
    - `learning_rate`: `"stable"` is a quarter of the largest at which no run diverges, or a number
    - `steps`: at most; by default as many as the held-out error needs to have its minimum, at most 16 000
    - `folds`: of the cross-validation
    - `seeds`: of the start; all folds and seeds are trained in one batch
    - `scale`: what is done to columns, `"std"` (centred, unit variance: inputs and targets), `"none"` (centred only) or
      `"whiten"` (inputs uncorrelated), learned from training rows alone
    - `missing`: `"refuse"`, `"drop"` rows, or fill with the `"mean"`
    - `key`: the seed of splits and starts

    **Returns** a `Diagnosis`; print it, or `write` its page.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> found = ln.diagnose(X, X[:, 0] + 0.1 * random.standard_normal(40), seeds=1, steps=50)
        >>> found.forecast.learned
        ['lazily']
    """
    return diagnose_table(
        data_table(X, Y, missing=missing),
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


@partly_representable
def diagnose_table(
    data: DataTable,
    *,
    width: int = 512,
    init: Any = "pytorch",
    init_scale: float = 1.0,
    learning_rate: Any = "stable",
    steps: int | None = None,
    folds: int = 5,
    seeds: int = 3,
    scale: str = "std",
    key: Any = 0,
    longest: int = LONGEST,
) -> Diagnosis:
    """What a two-layer linear network learns from a table that was read from a file: `diagnose` for `forecasts.read`.

    **Arguments:**

    - `data`: a `DataTable`
    - `width`: of the hidden layer, which costs nothing
    - `init`: `"pytorch"`, `"gaussian"`, a pair of standard deviations, or `Weights`
    - `init_scale`: multiplies both layers
    - `learning_rate`: `"stable"` is a quarter of the largest at which no run diverges, or a number
    - `steps`: at most
    - `folds`: of the cross-validation
    - `seeds`: of the start
    - `scale`: `"std"`, `"none"` or `"whiten"`
    - `key`: the seed of splits and starts
    - `longest`: how long training goes on without `steps`

    **Returns** a `Diagnosis`.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.forecasts import diagnose_table
        >>> random = np.random.default_rng(0)
        >>> X = random.standard_normal((40, 3))
        >>> data = ln.forecasts.data_table(X, X[:, 0] + 0.1 * random.standard_normal(40))
        >>> diagnose_table(data, seeds=1, steps=50).settings["width"]
        512
    """
    settings = {"width": width, "init": init, "init_scale": init_scale, "learning_rate": learning_rate, "steps": steps}
    return diagnosed(data, **settings, folds=folds, seeds=seeds, scale=scale, key=key, longest=longest)


def compared(
    data: DataTable, parts: list[Fold], scale: str, key: Any
) -> tuple[dict[str, Float[np.ndarray, " fold"]], LearningCurve]:
    """Other methods in the folds `parts` of a table, and numbers of rows: what does not depend on the network."""
    inputs = scaler(data.inputs, scale).apply(data.inputs)
    outputs = target_scaler(data.outputs, scale).apply(data.outputs)
    penalty = _penalty(inputs, outputs)
    return rivals(parts), learning_curve(data.inputs, data.outputs, ridge=penalty, scale=scale, key=key)


def diagnosed(
    data: DataTable,
    *,
    width: int,
    init: Any,
    init_scale: float,
    learning_rate: Any,
    steps: int | None,
    folds: int,
    seeds: int,
    scale: str,
    key: Any,
    longest: int,
    comparing: Callable[[DataTable, list[Fold], str, Any], tuple[dict[str, np.ndarray], LearningCurve]] = compared,
) -> Diagnosis:
    """`diagnose_table`, with `comparing` in place of `compared`: one who asks for many networks compares once."""
    of_kind("data", data, DataTable, "`forecasts.data_table`, `read` or `from_frame`")
    width, seeds = count("width", width), count("seeds", seeds)
    init_scale = positive("init_scale", init_scale)
    if isinstance(learning_rate, str) and learning_rate != "stable":
        raise ValueError(f"`learning_rate` must be 'stable' or a number: got {learning_rate!r}.")
    rate = None if isinstance(learning_rate, str) else positive("learning_rate", learning_rate)
    rows, _, out_dim = data.shape
    folds = count("folds", folds, least=2)
    least = 2 * folds
    if rows < least:
        raise ValueError(
            f"a table must have at least 2 rows for each of the {folds if folds < 10**9 else float(folds)} folds "
            f"(`folds`), {float(least):g}: got {rows}."
        )
    inputs = scaler(data.inputs, scale).apply(data.inputs)
    outputs = target_scaler(data.outputs, scale).apply(data.outputs)
    in_dim = inputs.shape[1]
    fixed = isinstance(init, Weights)
    seeds = 1 if fixed else seeds
    check_batch_fits(folds, rows - rows // folds, in_dim, seeds)
    starts = []
    with bar("starts", seeds if seeds > 100 else 0) as advance:
        for seed in range(seeds):
            words = [*_words(key), seed]
            starts.append(start(init, in_dim=in_dim, out_dim=out_dim, width=width, key=words, scale=init_scale))
            advance(1)
    with bar("folds", 3) as advance:
        parts = all_folds(data.inputs, data.outputs, folds=folds, scale=scale, key=key)
        curves = cross_validate(parts, starts, learning_rate=rate, steps=steps, longest=longest)
        advance(1, "the run on all rows")
        problem = Problem.from_data(inputs, outputs)
        told = forecast(problem, starts[0], learning_rate=curves.learning_rate, steps=int(curves.steps[-1]))
        _ = told.largest_stable_rate
        advance(1, "other methods, numbers of rows")
        others, samples = comparing(data, parts, scale, key)
        advance(1)
    spreads = _layer_stds(starts[0]) if fixed else stds(init, in_dim=in_dim, width=width, scale=init_scale)
    settings = {
        "rows": rows,
        "inputs": data.shape[1],
        "targets": out_dim,
        "width": starts[0].full_width,
        "init": "weights" if fixed else init,
        "init_scale": init_scale,
        "learning_rate": curves.learning_rate,
        "folds": folds,
        "seeds": len(starts),
        "scale": scale,
        "key": int(key) if isinstance(key, (int, np.integer)) else key,
    }
    return Diagnosis(data, told, curves, others, samples, stein_stop(problem, told, scale), spreads, settings)


def _words(key: Any) -> list[int]:
    from linnet._randomness import words

    return words(key)


def _penalty(X: np.ndarray, Y: np.ndarray) -> float:
    """The ridge penalty per row that leave-one-out chooses on the whole table."""
    ridge = extras.need("sklearn.linear_model", "`diagnose`").RidgeCV
    return float(ridge(alphas=PENALTIES * len(X), fit_intercept=False).fit(X, Y).alpha_) / len(X)


def _layer_stds(weights: Weights) -> tuple[float, float]:
    """The standard deviations of layers given as they are, from their lengths."""
    first = (weights.first**2).sum() / (weights.full_width * weights.in_dim)
    second = (weights.second**2).sum() / (weights.full_width * weights.out_dim)
    return float(np.sqrt(first)), float(np.sqrt(second))
