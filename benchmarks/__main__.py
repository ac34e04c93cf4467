"""Run benchmarks, keep what they print in a history, and list what moved.

    python -m benchmarks [NAME ...]           all by default: files of this folder without their ending
    python -m benchmarks --compare            compares the newest run with the runs before it, without a new one

`benchmarks/history.jsonl` has one line for each run: when, of which commit, on what machine, and every number that was
printed, by the line in which it stands. Only numbers of the same machine are compared. A number has moved if it lies
outside the range of the earlier runs by more than the width of that range; of fewer than three earlier runs there is no
such range, so nothing is said of them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HISTORY = HERE / "history.jsonl"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
MIN_RUNS = 3  # earlier runs that make a scatter


def names() -> list[str]:
    """Return the benchmarks of this folder."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def machine() -> str:
    """Return what a run is compared by: processor, cores and Python."""
    cpuinfo = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*:\s*(.+)", cpuinfo.read_text()) if cpuinfo.is_file() else []
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def numbers_of(name: str, output: str) -> dict[str, float]:
    """Return every number of an output by its benchmark, its line without numbers, and its place in the line."""
    found: dict[str, float] = {}
    for line in output.splitlines():
        words = " ".join(NUMBER.sub("#", line).split())
        for place, match in enumerate(NUMBER.finditer(line)):
            key, repeat = f"{name}: {words} [{place}]", 2
            while key in found:  # rows of a table look alike
                key, repeat = f"{name}: {words} [{place}] row {repeat}", repeat + 1
            found[key] = float(match[0])
    return found


def run(name: str) -> str:
    """Run one benchmark, print what it prints, and return it; end with its status if it fails."""
    print(f"== {name}", flush=True)
    lines: list[str] = []
    with subprocess.Popen([sys.executable, "-m", f"benchmarks.{name}"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    if process.returncode:
        sys.exit(process.returncode)
    return "".join(lines)


def moved(history: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each number of the newest run that left the scatter of the earlier ones."""
    *before, now = history
    before = [one for one in before if one["machine"] == now["machine"]]
    rows = []
    for key, value in now["numbers"].items():
        earlier = [one["numbers"][key] for one in before if key in one["numbers"]]
        if len(earlier) >= MIN_RUNS:
            low, high = min(earlier), max(earlier)
            if value < low - (high - low) or value > high + (high - low):
                rows.append(f"{key}: {value:g}, before {low:g} to {high:g} in {len(earlier)} runs")
    return rows


def main() -> None:
    """Run, keep, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *names()], metavar="NAME")
    parser.add_argument("--compare", action="store_true")
    asked = parser.parse_args()
    if not asked.compare:
        numbers: dict[str, float] = {}
        for name in asked.names or names():
            numbers |= numbers_of(name, run(name))
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        row = {"when": when, "commit": commit.stdout.strip(), "machine": machine(), "numbers": numbers}
        with HISTORY.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    text = HISTORY.read_text(encoding="utf-8") if HISTORY.is_file() else ""
    history = [json.loads(line) for line in text.splitlines()]
    if not history:
        sys.exit(f"There is no run in {HISTORY.name} yet: python -m benchmarks")
    same = sum(one["machine"] == history[-1]["machine"] for one in history) - 1
    if same < MIN_RUNS:
        print(f"\nNothing is compared before {MIN_RUNS} earlier runs on this machine: there are {same}.")
    else:
        rows = moved(history)
        print("\n".join(["", f"Compared with {same} earlier runs on this machine:", *(rows or ["nothing moved"])]))


if __name__ == "__main__":
    main()
