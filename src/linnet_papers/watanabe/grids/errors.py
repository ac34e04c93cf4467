"""Test error of networks trained on fewer samples than inputs, beside both forms of eq. (27)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import spiked
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset, fixed_of
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.watanabe import misprints
from linnet_papers.watanabe.training.few_samples import error_cells

AXES = ("ratio", "spike", "alignment")
RATIOS, SPIKES, ALIGNMENTS = (2.0, 6.0), (0.0, 4.0, 20.0, 50.0), (0.0, 0.5, 1.0)


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train networks at every ratio, spike and alignment, those of one point in a block."""
    dim, trials = (240, 20) if trial.quick else (1200, 20)
    axes = {"ratio": RATIOS, "spike": SPIKES[: 3 if trial.quick else 4], "alignment": ALIGNMENTS}
    fixed = {"dim": dim, "width": dim, "scale": 1e-5, "loss": 1e-8, "tolerance": 3e-3}
    return trial_sweep(
        trial, "watanabe-errors", error_cells, axes, seeds=trials, fixed=fixed, dtype="float32", together="seed"
    )


def errors(trial: Trial) -> Dataset:
    """Return the test `error` of every network, the trials last, in the units of (27), not divided by the signal's
    power; beside it, at every point, (27) with the spike in its bracket, `right`, and as `printed`; and `dim`."""
    networks = cells(trial)
    power = 1 + networks["spike"] * networks["alignment"] ** 2
    g, rho, A = np.meshgrid(*(networks[axis] for axis in AXES), indexing="ij")
    return networks[[]].assign(
        error=(networks["error"] * power).transpose(*AXES, "seed").astype(float),
        right=(AXES, spiked.generalization_error(rho, A, g)),
        printed=(AXES, misprints.generalization_error(A, g)),
        dim=fixed_of(networks)["dim"],
    )
