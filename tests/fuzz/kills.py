"""SIGKILL to workers, the scheduler and the parent of a sweep, in turn: the store must equal an uninterrupted one.

    python tests/fuzz/kills.py [--number 100] [--seed 0]

Each round starts a Dask scheduler with two workers and `linnet sweep --resume` on them, kills the next of the three at
a random moment, every fourth time as a file of the store is being written, and looks at what is left. After the last
kill the sweep is finished, and every chunk of its store is compared with that of a sweep which nobody killed.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.interrupts import _damaged, environment, heed_signals

GRID = """
name = "killed"
function = "linnet.sweeps.cells:train"
seeds = 20
block = 4
[axes]
width = [10, 100, 1000, 10000]
threshold = { start = 0.01, stop = 1000.0, count = 25, spacing = "log" }
[fixed]
dim = 8
noise_std = 0.2
steps = 2000
"""
VICTIMS = ("worker", "scheduler", "parent")


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


def chunks(store: Path) -> dict[str, bytes]:
    """What a store holds, bit for bit."""
    return {str(file.relative_to(store)): file.read_bytes() for file in store.rglob("c/**/*") if file.is_file()}


def _writing(store: Path) -> bool:
    """Whether the ledger is in the middle of a transaction."""
    return (store / "ledger.sqlite-journal").exists()


def main() -> int:
    """Kills, then compares; 1 where a store was damaged, a command failed otherwise, or the bits differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    heed_signals()
    chance = random.Random(given.seed)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        grid, store, whole = folder / "grid.toml", folder / "store", folder / "whole"
        grid.write_text(GRID)
        kills = 0
        while kills < given.number:
            with cluster(folder) as (address, processes):
                sweep = swept(grid, store, "--scheduler", address, "--wait", "30")
                for _ in range(3):  # until the parent or the scheduler dies
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
                    counts[victim] += 1
                    if victim != "worker":
                        break
                if sweep.poll() is None and processes["scheduler"].poll() is None:
                    sweep.kill()  # its other worker would finish it
                said = sweep.communicate(timeout=120)[1]
            if "Traceback" in said:
                wrong.append(said)
            if (store / "ledger.sqlite").exists():
                wrong += _damaged(store / "ledger.sqlite")
            if kills % 10 < 2:
                sys.stdout.write(f"{kills} kills: {dict(counts)}, {len(wrong)} wrong\n")
                sys.stdout.flush()
        for place in (store, whole):
            with cluster(folder) as (address, _):
                sweep = swept(grid, place, "--scheduler", address)
                said = sweep.communicate()[1]
            if sweep.returncode:
                wrong.append(said)
        left, right = chunks(store), chunks(whole)
        equal = left == right and len(right) > 0
        sys.stdout.write(f"{kills} kills: {dict(counts)}; {len(right)} chunks, {'equal' if equal else 'NOT equal'}\n")
    for text in wrong:
        sys.stdout.write(text + "\n")
    return int(bool(wrong) or not equal)


if __name__ == "__main__":
    sys.exit(main())
