"""Real tables, read from a file or taken from Python: columns are checked, and everything dropped is noted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from linnet import _extras as extras
from linnet._arguments import count, path_of
from linnet._memory import check_fits
from linnet._randomness import generator, words
from linnet.forecasts._array_files import stored_arrays
from linnet.forecasts._columns import (
    COPIES,
    TAKE_FEWER,
    and_others,
    columns_and_names,
    drop_columns,
    drop_option,
    float_matrix,
    handle_missing_values,
    list_names,
    resolve_columns,
)
from linnet.forecasts._random_streams import ROWS_OF_FILES
from linnet.forecasts._table_notes import table_notes
from linnet.forecasts._text_files import NOTES, read_text

if TYPE_CHECKING:
    import pandas as pd

    from linnet.forecasts._columns import Columns

MISSING_CHOICES = ("error", "drop", "mean")
FILE_ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz")


@dataclass(frozen=True)
class DataTable:
    """Table of numbers with input columns and target columns.

    **Attributes:**

    - `inputs`: values of the inputs, (sample, input)
    - `outputs`: values of the targets, (sample, output)
    - `input_names`: names of the input columns
    - `output_names`: names of the targets
    - `notes`: remarks on unusual columns and on changes to the table

    **Example:**

        >>> import numpy as np
        >>> from linnet.forecasts import data_table
        >>> data_table(np.arange(6.0).reshape(3, 2), [1.0, 2.0, 4.0]).outputs.tolist()
        [[1.0], [2.0], [4.0]]
    """

    inputs: Float[np.ndarray, "sample input"] = field(repr=False)
    outputs: Float[np.ndarray, "sample output"] = field(repr=False)
    input_names: list[str]
    output_names: list[str]
    notes: list[str]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, inputs, targets."""
        return self.inputs.shape[0], self.inputs.shape[1], self.outputs.shape[1]


def read(
    path: object,
    *,
    target: object = None,
    drop: object = None,
    missing: str = "error",
    rows: int | None = None,
    key: object = 0,
) -> DataTable:
    r"""Read a table from a CSV, TSV, Parquet, NPY or NPZ file.

    Unusual columns are reported in the notes of the table. Pass the result to `diagnose_table`.

    **Arguments:**

    - `path`: path of the file. In text files, encoding (UTF-8, UTF-16, Latin-1), separator and decimal comma are
      recognized and reported in the notes. An NPZ file may hold arrays `X` and `Y`; otherwise its only array is read
      like an NPY file
    - `target`: columns to predict, by name or number counted from 0; by default the last
    - `drop`: columns to leave out, such as text and dates
    - `missing`: treatment of rows with missing values: `"error"`, `"drop"`, or fill with the column's `"mean"`
    - `rows`: number of rows to draw at random
    - `key`: seed for drawing rows

    **Returns** a `DataTable`.

    **Example:**

        >>> import tempfile
        >>> from pathlib import Path
        >>> from linnet.forecasts import read
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "table.csv"
        ...     _ = file.write_text("size,age,price\n1,2,3\n2,1,5\n")
        ...     table = read(file, target="price")
        >>> table.input_names, table.outputs.ravel().tolist()
        (['size', 'age'], [3.0, 5.0])
    """
    place = path_of("path", path)
    words(key)  # refuses what is no key, whether or not rows are drawn
    kind = place.suffix.lower()
    if kind not in FILE_ENDINGS:
        raise ValueError(f"`path` must end in one of {', '.join(FILE_ENDINGS)}: got {place.name!r}.")
    if not place.is_file():
        raise ValueError(f"`path` must be a file: there is none at {str(place)!r}.")
    if kind in (".npy", ".npz"):
        frame, others = _read_arrays(place, rows, key)
        if others is not None:
            if target is not None:
                raise ValueError(f"`target` must not be given with arrays X and Y: {place.name} holds both.")
            return data_table(frame, others, drop=drop, missing=missing)
    else:
        frame = draw_rows(read_frame(place), rows, key)
        if frame.shape[1] < 2:
            raise ValueError(
                f"{place.name} has one column, {str(frame.columns[0])!r}: no separator was recognized (commas, "
                "semicolons, tabs or bars), or there is nothing to predict from."
            )
    return from_frame(frame, target=target, drop=drop, missing=missing)


