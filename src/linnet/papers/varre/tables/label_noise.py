"""The table of label noise: what it leaves of the small singular values."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.varre.networks.label_noise import noisy_cells, noisy_problem
from linnet.papers.varre.settings import NOISY_RATES
from linnet.reproduction import Trial
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.table import Columns, Table, trial_sweep

NETWORKS, DELTAS = 10, (0.0, 0.5, 1.0)


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the sweep over label noises, none among them, and steps, with the same data and starts for all."""
    axes = {"delta": DELTAS, "rate": NOISY_RATES, "replicate": range(NETWORKS)}
    fixed = {"time": 400.0 if trial.quick else 800.0, "seed": trial.seed}
    return trial_sweep(trial, "varre-label-noise", noisy_cells, axes, fixed=fixed, together="replicate")


def read(results: Dataset) -> dict[tuple[float, float], np.ndarray]:
    """Return the small singular values at the end over the start, by delta and step (replicate, value)."""
    small = results.isel(value=slice(1, None))
    left = (small["end_values"] / small["start_values"]).transpose("delta", "rate", "replicate", "value")
    return {(float(d), float(r)): left.sel(delta=d, rate=r).values for d in left["delta"] for r in left["rate"]}


def predicted_decay(delta: float, rate: float, time: float) -> float:
    """Return the share exp(-eta delta^2 t/2) that is predicted to be left at that time, for small eta delta^2."""
    return float(np.exp(-rate * delta**2 * time / 2))


def predicted_rates(seed: int, learning_rate: float, noise_std: float) -> np.ndarray:
    """Return the mean rate of decay of each of the table's data sets, by the formulas of first and of second order.

    (order, replicate); NaN for data so weak that the noise moves the second layer by its own size, where neither holds.
    """
    of = {"learning_rate": learning_rate, "noise_std": noise_std}
    rates = np.full((2, NETWORKS), np.nan)
    for replicate in range(NETWORKS):
        problem = noisy_problem(seed, replicate)
        if ln.theories.label_noise.expansion_parameters(problem, **of)[0] < 1:
            orders = (ln.theories.label_noise.decay_rates(problem, **of, order=order).mean() for order in (1, 2))
            rates[:, replicate] = list(orders)
    return rates


def columns(results: Dataset) -> Columns:
    """Return what is left of the small singular values beside what is predicted, by delta and step."""
    rows, time = read(results), float(results["time"].max())
    losses = {(d, r): float(results["loss"].sel(delta=d, rate=r).max()) for d, r in rows}
    return {
        "label noise delta": [f"{delta:g}" for delta, _ in rows],
        "step eta": [f"{rate:g}" for _, rate in rows],
        "networks": [str(len(left)) for left in rows.values()],
        "training time": [f"{time:g}" for _ in rows],
        "largest final loss": [f"{losses[key]:.0e}" for key in rows],
        "small values, end / start: median": [f"{np.median(left):.2g}" for left in rows.values()],
        "smallest": [f"{left.min():.2g}" for left in rows.values()],
        "largest": [f"{left.max():.2g}" for left in rows.values()],
        "exp(-eta delta^2 t/2)": [f"{predicted_decay(*key, time):.2g}" for key in rows],
    }


TABLE = Table(
    name="label-noise",
    title="Label noise from a large start: what is left of the small singular values",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Singular values of W1 but the largest, at the end over the start.",
)
