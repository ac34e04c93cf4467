"""Processes that are killed, and processes that meet on one store."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import xarray as xr

from linnet import sweeps
from linnet.sweeps.grid import Grid

COMMAND = [sys.executable, "-m", "linnet", "sweep"]
CODE = ("--code", "sample_cells")
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


def computed(log: Path) -> list[str]:
    """The first cell of every block whose computation was begun, in order."""
    return [line.split()[1] for line in log.read_text().splitlines()]


def finished(store: Path, sweep: sweeps.Sweep) -> set[str]:
    """The first cell of every finished block, by the ledger a dead process left."""
    grid = Grid.of(sweep)
    if not (store / "ledger.sqlite").exists():
        return set()
    with sqlite3.connect(store / "ledger.sqlite") as database:
        if not database.execute("select name from sqlite_master where name = 'blocks'").fetchone():
            return set()
        numbers = [row[0] for row in database.execute("select number from blocks")]
    database.close()
    places = [grid.coordinates(int(grid.numbers(grid.block(number))[0])) for number in numbers]
    return {f"{place['x']},{place['y']}" for place in places}


def chunks(store: Path) -> dict[str, bytes]:
    return {str(file.relative_to(store)): file.read_bytes() for file in store.rglob("*/c/**/*") if file.is_file()}


@pytest.mark.parametrize("kills", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_kills_lose_nothing_and_change_nothing(described, tmp_path, assert_same, wait_for, kills):
    config, log, gate = described
    store, sweep = tmp_path / "store", sweeps.load(config, code=["sample_cells"])
    chance = random.Random(20240607)
    at_work = 0
    for kill in range(kills):
        before, done = len(computed(log)), finished(store, sweep)
        process = subprocess.Popen(
            [*COMMAND, str(config), *CODE, "--store", str(store), "--resume"], stderr=subprocess.PIPE
        )
        if kill % 3:  # some die while they start, most at work, half of these in a block after their first
            lines = before + kill % 3
            wait_for(lambda: len(computed(log)) >= lines or process.poll() is not None)  # noqa: B023
        time.sleep(chance.uniform(0.0, 0.3))
        assert process.poll() is None, process.communicate()[1].decode()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        begun = computed(log)[before:]
        at_work += bool(begun)
        assert not done & set(begun), "a finished block was computed again"
    assert at_work >= 2 * kills // 3
    done, before = finished(store, sweep), len(computed(log))
    assert 0 < len(done) < 80
    gate.unlink()
    subprocess.run([*COMMAND, str(config), *CODE, "--store", str(store), "--resume"], check=True, capture_output=True)
    last = computed(log)[before:]
    assert not done & set(last)
    assert len(last) == 80 - len(done)
    # An uninterrupted sweep elsewhere: the same numbers, and the same bytes in every chunk.
    config.write_text(TOML.format(log=tmp_path / "other", gate="", pause=0.0))
    whole = sweeps.run(sweeps.load(config, code=["sample_cells"]), tmp_path / "whole")
    assert_same(xr.open_zarr(store).load(), whole)
    assert chunks(store) == chunks(tmp_path / "whole")


def test_two_processes_do_not_share_a_store_and_a_dead_one_does_not_hold_it(described, tmp_path, wait_for):
    config, log, gate = described
    store = tmp_path / "store"
    command = [*COMMAND, str(config), *CODE, "--store", str(store), "--resume"]
    first = subprocess.Popen(command)
    try:
        wait_for(lambda: len(computed(log)) > 2)
        os.kill(first.pid, signal.SIGSTOP)  # alive, but busy with nothing while the second one tries
        owner = json.loads((store / "lock.json").read_text())
        assert owner["process"] == first.pid
        second = subprocess.run(command, capture_output=True, text=True)
        assert second.returncode == 1
        assert f"is in use by process {first.pid} on {owner['host']} since {owner['since']}" in second.stderr
        with pytest.raises(sweeps.LockedError, match=f"is in use by process {first.pid} on"):
            sweeps.run(sweeps.load(config, code=["sample_cells"]), store)
    finally:
        first.kill()
        first.wait()
    gate.unlink()
    report = sweeps.complete(sweeps.load(config, code=["sample_cells"]), store)
    assert report.failed == 0
    assert 0 < report.computed < 400


def test_a_store_in_use_by_this_very_process_is_refused(make, tmp_path):
    from linnet.sweeps._store import opened

    with (
        opened(tmp_path / "store", make()),
        pytest.raises(sweeps.LockedError, match=f"is in use by process {os.getpid()} on"),
    ):
        sweeps.run(make(), tmp_path / "store")
    assert sweeps.complete(make(), tmp_path / "store").computed == 30


def test_an_interrupt_leaves_by_the_door(described, tmp_path, wait_for):
    config, log, _ = described
    store = tmp_path / "store"
    command = [*COMMAND, str(config), *CODE, "--store", str(store)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(computed(log)) > 2)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert said == f"linnet: interrupted; finished cells are in {store}: continue with --resume\n"
    assert finished(store, sweeps.load(config, code=["sample_cells"]))
