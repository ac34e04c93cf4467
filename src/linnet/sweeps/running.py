"""Run a sweep: compute the cells that are missing, store them, and return all as one labeled dataset."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet import _progress as progress
from linnet._arguments import count, flag, of_kind, path_of, shown
from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._memory import check_fits
from linnet._workers import WORKER_BYTES
from linnet.sweeps import _store as stores
from linnet.sweeps._blocks import STATUS, Block, fill_value
from linnet.sweeps._executors import Given, Here, Pool, compute
from linnet.sweeps._store import Job, Status, Store
from linnet.sweeps._task import Task
from linnet.sweeps.configuration import Sweep, digest
from linnet.sweeps.errors import CellFunctionError, FailedCellsError, StoreError
from linnet.sweeps.grid import Grid

if TYPE_CHECKING:
    import xarray as xr

_folder: ContextVar[Path | None] = ContextVar("folder where sweeps without a store are kept", default=None)


@contextmanager
def keeping(folder: str | Path) -> Iterator[Path]:
    """A context in which sweeps without a store of their own are kept in a folder, and resumed from there.

    The name of such a store holds a digest of the configuration and of the code (`linnet.sweeps.provenance`): a changed
    one starts anew, beside the old one. Cells that failed are tried again.

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


def open(store: str | Path, **options: Any) -> xr.Dataset:
    """The results in a folder, finished or not, as a labeled dataset that reads blocks when they are asked for.

    `.load()` brings all into memory, `.to_netcdf(path)` and `.to_zarr(path)` convert it.

    **Arguments:**

    - `store`: the folder
    - `options`: of `xarray.open_dataset`; `chunks={}` makes Dask arrays of a block each, for stores larger than memory

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
    """Computes the cells of `sweep` that are not done yet, and returns all of them.

    **Arguments:**

    - `sweep`: the `Sweep`
    - `store`: the folder to keep results in; None keeps them in memory, or where `keeping` says
    - `resume`: whether finished blocks may be there already; they are not computed again
    - `retry_failed`: whether failed cells are computed again
    - `changed_code`: whether to go on with other code than the store was begun by
    - `part`: `(3, 40)` computes the third of forty parts, which need nothing of each other and may start together
    - `workers`: processes of this machine; 0 computes in this one
    - `executor`: any `concurrent.futures.Executor` in their place, such as Dask's `client.get_executor()`
    - `throw`: whether cells that failed raise `FailedCellsError` once everything else is done; without, they are in the
      dataset with `cell_status` 2

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
    if isinstance(target, _Memory):
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
) -> tuple[Store | _Memory, Status]:
    """Compute what is missing of a part; return where the results are, and how far the part is."""
    of_kind("sweep", sweep, Sweep, "`sweeps.Sweep(...)` or `sweeps.load`")
    resume, retry_failed = flag("resume", resume), flag("retry_failed", retry_failed)
    number, parts = _checked_part(part)
    task = Task.of(sweep)
    _check_workers(task, workers, executor)
    path = None if store is None else path_of("store", store)
    if path is None and (kept := _folder.get()) is not None:
        path, retry_failed = kept / f"{sweep.name}-{digest([sweep.plain(), task.code])}", True
    target: Store | _Memory = _Memory(sweep, task.code)
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


class _Memory:
    """Results of a sweep that has no store, with the interface of one."""

    def __init__(self, sweep: Sweep, code: dict[str, str]) -> None:
        self.sweep, self.grid, self.code = sweep, Grid.of(sweep), code
        self.blocks: dict[int, Block] = {}
        self.variables: dict[str, Any] = {}

    def missing(self, numbers: Iterable[int], *, retry_failed: bool = False) -> list[Job]:
        """All of it."""
        return [(number, None) for number in numbers]

    def appeared(self, job: Job) -> bool:
        """Nobody else writes here."""
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
        return stores.counted(self.sweep, self.grid, self.code, abouts, self.blocks.__getitem__)

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


def _compute(target: Store | _Memory, task: Task, missing: list[Job], workers: Given) -> None:
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
            f"workers cannot import `{task.function}` from the running script: put the function in a module of its own."
        )
