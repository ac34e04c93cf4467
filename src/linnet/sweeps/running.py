"""Runs a sweep: what is not done yet is computed, kept, and given back as one labelled dataset."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import linnet
from linnet import progress
from linnet.arguments import flag, of_kind, path_of
from linnet.sweeps import executors, provenance, store
from linnet.sweeps.configuration import Sweep
from linnet.sweeps.errors import FailedCellsError
from linnet.sweeps.memory import Memory
from linnet.sweeps.task import Task

if TYPE_CHECKING:
    import xarray as xr

Result = TypeVar("Result")
_folder: ContextVar[Path | None] = ContextVar("folder where sweeps without a store are kept", default=None)


@contextmanager
def keeping(folder: str | Path) -> Iterator[Path]:
    """Sweeps run inside the block without a store of their own are stored in `folder`, and resumed from there.

    The name of such a store holds a fingerprint of the configuration, of linnet's version and of the file that the
    function is in (of all of linnet for its own functions): a changed one starts anew, beside the old one. Cells that
    failed are tried again.
    """
    path = path_of("folder", folder)
    token = _folder.set(path)
    try:
        yield path
    finally:
        _folder.reset(token)


@dataclass(frozen=True)
class Report:
    """What a run of a sweep did: cells in all, computed this time and failed; `example` tells of one that failed.

    `foreign` blocks were computed earlier, by other code than this: another linnet, or a function that has changed.
    """

    name: str
    cells: int
    computed: int
    failed: int
    example: str
    seconds: float
    foreign: int = 0

    def __str__(self) -> str:
        rate = f" ({self.computed / self.seconds:.3g} cells/s)" if self.computed and self.seconds > 0 else ""
        failed = f", {self.failed} of them failed (e.g. {self.example})" if self.failed else ""
        said = f"{self.name}: {self.cells} cells{failed}; {self.computed} computed now in {self.seconds:.1f} s{rate}"
        mixed = "; {} finished blocks are of other code than this (start in another folder to have all of one)"
        return said + (mixed.format(self.foreign) if self.foreign else "")


def run(
    sweep: Sweep,
    store: str | Path | None = None,
    *,
    resume: bool = True,
    retry_failed: bool = False,
    workers: int = 0,
    scheduler: str | None = None,
    wait: float = executors.WAIT,
    throw: bool = True,
) -> xr.Dataset:
    """Computes the cells of `sweep` that are not done yet, and returns all of them.

    **Arguments:** `store` is the folder of a Zarr group to keep results in; None keeps them in memory, or where
    `keeping` says. An existing store is continued if `resume`, and its failed or damaged cells are computed again if
    `retry_failed`. Blocks are computed in this process, on `workers` processes of this machine, or by the Dask
    scheduler at the address `scheduler`, whose first worker is waited for `wait` seconds. With `throw` (the default)
    cells that failed raise `FailedCellsError` once everything else is done; without, they are in the dataset with
    `cell_status` 2.

    **Returns:** a dataset whose dimensions are the axes, `seed` when there are several, and the variables' own; the
    variable `cell_status` says of each cell whether it is done.
    """
    report, dataset = _run(
        sweep,
        store,
        _dataset,
        resume=resume,
        retry_failed=retry_failed,
        workers=workers,
        scheduler=scheduler,
        wait=wait,
    )
    if report.foreign:
        warnings.warn(str(report), stacklevel=2)
    if throw and report.failed:
        raise FailedCellsError(
            f"{report.failed} of {report.cells} cells of {sweep.name} failed, e.g. {report.example}. "
            f"Try them again with retry_failed=True, or take the others with throw=False."
        )
    return dataset


def complete(
    sweep: Sweep,
    store: str | Path,
    *,
    resume: bool = True,
    retry_failed: bool = False,
    workers: int = 0,
    scheduler: str | None = None,
    wait: float = executors.WAIT,
) -> Report:
    """As `run`, for results too many to load: leaves them in the store and returns what was done."""
    report, _ = _run(
        sweep,
        store,
        lambda sink: None,
        resume=resume,
        retry_failed=retry_failed,
        workers=workers,
        scheduler=scheduler,
        wait=wait,
    )
    return report


def _run(
    sweep: Sweep,
    path: str | Path | None,
    finish: Callable[[Memory | store.Store], Result],
    *,
    resume: bool,
    retry_failed: bool,
    workers: int,
    scheduler: str | None,
    wait: float,
) -> tuple[Report, Result]:
    began = time.perf_counter()
    of_kind("sweep", sweep, Sweep, "`sweeps.Sweep(...)` or `sweeps.load`")
    path = None if path is None else path_of("store", path)
    resume, retry_failed = flag("resume", resume), flag("retry_failed", retry_failed)
    task = Task.of(sweep)
    executors.check(task, workers, scheduler)
    told = executors.described(workers, scheduler)
    folder = _folder.get()
    if path is None and folder is not None:
        retry_failed = True
        path = folder / f"{sweep.name}-{sweep.digest(linnet.__version__, provenance.source(sweep.function))}.zarr"
    opened: AbstractContextManager[Memory | store.Store]
    if path is None:
        opened = nullcontext(Memory(sweep, told))
    else:
        opened = store.opened(path, sweep, resume=resume, retry_failed=retry_failed, executor=told)
    with opened as sink:
        jobs = sink.pending()
        computed = sum(job.size for job in jobs)
        if jobs:
            with (
                executors.executor(task, sink.grid, workers=workers, scheduler=scheduler, wait=wait) as work,
                progress.bar(sweep.name, sink.grid.cells, done=sink.grid.cells - computed, unit="cells") as advance,
            ):
                for job, outcome in work(jobs):
                    sink.write(job, outcome)
                    advance(job.size)
        failures, foreign = sink.failures(), sink.foreign()
        result = finish(sink)
    example = ""
    if failures:
        cell, failure = next(iter(failures.items()))
        place = ", ".join(f"{name}={value}" for name, value in sink.grid.coordinates(cell).items())
        example = f"{place}: {failure.kind}: {' '.join(failure.message.split())}"
    seconds = time.perf_counter() - began
    return Report(sweep.name, sink.grid.cells, computed, len(failures), example, seconds, foreign), result


def _dataset(sink: Memory | store.Store) -> xr.Dataset:
    return sink.dataset()
