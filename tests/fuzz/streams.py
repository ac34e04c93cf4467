"""Every command with its output closed, full or read by a program that has gone: one line, right status."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fuzz.interrupts import commands, environment

# The way a shell starts it, the exit status, and what the one line on standard error begins with (nothing for none).
WAYS = {
    "closed": ("{} >&-", 1, "linnet: standard output is closed"),
    "full": ("{} >/dev/full", 1, "linnet: cannot "),
    "gone": ("({}; echo status $? >&2) | true", 1, "linnet: the program reading the output has gone"),
    "errors closed": ("{} >/dev/null 2>&-", 0, ""),
    "errors full": ("{} >/dev/null 2>/dev/full", 0, ""),
    "input closed": ("{} >/dev/null <&-", 0, ""),
}
INTERRUPTED = (130, "linnet: interrupted")
# A server says nothing on standard output, and goes on until it is interrupted.
SERVED = dict.fromkeys(("full", "gone", "input closed"), INTERRUPTED) | dict.fromkeys(
    ("errors closed", "errors full"), (130, "")
)
EVERY = (
    *("--help", "--version", "list", "lora", "docs", "new-paper", "run", "diagnose", "sweep", "sweep --workers"),
    *("verify", "verify --workers", "reproduce", "explore"),
)
# So that the reader has gone before anything is written: the pipe is then in error.
GONE = "import select; pipe = select.poll(); pipe.register(1, 0); pipe.poll(); "
# Ctrl-C, for the server; by a thread that does not hold up a command which has ended before
LATER = (
    "import threading, os; later = threading.Timer(12, os.kill, (os.getpid(), 2)); later.daemon = True; later.start(); "
)


def faults(name: str, ways: tuple[str, ...] = tuple(WAYS)) -> Iterator[str]:
    """What is wrong with the ends of a command, one line each."""
    with tempfile.TemporaryDirectory() as finished:
        for way in ways:
            with tempfile.TemporaryDirectory() as folder:
                yield from _fault(name, way, _words(name, way, Path(folder), Path(finished)))


def _words(name: str, way: str, folder: Path, finished: Path) -> list[str]:
    """A short call of the command, in a folder of its own."""
    words = {**commands(folder), "--help": ["--help"], "--version": ["--version"]}[name]
    if name == "run":
        return ["run", "watanabe-fig4", "--quick", "--out", str(folder)]
    if name == "sweep":
        return [words[0], words[1].replace("long", "short"), *words[2:]]
    if name.startswith("verify"):
        return ["verify", "--quick", "huang-lemmaA1", *name.split()[1:], *(["2"] if "workers" in name else [])]
    if name == "reproduce" and way not in ("full", "gone"):  # which end it at its first line; the others make it once
        return ["reproduce", "--quick", "--no-claims", "--out", str(finished)]
    return words


def _fault(name: str, way: str, words: list[str]) -> Iterator[str]:
    shell, status, begins = WAYS[way]
    if name == "explore" and way in SERVED:
        status, begins = SERVED[way]
    start = (GONE if way == "gone" else "") + (LATER if name == "explore" else "")
    line = [sys.executable, "-c", f"{start}from linnet.cli.entry import main; main()", *words]
    command = " ".join(f"'{word}'" for word in line)
    done = subprocess.run(["sh", "-c", shell.format(command)], capture_output=True, text=True, env=environment())
    said = [text for text in done.stderr.splitlines() if not text.startswith("linnet explore: http")]
    if way == "gone":
        found = int(said.pop().split()[-1]) if said else -1
    else:
        found = done.returncode
    as_told = len(said) == 1 and said[0].startswith(begins) if begins else not said
    if found != status or not as_told:
        yield f"{name}, {way}: status {found} instead of {status}; said {said}"
