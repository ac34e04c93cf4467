"""The columns of a table: numbers with names, gaps, what is constant or equal; errors name the column."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from linnet._arguments import no_mask
from linnet._memory import check_fits

MAX_COLUMNS_NAMED = 6  # columns named in one message; more are counted
OUTLIER_FACTOR = 1e4  # times the median distance from the median
MAX_CLASSES = 20
TAKE_FEWER = "Take some of its rows (`rows`, --rows N: for NPY and NPZ only those are read), or fewer columns."


def named_columns(name: str, value: Any, letter: str) -> tuple[Any, list[str]]:
    """A data frame or a matrix, and the names of its columns: a frame's own, or a letter and a number."""
    if getattr(value, "columns", None) is None and hasattr(value, "to_frame"):
        value = value.to_frame()
    if getattr(value, "columns", None) is not None:
        names = [str(column) for column in value.columns]
        if len(set(names)) < len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise ValueError(
                f"`{name}` must have columns of different names: {first_names(twice)} occur more than once."
            )
        return value, names
    no_mask(name, value)
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"`{name}` must be a matrix of numbers, with rows of one length.") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"`{name}` must be a table, (rows, columns): got shape {array.shape}.")
    width = len(str(array.shape[1] - 1))
    return array, [f"{letter}{index:0{width}d}" for index in range(array.shape[1])]


def without(value: Any, names: list[str], drop: Any) -> tuple[Any, list[str], list[str]]:
    """The columns that are left when those that `drop` names are left out, their names, and a note of it."""
    if drop is None:
        return value, names, []
    gone = chosen("drop", drop, names)
    keep = [index for index, name in enumerate(names) if name not in gone]
    if not keep:
        raise ValueError("`drop` must leave columns to predict from: it names all of them.")
    left = value.iloc[:, keep] if hasattr(value, "iloc") else value[:, keep]
    return left, [names[index] for index in keep], [f"Left out, as asked: {first_names(gone)}."]


def numbers(name: str, value: Any, names: list[str]) -> np.ndarray:
    """The columns as a matrix of numbers; text is refused by name, with the command that leaves it out."""
    if hasattr(value, "iloc"):
        refuse_text(value, names, f"target{'s' * (len(names) > 1)}" if name == "Y" else "")
        return value.to_numpy(dtype=np.float64, na_value=np.nan)
    array = value
    check_fits(32 * array.size, f"working on a table of {' x '.join(map(str, array.shape))}", TAKE_FEWER)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"`{name}` must hold numbers: it holds text or objects.") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"`{name}` must hold real numbers: got {array.dtype}.")
    if array.size == 0:
        raise ValueError(f"`{name}` must have rows and columns: got shape {array.shape}.")
    return array.astype(np.float64)


def refuse_text(frame: Any, names: list[str], target: str = "") -> None:
    """Refuses columns of text or dates, all at once, with the one command that leaves them out.

    Columns that count the rows or are constant go with them: they would be the next to be noticed.
    """
    wrong = [n for n, kind in zip(names, frame.dtypes, strict=True) if not _is_numeric_type(kind)]
    if not wrong:
        return
    if len(frame) == 0:
        raise ValueError("a table must have at least 2 rows to learn from: got 0.")
    examples = [f"{n!r} ({frame.iloc[0, names.index(n)]!r})" for n in wrong]
    several = len(wrong) > 1
    if target:
        raise ValueError(
            f"target {first_names(examples)} {'hold' if several else 'holds'} text or dates, and a network predicts "
            "numbers: name another (`target`, --target), or make a column of 0 and 1 for each class "
            "(`pandas.get_dummies`)."
        )
    more = {n: why for i, n in enumerate(names) if n not in wrong and (why := _why_useless(frame.iloc[:, i], n))}
    leave = [*wrong, *more]
    asked = ",".join(leave if not any("," in n for n in leave) else [str(names.index(n)) for n in leave])
    first = f"columns {first_names(examples)} hold" if several else f"column {wrong[0]!r} holds"
    shown = "" if several else f" ({frame.iloc[0, names.index(wrong[0])]!r})"
    also = f"; with them {', '.join(f'{n!r} ({why})' for n, why in more.items())}" if more else ""
    raise ValueError(
        f"{first} text or dates{shown}: turn {'them' if several else 'it'} into numbers, or leave "
        f"{'them' if several else 'it'} out (`drop`, --drop {shlex.quote(asked)}){also}."
    )


