"""One block of cells computed, wherever that happens: the same code in this process and on a worker."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linnet._arguments import did_you_mean, shown
from linnet.sweeps import provenance
from linnet.sweeps.configuration import Sweep
from linnet.sweeps.errors import CellFunctionError
from linnet.sweeps.grid import CellArguments

DONE, FAILED = 1, 2  # values of `cell_status`; 0 is a cell not computed yet
UNFINISHED = "unfinished"  # the variable by which a cell function marks cells that ended before they were done
MAX_REASON_CHARACTERS = 2000  # letters of a failure's reason
DEFECTS = (
    AttributeError,
    ImportError,
    KeyError,
    NameError,
    SyntaxError,
    TypeError,
)  # a fault of the code, not of a cell


@dataclass(frozen=True)
class CellFailure:
    """Why one cell has no result. `position` counts within its block."""

    position: int
    kind: str
    message: str


@dataclass(frozen=True)
class Values:
    """One variable of one block: cells in front, then its own dimensions."""

    dims: tuple[str, ...]
    data: np.ndarray


@dataclass(frozen=True)
class BlockResult:
    """What a block gave, and where. Failed cells hold fill values; `values` is empty when every cell failed."""

    values: dict[str, Values]
    status: np.ndarray
    failures: list[CellFailure]
    seconds: float
    device: str


@dataclass(frozen=True)
class Task:
    """What to do with every block of a sweep."""

    function: str
    fixed: dict[str, Any] = field(default_factory=dict)
    record: tuple[str, ...] = ()
    dtype: str | None = None

    @classmethod
    def of(cls, sweep: Sweep) -> Task:
        """The task of `sweep`, after a look whether its function is there and takes these arguments."""
        task = cls(sweep.function, sweep.fixed, tuple(sweep.record), sweep.dtype)
        function = task.resolve()
        try:
            with contextlib.suppress(ValueError):  # a callable without a signature: nothing to compare with
                inspect.signature(function).bind({}, np.zeros(0, int), **task.keywords(function))
        except TypeError as error:
            raise CellFunctionError(
                f"`{sweep.function}` cannot be called as function(points, seeds, **fixed) with fixed = "
                f"{sorted(sweep.fixed)}: {error}."
            ) from None
        return task

    def resolve(self) -> Callable[..., Any]:
        """The function, imported by its name."""
        module, _, name = self.function.partition(":")
        try:
            target: Any = importlib.import_module(module)
        except (Exception, SystemExit) as error:  # a module may raise anything
            raise CellFunctionError(
                f"cannot import the module of `{self.function}`: {type(error).__name__}: {error}. It must be on the "
                "Python path here and on every worker."
            ) from error
        for part in name.split("."):
            target = getattr(target, part, None)
        if not callable(target):
            raise CellFunctionError(f"module `{module}` has no function `{name}`.")
        return target

    def keywords(self, function: Callable[..., Any]) -> dict[str, Any]:
        """The fixed arguments, and `dtype` where the function has such a parameter."""
        try:
            wants = self.dtype is not None and "dtype" in inspect.signature(function).parameters
        except ValueError:  # a callable without a signature
            wants = False
        return {"dtype": self.dtype, **self.fixed} if wants else dict(self.fixed)

    def __call__(self, cells: CellArguments) -> BlockResult:
        """Computes the block. If the function refuses it, halves are tried, down to the cells that are to blame."""
        began = time.perf_counter()
        function = self.resolve()
        keywords = self.keywords(function)
        parts: list[tuple[int, int, dict[str, Values]]] = []
        failures: list[CellFailure] = []
        queue = [(0, cells.size)]
        while queue:
            first, last = queue.pop()
            try:
                with _precision(self.dtype):
                    raw = function(*_part_of_block(cells, first, last), **keywords)
            except (*DEFECTS, SystemExit) as error:
                raise CellFunctionError(
                    f"`{self.function}` raised {type(error).__name__}: {error}. That is a fault of the function rather "
                    f"than of a cell; put it right and resume."
                ) from error
            except Exception as error:
                if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):  # every part is as long
                    raise CellFunctionError(
                        f"`{self.function}` ran out of memory on a block of {len(cells.seeds)} cells: {error}. "
                        f"Give the sweep a smaller `block`."
                    ) from error
                if last - first == 1:
                    failures.append(CellFailure(first, type(error).__name__, str(error)[:MAX_REASON_CHARACTERS]))
                else:
                    middle = (first + last) // 2
                    queue += [(middle, last), (first, middle)]
                continue
            parts.append((first, last, self.check_result(raw, len(cells.seeds), last - first)))
            for position, reason in self.reported_failures(raw, len(cells.seeds)).items():
                if position < last - first:
                    failures.append(CellFailure(first + position, "reported", str(reason)[:MAX_REASON_CHARACTERS]))
        failed = sorted(failure.position for failure in failures)
        status = np.full(cells.size, DONE, dtype=np.int8)
        status[failed] = FAILED
        values = _join_parts(parts, failed, cells.size)
        return BlockResult(values, status, failures, time.perf_counter() - began, provenance.device())

    def reported_failures(self, raw: dict[str, Any], padded: int) -> dict[int, Any]:
        """The failures that the function reports, by the position of their cells in the call."""
        reasons = raw.get("failures", {})
        whole = isinstance(reasons, Mapping) and all(isinstance(key, (int, np.integer)) for key in reasons)
        if not whole or any(not 0 <= key < padded for key in reasons):
            raise CellFunctionError(
                f"`failures` of `{self.function}` must map positions of cells, from 0 to {padded - 1}, to reasons, "
                f"such as {{0: 'diverged'}}: got {shown(reasons)}."
            )
        return {int(position): reason for position, reason in reasons.items()}

    def check_result(self, raw: object, padded: int, size: int) -> dict[str, Values]:
        """Return what the function gave as named arrays of the block's own cells, or raise an error that says what is
        wrong."""
        if not isinstance(raw, dict) or not raw:
            raise CellFunctionError(f"`{self.function}` must return a dict of arrays: got {type(raw).__name__}.")
        missing = [name for name in self.record if name not in raw]
        if missing:
            known = [str(name) for name in raw]
            raise CellFunctionError(
                f"`{self.function}` does not return `{missing[0]}`, which `record` asks "
                f"for{did_you_mean(missing[0], known)} It returns {', '.join(known)}."
            )
        checked: dict[str, Values] = {}
        wanted = self.record or tuple(name for name in raw if name != "failures")
        if UNFINISHED in raw and UNFINISHED not in wanted:  # kept whatever is recorded: results are read by it
            wanted += (UNFINISHED,)
        for name in wanted:
            dims, value = raw[name] if isinstance(raw[name], tuple) else (None, raw[name])
            if not isinstance(name, str) or not name.isidentifier():
                raise CellFunctionError(f"`{self.function}` returns {name!r}: variables must have Python names.")
            if np.ma.isMaskedArray(value) and np.ma.getmaskarray(value).any():
                raise CellFunctionError(
                    f"the cell function returned {name!r} as a masked array, whose mask a store does not keep. Return "
                    "NaN for what is missing, or the mask as a variable of its own."
                )
            data = np.asarray(value)
            if data.dtype.kind not in "fiubc":
                raise CellFunctionError(f"`{name}` of `{self.function}` must be numbers: got {data.dtype}.")
            if data.ndim == 0 or len(data) != padded:
                raise CellFunctionError(
                    f"`{name}` of `{self.function}` must have one entry per cell in front: got shape {data.shape} "
                    f"for {padded} cells."
                )
            names = tuple(f"{name}_{axis}" for axis in range(1, data.ndim)) if dims is None else tuple(dims)
            if len(names) != data.ndim - 1:
                raise CellFunctionError(
                    f"`{name}` of `{self.function}` names the further dimensions {names} for shape {data.shape}."
                )
            checked[name] = Values(names, data[:size])
        return checked


def fill_value(dtype: np.dtype) -> Any:
    """What stands where there is no result: NaN where the type has it, else zero; `cell_status` tells them apart."""
    return dtype.type(np.nan) if dtype.kind in "fc" else dtype.type(0)


def _part_of_block(cells: CellArguments, first: int, last: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the arguments of a part of the cells, its last one repeated up to a full block."""
    index = np.minimum(first + np.arange(len(cells.seeds)), last - 1)
    return {name: values[index] for name, values in cells.points.items()}, cells.seeds[index]


def _join_parts(parts: list[tuple[int, int, dict[str, Values]]], failed: list[int], size: int) -> dict[str, Values]:
    """Put the results of the parts of a block together; failed cells get fill values."""
    if len(parts) == 1 and not failed:
        return parts[0][2]
    joined: dict[str, Values] = {}
    for first, last, values in parts:
        for name, part in values.items():
            if name not in joined:
                empty = np.full((size, *part.data.shape[1:]), fill_value(part.data.dtype), dtype=part.data.dtype)
                joined[name] = Values(part.dims, empty)
            if part.data.shape[1:] != joined[name].data.shape[1:]:
                raise CellFunctionError(
                    f"`{name}` must have one shape for all cells: got {part.data.shape[1:]} and "
                    f"{joined[name].data.shape[1:]}."
                )
            joined[name].data[first:last] = part.data
    for part in joined.values():
        part.data[failed] = fill_value(part.data.dtype)
    return joined


def _precision(dtype: str | None) -> contextlib.AbstractContextManager[Any]:
    """Return the context of a precision; one that does nothing where none is asked for."""
    # Set here, inside the task: what a parent process sets does not reach its workers.
    if dtype is None:
        return contextlib.nullcontext()
    from linnet.precision import computing

    return computing(dtype)
