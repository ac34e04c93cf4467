"""The phase diagram by formula: processor seconds, ratios to one SVD of the target and to training, and memory.

python benchmarks/predicted_diagram.py              the formula, and 9 trained cells scaled up to 1225
python benchmarks/predicted_diagram.py --no-train
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import linnet as ln

DIM, GRID = 200, 35
lazy_active = ln.theories.lazy_active


def seconds(call: Callable[[], Any], repeats: int = 3) -> float:
    """Processor seconds, the best of a few runs: what it takes on a quiet core, whatever else runs beside."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times)


def axes(dim: int, grid: int) -> tuple[np.ndarray, np.ndarray]:
    widths = np.maximum(1, np.round(float(dim) ** np.linspace(0, 2.8, grid)))
    return float(dim) ** np.linspace(-3, 0, grid), widths


def trained(problem: ln.Problem, count: int = 3) -> float:
    """Seconds of training `count` x `count` cells of the plane, to the rise of the test error or 1500 steps."""
    from linnet.trainers import stopping
    from linnet.trainers.diagrams import gaussian_diagram

    power, variance = np.meshgrid(np.linspace(0, 2.8, count), np.linspace(-3, 0, count), indexing="ij")
    widths = [max(1, round(DIM**p)) for p in power.ravel()]
    variances = DIM ** variance.ravel()
    sizes = np.maximum(variances * np.array(widths, dtype=float), float(np.linalg.norm(problem.truth, 2)))
    began = time.process_time()
    gaussian_diagram(
        [problem],
        keys=list(range(count**2)),
        widths=widths,
        variances=variances,
        learning_rates=1 / (50 * sizes),
        steps=1500,
        stop=stopping.TestLossRising(3, after=100),
        dtype="float32",
    )
    return time.process_time() - began


def main() -> None:
    problem = ln.problems.low_rank_plus_noise(DIM, rank=5, key=0)
    variances, widths = axes(DIM, GRID)
    plain = seconds(lambda: np.linalg.svd(problem.cross))
    print(f"one plain SVD, d = {DIM}: {1e3 * plain:.0f} ms")
    wide = seconds(lambda: lazy_active.predicted_diagram(problem, variances, widths[widths >= DIM]))
    only = seconds(lambda: lazy_active.predicted_diagram(problem, variances, widths[widths >= DIM], draws=0))
    cells = GRID * int((widths >= DIM).sum())
    print(f"{cells} cells with w >= d, SVD included: {wide:.2f} s, {wide / plain:.0f} SVDs; without draws {only:.2f} s")
    whole = seconds(lambda: lazy_active.predicted_diagram(problem, variances, widths), 1)
    print(f"all {GRID**2} cells: {whole:.2f} s, {whole / plain:.0f} SVDs (16 starts and more)")
    spectrum, live = lazy_active.task_spectrum(problem), axes(DIM, 25)
    plainly = seconds(lambda: lazy_active.predicted_diagram(spectrum, *live, points=16, draws=0))
    print(f"25 x 25, bulk in 16 groups, after the SVD: {1e3 * plainly:.0f} ms without draws")
    huge = lazy_active.asymptotic_spectrum(np.array([1.0, 0.9, 0.8, 0.7, 0.6]) * 4.5e5, 10**6, 1.0)
    far = seconds(lambda: lazy_active.predicted_diagram(huge, *axes(10**6, GRID)), 1)
    print(f"d = 1e6 without any SVD, {GRID**2} cells: {far:.2f} s, {far / whole:.1f} times d = {DIM}")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"largest memory of this process: {memory:.0f} MB")
    if "--no-train" not in sys.argv:
        spent = trained(problem) * GRID**2 / 9
        print(
            f"training the diagram, scaled from 9 cells: {spent / 60:.0f} minutes, "
            f"{spent / whole:.0f} times the formula's"
        )


if __name__ == "__main__":
    main()
