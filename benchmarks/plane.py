"""The whole plane by formula against whole networks under gradient flow, on tasks of a seed of their own; JSON.

python benchmarks/plane.py --seed 2026 --out plane.json      eight tasks, 12 x 9 cells each, 24 starts (12 where wide)
python benchmarks/plane.py --tasks 0 3 --widths 5 --variances 4 --starts 6 --out small.json

The trained side is the flow of all weights by RK4 in float64 (wide networks reduced, which is exact), the least test
error over all times until the training loss is flat, or the test error has risen by half (or by a twentieth, six
times later). It shares no code with the formula.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import linnet as ln

# outputs, inputs, rank, noise, spectrum of the truth in units of its size (None: that of `low_rank_plus_noise`)
TASKS: list[tuple[int, int, int, float, list[float] | None]] = [
    (60, 60, 1, 1.0, None),
    (60, 60, 7, 0.5, None),
    (60, 110, 4, 1.0, None),
    (100, 100, 4, 1.0, [1.3, 0.7, 0.4, 0.2]),
    (100, 100, 2, 2.0, None),
    (80, 80, 10, 0.7, [1 / i for i in range(1, 11)]),
    (130, 70, 5, 1.3, None),
    (200, 200, 5, 1.0, None),
]
RATE = 0.4  # largest rate of the flow times the step
FLAT = 1e-4  # of the train loss, while the time grows by a fifth: the run has arrived
RISEN = 1.5  # times the least test error: the run is over
MOST_STEPS = 8_000
LEARNED = 1e-6  # of the target's power: nothing is left to learn
WIDTHS = (4, 8, 16, 32, 64, 128, 256)  # that are compiled; networks have units at zero beside their own


def task(number: int, seed: int) -> ln.Problem:
    """A truth of low rank with orthonormal factors, in Gaussian noise."""
    outputs, inputs, rank, noise, spectrum = TASKS[number]
    draw = np.random.default_rng([seed, number])
    left = np.linalg.qr(draw.normal(size=(outputs, rank)))[0]
    right = np.linalg.qr(draw.normal(size=(inputs, rank)))[0]
    edge = noise * (np.sqrt(outputs) + np.sqrt(inputs))
    sizes = np.array(spectrum) if spectrum is not None else 1 + draw.uniform(size=rank)
    strengths = edge * (2.5 if spectrum is None else 4.0) * np.sort(sizes)[::-1]
    truth = (left * strengths) @ right.T
    return ln.Problem.from_target(truth + noise * draw.normal(size=(outputs, inputs)), truth=truth)


@partial(jax.jit, static_argnames=("most",))
def least(first: Any, second: Any, target: Any, truth: Any, steps: Any, most: int) -> Any:
    """Least test error of each network, its time, the weights then, and whether the run had ended by itself."""

    def rate(state: Any) -> Any:
        one, two = state
        rest = target - two @ one
        return jnp.swapaxes(two, 1, 2) @ rest, rest @ jnp.swapaxes(one, 1, 2)

    def moved(state: Any, slope: Any, by: Any) -> Any:
        return tuple(part + by[:, None, None] * change for part, change in zip(state, slope, strict=True))

    def errors(state: Any) -> Any:
        product = state[1] @ state[0]
        return ((product - truth) ** 2).sum((1, 2)), ((product - target) ** 2).sum((1, 2))

    def body(carry: Any) -> Any:
        step, state, best, at, kept, mark, since, over = carry
        k1 = rate(state)
        k2 = rate(moved(state, k1, steps / 2))
        k3 = rate(moved(state, k2, steps / 2))
        k4 = rate(moved(state, k3, steps))
        mean = tuple((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
        state = moved(state, mean, jnp.where(over, 0.0, steps))
        test, train = errors(state)
        better = (test < best) & ~over
        kept = tuple(jnp.where(better[:, None, None], new, old) for new, old in zip(state, kept, strict=True))
        best, at = jnp.where(better, test, best), jnp.where(better, step + 1, at)
        due = step + 1 >= jnp.maximum(1.2 * since, since + 20)
        flat = due & (mark - train < FLAT * train) & (mark - train >= 0) & (train < 0.9 * start_train)
        late = (step + 1 > 6 * at + 400) & (test > 1.05 * best)
        over = over | late | (test > RISEN * best) | (flat & (step + 1 > 1.3 * at + 20)) | (train < LEARNED * power)
        return (
            step + 1,
            state,
            best,
            at,
            kept,
            jnp.where(due, train, mark),
            jnp.where(due, step + 1, since),
            over,
        )

    state, power = (first, second), (target**2).sum()
    test, train = errors(state)
    start_train = train
    nothing = jnp.zeros(len(first), dtype=int)
    carry = (0, state, test, nothing, state, train, nothing, jnp.zeros(len(first), dtype=bool))
    step, _, best, at, kept, _, _, over = jax.lax.while_loop(lambda c: (c[0] < most) & ~c[7].all(), body, carry)
    product = kept[1] @ kept[0]
    train = ((product - target) ** 2).sum((1, 2))
    return best, at * steps, product, train, over, step


def trained(problem: ln.Problem, variances: np.ndarray, width: int, starts: int, seed: list[int]) -> dict[str, Any]:
    """Least test errors, best times and stable ranks, (start, variance), of one width."""
    outputs, inputs = problem.cross.shape
    fixed = {"in_dim": inputs, "out_dim": outputs, "width": width, "first_std": 1.0, "second_std": 1.0}
    drawn = [ln.inits.reduced_gaussian(**fixed, key=[*seed, width, i]) for i in range(starts)]
    units = drawn[0].first.shape[0]
    padded = next((size for size in WIDTHS if size >= units and size <= inputs + outputs), units)
    std = np.sqrt(variances)[None, :, None, None]
    first = np.stack([np.pad(one.first, ((0, padded - units), (0, 0))) for one in drawn])[:, None] * std
    second = np.stack([np.pad(one.second, ((0, 0), (0, padded - units))) for one in drawn])[:, None] * std
    first, second = first.reshape(-1, *first.shape[2:]), second.reshape(-1, *second.shape[2:])
    largest = max(float(np.linalg.norm(problem.cross, 2)), float(np.linalg.norm(problem.truth, 2)))
    speed = 2 * np.maximum(largest, np.tile(variances, starts) * (np.sqrt(width) + np.sqrt(max(inputs, outputs))) ** 2)
    found = least(first, second, np.asarray(problem.cross), np.asarray(problem.truth), RATE / speed, MOST_STEPS)
    best, at, products, train, over, steps = (np.asarray(part) for part in found)
    tops = np.asarray(jax.jit(jax.vmap(lambda A: jnp.linalg.norm(A, 2)))(products))
    ranks = (products**2).sum(axis=(1, 2)) / np.maximum(tops, 1e-300) ** 2
    shape = (starts, variances.size)
    names = {"best_test": best / 2, "best_time": at, "stable_rank": ranks, "train_at_best": train / 2, "ended": over}
    return {name: part.reshape(shape) for name, part in names.items()} | {"steps": int(steps)}


def compared(number: int, options: argparse.Namespace) -> dict[str, Any]:
    """One task: both sides of every cell, and what is asked of them."""
    problem = task(number, options.seed)
    outputs, inputs = problem.cross.shape
    dim = max(outputs, inputs)
    widths = np.unique(np.maximum(1, np.round(float(dim) ** np.linspace(0, 2.8, options.widths))))
    variances = float(dim) ** np.linspace(-3, 0, options.variances)
    began, used = time.perf_counter(), time.process_time()
    told = ln.theories.mixed.predicted_diagram(problem, variances, widths)
    spent, used = time.perf_counter() - began, time.process_time() - used
    began, rows = time.perf_counter(), []
    for width in widths:
        starts = options.starts if width < 2 * dim else max(2, options.starts // 2)
        rows.append(trained(problem, variances, int(width), starts, [options.seed, number, 1]))
    trained_seconds = time.perf_counter() - began
    mean = {
        name: np.stack([row[name].mean(axis=0) for row in rows]) for name in ("best_test", "best_time", "stable_rank")
    }
    deviation = {
        name: np.stack([row[name].std(axis=0, ddof=1) / np.sqrt(len(row[name])) for row in rows]) / mean[name]
        for name in mean
    }
    scatter = np.stack([row["best_test"].std(axis=0, ddof=1) for row in rows]) / mean["best_test"]
    ended = np.stack([row["ended"].all(axis=0) for row in rows])
    off = {name: getattr(told, name) / mean[name] - 1 for name in mean}
    joint = np.hypot(told.error, deviation["best_test"])
    covered, size = told.covered, np.abs(off["best_test"])
    timed = covered & np.isfinite(told.best_time)
    moments = np.hypot(told.best_time_error, deviation["best_time"])
    bad = covered & (size > 2 * joint) & (size > 0.05)
    summary = {
        "task": TASKS[number],
        "cells": int(covered.size),
        "covered": float(covered.mean()),
        "median": float(np.median(size[covered])),
        "90% within": float(np.quantile(size[covered], 0.9)),
        "worst": float(size[covered].max()),
        "within twice the joint bar": float((size <= 2 * joint)[covered].mean()),
        "beyond twice the bar and 5%": int(bad.sum()),
        "rank, median": float(np.median(np.abs(off["stable_rank"][covered]))),
        "rank, 90% within": float(np.quantile(np.abs(off["stable_rank"][covered]), 0.9)),
        "cells with a best time": int(timed.sum()),
        "time, median": float(np.median(np.abs(off["best_time"][timed]))) if timed.any() else None,
        "time, within twice its bar": float((np.abs(off["best_time"]) <= 2 * moments)[timed].mean())
        if timed.any()
        else None,
        "runs that did not end by themselves": int((~ended).sum()),
        "seconds of the formula": spent,
        "processor seconds of the formula": used,
        "seconds of training": trained_seconds,
    }
    print(json.dumps(summary), flush=True)
    arrays: dict[str, Any] = {"widths": widths, "variances": variances, "trained_scatter": scatter, "ended": ended}
    arrays |= {f"trained_{name}": mean[name] for name in mean} | {
        f"trained_{name}_error": deviation[name] for name in mean
    }
    names = ("best_test", "best_time", "stable_rank", "error", "best_time_error", "scatter")
    arrays |= {f"predicted_{name}": getattr(told, name) for name in names}
    return {"summary": summary} | {name: np.asarray(part).tolist() for name, part in arrays.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--tasks", type=int, nargs="*", default=list(range(len(TASKS))))
    parser.add_argument("--widths", type=int, default=12)
    parser.add_argument("--variances", type=int, default=9)
    parser.add_argument("--starts", type=int, default=24)
    parser.add_argument("--out", default="plane.json")
    options = parser.parse_args()
    began, results = time.perf_counter(), []
    with jax.enable_x64(True):
        for number in options.tasks:
            results.append(compared(number, options))
            Path(options.out).write_text(json.dumps({"settings": vars(options), "tasks": results}), encoding="utf-8")
    cells = sum(one["summary"]["cells"] for one in results)
    beyond = sum(one["summary"]["beyond twice the bar and 5%"] for one in results)
    share = float(np.mean([one["summary"]["covered"] for one in results]))
    print(f"{cells} cells, {share:.1%} covered, {beyond} beyond both; {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
