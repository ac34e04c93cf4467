"""Run benchmarks, keep what they print in a history, and list what moved.

    python -m benchmarks [NAME ...]           all by default: files of this folder without their ending
    python -m benchmarks --compare            compares the newest run with the runs before it, without a new one

`benchmarks/history.jsonl` has one line for each run: when, of which commit, on what machine, and every number that was
printed, by the line in which it stands. Only numbers of the same machine are compared. A number has moved if it lies
outside the interval that holds 99 of 100 further runs, by Student's t from the mean and the standard deviation of the
earlier ones. Fewer than three earlier runs give no such interval, so their numbers are not compared.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from scipy import stats

HERE = Path(__file__).parent
HISTORY = HERE / "history.jsonl"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
MIN_RUNS = 3  # earlier runs that make a scatter
ROUNDING = 1e-12  # relative, of a mean of equal numbers
CONFIDENCE = 0.99  # fraction of runs without a change that the interval holds


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


def run(name: str) -> tuple[str, int]:
    """Run one benchmark, print what it prints, and return it with its exit status."""
    print(f"== {name}", flush=True)
    lines: list[str] = []
    with subprocess.Popen([sys.executable, "-m", f"benchmarks.{name}"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return "".join(lines), process.returncode


def earlier_values(history: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return the earlier values on the same machine of each number of the newest run that has enough of them."""
    *before, now = history
    runs = [one["numbers"] for one in before if one["machine"] == now["machine"]]
    values = {key: [numbers[key] for numbers in runs if key in numbers] for key in now["numbers"]}
    return {key: found for key, found in values.items() if len(found) >= MIN_RUNS}


def moved(history: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each number of the newest run that left the scatter of the earlier ones."""
    rows = []
    for key, earlier in earlier_values(history).items():
        value, runs = history[-1]["numbers"][key], len(earlier)
        width = stats.t.ppf((1 + CONFIDENCE) / 2, runs - 1) * stdev(earlier) * math.sqrt(1 + 1 / runs)
        if abs(value - fmean(earlier)) > width + ROUNDING * abs(value):
            rows.append(f"{key}: {value:g}, before {min(earlier):g} to {max(earlier):g} in {runs} runs")
    return rows


def main() -> None:
    """Run, keep, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[[], *names()], metavar="NAME")
    parser.add_argument("--compare", action="store_true")
    asked = parser.parse_args()
    failed: list[str] = []
    if not asked.compare:
        numbers: dict[str, float] = {}
        for name in asked.names or names():
            output, status = run(name)
            if status:
                failed.append(name)
            else:
                numbers |= numbers_of(name, output)
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True)
        when = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        row = {"when": when, "commit": commit.stdout.strip(), "machine": machine(), "numbers": numbers}
        if numbers:
            with HISTORY.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    text = HISTORY.read_text(encoding="utf-8") if HISTORY.is_file() else ""
    history = [json.loads(line) for line in text.splitlines()]
    if not history:
        sys.exit(f"There is no run in {HISTORY.name} yet: python -m benchmarks")
    compared, total = len(earlier_values(history)), len(history[-1]["numbers"])
    print(f"\n{compared} of {total} numbers have {MIN_RUNS} or more earlier runs on this machine to be compared with.")
    if compared:
        print("\n".join(moved(history) or ["Nothing moved."]))
    if failed:
        sys.exit(f"These failed and are not in the history: {', '.join(failed)}")


if __name__ == "__main__":
    main()
