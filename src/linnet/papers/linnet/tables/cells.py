"""Cells over the whole plane, trained and predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.linnet.networks import beside, cells
from linnet.reproduction import Columns, Table, Trial, plane

if TYPE_CHECKING:
    import xarray as xr

AXES = ("dim", "gamma_width", "gamma_variance", "replicate")


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """The plane of Figure 2 of Tu et al., coarser: all its regions and borders."""
    dim, side = (40, 5) if trial.quick else (100, 9)
    return ln.sweeps.Sweep(
        name="linnet-cells",
        function=cells,
        axes={
            "dim": [dim],
            **plane.grid(side),
            "replicate": [0],
            "start": list(range(4 if trial.quick else 12)),
        },
        seed=trial.seed,
        fixed={"steps": 1500 if trial.quick else 4000, "seed": trial.seed},
        block=side * (4 if trial.quick else 12),
        apart=["dim", "gamma_width"],
    )


def columns(networks: xr.Dataset) -> Columns:
    """Row by row of the plane: how far the formula is from the trained networks."""
    predicted = beside(networks, int(networks.attrs["seed"]))
    trained = networks["best_test"].mean("start").transpose(*AXES).values
    error = np.abs(predicted["best_test"] / trained - 1)[0, ..., 0]
    covered = predicted["covered"][0, ..., 0]
    widths = [round(float(networks["dim"].item()) ** power) for power in networks["gamma_width"].values]
    inside = [error[i][covered[i]] for i in range(len(widths))]
    return {
        "width": [str(max(1, width)) for width in widths],
        "cells": [str(row.size) for row in error],
        "covered": [str(int(row.sum())) for row in covered],
        "median error": [f"{100 * np.median(row):.2f}%" if row.size else "" for row in inside],
        "largest error": [f"{100 * row.max():.2f}%" if row.size else "" for row in inside],
    }


TABLE = Table(
    name="cells",
    title="Least test error by formula against trained networks, over the plane of variance and width",
    sweep=sweep,
    columns=columns,
    note="Errors of covered cells, relative to the mean of the trained networks' least test errors.",
)
