"""SIGKILL to workers, the scheduler and the parent of a sweep, in turn: the store must equal an uninterrupted one.

    python tests/fuzz/kills.py [--number 100] [--seed 0] [--folder FOLDER]

First a sweep that nobody kills is computed. Each round starts a Dask scheduler with two workers and `linnet sweep
--resume` on them, kills a worker, the sweep and the scheduler in turn at random moments, every fourth time as a file of
the store is being written, and looks at what is left: each block must be that of the first sweep, bit for bit. A sweep
that could finish is compared whole, and the next round begins a new store; after the last kill the last store is
finished and compared. Each comparison prints a line. With a folder, a run that was ended goes on.
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
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.interrupts import environment, heed_signals

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


@dataclass
class Kills:
    """How far a run of kills is; kept in a file after each round."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    store: int = 0  # the number of the store at work
    looks: int = 0  # comparisons of stores that were not finished
    compared: int = 0  # blocks of stores that were

    @property
    def number(self) -> int:
        return self.counts.total()

    def say(self, text: str) -> None:
        """One line now: what comes later may be ended."""
        told = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        sys.stdout.write(f"{self.number} kills ({told}), {len(self.wrong)} wrong: {text}\n")
        sys.stdout.flush()


def finished(grid: Path, store: Path, folder: Path) -> list[str]:
    """Finish a sweep that nobody kills; what is wrong with it."""
    with cluster(folder) as (address, _):
        sweep = swept(grid, store, "--scheduler", address)
        said = sweep.communicate()[1]
    return [said] if sweep.returncode else []


def killed(grid: Path, store: Path, folder: Path, kills: Kills, chance: random.Random) -> bool:
    """One round: a cluster and sweeps on it, until the scheduler is killed; whether a sweep could finish."""
    with cluster(folder) as (address, processes):
        sweep = swept(grid, store, "--scheduler", address)
        while True:
            before = _files(store)
            while kills.number % 4 and sweep.poll() is None and _files(store) == before:
                time.sleep(0.3)  # three times of four: from the next block on, however long the cluster takes to start
            until = time.monotonic() + chance.uniform(0.0, 6.0)
            while time.monotonic() < until and not (kills.number % 4 == 3 and _writing(store)):
                time.sleep(0.002 if kills.number % 4 == 3 else 0.05)
            victim = VICTIMS[kills.number % len(VICTIMS)]
            target = sweep if victim == "parent" else processes[victim]
            if sweep.poll() is not None or target.poll() is not None:
                break
            target.send_signal(signal.SIGKILL)
            target.wait()
            kills.counts[victim] += 1
            if victim == "scheduler":
                break
            if victim == "parent":
                sweep.communicate()
                sweep = swept(grid, store, "--scheduler", address)
        if sweep.poll() is None and processes["scheduler"].poll() is None:
            sweep.kill()
        said = sweep.communicate(timeout=400)[1]
    if "Traceback" in said:
        kills.wrong.append(said)
    kills.say(" ".join(said.split())[-300:] or f"exit status {sweep.returncode}")
    return sweep.returncode == 0


def compare(store: Path, whole: dict[str, bytes], kills: Kills, *, all_of_it: bool) -> None:
    """Hold the finished blocks of a store against those of the sweep that nobody killed."""
    own = blocks(store)
    other = [name for name, data in own.items() if whole.get(name) != data]
    if other or (all_of_it and own.keys() != whole.keys()):
        kills.wrong.append(f"{store.name}: {len(other)} of {len(own)} blocks NOT equal; {len(whole)} expected")
    if all_of_it:
        kills.compared += len(own)
        kills.say(f"{store.name} finished, {len(own)} of {len(whole)} blocks there, {len(other)} not equal")
    else:
        kills.looks += 1
        kills.say(f"{store.name} has {len(own)} of {len(whole)} blocks, {len(other)} not equal")


def run(folder: Path, number: int, seed: int) -> Kills:
    """Kill and compare, from where the folder's last run was ended."""
    grid, whole, state = folder / "grid.toml", folder / "whole", folder / "kills.json"
    grid.write_text(GRID)
    kills = Kills()
    if state.exists():
        kept = json.loads(state.read_text())
        kills = Kills(**{**kept, "counts": Counter(kept["counts"])})
    kills.wrong += finished(grid, whole, folder)
    expected = blocks(whole)
    kills.say(f"the sweep that nobody kills has {len(expected)} blocks")
    if not expected:
        kills.wrong.append("the sweep that nobody kills is empty")
    while kills.number < number and expected:
        store = folder / f"store-{kills.store}"
        ended = killed(grid, store, folder, kills, random.Random(f"{seed} {kills.number} {kills.looks}"))
        compare(store, expected, kills, all_of_it=ended)
        kills.store += ended
        state.write_text(json.dumps(vars(kills)))
    last = folder / f"store-{kills.store}"
    kills.wrong += finished(grid, last, folder)
    compare(last, expected, kills, all_of_it=True)
    return kills


def main() -> int:
    """Kills and compares; 1 where a store was damaged, a command failed otherwise, or the bits differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where stores are kept, to go on from there")
    given = parser.parse_args()
    heed_signals()
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        kills = run(folder.resolve(), given.number, given.seed)
    equal = "all equal" if not kills.wrong else "NOT all equal, or damaged"
    kills.say(f"{kills.looks} looks at unfinished stores, {kills.compared} blocks of finished ones, {equal}")
    for text in kills.wrong:
        sys.stdout.write(text + "\n")
    return int(bool(kills.wrong))


if __name__ == "__main__":
    sys.exit(main())
