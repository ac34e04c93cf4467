"""A dataset as a file: tidy CSV, or netCDF."""

from __future__ import annotations

import csv
from collections.abc import Hashable
from io import StringIO
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

MAX_ROWS = 500_000  # of a CSV file: some twenty megabytes


def as_csv(data: xr.Dataset) -> str:
    """Write one row for each number: the variable, its coordinates (empty where it has none), the value."""
    rows = sum(int(variable.size) for variable in data.data_vars.values())
    if rows > MAX_ROWS:
        raise ValueError(f"This would be a table of {rows} rows: take the netCDF file.")
    dims = list(data.dims)
    held = StringIO()
    writer = csv.writer(held, lineterminator="\n")
    writer.writerow(["variable", *map(str, dims), "value"])
    along = {dim: (data[dim].values if dim in data.coords else np.arange(data.sizes[dim])) for dim in dims}
    for name, variable in data.data_vars.items():
        axes = [along[dim] if dim in variable.dims else [""] for dim in dims]
        values = variable.transpose(*[dim for dim in dims if dim in variable.dims]).values
        for place, value in zip(product(*axes), np.asarray(values).ravel(), strict=True):
            writer.writerow([str(name), *map(_cell_text, place), _cell_text(value)])
    return held.getvalue()


def as_netcdf(data: xr.Dataset) -> bytes:
    """Write the dataset as netCDF 3, which SciPy writes and everything reads; `data`, which is kept, stays as it is."""
    plain = data.copy()
    plain.attrs = {str(name): _netcdf_attribute(value) for name, value in data.attrs.items()}
    names: list[Hashable] = [*plain.data_vars, *plain.coords]
    for name in names:
        plain[name].attrs = {str(key): _netcdf_attribute(value) for key, value in plain[name].attrs.items()}
        if plain[name].dtype.kind in "iu":  # the format has no 64-bit integers
            plain[name] = plain[name].astype(np.float64)
    return bytes(plain.to_netcdf(engine="scipy"))


def _cell_text(value: object) -> str:
    """Return the text of a value in a cell, all digits of a number included."""
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _netcdf_attribute(value: object) -> str | int | float | np.ndarray:
    """Return an attribute as netCDF can hold it: what is neither text, number nor array as its text."""
    return value if isinstance(value, (str, int, float, np.ndarray)) and not isinstance(value, bool) else str(value)
