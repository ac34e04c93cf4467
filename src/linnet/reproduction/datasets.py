"""Datasets of figures and tables: variables with their names in words, and cells one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr
    from xarray import DataArray, Dataset
else:
    DataArray = Dataset = Any  # types for annotations alone: xarray is loaded where a dataset is made


Described = dict[str, tuple[Any, ...]]  # by name: dimensions, values, what it is in words, and its units if any


def labelled(
    variables: Mapping[str, tuple[Any, ...]],
    coords: Mapping[str, tuple[Any, ...]] | None = None,
    attrs: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Return a dataset whose variables and coordinates say what they are.

    **Arguments:**

    - `variables`, `coords`: for each name its dimensions, its values, what it is in words, and its units if any
    - `attrs`: numbers and texts of the whole dataset

    **Example:**

        >>> from linnet.reproduction.datasets import labelled
        >>> loss = {"loss": ("time", [2.0, 1.0], "training loss")}
        >>> labelled(loss, {"time": ("time", [0.0, 0.5], "time t", "canonical")})["time"].attrs
        {'long_name': 'time t', 'units': 'canonical'}
    """
    import xarray as xr

    described, axes = (
        {name: (dims, values, words_of(*words)) for name, (dims, values, *words) in group.items()}
        for group in (variables, coords or {})
    )
    return xr.Dataset(described, axes, dict(attrs or {}))


def words_of(text: str, units: str = "") -> dict[str, str]:
    """Return the attributes of a variable: what it is in words, and its units if any."""
    return {"long_name": text, **({"units": units} if units else {})}


def cells_of(results: xr.Dataset, *axes: str) -> Iterator[xr.Dataset]:
    """Yield the part of the results at each combination of values of the axes, the last axis fastest.

    **Example:**

        >>> import xarray as xr
        >>> from linnet.reproduction.datasets import cells_of
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
        >>> from linnet.reproduction.datasets import scalars
        >>> results = xr.Dataset({"loss": ("dim", [0.5, 0.25])}, {"dim": [10, 20]})
        >>> scalars(results.sel(dim=20))
        {'loss': 0.25, 'dim': 20}
    """
    return {str(name): array.item() for name, array in cell.variables.items() if array.ndim == 0}
