"""Ctrl-C, SIGTERM and SIGHUP at any moment of any command: how it ended, and what it left.

An interrupt is as it should be if the command says
one line, `linnet: interrupted...`, ends with status 130 (143, 129) within seconds, leaves no process behind, and all
that it left on the disk can be read: outcomes as many as the line says, stores whose blocks are whole, figures with
 their datasets, no draft and no temporary folder. One that comes before Python has
loaded linnet's first file (`linnet/cli/entry.py`; the process then ends by the signal itself, or by a traceback that
names no file of linnet), or after the command has ended, is counted apart.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from linnet.sweeps import status

ROOT = Path(__file__).parents[2]
SIGNALS = (signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
RIGHT = ("clean", "before linnet", "had ended")
WAIT = 30.0  # seconds until an interrupt is called lost
SWEEP = """
name = "trained"
function = "linnet.sweeps.cells:train"
seeds = 2
block = 4
[axes]
width = [100, 10000]
threshold = {{ start = 0.01, stop = 1000.0, count = {count}, spacing = "log" }}
[fixed]
problem = "low-rank"
dim = 12
rank = 1
noise_std = 0.2
steps = 4000
"""
ADAPTER = '{"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"]}'


@dataclass(frozen=True)
class Ended:
    """How one command ended after its interrupt."""

    how: str  # one of RIGHT, or what is wrong
    status: int
    err: str


def commands(folder: Path) -> dict[str, list[str]]:
    """Every command with arguments for which it has something to do; each call has a folder of its own."""
    table = folder / "table.csv"
    chance = random.Random(0)
    rows = ["a,b,c,y"] + [",".join(f"{chance.gauss(0, 1):.6f}" for _ in range(4)) for _ in range(200)]
    table.write_text("\n".join(rows) + "\n")
    (folder / "adapter_config.json").write_text(ADAPTER)
    for name, count in (("short", 2), ("long", 40)):
        (folder / f"{name}.toml").write_text(SWEEP.format(count=count))
    out, here = str(folder / "out"), str(folder)
    return {
        "list": ["list"],
        "lora": ["lora", f"{here}/adapter_config.json"],
        "new-paper": ["new-paper", "mine", "--out", out],
        "docs": ["docs", "--folder", out],
        "run": ["run", "watanabe-fig1", "tu-fig1", "huang-fig1", "--quick", "--out", out],
        "diagnose": ["diagnose", str(table), "--out", out],
        "verify": ["verify", "--quick", "tu", "--json", f"{out}.json"],
        "verify --workers": [
            *("verify", "--quick", "huang-lemma", "watanabe", "--workers", "2"),
            "--json",
            f"{out}.json",
        ],
        "reproduce": ["reproduce", "--quick", "--out", out],
        "sweep": ["sweep", f"{here}/long.toml", "--store", out],
        "explore": ["explore", "--port", "0", "--no-browser"],
        "sweep --workers": ["sweep", f"{here}/short.toml", "--store", out, "--workers", "2"],
    }


def heed_signals() -> None:
    """Undoes what a shell's background commands (Ctrl-C ignored) and `nohup` (SIGHUP) would pass on to the commands."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def environment(temporary: Path | None = None) -> dict[str, str]:
    """That of a user, with linnet from this checkout, one thread of linear algebra, its own temporary files."""
    own = {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return {**os.environ, **own, **({"TMPDIR": str(temporary)} if temporary else {})}


def faults(folder: Path, said: str) -> Iterator[str]:
    """What is wrong with the files that an interrupted command has left, by what it said."""
    for draft in folder.rglob("*.partial"):
        yield f"left {draft.name}"
    for temporary in folder.glob("temporary/linnet-*"):
        yield f"left the temporary folder {temporary.name}"
    file = folder / "out.json"
    told = re.search(r"interrupted after (\d+) of", said)
    if file.exists() and told:
        kept = len(json.loads(file.read_text(encoding="utf-8")))
        if kept != int(told[1]):
            yield f"said {told[1]} claims, kept {kept}"
    for result in folder.glob("out/*/result.json"):
        json.loads(result.read_text(encoding="utf-8"))
        for name in ("data.nc", "figure.png", "figure.svg", "figure.pdf"):
            if not (result.parent / name).stat().st_size:
                yield f"{result.parent.name} is finished and has no {name}"
    for manifest in folder.rglob("manifest.json"):
        damaged = status(manifest.parent).damaged
        if damaged:
            yield f"{damaged} blocks of {manifest.parent.name} are damaged"


def interrupt(
    arguments: list[str],
    after: float,
    *,
    group: bool = True,
    number: int = signal.SIGINT,
    folder: Path | None = None,
    writing: bool = False,
) -> Ended:
    """Runs a command, interrupts it `after` seconds (the whole group, as a terminal does), and says how it ended.

    What it left in `folder` is looked at; with `writing`, the signal comes as soon as a file is being written there.
    """
    temporary = folder / "temporary" if folder else None
    if temporary:
        temporary.mkdir()
    command = [sys.executable, "-c", "import sys; from linnet.cli.entry import main; sys.exit(main())", *arguments]
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(temporary),
        start_new_session=True,
    )
    deadline = time.monotonic() + after
    while time.monotonic() < deadline and process.poll() is None:
        if writing and folder and next(folder.rglob("*.partial"), None):
            break
        time.sleep(min(0.005, max(0.0, deadline - time.monotonic())))
    had_ended = process.poll() is not None
    if not had_ended:
        (os.killpg if group else os.kill)(process.pid, number)
    try:
        err = process.communicate(timeout=WAIT)[1]
        lost = False
    except subprocess.TimeoutExpired:
        lost = True
        os.killpg(process.pid, signal.SIGKILL)
        err = process.communicate()[1]
    left = _left_behind(process.pid)
    status = process.returncode
    how = "left a process" if left else _judged(status, err, had_ended, lost, number)
    if folder and how == "clean":
        how = "; ".join(faults(folder, err)) or how
    return Ended(how, status, err)


def _judged(status: int, err: str, had_ended: bool, lost: bool, number: int) -> str:
    lines = [
        line for line in err.splitlines() if not line.startswith(("linnet explore: http", "linnet live: http"))
    ]  # where the page is
    if had_ended:
        return "had ended" if status == 0 and not lines else "failed by itself"
    if lost:
        return "lost"
    if status == 128 + number and len(lines) == 1 and lines[0].startswith("linnet: interrupted"):
        return "clean"
    if status == -number and not lines:
        return "before linnet"
    files = re.findall(r"linnet/([\w/]+)\.py", err)  # `linnet/__init__.py` loads before any file can take over signals
    if "KeyboardInterrupt" in err and not {*files} - {"__init__"}:
        return "before linnet"
    if status == 0 and not lines:
        return "had ended"
    return "crashed" if status < 0 else "traceback" if "Traceback" in err else f"status {status}, {len(lines)} lines"


def _left_behind(session: int) -> bool:
    """Whether a process of that session is still there a moment later."""
    for _ in range(30):
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        time.sleep(0.1)
    os.killpg(session, signal.SIGKILL)
    return True


def longest(arguments: list[str], most: float) -> float:
    """Seconds that a command takes by itself, at most `most`."""
    began = time.monotonic()
    try:
        subprocess.run(
            [sys.executable, "-m", "linnet", *arguments], env=environment(), capture_output=True, timeout=most
        )
    except subprocess.TimeoutExpired:
        return most
    return time.monotonic() - began
