"""Time per step of the feature-learning network of section 6: reduced (10 x 11) against full (10 000 x 1024), one
process.

    python benchmarks/reduced_step.py [--dim 10000] [--width 1024]

Both are linnet's own `gradient_descent`, with and without `reduce`. A step is timed as the difference between a long
and a short run (best of five each), so that compiling, reducing and starting do not count.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import linnet as ln


def seconds(problem: ln.Problem, start: ln.Weights, rate: float, steps: int, reduce: bool) -> float:
    begin = time.perf_counter()
    run = ln.gradient_descent(
        problem, start, learning_rate=rate, steps=steps, save_every=ln.trajectories.last(), keep="losses", reduce=reduce
    )
    taken = time.perf_counter() - begin
    if run.status.steps != steps or not np.isfinite(run.loss).all():
        raise RuntimeError(f"the run did not take its {steps} steps: {run.status}")
    return taken


def per_step(problem: ln.Problem, start: ln.Weights, rate: float, *, few: int, many: int, reduce: bool) -> float:
    seconds(problem, start, rate, few, reduce)  # compiles
    short, long = (min(seconds(problem, start, rate, steps, reduce) for _ in range(5)) for steps in (few, many))
    return (long - short) / (many - few)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=10_000)
    parser.add_argument("--width", type=int, default=1024)
    chosen = parser.parse_args()
    data = ln.problems.gaussian_teacher(key=0, dim=chosen.dim)
    problem = ln.Problem.from_data(data.inputs, data.outputs)
    start = ln.inits.signed(key=1, in_dim=chosen.dim, width=chosen.width, first_std=0.01, magnitude=0.001)
    rate = 0.1 / chosen.width
    full = per_step(problem, start, rate, few=10, many=60, reduce=False)
    reduced = per_step(problem, start, rate, few=50, many=50_050, reduce=True)
    print(f"full    {chosen.dim} x {chosen.width}: {full * 1e3:10.4f} ms per step")
    print(f"reduced 10 x 11{'':9}: {reduced * 1e3:10.4f} ms per step")
    print(f"ratio of times per step: {full / reduced:.0f}")


if __name__ == "__main__":
    main()
