"""The columns of a table: numbers with names, without gaps; errors name the column."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from linnet._arguments import no_mask, real_array, without_own_types
from linnet._memory import check_fits

if TYPE_CHECKING:
    import pandas as pd

    from linnet.forecasts.tables import DataTable

    Columns: TypeAlias = pd.DataFrame | np.ndarray  # as the user gave them; an array has two axes
    RowLabels: TypeAlias = pd.Index | np.ndarray  # of a data frame: lines of its file where it is named `LINE_INDEX`

COPIES = 4  # of a table, in float64, that are held at once while it is read, checked and scaled
MAX_COLUMNS_NAMED = 6  # columns named in one message; more are counted
MIN_NUMBERED_ROWS = 5  # of a column that is taken for row numbers: fewer may be 0, 1, 2 or 1, 2, 3 by chance
LINE_INDEX = "linnet: line of the file"  # name of a frame's index that holds lines of a text file
TAKE_FEWER = "Take some of its rows (`rows`, --rows N: for NPY and NPZ only those are read), or fewer columns."


def columns_and_names(name: str, value: Any, letter: str) -> tuple[Columns, list[str]]:
    """Return a data frame or a matrix, and the names of its columns: a frame's own, or a letter and a number."""
    if getattr(value, "columns", None) is None and hasattr(value, "to_frame"):
        value = value.to_frame()
    if getattr(value, "columns", None) is not None:
        names = [str(column) for column in value.columns]
        if len(set(names)) < len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise ValueError(
                f"`{name}` must have columns of different names: {list_names(twice)} occur more than once."
            )
        return value, names
    no_mask(name, value)
    if getattr(value, "requires_grad", False) is True:
        raise ValueError(f"`{name}` must not require gradients, which linnet does not pass on: `.detach()` it.")
    try:
        array = np.asarray(without_own_types(value))
    except ValueError:
        raise ValueError(f"`{name}` must be a matrix of numbers, with rows of one length.") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"`{name}` must be a table, (rows, columns): got shape {array.shape}.")
    if array.size == 0:
        raise ValueError(f"`{name}` must have rows and columns: got shape {array.shape}.")
    width = len(str(array.shape[1] - 1))
    return array, [f"{letter}{index:0{width}d}" for index in range(array.shape[1])]


def drop_columns(value: Columns, names: list[str], drop: object) -> tuple[Columns, list[str], list[str]]:
    """Return the columns that `drop` does not name, their names, and a note on those left out."""
    if drop is None:
        return value, names, []
    gone = resolve_columns("drop", drop, names)
    keep = [index for index, name in enumerate(names) if name not in gone]
    if not keep:
        raise ValueError("`drop` must leave columns to predict from: it names all of them.")
    left = value[:, keep] if isinstance(value, np.ndarray) else value.iloc[:, keep]
    return left, [names[index] for index in keep], [f"Left out, as asked: {list_names(gone)}."]


def float_matrix(
    name: str, value: Columns, names: list[str], drop_too: Callable[[list[str]], str], *, target: bool
) -> np.ndarray:
    """Return the columns as a matrix of numbers; text is refused by the names of its columns.

    `name` is the argument that errors name. The error says how to leave text out (`drop_too` writes that option), or,
    in a `target`, which is not to be left out, how to make numbers of it.
    """
    if not isinstance(value, np.ndarray):
        _refuse_text(value, names, drop_too, target=target)
        return value.to_numpy(dtype=np.float64, na_value=np.nan)
    check_fits(COPIES * 8 * value.size, f"working on a table of {' x '.join(map(str, value.shape))}", TAKE_FEWER)
    return real_array(name, value, ndim=2, finite=False)


