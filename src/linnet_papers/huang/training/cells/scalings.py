"""Cells of the scalings, when networks pass the ends of the stages as one quantity varies; and draws of data."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import Key, generator
from linnet.problems.subgaussian import Regression
from linnet_papers.huang.training.runs import Scales, theory_inputs, train
from linnet_papers.reproduction.cells import Block, cell_by_cell

DIM = 1000
BASE = {"m": 128, "n": 10, "trace": DIM, "beta": 1.0, "eta": 0.05, "v0": 3e-4, "ratio": 30.0}  # ratio: v_0/sigma_0
SHARES = (0.95, *np.geomspace(0.1, 1e-9, 17).tolist())  # of the first loss: lost a twentieth, then two a decade
MOST_SAMPLES = 40  # of any case


@cell_by_cell
def lemmas_cells(key: int, *, n: int, noise: float, dim: int, draws: int) -> Block:
    """Return |X beta|^2/n and gamma/(n tr) of `draws` data sets of unit signal and standard normal inputs."""
    forms, gammas = [], []
    for draw in range(draws):
        data = ln.problems.gaussian_teacher(key=[key, draw], samples=n, dim=dim, signal=1.0, noise_variance=n * noise)
        forms.append(((data.inputs @ data.teacher) ** 2).sum() / n)
        gammas.append(((data.inputs.T @ data.outputs) ** 2).sum() / (n * dim))
    return {"form": ("draw", forms), "gamma": ("draw", gammas)}


def case_name(name: str, value: float) -> str:
    """Return the name of the case in which one quantity has that value."""
    return "base" if BASE[name] == value else f"{name} = {value:g}"


def case_settings(case: str) -> dict[str, float]:
    """Return the settings of a case: those of `BASE`, with the change that its name tells."""
    if case == "base":
        return BASE
    name, value = case.split(" = ")
    return {**BASE, name: float(value)}


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
def scalings_cells(key: int, *, case: str, replicate: int, seed: int, dim: int) -> Block:
    """Return when each network passes median |rho| = 1 and each of the `SHARES` of its loss, in steps.

    One teacher, inputs, noise and start per `replicate`, the same in every case, whatever the `key` of the cell.
    """
    p = case_settings(case)
    drawn_by = [seed, replicate]
    data = scaling_data(drawn_by, p, dim=dim)
    rate = p["eta"] / p["m"]
    scales: Scales = {
        "width": int(p["m"]),
        "learning_rate": rate,
        "first_std": p["v0"] / p["ratio"],
        "magnitude": p["v0"],
    }
    growth = rate * np.linalg.norm(data.inputs.T @ data.outputs) / data.samples
    # t1 takes log(1/(v0 sqrt(gamma))), the drop a few more, the tail half the logarithm of the final share
    steps = int((np.log(1 / p["v0"]) + 16) / growth)
    run = train(data, drawn_by, steps=steps, save_every=max(1, steps // 512), **scales)
    return {
        "alignment_steps": run.history.alignment_time() / rate,
        "loss_steps": ("share", [run.history.loss_time(1 - share) / rate for share in SHARES]),
        **theory_inputs(run, MOST_SAMPLES),
    }
