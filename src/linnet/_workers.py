"""Processes that linnet starts: their command, their environment and their share of the cores."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

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
starting = threading.Lock()  # held while processes are started: a thread that ends this process waits for it
PARENT_VARIABLE = "LINNET_ENDS_WITH"  # a process started with this variable ends when the process of that number does
WORKER_BYTES = 180 * 2**20  # of a process that has loaded linnet and computes


def command(*words: str) -> list[str]:
    """The command line `linnet WORDS` for a process of its own; `-P` keeps the current folder off its import path."""
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
