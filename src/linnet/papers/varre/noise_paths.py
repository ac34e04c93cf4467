"""The noise process of Varre et al. as cells of a sweep: many paths of one dimension and start, and what is kept of
them.

Cells keep means with their standard errors and medians, never the paths, which are made in batches: memory does not
grow with their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.randomness import generator
from linnet.reproduction.claim import Trial

if TYPE_CHECKING:
    from linnet.trajectories.trajectory import Trajectory

DIMS, STARTS, BATCH = (1, 2, 3, 5), ("zero", "tilted"), 6000
MOMENTS = (1.0, 3.0, 6.0)  # when the paths are looked at
TIMES = np.append(np.linspace(0.0, 3.0, 31), 6.0)  # when they are kept: growth to t = 3 has an integral for its clock
AT = tuple(int(np.argmin(np.abs(TIMES - moment))) for moment in MOMENTS)
NOISE = {True: (6000, 0.02), False: (60_000, 0.005)}  # paths and step, quick or not


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Every dimension from both starts, each in a block of its own."""
    paths, step = NOISE[trial.quick]
    return ln.sweeps.Sweep(
        name="varre-noise",
        function=cells,
        axes={"dim": list(DIMS), "start": list(STARTS)},
        seed=trial.seed,
        fixed={"paths": paths, "step": step, "batch": BATCH},
        block=1,
        coords={"moment": list(MOMENTS)},
    )


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, paths: int, step: float, batch: int) -> dict[str, Any]:
    """Statistics of `paths` paths from W1 = I and a = 0, or, tilted, from a random a of unit length.

    At `MOMENTS`: the mean squares of both layers, the area |[w_1, a]|, the sine of the angle of w_1 and a. From t = 3
    to 6: the change of the logarithms of the singular values of W1. To t = 3: the growth of the mean of ln|w_i|^2, and
    its clock.
    """
    found = [
        statistics(int(dim), str(start) == "tilted", seed, paths=paths, step=step, batch=batch)
        for dim, start, seed in zip(points["dim"], points["start"], seeds.tolist(), strict=True)
    ]
    named = {"log_value_change": ("value",), "log_value_change_error": ("value",)}
    together = {name: np.stack([one[name] for one in found]) for name in found[0]}
    return {name: (named.get(name, ("moment",) if array.ndim == 2 else ()), array) for name, array in together.items()}


def statistics(dim: int, tilted: bool, seed: int, *, paths: int, step: float, batch: int) -> dict[str, np.ndarray]:
    """What is kept of the paths of one cell, made `batch` at a time."""
    if paths % batch:
        raise ValueError(f"`paths` must be a multiple of `batch` = {batch}: got {paths}.")
    a = np.zeros((1, dim))
    if tilted:
        a = generator(seed, 7).standard_normal((1, dim))
        a /= np.linalg.norm(a)
    start = ln.Weights(np.eye(dim), a)
    parts = [
        _looked_at(ln.noise_sde(start, times=TIMES, step=step, key=[seed, number], paths=batch))
        for number in range(paths // batch)
    ]
    seen = {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}
    largest = np.sort(seen["first_square"], axis=-1)[:, -max(paths // 1000, 1) :]
    drop = seen["sine"][0] - seen["sine"][-1]
    change = np.full((max(DIMS), paths), np.nan)
    change[:dim] = seen.pop("log_values")
    kept = {**seen, "sine_drop": drop, "log_value_change": change}
    return {
        **{name: array.mean(axis=-1) for name, array in kept.items()},
        **{f"{name}_error": array.std(axis=-1) / np.sqrt(paths) for name, array in kept.items()},
        "area_median": np.median(seen["area"], axis=-1),
        "area_start": np.asarray(ln.observables.commutator(start)[0]),
        "largest_share": largest.sum(axis=-1) / seen["first_square"].sum(axis=-1),
        "paths": np.asarray(paths),
    }


def _looked_at(run: Trajectory) -> dict[str, np.ndarray]:
    """The quantities of every path (moment, path), or (path,) where they belong to no moment."""
    from scipy.integrate import trapezoid

    chosen = run.reduced[list(AT)]
    until = AT[1] + 1
    squares = (run.reduced.first[:until] ** 2).sum(axis=-1)  # (time, path, neuron)
    logs = np.log(np.linalg.svd(chosen.first[1:], compute_uv=False))
    return {
        "first_square": (chosen.first**2).sum(axis=(-1, -2)),
        "second_square": (chosen.second**2).sum(axis=(-1, -2)),
        "area": ln.observables.commutator(chosen)[..., 0],
        "sine": ln.observables.commutator(chosen, normalized=True)[..., 0],
        "log_values": (logs[1] - logs[0]).T,
        "growth": np.log(squares[-1] / squares[0]).mean(axis=1),
        "clock": trapezoid(run.reduced.second[:until, :, 0] ** 2 / squares, run.times[:until], axis=0).mean(axis=1),
    }
