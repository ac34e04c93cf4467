"""What can go wrong with a sweep, by kind: each message says what was required, what was found and what to do."""

from __future__ import annotations


class ConfigurationError(ValueError):
    """The description of a sweep is not valid.

    **Example:**

        >>> from linnet.sweeps import Sweep
        >>> try:
        ...     Sweep(name="mine", function="linnet.sweeps.cells:train", axes={"width": []}).grid
        ... except ValueError:
        ...     print("an axis needs values")
        an axis needs values
    """


class SweepError(RuntimeError):
    """Base of everything that stops a sweep under way; cells finished before it are intact.

    **Example:**

        >>> from linnet.sweeps import SweepError
        >>> issubclass(SweepError, Exception)
        True
    """


class CellFunctionError(SweepError):
    """The cell function is at fault: it cannot be called, or what it returned is not a block of cells.

    **Example:**

        >>> from linnet.sweeps import CellFunctionError
        >>> from linnet.sweeps import Sweep, run
        >>> try:
        ...     run(Sweep(name="mine", function="math:no_such_function", axes={"width": [1, 2]}))
        ... except CellFunctionError:
        ...     print("there is no such function")
        there is no such function
    """


class FailedCellsError(SweepError):
    """The sweep went through, but some cells failed; the others are finished and kept.

    **Example:**

        >>> from linnet.sweeps import FailedCellsError, SweepError
        >>> issubclass(FailedCellsError, SweepError)
        True
    """


class StoreError(SweepError):
    """The store cannot be used: foreign, damaged, newer, full, or not writable.

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


class LockedError(StoreError):
    """Another process works on this store.

    **Example:**

        >>> from linnet.sweeps import LockedError, SweepError
        >>> issubclass(LockedError, SweepError)
        True
    """


class ChangedError(StoreError):
    """The store was made by a different configuration.

    **Example:**

        >>> from linnet.sweeps import ChangedError, SweepError
        >>> issubclass(ChangedError, SweepError)
        True
    """


class ExecutorError(SweepError):
    """The workers or their scheduler cannot be reached or were lost.

    **Example:**

        >>> from linnet.sweeps import ExecutorError, SweepError
        >>> issubclass(ExecutorError, SweepError)
        True
    """
