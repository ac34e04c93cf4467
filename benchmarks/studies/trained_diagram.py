"""The phase diagram of Tu et al., trained: seconds, work done over work needed, share of the hardware's own speed.

    python benchmarks/studies/trained_diagram.py --dim 200 --grid 35 [--again] [--tf32] [--cache DIR] [--out FILE.npz]
    python benchmarks/studies/trained_diagram.py --grid 9   a sample of the cells, for a CPU

Every cell is descent beside the self-consistent dynamics, float32, c = 50, both layers at once, stopped by the rule of
the authors' public loop and after 750 steps at the latest. The roofline is the best of several large float32 products
in this process, each repeated for a second (on a CPU those of XLA and of NumPy's BLAS, before and after the
training, whichever is fastest); "needed" counts the products of
the steps that were needed, at the reduced width of each network. On a CPU every core carries a network of its own, and
shares are told in processor time too, beside the share that products of this size reach with nothing else to do.
Asserts nothing; on a GPU it needs nothing beyond NumPy and JAX, so that it runs where nothing else is installed.
"""

from __future__ import annotations

import argparse
import time

BEGAN = time.perf_counter()

import contextlib  # noqa: E402
import os  # noqa: E402
from dataclasses import astuple, dataclass  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from joblib.externals.loky import get_reusable_executor  # noqa: E402

import linnet as ln  # noqa: E402
from linnet._blas_threads import ONE_BLAS_THREAD  # noqa: E402
from linnet.precision import compilation_cache, computing  # noqa: E402
from linnet.trainers import stopping  # noqa: E402
from linnet.trainers.diagrams import gaussian_diagram  # noqa: E402

STEPS, C, RANK = 750, 50.0, 5


def published_rule(dim: int) -> stopping.Rule:
    entry = dim**2 / 2
    return stopping.first_of(
        stopping.TestLossRising(2, after=3),
        stopping.LossBelow(1e-3 * entry),
        stopping.Stalled(absolute=2e-4 * entry, fallen=1e-2 * entry),
    )


def axes(grid: int) -> tuple[np.ndarray, np.ndarray]:
    """Exponents of the variance and of the width."""
    return np.linspace(-3, 0, grid), np.linspace(0, 2.8, grid)


def processor() -> float:
    """Processor seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def trained(dim: int, grid: int, *, tf32: bool, slots: int | None) -> dict[str, np.ndarray]:
    """All cells, (width, variance), errors per entry; and the numbers of the run."""
    problem = ln.problems.low_rank_plus_noise(dim, rank=RANK, key=[0, 0])
    size = float(np.sqrt(np.linalg.eigvalsh(problem.truth.T @ problem.truth)[-1]))
    height, across = np.meshgrid(*reversed(axes(grid)), indexing="ij")
    variances = dim ** across.ravel()
    widths = [max(1, round(float(dim) ** power)) for power in height.ravel()]
    lazy = (height + across).ravel() > 1
    began, busy = time.perf_counter(), processor()
    runs = gaussian_diagram(
        [problem],
        keys=range(grid**2),
        widths=widths,
        variances=variances,
        learning_rates=1 / (C * np.where(lazy, variances * np.array(widths, dtype=float), size)),
        steps=STEPS,
        stop=published_rule(dim),
        dtype="float32",
        tf32=tf32,
        slots=slots,
    )
    seconds = time.perf_counter() - began
    get_reusable_executor().shutdown()  # the processor time of children is known when they have ended
    busy = processor() - busy
    print(f"  {runs.plan}")
    own = 6 * dim**2 * (np.minimum(np.array(widths, dtype=float), 2 * dim) + dim)
    scale = 2 / dim**2
    cells = {
        "min_test_loss": scale * runs.min_test_loss,
        "stable_rank": runs.stable_rank,
        "best_step": runs.best_step,
        "log_distance": np.log(np.maximum(runs.largest_distance / dim**2, np.finfo(float).tiny)),
        "taken": runs.steps,
        "diverged": runs.reason == "diverged",
    }
    found = {name: value.reshape(grid, grid) for name, value in cells.items()}
    numbers = {
        "seconds": seconds,
        "processor": busy,
        "executed": runs.executed,
        "needed": runs.needed,
        "operations": float((own * runs.steps).sum()),
    }
    return {**found, **{name: np.asarray(value) for name, value in numbers.items()}}


@dataclass(frozen=True)
class Speed:
    """Operations a second of the best large product: over a second of them, over one of processor time, and of one."""

    sustained: float
    processor: float
    fastest: float


def roofline(sides: tuple[int, ...], tf32: bool = False, seconds: float = 1.0) -> Speed:
    """The best of several large float32 products, each repeated for some time, as a training has to go on for minutes.

    Single products are up to a tenth faster than a second of them, when the processor's clock is up for a moment.
    """
    found = []
    with computing("float32", tf32=tf32):
        multiply = jax.jit(jnp.matmul)
        for side in sides:
            matrix = np.random.default_rng(0).standard_normal((side, side)).astype(np.float32)
            there = jnp.asarray(matrix)
            ways = [lambda there=there: multiply(there, there).block_until_ready()]
            if jax.default_backend() == "cpu":
                ways.append(lambda matrix=matrix: matrix @ matrix)
            for product in ways:
                product()
                times, busy = [time.perf_counter()], time.process_time()
                while times[-1] < times[0] + seconds:
                    product()
                    times.append(time.perf_counter())
                busy = max(time.process_time() - busy, 1e-9)
                count = len(times) - 1
                lasted = np.array([(times[-1] - times[0]) / count, busy / count, np.diff(times).min()])
                found.append(2 * side**3 / lasted)
    return Speed(*np.max(found, axis=0))


def products_alone(dim: int, repeats: int = 20) -> float:
    """Operations a second of processor time of the three products of a wide network's step, and of nothing else."""
    draw = np.random.default_rng(0).standard_normal
    first, second = (draw((dim, 2 * dim)).astype(np.float32) for _ in range(2))
    product, moves = np.empty((dim, dim), np.float32), [np.empty_like(first), np.empty_like(second)]
    best = np.inf
    with ONE_BLAS_THREAD:
        for _ in range(6):
            began = time.thread_time()  # others may be waiting for work, which takes time as well
            for _ in range(repeats):
                np.matmul(second, first.T, out=product)
                np.matmul(product.T, second, out=moves[0])
                np.matmul(product, first, out=moves[1])
            best = min(best, time.thread_time() - began)
    return 12 * dim**3 * repeats / best


