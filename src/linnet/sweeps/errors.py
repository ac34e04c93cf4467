"""Errors of a sweep, by kind: each message says what was required, what was found and what to do."""

from __future__ import annotations


class ConfigurationError(ValueError):
    """Raised if the description of a sweep is not valid, or names a function that does not exist or is not allowed.

    **Example:**

        >>> from linnet.sweeps import ConfigurationError, Sweep, run
        >>> try:
        ...     run(Sweep(name="mine", function="math:no_such_function", axes={"width": [1, 2]}))
        ... except ConfigurationError:
        ...     print("there is no such function")
        there is no such function
    """


class SweepError(RuntimeError):
    """Base of everything that stops a sweep under way; cells finished before it are intact.

    **Example:**

        >>> from linnet.sweeps import SweepError
        >>> issubclass(SweepError, RuntimeError)
        True
    """


class CellFunctionError(SweepError):
    """Raised if the cell function cannot be called, or does not return a block of cells.

    **Example:**

        >>> from linnet.sweeps import CellFunctionError, Sweep, run
        >>> try:
        ...     run(Sweep(name="mine", function="math:sqrt", axes={"width": [1, 2]}))
        ... except CellFunctionError:
        ...     print("it does not take points and seeds")
        it does not take points and seeds
    """


class FailedCellsError(SweepError):
    """The sweep went through, but some cells failed; the others are finished and kept.

    **Example:**

        >>> from linnet.sweeps import FailedCellsError, SweepError
        >>> issubclass(FailedCellsError, SweepError)
        True
    """


class StoreError(SweepError):
    """The store cannot be used: it is something else, of another version, damaged, full, or not writable.

    **Example:**

        >>> from linnet.sweeps import StoreError
        >>> import tempfile
        >>> from pathlib import Path
        >>> from linnet.sweeps import Sweep, run
        >>> sweep = Sweep(name="mine", function="linnet.sweeps.cells:train", axes={"width": [10, 20]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = (Path(folder) / "thesis.txt").write_text("not a store")
        ...     try:
        ...         run(sweep, folder)
        ...     except StoreError:
        ...         print("a folder with other files is left alone")
        a folder with other files is left alone
    """


class ChangedError(StoreError):
    """The store was begun with another configuration, or by other code.

    **Example:**

        >>> from linnet.sweeps import ChangedError, SweepError
        >>> issubclass(ChangedError, SweepError)
        True
    """


class ExecutorError(SweepError):
    """The workers cannot be started or reached, or were lost for good.

    **Example:**

        >>> from linnet.sweeps import ExecutorError, SweepError
        >>> issubclass(ExecutorError, SweepError)
        True
    """
