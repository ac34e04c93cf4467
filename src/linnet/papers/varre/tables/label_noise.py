"""The table of label noise: what it leaves of the small singular values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.varre.networks.label_noise import noisy_cells
from linnet.papers.varre.settings import NOISY_RATE
from linnet.reproduction import Trial
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

NETWORKS = 10


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Networks with label noise and without, the same data and starts for both."""
    return ln.sweeps.Sweep(
        name="varre-label-noise",
        function=noisy_cells,
        axes={"delta": [0.0, 1.0], "replicate": list(range(NETWORKS))},
        seed=trial.seed,
        fixed={"rate": NOISY_RATE, "steps": 10_000 if trial.quick else 40_000, "seed": trial.seed},
        block=NETWORKS,
        apart=["delta"],
    )


def shares(networks: xr.Dataset, delta: float) -> np.ndarray:
    """Small singular values at the end over the start (replicate, value)."""
    chosen = networks.sel(delta=delta).isel(value=slice(1, None))
    return (chosen["end_values"] / chosen["start_values"]).transpose("replicate", "value").values


def decay(networks: xr.Dataset, delta: float) -> float:
    """The predicted share exp(-eta delta^2 t/2)."""
    return float(np.exp(-NOISY_RATE * delta**2 * float(networks["time"].isel(delta=0, replicate=0)) / 2))


def columns(networks: xr.Dataset) -> Columns:
    """What is left of the small singular values."""
    deltas = networks["delta"].values.tolist()
    found = {delta: shares(networks, delta) for delta in deltas}
    return {
        "label noise delta": [f"{delta:g}" for delta in deltas],
        "networks": [str(len(found[delta])) for delta in deltas],
        "training time": [f"{float(networks['time'].sel(delta=delta)[0]):g}" for delta in deltas],
        "largest final loss": [f"{networks['loss'].sel(delta=delta).values.max():.0e}" for delta in deltas],
        "small values, end / start: median": [f"{np.median(found[delta]):.2g}" for delta in deltas],
        "smallest": [f"{found[delta].min():.2g}" for delta in deltas],
        "largest": [f"{found[delta].max():.2g}" for delta in deltas],
        "exp(-eta delta^2 t/2)": [f"{decay(networks, delta):.2g}" for delta in deltas],
    }


TABLE = Table(
    name="label-noise",
    title="Label noise from a large start: what is left of the small singular values",
    sweep=sweep,
    columns=columns,
    note="Singular values of W1 but the largest, at the end over the start.",
)
