"""The process driven by noise alone: what paths do up to t = 6."""

from __future__ import annotations

import linnet as ln
from linnet_papers.reproduction import Estimate, Trial
from linnet_papers.reproduction.datasets import Dataset, cells_of
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.varre.settings import BATCH, DIMS, MOMENTS, NOISE, STARTS
from linnet_papers.varre.training.noise_process import process_cells


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Draw paths of every dimension from both initializations, each in a block of its own."""
    number, step = NOISE[trial.quick]
    axes = {"dim": DIMS, "start": STARTS}
    fixed = {"paths": number, "step": step, "batch": BATCH}
    moments = {"moment": list(MOMENTS)}
    return trial_sweep(trial, "varre-noise", process_cells, axes, fixed=fixed, block=1, coords=moments)


def paths(trial: Trial) -> dict[tuple[int, str], Dataset]:
    """Return what is kept of the paths of each dimension, from a = 0 ("zero") and from a of unit length ("tilted")."""
    return {(int(cell["dim"]), cell["start"].item()): cell for cell in cells_of(cells(trial), "dim", "start")}


def sampled_mean(drawn: Dataset, name: str, moment: float | None = None) -> Estimate:
    """Return a mean over the paths and its standard error, at one time where it has several."""
    chosen = drawn if moment is None else drawn.sel(moment=moment)
    return Estimate(float(chosen[name]), float(chosen[f"{name}_error"]))
