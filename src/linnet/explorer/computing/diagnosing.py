"""A diagnosis as a dataset: what `linnet diagnose` tells of a table, with the numbers behind each picture."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.forecasts._findings import active_modes, critical_thresholds
from linnet.forecasts.diagnosis import Comparison, Diagnosis, compare, diagnose_table
from linnet.forecasts.folds import MAX_STEPS, Fold
from linnet.forecasts.settings import Settings
from linnet.forecasts.tables import DataTable

if TYPE_CHECKING:
    import xarray as xr

MOST_INPUTS, MOST_TARGETS = 100, 12
WORK = 4e8  # weights times runs times steps, about ten seconds of one core: training stops there
KEPT = 16  # tables whose comparison with other methods is kept
WIDTHS, SCALES = np.geomspace(1, 1e12, 73), np.geomspace(1e-3, 1e1, 41)

_COMPARED: dict[tuple[object, ...], Comparison] = {}


def diagnosed(
    table: DataTable,
    *,
    width: int = 512,
    init: str = "pytorch",
    init_scale: float = 1.0,
    scale: str = "std",
    folds: int = 5,
    seeds: int = 1,
    steps: int = 0,
) -> xr.Dataset:
    """The diagnosis of a table, bounded in work.

    **Arguments:** `table` of `forecasts.tables`; `width`, `init`, `init_scale`, `scale`, `folds` and `seeds` as for
    `ln.diagnose`; `steps` to train, 0 for as many as the held-out error needs.

    **Returns** the dataset of `Diagnosis.to_dataset`, and beside it `critical_threshold` (mode): below it the mode is
    learned actively; `active_modes` (map_scale, map_width): how many are at other widths and scales of the start;
    `input_variance` (direction). Attributes: `findings`, the sentences of the command line, one a line; `stop`,
    `stop_low` and `stop_high`, the steps within one standard error; `stein_step` where there is one.
    """
    found = _found(table, width, init, init_scale, scale, folds, seeds, steps)
    return _dataset(found)


def _found(
    table: DataTable, width: int, init: str, init_scale: float, scale: str, folds: int, seeds: int, steps: int
) -> Diagnosis:
    _, inputs, targets = table.shape
    if inputs > MOST_INPUTS or targets > MOST_TARGETS:
        raise ValueError(
            f"the table has {inputs} inputs and {targets} targets: at most {MOST_INPUTS} and {MOST_TARGETS} here. "
            "Leave columns out, or use `linnet diagnose`."
        )
    longest = most_steps(inputs, targets, folds * seeds)
    if steps > longest:
        raise ValueError(f"`steps` must be at most {longest} for a table of this size here: got {steps}.")
    settings = Settings(
        width=width,
        init=init,
        init_scale=init_scale,
        scale=scale,
        folds=folds,
        seeds=seeds,
        steps=steps or None,
        longest=longest,
    )
    return diagnose_table(table, settings, comparing=_compared_once)


def _compared_once(table: DataTable, parts: list[Fold], settings: Settings) -> Comparison:
    """Other methods in the same folds, computed once for a table: a slider of the network does not change them."""
    digest = hashlib.blake2b(table.inputs.tobytes() + table.outputs.tobytes(), digest_size=16).digest()
    asked = (digest, table.shape, len(parts), settings.scale, settings.key)
    if (comparison := _COMPARED.get(asked)) is None:
        comparison = _COMPARED[asked] = compare(table, parts, settings)
        while len(_COMPARED) > KEPT:
            _COMPARED.pop(next(iter(_COMPARED)), None)
    return comparison


def most_steps(inputs: int, targets: int, runs: int) -> int:
    """How many steps so many runs may train in the time there is, at least 250."""
    return int(np.clip(WORK / ((inputs + targets) ** 2 * runs), 250, MAX_STEPS))


def _dataset(found: Diagnosis) -> xr.Dataset:
    low, high = found.curves.range
    more: dict[str, Any] = {
        "critical_threshold": ("mode", critical_thresholds(found), {"long_name": "the mode is active below it"}),
        "active_modes": (("map_scale", "map_width"), active_modes(found, WIDTHS, SCALES)),
        "input_variance": ("direction", found.forecast.problem.factor.scales**2),
        # the training loss is half a sum of squares over targets: a share of the variance is twice that, over it
        "cv_training_share": (("cv_step", "fold", "seed"), _unit(found) * found.curves.training),
    }
    told = {"findings": "\n".join(found.findings()), "stop_low": low, "stop_high": high}
    if found.stein is not None:
        told["stein_step"] = found.stein.step
    whole = found.to_dataset().assign(more)
    return whole.assign_coords(map_width=WIDTHS, map_scale=SCALES).assign_attrs(told)


def _unit(found: Diagnosis) -> float:
    outputs = found.forecast.problem.outputs
    assert outputs is not None
    return 2 / float(outputs.var(axis=0).sum())
