"""Small problems in linnet against the obvious twenty lines of NumPy or SciPy at full width, in one run.

    python -m benchmarks.small_problems [--dims 3 30] [--widths 10 200] [--depths 2 3 4] [--cold]

For each number of inputs (as many outputs), width and depth: a gradient flow at twenty times (SciPy's DOP853 at the
same relative tolerance of 1e-10), and a gradient descent whose product is kept at every tenth step (a NumPy loop).
Seconds are CPU time, which a busy machine changes little, and warm: the shortest of several calls in a process that has
made the same call before. `--cold` measures whole processes that do one such run, imports and compiling included. A
case in which the naive way would take long is left out. Asserts only that both ways end at the same product. For ratios
of one core set OMP_NUM_THREADS=1, OPENBLAS_NUM_THREADS=1 and NPROC=1.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

TIMES = np.linspace(0.25, 5.0, 20)
RTOL, RATE, STEPS = 1e-10, 0.02, 1000
KINDS = ("flow", "descent")
MAX_OPERATIONS = 1e10  # of the naive way: more would take a minute


def setting(dim: int, width: int, depth: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return a target with singular values from 2 to 0.5, and Gaussian layers whose product is small beside it."""
    random = np.random.default_rng(0)
    left, right = (np.linalg.qr(random.standard_normal((dim, dim)))[0] for _ in range(2))
    sizes = [dim, *[width] * (depth - 1), dim]
    scales = [0.5 * max(sizes[i : i + 2]) ** -0.5 for i in range(depth)]
    layers = [scale * random.standard_normal((sizes[i + 1], sizes[i])) for i, scale in enumerate(scales)]
    return left @ np.diag(np.linspace(2.0, 0.5, dim)) @ right.T, layers


def naive_velocity(target: np.ndarray, layers: list[np.ndarray]) -> list[np.ndarray]:
    below = [layers[0]]
    for layer in layers[1:]:
        below.append(layer @ below[-1])
    pull, moves = target - below[-1], []
    for at in range(len(layers) - 1, -1, -1):
        moves.append(pull @ below[at - 1].T if at else pull)
        pull = layers[at].T @ pull
    return moves[::-1]


def naive_product(layers: list[np.ndarray]) -> np.ndarray:
    product = layers[0]
    for layer in layers[1:]:
        product = layer @ product
    return product


def naive_flow(target: np.ndarray, layers: list[np.ndarray]) -> np.ndarray:
    from scipy.integrate import solve_ivp

    ends = np.cumsum([layer.size for layer in layers])[:-1]
    shapes = [layer.shape for layer in layers]

    def split(flat: np.ndarray) -> list[np.ndarray]:
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes)]

    def velocity(_: float, flat: np.ndarray) -> np.ndarray:
        return np.concatenate([move.ravel() for move in naive_velocity(target, split(flat))])

    start = np.concatenate([layer.ravel() for layer in layers])
    atol = RTOL * np.sqrt(np.mean(start**2))
    solved = solve_ivp(velocity, (0, TIMES[-1]), start, "DOP853", TIMES, rtol=RTOL, atol=atol)
    return np.array([naive_product(split(state)) for state in solved.y.T])


def naive_descent(target: np.ndarray, layers: list[np.ndarray]) -> np.ndarray:
    layers, products = list(layers), []
    for step in range(STEPS + 1):
        if step % 10 == 0:
            products.append(naive_product(layers))
        layers = [layer + RATE * move for layer, move in zip(layers, naive_velocity(target, layers))]
    return np.array(products)


def linnet_flow(target: np.ndarray, layers: list[np.ndarray]) -> np.ndarray:
    import linnet as ln

    run = ln.gradient_flow(ln.Problem.from_target(target), ln.Weights(*layers), times=TIMES, rtol=RTOL)
    return run.products


def linnet_descent(target: np.ndarray, layers: list[np.ndarray]) -> np.ndarray:
    import linnet as ln

    problem, weights = ln.Problem.from_target(target), ln.Weights(*layers)
    return ln.gradient_descent(problem, weights, learning_rate=RATE, steps=STEPS, save_every=10).products