def _why_useless(column: Any, name: str) -> str:
    """Why a column of numbers says nothing: it counts the rows or is constant; empty where it may say something."""
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if counts_rows(values):
        return "it counts the rows"
    if name.startswith("Unnamed: ") and not np.isfinite(values).any():
        return "it is empty"
    return "it is constant" if np.ptp(values) == 0 else ""


def counts_rows(values: np.ndarray) -> bool:
    """Whether a column is 0, 1, 2, ... or 1, 2, 3, ...: the number of the row that a spreadsheet or pandas wrote."""
    return len(values) > 4 and values[0] in (0.0, 1.0) and bool((np.diff(values) == 1).all())


def fill_gaps(
    inputs: np.ndarray,
    outputs: np.ndarray,
    input_names: list[str],
    output_names: list[str],
    missing: str,
    notes: list[str],
    place_of: Callable[[int], str],
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and outputs without gaps: refused, dropped or filled as `missing` says, with a note of what was done.

    `place_of` names a row: by its number, or by the line of the file it comes from.
    """
    both, names = np.concatenate([inputs, outputs], axis=1), [*input_names, *output_names]
    infinite = np.isinf(both)
    if infinite.any() and missing != "drop":
        column = int(np.argmax(infinite.any(axis=0)))
        raise ValueError(
            f"column {names[column]!r} has {count_of(int(infinite[:, column].sum()), 'infinite value')}, the first in "
            f"{place_of(int(np.argmax(infinite[:, column])))}: correct it, or leave its row out (`missing`, --missing "
            "drop)."
        )
    gaps = ~np.isfinite(both)
    if not gaps.any():
        return inputs, outputs
    columns = [names[index] for index in np.flatnonzero(gaps.any(axis=0))]
    first = names.index(columns[0])
    if missing == "refuse":
        raise ValueError(
            f"column {columns[0]!r} has {count_of(int(gaps[:, first].sum()), 'missing value')}, the first in "
            f"{place_of(int(np.argmax(gaps[:, first])))}{_and_others(columns)}: fill them, or say what to do "
            f"(`missing`, --missing drop or mean)."
        )
    if missing == "drop":
        whole, kinds = ~gaps.any(axis=1), "missing or infinite" if infinite.any() else "missing"
        notes.append(
            f"{int((~whole).sum())} of {len(whole)} rows have {kinds} values ({first_names(columns)}) and are left out."
        )
        return inputs[whole], outputs[whole]
    unknown = gaps[:, len(input_names) :].any(axis=0)
    if unknown.any():
        raise ValueError(
            f"target {output_names[int(np.argmax(unknown))]!r} has missing values: they cannot be filled; use 'drop'."
        )
    empty = gaps.all(axis=0)
    if empty.any():
        raise ValueError(f"column {names[int(np.argmax(empty))]!r} has no values at all: leave it out (`drop`).")
    means = np.nanmean(np.where(gaps, np.nan, both), axis=0)
    number, are = int(gaps.sum()), "is" if gaps.sum() == 1 else "are"
    notes.append(
        f"{count_of(number, 'missing value')} ({first_names(columns)}) {are} filled with the means of their columns."
    )
    return np.where(gaps, means, both)[:, : len(input_names)], outputs


def look_over(
    inputs: np.ndarray,
    outputs: np.ndarray,
    input_names: list[str],
    output_names: list[str],
    notes: list[str],
    place_of: Callable[[int], str],
) -> None:
    """Notes on columns that deserve a second look; refuses targets that leave nothing to learn."""
    constant = np.ptp(inputs, axis=0) == 0
    still = np.ptp(outputs, axis=0) == 0
    if still.all():
        raise ValueError(
            f"`Y`: target {output_names[0]!r} is constant{_and_others(output_names)}: there is nothing to learn."
        )
    if constant.all():
        raise ValueError("`X`: all input columns are constant: there is nothing to learn from.")
    if still.any():
        notes.append(
            f"Constant targets, which the intercept alone fits: {first_names(_names_where(output_names, still))}."
        )
    if constant.any():
        notes.append(
            f"Constant inputs, which say nothing beside the intercept and are kept at zero: "
            f"{first_names(_names_where(input_names, constant))}."
        )
    seen: dict[bytes, str] = {}
    equal = []
    for index in np.flatnonzero(~constant):
        column = np.ascontiguousarray(inputs[:, index]).tobytes()
        if column in seen:
            equal.append(f"{input_names[index]} = {seen[column]}")
        seen.setdefault(column, input_names[index])
    if equal:
        notes.append(f"Equal inputs, between which the solution is split evenly: {first_names(equal)}.")
    counting = [n for i, n in enumerate(input_names) if counts_rows(inputs[:, i])]
    if counting:
        notes.append(
            f"{first_names(counting)} counts the rows: leave it out (`drop`, --drop {shlex.quote(','.join(counting))})."
        )
    notes += _outlier_note(inputs, input_names, place_of) + _outlier_note(outputs, output_names, place_of)
    notes += _copy_note(inputs, outputs, input_names, output_names)
    notes += _class_note(outputs, output_names)
    if outputs.shape[1] > outputs.shape[0]:
        notes.append(
            f"More targets ({outputs.shape[1]}) than rows ({outputs.shape[0]}): at most {outputs.shape[0]} "
            f"modes can be seen."
        )


def _outlier_note(values: np.ndarray, names: list[str], place_of: Callable[[int], str]) -> list[str]:
    """One sentence for the first column with a value that is out of all proportion to the others."""
    middle = np.median(values, axis=0)
    away = np.abs(values - middle)
    half, three = np.quantile(away, [0.5, 0.75], axis=0)
    spread = np.where(half > 0, half, np.where(three > 0, three, np.inf))
    far = away.max(axis=0) / spread
    if not (far > OUTLIER_FACTOR).any():
        return []
    column = int(np.argmax(far))
    row = int(np.argmax(away[:, column]))
    return [
        f"Column {names[column]!r} holds {values[row, column]:.3g} in {place_of(row)}, {far[column]:.2g} times as far "
        "from the median as half of its values: scaled by it, the others are all alike. Correct it, or leave its row "
        "out."
    ]


def _copy_note(inputs: np.ndarray, outputs: np.ndarray, input_names: list[str], output_names: list[str]) -> list[str]:
    """A sentence for inputs that are the target itself, up to their units."""
    rows = len(inputs)
    if rows < 4:
        return []

    def standardised(values: np.ndarray) -> np.ndarray:
        largest = np.maximum(np.abs(values).max(axis=0), np.finfo(float).tiny)
        centred = values / largest - (values / largest).mean(axis=0)
        length = np.linalg.norm(centred, axis=0)
        return centred / np.where(length > 0, length, np.inf)

    alike = np.abs(standardised(inputs).T @ standardised(outputs)) > 1 - 1e-12
    pairs = [f"{input_names[i]} = {output_names[j]}" for i, j in zip(*np.nonzero(alike), strict=True)]
    if not pairs:
        return []
    leave = ",".join(input_names[i] for i in np.flatnonzero(alike.any(axis=1)))
    return [
        f"Inputs that are the target itself, up to its units: {first_names(pairs)}. The error says nothing then; leave "
        f"them out (`drop`, --drop {shlex.quote(leave)})."
    ]


def _class_note(outputs: np.ndarray, names: list[str]) -> list[str]:
    """A sentence for targets that look like numbers of classes."""
    for index, name in enumerate(names):
        values = np.unique(outputs[:, index])
        few = 3 <= len(values) <= MAX_CLASSES and 10 * len(values) <= len(outputs)
        if few and bool((values == np.round(values)).all()):
            return [
                f"Target {name!r} takes {len(values)} whole values ({first_names([f'{v:g}' for v in values])}): if "
                "they are classes, their order and distances mean nothing; predict a column of 0 and 1 for each "
                "(`pandas.get_dummies`)."
            ]
    return []


def chosen(what: str, value: object, names: list[str]) -> list[str]:
    """Columns as users name them: names or numbers, one, several, or separated by commas."""
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
            raise ValueError(f"`{what}` must name columns: there is no {str(part)!r} among {first_names(names)}.")
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"`{what}` must name columns, each once: got {value!r}.")
    return columns


def _is_numeric_type(kind: object) -> bool:
    """Whether a column's type is a real number; text, dates, categories and complex numbers are not."""
    from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

    return bool(is_bool_dtype(kind) or (is_numeric_dtype(kind) and not is_complex_dtype(kind)))


def is_number(value: Any) -> bool:
    """Whether it is one, or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _names_where(names: list[str], which: np.ndarray) -> list[str]:
    """Return the names that `which` chooses."""
    return [name for name, wanted in zip(names, which, strict=True) if wanted]


def _and_others(names: list[str]) -> str:
    """Say how many columns there are besides the first, and name some."""
    return f" (and {len(names) - 1} more: {first_names(names[1:])})" if len(names) > 1 else ""


def count_of(number: int, noun: str) -> str:
    """A number and its noun: "1 target", "2 targets"."""
    return f"{number} {noun}{'s' * (number != 1)}"


def first_names(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:MAX_COLUMNS_NAMED])
    return shown if len(names) <= MAX_COLUMNS_NAMED else f"{shown} and {len(names) - MAX_COLUMNS_NAMED} more"
