"""One block of cells computed, wherever that happens: the same code in this process and on a worker."""

from __future__ import annotations

import inspect
import os
import platform
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from linnet._arguments import did_you_mean, shown
from linnet._blas_threads import ONE_BLAS_THREAD
from linnet.sweeps import _names as names
from linnet.sweeps import provenance
from linnet.sweeps._blocks import DONE, FAILED, STATUS, UNFINISHED, Block, filled
from linnet.sweeps.configuration import Sweep, differences, digest
from linnet.sweeps.errors import CellFunctionError, ConfigurationError, SweepError

MAX_REASON_CHARACTERS = 2000  # letters of a failure's reason
DEFECTS = (  # a fault of the code, not of a cell
    AttributeError,
    ImportError,
    KeyError,
    NameError,
    SyntaxError,
    TypeError,
    SystemExit,
)
Columns = dict[str, tuple[tuple[str, ...], np.ndarray]]  # of each variable the names of its dimensions, and its values


@dataclass(frozen=True)
class Task:
    """What to do with every block of a sweep, the modules it may name, and the code that must do it."""

    function: str
    fixed: dict[str, Any] = field(default_factory=dict)
    record: tuple[str, ...] = ()
    dtype: str | None = None
    allowed: tuple[str, ...] | None = None
    settings: tuple[str, ...] = ()  # all texts among the axes and fixed arguments: they may name functions and files
    code: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, sweep: Sweep) -> Task:
        """The task of `sweep`, after a look whether its function is there and takes these arguments."""
        settings = tuple(names.texts([sweep.fixed, sweep.axes]))
        task = cls(sweep.function, sweep.fixed, tuple(sweep.record), sweep.dtype, sweep.allowed, settings)
        function = task.resolve()
        try:
            with suppress(ValueError):  # a callable without a signature: nothing to compare with
                inspect.signature(function).bind({}, np.zeros(0, int), **task.keywords(function))
        except TypeError as error:
            raise CellFunctionError(
                f"`{sweep.function}` cannot be called as function(points, seeds, **fixed) with fixed = "
                f"{sorted(sweep.fixed)}: {error}."
            ) from None
        return replace(task, code=provenance.code(task.function, settings))

    def resolve(self) -> Callable[..., Any]:
        """The function, imported by its name, after those that the settings name."""
        with names.allowing(self.allowed):
            for name in names.named_functions(self.settings):
                with suppress(ConfigurationError):  # what is no function is told where it is used, if it is
                    names.find(name)
            return names.find(self.function)

    def keywords(self, function: Callable[..., Any]) -> dict[str, Any]:
        """The fixed arguments, and `dtype` where the function has such a parameter."""
        try:
            wants = self.dtype is not None and "dtype" in inspect.signature(function).parameters
        except ValueError:  # a callable without a signature
            wants = False
        return {"dtype": self.dtype, **self.fixed} if wants else dict(self.fixed)

    def __call__(self, points: dict[str, np.ndarray], seeds: np.ndarray, size: int) -> Block:
        """Computes the block. If the function refuses it, halves are tried, down to the cells that fail."""
        with names.allowing(self.allowed), ONE_BLAS_THREAD, _precision(self.dtype):
            function = self.resolve()
            return self._compute(function, points, seeds, size)

    def on_worker(self, attempt: int, points: dict[str, np.ndarray], seeds: np.ndarray, size: int) -> Block:
        """Computes the block in another process, if its code is the same as in the process that asks.

        The number of the attempt makes each one a separate call for executors that remember results.
        """
        if "jax" not in sys.modules:
            os.environ.setdefault("NPROC", "1")  # XLA reads it when it starts: one thread for a worker
        self.resolve()
        if changes := differences(self.code, _code_here(self.function, self.settings)):
            raise SweepError(
                f"the code of a worker on {platform.node()} differs from the code of this process: {changes}."
            )
        return self(points, seeds, size)

    def _compute(
        self, function: Callable[..., Any], points: dict[str, np.ndarray], seeds: np.ndarray, size: int
    ) -> Block:
        """Call the function on the block, and on its halves where it raises an exception."""
        keywords = self.keywords(function)
        parts: list[tuple[int, int, Columns]] = []
        failures: dict[int, str] = {}
        queue = [(0, size)]
        while queue:
            first, last = queue.pop()
            index = np.minimum(first + np.arange(len(seeds)), last - 1)  # as long as a full block
            try:
                raw = function({name: values[index] for name, values in points.items()}, seeds[index], **keywords)
            except (SweepError, ConfigurationError):
                raise
            except DEFECTS as error:
                raise CellFunctionError(
                    f"`{self.function}` raised {type(error).__name__}: {error}. That is a fault of the function rather "
                    f"than of a cell; put it right and resume."
                ) from error
            except Exception as error:
                if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):  # every part is as long
                    raise CellFunctionError(
                        f"`{self.function}` ran out of memory on a block of {len(seeds)} cells: {error}. "
                        f"Give the sweep a smaller `block`."
                    ) from error
                if last - first == 1:
                    failures[first] = f"{type(error).__name__}: {error}"[:MAX_REASON_CHARACTERS]
                else:
                    middle = (first + last) // 2
                    queue += [(middle, last), (first, middle)]
                continue
            parts.append((first, last, self.check_result(raw, len(seeds))))
            for position, reason in self.reported_failures(raw, len(seeds)).items():
                if position < last - first:
                    failures[first + position] = str(reason)[:MAX_REASON_CHARACTERS]
        failures = dict(sorted(failures.items()))
        return _join_parts(parts, failures, size, code=(digest(self.code),), devices=(_device(self.dtype),))

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

    def check_result(self, raw: object, padded: int) -> Columns:
        """Return what the function gave as named arrays, or raise an error that says what is wrong."""
        if not isinstance(raw, dict) or not raw:
            raise CellFunctionError(f"`{self.function}` must return a dict of arrays: got {type(raw).__name__}.")
        if missing := [name for name in self.record if name not in raw]:
            known = [str(name) for name in raw]
            raise CellFunctionError(
                f"`{self.function}` does not return `{missing[0]}`, which `record` asks "
                f"for{did_you_mean(missing[0], known)} It returns {', '.join(known)}."
            )
        wanted = self.record or tuple(name for name in raw if name != "failures")
        if UNFINISHED in raw and UNFINISHED not in wanted:  # kept whatever is recorded: results are read by it
            wanted += (UNFINISHED,)
        checked: Columns = {}
        for name in wanted:
            dims, value = raw[name] if isinstance(raw[name], tuple) else (None, raw[name])
            data = np.asarray(value)
            data = data.astype(data.dtype.newbyteorder("="), copy=False)
            own = tuple(f"{name}_{axis}" for axis in range(1, data.ndim)) if dims is None else tuple(dims)
            wrong = ""
            if not isinstance(name, str) or not name.isidentifier():
                wrong = "variables must have Python names"
            elif name == STATUS:
                wrong = "that is the name of the state of each cell"
            elif np.ma.isMaskedArray(value) and np.ma.getmaskarray(value).any():
                wrong = (
                    "it is a masked array, whose mask a store does not keep. Return NaN for what is missing, or the "
                    "mask as a variable of its own"
                )
            elif data.dtype.kind not in "fiubc":
                wrong = f"it must be numbers: got {data.dtype}"
            elif data.shape[:1] != (padded,):
                wrong = f"it must have one entry per cell in front: got shape {data.shape} for {padded} cells"
            elif len(own) != data.ndim - 1:
                wrong = f"it names the further dimensions {own} for shape {data.shape}"
            if wrong:
                raise CellFunctionError(f"`{self.function}` returns {name!r}: {wrong}.")
            checked[name] = own, data
        return checked