def _refuse_text(frame: pd.DataFrame, names: list[str], drop_too: Callable[[list[str]], str], *, target: bool) -> None:
    """Refuse columns of text or dates, all at once; a table without rows has no types, and is refused as such."""
    wrong = [n for n, kind in zip(names, frame.dtypes, strict=True) if not _is_numeric_type(kind)]
    if not wrong:
        return
    if len(frame) == 0:
        raise ValueError("a table must have at least 2 rows to learn from: got 0.")
    examples = [f"{n!r} ({_example(frame.iloc[:, names.index(n)])})" for n in wrong]
    if target:
        hold = "hold" if len(wrong) > 1 else "holds"
        raise ValueError(
            f"target {list_names(examples)} {hold} text or dates, and a network predicts numbers: name another "
            "(`target`, --target), or make a column of 0 and 1 for each class (`pandas.get_dummies`)."
        )
    raise ValueError(_text_in_inputs_error(frame, names, wrong, examples, drop_too))


def _example(column: pd.Series) -> str:
    """Return the first entry that does not read as a number, or the first of all, at most 40 characters of it."""
    texts = (entry for entry in column if isinstance(entry, str) and not _reads_as_number(entry))
    entry = next(texts, column.iloc[0])
    return repr(f"{entry[:39]}…" if isinstance(entry, str) and len(entry) > 40 else entry)


def _reads_as_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _text_in_inputs_error(
    frame: pd.DataFrame, names: list[str], wrong: list[str], examples: list[str], drop_too: Callable[[list[str]], str]
) -> str:
    """Write the error about inputs of text (`wrong`, with `examples` of it), with the command that leaves them out.

    Columns that number the rows or are constant go with them: they would be the next to be noticed.
    """
    more = {n: why for i, n in enumerate(names) if n not in wrong and (why := _reason_to_drop(frame.iloc[:, i], n))}
    held = f"columns {list_names(examples)} hold text or dates"
    if len(wrong) == 1:
        held = f"column {wrong[0]!r} holds text or dates ({_example(frame.iloc[:, names.index(wrong[0])])})"
    also = f"; with them {', '.join(f'{n!r} ({why})' for n, why in more.items())}" if more else ""
    them = "it" if len(wrong) == 1 else "them"
    return f"{held}: turn {them} into numbers, or leave {them} out ({drop_too([*wrong, *more])}){also}."


def _reason_to_drop(column: pd.Series, name: str) -> str:
    """Say why a column is useless: it counts the rows, is empty or constant; "" if it may be useful."""
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if numbers_the_rows(values):
        return "it counts the rows"
    if name.startswith("Unnamed: ") and not np.isfinite(values).any():
        return "it is empty"
    return "it is constant" if np.ptp(values) == 0 else ""


