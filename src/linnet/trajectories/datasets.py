"""Runs as xarray datasets: the names of docs/schema.md, and where they came from."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet

if TYPE_CHECKING:
    import xarray as xr

    from linnet.trajectories.trajectory import Trajectory

SCHEMA_VERSION = 1


def dataset(trajectory: Trajectory) -> xr.Dataset:
    """`loss`, `test_loss` and `product` along time (and batch), with `step` and the status next to them."""
    import xarray as xr

    lead: tuple[str, ...] = ("time", "batch")[: trajectory.loss.ndim]
    variables: dict[str, Any] = {"loss": (lead, trajectory.loss, {"long_name": "training loss, 1/2 E|y - A x|^2"})}
    if "test_loss" in trajectory.kept:
        about = {"long_name": "test loss, 1/2 E|(A - truth) x|^2"}
        variables["test_loss"] = (lead, trajectory.test_loss, about)
    if "validation_loss" in trajectory.kept:
        about = {"long_name": "held-out loss, 1/2 E|y - A x|^2"}
        variables["validation_loss"] = (lead, trajectory.validation_loss, about)
    if {"first", "product"} & set(trajectory.kept):
        about = {"long_name": "product A = W2 W1" if "inner_2" not in trajectory.kept else "product A = WL ... W1"}
        variables["product"] = ((*lead, "output", "input"), trajectory.products, about)
    if "first" in trajectory.kept and "inner_2" in trajectory.kept:
        words: dict[str, Any] = {"long_name": "layers in reduced coordinates, filled up with zeros"}
        words["widths"] = _units_of_layers(trajectory)
        variables["layers"] = ((*lead, "layer", "to", "from"), _pad_layers(trajectory.reduced.layers), words)
    elif "first" in trajectory.kept:
        reduced = trajectory.reduced
        variables["first"] = ((*lead, "hidden", "direction"), reduced.first, {"long_name": "W1 in reduced coordinates"})
        variables["second"] = ((*lead, "output", "hidden"), reduced.second, {"long_name": "W2 in reduced coordinates"})
    variables["reason"] = (lead[1:], np.asarray(trajectory.status.reason, dtype=str))
    variables["steps_taken"] = (lead[1:], np.asarray(trajectory.status.steps))
    clock = {"long_name": "time", "units": "canonical"}
    coordinates: dict[str, Any] = {}
    if trajectory.times.ndim == 1:
        coordinates["time"] = ("time", trajectory.times, clock)
    else:
        coordinates["clock"] = (lead, trajectory.times, clock)
    if "layers" in variables:
        coordinates["layer"] = ("layer", np.arange(1, len(trajectory.reduced.layers) + 1))
    if trajectory.steps is not None:
        coordinates["step"] = ("time", trajectory.steps, {"long_name": "step of descent"})
    return xr.Dataset(variables, coordinates, attrs={**provenance(), **_storable_attributes(trajectory.attributes)})


def _units_of_layers(trajectory: Trajectory) -> list[int]:
    """The numbers of units from the inputs to the outputs, in reduced coordinates."""
    layers = trajectory.reduced.layers
    return [layers[0].shape[-1], *(layer.shape[-2] for layer in layers)]


def _pad_layers(layers: tuple[np.ndarray, ...]) -> np.ndarray:
    """All layers along one axis, filled up with zeros to the largest."""
    rows, columns = (max(layer.shape[axis] for layer in layers) for axis in (-2, -1))
    whole = np.zeros((*layers[0].shape[:-2], len(layers), rows, columns), layers[0].dtype)
    for index, layer in enumerate(layers):
        whole[..., index, : layer.shape[-2], : layer.shape[-1]] = layer
    return whole


def provenance() -> dict[str, Any]:
    """The schema, and the version and commit of linnet that computed something."""
    return {"schema": SCHEMA_VERSION, "linnet_version": linnet.__version__, "linnet_commit": _commit()}


@cache
def _commit() -> str:
    """Return the commit of linnet's own repository, marked where files differ from it; "unknown" without git."""
    folder = Path(__file__).resolve().parents[3]
    if not (folder / ".git").exists():
        return "unknown"
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):  # no git, or a repository on a slow disk
        return "unknown"
    return done.stdout.strip() or "unknown"


def _storable_attributes(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return attributes as netCDF holds them: other objects as JSON."""
    return {
        key: value if isinstance(value, (str, int, float)) else json.dumps(value, default=str)
        for key, value in attributes.items()
    }
