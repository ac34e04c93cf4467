"""Grids of runs: a store that survives, resuming, and many cores or machines."""

from linnet.sweeps.configuration import Range, Sweep, load
from linnet.sweeps.errors import (
    CellFunctionError,
    ChangedError,
    ConfigurationError,
    ExecutorError,
    FailedCellsError,
    LockedError,
    StoreError,
    SweepError,
)
from linnet.sweeps.running import Report, complete, keeping, run

__all__ = [
    "CellFunctionError",
    "ChangedError",
    "ConfigurationError",
    "ExecutorError",
    "FailedCellsError",
    "LockedError",
    "Range",
    "Report",
    "StoreError",
    "Sweep",
    "SweepError",
    "complete",
    "keeping",
    "load",
    "run",
]
