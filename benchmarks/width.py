"""Width is free: linnet's reduced step against the plain loop that builds the full matrices, in one run.

    d = k = 200, width d^2.8 (2.8 million), float32: time per step of both, and their ratio;
    the reduced step's rate of arithmetic against the best large matrix product on this machine;
    the time to import linnet against the time to import JAX.

The width of the plain loop is scaled down where memory is short, and the line says so. Asserts nothing.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import linnet as ln
from linnet._memory import available

DIM = 200
WIDTH = int(DIM**2.8)


def best(function: Callable[[], object], repeats: int = 5) -> float:
    """The shortest of several runs, after one that compiles and warms up."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def linnet_step(dtype: str, steps: int = 400) -> float:
    """Seconds a step of `gradient_descent` at width d^2.8, from the difference of two runs (set-up cancels)."""
    problem = ln.Problem.from_target(np.random.default_rng(0).standard_normal((DIM, DIM)) / np.sqrt(DIM))
    std = WIDTH**-0.5
    start = ln.inits.reduced_gaussian(key=0, in_dim=DIM, out_dim=DIM, width=WIDTH, stds=std)

    def run(number: int) -> None:
        ln.gradient_descent(
            problem,
            start,
            learning_rate=1e-3,
            steps=number,
            save_every=ln.trajectories.last(),
            keep="losses",
            dtype=dtype,
        )

    return (best(lambda: run(2 * steps), 3) - best(lambda: run(steps), 3)) / steps


def torch_step() -> tuple[float, int]:
    """Seconds a step of the plain PyTorch loop, and the width it was run at."""
    import torch

    # Weights, their updates, and one more of each while they are added.
    width = min(WIDTH, int(0.6 * available() / (4 * 4 * DIM)))
    torch.manual_seed(0)
    first, second = torch.randn(width, DIM) * width**-0.5, torch.randn(DIM, width) * width**-0.5
    target = torch.randn(DIM, DIM) / DIM**0.5

    def step() -> None:
        R = target - second @ first
        a, b = second.T @ R, R @ first.T
        first.add_(a, alpha=1e-3)
        second.add_(b, alpha=1e-3)

    return best(step, 2), width


def matrix_product_rates(size: int = 2000) -> dict[str, float]:
    """GFLOP/s of a large float32 product, by library."""
    a = np.random.default_rng(0).standard_normal((size, size)).astype(np.float32)
    product = jax.jit(jnp.matmul)
    b = jnp.asarray(a)
    times = {"NumPy": best(lambda: a @ a), "JAX": best(lambda: product(b, b).block_until_ready())}
    try:
        import torch

        c = torch.from_numpy(a)
        times["PyTorch"] = best(lambda: c @ c)
    except ImportError:
        pass
    return {name: 2 * size**3 / seconds / 1e9 for name, seconds in times.items()}


def import_seconds(module: str) -> float:
    return best(lambda: subprocess.run([sys.executable, "-c", f"import {module}"], check=True), 3)


def main() -> None:
    single, double = linnet_step("float32"), linnet_step("float64")
    flops = 6 * (2 * DIM) * DIM * DIM
    print(
        f"linnet, d = k = {DIM}, width {WIDTH}: {1e3 * single:.3f} ms a step in float32, {1e3 * double:.3f} ms in "
        "float64"
    )
    try:
        plain, width = torch_step()
        note = "" if width == WIDTH else f" (memory allows width {width}; scaled to {WIDTH})"
        plain *= WIDTH / width
        print(f"plain PyTorch loop, float32: {plain:.2f} s a step{note}")
        print(f"ratio: {plain / single:,.0f} times less time a step")
    except ImportError:
        print("plain PyTorch loop: skipped, PyTorch is not installed (pip install torch)")
    rates = matrix_product_rates()
    name = max(rates, key=lambda key: rates[key])
    rate = flops / single / 1e9
    print("large float32 product: " + ", ".join(f"{key} {value:.0f} GFLOP/s" for key, value in rates.items()))
    print(f"reduced step: {rate:.0f} GFLOP/s, {rate / rates[name]:.2f} of the best ({name})")
    ours, theirs = import_seconds("linnet, linnet.trainers"), import_seconds("jax")
    alone = import_seconds("linnet")
    print(
        f"import linnet with its trainers {ours:.2f} s (linnet alone {alone:.2f} s), import jax {theirs:.2f} s: "
        f"ratio {ours / theirs:.2f}"
    )


if __name__ == "__main__":
    main()
