"""Run a sweep: compute the cells that are missing, store them, and return all as one labeled dataset."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnet import _progress as progress
from linnet._arguments import count, flag, of_kind, path_of, shown
from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._memory import check_fits
from linnet._workers import WORKER_BYTES
from linnet.sweeps._executors import Given, Here, Pool, compute
from linnet.sweeps._memory import Memory
from linnet.sweeps._status import Status
from linnet.sweeps._store import Job, Store
from linnet.sweeps._task import Task
from linnet.sweeps.configuration import Sweep, digest
from linnet.sweeps.errors import CellFunctionError, FailedCellsError, StoreError

if TYPE_CHECKING:
    import xarray as xr

_folder: ContextVar[Path | None] = ContextVar("folder where sweeps without a store are kept", default=None)


@contextmanager
def keeping(folder: str | Path) -> Iterator[Path]:
    """Store all sweeps without a store in a folder, and resume them from there, inside a `with` block.

    It is for scripts that call functions with sweeps inside. Otherwise give `run` a `store`.

    The name of such a store holds a digest of the configuration and of the code (`linnet.sweeps.provenance`): a changed
    one initializations anew, next to the old one. Cells that failed are tried again.

    **Arguments:**

    - `folder`: folder of the store

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


def open(store: str | Path, **options: Any) -> xr.Dataset:
    """Open the results in a folder, finished or not, as a labeled dataset that reads blocks when they are needed.

    To compute missing cells as well, call `run` with the sweep and the folder.

    `.load()` brings all into memory, `.to_netcdf(path)` and `.to_zarr(path)` convert it.

    **Arguments:**

    - `store`: folder
    - `options`: options of `xarray.open_dataset`; `chunks={}` makes one Dask array for each block, for stores larger
      than memory

    **Returns** a dataset whose dimensions are the axes, `seed` when there are several, and the variables' own.
    `cell_status` is 0 where nothing is computed yet, 1 where a cell is done, 2 where it failed.

    **Example:**

        >>> import tempfile
        >>> from linnet import sweeps
        >>> fixed = {"dim": 4, "steps": 20}
        >>> grid = {"name": "widths", "function": "linnet.sweeps.cells:train", "axes": {"width": [10, 10**6]}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = sweeps.run(sweeps.Sweep(**grid, fixed=fixed), folder)
        ...     print(sweeps.open(folder).cell_status.values.tolist())
        [1, 1]
    """
    import xarray as xr

    from linnet.sweeps._reading import Backend

    return xr.open_dataset(path_of("store", store), engine=Backend, **options)


def status(store: str | Path) -> Status:
    """Return the progress of the sweep in a folder, from its files alone; each is read and checked.

    For the results themselves, use `open`.

    **Arguments:**

    - `store`: folder

    **Returns** a `Status`, which prints as a line.

    **Example:**

        >>> from linnet.sweeps import Sweep, run, status
        >>> import tempfile
        >>> fixed = {"dim": 4, "steps": 20}
        >>> sweep = Sweep(name="widths", function="linnet.sweeps.cells:train", axes={"width": [10, 10**6]}, fixed=fixed)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = run(sweep, folder)
        ...     print(status(folder))
        widths: 2 of 2 cells done
    """
    return Store.existing(path_of("store", store)).status()


def run(
    sweep: Sweep,
    store: str | Path | None = None,
    *,
    resume: bool = True,
    retry_failed: bool = False,
    changed_code: bool = False,
    part: tuple[int, int] = (1, 1),
    workers: int = 0,
    executor: Executor | None = None,
    throw: bool = True,
) -> xr.Dataset:
    """Compute the missing cells of a sweep, and return all cells.

    We recommend a `store` for every sweep that takes longer than a minute, because an interrupted sweep then continues
    where it stopped.

    **Arguments:**

    - `sweep`: description of the grid, a `Sweep`
    - `store`: folder for the results; the default is memory, or the folder of an enclosing `keeping` block
    - `resume`: whether to continue an existing store; finished blocks are not computed again
    - `retry_failed`: whether to compute failed cells of the store again
    - `changed_code`: whether to continue a store that other code began
    - `part`: part to compute, such as `(3, 40)` for the third of forty; parts are independent and may start together
    - `workers`: number of processes on this machine; 0 computes in the current process
    - `executor`: executor that replaces the processes, any `concurrent.futures.Executor`, such as Dask's
      `client.get_executor()`
    - `throw`: whether failed cells raise `FailedCellsError` after all other cells are done; if not, their `cell_status`
      is 2

    **Returns:** a dataset whose dimensions are the axes, `seed` when there are several, and the variables' own; the
    variable `cell_status` says of each cell whether it is done. Where there is a `store`, blocks are read when they are
    asked for, as by `open`.

    **Example:**

        >>> from linnet.sweeps import Sweep, run
        >>> fixed = {"dim": 4, "steps": 20}
        >>> sweep = Sweep(name="widths", function="linnet.sweeps.cells:train", axes={"width": [10, 10**6]}, fixed=fixed)
        >>> results = run(sweep)
        >>> results.loss.dims, results.cell_status.values.tolist()
        (('width',), [1, 1])
    """
    target, found = fill(
        sweep,
        store,
        resume=resume,
        retry_failed=retry_failed,
        changed_code=changed_code,
        part=part,
        workers=workers,
        executor=executor,
    )
    if found.unfinished or found.other_code:
        warnings.warn(str(found), stacklevel=2)
    if throw and found.failed:
        raise FailedCellsError(
            f"{found.failed} of {found.cells} cells of {sweep.name} failed, e.g. {found.example}. "
            f"Try them again with retry_failed=True, or take the others with throw=False."
        )
    if isinstance(target, Memory):
        return target.dataset()
    return open(target.folder) if store is not None else open(target.folder).load()