def from_frame(frame: pd.DataFrame, *, target: object = None, drop: object = None, missing: str = "error") -> DataTable:
    """Make a table from one data frame of inputs and targets.

    If inputs and targets are separate, use `data_table`.

    **Arguments:**

    - `frame`: data frame of pandas
    - `target`: columns to predict, by name or number counted from 0; by default the last
    - `drop`: columns to leave out
    - `missing`: treatment of rows with missing values: `"error"`, `"drop"`, or fill with the column's `"mean"`

    **Returns** a `DataTable`.

    **Example:**

        >>> from linnet.forecasts import from_frame
        >>> import pandas as pd
        >>> from_frame(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 4.0]}), target="b").input_names
        ['a']
    """
    if not hasattr(frame, "columns") or not hasattr(frame, "set_axis"):
        raise ValueError(f"`frame` must be a pandas data frame: got {type(frame).__name__}.")
    frame, names = columns_and_names("frame", frame, "")
    frame = frame.set_axis(names, axis="columns")
    # numbers count all columns of the table, so before any is dropped
    wanted = None if target is None else resolve_columns("target", target, names)
    frame, left, dropped = drop_columns(frame, names, drop)
    if gone := [name for name in wanted or [] if name not in left]:
        raise ValueError(f"`drop` must not name the target: it names {list_names(gone)}.")
    wanted = wanted or [left[-1]]
    kept = [name for name in left if name not in wanted]
    if not kept:
        raise ValueError(f"`target` must leave columns to predict from: it names all of {list_names(left)}.")
    notes = [*frame.attrs.get(NOTES, []), *dropped]
    if target is None:
        notes.insert(0, f"No target was named: the last column, {wanted[0]!r}, is predicted from the others.")
    return _build_table(frame[kept], frame[wanted], kept, wanted, missing, notes, names)


def data_table(X: object, Y: object, *, drop: object = None, missing: str = "error") -> DataTable:
    """Make a table from arrays or data frames.

    For one data frame that holds inputs and targets use `from_frame`, and for a file `read`.

    Text raises `ValueError` and, by default, so do missing values; the message names the columns. Constant and equal
    columns are reported and kept.

    **Arguments:**

    - `X`: inputs, (sample, input)
    - `Y`: targets, (sample, output) or (sample,)
    - `drop`: columns to leave out
    - `missing`: treatment of rows with missing values: `"error"`, `"drop"`, or fill with the column's `"mean"`

    **Returns** a `DataTable`.

    **Example:**

        >>> from linnet.forecasts import data_table
        >>> data_table([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]], [1.0, 2.0, 4.0]).notes
        ['Constant inputs, which say nothing next to the intercept and are kept at zero: x1.']
    """
    X, names = columns_and_names("X", X, "x")
    Y, output_names = columns_and_names("Y", Y, "y")
    if len(X) != len(Y):
        raise ValueError(f"`X` and `Y` must have the same number of rows: got {len(X)} and {len(Y)}.")
    X, input_names, notes = drop_columns(X, names, drop)
    return _build_table(X, Y, input_names, output_names, missing, notes, names)


def _build_table(
    X: Columns,
    Y: Columns,
    input_names: list[str],
    output_names: list[str],
    missing: str,
    notes: list[str],
    table_names: list[str],
) -> DataTable:
    """Check these columns and build their table: numbers without missing values, with notes on columns worth a second
    look.

    `table_names` are all columns that the user gave, in their order: numbers in advice on `drop` count these.
    """
    if not isinstance(missing, str) or missing not in MISSING_CHOICES:
        raise ValueError(f"`missing` must be one of {', '.join(MISSING_CHOICES)}: got {missing!r}.")
    drop_too = partial(drop_option, table_names, [*input_names, *output_names])
    outputs = float_matrix("Y", Y, output_names, drop_too, target=True)
    inputs = float_matrix("X", X, input_names, drop_too, target=False)
    table = DataTable(inputs, outputs, input_names, output_names, notes)
    table, index = handle_missing_values(table, getattr(X, "index", np.arange(len(X))), missing)
    if len(index) < 2:
        raise ValueError(f"a table must have at least 2 rows to learn from: got {len(index)}.")
    if not np.ptp(table.outputs, axis=0).any():
        raise ValueError(
            f"`Y`: target {output_names[0]!r} is constant{and_others(output_names)}: there is nothing to learn."
        )
    if not np.ptp(table.inputs, axis=0).any():
        raise ValueError("`X`: all input columns are constant: there is nothing to learn from.")
    return replace(table, notes=table.notes + table_notes(table, index, drop_too))


