"""Descent with label noise: what it leaves of the small singular values."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset, cells_of
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.varre.settings import NOISY_RATES
from linnet_papers.varre.training.label_noise import noisy_cells, noisy_problem

NETWORKS = 10
DELTAS = (0.0, 0.5, 1.0)


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train networks with several label noises, none among them, and steps, with the same data and starts for all."""
    axes = {"delta": DELTAS, "rate": NOISY_RATES, "replicate": range(NETWORKS)}
    fixed = {"time": 400.0 if trial.quick else 800.0, "seed": trial.seed}
    return trial_sweep(trial, "varre-label-noise", noisy_cells, axes, fixed=fixed, together="replicate")


def networks(trial: Trial) -> dict[tuple[float, float], Dataset]:
    """Return the networks of each delta and step, with what is left of their small singular values at the end (`left`),
    and from halfway on (`late`), (replicate, value)."""
    results = cells(trial)
    small = results.isel(value=slice(1, None)).transpose("replicate", "value", ...)
    shares = {"left": small["end_values"] / small["start_values"], "late": small["end_values"] / small["half_values"]}
    several = cells_of(results.drop_dims("value").assign(shares), "delta", "rate")
    return {(float(cell["delta"]), float(cell["rate"])): cell for cell in several}


def predicted_decay(delta: float, rate: float, time: float) -> float:
    """Return the share exp(-eta delta^2 t/2) that is predicted to be left at that time, for small eta delta^2."""
    return float(np.exp(-rate * delta**2 * time / 2))


def predicted_rates(seed: int, learning_rate: float, noise_std: float) -> np.ndarray:
    """Return the mean rate of decay of each of the data sets, by the formulas of first and of second order.

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
