"""Notes on columns of a table that deserve a second look."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from linnet.forecasts._columns import list_names, names_where, numbers_the_rows, row_label

if TYPE_CHECKING:
    from linnet.forecasts._columns import RowLabels
    from linnet.forecasts.tables import DataTable

OUTLIER_FACTOR = 1e4  # times the median distance from the median
MIN_REPEATED_SHARE = 0.05  # of all rows that are copies
MIN_ORDER, MIN_ORDERED_ROWS = 0.5, 30  # correlation of a target with that of the row before
MAX_CLASSES = 20  # whole values that a target takes: more are counts, not classes


def table_notes(table: DataTable, index: RowLabels, drop_too: Callable[[list[str]], str]) -> list[str]:
    """Write sentences on columns that are constant, equal, copies of the target, counts of the rows or classes, and on
    outliers; `index` labels the rows, `drop_too` writes the option that leaves columns out."""
    inputs, outputs, input_names, output_names = table.inputs, table.outputs, table.input_names, table.output_names
    constant, constant_targets = np.ptp(inputs, axis=0) == 0, np.ptp(outputs, axis=0) == 0
    first_equal: dict[bytes, str] = {}
    equal = []
    for i in np.flatnonzero(~constant):
        first = first_equal.setdefault(inputs[:, i].tobytes(), input_names[i])
        if first != input_names[i]:
            equal.append(f"{input_names[i]} = {first}")
    counting = [name for i, name in enumerate(input_names) if numbers_the_rows(inputs[:, i])]
    rows, targets = outputs.shape
    lists = {
        "Constant targets, which the intercept alone fits": names_where(output_names, constant_targets),
        "Constant inputs, which say nothing next to the intercept and are kept at zero": names_where(
            input_names, constant
        ),
        "Equal inputs, between which the solution is split evenly": equal,
    }
    notes = [
        *(f"{what}: {list_names(names)}." for what, names in lists.items() if names),
        f"{list_names(counting)} counts the rows: leave it out ({drop_too(counting)})." if counting else "",
        _outlier_note(inputs, input_names, index),
        _outlier_note(outputs, output_names, index),
        _copy_note(table, drop_too),
        _class_note(outputs, output_names),
        _repeated_rows_note(inputs, outputs),
        _order_note(outputs, output_names),
        f"More targets ({targets}) than rows ({rows}): at most {rows} modes can be seen." if targets > rows else "",
    ]
    return [note for note in notes if note]


def _outlier_note(values: np.ndarray, names: list[str], index: RowLabels) -> str:
    """Write a sentence on the column with the value that is most out of proportion to the others; "" without one."""
    middle = np.median(values, axis=0)
    away = np.abs(values - middle)
    half, three_quarters = np.quantile(away, [0.5, 0.75], axis=0)  # of the values are nearer than that
    spread = np.where(half > 0, half, np.where(three_quarters > 0, three_quarters, np.inf))
    far = away.max(axis=0) / spread
    if not (far > OUTLIER_FACTOR).any():
        return ""
    column = int(np.argmax(far))
    row = int(np.argmax(away[:, column]))
    return (
        f"Column {names[column]!r} holds {values[row, column]:.3g} in {row_label(index, row)}, {far[column]:.2g} times "
        "as far from the median as half of its values: scaled by it, the others are all alike. Correct it, or leave "
        "its row out."
    )


def _copy_note(table: DataTable, drop_too: Callable[[list[str]], str]) -> str:
    """Write a sentence on inputs that are the target itself, up to their units; "" without any."""
    if len(table.inputs) < 4:
        return ""

    def standardized(values: np.ndarray) -> np.ndarray:
        """Return columns with mean zero and norm one; constant ones are zero."""
        largest = np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
        centered = values / largest - (values / largest).mean(axis=0)
        length = np.linalg.norm(centered, axis=0)
        return centered / np.where(length > 0, length, np.inf)

    alike = np.abs(standardized(table.inputs).T @ standardized(table.outputs)) > 1 - 1e-12
    names = table.input_names
    pairs = [f"{names[i]} = {table.output_names[j]}" for i, j in zip(*np.nonzero(alike), strict=True)]
    if not pairs:
        return ""
    return (
        f"Inputs that are the target itself, up to its units: {list_names(pairs)}. The error says nothing then; leave "
        f"them out ({drop_too(names_where(names, alike.any(axis=1)))})."
    )


def _repeated_rows_note(inputs: np.ndarray, outputs: np.ndarray) -> str:
    """Write a sentence on rows that occur more than once; "" without many."""
    whole = np.concatenate([inputs, outputs], axis=1)
    _, counts = np.unique(whole, axis=0, return_counts=True)
    repeated = len(whole) - len(counts)
    if repeated < MIN_REPEATED_SHARE * len(whole):
        return ""
    return (
        f"{repeated} of {len(whole)} rows are copies of others: held-out rows are then among the training rows, and "
        "their error says little about new ones. Keep one of each (`DataFrame.drop_duplicates`), unless they were "
        "measured anew."
    )


def _order_note(outputs: np.ndarray, names: list[str]) -> str:
    """Write a sentence on the target that is most alike from row to row; "" without one."""
    if len(outputs) < MIN_ORDERED_ROWS:
        return ""
    centered = outputs - outputs.mean(axis=0)
    scale = np.abs(centered).max(axis=0)
    unit = centered / np.where(scale > 0, scale, 1.0)
    power = (unit**2).sum(axis=0)
    alike = (unit[1:] * unit[:-1]).sum(axis=0) / np.where(power > 0, power, 1.0)
    column = int(np.argmax(alike))
    if alike[column] < max(MIN_ORDER, 5 / np.sqrt(len(outputs))):
        return ""
    return (
        f"Target {names[column]!r} is alike from row to row (correlation {alike[column]:.2f}): if the rows follow time "
        "or belong together, errors on held-out rows drawn at random are lower than those on later rows. Hold out the "
        "last ones."
    )


def _class_note(outputs: np.ndarray, names: list[str]) -> str:
    """Write a sentence on the first target that looks like numbers of classes; "" without one."""
    for index, name in enumerate(names):
        values = np.unique(outputs[:, index])
        few = 3 <= len(values) <= MAX_CLASSES and 10 * len(values) <= len(outputs)
        if few and bool((values == np.round(values)).all()):
            return (
                f"Target {name!r} takes {len(values)} whole values ({list_names([f'{v:g}' for v in values])}): if "
                "they are classes, their order and distances mean nothing; predict a column of 0 and 1 for each "
                "(`pandas.get_dummies`)."
            )
    return ""
