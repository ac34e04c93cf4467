"""What several folders of tests share."""

from __future__ import annotations

from types import ModuleType

import pytest

import toys as toy_module


@pytest.fixture(scope="session")
def toys() -> ModuleType:
    """Small figures and claims of tests/toys.py."""
    return toy_module
