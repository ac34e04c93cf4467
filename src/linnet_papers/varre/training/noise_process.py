"""The process driven by noise alone as cells of sweeps: many paths of one dimension and start, and what is kept of
them.

Cells keep means with their standard errors and medians, never the paths, which are made in batches: memory does not
grow with their number.
"""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.reproduction import Estimate
from linnet_papers.reproduction.cells import Block, cell_by_cell
from linnet_papers.varre.settings import LOG_STEP, MOMENTS


@cell_by_cell
def process_cells(key: int, *, dim: int, start: str, paths: int, step: float, batch: int) -> Block:
    """Return statistics of `paths` paths from W1 = I and a = 0, or, tilted, from a random a of unit length.

    Means, each with its standard error under the name `..._error`. At `MOMENTS`: `first_square` and `second_square`,
    the squares of both layers; `area`, |[w_1, a]|; `entry`, one entry of [w_1, a] without its sign; `worst_sine`, the
    largest sine of the angle of a row and a; and `signed`, the commutator [w_1, a] along its start. From the first to
    the last moment: `worst_sine_drop`, how much the largest sine falls.

    And, at `MOMENTS`, `area_median`, the median of the area, and `largest_share`, what the largest thousandth of the
    paths contributes to the mean of `first_square`; and `area_start`, the area at the start.
    """
    kept = path_statistics(dim, start == "tilted", key, paths=paths, step=step, batch=batch)
    return {name: ("moment", array) if array.ndim else array for name, array in kept.items()}


