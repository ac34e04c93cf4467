"""SIGKILL to workers, the scheduler and the parent of a sweep, in turn: the store must equal an uninterrupted one.

First a sweep that nobody kills is computed. Each round starts a Dask scheduler with two workers and `linnet sweep
--resume` on them, kills a worker, the sweep and the scheduler in turn at random moments, every fourth time as a file of
the store is being written, and looks at what is left: each block must be that of the first sweep, bit for bit. A sweep
that could finish is compared whole, and the next round begins a new store; after the last kill the last store is
finished and compared.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.interrupts import environment

GRID = """
name = "killed"
function = "linnet.sweeps.cells:train"
seeds = 20
block = 4
[axes]
width = [10, 100, 1000, 10000]
threshold = { start = 0.01, stop = 1000.0, count = 10, spacing = "log" }
[fixed]
dim = 8
noise_std = 0.2
steps = 2000
"""
VICTIMS = ("worker", "parent", "scheduler")


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, dict[str, subprocess.Popen[bytes]]]]:
    """A scheduler with two workers: its address, and the processes by name."""
    file = folder / f"scheduler-{time.monotonic_ns()}.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment(), "cwd": folder}
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    spec = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
    found = {
        "scheduler": subprocess.Popen([*dask, "--scheduler-file", str(file), "--port", "0", "--no-dashboard"], **quiet)
    }
    try:
        while not file.exists():
            time.sleep(0.05)
        for name in ("worker", "other worker"):
            found[name] = subprocess.Popen([*spec, "--no-nanny", "--no-dashboard"], **quiet)
        time.sleep(0.2)
        yield json.loads(file.read_text())["address"], found
    finally:
        for process in found.values():
            process.kill()
            process.wait()


def swept(grid: Path, store: Path, *more: str) -> subprocess.Popen[str]:
    """The command under test."""
    words = [sys.executable, "-m", "linnet", "sweep", str(grid), "--store", str(store), "--resume", *more]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment())


def blocks(store: Path) -> dict[str, bytes]:
    """What a store holds, bit for bit, drafts of killed processes aside."""
    return {file.name: file.read_bytes() for file in store.glob("*") if file.suffix != ".partial"}


def _writing(store: Path) -> bool:
    """Whether a file is being written."""
    return any(store.glob("*.partial"))


def _files(store: Path) -> int:
    """How many blocks there are."""
    return sum(1 for _ in store.glob("*.npz"))


def finished(grid: Path, store: Path, folder: Path) -> list[str]:
    """Finish a sweep that nobody kills; what is wrong with it."""
    with cluster(folder) as (address, _):
        sweep = swept(grid, store, "--scheduler", address)
        said = sweep.communicate()[1]
    return [said] if sweep.returncode else []


def killed(grid: Path, store: Path, folder: Path, kills: int, chance: random.Random) -> tuple[int, bool, str]:
    """One round: a cluster and sweeps on it, until the scheduler is killed; how many kills there have been, whether a
    sweep could finish, and what the last one said."""
    with cluster(folder) as (address, processes):
        sweep = swept(grid, store, "--scheduler", address)
        while True:
            before = _files(store)
            while kills % 4 and sweep.poll() is None and _files(store) == before:
                time.sleep(0.3)  # three times of four: from the next block on, however long the cluster takes to start
            until = time.monotonic() + chance.uniform(0.0, 6.0)
            while time.monotonic() < until and not (kills % 4 == 3 and _writing(store)):
                time.sleep(0.002 if kills % 4 == 3 else 0.05)
            victim = VICTIMS[kills % len(VICTIMS)]
            target = sweep if victim == "parent" else processes[victim]
            if sweep.poll() is not None or target.poll() is not None:
                break
            target.send_signal(signal.SIGKILL)
            target.wait()
            kills += 1
            if victim == "scheduler":
                break
            if victim == "parent":
                sweep.communicate()
                sweep = swept(grid, store, "--scheduler", address)
        if sweep.poll() is None and processes["scheduler"].poll() is None:
            sweep.kill()
        said = sweep.communicate(timeout=400)[1]
    return kills, sweep.returncode == 0, said


def faults(folder: Path, number: int, seed: int = 0) -> list[str]:
    """What is wrong with stores after so many kills."""
    grid, whole, store, kills = folder / "grid.toml", folder / "whole", folder / "store-0", 0
    grid.write_text(GRID)
    wrong, chance = finished(grid, whole, folder), random.Random(seed)
    expected = blocks(whole)
    while kills < number and not wrong and expected:
        kills, ended, said = killed(grid, store, folder, kills, chance)
        wrong += [said] * ("Traceback" in said)
        own = blocks(store)
        other = [name for name, data in own.items() if expected.get(name) != data]
        if other or (ended and own.keys() != expected.keys()):
            wrong.append(f"{store.name} after {kills} kills: {len(other)} of {len(own)} blocks not equal")
        if ended:
            store = folder / f"store-{kills}"
    wrong += finished(grid, store, folder)
    return wrong if blocks(store) == expected != {} else [*wrong, f"{store.name} is not that of the undisturbed sweep"]
