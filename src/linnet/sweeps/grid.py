"""The cells of a sweep: their coordinates, their seeds, and the blocks they are computed and stored in."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linnet.sweeps.configuration import Sweep

MAX_FILES = 2000  # what the default block size keeps the number of a store's files below
MIN_BLOCK_CELLS = 64  # cells per block, where nothing else decides


@dataclass(frozen=True)
class Block:
    """A box of neighboring cells. `region` is where it lies in the grid, `index` which chunk of each array it is."""

    number: int
    index: tuple[int, ...]
    region: tuple[slice, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells along each dimension: fewer than the tile's at the grid's far edges."""
        return tuple(part.stop - part.start for part in self.region)

    @property
    def size(self) -> int:
        """How many cells."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class PendingBlock:
    """A block to compute, or only the cells of it at `positions`: failed ones, tried again."""

    block: Block
    positions: tuple[int, ...] | None = None

    @property
    def size(self) -> int:
        """How many cells."""
        return self.block.size if self.positions is None else len(self.positions)


@dataclass(frozen=True)
class CellArguments:
    """The arguments of one call: `size` cells, then the last one repeated up to the length of a full block.

    Every call of a sweep has the same length: compiled batches of one length give the same bits whatever is in them.
    """

    points: dict[str, np.ndarray]
    seeds: np.ndarray
    size: int


@dataclass(frozen=True)
class Grid:
    """All cells of a sweep, in tiles. Dimensions are the axes in their order, then `seed` when there are several."""

    dims: tuple[str, ...]
    coords: dict[str, np.ndarray]
    tile: tuple[int, ...]
    axes: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, sweep: Sweep, tile: tuple[int, ...] | None = None) -> Grid:
        """The grid of `sweep`; `tile` repeats the choice of an earlier run."""
        coords = {name: np.asarray(values) for name, values in sweep.axes.items()}
        if sweep.seeds > 1:
            coords["seed"] = np.arange(sweep.seeds)
        lengths = [len(values) for values in coords.values()]
        if tile is None:
            most = [1 if name in sweep.unbatched_axes else length for name, length in zip(coords, lengths)]
            chunks = 1 + (len(sweep.record) or 3)  # files per block: `cell_status` and the variables, or a guess
            cells = sweep.block or max(MIN_BLOCK_CELLS, math.ceil(math.prod(lengths) * chunks / MAX_FILES))
            tile = _tile_shape(lengths, most, cells)
        return cls(tuple(coords), coords, tile, tuple(sweep.axes), sweep.seed)

    @property
    def shape(self) -> tuple[int, ...]:
        """CellArguments along each dimension."""
        return tuple(len(self.coords[name]) for name in self.dims)

    @property
    def cells(self) -> int:
        """How many cells."""
        return math.prod(self.shape)

    @property
    def counts(self) -> tuple[int, ...]:
        """Blocks along each dimension."""
        return tuple(-(-length // piece) for length, piece in zip(self.shape, self.tile))

    @property
    def blocks(self) -> int:
        """How many blocks."""
        return math.prod(self.counts)

    def block(self, number: int) -> Block:
        """The block of that number, counted with the last dimension fastest."""
        index = tuple(int(i) for i in np.unravel_index(number, self.counts))
        bounds = zip(index, self.tile, self.shape)
        return Block(number, index, tuple(slice(i * piece, min((i + 1) * piece, end)) for i, piece, end in bounds))

    def jobs(self) -> list[PendingBlock]:
        """Every block, in order."""
        return [PendingBlock(self.block(number)) for number in range(self.blocks)]

    def arguments(self, job: PendingBlock) -> CellArguments:
        """The coordinates and seeds of the job's cells, the last dimension fastest, padded to a full block."""
        index = np.unravel_index(self.numbers(job.block), self.shape)
        if job.positions is not None:
            index = tuple(part[list(job.positions)] for part in index)
        columns = {name: self.coords[name][part] for name, part in zip(self.dims, index)}
        points = {name: columns[name] for name in self.axes}
        seeds = cell_seeds(self.seed, points, columns.get("seed", np.zeros(job.size, dtype=int)))
        padded = np.minimum(np.arange(math.prod(self.tile)), job.size - 1)
        return CellArguments({name: values[padded] for name, values in points.items()}, seeds[padded], job.size)

    def coordinates(self, cell: int) -> dict[str, Any]:
        """Where the cell of that number (last dimension fastest) lies, for people to read."""
        index = np.unravel_index(cell, self.shape)
        return {name: self.coords[name][i].item() for name, i in zip(self.dims, index)}

    def numbers(self, block: Block) -> np.ndarray:
        """The number of each cell of the block in the whole grid."""
        ranges = [np.arange(part.start, part.stop) for part in block.region]
        return np.ravel_multi_index(np.meshgrid(*ranges, indexing="ij"), self.shape).ravel()


def cell_seeds(seed: int, points: dict[str, np.ndarray], replicas: np.ndarray) -> np.ndarray:
    """The seeds of cells: a hash of the base seed, of each axis' name and value, and of which replica it is.

    Neither the order of axes, nor the other values on them, nor the number of seeds has a part in it; 2 and 2.0 are the
    same value.
    """
    names = sorted(points)
    columns = [[_canonical_text(value) for value in points[name].tolist()] for name in names]
    seeds = np.empty(len(replicas), dtype=np.int64)
    for cell, replica in enumerate(replicas.tolist()):
        text = json.dumps([seed, replica, [[name, column[cell]] for name, column in zip(names, columns)]])
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        seeds[cell] = int.from_bytes(digest, "big") >> 1  # 63 bits: no sign, and exact in every integer type of 64
    return seeds


def _canonical_text(value: Any) -> str:
    """Write a value so that equal numbers, whole or not, give equal text."""
    if isinstance(value, (bool, str)):
        return json.dumps(value)
    if isinstance(value, int) and int(float(value)) != value:
        return str(value)
    return (float(value) + 0.0).hex()


def _tile_shape(lengths: list[int], most: list[int], cells: int) -> tuple[int, ...]:
    """The box of at most `cells` cells, long in the last dimensions, that wastes little at the edges."""
    tile = [1] * len(lengths)
    for axis in reversed(range(len(lengths))):
        room = max(1, min(cells // math.prod(tile), most[axis]))
        tile[axis] = math.ceil(lengths[axis] / math.ceil(lengths[axis] / room))
    return tuple(tile)
