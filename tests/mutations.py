"""The deliberate errors of the papers: `MUTATIONS` in `tests/papers/<name>/mutations.py`."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType


@cache
def table_of(paper: str) -> ModuleType:
    """Return the module with the mutations of a paper."""
    path = Path(__file__).parent / "papers" / paper / "mutations.py"
    spec = importlib.util.spec_from_file_location(f"mutations_of_{paper}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
