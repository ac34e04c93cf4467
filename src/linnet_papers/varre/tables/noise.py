"""The table of the process driven by noise alone: what paths do up to t = 6."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Estimate, Trial
from linnet_papers.reproduction.datasets import Dataset, cells_of
from linnet_papers.reproduction.table import Table, trial_sweep
from linnet_papers.varre.settings import BATCH, DIMS, MOMENTS, NOISE, STARTS
from linnet_papers.varre.training.noise_process import process_cells


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the sweep over the dimensions from both starts, each in a block of its own."""
    paths, step = NOISE[trial.quick]
    axes = {"dim": DIMS, "start": STARTS}
    fixed = {"paths": paths, "step": step, "batch": BATCH}
    moments = {"moment": list(MOMENTS)}
    return trial_sweep(trial, "varre-noise", process_cells, axes, fixed=fixed, block=1, coords=moments)


def read(results: Dataset) -> dict[tuple[int, str], Dataset]:
    """Return what is kept of the paths of each dimension, from a = 0 ("zero") and from a of unit length ("tilted")."""
    return {(int(cell["dim"]), cell["start"].item()): cell for cell in cells_of(results, "dim", "start")}


def sampled_mean(paths: Dataset, name: str, moment: float | None = None) -> Estimate:
    """Return a mean over the paths and its standard error, at one time where it has several."""
    chosen = paths if moment is None else paths.sel(moment=moment)
    return Estimate(float(chosen[name]), float(chosen[f"{name}_error"]))


def _from_two_inputs(entry: Callable[[Dataset], str]) -> Callable[[Dataset], str]:
    """Return the column with blanks for one input, which has neither angle nor second value."""
    return lambda paths: entry(paths) if paths["dim"] > 1 else ""


def _early_and_late(name: str) -> Callable[[Dataset], str]:
    """Return the column with the values at t = 1 and 6."""
    return lambda paths: "{:.2f} → {:.2f}".format(*paths[name].sel(moment=[1.0, 6.0]).values)


TABLE = Table(
    name="noise",
    title="Noise alone: growth of the weights, commutator, angle, and the second singular value",
    sweep=sweep,
    read=read,
    split=lambda rows: rows.values(),
    columns={
        "d": "{[dim].values}",
        "a(0)": lambda paths: {"zero": "0", "tilted": "unit length"}[paths["start"].item()],
        "paths": "{[paths].values:.0f}",
        "growth of ln ‖w‖² to t = 3": lambda paths: f"{sampled_mean(paths, 'growth'):+.2f}",
        "(d - 2) times its clock": lambda paths: (
            f"{ln.theories.noise_process.scale_drift(int(paths['dim'])) * float(paths['clock']):+.2f}"
        ),
        "mean size of [w1, a] at t = 3": _from_two_inputs(lambda paths: f"{sampled_mean(paths, 'area', 3.0):.3f}"),
        "printed": _from_two_inputs(lambda paths: f"{float(paths['area_start']) * np.exp(-3.0):.3f}"),
        "its median, t = 1 to 6": _from_two_inputs(_early_and_late("area_median")),
        "mean sine of w1 and a, t = 1 to 6": _from_two_inputs(_early_and_late("sine")),
        "mean change of ln σ2, t = 3 to 6": _from_two_inputs(
            lambda paths: f"{sampled_mean(paths.isel(value=1), 'log_value_change'):+.3f}"
        ),
    },
    note="Means ± standard errors over paths; the clock is the integral of a²/‖w‖²; printed: e^-3 of the start.",
)
