"""Uploaded tables: bounded in size and number, parsed as data only, and known by a fingerprint of what they hold."""

from __future__ import annotations

import base64
import binascii
import hashlib
import tempfile
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from linnet_papers.explorer.cache import Cache

if TYPE_CHECKING:
    import pandas as pd

MAX_FILE_BYTES = 5_000_000
MAX_BASE64_CHARACTERS = 4 * MAX_FILE_BYTES // 3 + 300  # of a file as browsers send it, in base64
TOO_LARGE = (
    f"The file is larger than {MAX_FILE_BYTES // 10**6} MB: take some of its rows, or use linnet diagnose, which has "
    "no such limit."
)
MAX_COLUMNS = 300  # more are refused
MAX_ROWS = 2000  # of more rows these many are kept, at random
MAX_TABLES = 8  # tables at once; the one that was longest not asked for makes place
MAX_QUOTED_SEPARATORS = 20  # commas for each column in a line with quoted texts, which may hold commas of their own
TURN_SECONDS = 30.0  # seconds that an upload waits for another one to be read
KINDS = (".csv", ".tsv")


@dataclass(frozen=True)
class Upload:
    """A table as it was uploaded: its fingerprint, the name of its file, what it holds, and a note on left-out rows."""

    token: str
    file: str
    frame: pd.DataFrame
    note: str


class Uploads:
    """The tables that were uploaded since the server started; nothing is written to disk for longer than a read."""

    def __init__(self, max_tables: int = MAX_TABLES) -> None:
        self._tables: Cache[Upload] = Cache(max_tables)
        self._reading = threading.Lock()

    def add(self, contents: str, file: str) -> Upload:
        """Take a table as browsers send it (`data:...;base64,...`); refuse in a sentence what is none."""
        data = decode(contents)
        kind, name = kind_and_name(file)
        if not self._reading.acquire(timeout=TURN_SECONDS):  # one at a time: each may take hundreds of megabytes
            raise ValueError("Other tables are being read: try again in a moment.")
        try:
            upload = Upload(fingerprint(data, kind), name, *parse_table(data, kind))
        finally:
            self._reading.release()
        self._tables.put(upload.token, upload)
        return upload

    def get(self, token: str) -> Upload:
        """Return the table of this fingerprint, if the server still has it."""
        upload = self._tables.get(token)
        if upload is None:
            raise ValueError("The uploaded table is not on this server (any more): upload it again.")
        return upload


def decode(contents: str) -> bytes:
    """Return the bytes of an upload; refuse what is damaged, too large or empty."""
    if not isinstance(contents, str) or "," not in contents[:200]:
        raise ValueError("The upload holds no file: choose a CSV file.")
    if len(contents) > MAX_BASE64_CHARACTERS:  # is not even decoded
        raise ValueError(TOO_LARGE)
    try:
        data = base64.b64decode(contents.split(",", 1)[1], validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("The upload is damaged: its bytes cannot be decoded. Try again.") from None
    if len(data) > MAX_FILE_BYTES:
        raise ValueError(TOO_LARGE)
    if not data.strip():
        raise ValueError("The file is empty: it must have a line of names and lines of numbers.")
    return data


def kind_and_name(file: str) -> tuple[str, str]:
    """Return the kind of a file, the end of its name, and its name without folders; refuse kinds other than `KINDS`."""
    name = PurePosixPath(str(file).replace("\\", "/")).name[:80]
    kind = PurePosixPath(name).suffix.lower()
    if kind not in KINDS:
        raise ValueError(
            f"The file must end in {' or '.join(KINDS)}: got {name!r}. `linnet diagnose` reads more kinds."
        )
    return kind, name


def parse_table(data: bytes, kind: str) -> tuple[pd.DataFrame, str]:
    """Return the table in these bytes, at most `MAX_ROWS` rows of it, and a note where there were more."""
    from linnet.forecasts.tables import draw_rows, read_frame

    separators = max(line.count(b"\t" if kind == ".tsv" else b",") for line in data.splitlines())
    _check_columns(separators + 1 if b'"' not in data else separators // MAX_QUOTED_SEPARATORS)  # before it is parsed
    with tempfile.TemporaryDirectory(prefix="linnet-") as folder:
        place = Path(folder) / f"The file{kind}"  # messages begin with its name
        place.write_bytes(data)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of mixed columns, which are refused by name later
                frame = read_frame(place)
        except ValueError as reason:
            raise ValueError(" ".join(str(reason).split())[:300]) from None
        except Exception as reason:  # whatever a parser does with foreign bytes, it is the file's fault
            raise ValueError(f"The file cannot be read as a table: {type(reason).__name__}.") from None
    _check_columns(frame.shape[1])
    if frame.shape[1] < 2 or len(frame) < 2:
        raise ValueError(
            f"The table must have at least 2 columns and 2 rows: got {frame.shape[1]} and {len(frame)}. Is it "
            f"separated by {'tabs' if kind == '.tsv' else 'commas'}?"
        )
    kept = draw_rows(frame, MAX_ROWS)
    return kept, "" if len(kept) == len(frame) else f"{MAX_ROWS} of its {len(frame)} rows, at random."


def _check_columns(columns: int) -> None:
    """Refuse a table with too many columns."""
    if columns > MAX_COLUMNS:
        raise ValueError(f"The table has {columns} columns: at most {MAX_COLUMNS} here. `linnet diagnose` takes more.")


def fingerprint(data: bytes, kind: str) -> str:
    """Return a digest of the contents: the same file has the same one, which addresses hold (the control `upload`)."""
    return hashlib.blake2b(kind.encode() + data, digest_size=12).hexdigest()
