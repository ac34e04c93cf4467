"""Grids of runs: a store that survives, resuming, and many cores or machines."""

from linnet.sweeps._status import Status
from linnet.sweeps.configuration import Range, Sweep, load
from linnet.sweeps.errors import (
    CellFunctionError,
    ChangedError,
    ConfigurationError,
    ExecutorError,
    FailedCellsError,
    StoreError,
    SweepError,
)
from linnet.sweeps.running import keeping, open, run, status

__all__ = [
    "CellFunctionError",
    "ChangedError",
    "ConfigurationError",
    "ExecutorError",
    "FailedCellsError",
    "Range",
    "Status",
    "StoreError",
    "Sweep",
    "SweepError",
    "keeping",
    "load",
    "open",
    "run",
    "status",
]
