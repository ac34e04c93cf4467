"""The whole plane by formula against whole networks under gradient flow, d = 60 to 200, on tasks of any seed.

python benchmarks/studies/plane.py train --seed 7 --out networks.npz  8 tasks, 12 x 9 cells, 24 starts (12 where wide)
python benchmarks/studies/plane.py compare networks.npz                     the formula beside them, and its error bars
python benchmarks/studies/plane.py train --tasks 0 2 --widths 5 --variances 4 --starts 6 --out small.npz

The trained side is the flow of all weights by RK4 in float64 (wide networks reduced, which is exact): the least test
error over all times until the training loss is flat. It shares no code with the formula. It wants a GPU, or patience.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import linnet as ln
from linnet.precision import computing
from linnet_papers.own.training.flows import FINER, FLAT, LATE, LEARNED, LEVELS, MOST_STEPS, RISEN, RISEN_LATE, STEP

State = tuple[jax.Array, jax.Array]

# outputs, inputs, rank, spectrum of the truth, standard deviation of the noise, and the largest signal in units of the
# noise's largest singular value
TASKS: list[tuple[int, int, int, str, float, float]] = [
    (60, 60, 1, "equal", 1.0, 2.5),
    (60, 60, 3, "harmonic", 3.0, 4.0),
    (70, 130, 5, "equal", 0.6, 2.0),
    (100, 100, 10, "harmonic", 0.3, 5.0),
    (110, 60, 3, "geometric", 2.0, 3.0),
    (120, 120, 10, "equal", 1.0, 2.0),
    (150, 190, 5, "geometric", 0.5, 4.5),
    (200, 200, 5, "equal", 1.0, 3.0),
]
SIDES = (100, 200)  # that are compiled; inputs, outputs and units at zero stay there
UNITS = (8, 40)  # that are compiled beside one side and two
NAMES = ("min_test_loss", "best_time", "stable_rank", "ended")
AT_ONCE = 4  # rows: one is computed while the singular values of others are


def task(number: int, seed: int) -> ln.Problem:
    """A truth of low rank with orthonormal factors, in Gaussian noise."""
    outputs, inputs, rank, spectrum, noise_std, strength = TASKS[number]
    draw = np.random.default_rng([seed, number])
    left, right = (np.linalg.qr(draw.normal(size=(side, rank)))[0] for side in (outputs, inputs))
    places = np.arange(rank)
    drawn = np.sort(draw.uniform(0.6, 1, rank))[::-1]
    sizes = {"equal": drawn, "harmonic": 1 / (1 + places), "geometric": 0.6**places}[spectrum]
    edge = noise_std * (np.sqrt(outputs) + np.sqrt(inputs))
    truth = (left * (strength * edge * sizes)) @ right.T
    return ln.Problem.from_target(truth + noise_std * draw.normal(size=(outputs, inputs)), truth=truth)


def axes(dim: int, widths: int, variances: int) -> tuple[np.ndarray, np.ndarray]:
    """Widths and variances over the plane of Figure 2 of Tu et al., whole widths once each."""
    whole = np.unique(np.maximum(1, np.round(float(dim) ** np.linspace(0, 2.8, widths))))
    return whole, float(dim) ** np.linspace(-3, 0, variances)


def trained(problem: ln.Problem, variances: np.ndarray, width: int, starts: int, key: list[int]) -> np.ndarray:
    """`NAMES` of every initialization and variance of one width, (name, start, variance)."""
    outputs, inputs = problem.cross.shape
    side = next(one for one in SIDES if one >= max(outputs, inputs))
    shape = {"in_dim": inputs, "out_dim": outputs, "width": width, "stds": 1.0}
    drawn = [ln.inits.reduced_gaussian(**shape, key=[*key, width, i]) for i in range(starts)]
    units = next(one for one in (*UNITS, side, 2 * side) if one >= len(drawn[0].first))
    std = np.sqrt(variances)[None, :, None, None]
    first = np.stack([filled(one.first, units, side) for one in drawn])[:, None] * std
    second = np.stack([filled(one.second, side, units) for one in drawn])[:, None] * std
    target, truth = (np.asarray(part) for part in (problem.cross, problem.truth))
    values = np.linalg.svd(target, compute_uv=False)
    largest = max(values[0], np.linalg.norm(truth, 2))
    speeds = 2 * np.maximum(largest, variances * (np.sqrt(width) + np.sqrt(max(outputs, inputs))) ** 2)
    slowest = values[min(width, np.linalg.matrix_rank(truth)) - 1]
    with computing():
        test, best_time, product, ended = (
            np.asarray(part)
            for part in train_to_least_error(
                first.reshape(-1, units, side),
                second.reshape(-1, side, units),
                filled(target, side, side),
                filled(truth, side, side),
                np.tile(STEP / speeds, starts),
                np.tile(np.log(2 + slowest / variances) / slowest, starts),
            )
        )
    ranks = (product**2).sum(axis=(1, 2)) / np.maximum(np.linalg.norm(product, 2, axis=(1, 2)), 1e-300) ** 2
    parts = test / 2, best_time, ranks, ended
    return np.stack([part.reshape(starts, variances.size).astype(float) for part in parts])


def filled(matrix: np.ndarray, rows: int, columns: int) -> np.ndarray:
    return np.pad(np.asarray(matrix), ((0, rows - matrix.shape[0]), (0, columns - matrix.shape[1])))


@jax.jit
def train_to_least_error(first: Any, second: Any, target: Any, truth: Any, steps: Any, horizon: Any) -> Any:
    """Return twice the minimum test loss of each network, its time and product, and whether the run ended by itself.

    The rules are those of `linnet_papers.own.training.flows`, which drops runs that are over and runs on a CPU. Here
    the batch keeps its shape, as a GPU wants it.
    """

    def errors(state: State) -> tuple[jax.Array, jax.Array]:
        """Return twice the test and the training loss of each network."""
        product = state[1] @ state[0]
        return ((product - truth) ** 2).sum((1, 2)), ((product - target) ** 2).sum((1, 2))

    def runge_kutta_step(state: State, by: Any) -> State:
        """Return the state one step of the classical fourth-order method later."""
        one = negative_gradient(state, target)
        two = negative_gradient(step_along(state, one, by / 2), target)
        three = negative_gradient(step_along(state, two, by / 2), target)
        four = negative_gradient(step_along(state, three, by), target)
        mean = tuple((a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(one, two, three, four, strict=True))
        return step_along(state, mean, by)

    def coarse_step(carry: Any) -> Any:
        """Take one step of every run that goes on; keep the state before its least error, and decide which are over."""
        step, state, best, at, before, mark, since, over = carry
        moved = runge_kutta_step(state, jnp.where(over, 0.0, steps))
        test, train = errors(moved)
        better = (test < best) & ~over
        before = chosen(better, state, before)
        step += 1
        best, at = jnp.where(better, test, best), jnp.where(better, step, at)
        due = step >= jnp.maximum(1.2 * since, since + 10)
        flat = due & (mark - train < FLAT * train) & (train < start_train - largest**2 / 2) & (step > 1.3 * at + 10)
        late = (step > LATE * at + 50) & (test > RISEN_LATE * best)
        over |= ((flat | late) & (step * steps > horizon)) | (test > RISEN * best) | (train < LEARNED * power)
        return step, moved, best, at, before, jnp.where(due, train, mark), jnp.where(due, step, since), over

    state, power, largest = (first, second), (target**2).sum(), jnp.linalg.norm(target, 2)
    test, start_train = errors(state)
    none = jnp.zeros(len(first), dtype=int)
    carry = (0, state, test, none, state, start_train, none, jnp.zeros(len(first), dtype=bool))
    _, _, _, at, before, _, _, over = jax.lax.while_loop(
        lambda carry: (carry[0] < MOST_STEPS) & ~carry[-1].all(), coarse_step, carry
    )
    time = jnp.maximum(at - 1, 0) * steps
    for level in range(1, LEVELS + 1):  # from the state before the least one, over two steps, by shorter ones
        by, start = steps / FINER**level, time

        def finer_step(i: Any, carry: Any, by: Any = by, start: Any = start) -> Any:
            """Take one shorter step; keep the minimum error so far, its time, and the states at it and before it."""
            state, before, least, best, time = carry
            moved = runge_kutta_step(state, by)
            test = errors(moved)[0]
            better = test < best
            time = jnp.where(better, start + i * by, time)
            return moved, chosen(better, state, before), chosen(better, moved, least), jnp.minimum(test, best), time

        first_state = (before, before, before, errors(before)[0], time)
        _, before, least, _, time = jax.lax.fori_loop(0, 2 * FINER, finer_step, first_state)
    return errors(least)[0], time + by, least[1] @ least[0], over


def negative_gradient(state: State, target: Any) -> State:
    """Return the velocity of both layers under gradient flow on |target - product|^2/2."""
    first, second = state
    rest = target - second @ first
    return jnp.swapaxes(second, 1, 2) @ rest, rest @ jnp.swapaxes(first, 1, 2)


def step_along(state: State, slope: Any, by: Any) -> State:
    """Return both layers moved along the slope, by a step of its own for each run."""
    first, second = (part + by[:, None, None] * change for part, change in zip(state, slope, strict=True))
    return first, second


def chosen(which: Any, new: State, old: State) -> State:
    """Return the new layers of the runs in `which`, the old ones of the others."""
    first, second = (jnp.where(which[:, None, None], one, two) for one, two in zip(new, old, strict=True))
    return first, second


def train(options: argparse.Namespace) -> None:
    """Trains all tasks of a seed, and writes what every initialization reached, task by task."""
    began, arrays = time.perf_counter(), dict[str, np.ndarray]()
    settings = {name: getattr(options, name) for name in ("seed", "tasks", "widths", "variances", "starts")}
    for number in options.tasks:
        problem = task(number, options.seed)
        dim = max(problem.cross.shape)
        widths, variances = axes(dim, options.widths, options.variances)
        starts = np.where(widths < 2 * dim, options.starts, max(2, options.starts // 2)).tolist()
        row = partial(trained, problem, variances, key=[options.seed, number, 1])
        with ThreadPoolExecutor(AT_ONCE) as pool:
            rows = list(pool.map(row, widths.astype(int).tolist(), starts))
        arrays |= {f"{number} {i}": runs for i, runs in enumerate(rows)}
        ended = np.mean([runs[NAMES.index("ended")].mean() for runs in rows])
        print(f"task {number}: {ended:.1%} ended, {time.perf_counter() - began:.0f} s", flush=True)
        np.savez(options.out, settings=json.dumps(settings), **arrays)


def compare(options: argparse.Namespace) -> None:
    """Prints, task by task, how far the formula is from the trained networks, and whether its bars hold."""
    file = np.load(options.networks)
    settings = json.loads(str(file["settings"]))
    rows = []
    for number in settings["tasks"]:
        if f"{number} 0" not in file:
            continue
        problem = task(number, settings["seed"])
        widths, variances = axes(max(problem.cross.shape), settings["widths"], settings["variances"])
        runs = [file[f"{number} {i}"] for i in range(widths.size)]
        began, used = time.perf_counter(), time.process_time()
        predicted = ln.theories.lazy_active.predicted_diagram(problem, variances, widths, key=options.key)
        spent = time.perf_counter() - began, time.process_time() - used
        rows.append(judged(predicted, runs) | {"seconds": spent[0], "processor seconds": spent[1]})
        outputs, inputs, rank, spectrum, noise_std, _ = TASKS[number]
        print(f"task {number}: {outputs} x {inputs}, rank {rank}, {spectrum}, noise {noise_std:g}")
        told = {name: f"{value:.2%}" if isinstance(value, float) else value for name, value in rows[-1].items()}
        told |= {name: f"{rows[-1][name]:.1f}" for name in ("seconds", "processor seconds")}
        print("   " + "; ".join(f"{name} {value}" for name, value in told.items()), flush=True)
    cells = np.array([row["cells"] for row in rows])
    print(f"{cells.sum()} cells of {len(rows)} tasks, seed {settings['seed']}")
    for name, asked in ASKED.items():
        values = np.array([row[name] for row in rows])
        least, most = values.min(), values.max()
        share = float((values * cells).sum() / cells.sum())
        print(f"   {name}: {least:.2%} to {most:.2%} by task, {share:.2%} of all ({asked})")
    print(f"   beyond both: {sum(row['beyond twice the bar and 5%'] for row in rows)} (none)")


ASKED = {
    "covered": "at least 99% of all",
    "median": "below 1% in every task",
    "worst": "",
    "within the bar": "two of three, if bars are standard errors",
    "within twice the bar": "at least 90% in every task",
    "rank, 90% within": "",
    "time, within twice its bar": "",
}


def judged(predicted: ln.theories.lazy_active.PredictedDiagram, runs: list[np.ndarray]) -> dict[str, Any]:
    """Both sides of one task: relative differences, in joint bars (of the formula, and of the mean of the starts)."""
    mean, bar = {}, {}
    for i, name in enumerate(NAMES[:3]):
        mean[name] = np.stack([one[i].mean(axis=0) for one in runs])
        deviation = np.stack([one[i].std(axis=0, ddof=1) / np.sqrt(one.shape[1]) for one in runs])
        bar[name] = deviation / mean[name]
    off = {name: np.abs(getattr(predicted, name) / mean[name] - 1) for name in mean}
    ended = np.stack([one[3].all(axis=0) for one in runs])
    covered = predicted.covered
    timed = covered & np.isfinite(predicted.best_time)
    joint = np.hypot(predicted.uncertainty, bar["min_test_loss"])[covered]
    moments = np.hypot(predicted.best_time_uncertainty, bar["best_time"])[timed]
    test = off["min_test_loss"][covered]
    return {
        "cells": int(covered.size),
        "covered": float(covered.mean()),
        "median": float(np.median(test)),
        "worst": float(test.max()),
        "median bar": float(np.median(joint)),
        "within the bar": float((test <= joint).mean()),
        "within twice the bar": float((test <= 2 * joint).mean()),
        "beyond twice the bar and 5%": int(((test > 2 * joint) & (test > 0.05)).sum()),
        "rank, median": float(np.median(off["stable_rank"][covered])),
        "rank, 90% within": float(np.quantile(off["stable_rank"][covered], 0.9)),
        "timed cells": int(timed.sum()),
        "time, median": float(np.median(off["best_time"][timed])),
        "time, within twice its bar": float((off["best_time"][timed] <= 2 * moments).mean()),
        "cells with a run that did not end": int((~ended).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True)
    one = kinds.add_parser("train")
    one.add_argument("--seed", type=int, required=True)
    one.add_argument("--tasks", type=int, nargs="*", default=list(range(len(TASKS))))
    one.add_argument("--widths", type=int, default=12)
    one.add_argument("--variances", type=int, default=9)
    one.add_argument("--starts", type=int, default=24)
    one.add_argument("--out", required=True)
    one.set_defaults(do=train)
    two = kinds.add_parser("compare")
    two.add_argument("networks")
    two.add_argument("--key", type=int, default=0)
    two.set_defaults(do=compare)
    options = parser.parse_args()
    options.do(options)


if __name__ == "__main__":
    main()
