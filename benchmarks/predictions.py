"""How far `ln.predict` is from exact training on random problems that nothing was tuned on, and whether it says so.

    python benchmarks/predictions.py                          seeds 0 to 99
    python benchmarks/predictions.py 500 --workers 2          seeds 0 to 499, about a quarter of an hour

Each problem is drawn by its seed (`tests/predicted_problems.py`): one to five outputs, 1 to 60 inputs, two to four
layers, widths to 10^9, and trained by `ln.gradient_flow`. Differences and uncertainties below 1e-8 count as 1e-8. For
each kind of initialization:

- covered: share of problems whose difference is at most the uncertainty
- too large: median of uncertainty over difference
- below 5%: share of problems with such an uncertainty
- difference: median difference
- good: share of problems whose difference is at most `rtol` (1%), or at most three times that of the best formula that
  applies
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import linnet as ln
import predicted_problems

FIRST_SEED = 20_000  # nothing was tried on these
SMALL = 1e-8
RTOL = 0.01


def compared(seed: int) -> dict[str, Any]:
    """Predict one problem by the formula that is chosen and by all others that apply, and train it."""
    drawn = predicted_problems.draw(FIRST_SEED + seed)
    row: dict[str, Any] = {"seed": seed, "kind": drawn.kind, "inputs": drawn.inputs}
    try:
        begin = time.perf_counter()
        prediction = ln.predict(drawn.problem, drawn.weights, drawn.times, rtol=RTOL)
        row |= {"formula": prediction.formula.name, "seconds": time.perf_counter() - begin}
    except ln.NoFormulaError as error:
        return row | {"formula": "none", "message": str(error)}
    try:
        run = ln.gradient_flow(drawn.problem, drawn.weights, times=drawn.times)
    except (ArithmeticError, RuntimeError, ValueError) as error:
        return row | {"formula": "not trained", "message": str(error)}
    others = []
    for one in ln.predictions.FORMULAS:
        try:
            other = ln.predict(drawn.problem, drawn.weights, drawn.times, formula=one.name)
        except ln.NoFormulaError:
            continue
        others.append(other.difference(run).value)
    return row | {
        "uncertainty": max(prediction.uncertainty, SMALL),
        "difference": max(prediction.difference(run).value, SMALL),
        "best": max(min(others), SMALL),
    }


def main() -> None:
    """Print a row for each kind of initialization, and every problem that was missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("problems", type=int, nargs="?", default=100)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    with ProcessPoolExecutor(asked.workers, mp_context=get_context("spawn")) as pool:
        rows = list(pool.map(compared, range(asked.problems)))
    done = [row for row in rows if "difference" in row]
    for row in rows:
        if "difference" not in row or row["uncertainty"] < row["difference"]:
            print("missed:", row)
    names = ("problems", "covered", "too large", "below 5%", "difference", "good")
    print(f"{'initialization':18}" + "".join(f"{name:>11}" for name in names))
    for kind in (*predicted_problems.TWO_LAYERS, *predicted_problems.DEEP, "all"):
        some = [row for row in done if kind in (row["kind"], "all") or kind == "all"]
        if not some:
            continue
        told, apart, best = (np.array([row[name] for row in some]) for name in ("uncertainty", "difference", "best"))
        good = (apart <= RTOL) | (apart <= 3 * best)
        shares = (told >= apart).mean(), np.median(told / apart), (told < 0.05).mean()
        print(
            f"{kind:18}{len(some):11}"
            + "".join(f"{share:11.3f}" for share in shares)
            + f"{np.median(apart):11.1e}{good.mean():11.3f}"
        )
    print(f"none applied: {sum(row['formula'] == 'none' for row in rows)}", end=", ")
    print(f"longest prediction {max(row['seconds'] for row in done):.2f} s", end=", ")
    print(f"median {np.median([row['seconds'] for row in done]) * 1e3:.1f} ms")


if __name__ == "__main__":
    main()
