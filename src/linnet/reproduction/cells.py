"""Cell functions of sweeps that train their cells one after the other: written for one cell, called with a block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Points = dict[str, np.ndarray]  # the values of each axis, one for each cell of a block
Block = dict[str, Any]  # what was measured in a block, by name: arrays, or pairs of their further dimensions and them


def cell_by_cell(dims: Mapping[str, tuple[str, ...]] | None = None) -> Callable[[Callable[..., Block]], Any]:
    """Turn a function of one cell into the function of a block that a `Sweep` calls.

    **Arguments:**

    - `dims`: the dimensions of what is measured in one cell, by name; what is not named is a number

    **Returns** a decorator. The decorated function takes the cell's `key`, its values of the axes and the fixed
    parameters by keyword, and returns numbers and arrays by name.

    **Example:**

        >>> import numpy as np
        >>> from linnet.reproduction.cells import cell_by_cell
        >>> @cell_by_cell({"powers": ("power",)})
        ... def powers(key, *, base, most):
        ...     return {"powers": [base**power for power in range(most)], "key": key}
        >>> block = powers({"base": np.array([2, 3])}, np.array([7, 8]), most=3)
        >>> block["powers"][0], block["powers"][1].tolist(), block["key"][1].tolist()
        (('power',), [[1, 2, 4], [1, 3, 9]], [7, 8])
    """

    def of_block(cell: Callable[..., Block]) -> Any:
        """Return the function of a block that calls `cell` for each of its cells."""

        def block(points: Points, seeds: np.ndarray, **fixed: object) -> Block:
            columns = {name: values.tolist() for name, values in points.items()}
            rows = [
                cell(key=key, **{name: values[at] for name, values in columns.items()}, **fixed)
                for at, key in enumerate(np.asarray(seeds).tolist())
            ]
            return {name: ((dims or {}).get(name, ()), np.array([row[name] for row in rows])) for name in rows[0]}

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(block, name, getattr(cell, name))
        return block

    return of_block


def one_of_each(points: Points, *axes: str) -> tuple[Any, ...]:
    """Return the value of each axis in a block that trains its cells together; refuse a block that has several."""
    for axis in axes:
        if (points[axis] != points[axis][0]).any():
            raise ValueError(f"`{axis}` must be one for all cells of a block.")
    return tuple(points[axis][0].item() for axis in axes)
