"""Where blocks are computed: in this process, or on Dask workers of this machine or of many."""

from __future__ import annotations

import logging
import math
import os
import platform
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures as threaded
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet
from linnet import _extras as extras
from linnet import _progress as progress
from linnet._files import temporary_folder
from linnet._memory import check_fits
from linnet._workers import ENVIRONMENT, WORKER_BYTES, environment_restored, starting
from linnet.sweeps import provenance
from linnet.sweeps._task import FAILED, BlockResult, CellFailure, Task
from linnet.sweeps.errors import CellFunctionError, ExecutorError, SweepError
from linnet.sweeps.grid import CellArguments, Grid, PendingBlock

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster, as_completed

Work = Callable[[Iterable[PendingBlock]], Iterator[tuple[PendingBlock, BlockResult]]]

FIRST_WORKER_SECONDS = 60.0  # seconds to wait for the first worker of a scheduler
WARN_AFTER_SECONDS = 5.0  # without a worker, after which a scheduler's silence is explained
POLL_SECONDS = 0.02
CONNECT_SECONDS = 10.0  # seconds at most for a scheduler to answer; without a bar, as one that is there answers at once


@dataclass(frozen=True)
class Executor:
    """Where blocks are computed: in this process, on `workers` processes of this machine, or by the Dask scheduler at
    the address `scheduler`, whose first worker is waited for `wait` seconds."""

    workers: int
    scheduler: str | None
    wait: float

    def __str__(self) -> str:
        if self.scheduler is not None:
            return f"Dask scheduler {self.scheduler}"
        return f"{self.workers} Dask workers of one thread" if self.workers else "in process"

    def check(self, task: Task) -> None:
        """Refuses what cannot compute `task`, before a store is made for it."""
        workers, scheduler = self.workers, self.scheduler
        if workers and scheduler is not None:
            raise ValueError(f"`workers` and `scheduler` exclude each other: got {workers} and {scheduler!r}.")
        if workers < 0:
            raise ValueError(f"`workers` must not be negative: got {workers}.")
        advice = "Use fewer `workers`: as many as there are cores."
        check_fits(workers * WORKER_BYTES, f"`workers` = {workers} processes", advice)
        if (workers or scheduler is not None) and task.function.startswith("__main__:"):
            raise CellFunctionError(
                f"workers cannot import `{task.function}` from the running script: put the function in a module of "
                "its own."
            )
        if scheduler is not None:
            _check_address(scheduler)

    @contextmanager
    def started(self, task: Task, grid: Grid) -> Iterator[Work]:
        """A function that computes jobs and yields finished ones."""
        if not self.workers and self.scheduler is None:
            yield lambda jobs: ((job, task(grid.arguments(job))) for job in jobs)
            return
        local = self.scheduler is None
        patience = math.inf if local else self.wait  # local workers are started again
        with _local_client(self.workers) if local else _remote_client(str(self.scheduler), self.wait) as client:
            yield lambda jobs: _compute_on_workers(client, task, grid, jobs, patience)


@contextmanager
def _local_client(workers: int) -> Iterator[Client]:
    """Start a Dask cluster on this machine and yield its client."""
    dask, distributed = _import_dask()
    settings = {
        "distributed.worker.multiprocessing-method": "spawn",  # a fork after JAX has started hangs
        "distributed.nanny.pre-spawn-environ": ENVIRONMENT,
    }
    options: dict[str, Any] = {
        "threads_per_worker": 1,
        "processes": True,
        "memory_limit": 0,
        "dashboard_address": "127.0.0.1:0",
    }
    with ExitStack() as stack:
        # Dask sets the workers' variables in this process on the way, and leaves them there.
        stack.enter_context(environment_restored())
        folder = stack.enter_context(temporary_folder())
        stack.enter_context(dask.config.set({**settings, "temporary-directory": str(folder)}))
        with interrupts_later():
            try:
                # keys of the moment: without them any user of this machine could send tasks to the scheduler
                options |= {"security": distributed.security.Security.temporary(), "protocol": "tls"}
                cluster = distributed.LocalCluster(n_workers=workers, silence_logs=logging.CRITICAL, **options)
            except TimeoutError as error:
                raise ExecutorError(
                    f"{workers} workers could not be started in Dask's time: this machine may be busy. Ask for fewer "
                    "`workers`, or for none."
                ) from error
            stack.enter_context(_closing(cluster))
        stack.enter_context(_keep_workers(cluster, workers))
        yield stack.enter_context(distributed.Client(cluster, set_as_default=False))


