"""Tables in text files: the encoding, the separator, the decimal comma and the header are recognized, and said."""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from linnet.forecasts._columns import LINE_INDEX, is_number

if TYPE_CHECKING:
    import pandas as pd

HEAD_BYTES = 1 << 18  # looked at to detect the format of a file
HEAD_LINES = 60  # of them
SEPARATORS = ("\t", ";", "|", ",")  # in this order: where another one fits, commas may be decimal commas
SEPARATOR_OF_ENDING = {".csv": ",", ".tsv": "\t"}  # expected, but not relied on
SEPARATOR_NAMES = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", r"\s+": "spaces"}
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
DECIMAL_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?")  # 1,5 or 1.001,5
DECIMAL_POINT = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")  # 1.5, and 1.001 too, whatever is meant
GROUPED = re.compile(r"[-+]?\d{1,3}(\.\d{3})+,\d+")  # 1.001,5: points between thousands
THREE_DIGITS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")  # 1,234: a decimal comma, or a comma between thousands
MISSING_MARKS = ("?", "-", "--", ".")  # next to those that pandas knows
NOTES = "linnet_notes"  # of a frame's attributes: how its file was read


class TextFormat(NamedTuple):
    """How a text file holds its table, by the names that `pandas.read_csv` has for it."""

    encoding: str
    sep: str
    decimal: str
    thousands: str | None
    header: int | None  # its line, counted from 0; None where the first line holds numbers


def read_text(place: Path) -> pd.DataFrame:
    """Read the data frame in a text file; its attributes hold notes on the format, its index the lines of the file."""
    import pandas as pd

    form, notes = detect_format(place)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # of fields beyond the header
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # of mixed columns, which are refused by name later
        try:  # `index_col`: else pandas takes fields beyond the header for an index, and shifts the names
            frame = pd.read_csv(
                place,
                **form._asdict(),
                index_col=False,
                na_values=list(MISSING_MARKS),
                skipinitialspace=True,
                skip_blank_lines=False,  # they are numbered too
            )
        except pd.errors.ParserWarning:
            raise ValueError(
                f"{place.name} has more fields in its rows than names in its header: columns would have the "
                "wrong names. Give every column a name, or take away the field that has none."
            ) from None
    last = str(frame.columns[-1])
    if (
        form.header is not None
        and last.startswith("Unnamed: ")
        and frame.shape[1] > 1
        and frame.iloc[:, -1].isna().all()
    ):
        frame = frame.iloc[:, :-1]  # every line ends with a separator, the header too
    if form.header is None:
        frame.columns = [str(index) for index in range(frame.shape[1])]
    first = 1 if form.header is None else form.header + 2
    frame.index = pd.RangeIndex(first, first + len(frame), name=LINE_INDEX)
    frame = frame.dropna(how="all").infer_objects()  # blank lines, and lines of separators alone
    if len(frame) == 0:
        raise ValueError(f"{place.name} has a header and no rows: it must have lines of numbers below its names.")
    frame.attrs[NOTES] = notes
    return frame


