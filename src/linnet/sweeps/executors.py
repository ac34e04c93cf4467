"""Where blocks are computed: in this process, or on Dask workers of this machine or of many."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from linnet.sweeps.errors import CellFunctionError, ExecutorError
from linnet.sweeps.grid import Cells, Grid, Job
from linnet.sweeps.task import FAILED, Failure, Outcome, Task

Work = Callable[[Iterable[Job]], Iterator[tuple[Job, Outcome]]]

# One thread for each worker process: BLAS and XLA would otherwise start one per core in every one of them. They are set
# before the process starts, as libraries read them when they are loaded. Workers are for cores, so JAX stays off GPUs.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NPROC": "1",  # XLA's
    "JAX_PLATFORMS": "cpu",
}


def described(workers: int, scheduler: str | None) -> str:
    """The executor in words, as stores note it."""
    if scheduler is not None:
        return f"Dask scheduler {scheduler}"
    return f"{workers} Dask workers of one thread" if workers else "in process"


@contextmanager
def executor(task: Task, grid: Grid, *, workers: int = 0, scheduler: str | None = None) -> Iterator[Work]:
    """A function that computes jobs and yields them as they are done: here, on `workers` processes, or by `scheduler`."""
    if workers and scheduler is not None:
        raise ValueError(f"`workers` and `scheduler` exclude each other: got {workers} and {scheduler!r}.")
    if workers < 0:
        raise ValueError(f"`workers` must not be negative: got {workers}.")
    if not workers and scheduler is None:
        yield lambda jobs: ((job, task(grid.arguments(job))) for job in jobs)
        return
    if task.function.startswith("__main__:"):
        raise CellFunctionError(
            f"workers cannot import `{task.function}` from the running script: put the function in a module of its own."
        )
    with ExitStack() as stack:
        client = stack.enter_context(_local(workers) if scheduler is None else _remote(scheduler))
        yield lambda jobs: _distributed(client, task, grid, jobs)


@contextmanager
def _local(workers: int) -> Iterator[Any]:
    dask, distributed = _imported()
    settings = {
        "distributed.worker.multiprocessing-method": "spawn",  # a fork after JAX has started hangs
        "distributed.nanny.pre-spawn-environ": ENVIRONMENT,
    }
    with (
        _environment_restored(),
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def _environment_restored() -> Iterator[None]:
    # Dask sets the workers' variables in this process on the way, and leaves them there.
    before = dict(os.environ)
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def _remote(address: str) -> Iterator[Any]:
    _, distributed = _imported()
    try:
        client = distributed.Client(address, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise ExecutorError(
            f"no Dask scheduler answers at {address}: {error}. Start one with `dask scheduler`, or correct the address."
        ) from error
    with client:
        yield client


def _distributed(client: Any, task: Task, grid: Grid, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome]]:
    from distributed import KilledWorker, as_completed

    futures = {client.submit(_on_worker, task, grid.arguments(job), pure=False): job for job in jobs}
    completion = as_completed(list(futures), loop=client.loop)
    for future in completion:
        if future.status in ("pending", "lost"):  # its worker died before the result was fetched: it is computed again
            completion.add(future)
            continue
        job = futures.pop(future)
        if future.status not in ("finished", "error"):
            raise ExecutorError("the connection to the Dask scheduler was lost. Finished cells are intact: resume.")
        error = future.exception() if future.status == "error" else None
        if isinstance(error, KilledWorker):
            yield job, _died(job, error)
        elif isinstance(error, CellFunctionError):
            raise error
        elif error is not None:
            raise ExecutorError(
                f"a worker could not run its task: {type(error).__name__}: {error}. Workers need the same linnet, and the "
                f"module of `{task.function}`, as this process."
            ) from error
        else:
            yield job, future.result()


def _on_worker(task: Task, cells: Cells) -> Outcome:
    if "jax" not in sys.modules:  # for workers that others have started: XLA reads it when it starts
        os.environ.setdefault("NPROC", "1")
    return task(cells)


def _died(job: Job, error: Exception) -> Outcome:
    told = f"every worker that took this block died, perhaps for want of memory: {error}"
    failures = [Failure(position, "KilledWorker", told) for position in range(job.size)]
    return Outcome({}, np.full(job.size, FAILED, dtype=np.int8), failures, 0.0, "worker lost")


def _imported() -> tuple[Any, Any]:
    try:
        import dask
        import distributed
    except ImportError:
        raise ExecutorError("workers need Dask: install linnet[sweeps], or run without workers.") from None
    return dask, distributed
