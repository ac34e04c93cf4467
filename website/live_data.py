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
from linnet.theories.lazy_active import asymptotic_spectrum, predicted_diagram, task_spectrum
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


def maps() -> dict[str, Any]:
    """Return the maps that were trained, and the formula on their cells; errors per entry."""
    from linnet_papers.explorer.computing.phase_diagram import task_strengths, trained_map

    titles = {"published": "published cells, d = 200"} | {
        str(d): f"trained here, d = {d}" for d in (50, 200, 1000, 2000)
    }
    made = {}
    for name, title in titles.items():
        found = trained_map(compare=name)
        dim, rank = int(found.attrs["dim"]), int(found.attrs["rank"])
        finite = found["trained"].values[np.isfinite(found["trained"].values)]
        made[name] = {
            "title": title,
            "what": found.attrs["what"][0].upper() + found.attrs["what"][1:],
            "dim": dim,
            "rank": rank,
            "size": float(f"{task_strengths(dim, rank, (0, 0) if name != 'published' else 0)[0]:.4g}"),
            "x": short(found["gamma_variance"].values, 6),
            "y": short(found["gamma_width"].values, 6),
            "low": float(f"{finite.min():.2g}"),
            "high": float(f"{finite.max():.2g}"),
            "trained": short(found["trained"].values),
            "predicted": short(found["predicted"].values),
        }
    return made


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