def _join_parts(
    parts: list[tuple[int, int, Columns]], failures: dict[int, str], size: int, **origin: tuple[str, ...]
) -> Block:
    """Put the results of the parts of a block together; failed cells get fill values."""
    kinds = [{name: (own, data.dtype, data.shape[1:]) for name, (own, data) in part.items()} for _, _, part in parts]
    if any(kind != kinds[0] for kind in kinds):
        raise CellFunctionError(f"all cells must have the same variables, shapes and types: got {kinds}.")
    fields = kinds[0] if len(failures) < size else {}
    cells = filled(size, np.dtype([(STATUS, np.int8), *((name, *kind[1:]) for name, kind in fields.items())]))
    good = np.setdiff1d(np.arange(size), list(failures))
    for first, last, columns in parts:
        own = good[(first <= good) & (good < last)]
        for name in fields:
            cells[name][own] = columns[name][1][own - first]
    cells[STATUS] = DONE
    cells[STATUS][list(failures)] = FAILED
    return Block(cells, {name: kind[0] for name, kind in fields.items()}, failures, **origin)


def _precision(dtype: str | None) -> Any:
    """Return the context of a precision; one that does nothing where none is asked for."""
    # Set here, inside the task: what a parent process sets does not reach its workers.
    if dtype is None:
        return nullcontext()
    from linnet.precision import computing

    return computing(dtype)


@cache
def _device(dtype: str | None) -> str:
    """What computes here. It does not depend on what else this process has done."""
    return platform.machine() if dtype is None else provenance.device()


@cache
def _code_here(function: str, settings: tuple[str, ...]) -> dict[str, str]:
    """The code of this process, read once: modules that are imported stay as they are."""
    return provenance.code(function, settings)
