"""Run a sweep: compute the cells that are missing, store them, and return all as one labeled dataset."""

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
from linnet import _progress as progress
from linnet._arguments import flag, of_kind, path_of
from linnet.sweeps import _store as store
from linnet.sweeps import provenance
from linnet.sweeps._memory import Memory
from linnet.sweeps._task import Task
from linnet.sweeps.configuration import Sweep
from linnet.sweeps.errors import FailedCellsError
from linnet.sweeps.executors import FIRST_WORKER_SECONDS, Executor

if TYPE_CHECKING:
    import xarray as xr

Result = TypeVar("Result")
_folder: ContextVar[Path | None] = ContextVar("folder where sweeps without a store are kept", default=None)


@contextmanager
def keeping(folder: str | Path) -> Iterator[Path]:
    """A context in which sweeps without a store of their own are kept in a folder, and resumed from there.

    The name of such a store holds a fingerprint of the configuration, of linnet's version and of the file that the
    function is in (of all of linnet for its own functions): a changed one starts anew, beside the old one. Cells that
    failed are tried again.

    **Arguments:**

    - `folder`: where

    **Returns** the folder, as a context manager.

    **Example:**

        >>> from linnet.sweeps import Sweep, keeping, run
        >>> import tempfile
        >>> fixed = {"dim": 4, "steps": 20}
        >>> sweep = Sweep(name="widths", function="linnet.sweeps.cells:train", axes={"width": [10, 10**6]}, fixed=fixed)
        >>> with tempfile.TemporaryDirectory() as folder, keeping(folder) as kept:
        ...     _ = run(sweep)
        ...     print(len(list(kept.iterdir())) > 0)
        True
    """
    path = path_of("folder", folder)
    token = _folder.set(path)
    try:
        yield path
    finally:
        _folder.reset(token)


@dataclass(frozen=True)
class Report:
    """What a run of a sweep did.

    **Attributes:**

    - `name`: of the sweep
    - `cells`: in all
    - `computed`: this time
    - `failed`: of them
    - `example`: of one that failed
    - `seconds`: it took
    - `foreign`: blocks that were computed earlier, by other code than this: another linnet, or a function that has
      changed
    - `unfinished`: cells that their function marks so, such as networks whose steps ran out before `stop`

    **Example:**

        >>> from linnet.sweeps import Report
        >>> Report("mine", cells=10, computed=4, failed=0, example="", seconds=0.1).computed
        4
    """

    name: str
    cells: int
    computed: int
    failed: int
    example: str
    seconds: float
    foreign: int = 0
    unfinished: int = 0

    def __str__(self) -> str:
        rate = f" ({self.computed / self.seconds:.3g} cells/s)" if self.computed and self.seconds > 0 else ""
        failed = f", {self.failed} of them failed (e.g. {self.example})" if self.failed else ""
        said = f"{self.name}: {self.cells} cells{failed}; {self.computed} computed now in {self.seconds:.1f} s{rate}"
        mixed = "; {} finished blocks are of other code than this (start in another folder to have all of one)"
        said += mixed.format(self.foreign) if self.foreign else ""
        early = "; {} cells are unfinished, their steps ran out before `stop` was met (`unfinished` marks them)"
        return said + (early.format(self.unfinished) if self.unfinished else "")


