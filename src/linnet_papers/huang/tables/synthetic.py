"""Section 6's synthetic experiment over draws: ratio of the layers, alignments at the end, and the kernel."""

from __future__ import annotations

import linnet as ln
from linnet_papers.huang.training.cells.equations import synthetic_cells
from linnet_papers.reproduction import Table, Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.table import trial_sweep


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the sweep over twelve draws of data and start at the paper's size; in quick mode 3."""
    return trial_sweep(trial, "huang-synthetic", synthetic_cells, {}, block=1, seeds=3 if trial.quick else 12)


def read(results: Dataset) -> dict[str, list[float]]:
    """Return what was measured, by name: a number for each draw."""
    return {str(name): values.values.tolist() for name, values in results.items() if values.dims == ("seed",)}


TABLE = Table(
    name="synthetic",
    title="Section 6's network over draws of data and start",
    sweep=sweep,
    read=read,
    columns={
        "t1, step": "{[first_step]:.1f}",
        "ratio at t1": "{[ratio_first]:.4f}",
        "ratio after, least": "{[ratio_least]:.4f}",
        "ratio after, most": "{[ratio_most]:.4f}",
        "kernel distance at t1": "{[kernel_distance_first]:.1e}",
        "least": "{[kernel_distance_least]:.1e}",
        "at the end": "{[kernel_distance_end]:.1e}",
        "cosine from t1": "{[kernel_cosine]:.5f}",
        "ρ changed sign": "{[turned]:.1%}",
    },
    note=(
        "t1: the loss has lost 5%. Ratio: the median over neurons of ρ/(v √γ). Kernel: relative distance to the "
        "target-aligned one."
    ),
)