@contextmanager
def _closing(cluster: LocalCluster) -> Iterator[None]:
    """Close a Dask cluster after the block, and leave workers that are slow to end to the signal that kills them."""
    # Dask waits some seconds for each worker that it has killed: too few on a busy machine for one that is starting.
    with ExitStack() as stack:
        stack.enter_context(cluster)
        try:
            yield
        finally:
            with suppress(TimeoutError):
                stack.close()


@contextmanager
def _keep_workers(cluster: LocalCluster, workers: int) -> Iterator[None]:
    """Keep starting workers while the block runs, where some died before they were ready."""
    # Dask replaces a worker that dies at work, and gives up one that dies while it starts. Asked again for as many as
    # there should be, it starts those that are missing.
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1.0):
            cluster.scale(workers)

    thread = threading.Thread(target=watch, name="workers", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Ctrl-C is blocked inside the block, and in processes started there for ever; it is raised at the end."""
    # Ctrl-C on a terminal reaches every process. Workers inherit that it is blocked: this process will end them. One
    # that comes meanwhile is not lost: it is raised as soon as the workers are there.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Python's process that puts semaphores away unblocks the signal when it is started, and would warn of what it
    # finds. It ignores Ctrl-C and SIGTERM; SIGHUP, which a terminal that closes sends to it as well, it would die of.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        with environment_restored({"PYTHONWARNINGS": "ignore"}):
            resource_tracker.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    came = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: came.set())
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with starting:
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, before)
        if came.is_set() and callable(before):  # also where it has made something else fail
            before(signal.SIGINT, None)


def _check_address(address: str) -> None:
    """Refuse an address that no Dask scheduler can have."""
    _import_dask()
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import get_backend

    try:
        scheme, location = parse_address(address)
        get_backend(scheme)
        if scheme != "inproc":
            host, port = parse_host_port(location)
            if not host or not 0 < port < 2**16:
                raise ValueError("a host and a port from 1 to 65535 are needed")
    except (ImportError, RuntimeError, ValueError) as error:
        raise ExecutorError(
            f"{address!r} is not the address of a Dask scheduler: {error}. It looks like tcp://10.0.0.1:8786."
        ) from None


@contextmanager
def _remote_client(address: str, wait: float) -> Iterator[Client]:
    """Connect to a Dask scheduler and yield the client."""
    dask, distributed = _import_dask()
    configured = dask.utils.parse_timedelta(dask.config.get("distributed.comm.timeouts.connect", CONNECT_SECONDS))
    client = distributed.Client.__new__(distributed.Client)
    try:
        # In two steps, as a client that cannot start must be closed here: at exit it would wait for its dead thread.
        client.__init__(address, set_as_default=False, timeout=min(configured, CONNECT_SECONDS))
    except Exception as error:  # of the network, of TLS, or of the protocol's own library
        with suppress(Exception):
            client.close(timeout=3)
        raise ExecutorError(
            f"no Dask scheduler answers at {address}: {error}. Start one with `dask scheduler`, or correct the address."
        ) from error
    with _silent_dask(), client:
        _await_worker(client, address, wait)
        yield client


def _await_worker(client: Client, address: str, wait: float) -> None:
    """Waits for the first worker, with a bar: a scheduler without any would keep its tasks for ever."""
    until = time.monotonic() + wait
    with progress.bar(f"waiting for a worker of {address}", math.ceil(wait), unit="s") as advance:
        while not client.scheduler_info()["workers"]:
            left = until - time.monotonic()
            if left <= 0:
                raise ExecutorError(
                    f"the Dask scheduler at {address} has had no worker for {wait:g} seconds. Start one with "
                    f"`dask worker {address}`, or wait longer."
                )
            time.sleep(min(1.0, left))
            advance(1)


@contextmanager
def _silent_dask() -> Iterator[None]:
    """Keep Dask's own log silent: failures are raised as exceptions."""
    # Failures are raised as exceptions; Dask's own log of them is for people who debug Dask.
    handlers = [(handler, handler.level) for handler in logging.getLogger("distributed").handlers]
    for handler, _ in handlers:
        handler.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for handler, level in handlers:
            handler.setLevel(level)


def _compute_on_workers(
    client: Client, task: Task, grid: Grid, jobs: Iterable[PendingBlock], patience: float
) -> Iterator[tuple[PendingBlock, BlockResult]]:
    """Compute jobs on Dask workers; jobs whose worker died are tried again one by one."""
    suspects = []
    for job, outcome in _gather(client, task, grid, jobs, patience):
        if isinstance(outcome, BlockResult):
            yield job, outcome
        else:
            suspects.append(job)
    # Dask blames a worker's death on every block it had in hand. Tried again one by one, only the guilty fail.
    for suspect in suspects:
        for job, outcome in _gather(client, task, grid, [suspect], patience):
            yield job, outcome if isinstance(outcome, BlockResult) else _lost_block(job, outcome)


def _gather(
    client: Client, task: Task, grid: Grid, jobs: Iterable[PendingBlock], patience: float
) -> Iterator[tuple[PendingBlock, BlockResult | Exception]]:
    """Yield finished jobs with their results: `KilledWorker` for a job whose workers died."""
    from distributed import KilledWorker, as_completed
    from distributed.comm import CommClosedError

    code = (linnet.__version__, provenance.source(task.function, task.fixed))
    futures = {client.submit(_compute_block, task, grid.arguments(job), code, pure=False): job for job in jobs}
    completion = as_completed(list(futures), loop=client.loop)
    for future in _completed_futures(client, completion, patience):
        if future.status in ("pending", "lost"):  # its worker died before the result was fetched: it is computed again
            completion.add(future)
            continue
        job = futures.pop(future)
        try:
            if future.status not in ("finished", "error"):
                raise CommClosedError(future.status)
            outcome = _fetch(client, future, patience)
        except KilledWorker as error:
            yield job, error
        except SweepError:
            raise
        except CommClosedError as error:
            lost = "the connection to the Dask scheduler was lost. Finished cells are intact: resume."
            raise ExecutorError(lost) from error
        except Exception as error:
            raise ExecutorError(
                f"a worker could not run its task: {type(error).__name__}: {error}. Workers need the same linnet, and "
                f"the module of `{task.function}`, as this process."
            ) from error
        else:
            yield job, outcome


def _completed_futures(client: Client, completion: as_completed, patience: float) -> Iterator[Future]:
    """Yield futures as they are completed."""

    def ready() -> bool:
        if not completion.has_ready():
            time.sleep(POLL_SECONDS)
        return completion.has_ready()

    while not completion.is_empty():
        _wait(client, ready, patience)
        yield next(completion)


def _fetch(client: Client, future: Future, patience: float) -> BlockResult:
    """The result of a completed future. Its worker may die before it is fetched, and there may be no other one."""
    answer: threaded.Future[BlockResult] = threaded.Future()

    def fetch() -> None:
        try:
            answer.set_result(future.result())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=fetch, daemon=True).start()
    _wait(client, lambda: bool(threaded.wait([answer], POLL_SECONDS).done), patience)
    return answer.result()


