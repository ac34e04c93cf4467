"""Results kept in memory: what a sweep without a store fills, and the shape every result has in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.sweeps import provenance
from linnet.sweeps._task import UNFINISHED, BlockResult, CellFailure, Values, fill_value
from linnet.sweeps.configuration import Sweep
from linnet.sweeps.errors import CellFunctionError
from linnet.sweeps.grid import Grid, PendingBlock

if TYPE_CHECKING:
    import xarray as xr

STATUS = "cell_status"
STATUS_ATTRIBUTES: Mapping[str, Any] = {
    "long_name": "state of the cell",
    "flag_values": [0, 1, 2],
    "flag_meanings": "not_computed done failed",
}


@dataclass(frozen=True)
class Variable:
    """One recorded variable over the whole grid: its own dimensions, their lengths, and its type."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, name: str, values: Values) -> Variable:
        """The variable one block's values belong to."""
        return cls(name, values.dims, values.data.shape[1:], values.data.dtype.name)


def variables_of(outcome: BlockResult, sweep: Sweep, grid: Grid) -> dict[str, Variable]:
    """The variables of a sweep, as its first block with a result shows them."""
    variables = {name: Variable.of(name, values) for name, values in outcome.values.items()}
    lengths = {name: len(labels) for name, labels in sweep.coords.items()}
    for variable in variables.values():
        if variable.name in grid.dims or variable.name in sweep.coords or variable.name == STATUS:
            raise CellFunctionError(f"`{sweep.function}` returns `{variable.name}`, which is the name of a coordinate.")
        for dim, length in zip(variable.dims, variable.shape):
            if dim in grid.dims or dim in variables or lengths.setdefault(dim, length) != length:
                raise CellFunctionError(
                    f"dimension `{dim}` of `{variable.name}`, of length {length}, clashes with an axis, a variable or "
                    f"another length of `{dim}`."
                )
    return variables


def check_variables(outcome: BlockResult, variables: Mapping[str, Variable], function: str) -> None:
    """Refuses a block whose variables are not those of the blocks before it."""
    for name, values in outcome.values.items():
        if name not in variables or Variable.of(name, values) != variables[name]:
            raise CellFunctionError(
                f"`{function}` returned {Variable.of(name, values)} after {variables.get(name, 'blocks without it')}: "
                f"all blocks must have the same variables, shapes and types."
            )
    if outcome.values and set(outcome.values) != set(variables):
        lost = sorted(set(variables) - set(outcome.values))
        raise CellFunctionError(f"`{function}` returned a block without `{lost[0]}`, which earlier blocks have.")


def marks_unfinished(variables: Mapping[str, Variable]) -> bool:
    """Whether a truth value of each cell says that it ended before it was done."""
    mark = variables.get(UNFINISHED)
    return mark is not None and mark.dtype == "bool" and not mark.shape


class Memory:
    """A result in memory, with the interface of a store."""

    def __init__(self, sweep: Sweep, executor: str) -> None:
        self.sweep, self.grid, self.executor = sweep, Grid.of(sweep), executor
        grid = self.grid
        self.variables: dict[str, Variable] = {}
        self.arrays: dict[str, np.ndarray] = {STATUS: np.zeros(grid.shape, dtype=np.int8)}
        self.failed: dict[int, CellFailure] = {}
        self.devices: set[str] = set()

    def pending(self) -> list[PendingBlock]:
        """What is still to compute."""
        return self.grid.jobs()

    def write(self, job: PendingBlock, outcome: BlockResult) -> None:
        """Store one block."""
        block = job.block
        if outcome.values and not self.variables:
            self.variables = variables_of(outcome, self.sweep, self.grid)
            for name, variable in self.variables.items():
                dtype = np.dtype(variable.dtype)
                self.arrays[name] = np.full((*self.grid.shape, *variable.shape), fill_value(dtype), dtype=dtype)
        check_variables(outcome, self.variables, self.sweep.function)
        for name, values in outcome.values.items():
            self.arrays[name][block.region] = values.data.reshape(*block.shape, *values.data.shape[1:])
        self.arrays[STATUS][block.region] = outcome.status.reshape(block.shape)
        numbers = self.grid.numbers(block)
        self.failed.update({int(numbers[failure.position]): failure for failure in outcome.failures})
        self.devices.add(outcome.device)

    def foreign(self) -> int:
        """The number of blocks of other code, as of a store: none here."""
        return 0

    def unfinished(self) -> int:
        """How many cells their function has marked as unfinished."""
        return int(np.count_nonzero(self.arrays[UNFINISHED])) if marks_unfinished(self.variables) else 0

    def failures(self) -> dict[int, CellFailure]:
        """The failed cells by their number in the grid."""
        return self.failed

    def dataset(self) -> xr.Dataset:
        """Everything, labeled."""
        import xarray as xr

        variables = {
            name: (self.grid.dims + (self.variables[name].dims if name in self.variables else ()), array)
            for name, array in self.arrays.items()
        }
        coords = {**self.grid.coords, **{name: np.asarray(labels) for name, labels in self.sweep.coords.items()}}
        attributes = provenance.attributes(self.sweep, executor=self.executor, devices=self.devices)
        dataset = xr.Dataset(variables, coords=coords, attrs=attributes)
        dataset[STATUS].attrs.update(STATUS_ATTRIBUTES)
        return dataset
