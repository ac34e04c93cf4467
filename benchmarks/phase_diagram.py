"""The phase diagram of Tu et al. (35 x 35 networks, d = 200, up to 2.8 million units) against the plain loop.

    python benchmarks/phase_diagram.py            49 of the cells on a CPU, scaled up to 1225; all on an accelerator
    python benchmarks/phase_diagram.py --all      all of them

Descent and the self-consistent dynamics run in one loop, float32, c = 50, with the figure's stopping rule. The plain
PyTorch loop (descent only, full width) is timed at one width and scaled to each cell's width and steps. How much of the
hardware's speed is used: `trained_diagram.py`. Asserts nothing.
"""

from __future__ import annotations

import sys
import time

import jax
import numpy as np

from linnet_papers.tu import plane
from linnet_papers.tu.training import phase_diagram

DIM, GRID = 200, 35
FIXED = {"rank": plane.RANK, "c": plane.STEP_C, "update": "simultaneous", "seed": 0, "dim": DIM}


def diagram(count: int) -> tuple[dict[str, np.ndarray], np.ndarray, float]:
    """`count` x `count` cells of the diagram: results, widths, and the seconds it took, compilation included."""
    power, variance = np.meshgrid(np.linspace(0, 2.8, count), np.linspace(-3, 0, count), indexing="ij")
    points = {
        "gamma_width": power.ravel(),
        "gamma_variance": variance.ravel(),
        "replicate": np.zeros(count**2, dtype=int),
    }
    began = time.perf_counter()
    found = phase_diagram.plane_cells(points, np.arange(count**2), dtype="float32", **FIXED)
    return found, np.maximum(1, np.round(DIM ** points["gamma_width"])), time.perf_counter() - began


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
    count = GRID if "--all" in sys.argv or jax.default_backend() != "cpu" else 7
    found, widths, seconds = diagram(count)
    print(
        f"{count**2} cells on {jax.devices()[0].device_kind}: {seconds:.1f} s; {found['taken'].mean():.0f} steps a cell"
    )
    if jax.default_backend() != "cpu":
        return
    scale = GRID**2 / count**2
    name, rate = plain_step()
    plain = scale * rate * float((found["taken"] * widths).sum())
    print(
        f"scaled to the {GRID**2} cells of the figure {scale * seconds / 60:.1f} minutes; the plain full-width {name} "
        f"loop, descent alone, would take {plain / 3600:.1f} hours for the same steps: "
        f"{plain / (scale * seconds):.0f} times as long"
    )


if __name__ == "__main__":
    main()
