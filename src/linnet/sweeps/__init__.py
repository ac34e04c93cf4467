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
from linnet.sweeps.running import keeping, run

__all__ = [
    "CellFunctionError",
    "ChangedError",
    "ConfigurationError",
    "ExecutorError",
    "FailedCellsError",
    "LockedError",
    "Range",
    "StoreError",
    "Sweep",
    "SweepError",
    "keeping",
    "load",
    "run",
]
