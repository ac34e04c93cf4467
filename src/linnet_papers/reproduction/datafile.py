"""Datasets as netCDF 3 files: they need nothing but SciPy, and any tool reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet._files import written_whole

if TYPE_CHECKING:
    import xarray as xr

_INT32 = np.iinfo(np.int32)  # netCDF 3 has no larger whole numbers


def write(data: xr.Dataset, path: Path) -> None:
    """Write the dataset whole or not at all; attributes that the format cannot hold become JSON text."""
    data = data.copy()
    data.attrs = _storable_attributes(data.attrs)
    for name, variable in data.variables.items():
        if variable.dtype.kind in "iu" and variable.size and not _fits_int32(variable.values):
            data[name] = data[name].astype(np.float64)
        data[name].attrs = _storable_attributes(variable.attrs)
        data[name].encoding = {}
    with written_whole(path) as draft:
        data.to_netcdf(draft, engine="scipy", format="NETCDF3_64BIT")


def read(path: Path) -> xr.Dataset:
    """Return the dataset, in memory, with the names of this version; the file is closed again."""
    import xarray as xr

    from linnet.trajectories.saving import with_new_names

    return with_new_names(xr.load_dataset(path, engine="scipy", decode_times=False))


def _fits_int32(values: np.ndarray) -> bool:
    """Return whether whole numbers fit into what the file can hold."""
    return bool(values.min() >= _INT32.min and values.max() <= _INT32.max)


def _storable_attributes(attributes: dict[Any, Any]) -> dict[Any, Any]:
    """Return attributes that the file can hold."""
    return {name: _storable(value) for name, value in attributes.items()}


def _storable(value: object) -> Any:
    """Return a value as the file can hold it: other objects become JSON."""
    if isinstance(value, (str, float)):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return int(value) if _fits_int32(np.asarray(value)) else float(value)
    if isinstance(value, (np.floating, np.ndarray)):
        return value
    return json.dumps(value, default=str)
