"""Runs a sweep: what is not done yet is computed, kept, and given back as one labelled dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from linnet import progress
from linnet.sweeps import executors, provenance
from linnet.sweeps.configuration import Sweep
from linnet.sweeps.errors import FailedCellsError
from linnet.sweeps.grid import Grid
from linnet.sweeps.memory import Memory
from linnet.sweeps.task import Task

if TYPE_CHECKING:
    import xarray as xr

_folder: ContextVar[Path | None] = ContextVar("folder where sweeps without a store are kept", default=None)


@contextmanager
def keeping(folder: str | Path) -> Iterator[Path]:
    """Sweeps run inside the block without a store of their own are stored in `folder`, and resumed from there.

    The name of such a store holds a fingerprint of the configuration, of linnet's version and of the file the function is
    in: a changed one starts anew, beside the old one.
    """
    path = Path(folder)
    token = _folder.set(path)
    try:
        yield path
    finally:
        _folder.reset(token)


def run(
    sweep: Sweep,
    store: str | Path | None = None,
    *,
    resume: bool = True,
    retry_failed: bool = False,
    workers: int = 0,
    scheduler: str | None = None,
    throw: bool = True,
) -> xr.Dataset:
    """Computes the cells of `sweep` that are not done yet, and returns all of them.

    **Arguments:** `store` is the folder of a Zarr group to keep results in; None keeps them in memory, or where `keeping`
    says. An existing store is continued if `resume`, and its failed or damaged cells are computed again if `retry_failed`.
    Blocks are computed in this process, on `workers` processes of this machine, or by the Dask scheduler at the address
    `scheduler`. With `throw` (the default) cells that failed raise `FailedCellsError` once everything else is done;
    without, they are in the dataset as `cell_status == 2`.

    **Returns:** a dataset whose dimensions are the axes, `seed` when there are several, and the variables' own; the
    variable `cell_status` says of each cell whether it is done.
    """
    task = Task.of(sweep)
    grid = Grid.of(sweep)
    memory = Memory(sweep, grid)
    with executors.in_process(task, grid) as work, progress.bar(sweep.name, grid.cells) as advance:
        for block, outcome in work(memory.pending()):
            memory.write(block, outcome)
            advance(block.size)
    if throw and memory.failures:
        raise FailedCellsError(f"{len(memory.failures)} cells failed")
    return memory.dataset(provenance.attributes(sweep, "in process"))
