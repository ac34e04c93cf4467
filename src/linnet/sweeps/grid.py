"""The cells of a sweep: their coordinates, their seeds, and the blocks they are computed and stored in."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linnet.sweeps.configuration import Sweep

MAX_BLOCKS = 500  # what the default block size keeps the number of a store's files below
MIN_BLOCK_CELLS = 64  # cells per block, where nothing else decides


@dataclass(frozen=True)
class Grid:
    """All cells of a sweep, in blocks: boxes of neighboring cells that are computed and stored together.

    Dimensions are the axes in their order, then `seed` when there are several. Cells and blocks are counted with the
    last dimension fastest.
    """

    coords: dict[str, np.ndarray]
    tile: tuple[int, ...]
    axes: tuple[str, ...]
    seed: int

    @classmethod
    def of(cls, sweep: Sweep, tile: Sequence[int] | None = None) -> Grid:
        """The grid of `sweep`; `tile`, the shape of a block, repeats the choice that a store remembers."""
        coords = {name: np.asarray(values) for name, values in sweep.axes.items()}
        if sweep.seeds > 1:
            coords["seed"] = np.arange(sweep.seeds)
        lengths = [len(values) for values in coords.values()]
        if tile is None:
            most = [1 if name in sweep.unbatched_axes else length for name, length in zip(coords, lengths)]
            cells = sweep.block or max(MIN_BLOCK_CELLS, math.ceil(math.prod(lengths) / MAX_BLOCKS))
            tile = _tile_shape(lengths, most, cells)
        return cls(coords, tuple(tile), tuple(sweep.axes), sweep.seed)

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each dimension."""
        return tuple(len(values) for values in self.coords.values())

    @property
    def cells(self) -> int:
        """Number of cells."""
        return math.prod(self.shape)

    @property
    def counts(self) -> tuple[int, ...]:
        """Blocks along each dimension."""
        return tuple(-(-length // piece) for length, piece in zip(self.shape, self.tile))

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return math.prod(self.counts)

    def region(self, block: int) -> tuple[slice, ...]:
        """Region of a block in the grid."""
        index = np.unravel_index(block, self.counts)
        return tuple(slice(int(i) * n, min(int(i) * n + n, end)) for i, n, end in zip(index, self.tile, self.shape))

    def box(self, block: int) -> tuple[int, ...]:
        """The shape of a block: smaller than the tile at the grid's far edges."""
        return tuple(part.stop - part.start for part in self.region(block))

    def arguments(
        self, block: int, positions: Sequence[int] | None = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray, int]:
        """The points and seeds of a block's cells, or of those at `positions` alone, and how many they are.

        The last cell is repeated up to the length of a full block: every call of a sweep has the same length, as
        compiled batches of one length give the same bits whatever is in them.
        """
        grids = np.meshgrid(*(np.arange(part.start, part.stop) for part in self.region(block)), indexing="ij")
        own = slice(None) if positions is None else list(positions)
        columns = {name: values[grid.ravel()[own]] for (name, values), grid in zip(self.coords.items(), grids)}
        size = grids[0].size if positions is None else len(positions)
        points = {name: columns[name] for name in self.axes}
        seeds = cell_seeds(self.seed, points, columns.get("seed", np.zeros(size, dtype=int)))
        padded = np.minimum(np.arange(math.prod(self.tile)), size - 1)
        return {name: values[padded] for name, values in points.items()}, seeds[padded], size

    def place(self, block: int, position: int) -> str:
        """Coordinates of a cell of a block, for people to read."""
        index = np.unravel_index(position, self.box(block))
        starts = (part.start for part in self.region(block))
        places = zip(self.coords.items(), starts, index)
        return ", ".join(f"{name}={values[start + i].item()}" for (name, values), start, i in places)


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
