"""Signals while a command computes: what was measured is kept, one line is said, and nothing runs on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linnet.cli import failures

# A claim that is measured at once, and one inside whose compiled step (which Python's handlers cannot interrupt) the
# signal comes: it lasts until the process ends or the signal wakes it. Writing the results then takes a while, as a
# large file on a slow disk does, so that the main thread could run on meanwhile.
DRIVER = """
import ctypes, pathlib, sys, time
sys.path.insert(0, {tests!r})
import toys
from dataclasses import replace
from linnet import _files
from linnet.cli import entry
from linnet_papers.commands import verify
from linnet_papers.reproduction import registry

whole, begun, writing = _files.write_whole, *(pathlib.Path({folder!r}) / name for name in ("begun", "writing"))

def slowly(path, content, **how):
    if begun.exists():
        writing.touch()
        time.sleep({seconds})
    whole(path, content, **how)

def step(trial):
    begun.touch()
    ctypes.CDLL(None).usleep(60_000_000)
    return iter(())

verify.write_whole = slowly
first = toys.CLAIMS["watanabe-square"]
second = replace(first, name="watanabe-step", measure=step)
registry.papers_of = lambda names: []
registry.claims = lambda: {{first.name: first, second.name: second}}
entry.main()
"""


def run(folder: Path, seconds: float = 1.5) -> subprocess.Popen[str]:
    """Starts the command, and returns when it is inside the step; `seconds` is how long writing takes."""
    code = DRIVER.format(tests=str(Path(__file__).parents[1]), folder=str(folder), seconds=seconds)
    command = [sys.executable, "-c", code, "verify", "--json", str(folder / "claims.json")]
    heard = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # where tests run under nohup, children would never hear it
    try:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGHUP, heard)
    wait_for(folder / "begun", process)
    return process


def wait_for(file: Path, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not file.exists():
        assert time.monotonic() < until and process.poll() is None, f"{file.name} never came"
        time.sleep(0.01)


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
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "claims.json", "writing"]


def test_a_second_ctrl_c_ends_at_once(tmp_path: Path) -> None:
    process = run(tmp_path, seconds=300)
    process.send_signal(signal.SIGINT)
    wait_for(tmp_path / "writing", process)
    time.sleep(2 * failures.SAME_SECONDS)  # signals closer together count as one
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)  # less than writing takes
    assert process.returncode == 130


def test_a_kill_leaves_what_was_measured(tmp_path: Path) -> None:
    process = run(tmp_path)
    process.kill()
    process.communicate()
    assert names(tmp_path / "claims.json") == ["watanabe-square"]


def test_a_command_that_another_process_started_ends_with_it(tmp_path: Path) -> None:
    """However the process ends that started `linnet verify`: nothing is left that computes."""
    tests, driver = str(Path(__file__).parents[1]), tmp_path / "driver.py"
    driver.write_text(DRIVER.format(tests=tests, folder=str(tmp_path), seconds=0))
    starter = (
        "import subprocess, sys, time\nfrom linnet import _workers\n"
        "command, silent = [sys.executable, *sys.argv[1:]], subprocess.DEVNULL  # nobody reads what it prints\n"
        "child = subprocess.Popen(command, env=_workers.environment(), stdout=silent)\n"
        "print(child.pid, flush=True)\ntime.sleep(600)\n"
    )
    command = [sys.executable, "-c", starter, str(driver), "verify", "--json", str(tmp_path / "claims.json")]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
    wait_for(tmp_path / "begun", parent)
    parent.kill()
    parent.wait()
    until = time.monotonic() + 50  # the step alone would take 60 seconds
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.1)
    assert not is_running(child)
    assert names(tmp_path / "claims.json") == ["watanabe-square"]


def is_running(process: int) -> bool:
    """Whether a process is there that is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
