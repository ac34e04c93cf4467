"""Cells of the scalings, when networks pass the ends of the stages as one quantity varies; and draws of data."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet._randomness import Key, generator
from linnet.papers.huang.networks.runs import spectrum, train
from linnet.problems.subgaussian import Regression
from linnet.reproduction.cells import Block, cell_by_cell


@cell_by_cell
def lemmas_cells(key: int, *, n: int, noise: float, dim: int, draws: int) -> Block:
    """Return |X beta|^2 and gamma of `draws` data sets of unit signal, standard normal inputs, in each cell."""
    forms, gammas = [], []
    for draw in range(draws):
        data = ln.problems.gaussian_teacher(key=[key, draw], samples=n, dim=dim, signal=1.0, noise_variance=n * noise)
        forms.append(((data.inputs @ data.teacher) ** 2).sum())
        gammas.append(((data.inputs.T @ data.outputs) ** 2).sum())
    return {"form": ("draw", forms), "gamma": ("draw", gammas), "trace": float(dim)}


def scaling_data(key: Key, p: dict[str, float], *, dim: int) -> Regression:
    """Draw the data of one case of the scalings: trace and signal are set exactly, the teacher's direction is
    drawn."""
    direction = generator(key, 2).standard_normal(dim)
    variance = p["trace"] / dim
    return ln.problems.subgaussian_regression(
        key=key,
        samples=int(p["n"]),
        covariance=np.full(dim, variance),
        teacher=p["beta"] * direction / (np.linalg.norm(direction) * np.sqrt(variance)),
        noise_variance=0.01 * p["beta"] ** 2,
    )


@cell_by_cell
def scalings_cells(
    key: int,
    *,
    case: str,
    replicate: int,
    seed: int,
    dim: int,
    cases: dict[str, dict[str, float]],
    shares: list[float],
    most: int,
) -> Block:
    """Return when each network passes median |rho| = 1 and each share of its loss, in steps; its data's spectrum.

    `case` is a name in `cases`; one teacher, inputs, noise and start per `replicate`, the same in every case, whatever
    the `key` of the cell. Spectra are NaN beyond n, up to `most`.
    """
    p, drawn_by = cases[case], [seed, replicate]
    data, scales = scaling_data(drawn_by, p, dim=dim), scaling_scales(p)
    rate = scales["learning_rate"]
    growth = rate * np.linalg.norm(data.inputs.T @ data.outputs) / data.samples
    # t1 takes log(1/(v0 sqrt(gamma))), the drop a few more, the tail half the logarithm of the final share
    steps = int((np.log(1 / p["v0"]) + 16) / growth)
    run = train(data, drawn_by, steps=steps, save_every=max(1, steps // 512), **scales)
    values, coefficients = (
        np.pad(numbers, (0, most - data.samples), constant_values=np.nan) for numbers in spectrum(data)
    )
    return {
        "alignment_steps": run.history.alignment_time() / rate,
        "loss_steps": ("share", [run.history.loss_time(1 - share) / rate for share in shares]),
        "values": ("mode", values),
        "coefficients": ("mode", coefficients),
    }


def scaling_scales(p: dict[str, float]) -> dict[str, Any]:
    """Return width, canonical step and scales of the start of a case; its `ratio` is v_0/sigma_0."""
    rate = p["eta"] / p["m"]
    return {"width": int(p["m"]), "learning_rate": rate, "first_std": p["v0"] / p["ratio"], "magnitude": p["v0"]}
