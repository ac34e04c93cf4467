"""What several folders of tests share."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def toys() -> ModuleType:
    """Small figures and claims of tests/toys.py."""
    if "toys" not in sys.modules:
        spec = importlib.util.spec_from_file_location("toys", Path(__file__).parent / "toys.py")
        assert spec is not None and spec.loader is not None
        sys.modules["toys"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules["toys"])
    return sys.modules["toys"]