def _wait(client: Client, ready: Callable[[], bool], patience: float) -> None:
    """Waits until something is ready; says soon that a scheduler has lost its last worker, and gives up in the end."""
    seen = time.monotonic()  # when there was a worker last
    warned = False
    while not ready():
        if math.isinf(patience) or client.scheduler_info()["workers"]:
            seen, warned = time.monotonic(), False
            continue
        alone = time.monotonic() - seen
        if alone > min(WARN_AFTER_SECONDS, patience) and not warned:
            warned = True
            warnings.warn(f"the Dask scheduler has no worker any more: waiting {patience:g} s for one.", stacklevel=2)
        if alone > patience:
            raise ExecutorError(
                f"the Dask scheduler has had no worker for {patience:g} seconds. Finished cells are intact: start a "
                "worker and resume."
            )


def _compute_block(task: Task, cells: CellArguments, code: tuple[str, str]) -> BlockResult:
    """Compute one block in a worker, which must have the same code."""
    if "jax" not in sys.modules:  # for workers that others have started: XLA reads it when it starts
        os.environ.setdefault("NPROC", "1")
    task.resolve()
    there = (linnet.__version__, provenance.source(task.function, task.fixed))
    if there != code:
        raise ExecutorError(
            f"a worker on {platform.node()} has other code: linnet {there[0]} and `{task.function}` from file "
            f"{there[1]}, here linnet {code[0]} and file {code[1]}. Install the same on all machines."
        )
    return task(cells)


def _lost_block(job: PendingBlock, error: Exception) -> BlockResult:
    reason = f"every worker that took this block died, perhaps for want of memory: {error}"
    failures = [CellFailure(position, "KilledWorker", reason) for position in range(job.size)]
    return BlockResult({}, np.full(job.size, FAILED, dtype=np.int8), failures, 0.0, "worker lost")


def _import_dask() -> tuple[Any, Any]:
    """Import Dask, or say in one line how to install it."""
    try:
        return extras.need("dask", "a sweep on workers"), extras.need("distributed", "a sweep on workers")
    except ModuleNotFoundError as reason:
        raise ExecutorError(f"{reason}; without workers nothing more is needed.") from None