def fill(
    sweep: Sweep,
    store: str | Path | None,
    *,
    resume: bool,
    retry_failed: bool,
    changed_code: bool,
    part: tuple[int, int],
    workers: int,
    executor: Executor | None,
) -> tuple[Store | Memory, Status]:
    """Compute what is missing of a part; return where the results are, and how far the part is."""
    of_kind("sweep", sweep, Sweep, "`sweeps.Sweep(...)` or `sweeps.load`")
    resume, retry_failed = flag("resume", resume), flag("retry_failed", retry_failed)
    number, parts = _checked_part(part)
    task = Task.of(sweep)
    _check_workers(task, workers, executor)
    path = None if store is None else path_of("store", store)
    if path is None and (kept := _folder.get()) is not None:
        path, retry_failed = kept / f"{sweep.name}-{digest([sweep.plain(), task.code])}", True
    target: Store | Memory = Memory(sweep, task.code)
    if path is not None:
        target = Store.begin(path, sweep, task.code, changed_code=flag("changed_code", changed_code))
    mine = range(number - 1, target.grid.blocks, parts)
    missing = target.missing(mine, retry_failed=retry_failed)
    if not resume and len(missing) < len(mine):
        raise StoreError(
            f"{path} already holds this sweep, {len(mine) - len(missing)} of its blocks finished. "
            f"Resume it (--resume, or resume=True), or choose another folder."
        )
    if missing:
        chosen = Given(executor) if executor is not None else Pool(workers) if workers else Here()
        _compute(target, task, missing, chosen)
    return target, target.status(mine)


def _compute(target: Store | Memory, task: Task, missing: list[Job], workers: Given) -> None:
    """Compute what is missing, and keep each block as it comes."""
    sizes = {job: math.prod(target.grid.box(job[0])) if job[1] is None else len(job[1]) for job in missing}
    done = target.grid.cells - sum(sizes.values())
    try:
        with (
            ONE_BLAS_THREAD,  # once: to enter it takes 2 ms
            progress.bar(target.sweep.name, target.grid.cells, done=done, unit="cells") as advance,
        ):
            for job, block in compute(task, target.grid, missing, workers, target.appeared):
                if block is not None:
                    target.write(job, block)
                advance(sizes[job])
    finally:
        workers.stop()


def _checked_part(part: object) -> tuple[int, int]:
    """Return a part as its number and the number of all."""
    if isinstance(part, Sequence) and len(part) == 2 and all(isinstance(number, int) for number in part):
        number, parts = part
        if 1 <= number <= parts:
            return number, parts
    raise ValueError(f"`part` must be (i, n), the i-th of n parts with i from 1 to n: got {shown(part)}.")


def _check_workers(task: Task, workers: int, executor: Executor | None) -> None:
    """Refuse what cannot compute `task`, before a store is made for it."""
    if executor is not None and not isinstance(executor, Executor):
        raise ValueError(
            "`executor` must be a concurrent.futures.Executor, such as Dask's `client.get_executor()`: got "
            f"{shown(executor)}."
        )
    if workers and executor is not None:
        raise ValueError(f"`workers` and `executor` exclude each other: got {workers} and {shown(executor)}.")
    count("workers", workers, least=0)
    check_fits(workers * WORKER_BYTES, f"`workers` = {workers} processes", "Use as many as there are cores.")
    if (workers or executor is not None) and task.function.startswith("__main__:"):
        raise CellFunctionError(
            f"workers cannot import `{task.function}` from the running script: put the function into a separate module."
        )
