"""Deliberate errors: what a mutation of a claim is, and the ways to make one.

The table of a paper's mutations is `MUTATIONS` in `tests/papers/<name>/mutations.py`; `tests/papers/test_mutations.py`
makes each of them. All functions here return an error that is made by being called with a `MonkeyPatch`.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from linnet_papers.reproduction import Table, Trial

Error = Callable[[pytest.MonkeyPatch], None]


class Mutation(NamedTuple):
    """An error and the claim whose verdict it turns.

    `quick` ones are made in every run of the tests, the others by `make test-claims`. One that `retrains` changes what
    is trained or recorded: networks that were kept are forgotten before it and after it.
    """

    claim: str
    error: Error
    quick: bool = False
    retrains: bool = False


def wrong(owner: Any, name: str, mistaken: Callable[[Any], Any]) -> Error:
    """Replace an attribute of a module or class by `mistaken` of the right one; of a property, its value."""

    def error(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        if isinstance(right, property):
            patch.setattr(owner, name, property(lambda self: mistaken(right.__get__(self))))
        else:
            patch.setattr(owner, name, mistaken(right))

    return error


def result(owner: Any, name: str, change: Callable[[Any], Any]) -> Error:
    """Change what a function returns."""
    return wrong(owner, name, lambda right: lambda *args, **named: change(right(*args, **named)))


def scaled(owner: Any, name: str, factor: float) -> Error:
    """Multiply what a function returns, or every entry of it."""

    def multiplied(found: Any) -> Any:
        if isinstance(found, dict):
            return {key: factor * value for key, value in found.items()}
        return tuple(factor * part for part in found) if isinstance(found, tuple) else factor * found

    return result(owner, name, multiplied)


def argument(owner: Any, name: str, which: int | str, change: Callable[[Any], Any]) -> Error:
    """Change one argument of a function: by its position, or by its keyword."""

    def mistaken(right: Any) -> Any:
        def called(*args: Any, **named: Any) -> Any:
            if isinstance(which, str):
                return right(*args, **named | {which: change(named[which])})
            return right(*args[:which], change(args[which]), *args[which + 1 :], **named)

        return called

    return wrong(owner, name, mistaken)


def times(factor: float) -> Callable[[Any], Any]:
    """Return the function that multiplies by a number."""
    return lambda value: factor * value


def always(owner: Any, name: str, **values: Any) -> Error:
    """Call a function with these keyword arguments, whatever it is given for them."""
    return wrong(owner, name, lambda right: lambda *args, **named: right(*args, **named | values))


def results_of(table: str, **changes: Callable[[Any], Any]) -> Error:
    """Change variables of what was trained for a table: each from the dataset of its results."""

    def mistaken(right: Any) -> Any:
        def results(self: Table, trial: Trial) -> Any:
            found = right(self, trial)
            if self.name.removeprefix(f"{self.paper}-") != table:
                return found
            return found.assign({name: change(found) for name, change in changes.items()})

        return results

    return wrong(Table, "results", mistaken)


def rows_of(table: str, change: Callable[[Any], Any]) -> Error:
    """Change what is read of a table."""

    def mistaken(right: Any) -> Any:
        return lambda self, trial: change(right(self, trial)) if self.name == table else right(self, trial)

    return wrong(Table, "rows", mistaken)


@cache
def table_of(paper: str) -> ModuleType:
    """Return the module with the mutations of a paper."""
    path = Path(__file__).parent / "papers" / paper / "mutations.py"
    spec = importlib.util.spec_from_file_location(f"mutations_of_{paper}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
