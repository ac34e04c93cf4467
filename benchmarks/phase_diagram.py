"""The phase diagram of Tu et al. (35 x 35 networks, d = 200, up to 2.8 million units): its time, and the plain loop's.

    python benchmarks/phase_diagram.py            49 of the cells on a CPU, scaled up to 1225; all of them on an
    accelerator python benchmarks/phase_diagram.py --all      all of them

Descent and the self-consistent dynamics run in one loop, float32, c = 50, with the figure's stopping rule. The plain
PyTorch loop (descent only, full width) is timed at one width and scaled to each cell's width and steps. Asserts
nothing.
"""

from __future__ import annotations

import sys
import time

import jax
import numpy as np

import linnet as ln
from linnet.papers.tu.networks import phase_diagram
from linnet.trainers import paired_descent as pool

DIM, GRID = 200, 35
FIXED = {"rank": 5, "c": 50.0, "update": "simultaneous", "seed": 0, "dim": DIM}


def diagram(count: int) -> tuple[dict[str, np.ndarray], np.ndarray, dict[str, float]]:
    """`count` x `count` cells of the diagram: results, widths, and the seconds of each part (compilation included)."""
    spent = {"drawing starts": 0.0, "loop": 0.0}
    originals = {"drawing starts": pool._drawn, "loop": pool._advance}

    def timed(part):
        def call(*args, **kwargs):
            began = time.perf_counter()
            result = jax.block_until_ready(originals[part](*args, **kwargs))
            spent[part] += time.perf_counter() - began
            return result

        return call

    pool._drawn, pool._advance = timed("drawing starts"), timed("loop")
    power, variance = np.meshgrid(np.linspace(0, 2.8, count), np.linspace(-3, 0, count), indexing="ij")
    points = {
        "gamma_width": power.ravel(),
        "gamma_variance": variance.ravel(),
        "replicate": np.zeros(count**2, dtype=int),
    }
    began = time.perf_counter()
    try:
        found = phase_diagram.cells(points, np.arange(count**2), dtype="float32", **FIXED)
    finally:
        pool._drawn, pool._advance = originals["drawing starts"], originals["loop"]
    spent["all"] = time.perf_counter() - began
    return found, np.maximum(1, np.round(DIM ** points["gamma_width"])), spent


def plain_step(width: int = 20_000) -> tuple[str, float]:
    """Seconds a step and unit of width of descent at full width, as one would write it."""
    draw = np.random.default_rng(0)
    arrays = [draw.standard_normal(shape).astype(np.float32) for shape in ((width, DIM), (DIM, width), (DIM, DIM))]
    name = "NumPy"
    try:
        import torch

        arrays, name = [torch.from_numpy(array) for array in arrays], "PyTorch"
    except ImportError:
        pass
    first, second, target = arrays
    times = []
    for _ in range(4):
        began = time.perf_counter()
        pull = target - second @ first
        first, second = first + 1e-9 * (second.T @ pull), second + 1e-9 * (pull @ first.T)
        times.append(time.perf_counter() - began)
    return name, min(times) / width


def main() -> None:
    whole = "--all" in sys.argv or jax.default_backend() != "cpu"
    count = GRID if whole else 7
    found, widths, spent = diagram(count)
    scale = GRID**2 / count**2
    device = jax.devices()[0].device_kind
    print(
        f"{count**2} cells on {device}: {spent['all']:.1f} s, of these {spent['drawing starts']:.1f} s drawing starts "
        "and "
        f"{spent['loop']:.1f} s in the loop of descent and self-consistent dynamics; {found['taken'].mean():.0f} "
        "steps a cell"
    )
    if not whole:
        print(
            f"scaled to the {GRID**2} cells of the figure: {scale * spent['all'] / 60:.1f} minutes (target 10 on 2 "
            "cores)"
        )
    if jax.default_backend() != "cpu":
        steady = _steady()
        print(f"descent part alone, all {GRID**2} cells, 1500 steps each, compiled: {steady:.1f} s (target 10)")
        return
    name, rate = plain_step()
    plain = scale * rate * float((found["taken"] * widths).sum())
    print(
        f"the plain full-width {name} loop, descent alone, would take {plain / 3600:.1f} hours for the same steps: "
        f"{plain / (scale * spent['all']):.0f} times as long"
    )


def _steady(steps: int = 1500) -> float:
    """Seconds of plain descent on all cells' reduced networks at once, all steps, no stopping."""
    problem = ln.problems.low_rank_plus_noise(DIM, rank=5, key=0)
    rate = 1 / (50 * float(np.linalg.norm(problem.truth, 2)))
    one = ln.inits.reduced_gaussian(0, in_dim=DIM, out_dim=DIM, width=10**6, first_std=1e-3, second_std=1e-3)
    weights = ln.Weights(
        np.broadcast_to(one.first, (GRID**2, *one.first.shape)),
        np.broadcast_to(one.second, (GRID**2, *one.second.shape)),
    )
    times = []
    for number in (100, 100, steps):
        began = time.perf_counter()
        ln.gradient_descent(
            problem,
            weights,
            learning_rate=rate,
            steps=number,
            save_every=ln.trajectories.last(),
            keep="losses",
            dtype="float32",
        )
        times.append(time.perf_counter() - began)
    return (times[2] - times[1]) * steps / (steps - 100)


if __name__ == "__main__":
    main()
