"""Section 6's synthetic experiment over draws: ratio of the layers, alignments at the end, and the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import linnet as ln
from linnet.papers.huang.networks.cells.equations import synthetic_cells
from linnet.papers.huang.networks.runs import SCALES
from linnet.reproduction import Columns, Table, Trial

if TYPE_CHECKING:
    import xarray as xr


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Twelve draws of data and start at the paper's size; in quick mode 3."""
    return ln.sweeps.Sweep(
        name="huang-synthetic",
        function=synthetic_cells,
        seeds=3 if trial.quick else 12,
        seed=trial.seed,
        block=1,
        coords={"scale": list(SCALES)},
    )


def columns(results: xr.Dataset) -> Columns:
    """One row for each draw."""

    def column(name: str, form: str) -> list[str]:
        return [format(float(value), form) for value in results[name].values]

    return {
        "t1, step": column("first_step", ".1f"),
        "ratio at t1": column("ratio_first", ".4f"),
        "ratio after, least": column("ratio_least", ".4f"),
        "ratio after, most": column("ratio_most", ".4f"),
        "kernel distance at t1": column("kernel_distance_first", ".1e"),
        "least": column("kernel_distance_least", ".1e"),
        "at the end": column("kernel_distance_end", ".1e"),
        "cosine from t1": column("kernel_cosine", ".5f"),
        "ρ changed sign": column("turned", ".1%"),
    }


TABLE = Table(
    name="synthetic",
    title="Section 6's network over draws of data and start",
    sweep=sweep,
    columns=columns,
    note=(
        "t1: the loss has lost 5%. Ratio: the median over neurons of ρ/(v √γ). Kernel: relative distance to the "
        "target-aligned one."
    ),
)
