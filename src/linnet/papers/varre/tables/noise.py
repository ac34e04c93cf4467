"""The table of the process driven by noise alone: what paths do up to t = 6."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.varre.networks.noise_process import process_cells
from linnet.papers.varre.settings import BATCH, DIMS, MOMENTS, NOISE, STARTS
from linnet.reproduction import Estimate, Trial
from linnet.reproduction.datasets import Dataset, cells_of
from linnet.reproduction.table import Columns, Table, trial_sweep


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the sweep over the dimensions from both starts, each in a block of its own."""
    paths, step = NOISE[trial.quick]
    axes, fixed = {"dim": DIMS, "start": STARTS}, {"paths": paths, "step": step, "batch": BATCH}
    moments = {"moment": list(MOMENTS)}
    return trial_sweep(trial, "varre-noise", process_cells, axes, fixed=fixed, block=1, coords=moments)


def read(results: Dataset) -> dict[tuple[int, str], Dataset]:
    """Return what is kept of the paths of each dimension, from a = 0 ("zero") and from a of unit length ("tilted")."""
    return {(int(cell["dim"]), cell["start"].item()): cell for cell in cells_of(results, "dim", "start")}


def sampled_mean(paths: Dataset, name: str, moment: float | None = None) -> Estimate:
    """Return a mean over the paths and its standard error, at one time where it has several."""
    chosen = paths if moment is None else paths.sel(moment=moment)
    return Estimate(float(chosen[name]), float(chosen[f"{name}_error"]))


def columns(results: Dataset) -> Columns:
    """Return growth, commutator, angle and lower singular values, each beside what is said of it."""
    from linnet.theories import noise

    rows = read(results)
    names = {"zero": "0", "tilted": "unit length"}
    drifts = {key: noise.scale_drift(key[0]) * float(paths["clock"]) for key, paths in rows.items()}
    printed = {key: float(paths["area_start"]) * np.exp(-3.0) for key, paths in rows.items()}

    def from_two_inputs(entries: dict[tuple[int, str], str]) -> list[str]:
        """Return the entries, blank for one input, which has neither angle nor second value."""
        return [entry if dim > 1 else "" for (dim, _), entry in entries.items()]

    def early_and_late(name: str) -> dict[tuple[int, str], str]:
        """Return the values at t = 1 and 6 as text."""
        ends = {key: [float(paths[name].sel(moment=at)) for at in (1.0, 6.0)] for key, paths in rows.items()}
        return {key: f"{first:.2f} → {last:.2f}" for key, (first, last) in ends.items()}

    areas = {key: f"{sampled_mean(cell, 'area', 3.0):.3f}" for key, cell in rows.items()}
    changes = {key: f"{sampled_mean(cell.isel(value=1), 'log_value_change'):+.3f}" for key, cell in rows.items()}
    return {
        "d": [str(dim) for dim, _ in rows],
        "a(0)": [names[start] for _, start in rows],
        "paths": [str(int(paths["paths"])) for paths in rows.values()],
        "growth of ln ‖w‖² to t = 3": [f"{sampled_mean(paths, 'growth'):+.2f}" for paths in rows.values()],
        "(d - 2) times its clock": [f"{drift:+.2f}" for drift in drifts.values()],
        "mean size of [w1, a] at t = 3": from_two_inputs(areas),
        "printed": from_two_inputs({key: f"{area:.3f}" for key, area in printed.items()}),
        "its median, t = 1 to 6": from_two_inputs(early_and_late("area_median")),
        "mean sine of w1 and a, t = 1 to 6": from_two_inputs(early_and_late("sine")),
        "mean change of ln σ2, t = 3 to 6": from_two_inputs(changes),
    }


TABLE = Table(
    name="noise",
    title="Noise alone: growth of the weights, commutator, angle, and the second singular value",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Means ± standard errors over paths; the clock is the integral of a²/‖w‖²; printed: e^-3 of the start.",
)
