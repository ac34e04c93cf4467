"""Arrays in NPY and NPZ files: shapes are read first and checked, then only the rows that are used."""

from __future__ import annotations

import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from linnet._memory import check_fits
from linnet.forecasts._columns import COPIES, TAKE_FEWER

CHUNK_BYTES = 2**24  # of an array in an archive that are unpacked at a time


@dataclass(frozen=True)
class StoredArray:
    """An array in a file, of which only the header has been read; `member` is its name in an archive, else None."""

    place: Path
    member: str | None
    shape: tuple[int, ...]
    dtype: np.dtype
    fortran: bool

    def rows(self, which: np.ndarray | None) -> np.ndarray:
        """Return the rows of these increasing numbers, or all; refuse more than memory holds."""
        total = self.shape[0] if self.shape else 1
        taken = total if which is None or (self.fortran and self.member) else len(which)
        check_fits(
            COPIES * 8 * taken * math.prod(self.shape[1:]),
            f"an array of {' x '.join(map(str, self.shape))} in {self.place.name}",
            TAKE_FEWER,
        )
        with readable(self.place):
            if self.member is None:
                held = np.load(self.place, mmap_mode="r", allow_pickle=False)
                return np.asarray(held if which is None else held[which])
            with zipfile.ZipFile(self.place) as archive, archive.open(self.member) as stream:
                if which is None or self.fortran:
                    whole = np.lib.format.read_array(stream, allow_pickle=False)
                    return whole if which is None else whole[which]
                _header(stream)
                return self._rows_of_stream(stream, which)

    def _rows_of_stream(self, stream: IO[bytes], which: np.ndarray) -> np.ndarray:
        """Return some rows of an array whose entries follow in the stream, row after row."""
        row_bytes = self.dtype.itemsize * math.prod(self.shape[1:])
        found = np.empty((len(which), *self.shape[1:]), self.dtype)
        step, done, begin = max(1, CHUNK_BYTES // max(1, row_bytes)), 0, 0
        while done < len(which):
            number = min(step, self.shape[0] - begin)
            content = stream.read(number * row_bytes)
            if len(content) < number * row_bytes:
                raise EOFError("it ends before its array does")
            chunk = np.frombuffer(content, self.dtype).reshape(number, *self.shape[1:])
            until = int(np.searchsorted(which, begin + number))
            found[done:until] = chunk[which[done:until] - begin]
            done, begin = until, begin + number
        return found


HEADER = (tokenize.TokenError, SyntaxError, TypeError, KeyError)  # of an array whose header is not what NumPy writes
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, *HEADER)


@contextmanager
def readable(place: Path) -> Iterator[None]:
    """Turn whatever a damaged file of arrays raises into one sentence that names it."""
    try:
        yield
    except DAMAGE as reason:
        raise ValueError(f"{place.name} cannot be read: {str(reason) or type(reason).__name__}") from None
    except ValueError as reason:
        named = place.name in str(reason)
        raise ValueError(str(reason) if named else f"{place.name} cannot be read: {reason}") from None


def stored_arrays(place: Path) -> dict[str, StoredArray]:
    """Return the arrays of an NPZ file by name, or the array of an NPY file by an empty name, reading only their
    headers."""
    with readable(place):
        if place.suffix.lower() == ".npy":
            with place.open("rb") as stream:
                return {"": StoredArray(place, None, *_header(stream))}
        arrays = {}
        with zipfile.ZipFile(place) as archive:
            for member in archive.namelist():
                with archive.open(member) as stream:
                    arrays[member.removesuffix(".npy")] = StoredArray(place, member, *_header(stream))
        return arrays


def _header(stream: Any) -> tuple[tuple[int, ...], np.dtype, bool]:
    """Read shape, type and order of an array, and leave the stream where its entries begin."""
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"its format {version[0]}.{version[1]} is not supported")
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read: save numbers")
    if dtype.kind not in "biuf":
        raise ValueError(f"it holds {dtype}, not real numbers")
    return shape, dtype, fortran
