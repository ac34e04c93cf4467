"""The columns of a table: numbers with names, gaps, what is constant or equal; what is wrong is told by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linnet._arguments import no_mask
from linnet._memory import check_fits

NAMED = 6  # columns named in one message; more are counted
SMALL = "Take some of its rows (`rows`, --rows N: for NPY and NPZ only those are read), or fewer columns."


def numbers(name: str, value: Any, letter: str) -> tuple[np.ndarray, list[str]]:
    """A matrix of numbers and the names of its columns; text is refused by name."""
    columns = getattr(value, "columns", None)
    if columns is None and hasattr(value, "to_frame"):
        value = value.to_frame()
        columns = value.columns
    if columns is not None:
        names = [str(column) for column in columns]
        if len(set(names)) < len(names):
            twice = sorted({n for n in names if names.count(n) > 1})
            raise ValueError(f"`{name}` must have columns of different names: {some(twice)} occur more than once.")
        wrong = [n for n, kind in zip(names, value.dtypes, strict=True) if not _numeric(kind)]
        if wrong:
            example = value.iloc[0, names.index(wrong[0])]
            raise ValueError(
                f"column {wrong[0]!r} holds text or dates ({example!r}){_others(wrong)}: turn it into numbers, or "
                f"leave it out (`drop`, --drop {','.join(wrong)})."
            )
        return value.to_numpy(dtype=np.float64, na_value=np.nan), names
    no_mask(name, value)
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(f"`{name}` must be a matrix of numbers, with rows of one length.") from None
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"`{name}` must be a table, (rows, columns): got shape {array.shape}.")
    check_fits(32 * array.size, f"working on a table of {' x '.join(map(str, array.shape))}", SMALL)
    if array.dtype.kind == "O":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"`{name}` must hold numbers: it holds text or objects.") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"`{name}` must hold real numbers: got {array.dtype}.")
    if array.size == 0:
        raise ValueError(f"`{name}` must have rows and columns: got shape {array.shape}.")
    width = len(str(array.shape[1] - 1))
    return array.astype(np.float64), [f"{letter}{index:0{width}d}" for index in range(array.shape[1])]


def filled(
    inputs: np.ndarray,
    outputs: np.ndarray,
    input_names: list[str],
    output_names: list[str],
    missing: str,
    notes: list[str],
) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and outputs without gaps: refused, dropped or filled as `missing` says, with a note of what was done."""
    both, names = np.concatenate([inputs, outputs], axis=1), [*input_names, *output_names]
    gaps = ~np.isfinite(both)
    if not gaps.any():
        return inputs, outputs
    columns = [names[index] for index in np.flatnonzero(gaps.any(axis=0))]
    first = names.index(columns[0])
    if missing == "refuse":
        raise ValueError(
            f"column {columns[0]!r} has {int(gaps[:, first].sum())} missing values, the first in row "
            f"{int(np.argmax(gaps[:, first]))}{_others(columns)}: fill them, or say what to do (`missing`, "
            f"--missing drop or mean)."
        )
    if missing == "drop":
        whole = ~gaps.any(axis=1)
        notes.append(
            f"{int((~whole).sum())} of {len(whole)} rows have missing values ({some(columns)}) and are left out."
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
    notes.append(f"{int(gaps.sum())} missing values ({some(columns)}) are filled with the means of their columns.")
    return np.where(gaps, means, both)[:, : len(input_names)], outputs


def look_over(
    inputs: np.ndarray, outputs: np.ndarray, input_names: list[str], output_names: list[str], notes: list[str]
) -> None:
    """Notes on constant and equal columns; refuses targets that leave nothing to learn."""
    constant = np.ptp(inputs, axis=0) == 0
    still = np.ptp(outputs, axis=0) == 0
    if still.all():
        raise ValueError(
            f"`Y`: target {output_names[0]!r} is constant{_others(output_names)}: there is nothing to learn."
        )
    if constant.all():
        raise ValueError("`X`: all input columns are constant: there is nothing to learn from.")
    if still.any():
        notes.append(f"Constant targets, which the intercept alone fits: {some(_named(output_names, still))}.")
    if constant.any():
        notes.append(
            f"Constant inputs, which say nothing beside the intercept and are kept at zero: "
            f"{some(_named(input_names, constant))}."
        )
    seen: dict[bytes, str] = {}
    equal = []
    for index in np.flatnonzero(~constant):
        column = np.ascontiguousarray(inputs[:, index]).tobytes()
        if column in seen:
            equal.append(f"{input_names[index]} = {seen[column]}")
        seen.setdefault(column, input_names[index])
    if equal:
        notes.append(f"Equal inputs, between which the solution is split evenly: {some(equal)}.")
    if outputs.shape[1] > outputs.shape[0]:
        notes.append(
            f"More targets ({outputs.shape[1]}) than rows ({outputs.shape[0]}): at most {outputs.shape[0]} "
            f"modes can be seen."
        )


def chosen(what: str, value: Any, names: list[str]) -> list[str]:
    """Columns as users name them: names or numbers, one, several, or separated by commas."""
    if not isinstance(value, (str, int, np.integer, Iterable)):
        raise ValueError(f"`{what}` must name columns, by names or numbers: got {type(value).__name__}.")
    parts = [value] if isinstance(value, (str, int, np.integer)) else list(value)
    if len(parts) == 1 and isinstance(parts[0], str) and parts[0] not in names:
        parts = [part.strip() for part in parts[0].split(",") if part.strip()]
    found = []
    for part in parts:
        if str(part) in names:
            found.append(str(part))
        elif is_number(part) and float(part).is_integer() and -len(names) <= int(part) < len(names):
            found.append(names[int(part)])
        else:
            raise ValueError(f"`{what}` must name columns: there is no {str(part)!r} among {some(names)}.")
    if not found or len(set(found)) < len(found):
        raise ValueError(f"`{what}` must name columns, each once: got {value!r}.")
    return found


def _numeric(kind: Any) -> bool:
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


def _named(names: list[str], which: np.ndarray) -> list[str]:
    return [name for name, wanted in zip(names, which, strict=True) if wanted]


def _others(names: list[str]) -> str:
    return f" (and {len(names) - 1} more: {some(names[1:])})" if len(names) > 1 else ""


def some(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:NAMED])
    return shown if len(names) <= NAMED else f"{shown} and {len(names) - NAMED} more"