def path_statistics(dim: int, tilted: bool, seed: int, *, paths: int, step: float, batch: int) -> dict[str, np.ndarray]:
    """Return means, standard errors and medians over the paths of one cell, made `batch` at a time, by name: those
    that `process_cells` lists."""
    if paths % batch:
        raise ValueError(f"`paths` must be a multiple of `batch` = {batch}: got {paths}.")
    a = generator(seed, 7).standard_normal((1, dim)) if tilted else np.zeros((1, dim))
    start = ln.Weights(np.eye(dim), a / np.linalg.norm(a) if tilted else a)
    parts = [
        _path_quantities(ln.noise_sde(None, start, times=MOMENTS, step=step, key=[seed, number], paths=batch), start)
        for number in range(paths // batch)
    ]
    seen = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
    largest = np.sort(seen["first_square"], axis=-1)[:, -max(paths // 1000, 1) :]
    kept = {**seen, "worst_sine_drop": seen["worst_sine"][0] - seen["worst_sine"][-1]}
    return {
        **{name: array.mean(axis=-1) for name, array in kept.items()},
        **{f"{name}_error": array.std(axis=-1, ddof=1) / np.sqrt(paths) for name, array in kept.items()},
        "area_median": np.median(seen["area"], axis=-1),
        "area_start": np.asarray(ln.observables.commutator(start)[0]),
        "largest_share": largest.sum(axis=-1) / seen["first_square"].sum(axis=-1),
    }


def _path_quantities(run: ln.Trajectory, weights: ln.Weights) -> dict[str, np.ndarray]:
    """Return the quantities of every path (moment, path)."""
    lifted = run.weights  # signs are those of the hidden units themselves
    commuted = signed_commutator(lifted.first[..., 0], lifted.second[..., 0, :])
    at_start = signed_commutator(weights.first[:, 0], weights.second[0])
    size = (at_start**2).sum()
    return {
        "first_square": (run.reduced.first**2).sum(axis=(-1, -2)),
        "second_square": (run.reduced.second**2).sum(axis=(-1, -2)),
        "area": ln.observables.commutator(run.reduced)[..., 0],
        "entry": np.abs(commuted[..., 0, -1]),
        "worst_sine": ln.observables.commutator(run.reduced, normalized=True).max(axis=-1),
        "signed": (commuted * at_start).sum(axis=(-1, -2)) / (size if size > 0 else np.nan),
    }


def signed_commutator(row: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return [z, a] = z a^T - a z^T, with its signs (..., hidden, hidden)."""
    outer = row[..., :, None] * second[..., None, :]
    return outer - np.swapaxes(outer, -1, -2)


def mean_log_top(seed: int, *, times: tuple[float, ...], paths: int) -> list[Estimate]:
    """Return the mean of ln sigma_1(W1) and its standard error at each time, for two inputs from W1 = I and a = 0."""
    start = ln.Weights(np.eye(2), np.zeros((1, 2)))
    run = ln.noise_sde(None, start, times=list(times), step=LOG_STEP, key=[seed, 41], paths=paths)
    logs = np.log(np.linalg.svd(run.reduced.first, compute_uv=False)[..., 0])
    return [Estimate.of_mean(row) for row in logs]


def _repeated_start(paths: int) -> tuple[np.ndarray, np.ndarray]:
    """Return W1 = I (hidden, input, path) and a = 0 (hidden, path), for two inputs."""
    return np.repeat(np.eye(2)[:, :, None], paths, 2), np.zeros((2, paths))


def _euler_step(first: np.ndarray, a: np.ndarray, increment: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both layers after one step of Euler's scheme, with the `increment` (input, path) of the noise."""
    return first + a[:, None] * increment, a + (first * increment).sum(axis=1)


def _increments(random: np.random.Generator, step: float, paths: int) -> np.ndarray:
    """Draw the increments of the noise of two inputs (input, path); paths lie side by side in memory."""
    return np.sqrt(step) * np.ascontiguousarray(random.standard_normal((paths, 2)).T)


def weighted_areas(seed: int, *, times: tuple[float, ...], step: float, paths: int) -> list[Estimate]:
    """Return the mean size of [w_1, a] for two inputs from W1 = I and a = 0, by importance sampling with det W1, a
    martingale.

    Paths are drawn from the law that weights each by its det W1: Brownian motion with the drift W1^-1 a (Girsanov),
    whose length stays below one. There the area over det W1 is bounded, so that no rare path carries the mean.
    """
    random = np.random.default_rng([seed, 43])
    first, a = _repeated_start(paths)
    logs = np.zeros(paths)  # of the weights by which means over the drawn paths are means over Brownian motion's
    means = []
    taken = 0
    for time in times:
        while taken < round(time / step):
            taken += 1
            tilt = np.stack([_area(a, first[:, 1]), _area(first[:, 0], a)]) / _area(first[:, 0], first[:, 1])
            increment = _increments(random, step, paths) + step * tilt
            logs += (0.5 * step * tilt**2 - tilt * increment).sum(axis=0)
            first, a = _euler_step(first, a, increment)
        means.append(Estimate.of_mean(np.exp(logs) * np.abs(_area(first[:, 0], a))))
    return means


def _area(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the determinant with these two columns (2, path), of every path."""
    return one[0] * other[1] - one[1] * other[0]


def size_over_bound(dim: int, seed: list[int], *, paths: int) -> float:
    """Return the largest C(t) = |w|^2 + sqrt(d) a^2 of a row and its weight over e^-t C(0) + d (a^2 + its moving
    average of the last unit of time), over paths and t from 0.1 to 3, from |w| = 1 and a = 0."""
    random, step = np.random.default_rng(seed), 2.5e-4
    w, a, average = np.zeros((dim, paths)), np.zeros(paths), np.zeros(paths)
    w[0] = 1.0
    largest = 0.0
    for number in range(1, round(3.0 / step) + 1):
        increment = np.sqrt(step) * random.standard_normal((dim, paths))
        w, a = w + a * increment, a + (w * increment).sum(axis=0)
        average = (average + step * a**2) * np.exp(-step)
        if number * step >= 0.1:
            bound = np.exp(-number * step) + dim * (a**2 + average)
            largest = max(largest, float((((w**2).sum(axis=0) + np.sqrt(dim) * a**2) / bound).max()))
    return largest


def mean_logs_by_steps(seed: int, *, first_step: float, times: tuple[float, ...], paths: int) -> np.ndarray:
    """Return ln sigma_1(W1) of Euler's scheme with the steps c/sqrt(n), for two inputs from W1 = I and a = 0, at the
    first time after each of `times` (time, path); c is `first_step`."""
    random = np.random.default_rng([seed, 44])
    first, a = _repeated_start(paths)
    logs, scale = [], np.zeros(paths)
    time, number = 0.0, 0
    for until in times:
        while time < until:
            number += 1
            step = first_step / np.sqrt(number)
            time += step
            first, a = _euler_step(first, a, _increments(random, step, paths))
            if number % 50 == 0:  # the process is linear: sizes are kept apart, or rare paths would overflow
                size = np.sqrt((first**2).sum(axis=(0, 1)))
                first, a, scale = first / size, a / size, scale + np.log(size)
        values = np.linalg.svd(np.moveaxis(first, 2, 0), compute_uv=False)
        logs.append(scale + np.log(values[:, 0]))
    return np.array(logs)


def log_norms_with_drift(
    problem: ln.Problem, seed: int, *, strengths: tuple[float, ...], times: tuple[float, ...], paths: int
) -> np.ndarray:
    """Return ln|W1| under noise of variance delta^2 with the drift of the problem, on the clock delta^2 t on which
    the noise is of unit variance, for each delta^2 (strength, time, path); infinity is no drift.

    All see the same noise, so that they differ by the drift alone. From W1 = I and a = 0, as many neurons as inputs.
    """
    d = problem.in_dim
    step = 0.01
    saved = [round(time / step) for time in times]
    logs = []
    for strength in strengths:
        random = np.random.default_rng([seed, 45])
        first, a = np.repeat(np.eye(d)[None], paths, 0), np.zeros((paths, 1, d))
        for taken in range(1, max(saved) + 1):
            increment = np.sqrt(step) * random.standard_normal((paths, 1, d))
            increment = increment + step / strength * (problem.cross - a @ first @ problem.cov)
            first, a = first + np.swapaxes(a, 1, 2) @ increment, a + increment @ np.swapaxes(first, 1, 2)
            if taken in saved:
                logs.append(np.log(np.linalg.norm(first, axis=(1, 2))))
    return np.reshape(logs, (len(strengths), len(times), paths))
