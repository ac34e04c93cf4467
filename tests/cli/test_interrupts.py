"""Signals while a command computes: what was measured is kept, one line is said, and nothing runs on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

# A claim that is measured at once, and one inside whose compiled step (which Python's handlers cannot interrupt) the
# signal comes. Writing the results takes longer than the rest of that step, as a large file on a slow disk does.
DRIVER = """
import ctypes, pathlib, sys, time
sys.path.insert(0, {tests!r})
import toys
from dataclasses import replace
from linnet import _files
from linnet.cli import entry, verify
from linnet.reproduction import registry

whole, begun = _files.write_whole, pathlib.Path({folder!r}) / "begun"

def slowly(path, content, **how):
    if begun.exists():
        time.sleep(1.5)
    whole(path, content, **how)

def step(trial):
    begun.touch()
    ctypes.CDLL(None).usleep(1_000_000)
    return {{"square": 9.0}}

verify.write_whole = slowly
first = toys.CLAIMS["watanabe-square"]
second = replace(first, name="watanabe-step", measure=step)
registry.papers_of = lambda names: []
registry.claims = lambda: {{first.name: first, second.name: second}}
entry.main()
"""


def run(folder: Path, *more: str) -> subprocess.Popen[str]:
    code = DRIVER.format(tests=str(Path(__file__).parents[1]), folder=str(folder))
    command = [sys.executable, "-c", code, "verify", "--json", str(folder / "claims.json"), *more]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while not (folder / "begun").exists() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.01)
    return process


def names(file: Path) -> list[str]:
    return [outcome["name"] for outcome in json.loads(file.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_inside_a_compiled_step_keeps_what_was_measured(number: signal.Signals, tmp_path: Path) -> None:
    process = run(tmp_path)
    file = tmp_path / "claims.json"
    file.unlink(missing_ok=True)  # so that it is the interruption that writes it
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number, said
    assert said == f"linnet: interrupted after 1 of 2 claims; they are in {file}\n"
    assert names(file) == ["watanabe-square"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "claims.json"]


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    process = run(tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.communicate(timeout=60)
    assert process.returncode == 130 and time.monotonic() - began < 0.9  # the results take 1.5 s to write


def test_a_kill_leaves_what_was_measured(tmp_path: Path) -> None:
    process = run(tmp_path)
    process.kill()
    process.communicate()
    assert names(tmp_path / "claims.json") == ["watanabe-square"]
