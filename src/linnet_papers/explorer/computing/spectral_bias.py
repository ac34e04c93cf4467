"""The page *Spectral bias*: modes that jump one after the other, and what label noise does to the first layer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet_papers.explorer.computing.padding import gradient_flow
from linnet_papers.explorer.computing.train import MAX_STEPS, POINTS
from linnet_papers.reproduction.datasets import labeled
from linnet_papers.varre.training.first_layer import first_layer_values

if TYPE_CHECKING:
    import xarray as xr

MODES = 8  # the trained matrix is always so large: the page *Train* has compiled its flow already
CLOCKS = {"canonical": "canonical", "log": "in units of ln(1/γ)"}
INPUTS, WIDTH, STEPS, SAVES = 5, 200, 4000, 100  # of the networks that are trained with label noise


def spectral_bias(*, gamma: float, values: tuple[float, ...], clock: str) -> xr.Dataset:
    """Train a network on whitened data from the orthogonal start, and compute the theory beside it.

    **Arguments:** `gamma` is the scale of the start, `values` the target's singular values in any order, `clock` one
    of `CLOCKS`.
    """
    theory = ln.theories.spectral_bias
    s = np.sort(np.array(values, dtype=float))[::-1]
    scaled = clock == "log"
    if scaled and gamma >= 1:
        raise ValueError(f"Time in units of ln(1/γ) needs a start γ below 1: got {gamma:g}.")
    half = theory.half_times(s, gamma)
    times = np.linspace(0, float((half + 2.5 / np.hypot(s, gamma)).max()), POINTS)
    target = np.diag([*s, *[0.0] * (MODES - len(s))])
    start = ln.inits.balanced(np.zeros((MODES, MODES)), 2 * gamma)  # the orthogonal start, reduced to its inputs
    problem = ln.Problem.from_target(target, truth=target)
    run = gradient_flow(problem, start, times=times, rtol=1e-8, max_steps=MAX_STEPS)
    first, second = (np.linalg.svd(layer, compute_uv=False) for layer in (run.weights.first, run.weights.second))
    final = theory.final_singular_values(s, gamma, MODES)
    unit = -np.log(gamma) if scaled else 1.0
    heights = np.linspace(0, s[0], 161)
    psi = theory.potential(heights[:, None], gamma)
    of_modes = ("time", "mode")
    variables = {
        "trained": (of_modes, run.singular_values[:, : len(s)], "singular values of the product, trained"),
        "predicted": (of_modes, theory.singular_values(s, gamma, times), "singular values of the product, predicted"),
        "half_times": ("mode", half / unit, "when a mode stands at half its height"),
        "first_layer": (("time", "input"), first, "singular values of W₁, trained"),
        "second_layer": (of_modes, second[:, : len(s)], "singular values of W₂, trained"),
        "first_layer_final": ("input", final[0], "singular values of W₁ at the end, predicted"),
        "second_layer_final": ("mode", final[1], "singular values of W₂ at the end, predicted"),
        "potential": ("height", (psi - psi[0]) / (psi[-1] - psi[0]), "potential of one mode, from 0 to 1"),
    }
    if scaled:
        jumps = theory.jump_process(s, gamma, times)
        variables["jumps"] = (of_modes, jumps, "the limit of small starts")
    coordinates = {
        "time": ("time", times / unit, "time t", CLOCKS[clock]),
        "mode": ("mode", s, "singular value of the target"),
        "height": ("height", heights / s[0], "singular value / the largest of the target"),
    }
    return labeled(variables, coordinates)


def label_noise(*, gamma: float, noise: float, learning_rate: float, seed: int) -> xr.Dataset:
    """Train one network on clean and one on noisy labels, with as many orthogonal samples as inputs.

    **Arguments:** `gamma` is the scale of the orthogonal start, `noise` delta, that of labels divided by sqrt(n), drawn
    anew at every step; `learning_rate` eta of both runs; `seed` of data, start and noise.
    """
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
        "clean": (of_values, first_layer_values(clean), "singular values of W₁, clean labels"),
        "noisy": (of_values, first_layer_values(noisy), "singular values of W₁, noisy labels"),
        "final": ("input", final, "singular values of W₁ at the end with clean labels, predicted"),
        "decay": ("time", decay, "predicted decay of the small ones with noisy labels"),
    }
    ends = {"flattest": float(np.sqrt(INPUTS**0.5 * norm)), "loss": float(noisy.loss[-1])}
    return labeled(variables, {"time": ("time", clean.times, "time t", "canonical")}, ends)
