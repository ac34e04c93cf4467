"""The Zarr group of a store: coordinates, one array per variable, one chunk per block.

Metadata is consolidated in the group's own document, so that `xarray.open_zarr(path)` needs no options and passes over
the ledger and the lock that lie in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linnet import _extras as extras
from linnet._files import settle, write_whole
from linnet.sweeps._ledger import Ledger
from linnet.sweeps._memory import STATUS, STATUS_ATTRIBUTES, Variable
from linnet.sweeps._task import fill_value
from linnet.sweeps.errors import StoreError
from linnet.sweeps.grid import Block, Grid

METADATA_FILE = "zarr.json"


class Arrays:
    """The arrays of the store in `folder`. Their metadata is what `book` knows it to be: a damaged file of it is
    written anew, since with another byte order, say, sound chunks would be read as other numbers."""

    def __init__(self, folder: Path, grid: Grid, book: Ledger, *, read_only: bool = False) -> None:
        self.folder, self.grid, self.book, self.read_only = folder, grid, book, read_only
        self.documents = book.documents()
        self.open: dict[str, Any] = {}

    def chunk(self, name: str, block: Block, further: int) -> Path:
        """The file of one block of one variable with that many dimensions of its own."""
        return self.folder.joinpath(name, "c", *map(str, (*block.index, *(0,) * further)))

    def prepare(self, labels: Mapping[str, list[Any]], variables: Mapping[str, Variable]) -> None:
        """Makes what is not there yet or cannot be read: coordinates, `cell_status`, and the variables known so far."""
        for name, values in {**self.grid.coords, **{n: np.asarray(v) for n, v in labels.items()}}.items():
            self._coordinate(name, values)
        status = Variable(STATUS, (), (), "int8")
        for variable in (status, *variables.values()):
            shape = (*self.grid.shape, *variable.shape)
            chunks = (*self.grid.tile, *variable.shape)
            attributes = STATUS_ATTRIBUTES if variable.name == STATUS else {}
            dims = (*self.grid.dims, *variable.dims)
            self.open[variable.name] = self._array(
                variable.name, shape, chunks, np.dtype(variable.dtype), dims, attributes
            )

    def describe(self, attributes: Mapping[str, Any]) -> None:
        """Writes the group's document: attributes, and the metadata of every array."""
        members = {name: json.loads((self.folder / name / METADATA_FILE).read_text()) for name in self.open}
        document = {
            "attributes": dict(attributes),
            "zarr_format": 3,
            "node_type": "group",
            "consolidated_metadata": {"kind": "inline", "must_understand": False, "metadata": members},
        }
        write_whole(self.folder / METADATA_FILE, json.dumps(document, indent=1))

    def write(self, name: str, block: Block, data: np.ndarray) -> Path:
        """Writes one chunk; the file appears whole or not at all. Returns its path."""
        file = self.chunk(name, block, data.ndim - 1)
        file.unlink(missing_ok=True)  # or Zarr first reads a chunk at the grid's edge, whatever state it is in
        self.open[name][block.region] = data.reshape(*block.shape, *data.shape[1:])
        return file

    def read(self, name: str, block: Block) -> np.ndarray:
        """One block of one variable, cells in front."""
        data = np.asarray(self.open[name][block.region])
        return data.reshape(block.size, *data.shape[len(block.shape) :])

    def _coordinate(self, name: str, values: np.ndarray) -> None:
        """Write a coordinate, unless the store holds it already; one that is damaged is written anew."""
        text = values.dtype.kind == "U"
        array = self._array(name, values.shape, values.shape, np.dtype(str) if text else values.dtype, (name,), {})
        self.open[name] = array
        try:
            same = np.array_equal(np.asarray(array[:]), values)
        except Exception:  # whatever a damaged chunk makes the codec raise: it is written anew
            same = False
        if not same and self.read_only:
            raise StoreError(f"coordinate {name} of {self.folder} is damaged, and nothing can be written there.")
        if not same:
            file = self.folder / name / "c" / "0"
            file.unlink(missing_ok=True)
            array[:] = values.astype(object) if text else values
            settle([file], self.folder)

    def _array(
        self,
        name: str,
        shape: tuple[int, ...],
        chunks: tuple[int, ...],
        dtype: np.dtype,
        dims: tuple[str, ...],
        attributes: Mapping[str, Any],
    ) -> Any:
        """Open one array; make it where it is missing, or where its metadata is not what the ledger knows."""
        zarr = extras.need("zarr", "a store of a sweep")

        document = self.folder / name / METADATA_FILE
        known = self.documents.get(name)
        try:
            text = document.read_text(encoding="utf-8")
            json.loads(text)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            text = None
        if self.read_only:
            if text is None or (known is not None and text != known):
                raise StoreError(
                    f"the metadata of array {name} in {self.folder} is damaged, and cannot be mended there."
                )
        elif known is not None and text != known:
            document.parent.mkdir(parents=True, exist_ok=True)
            write_whole(document, known)
        elif text is None:
            document.unlink(missing_ok=True)
            zarr.create_array(
                str(self.folder),
                name=name,
                shape=shape,
                chunks=tuple(max(1, length) for length in chunks),
                dtype=str if dtype.kind == "U" else dtype,
                fill_value="" if dtype.kind == "U" else fill_value(dtype),
                compressors=zarr.codecs.ZstdCodec(level=1, checksum=True),
                dimension_names=dims,
                attributes=dict(attributes),
            )
            settle([document], self.folder)
        if known is None and not self.read_only:
            self.documents[name] = document.read_text(encoding="utf-8")
            self.book.note_document(name, self.documents[name])
        with zarr.config.set({"array.write_empty_chunks": True}):  # a finished chunk is a file, even if it is all NaN
            array = zarr.open_array(str(self.folder), path=name, mode="r" if self.read_only else "r+")
        if array.shape != shape or array.chunks != tuple(max(1, length) for length in chunks):
            raise StoreError(
                f"array {name} of {self.folder} has shape {array.shape} in place of {shape}: not this sweep's."
            )
        return array
