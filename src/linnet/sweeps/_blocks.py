"""One block of finished cells, and the file that holds it.

The file is a plain NPZ: `np.load(file)["cells"]` is an array with one entry per cell and one field per variable,
`failures.json` says why cells failed. The comment of the ZIP archive is a line of JSON about the block (`unzip -z`),
and ends in the BLAKE2b of all bytes before it. Equal blocks give equal bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linnet._memory import check_fits

DONE, FAILED = 1, 2  # values of `cell_status`; 0 is a cell that is not computed
STATUS = "cell_status"
UNFINISHED = "unfinished"  # the variable by which a cell function marks cells that ended before they were done
SEAL_LETTERS = 32  # of the digest at the end of a file
MAX_COMMENT_BYTES = 65_535  # of a ZIP archive
MAX_COMPRESSED_BYTES = 2**20  # what is larger is mostly random digits, and would take long
MAX_HEADER_CHARACTERS = 2**20  # of an array's description: about 30 for each variable


@dataclass(frozen=True)
class Block:
    """Results of some cells: a structured array with a field for each variable and `cell_status`.

    `dims` names the further dimensions of each variable, `failures` gives the reasons of failed cells, which hold fill
    values, by their positions. There are no variables when every cell failed. `code` and `devices` are the digests of
    the code, and the devices, that computed the cells.
    """

    cells: np.ndarray
    dims: dict[str, tuple[str, ...]] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    code: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()

    @property
    def variables(self) -> dict[str, Any]:
        """For each variable the names of its further dimensions, their lengths, and its type, as JSON has them."""
        fields = {name: self.cells.dtype[name] for name in self.cells.dtype.names or () if name in self.dims}
        return {name: [list(self.dims[name]), list(kind.shape), kind.base.str] for name, kind in fields.items()}

    def merged(self, positions: Sequence[int], again: Block) -> Block:
        """This block with its failed cells, which are at `positions`, as they came out when they were tried again."""
        model = self if self.dims else again
        whole = filled(len(self.cells), model.cells.dtype)
        for cells, place in ((self.cells, slice(None)), (again.cells, list(positions))):
            for name in cells.dtype.names or ():
                whole[name][place] = cells[name]
        failures = {positions[position]: reason for position, reason in again.failures.items()}
        others = [again, self] if (self.cells[STATUS] == DONE).any() else [again]
        code = tuple(sorted({name for block in others for name in block.code}))
        devices = tuple(sorted({name for block in others for name in block.devices}))
        return Block(whole, model.dims, failures, code, devices)

    def summary(self) -> dict[str, Any]:
        """Summary of the cells that the file holds without being unpacked."""
        marks = self.cells[UNFINISHED] if self.marks_unfinished else np.zeros(0)
        counts = {"cells": len(self.cells), "failed": len(self.failures), "unfinished": int(np.count_nonzero(marks))}
        return {**counts, "dims": self.dims, "code": self.code, "devices": self.devices}

    @property
    def marks_unfinished(self) -> bool:
        """Whether a truth value of each cell says that it ended before it was done."""
        return UNFINISHED in self.dims and self.cells.dtype[UNFINISHED].str == "|b1"


def fill_value(dtype: np.dtype) -> Any:
    """What stands where there is no result: NaN where the type has it, else zero; `cell_status` tells them apart."""
    return dtype.type(np.nan) if dtype.kind in "fc" else dtype.type(0)


def filled(size: int, dtype: np.dtype) -> np.ndarray:
    """Cells without results."""
    cells = np.empty(size, dtype)
    for name in dtype.names or ():
        cells[name] = fill_value(dtype[name].base)
    return cells


def packed(block: Block, about: dict[str, Any]) -> bytes:
    """The file of a block; `about` is said of it besides its summary."""
    body, written = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array(body, block.cells, allow_pickle=False)
    comment = json.dumps({**about, **block.summary()}, sort_keys=True).encode() + b"\n" + bytes(SEAL_LETTERS)
    if len(comment) > MAX_COMMENT_BYTES:
        raise ValueError(f"{len(block.dims)} variables with names this long are too many for one sweep")
    with zipfile.ZipFile(written, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.comment = comment
        small = body.tell() <= MAX_COMPRESSED_BYTES
        archive.writestr(_member("cells.npy", compressed=small), body.getbuffer())
        if block.failures:
            archive.writestr(_member("failures.json", compressed=True), json.dumps(block.failures, indent=1))
    data = written.getvalue()[:-SEAL_LETTERS]
    return data + _seal(data)


def unsealed(data: bytes) -> dict[str, Any]:
    """Summary of a block from its file, after its digest was checked."""
    if not data or _seal(data[:-SEAL_LETTERS]) != data[-SEAL_LETTERS:]:
        raise ValueError("its content is not what was written")
    end_of_archive = data.rindex(b"PK\x05\x06")  # 22 bytes; JSON has no such letters
    return json.loads(data[end_of_archive + 22 : -SEAL_LETTERS])


def block_from_bytes(data: bytes) -> Block:
    """The block that a file holds."""
    about = unsealed(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        wanted = archive.getinfo("cells.npy").file_size  # of a store from elsewhere: it may claim anything
        check_fits(wanted, "a block", "Read it on a larger machine.")
        with archive.open("cells.npy") as member:
            cells = np.lib.format.read_array(member, allow_pickle=False, max_header_size=MAX_HEADER_CHARACTERS)
        reasons = json.loads(archive.read("failures.json")) if about["failed"] else {}
    if cells.shape != (about["cells"],):
        raise ValueError(f"it holds {cells.shape} cells, and says {about['cells']}")
    dims = {name: tuple(names) for name, names in about["dims"].items()}
    failures = {int(position): reason for position, reason in reasons.items()}
    return Block(cells, dims, failures, tuple(about["code"]), tuple(about["devices"]))


def _member(name: str, *, compressed: bool) -> zipfile.ZipInfo:
    """The entry of a file in an archive, without the date."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    return entry


def _seal(data: bytes) -> bytes:
    """The digest at the end of a file."""
    return hashlib.blake2b(data, digest_size=SEAL_LETTERS // 2).hexdigest().encode()
