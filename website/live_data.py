"""Writes src/linnet/live/data: what the live pages show that a browser cannot compute.

    python -m website.live_data

- tasks.json: named tasks, with the cells of the map for which Python draws networks, by `predicted_diagram`
- maps.json: trained and published maps, with the formula on their cells, from `linnet_papers`
- depth.json: the map of networks of two to six layers by `predicted_diagram`, and when modes are half learned
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import linnet as ln
from linnet.theories.deep._family import LARGEST, MIN_KAPPA, family
from linnet.theories.lazy_active import asymptotic_spectrum, predicted_diagram, predicted_run, task_spectrum
from linnet.theories.lazy_active.task_spectra import TaskSpectrum

DATA = Path(__file__).parents[1] / "src" / "linnet" / "live" / "data"
POINTS = 35  # cells along each side, as numbers/diagram.js has them
LIMIT = 0.01  # of the uncertainty, above which the page asks for these cells, as numbers/diagram.js has it
DIGITS = 4
LARGE = 1_000_000
# by name in the address: what the page calls it, dimension, rank, noise
TASKS: dict[str, tuple[str, int, int, float]] = {
    "d200": ("d = 200, narrow cells from Python", 200, 5, 1.0),
    "d100": ("d = 100, narrow cells from Python", 100, 5, 1.0),
    "large": ("d = 1 000 000, by formula alone", LARGE, 5, 1.0),
}
OWN_DIMS = (50, 200, 1000, 2000)
OWN_TASK = (0, 0)  # the key of the task behind our own maps, benchmarks/trained_diagram.py
SMALL_DIM = 200  # up to which the whole spectrum is taken
PUBLISHED_DRAWS = 12  # tasks whose strengths are averaged to stand for the published one
DEPTHS = (2, 3, 4, 5, 6)
DEPTH_DIM, DEPTH_CELLS = 100, 24
STRENGTHS = [0.5 * 0.95**i for i in range(5)]  # singular values of the large task's truth, over d


def spectrum_of(name: str) -> TaskSpectrum:
    """Return the spectrum of a named task."""
    _, dim, rank, noise = TASKS[name]
    if name == "large":
        return asymptotic_spectrum([a * dim for a in STRENGTHS], dim, noise)
    return task_spectrum(ln.problems.low_rank_plus_noise(dim, rank=rank, noise_std=noise, key=0))


def axes(dim: int) -> tuple[np.ndarray, np.ndarray]:
    """Return widths and variances of the page's map."""
    widths = np.maximum(1, np.round(float(dim) ** np.linspace(0, 2.8, POINTS)))
    return widths, float(dim) ** np.linspace(-3, 0, POINTS)


def short(values: np.ndarray, digits: int = DIGITS) -> list[float | None]:
    """Return numbers with few digits; None for what is not finite."""
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in np.ravel(values)]


def task(name: str) -> dict[str, Any]:
    """Compute one named task."""
    title, dim, rank, noise = TASKS[name]
    spectrum = spectrum_of(name)
    widths, variances = axes(dim)
    wide = predicted_diagram(spectrum, variances, widths, draws=0)
    full = predicted_diagram(spectrum, variances, widths)
    cells = np.flatnonzero(~(wide.uncertainty <= LIMIT))
    unit = 2 / spectrum.truth_power
    made: dict[str, Any] = {"title": title, "dim": dim, "rank": rank, "noise": noise}
    if name == "large":
        made["spectrum"] = {
            "values": spectrum.values.tolist(),
            "overlaps": spectrum.overlaps.tolist(),
            "counts": spectrum.multiplicities.tolist(),
            "dim": dim,
            "power": spectrum.truth_power,
            "apart": spectrum.num_outliers,
        }
        made["script"] = (
            "from linnet.theories.lazy_active import asymptotic_spectrum\n\n"
            f"task = asymptotic_spectrum([{dim} * 0.5 * 0.95**i for i in range({rank})], {dim}, {noise})"
        )
    else:
        made["key"] = 0
    made["narrow"] = {
        "cells": cells.tolist(),
        "test": short(full.min_test_loss.ravel()[cells] * unit),
        "uncertainty": short(full.uncertainty.ravel()[cells], 2),
        "time": short(full.best_time.ravel()[cells]),
        "rank": short(full.stable_rank.ravel()[cells]),
    }
    return made


def task_strengths(dim: int, rank: int, key: int | tuple[int, ...]) -> np.ndarray:
    """Return the singular values of the truth of one drawn task, largest first."""
    from scipy.sparse.linalg import svds

    truth = np.asarray(ln.problems.low_rank_plus_noise(dim, rank=rank, key=key).truth)
    first = np.ones(dim)  # where the iteration starts: the same numbers every time
    return np.sort(svds(truth, rank, return_singular_vectors=False, v0=first))[::-1]