def detect_format(place: Path) -> tuple[TextFormat, list[str]]:
    """Detect the format of a text file from its first lines, its encoding from all of it; add notes for the user."""
    with place.open("rb") as file:
        head = file.read(HEAD_BYTES)
    whole = len(head) < HEAD_BYTES
    encoding = _detect_encoding(place, head)
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(head, final=whole)
    lines = [line for line in text.splitlines() if line.strip()]
    lines = (lines if whole else lines[:-1])[:HEAD_LINES]
    if not lines:
        raise ValueError(f"{place.name} cannot be read as a table: it is empty.")
    separator = _detect_separator(lines, place.suffix.lower())
    fields = [line.split() if separator == r"\s+" else next(csv.reader([line], delimiter=separator)) for line in lines]
    cells = [cell.strip() for row in fields for cell in row]
    comma = separator != "," and any(DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    comma = comma and not any(DECIMAL_POINT.fullmatch(cell) for cell in cells)
    grouped = comma and any(GROUPED.fullmatch(cell) for cell in cells)
    first_line = [cell.replace(".", "").replace(",", ".") if comma else cell for cell in fields[0]]
    header, above = not all(map(is_number, first_line)), text.splitlines().index(lines[0])
    if comma and not grouped:
        _refuse_commas_of_thousands(place, encoding, separator)
    form = TextFormat(encoding, separator, "," if comma else ".", "." if grouped else None, above if header else None)
    marks = [mark for mark in MISSING_MARKS if mark in cells]
    notes = [f"{mark!r} is read as a missing value." for mark in marks]
    return form, [*_format_notes(place, form, fields[0]), *notes]


def _refuse_commas_of_thousands(place: Path, encoding: str, separator: str) -> None:
    """Refuse a file in which every comma of a number precedes exactly three digits: it may mean either."""
    seen = ""
    with place.open(encoding=encoding) as file:
        for cell in (part.strip(' "\n') for line in file for part in re.split(separator.replace("|", r"\|"), line)):
            if THREE_DIGITS.fullmatch(cell):
                seen = seen or cell
            elif DECIMAL_COMMA.fullmatch(cell):
                return
    if seen:
        either = f"{seen.replace(',', '')} or {seen.replace(',', '.')}"
        raise ValueError(
            f"{place.name} has numbers like {seen!r}, which may be {either}: every comma precedes three digits. "
            "Leave out commas between thousands, or write decimals with a point."
        )


def _format_notes(place: Path, form: TextFormat, first_fields: list[str]) -> list[str]:
    """Report what is unusual about the format of a file, or may be mistaken; `first_fields` are of line 1."""
    notes = []
    if form.encoding.startswith("utf-16"):
        notes.append(f"{place.name} is read as UTF-16.")
    if form.encoding == "latin-1":
        notes.append(f"{place.name} is not UTF-8: it is read as Latin-1.")
    if form.sep != SEPARATOR_OF_ENDING.get(place.suffix.lower(), form.sep):
        notes.append(f"{place.name} is separated by {SEPARATOR_NAMES[form.sep]}.")
    if form.decimal == ",":
        notes.append("Its numbers have a decimal comma.")
    if form.header is None:
        first = ", ".join(first_fields[:4]) + (", ..." if len(first_fields) > 4 else "")
        notes.append(
            f"The first line ({first}) holds numbers alone: it is taken as data and columns are numbered from 0. If "
            "these are names, write a letter into one of them."
        )
    return notes


def _detect_encoding(place: Path, head: bytes) -> str:
    """Return the encoding of a text file: by its byte order mark or, without one, by all of it."""
    for mark, encoding in BOMS:
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        raise ValueError(f"{place.name} cannot be read as a table: it holds zero bytes. Save it as UTF-8.")
    try:
        with place.open(encoding="utf-8", newline="") as file:
            while file.read(HEAD_BYTES):
                pass
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def _detect_separator(lines: list[str], kind: str) -> str:
    """Return the separator that splits all lines into equally many fields, commas last; else that of the file's ending
    (`kind`), or the one that splits the first line into most."""
    expected = SEPARATOR_OF_ENDING.get(kind)
    counts = {
        mark: [len(row) for row in csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)] for mark in SEPARATORS
    }
    for mark in SEPARATORS:
        if min(counts[mark]) > 1 and min(counts[mark]) == max(counts[mark]):
            return mark
    if kind == ".txt":
        spaced = [len(line.split()) for line in lines]
        if min(spaced) > 1 and min(spaced) == max(spaced):
            return r"\s+"
    if expected is not None and counts[expected][0] > 1:
        return expected
    most = max(SEPARATORS, key=lambda mark: counts[mark][0])
    return most if counts[most][0] > 1 else expected or ","
