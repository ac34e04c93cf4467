"""A diagnosis as a dataset: what `linnet diagnose` tells of a table, with the numbers behind each picture."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.forecasts._diagnosis_sentences import rate_table, sentences
from linnet.forecasts._regime_map import count_active_modes, critical_thresholds
from linnet.forecasts._rows import Rows
from linnet.forecasts.comparison import Comparison, compare
from linnet.forecasts.cross_validation import MAX_STEPS
from linnet.forecasts.diagnosing import diagnose_table
from linnet.forecasts.diagnosis import training_shares
from linnet.forecasts.folds import Fold
from linnet.forecasts.settings import Settings
from linnet.forecasts.tables import DataTable
from linnet_papers.explorer.cache import Cache

if TYPE_CHECKING:
    import xarray as xr

MAX_INPUTS, MAX_TARGETS = 100, 12  # of a table here: a diagnosis then takes seconds
MAX_WORK = 4e8  # weights times runs times steps, about ten seconds of one core: training stops there
MIN_STEPS = 250  # that training may take however large the table is
MAX_COMPARISONS = 16  # tables whose comparison with other methods is kept
# Of the map: widths, and factors of the scale of the start.
WIDTHS, SCALES = np.geomspace(1, 1e12, 73), np.geomspace(1e-3, 1e1, 41)

_COMPARISONS: Cache[Comparison] = Cache(MAX_COMPARISONS)


def diagnosis_dataset(table: DataTable, settings: Settings) -> xr.Dataset:
    """Diagnose a table.

    **Returns** the dataset of `Diagnosis.to_dataset`, and beside it `critical_threshold` (mode): below it the mode is
    learned actively; `active_modes` (map_scale, map_width): how many are at other widths and scales of the start;
    `input_variance` (direction). Attributes: `findings`, the sentences of the command line, one a line; `rates`, its
    table of learning rates, one row a line with tabs between cells; `stop`, `stop_low` and `stop_high`, the steps
    within one standard error; `stein_step` where there is one.
    """
    diagnosis = diagnose_table(table, settings, comparing=_cached_comparison)
    low, high = diagnosis.curves.steps_within_one_error
    more: dict[str, Any] = {
        "critical_threshold": ("mode", critical_thresholds(diagnosis), {"long_name": "the mode is active below it"}),
        "active_modes": (("map_scale", "map_width"), count_active_modes(diagnosis, WIDTHS, SCALES)),
        "input_variance": ("direction", diagnosis.forecast.problem.factor.scales**2),
        "cv_training_share": (("cv_step", "fold", "seed"), training_shares(diagnosis)),
    }
    rates = "\n".join("\t".join(row) for row in rate_table(diagnosis))
    attributes = {"findings": "\n".join(sentences(diagnosis)), "rates": rates, "stop_low": low, "stop_high": high}
    if diagnosis.stein is not None:
        attributes["stein_step"] = diagnosis.stein.step
    whole = diagnosis.to_dataset().assign(more)
    return whole.assign_coords(map_width=WIDTHS, map_scale=SCALES).assign_attrs(attributes)


def bounded_settings(table: DataTable, *, steps: int, folds: int, seeds: int, **choices: Any) -> Settings:
    """Return the settings of a diagnosis, bounded in work; `steps` is 0 for as many as the held-out error needs.

    **Arguments:** `choices` are `width`, `init`, `init_scale` and `preprocess` of `ln.diagnose`.
    """
    _, inputs, targets = table.shape
    if inputs > MAX_INPUTS or targets > MAX_TARGETS:
        raise ValueError(
            f"the table has {inputs} inputs and {targets} targets: at most {MAX_INPUTS} and {MAX_TARGETS} here. "
            "Leave columns out, or use `linnet diagnose`."
        )
    longest = max_steps(inputs, targets, folds * seeds)
    if steps > longest:
        raise ValueError(f"`steps` must be at most {longest} for a table of this size here: got {steps}.")
    return Settings(steps=steps or None, folds=folds, seeds=seeds, max_steps=longest, **choices)


def _cached_comparison(rows: Rows, folds: list[Fold], settings: Settings) -> Comparison:
    """Compare other methods in the same folds, once for a table: a slider of the network does not change them.

    The key of the cache is all that `compare` reads: the rows, the folds, and of the settings `preprocess` and `key`.
    """
    digest = hashlib.blake2b(rows.inputs.tobytes() + rows.outputs.tobytes(), digest_size=16).digest()
    key = (digest, rows.inputs.shape, len(folds), settings.preprocess, settings.key)
    if (comparison := _COMPARISONS.get(key)) is None:
        comparison = compare(rows, folds, settings)
        _COMPARISONS.put(key, comparison)
    return comparison


def max_steps(inputs: int, targets: int, runs: int) -> int:
    """Return how many steps this number of runs may train in the time there is, at least `MIN_STEPS`."""
    return int(np.clip(MAX_WORK / ((inputs + targets) ** 2 * runs), MIN_STEPS, MAX_STEPS))