WAYS: dict[str, Callable[[np.ndarray, list[np.ndarray]], np.ndarray]] = {
    "naive flow": naive_flow,
    "naive descent": naive_descent,
    "linnet flow": linnet_flow,
    "linnet descent": linnet_descent,
}


def operations(kind: str, dim: int, width: int, depth: int) -> float:
    """Estimate the multiplications of the naive way: three products of matrices for each layer and evaluation."""
    evaluations = STEPS if kind == "descent" else 1500
    return evaluations * 3.0 * dim * (2 * dim * width + (depth - 2) * width**2)


def seconds(function: Callable[[], np.ndarray], budget: float = 2.0) -> tuple[float, np.ndarray]:
    """Return the shortest of up to five calls after a first one, and the result."""
    result = function()
    times: list[float] = []
    while len(times) < 5 and (not times or sum(times) < budget):
        began = time.process_time()
        result = function()
        times.append(time.process_time() - began)
    return min(times), result


def warm_row(kind: str, dim: int, width: int, depth: int) -> float:
    """Print a line about one case, and return the ratio of linnet's seconds to the naive ones, less 2 ms."""
    import linnet as ln

    target, layers = setting(dim, width, depth)
    theirs, expected = seconds(lambda: WAYS[f"naive {kind}"](target, layers))
    ours, found = seconds(lambda: WAYS[f"linnet {kind}"](target, layers))
    apart = float(np.abs(found - expected).max() / np.abs(expected).max())
    run = ln.gradient_descent(ln.Problem.from_target(target), ln.Weights(*layers), learning_rate=RATE, steps=STEPS)
    widths = "-".join(map(str, run.reduction.weights.widths))
    print(
        f"{kind:>8} d = {dim:3} width {width:4} depth {depth}: linnet {1e3 * ours:8.1f} ms, naive {1e3 * theirs:8.1f} "
        f"ms, ratio {ours / theirs:5.2f}; reduced widths {widths}; apart {apart:.0e}",
        flush=True,
    )
    if not apart < 1e-6:
        sys.exit("the two ways do not end at the same product")
    return (ours - 2e-3) / theirs


def cold_row(kind: str, dim: int, width: int, depth: int) -> float:
    """Print a line about whole processes, and return by how many seconds linnet's takes longer."""
    taken = {}
    for who in ("naive", "linnet"):
        code = (
            f"from benchmarks import small_problems as s; s.WAYS['{who} {kind}'](*s.setting({dim}, {width}, {depth}))"
        )
        times = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        taken[who] = min(times)
    print(
        f"    cold d = {dim:3} width {width:4} depth {depth}, {kind}: linnet {taken['linnet']:.2f} s, "
        f"naive {taken['naive']:.2f} s",
        flush=True,
    )
    return taken["linnet"] - taken["naive"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", type=int, nargs="+", default=[3, 30, 100])
    parser.add_argument("--widths", type=int, nargs="+", default=[10, 200, 1000])
    parser.add_argument("--depths", type=int, nargs="+", default=[2, 3, 4])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--cold", action="store_true", help="time whole processes, too")
    options = parser.parse_args()
    cases = [
        (kind, dim, width, depth)
        for depth in options.depths
        for dim in options.dims
        for width in options.widths
        for kind in options.kinds
        if operations(kind, dim, width, depth) <= MAX_OPERATIONS
    ]
    ratios = {case: warm_row(*case) for case in cases}
    worst = max(ratios, key=lambda case: ratios[case])
    print(f"worst ratio, less 2 ms: {ratios[worst]:.2f} ({', '.join(map(str, worst))}); the target is 1.2")
    if options.cold:
        later = [cold_row(kind, 3, 200, depth) for depth in options.depths for kind in options.kinds]
        print(f"cold, linnet takes {max(later):.2f} s more at most; the target is 1 s")


if __name__ == "__main__":
    main()