def read_frame(place: Path) -> pd.DataFrame:
    """Read the data frame in a CSV, TSV, text or Parquet file.

    Of a text file its attributes hold notes on how it was read and its index the lines (`_text_files.read_text`);
    `from_frame` passes the notes on and names lines in errors, also after `draw_rows`.
    """
    import pandas as pd

    kind = place.suffix.lower()
    if kind == ".parquet":
        extras.need("pyarrow", "a Parquet table")
    check_fits(COPIES * place.stat().st_size, f"reading {place.name}", TAKE_FEWER)
    try:
        return pd.read_parquet(place) if kind == ".parquet" else read_text(place)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as reason:
        # in the words of pandas; in others, its message is passed on
        ragged = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(reason))
        if ragged:
            expected, line, fields = ragged.groups()
            raise ValueError(
                f"{place.name} has {fields} fields in line {line} and {expected} names: every line must have one field "
                "for each name. Correct the line, or put text that holds the separator into quotes."
            ) from None
        raise ValueError(f"{place.name} cannot be read as a table: {reason}") from None


def _read_arrays(place: Path, rows: int | None, key: object) -> tuple[Columns, np.ndarray | None]:
    """Read an NPY or NPZ file: the arrays X and Y, or its only array as a data frame, and None."""
    import pandas as pd

    arrays = stored_arrays(place)
    letters = [name.upper() for name in arrays]
    if twice := sorted({name for name in ("X", "Y") if letters.count(name) > 1}):
        raise ValueError(f"{place.name} must hold one array {twice[0]}: it holds {', '.join(sorted(arrays))}.")
    by_letter = dict(zip(letters, arrays.values(), strict=True))
    if {"X", "Y"} <= set(by_letter):
        inputs, outputs = by_letter["X"], by_letter["Y"]
        lengths = [array.shape[0] if array.shape else 0 for array in (inputs, outputs)]
        if lengths[0] != lengths[1]:
            raise ValueError(
                f"`X` and `Y` of {place.name} must have the same number of rows: got {lengths[0]} and {lengths[1]}."
            )
        which = _choose_rows(lengths[0], rows, key)
        return inputs.rows(which), outputs.rows(which)
    if len(arrays) != 1:
        raise ValueError(f"{place.name} must hold arrays X and Y, or one array: it holds {', '.join(sorted(arrays))}.")
    array = next(iter(arrays.values()))
    if len(array.shape) != 2 or array.shape[1] < 2:
        raise ValueError(f"{place.name} must hold a table of two columns or more: its array has shape {array.shape}.")
    values = array.rows(_choose_rows(array.shape[0], rows, key))
    return pd.DataFrame(values, columns=[str(index) for index in range(array.shape[1])]), None


def _choose_rows(total: int, rows: int | None, key: object) -> np.ndarray | None:
    """Return which rows to take at random, in their order; None for all."""
    if rows is None or count("rows", rows) >= total:
        return None
    return np.sort(generator(key, ROWS_OF_FILES).choice(total, size=rows, replace=False))


def draw_rows(frame: pd.DataFrame, rows: int | None, key: object = 0) -> pd.DataFrame:
    """Draw `rows` rows of a data frame at random, in their order; all of them if it is None or more than there are."""
    which = _choose_rows(len(frame), rows, key)
    return frame if which is None else frame.iloc[which]
