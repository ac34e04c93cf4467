"""Test error over time of a network with one output: from one SVD against training, in one run.

    python benchmarks/one_output.py [--dim 200] [--samples 400]

One data set with a spiked covariance and label noise, five scales of the start, 40 times each: `learning_curve`, the
gradient flow of reduced networks, and gradient descent at half of the largest stable step; and the limit without data.
Prints seconds and ratios; asserts nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import linnet as ln

THRESHOLDS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)


def seconds(run: Callable[[], object], repeats: int = 3) -> float:
    """The least of some repeats, after one that compiles."""
    run()
    spent = []
    for _ in range(repeats):
        before = time.perf_counter()
        run()
        spent.append(time.perf_counter() - before)
    return min(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=200)
    parser.add_argument("--samples", type=int, default=400)
    asked = parser.parse_args()
    d, n = asked.dim, asked.samples
    problem = ln.problems.spiked_covariance(d, spike=20.0, alignment=0.5, samples=n, noise_std=1.0, key=0)
    times = np.append(0.0, np.geomspace(1e-2, 20, 39))
    clocks = {g: times / max(1.0, g) for g in THRESHOLDS}
    starts = {g: ln.inits.orthogonal(key=0, in_dim=d, out_dim=1, width=2 * d, scale=g) for g in THRESHOLDS}
    top = float(np.linalg.eigvalsh(problem.cov)[-1])
    size = float(np.linalg.norm(problem.min_norm_solution()))
    rates = {g: 0.5 / (top * (g + np.hypot(g, size))) for g in THRESHOLDS}

    def by_svd() -> None:
        for g in THRESHOLDS:
            ln.theories.one_output.error_over_time(problem, g, clocks[g])

    def by_flow() -> None:
        for g in THRESHOLDS:
            ln.gradient_flow(problem, starts[g], times=clocks[g])

    def by_descent() -> None:
        for g in THRESHOLDS:
            steps = round(clocks[g][-1] / rates[g])
            ln.gradient_descent(problem, starts[g], learning_rate=rates[g], steps=steps, save_every=max(1, steps // 40))

    def without_data() -> None:
        for g in THRESHOLDS:
            ln.theories.one_output.asymptotic(
                [21.0, 1.0],
                [0.25, 0.75],
                n,
                multiplicities=[1, d - 1],
                noise_variance=1.0,
                threshold=g,
                times=clocks[g],
            )

    base = seconds(by_svd)
    print(f"d = {d}, n = {n}, five scales of the initialization, 40 times each")
    for name, run in (("gradient flow", by_flow), ("gradient descent", by_descent), ("without data", without_data)):
        spent = seconds(run)
        print(f"{name:>18}: {spent:8.3f} s, {spent / base:7.1f} times one SVD ({base:.3f} s)")


if __name__ == "__main__":
    main()
