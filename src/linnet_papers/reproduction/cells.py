"""Cell functions of sweeps that train their cells one after the other: written for one cell, called with a block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Points = dict[str, np.ndarray]  # the values of each axis, one for each cell of a block
Block = dict[str, Any]  # what was measured in a block, by name: arrays, or pairs of their further dimensions and them


def cell_by_cell(cell: Callable[..., Block]) -> Any:
    """Turn a function of one cell into the function of a block that a `Sweep` calls.

    The decorated function takes the cell's `key`, its values of the axes and the fixed parameters by keyword, and
    returns by name numbers, or pairs of the dimensions of an array and the array. A cell that is repeated to fill up
    its block is computed once.

    **Example:**

        >>> import numpy as np
        >>> from linnet_papers.reproduction.cells import cell_by_cell
        >>> @cell_by_cell
        ... def powers(key, *, base, most):
        ...     return {"powers": ("power", [base**power for power in range(most)]), "key": key}
        >>> block = powers({"base": np.array([2, 3])}, np.array([7, 8]), most=3)
        >>> block["powers"][0], block["powers"][1].tolist(), block["key"][1].tolist()
        (('power',), [[1, 2, 4], [1, 3, 9]], [7, 8])
    """

    def block(points: Points, seeds: np.ndarray, **fixed: object) -> Block:
        columns = {"key": np.asarray(seeds).tolist(), **{name: values.tolist() for name, values in points.items()}}
        cells = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        rows: list[Block] = []
        for at, own in enumerate(cells):
            rows.append(rows[-1] if at and own == cells[at - 1] else cell(**own, **fixed))
        pairs = [
            {name: value if isinstance(value, tuple) else ((), value) for name, value in row.items()} for row in rows
        ]
        return {
            name: (_as_tuple(dims), np.array([row[name][1] for row in pairs])) for name, (dims, _) in pairs[0].items()
        }

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(block, name, getattr(cell, name))
    return block


def _as_tuple(dims: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of dimensions, of one too, as a tuple."""
    return (dims,) if isinstance(dims, str) else dims


def one_of_each(points: Points, *axes: str) -> tuple[Any, ...]:
    """Return the value of each axis in a block that trains its cells together; refuse a block that has several."""
    for axis in axes:
        if (points[axis] != points[axis][0]).any():
            raise ValueError(f"`{axis}` must be one for all cells of a block.")
    return tuple(points[axis][0].item() for axis in axes)
