"""Datasets of figures and tables: variables with their names in words, cells one by one, entries by label."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr
    from xarray import DataArray, Dataset
else:
    DataArray = Dataset = Any  # types for annotations alone: xarray is loaded where a dataset is made


Numbers = Mapping[str, Any]  # what was measured of one case, by name
Described = dict[str, tuple[Any, ...]]  # by name: dimensions, values, what it is in words, and its units if any


def labeled(
    variables: Mapping[str, tuple[Any, ...]],
    coords: Mapping[str, tuple[Any, ...]] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Return a dataset whose variables and coordinates say what they are.

    **Arguments:**

    - `variables`, `coords`: for each name its dimensions, its values, what it is in words, and its units if any
    - `attrs`: numbers and texts of the whole dataset

    **Example:**

        >>> from linnet_papers.reproduction.datasets import labeled
        >>> loss = {"loss": ("time", [2.0, 1.0], "training loss")}
        >>> labeled(loss, {"time": ("time", [0.0, 0.5], "time t", "canonical")})["time"].attrs
        {'long_name': 'time t', 'units': 'canonical'}
    """
    import xarray as xr

    described, axes = (
        {name: (dims, values, variable_attributes(*words)) for name, (dims, values, *words) in group.items()}
        for group in (variables, coords or {})
    )
    return xr.Dataset(described, axes, dict(attrs or {}))


def variable_attributes(text: str, units: str = "") -> dict[str, str]:
    """Return the attributes of a variable: what it is in words, and its units if any."""
    return {"long_name": text, **({"units": units} if units else {})}


def cells_of(results: xr.Dataset, *axes: str) -> Iterator[xr.Dataset]:
    """Yield the part of the results at each combination of values of the axes, the last axis fastest.

    **Example:**

        >>> import xarray as xr
        >>> from linnet_papers.reproduction.datasets import cells_of
        >>> results = xr.Dataset({"loss": (("dim", "seed"), [[1, 2], [3, 4]])}, {"dim": [10, 20], "seed": [0, 1]})
        >>> [int(cell["loss"].sum()) for cell in cells_of(results, "dim")]
        [3, 7]
    """
    for values in product(*(results[axis].values for axis in axes)):
        yield results.sel(dict(zip(axes, values, strict=True)))


def scalars(cell: xr.Dataset) -> dict[str, Any]:
    """Return what one cell holds of single numbers and texts, by name: its place on the axes, and what was measured.

    **Example:**

        >>> import xarray as xr
        >>> from linnet_papers.reproduction.datasets import scalars
        >>> results = xr.Dataset({"loss": ("dim", [0.5, 0.25])}, {"dim": [10, 20]})
        >>> scalars(results.sel(dim=20))
        {'loss': 0.25, 'dim': 20}
    """
    return {str(name): array.values.item() for name, array in cell.variables.items() if array.ndim == 0}


def read_cells(
    results: xr.Dataset,
    axes: tuple[str, ...],
    read: Callable[[xr.Dataset], Numbers],
    **further: tuple[str, ...],
) -> xr.Dataset:
    """Return what `read` returns of each cell as one dataset over the axes.

    **Arguments:**

    - `results`: what was trained
    - `axes`: whose combinations of values are the cells
    - `read`: from the part of the results at one cell to numbers and arrays by name
    - `further`: the dimensions of arrays, by their names

    **Example:**

        >>> import xarray as xr
        >>> from linnet_papers.reproduction.datasets import read_cells
        >>> results = xr.Dataset({"loss": (("dim", "seed"), [[1, 2], [3, 4]])}, {"dim": [10, 20]})
        >>> read_cells(results, ("dim",), lambda cell: {"mean": cell["loss"].mean()})["mean"].values.tolist()
        [1.5, 3.5]
    """
    import xarray as xr

    rows = [read(cell) for cell in cells_of(results, *axes)]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    sizes = [results.sizes[axis] for axis in axes]
    variables = {
        name: ((*axes, *further.get(name, ())), column.reshape(*sizes, *column.shape[1:]))
        for name, column in columns.items()
    }
    return xr.Dataset(variables, {axis: results[axis].values for axis in axes})


def by_label(array: xr.DataArray, label: str) -> dict[str, float]:
    """Return the entries of an array by labels, which are made of its coordinates.

    **Example:**

        >>> import xarray as xr
        >>> from linnet_papers.reproduction.datasets import by_label
        >>> rates = xr.DataArray([0.5, 0.25], {"dim": [10, 20]})
        >>> by_label(rates, "d = {dim}")
        {'d = 10': 0.5, 'd = 20': 0.25}
    """
    axes = [str(axis) for axis in array.dims]
    places = product(*(array[axis].values.tolist() for axis in axes))
    labels = [label.format(**dict(zip(axes, place, strict=True))) for place in places]
    return dict(zip(labels, array.values.ravel().tolist(), strict=True))


def fixed_of(results: xr.Dataset) -> dict[str, Any]:
    """Return the fixed parameters of the sweep that left these results."""
    return json.loads(results.attrs["configuration"])["fixed"]


def by_name(rows: Mapping[Any, Numbers] | Iterable[Numbers]) -> dict[str, Any]:
    """Return what was measured in every case by its name: a list of the cases, or by their labels where they have any.

    **Arguments:**

    - `rows`: what was measured in each case, by the names of the numbers

    **Returns** a list, or a dictionary by label, for each name.

    **Example:**

        >>> from linnet_papers.reproduction.datasets import by_name
        >>> by_name({"d = 2": {"rate": 0.1, "paths": 10}, "d = 3": {"rate": 0.2, "paths": 20}})["rate"]
        {'d = 2': 0.1, 'd = 3': 0.2}
        >>> by_name([{"rate": 0.1}, {"rate": 0.2}])
        {'rate': [0.1, 0.2]}
    """
    if isinstance(rows, Mapping):
        columns = by_name(rows.values())
        return {name: dict(zip(rows, column, strict=True)) for name, column in columns.items()}
    listed = list(rows)
    return {name: [row[name] for row in listed] for name in listed[0]}
