"""What a sweep's machinery costs: 20 000 tiny cells, stored, against a bare loop over the same cells.

    python benchmarks/sweep_overhead.py [CELLS]

Prints seconds per cell of the bare loop and of the sweep in memory and in a store, seconds to resume and to load the
finished store, and the number and size of its files. One core: set OMP_NUM_THREADS=1 and pin it with `taskset -c 0`
where there is one.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from linnet import sweeps

LIMIT = 2e-3  # seconds per cell


def tiny(points: dict[str, np.ndarray], seeds: np.ndarray) -> dict[str, np.ndarray]:
    """As little work as there can be, with two results."""
    return {"total": points["x"] + points["y"], "product": points["x"] * points["y"]}


def main(cells: int = 20_000) -> None:
    """Measures and prints."""
    rows = max(1, round(cells**0.5))
    axes = {"x": list(range(rows)), "y": [0.5 * j for j in range(-(-cells // rows))]}
    sweep = sweeps.Sweep(name="overhead", function=tiny, axes=axes, record=["total", "product"], dtype=None)
    sweeps.run(sweeps.Sweep(name="warm", function=tiny, axes={"x": [1], "y": [1]}, dtype=None))
    count = len(axes["x"]) * len(axes["y"])

    began = time.perf_counter()
    for x in axes["x"]:
        for y in axes["y"]:
            tiny({"x": np.array([x]), "y": np.array([y])}, np.array([0]))
    bare = (time.perf_counter() - began) / count

    began = time.perf_counter()
    sweeps.run(sweep)
    memory = (time.perf_counter() - began) / count

    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        began = time.perf_counter()
        sweeps.run(sweep, store)
        stored = (time.perf_counter() - began) / count
        began = time.perf_counter()
        sweeps.run(sweep, store)
        resumed = time.perf_counter() - began
        began = time.perf_counter()
        sweeps.open(store).load()
        loaded = time.perf_counter() - began
        files = [entry.stat().st_size for entry in store.rglob("*") if entry.is_file()]

    print(f"{count} cells: bare loop {1e3 * bare:.4f} ms a cell")
    print(f"sweep in memory: {1e3 * memory:.4f} ms a cell")
    print(
        f"sweep in a store: {1e3 * stored:.4f} ms a cell, overhead {1e3 * (stored - bare):.4f} (limit {1e3 * LIMIT:g})"
    )
    print(f"resuming the finished store: {resumed:.2f} s; loading it: {loaded:.2f} s")
    print(f"{len(files)} files, {1e-6 * sum(files):.2f} MB")
    if stored - bare > LIMIT:
        sys.exit(f"the overhead of {1e3 * (stored - bare):.3f} ms a cell is above {1e3 * LIMIT:g} ms")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
