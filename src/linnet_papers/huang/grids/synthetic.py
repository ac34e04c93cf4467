"""Section 6's synthetic experiment over draws: ratio of the layers, alignments at the end, and the kernel."""

from __future__ import annotations

import linnet as ln
from linnet_papers.huang.training.cells.equations import synthetic_cells
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset, by_name, cells_of
from linnet_papers.reproduction.fits import relative_distance
from linnet_papers.reproduction.grids import trained, trial_sweep


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train twelve draws of data and start at the paper's size; in quick mode 3."""
    return trial_sweep(trial, "huang-synthetic", synthetic_cells, {}, block=1, seeds=3 if trial.quick else 12)


def rows(trial: Trial) -> dict[str, list[float]]:
    """Return what was measured, by name: a number for each draw; and how far the kernel at the end, and by the closed
    form, is from that form and from the target-aligned kernel."""
    results = cells(trial)
    measured = {str(name): values.values.tolist() for name, values in results.items() if values.dims == ("seed",)}
    return measured | by_name(_end_of(cell) for cell in cells_of(results, "seed"))


def _end_of(cell: Dataset) -> dict[str, float]:
    """Return the distances of one network's last kernel from the closed form, and of that from the target-aligned."""
    gram, y = cell["gram"].values, cell["outputs"].values
    predicted = ln.theories.feature_learning.final_state(gram, y)
    aligned = predicted.square * ln.theories.feature_learning.target_aligned_kernel(gram, y)
    return {
        "kernel_to_end": relative_distance(cell["kernel_end"].values, predicted.kernel, 2),
        "kernel_end_predicted": relative_distance(predicted.kernel, aligned, 2),
    }