def run(
    sweep: Sweep,
    store: str | Path | None = None,
    *,
    resume: bool = True,
    retry_failed: bool = False,
    workers: int = 0,
    scheduler: str | None = None,
    wait: float = FIRST_WORKER_SECONDS,
    throw: bool = True,
) -> xr.Dataset:
    """Computes the cells of `sweep` that are not done yet, and returns all of them.

    **Arguments:**

    - `sweep`: the `Sweep`
    - `store`: the folder of a Zarr group to keep results in; None keeps them in memory, or where `keeping` says
    - `resume`: whether an existing store is continued
    - `retry_failed`: whether its failed or damaged cells are computed again
    - `workers`: processes of this machine; 0 computes in this one
    - `scheduler`: the address of a Dask scheduler
    - `wait`: seconds to wait for the scheduler's first worker
    - `throw`: whether cells that failed raise `FailedCellsError` once everything else is done; without, they are in the
      dataset with `cell_status` 2

    **Returns:** a dataset whose dimensions are the axes, `seed` when there are several, and the variables' own; the
    variable `cell_status` says of each cell whether it is done.

    **Example:**

        >>> from linnet.sweeps import Sweep, run
        >>> fixed = {"dim": 4, "steps": 20}
        >>> sweep = Sweep(name="widths", function="linnet.sweeps.cells:train", axes={"width": [10, 10**6]}, fixed=fixed)
        >>> results = run(sweep)
        >>> results.loss.dims, results.cell_status.values.tolist()
        (('width',), [1, 1])
    """
    executor = Executor(workers, scheduler, wait)
    report, dataset = _compute_missing(
        sweep, store, executor, lambda sink: sink.dataset(), resume=resume, retry_failed=retry_failed
    )
    if report.foreign or report.unfinished:
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
    wait: float = FIRST_WORKER_SECONDS,
) -> Report:
    """Computes the cells of a sweep that are not done yet and leaves them in the store, however many they are.

    **Arguments:**

    - `sweep`: the `Sweep`
    - `store`: the folder of a Zarr group
    - `resume`: whether an existing store is continued
    - `retry_failed`: whether its failed or damaged cells are computed again
    - `workers`: processes of this machine
    - `scheduler`: the address of a Dask scheduler
    - `wait`: seconds to wait for the scheduler's first worker

    **Returns** a `Report`.

    **Example:**

        >>> from linnet.sweeps import Sweep, complete
        >>> import tempfile
        >>> from pathlib import Path
        >>> fixed = {"dim": 4, "steps": 20}
        >>> sweep = Sweep(name="widths", function="linnet.sweeps.cells:train", axes={"width": [10, 10**6]}, fixed=fixed)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     store = Path(folder) / "widths.zarr"
        ...     first, again = complete(sweep, store), complete(sweep, store)
        >>> first.computed, again.computed  # nothing is computed twice
        (2, 0)
    """
    executor = Executor(workers, scheduler, wait)
    report, _ = _compute_missing(sweep, store, executor, lambda sink: None, resume=resume, retry_failed=retry_failed)
    return report


def _compute_missing(
    sweep: Sweep,
    path: str | Path | None,
    executor: Executor,
    finish: Callable[[Memory | store.Store], Result],
    *,
    resume: bool,
    retry_failed: bool,
) -> tuple[Report, Result]:
    """Compute what is missing into a store or into memory; return the report and what `finish` reads there."""
    began = time.perf_counter()
    of_kind("sweep", sweep, Sweep, "`sweeps.Sweep(...)` or `sweeps.load`")
    path = None if path is None else path_of("store", path)
    resume, retry_failed = flag("resume", resume), flag("retry_failed", retry_failed)
    task = Task.of(sweep)
    executor.check(task)
    folder = _folder.get()
    if path is None and folder is not None:
        retry_failed = True
        code = provenance.source(sweep.function, sweep.fixed, sweep.axes)
        path = folder / f"{sweep.name}-{sweep.digest(linnet.__version__, code)}.zarr"
    opened: AbstractContextManager[Memory | store.Store]
    if path is None:
        opened = nullcontext(Memory(sweep, str(executor)))
    else:
        opened = store.opened(path, sweep, resume=resume, retry_failed=retry_failed, executor=str(executor))
    with opened as sink:
        jobs = sink.pending()
        computed = sum(job.size for job in jobs)
        if jobs:
            with (
                executor.started(task, sink.grid) as work,
                progress.bar(sweep.name, sink.grid.cells, done=sink.grid.cells - computed, unit="cells") as advance,
            ):
                for job, outcome in work(jobs):
                    sink.write(job, outcome)
                    advance(job.size)
        failures, foreign, unfinished = sink.failures(), sink.foreign(), sink.unfinished()
        result = finish(sink)
    example = ""
    if failures:
        cell, failure = next(iter(failures.items()))
        place = ", ".join(f"{name}={value}" for name, value in sink.grid.coordinates(cell).items())
        example = f"{place}: {failure.kind}: {' '.join(failure.message.split())}"
    seconds = time.perf_counter() - began
    return Report(sweep.name, sink.grid.cells, computed, len(failures), example, seconds, foreign, unfinished), result
