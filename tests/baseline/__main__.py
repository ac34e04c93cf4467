"""Compare a report of this checkout with the record of version 0.3.0 (revision 93ee76dc).

    linnet reproduce --quick --out REPORT      every figure and claim at quick settings
    python -m baseline REPORT                  in the folder of tests; `make baseline` does both
    python -m baseline --speeds                the benchmarks that print ratios, beside the ratios of 0.3.0
    python -m baseline REPORT --write --elsewhere ROWS     writes the record, from a report of that revision

One line for each figure and claim: the same bits, the same to 1e-n, how far off, or missing. The exit status is 1 if a
verdict changed, something is missing, or a number is further off than the tolerance, unless `changes.toml` says that
this is wanted, and why. Another machine gives other bits, and rounding errors are among the numbers: a claim may be off
by three times what the same revision was off on another machine (`--elsewhere`, rows of `linnet verify --json`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from baseline.compare import Difference, compare_claim, compare_figure
from baseline.names import with_new_names
from baseline.summary import summarize

HERE = Path(__file__).parent
RECORD, CHANGES = HERE / "record.json", HERE / "changes.toml"
FIGURES, CLAIMS, SPEEDS, ELSEWHERE = "figures", "claims", "speeds", "elsewhere"
TOLERANCE = 1e-5  # relative, of all figures and of claims that differed less between two machines
MARGIN = 3.0  # times the difference between two machines


def main() -> int:
    """Run the command; 1 if a difference is not wanted."""
    parser = argparse.ArgumentParser(
        prog="baseline", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("report", type=Path, nargs="?", help="folder of `linnet reproduce --quick`")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="largest relative difference (%(default)g)")
    parser.add_argument("--speeds", action="store_true", help="run the benchmarks, too: minutes on a quiet machine")
    parser.add_argument("--checkout", type=Path, default=HERE.parents[1], help="whose benchmarks are run")
    parser.add_argument("--elsewhere", type=Path, help="with --write: claims of that revision on another machine")
    parser.add_argument("--write", action="store_true", help="write the record in place of comparing with it")
    options = parser.parse_args()
    if options.report is None and not options.speeds:
        parser.error("name the folder of a report, or --speeds")
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    found = {} if options.report is None else read_report(options.report)
    if options.write:
        if options.elsewhere is not None:
            add_differences_elsewhere(found[CLAIMS], json.loads(options.elsewhere.read_text()))
        if options.speeds:
            found[SPEEDS] = {script: measure_speeds(script, options.checkout) for script in LINES}
        write_record(record | found)
        return 0
    status = 0
    if options.report is not None:
        allowed = {name: MARGIN * row.get(ELSEWHERE, 0.0) for name, row in with_new_names(record[CLAIMS]).items()}
        status = print_differences(compare(record, found), options.tolerance, allowed)
    if options.speeds:
        print_speeds(record[SPEEDS], options.checkout)
    return status


def read_report(folder: Path) -> dict[str, Any]:
    """Read the figures' data and the claims' verdicts and numbers from a report, as they are recorded."""
    import xarray as xr

    figures = {}
    for file in sorted(folder.glob("*-quick/data.nc")):
        data = xr.load_dataset(file, engine="scipy", decode_times=False)
        variables = {str(name): summarize(variable.values) for name, variable in sorted(data.variables.items())}
        figures[file.parent.name.removesuffix("-quick")] = variables
    outcomes = json.loads((folder / "quick-claims.json").read_text())["outcomes"]
    claims = {row["name"]: {"verdict": row["verdict"], "rows": row["rows"]} for row in outcomes}
    return {FIGURES: figures, CLAIMS: claims}


def compare(record: Mapping[str, Any], found: Mapping[str, Any]) -> list[Difference]:
    """Compare every recorded figure and claim, under the names that they have now."""
    old = with_new_names({part: record[part] for part in (FIGURES, CLAIMS)})
    figures = [compare_figure(name, row, found[FIGURES].get(name)) for name, row in old[FIGURES].items()]
    return figures + [compare_claim(name, row, found[CLAIMS].get(name)) for name, row in old[CLAIMS].items()]


def add_differences_elsewhere(claims: Mapping[str, dict[str, Any]], rows: Iterable[Mapping[str, Any]]) -> None:
    """Add to each claim how far the same revision was off on another machine, if verdict and numbers were the same."""
    for row in rows:
        size = compare_claim(row["name"], claims[row["name"]], row).size
        if 0 < size < math.inf:
            claims[row["name"]][ELSEWHERE] = float(f"{size:.1e}")


def print_differences(
    differences: Iterable[Difference], tolerance: float, allowed: Mapping[str, float] | None = None
) -> int:
    """Print a line for each difference and a summary; return 1 if one is too large and not wanted.

    - `tolerance`: largest difference of all
    - `allowed`: the same for single figures and claims, where it is larger
    """
    wanted = tomllib.loads(CHANGES.read_text())
    counts: Counter[str] = Counter()
    for one in differences:
        limit = max(tolerance, (allowed or {}).get(one.name, 0.0))
        kind = "same bits" if one.size == 0 else "within the tolerance" if one.size <= limit else "different"
        if kind == "different":
            kind = "missing" if one.where.startswith("missing") else kind
            kind = f"{kind}, as wanted" if one.name in wanted else kind
        counts[kind] += 1
        reason = f"; wanted: {wanted[one.name]}" if kind.endswith("wanted") else ""
        mark = kind.upper() if kind in ("different", "missing") else "ok"
        print(f"{mark:<9} {one.name:<32} {one}{reason}")
    print(", ".join(f"{kind}: {count}" for kind, count in counts.most_common()))
    return 1 if counts["different"] or counts["missing"] else 0


def write_record(record: Mapping[str, Any]) -> None:
    """Write the record, a line for each figure, claim and benchmark."""
    parts = []
    for part, rows in record.items():
        lines = ",\n".join(f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}" for name, row in rows.items())
        parts.append(f"{json.dumps(part)}:{{\n{lines}\n}}")
    RECORD.write_text("{\n" + ",\n".join(parts) + "\n}\n")


# What the benchmarks print: the ratios on which README and docs rely, each with the words before or behind it.
LINES = {
    "closed_form": {"integrated at 1e-9, times the closed form": r"at 1e-09: .* ratio ([\d.]+)"},
    "one_output": {
        "gradient flow, times one SVD": r"gradient flow: .* ([\d.]+) times one SVD",
        "gradient descent, times one SVD": r"gradient descent: .* ([\d.]+) times one SVD",
        "without data, times one SVD": r"without data: .* ([\d.]+) times one SVD",
    },
    "reduced_step": {"full step, times the reduced one": r"ratio of times per step: ([\d.]+)"},
    "predicted_diagram --no-train": {
        "plane, times one SVD": r"all 1225 cells: .* s, ([\d.]+) SVDs",
        "cells with w >= d, times one SVD": r"SVD included: .* s, ([\d.]+) SVDs",
        "d = 1e6, times d = 200": r"1225 cells: .* s, ([\d.]+) times d = 200",
    },
}


def measure_speeds(script: str, checkout: Path) -> dict[str, float]:
    """Run a benchmark of a checkout and return the ratios that it prints, by their words; NaN for a missing one."""
    name, *options = script.split()
    command = [sys.executable, "-m", f"benchmarks.{name}", *options]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(checkout / "src"), str(checkout)])}
    said = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=True).stdout
    found = {words: re.search(pattern, said) for words, pattern in LINES[script].items()}
    return {words: math.nan if match is None else float(match[1]) for words, match in found.items()}


def print_speeds(record: Mapping[str, Mapping[str, float]], checkout: Path) -> None:
    """Print each ratio beside the recorded one. Speeds depend on what else the machine does: they change no status."""
    for script, ratios in record.items():
        now = measure_speeds(script, checkout)
        for words, ratio in ratios.items():
            print(f"{script}: {words}: {now[words]:g}, was {ratio:g}")


if __name__ == "__main__":
    sys.exit(main())
