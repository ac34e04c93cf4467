"""What can go wrong with a sweep, by kind: each message says what was required, what was found and what to do."""

from __future__ import annotations


class ConfigurationError(ValueError):
    """The description of a sweep is not valid."""


class SweepError(RuntimeError):
    """Base of everything that stops a sweep under way; cells finished before it are intact."""


class CellFunctionError(SweepError):
    """The cell function is at fault: it cannot be called, or what it returned is not a block of cells."""


class FailedCellsError(SweepError):
    """The sweep went through, but some cells failed; the others are finished and kept."""


class StoreError(SweepError):
    """The store cannot be used: foreign, damaged, newer, full, or not writable."""


class LockedError(StoreError):
    """Another process works on this store."""


class ChangedError(StoreError):
    """The store was made by a different configuration."""


class ExecutorError(SweepError):
    """The workers or their scheduler cannot be reached or were lost."""
