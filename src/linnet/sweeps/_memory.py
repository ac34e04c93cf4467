"""Results of a sweep that has no store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.sweeps import _store as stores
from linnet.sweeps._blocks import STATUS, Block, fill_value
from linnet.sweeps._status import Status, counted
from linnet.sweeps._store import Job
from linnet.sweeps.configuration import Sweep
from linnet.sweeps.grid import Grid

if TYPE_CHECKING:
    import xarray as xr


class Memory:
    """Results in memory, with the interface of a store."""

    def __init__(self, sweep: Sweep, code: dict[str, str]) -> None:
        self.sweep, self.grid, self.code = sweep, Grid.of(sweep), code
        self.blocks: dict[int, Block] = {}
        self.variables: dict[str, Any] = {}

    def missing(self, numbers: Iterable[int], *, retry_failed: bool = False) -> list[Job]:
        """All of it."""
        return [(number, None) for number in numbers]

    def appeared(self, job: Job) -> bool:
        """No other process writes here."""
        return False

    def write(self, job: Job, block: Block) -> None:
        """Keep a block."""
        if block.variables:
            stores.check_variables(block.variables, self.variables, self.sweep, self.grid)
            self.variables = block.variables
        self.blocks[job[0]] = block

    def status(self, numbers: Iterable[int]) -> Status:
        """How far it is."""
        abouts = {number: block.summary() for number, block in self.blocks.items()}
        return counted(self.sweep, self.grid, self.code, abouts, self.blocks.get)

    def dataset(self) -> xr.Dataset:
        """Everything, labeled."""
        from linnet.sweeps._reading import labeled

        kinds = {STATUS: ((), (), np.int8), **self.variables}
        variables = {}
        for name, (dims, own, dtype) in kinds.items():
            empty = 0 if name == STATUS else fill_value(np.dtype(dtype))
            variables[name] = dims, np.full((*self.grid.shape, *own), empty, dtype)
            for number, block in self.blocks.items():
                if name in (block.cells.dtype.names or ()):
                    variables[name][1][self.grid.region(number)] = block.cells[name].reshape(
                        *self.grid.box(number), *own
                    )
        devices = "; ".join(self.status(()).devices)
        about = stores.attributes(stores.described(self.sweep, self.grid.tile, self.code), devices)
        return labeled(self.sweep, self.grid, variables, about)
