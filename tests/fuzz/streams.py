"""Every command with its output closed, full or read by a program that has gone: one line, right status, no traceback.

python tests/fuzz/streams.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

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
SHORT = ("--help", "--version", "list", "lora", "docs", "new-paper", "run", "diagnose", "sweep")
SLEEP = "import time; time.sleep(0.5); "  # so that the reader has gone before anything is written


def faults(names: tuple[str, ...] = SHORT, ways: tuple[str, ...] = tuple(WAYS)) -> Iterator[str]:
    """What is wrong with the ends of these commands, one line each."""
    for name in names:
        for way in ways:
            with tempfile.TemporaryDirectory() as folder:
                words = {**commands(Path(folder)), "--help": ["--help"], "--version": ["--version"]}[name]
                if name == "run":
                    words = ["run", "watanabe-fig4", "--quick", "--out", folder]
                if name == "sweep":
                    words = [words[0], words[1].replace("long", "short"), *words[2:]]
                yield from _fault(name, way, words)


def _fault(name: str, way: str, words: list[str]) -> Iterator[str]:
    shell, status, begins = WAYS[way]
    start = SLEEP if way == "gone" else ""
    line = [sys.executable, "-c", f"{start}from linnet.cli.entry import main; main()", *words]
    command = " ".join(f"'{word}'" for word in line)
    done = subprocess.run(["sh", "-c", shell.format(command)], capture_output=True, text=True, env=environment())
    said = done.stderr.splitlines()
    if way == "gone":
        found = int(said.pop().split()[-1]) if said else -1
    else:
        found = done.returncode
    as_told = len(said) == 1 and said[0].startswith(begins) if begins else not said
    if found != status or not as_told:
        yield f"{name}, {way}: status {found} instead of {status}; said {said}"


def report() -> int:
    """Prints what is wrong, and how many were tried."""
    found = list(faults())
    for text in found:
        sys.stdout.write(text + "\n")
    sys.stdout.write(f"{len(SHORT) * len(WAYS)} commands with closed, full and broken streams, {len(found)} wrong\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(report())