def report(title: str, found: dict[str, np.ndarray], speed: Speed) -> None:
    seconds, executed, needed = (float(found[name]) for name in ("seconds", "executed", "needed"))
    rate = float(found["operations"]) / seconds
    print(
        f"{title}: {seconds:.1f} s; steps executed over needed {executed / needed:.3f} "
        f"({needed / found['taken'].size:.0f} a cell); {rate / 1e9:.0f} GFLOP/s of needed products, "
        f"{rate / speed.sustained:.2f} of the best product over a second "
        f"({speed.sustained / 1e9:.0f} GFLOP/s), {rate / speed.fastest:.2f} of the fastest single one "
        f"({speed.fastest / 1e9:.0f})",
        flush=True,
    )
    if jax.default_backend() == "cpu":  # which a busy machine does not change
        share = float(found["operations"]) / float(found["processor"]) / speed.processor
        print(f"  in processor time: {share:.2f} of the best product", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=200)
    parser.add_argument("--grid", type=int, default=9)
    parser.add_argument("--slots", type=int, default=None)
    parser.add_argument(
        "--again",
        action="store_true",
        help="a second time in the warm process; on a CPU, its children are started anew",
    )
    parser.add_argument("--tf32", action="store_true")
    parser.add_argument("--cache", default=None, help="a folder for compiled programs")
    parser.add_argument("--out", default=None)
    chosen = parser.parse_args()
    place = jax.devices()
    started = time.perf_counter() - BEGAN
    allowed = contextlib.nullcontext() if chosen.cache is None else compilation_cache(chosen.cache)
    cpu = place[0].platform == "cpu"
    with allowed:
        # A processor's clock is not the same all the time: on a CPU, measured before and after.
        before = roofline((1024, 2048)) if cpu else Speed(0, 0, 0)
        began = time.perf_counter()
        found = trained(chosen.dim, chosen.grid, tf32=chosen.tf32, slots=chosen.slots)
        whole = started + time.perf_counter() - began
        after = roofline((1024, 2048) if cpu else (8192,), chosen.tf32)
        speed = Speed(*np.maximum(astuple(before), astuple(after)))
        kind = f"{len(place)} x {place[0].device_kind}{', TF32' if chosen.tf32 else ''}"
        report(f"d = {chosen.dim}, {chosen.grid} x {chosen.grid} on {kind}, cold", found, speed)
        print(f"  with importing and finding devices ({started:.1f} s) {whole:.1f} s")
        if cpu:
            ceiling = products_alone(chosen.dim) / speed.processor
            print(f"  products of a wide network's step alone, in processor time: {ceiling:.2f} of the best product")
        if chosen.again:
            again = trained(chosen.dim, chosen.grid, tf32=chosen.tf32, slots=chosen.slots)
            report("  again, warm", again, speed)
            same = all(
                np.array_equal(found[name], again[name], equal_nan=True) for name in ("min_test_loss", "log_distance")
            )
            print(f"  the second run has {'the same' if same else 'other'} bits")
    if chosen.out:
        variance, width = axes(chosen.grid)
        np.savez(chosen.out, gamma_variance=variance, gamma_width=width, dim=chosen.dim, tf32=chosen.tf32, **found)


if __name__ == "__main__":
    main()
