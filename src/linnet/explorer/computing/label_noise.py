"""Label noise on the page *Spectral bias*: what it does to the small singular values of the first layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.reproduction.datasets import labelled

if TYPE_CHECKING:
    import xarray as xr

INPUTS, WIDTH, STEPS, SAVES = 5, 200, 4000, 100


def label_noise(*, gamma: float, noise: float, learning_rate: float, seed: int) -> xr.Dataset:
    """Trains one network on clean and one on noisy labels, with as many orthogonal samples as inputs.

    **Arguments:** `gamma` is the scale of the orthogonal start, `noise` delta, that of labels divided by sqrt(n), drawn
    anew at every step; `learning_rate` eta of both runs; `seed` of data, start and noise.
    """
    import linnet as ln

    problem = ln.problems.orthogonal_regression(key=seed, in_dim=INPUTS)
    start = ln.inits.orthogonal(key=seed, in_dim=INPUTS, out_dim=1, width=WIDTH, scale=gamma)
    options: dict[str, Any] = {"learning_rate": learning_rate, "steps": STEPS, "save_every": STEPS // SAVES}
    clean = ln.gradient_descent(problem, start, throw=False, **options)
    noisy = ln.label_noise_descent(problem, start, noise_std=noise * INPUTS**0.5, key=seed, throw=False, **options)
    if not (clean.status.ok and noisy.status.ok):
        raise ValueError(
            f"Descent diverges at η = {learning_rate:g} with γ = {gamma:g} and δ = {noise:g}: lower one of the three."
        )
    norm = float(np.linalg.norm(problem.min_norm_solution()))
    final = ln.theories.spectral_bias.final_singular_values([norm], gamma, INPUTS)[0]
    decay = np.sqrt(2 * gamma) * np.exp(-learning_rate * noise**2 * clean.times / 2)
    of_values = ("time", "input")
    variables = {
        "clean": (of_values, ln.observables.first_layer_values(clean), "singular values of W₁, clean labels"),
        "noisy": (of_values, ln.observables.first_layer_values(noisy), "singular values of W₁, noisy labels"),
        "final": ("input", final, "singular values of W₁ at the end with clean labels, predicted"),
        "decay": ("time", decay, "predicted decay of the small ones with noisy labels"),
    }
    ends = {"flattest": float(np.sqrt(INPUTS**0.5 * norm)), "loss": float(noisy.loss[-1])}
    return labelled(variables, {"time": ("time", clean.times, "time t", "canonical")}, ends)
