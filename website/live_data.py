"""Writes src/linnet/live/data: what the live pages show that a browser cannot compute.

    python -m website.live_data

- tasks.json: named tasks, with the cells of the map for which Python draws networks, by `predicted_diagram`
- maps.json: trained and published maps, with the formula on their cells, from `linnet_papers`
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import linnet as ln
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


def main() -> None:
    """Compute everything and write both files."""
    DATA.mkdir(parents=True, exist_ok=True)
    for name, made in (("tasks", {name: task(name) for name in TASKS}), ("maps", maps())):
        text = json.dumps(made, separators=(",", ":"), ensure_ascii=False)
        (DATA / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
