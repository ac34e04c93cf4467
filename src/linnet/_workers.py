"""Processes that linnet starts: their command, their environment and their fraction of the cores."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

# One thread for each: BLAS and XLA would otherwise start one per core in every one of them. Libraries read this when
# they are loaded.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "NPROC": "1",  # XLA's, and `cores`
}
ENVIRONMENT = {
    **ONE_THREAD,
    "JAX_PLATFORMS": "cpu",  # such processes are for cores, so JAX stays off GPUs
    "PYTHONSAFEPATH": "1",  # files of the current folder do not stand in for modules of Python
}
PARENT_VARIABLE = "LINNET_ENDS_WITH"  # a process started with this variable ends when the process of that number does
WORKER_BYTES = 180 * 2**20  # of a process that has loaded linnet and computes


def collect_seldom() -> None:
    """Let Python look for reference cycles seldom in this process, which must be linnet's own.

    What is imported, compiled and drawn stays, and to look through it again and again is 6% of the time of a quick run.
    """
    gc.set_threshold(50_000, 50, 50)


def command(*words: str) -> list[str]:
    """The command line `linnet WORDS` for a separate process; `-P` keeps the current folder off its import path."""
    return [sys.executable, "-P", "-m", "linnet", *words]


def environment() -> dict[str, str]:
    """The variables of such a process: it finds the same linnet, and ends when this process does, however this ends."""
    here = ("", str(Path.cwd()))
    path = [entry for entry in sys.path if entry not in here or Path(entry, "linnet").is_dir()]
    return {**os.environ, PARENT_VARIABLE: str(os.getpid()), "PYTHONPATH": os.pathsep.join(path)}


@contextmanager
def environment_restored(changes: Mapping[str, str] | None = None) -> Iterator[None]:
    """Restores the environment variables after the block; inside it they have `changes`, for processes it starts."""
    before = dict(os.environ)
    os.environ.update(changes or {})
    try:
        yield
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


def cores() -> int:
    """The cores this process may use, counted as XLA counts them: `NPROC`, or those the system lets it run on."""
    declared = os.environ.get("NPROC", "")
    if declared.isdigit() and int(declared) > 0:
        return int(declared)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Ctrl-C is blocked inside the block, and in processes started there for ever; it is raised at the end."""
    # Ctrl-C on a terminal reaches every process. Workers inherit that it is blocked: this process will end them. One
    # that comes meanwhile is not lost: it is raised as soon as the workers are there.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    from multiprocessing import resource_tracker

    # Python's process that puts semaphores away unblocks the signal when it is started, and would warn of what it
    # finds. It is run by `-c`, to which files of the current folder are modules unless `PYTHONSAFEPATH` is set. It
    # ignores Ctrl-C and SIGTERM; SIGHUP, which a terminal that closes sends to it as well, it would die of.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        with environment_restored({**ENVIRONMENT, "PYTHONWARNINGS": "ignore"}):
            resource_tracker.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    came = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: came.set())
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, before)
        if came.is_set() and callable(before):  # also where it has made something else fail
            before(signal.SIGINT, None)


def process_pool(workers: int) -> ProcessPoolExecutor:
    """Return a pool of spawned processes that end when this process does, however it ends. Submit to it, which starts
    them, with `environment_restored(ENVIRONMENT)` and `interrupts_later()`; end it by `end_pool`."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # its semaphores are watched by a process that must not warn of them, nor read files of the current folder
    with environment_restored(ENVIRONMENT), interrupts_later():
        return ProcessPoolExecutor(
            workers, mp_context=get_context("spawn"), initializer=_end_with_parent, initargs=(os.getpid(),)
        )


def end_pool(pool: ProcessPoolExecutor) -> None:
    """End the processes of a pool at once, whatever they are doing."""
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(wait=True, cancel_futures=True)


def when_parent_ends(parent: int, do: Callable[[], None]) -> None:
    """Call a function, in a thread, once the process that started this one has ended, however it ended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        do()

    threading.Thread(target=watch, name="parent", daemon=True).start()


def _end_with_parent(parent: int) -> None:
    """Start a worker: leave Ctrl-C to the process that started it, and end when that one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    collect_seldom()
    when_parent_ends(parent, lambda: os._exit(1))
