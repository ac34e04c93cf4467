"""A store as an xarray dataset whose blocks are read when they are asked for."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from linnet.sweeps._blocks import STATUS, Block, fill_value
from linnet.sweeps._store import Store, attributes
from linnet.sweeps.configuration import Sweep
from linnet.sweeps.errors import StoreError
from linnet.sweeps.grid import Grid

CACHED_BYTES = 2**26  # of blocks: those of most stores, so that each file is read once for all variables
STATUS_ATTRIBUTES = {
    "long_name": "state of the cell",
    "flag_values": [0, 1, 2],
    "flag_meanings": "not_computed done failed",
}


def labeled(sweep: Sweep, grid: Grid, variables: dict[str, tuple[Any, Any]], about: dict[str, Any]) -> xr.Dataset:
    """A dataset of arrays over the grid, given with the names of their further dimensions."""
    coords = {**grid.coords, **{name: np.asarray(labels) for name, labels in sweep.coords.items()}}
    data = {name: xr.Variable((*grid.coords, *dims), array) for name, (dims, array) in variables.items()}
    data[STATUS].attrs.update(STATUS_ATTRIBUTES)
    return xr.Dataset(data, coords=coords, attrs=about)


class Blocks:
    """The blocks of a store, some of them kept in memory."""

    def __init__(self, store: Store) -> None:
        self.store, self.kept, self.bytes = store, dict[int, Block](), 0

    def read(self, number: int) -> Block | None:
        """A block; None where it is not computed."""
        if number in self.kept:
            return self.kept[number]
        block = self.store.read(number)
        if block is not None:
            if block.variables not in ({}, self.store.variables):
                raise StoreError(f"{self.store.path(number)} has other variables than the other blocks.")
            if self.bytes + block.cells.nbytes <= CACHED_BYTES:
                self.kept[number] = block
                self.bytes += block.cells.nbytes
        return block


class Variable(BackendArray):
    """One variable of a store, or the state of its cells."""

    def __init__(self, blocks: Blocks, name: str, own: tuple[int, ...], dtype: np.dtype) -> None:
        self.blocks, self.name, self.own, self.dtype = blocks, name, own, dtype
        self.shape = (*blocks.store.grid.shape, *own)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> np.ndarray:
        """The values at numbers and slices of all dimensions."""
        grid = self.blocks.store.grid
        among, own = key[: len(grid.shape)], key[len(grid.shape) :]
        asked = [np.atleast_1d(np.arange(length)[part]) for length, part in zip(grid.shape, among)]
        shape = np.broadcast_to(0, self.own)[own].shape
        empty = 0 if self.name == STATUS else fill_value(self.dtype)
        found = np.full((*map(len, asked), *shape), empty, self.dtype)
        for index in itertools.product(*(np.unique(cells // n) for cells, n in zip(asked, grid.tile))):
            number = int(np.ravel_multi_index(index, grid.counts))
            block = self.blocks.read(number)
            if block is None or self.name not in (block.cells.dtype.names or ()):
                continue
            values = block.cells[self.name].reshape(*grid.box(number), *self.own)[(..., *own) if own else ...]
            places = [cells // n == i for cells, n, i in zip(asked, grid.tile, index)]
            inside = [cells[place] - n * i for cells, place, n, i in zip(asked, places, grid.tile, index)]
            found[np.ix_(*places)] = values[np.ix_(*inside)]
        return found[tuple(slice(None) if isinstance(part, slice) else 0 for part in among)]


class Backend(BackendEntrypoint):
    """Opens stores of sweeps by `xarray.open_dataset(folder, engine=Backend)`."""

    description = "Stores of linnet's sweeps"

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None) -> xr.Dataset:
        store = Store.existing(Path(filename_or_obj))
        blocks = Blocks(store)
        kinds = {STATUS: ((), (), "|i1"), **store.variables}
        variables = {
            name: (tuple(dims), indexing.LazilyIndexedArray(Variable(blocks, name, tuple(shape), np.dtype(dtype))))
            for name, (dims, shape, dtype) in kinds.items()
        }
        dataset = labeled(store.sweep, store.grid, variables, attributes(store.manifest, store.device))
        for name in kinds:
            lengths = zip(dataset[name].dims, (*store.grid.tile, *dataset[name].shape[len(store.grid.tile) :]))
            dataset[name].encoding["preferred_chunks"] = dict(lengths)
        return dataset.drop_vars(drop_variables or ())