def own_map(dim: int) -> dict[str, Any]:
    """Return the map that was trained here at a dimension, and the formula for its task: least errors.

    The formula is there only where it is claimed and where the run had gone past its least error when it was stopped.
    """
    from linnet_papers.own.training.trained import trained_diagram

    cells = trained_diagram(dim)
    rank = int(cells.attrs["rank"])
    strengths = task_strengths(dim, rank, OWN_TASK)
    if dim <= SMALL_DIM:
        spectrum = task_spectrum(ln.problems.low_rank_plus_noise(dim, rank=rank, key=OWN_TASK))
    else:
        spectrum = asymptotic_spectrum(strengths, dim, 1.0)
    widths = np.maximum(1, np.round(float(dim) ** cells["gamma_width"].values))
    formula = predicted_diagram(spectrum, float(dim) ** cells["gamma_variance"].values, widths, points=16, draws=0)
    claimed = formula.covered & (cells["best_step"] < cells["steps"]).values
    predicted = np.where(claimed, formula.min_test_loss * 2 / dim**2, np.nan)
    return written(cells, cells["min_test_loss"].values, predicted, rank, strengths[0]) | {
        "title": f"trained here, d = {dim}",
        "what": "Minimum test error of our own networks",
    }


def published_map() -> dict[str, Any]:
    """Return the published cells, and the formula where their runs were stopped.

    The published task is not known: the formula takes the mean strengths of its kind, from which one draw differs by
    some percent.
    """
    from linnet_papers.tu import plane
    from linnet_papers.tu.published import phase_diagram_cells

    cells = phase_diagram_cells().transpose("gamma_width", "gamma_variance")
    dim, rank = int(cells.attrs["dim"]), int(cells.attrs["rank"])
    strengths = np.mean([task_strengths(dim, rank, key) for key in range(PUBLISHED_DRAWS)], axis=0)
    spectrum = asymptotic_spectrum(strengths, dim, 1.0).grouped(16)
    errors = np.zeros(cells["test_error"].shape)
    for i, power in enumerate(cells["gamma_width"].values):
        for j, other in enumerate(cells["gamma_variance"].values):
            step = float(plane.step_size(other, power, dim=dim, size=strengths[0]))
            time = float(cells["last_step"].values[i, j]) * step
            run = predicted_run(spectrum, float(dim) ** other, round(float(dim) ** power), [time], draws=1)
            errors[i, j] = run.test_loss[0] * 2 / dim**2
    return written(cells, cells["test_error"].values, errors, rank, strengths[0]) | {
        "title": "published cells, d = 200",
        "what": "Test error of the published networks where they were stopped",
    }


def written(cells: Any, trained: np.ndarray, predicted: np.ndarray, rank: int, size: float) -> dict[str, Any]:
    """Return a map as the page reads it; errors per entry."""
    finite = trained[np.isfinite(trained)]
    return {
        "dim": int(cells.attrs["dim"]),
        "rank": rank,
        "size": float(f"{size:.4g}"),
        "x": short(cells["gamma_variance"].values, 6),
        "y": short(cells["gamma_width"].values, 6),
        "low": float(f"{finite.min():.2g}"),
        "high": float(f"{finite.max():.2g}"),
        "trained": short(trained),
        "predicted": short(predicted),
    }


def maps() -> dict[str, Any]:
    """Return the maps that were trained, and the formula on their cells."""
    return {"published": published_map()} | {str(dim): own_map(dim) for dim in OWN_DIMS}


def depth_map(depth: int) -> dict[str, Any]:
    """Compute the map of one depth, of a matrix of rank 3 in unit noise at d = 100."""
    strengths = 0.5 * DEPTH_DIM * 0.95 ** np.arange(3)
    spectrum = asymptotic_spectrum(strengths, DEPTH_DIM, 1.0)
    least = np.ceil(np.log2(32 * DEPTH_DIM))  # the formula asks for 16 units for each input and output
    border = np.round(np.log2(strengths[0] ** (2 / depth)))  # of sigma^2 w, at which the largest mode turns lazy
    widths = 2.0 ** (least + np.arange(DEPTH_CELLS // 2))
    variances = 2.0 ** (border - least + np.arange(-DEPTH_CELLS + 3, 3))
    found = predicted_diagram(spectrum, variances, widths, points=16, draws=0, depth=depth)
    return {
        "dim": DEPTH_DIM,
        "strengths": short(strengths),
        "x": short(np.log10(variances), 6),
        "y": short(np.log10(widths), 6),
        "test": short(found.min_test_loss * 2 / spectrum.truth_power),
        "rank": short(found.stable_rank, 3),
        "time": short(found.best_time, 3),
        "covered": found.covered.astype(int).ravel().tolist(),
    }


def half_times(depth: int) -> dict[str, Any]:
    """Tabulate when a mode is half learned, as `halfTime` of numbers/deep.js reads it."""
    held = family(depth)
    middle = held.clocks[:, held.clocks.shape[1] // 2]  # the level at which f = 1/2
    return {"least": MIN_KAPPA[depth], "most": LARGEST, "logs": short(middle, 9)}


def depths() -> dict[str, Any]:
    """Return the maps and tables of all depths."""
    return {str(depth): {"map": depth_map(depth), "half": half_times(depth)} for depth in DEPTHS}


def main() -> None:
    """Compute everything and write the files."""
    DATA.mkdir(parents=True, exist_ok=True)
    all_tasks = {name: task(name) for name in TASKS}
    for name, made in (("tasks", all_tasks), ("maps", maps()), ("depth", depths())):
        text = json.dumps(made, separators=(",", ":"), ensure_ascii=False)
        (DATA / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
