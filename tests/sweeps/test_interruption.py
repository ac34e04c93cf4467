"""Processes that are killed, interrupted, or started together on one store."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from linnet import sweeps

COMMAND = [sys.executable, "-m", "linnet", "sweep"]
TOML = """
name = "draws"
function = "sample_cells:draws"
block = 8
dtype = "none"
[axes]
x = {{ start = 0, stop = 39, count = 40 }}
y = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
[fixed]
log = "{log}"
gate = "{gate}"
free = 6
pause = {pause}
"""


@pytest.fixture
def described(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A configuration of 80 blocks, the file its function writes a line to for each, and the gate: as long as it is
    there, a process gets through six of them."""
    log, gate, config = tmp_path / "log", tmp_path / "gate", tmp_path / "draws.toml"
    log.touch()
    gate.touch()
    config.write_text(TOML.format(log=log, gate=gate, pause=0.03))
    return config, log, gate


@pytest.fixture
def begin(described, tmp_path):
    """Starts the command as a process of its own, which is ended after the test if it is still there."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: str) -> subprocess.Popen[str]:
        command = [*COMMAND, str(described[0]), "--code", "sample_cells", "--store", str(tmp_path / "store"), *words]
        started.append(subprocess.Popen(command, stdout=-1, stderr=-1, text=True, start_new_session=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def begun(log: Path) -> list[str]:
    """The first cell of every block whose computation was begun, in order."""
    return [line.split()[1] for line in log.read_text().splitlines()]


def finished(store: Path) -> dict[str, int]:
    """When each finished block was written."""
    return {file.name: file.stat().st_mtime_ns for file in store.glob("*.npz")}


def undisturbed(config: Path, folder: Path, contents) -> dict[str, bytes]:
    """The files of a sweep that nobody disturbs."""
    sweeps.run(sweeps.load(config, code=["sample_cells"]), folder)
    return contents(folder)


@pytest.mark.parametrize(
    ("kills", "workers"),
    [
        (3, "0"),
        *(pytest.param(kills, workers, marks=pytest.mark.slow) for kills, workers in ((3, "2"), (9, "0"), (9, "2"))),
    ],
)
def test_kills_lose_nothing_and_change_nothing(described, begin, contents, tmp_path, wait_for, kills, workers):
    config, log, gate = described
    store = tmp_path / "store"
    chance = random.Random(20240607)
    for kill in range(kills):
        before, done = len(begun(log)), finished(store)
        process = begin("--resume", "--workers", workers)
        if kill % 3:  # some die while they start, most at work, half of these in a block after their first
            lines = before + kill % 3
            wait_for(lambda: len(begun(log)) >= lines or process.poll() is not None)  # noqa: B023
        time.sleep(chance.uniform(0.0, 0.3))
        assert process.poll() is None, process.communicate()[1]
        children = psutil.Process(process.pid).children(recursive=True)
        if kill % 3 == 2 and children[1:]:  # a worker first; the first child watches semaphores
            chance.choice(children[1:]).kill()
            time.sleep(chance.uniform(0.0, 0.5))
        process.kill()
        process.communicate()
        psutil.wait_procs(children, timeout=30)
        assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
        assert done.items() <= finished(store).items(), "a finished block was written again"
    done = finished(store)
    assert 0 < len(done) < 80
    gate.unlink()
    ended = begin("--resume", "--workers", workers)
    assert ended.communicate(timeout=120)[0] == f"draws: 400 of 400 cells done; results in {store}\n"
    assert done.items() <= finished(store).items()
    assert contents(store) == undisturbed(config, tmp_path / "whole", contents)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_while_the_sweep_goes_on(described, begin, contents, tmp_path, wait_for):
    config, log, gate = described
    gate.unlink()
    process = begin("--workers", "2")
    for lines in (5, 30):
        wait_for(lambda: len(begun(log)) > lines or process.poll() is not None)  # noqa: B023
        owner = int(log.read_text().splitlines()[-1].split()[0])
        os.kill(owner, signal.SIGKILL)
    said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert contents(tmp_path / "store") == undisturbed(config, tmp_path / "whole", contents)


def test_parts_started_together_need_no_driver(described, begin, contents, tmp_path):
    config, log, gate = described
    gate.unlink()
    parts = [begin("--part", f"{i}/3") for i in (1, 2, 3)]
    for part in parts:
        assert part.wait(120) == 0, part.stderr.read()
    assert len(begun(log)) == 80  # nothing twice
    assert contents(tmp_path / "store") == undisturbed(config, tmp_path / "whole", contents)


@pytest.mark.slow
def test_processes_without_parts_share_a_store(described, begin, contents, tmp_path):
    config, log, gate = described
    gate.unlink()
    for process in [begin("--resume") for _ in range(2)]:
        assert process.wait(120) == 0, process.stderr.read()
    assert len(begun(log)) < 2 * 80
    assert contents(tmp_path / "store") == undisturbed(config, tmp_path / "whole", contents)


@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.slow), "2"])
def test_an_interrupt_leaves_by_the_door(described, begin, tmp_path, wait_for, workers):
    _, log, _ = described
    process = begin("--workers", workers)
    wait_for(lambda: len(begun(log)) > 2)
    children = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers, too
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert said == f"linnet: interrupted; finished cells are in {tmp_path / 'store'}: continue with --resume\n"
    psutil.wait_procs(children, timeout=30)
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert not list((tmp_path / "store").glob("*.partial"))
