"""Sweeps over the functions of sample_cells.py, which lies beside this file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linnet import sweeps

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes sample_cells importable here and in child processes, which compute on one thread."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(HERE), os.environ.get("PYTHONPATH")))))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.fixture
def make() -> Callable[..., sweeps.Sweep]:
    """A small sweep of random draws, with changes."""

    def make(**changes: Any) -> sweeps.Sweep:
        fields: dict[str, Any] = {
            "name": "draws",
            "function": "sample_cells:draws",
            "axes": {"x": [0, 1, 2, 3, 4], "y": [0.5, 1.5, 2.5]},
            "seeds": 2,
            "block": 4,
            "dtype": None,
        }
        return sweeps.Sweep(**{**fields, **changes})

    return make


SCRIPT = """
import json, os, sys
from linnet import sweeps
from linnet._workers import ENVIRONMENT
if __name__ == "__main__":
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    try:
        sweeps.run(sweeps.Sweep(**json.loads(sys.argv[1])), sys.argv[2], **json.loads(sys.argv[3]))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
    sys.exit(0 if {name: os.environ.get(name) for name in ENVIRONMENT} == before else "the environment has changed")
"""


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Starts a sweep as a process of its own, which other tests cannot touch."""

    def start(sweep: sweeps.Sweep, store: Path, **options: Any) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SCRIPT, sweep.model_dump_json(), str(store), json.dumps(options)]
        return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    return start


@pytest.fixture
def wait_for() -> Callable[..., None]:
    """Waits until something has happened."""

    def wait_for(happened: Callable[[], object], seconds: float = 300.0) -> None:
        until = time.monotonic() + seconds
        while not happened():
            assert time.monotonic() < until, "nothing happened"
            time.sleep(0.005)

    return wait_for


@pytest.fixture
def contents() -> Callable[[Path], dict[str, bytes]]:
    """The bytes of every file of a store, drafts of killed processes aside."""
    return lambda store: {file.name: file.read_bytes() for file in store.iterdir() if file.suffix != ".partial"}