def numbers_the_rows(values: np.ndarray) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ...: the number of the row that a spreadsheet or pandas wrote.

    Always false below `MIN_NUMBERED_ROWS` rows.
    """
    return len(values) >= MIN_NUMBERED_ROWS and values[0] in (0.0, 1.0) and bool((np.diff(values) == 1).all())


def handle_missing_values(table: DataTable, index: RowLabels, missing: str) -> tuple[DataTable, RowLabels]:
    """Return a table without gaps, and the labels of its rows: gaps are refused, dropped or filled, by `missing` (of
    `tables.MISSING_CHOICES`, which the caller checks)."""
    both, names = np.concatenate([table.inputs, table.outputs], axis=1), [*table.input_names, *table.output_names]
    infinite, gaps = np.isinf(both), ~np.isfinite(both)
    if not gaps.any():
        return table, index
    if infinite.any() and missing != "drop":
        raise ValueError(
            f"{_describe_first_gap(infinite, 'infinite value', names, index)}: correct it, or leave its row out "
            "(`missing`, --missing drop)."
        )
    columns = names_where(names, gaps.any(axis=0))
    if missing == "error":
        raise ValueError(
            f"{_describe_first_gap(gaps, 'missing value', names, index)}{and_others(columns)}: fill them, or say what "
            "to do (`missing`, --missing drop or mean)."
        )
    if empty := names_where(names, gaps.all(axis=0)):
        raise ValueError(f"column {empty[0]!r} has no values at all: leave it out (`drop`, --drop).")
    if missing == "drop":
        whole, kinds = ~gaps.any(axis=1), "missing or infinite" if infinite.any() else "missing"
        note = f"{(~whole).sum()} of {len(whole)} rows have {kinds} values ({list_names(columns)}) and are left out."
        kept = replace(table, inputs=table.inputs[whole], outputs=table.outputs[whole], notes=[*table.notes, note])
        return kept, index[whole]
    inputs = len(table.input_names)
    if gaps[:, inputs:].any():
        target = names_where(names[inputs:], gaps[:, inputs:].any(axis=0))[0]
        raise ValueError(f"target {target!r} has missing values: they cannot be filled; use 'drop'.")
    filled = np.where(gaps, np.nanmean(np.where(gaps, np.nan, both), axis=0), both)[:, :inputs]
    number, are = pluralize(int(gaps.sum()), "missing value"), "is" if gaps.sum() == 1 else "are"
    note = f"{number} ({list_names(columns)}) {are} filled with the means of their columns."
    return replace(table, inputs=filled, notes=[*table.notes, note]), index


def _describe_first_gap(which: np.ndarray, noun: str, names: list[str], index: RowLabels) -> str:
    """Name the first column in which `which` is true, how many such entries it has, and the row of the first."""
    column = int(np.argmax(which.any(axis=0)))
    row = int(np.argmax(which[:, column]))
    number = pluralize(int(which[:, column].sum()), noun)
    return f"column {names[column]!r} has {number}, the first in {row_label(index, row)}"


def row_label(index: RowLabels, row: int) -> str:
    """Return "line" and the line of a row that was read from a text file, or "row" and its label in a data frame."""
    return f"{'line' if getattr(index, 'name', None) == LINE_INDEX else 'row'} {index[row]}"


def resolve_columns(what: str, value: object, names: list[str]) -> list[str]:
    """Return the names of the columns that a user gives for `what`: names or numbers, one, several, or with commas.

    A column whose name is a number, or has a comma, is found by that name before anything else is tried. Numbers are
    places in `names`, from 0; negative ones count from the end.
    """
    if not isinstance(value, (str, int, np.integer, Iterable)):
        raise ValueError(f"`{what}` must name columns, by names or numbers: got {type(value).__name__}.")
    parts = [value] if isinstance(value, (str, int, np.integer)) else list(value)
    if len(parts) == 1 and isinstance(parts[0], str) and parts[0] not in names:
        parts = [part.strip() for part in parts[0].split(",") if part.strip()]
    columns = []
    for part in parts:
        if str(part) in names:
            columns.append(str(part))
        elif is_number(part) and float(part).is_integer() and -len(names) <= int(part) < len(names):
            columns.append(names[int(part)])
        else:
            raise ValueError(f"`{what}` must name columns: there is no {str(part)!r} among {list_names(names)}.")
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"`{what}` must name columns, each once: got {value!r}.")
    return columns


def _is_numeric_type(kind: object) -> bool:
    """Whether a column's type is a real number; text, dates, categories and complex numbers are not."""
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    return bool(is_bool_dtype(kind) or (is_numeric_dtype(kind) and not is_complex_dtype(kind)))


def is_number(value: Any) -> bool:
    """Whether a value is a number, or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def names_where(names: list[str], which: np.ndarray) -> list[str]:
    """Return the names at which `which` is true."""
    return [name for name, wanted in zip(names, which, strict=True) if wanted]


def and_others(names: list[str]) -> str:
    """Say how many columns there are besides the first, and name some."""
    return f" (and {len(names) - 1} more: {list_names(names[1:])})" if len(names) > 1 else ""


def drop_option(table_names: list[str], kept: list[str], names: list[str]) -> str:
    """Return the option, in Python and on the command line, that leaves out `names` next to the columns of the table
    that are not `kept` already: it takes the place of the one that was given. Numbers stand for names with commas."""
    columns = [*(name for name in table_names if name not in kept), *names]
    if any("," in name for name in columns):
        columns = [str(table_names.index(name)) for name in columns]
    return f"`drop`, --drop {shlex.quote(','.join(columns))}"


def pluralize(number: int, noun: str) -> str:
    """Return a number and its noun: "1 target", "2 targets"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def list_names(names: list[str]) -> str:
    """List the first few names, and say how many more there are."""
    shown = ", ".join(names[:MAX_COLUMNS_NAMED])
    return shown if len(names) <= MAX_COLUMNS_NAMED else f"{shown} and {len(names) - MAX_COLUMNS_NAMED} more"
