"""Deliberate errors: most ways to make one are in `linnet_papers.testing`, here are those of tables.

The table of a paper's mutations is `MUTATIONS` in `tests/papers/<name>/mutations.py`; `tests/papers/test_mutations.py`
makes each of them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from linnet_papers.reproduction import Table, Trial
from linnet_papers.testing import Error, Mutation, always, argument, result, scaled, times, wrong

__all__ = ["Mutation", "always", "argument", "result", "results_of", "rows_of", "scaled", "table_of", "times", "wrong"]


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
