"""A browser for every test that looks at a page; without one, the test is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from website import browser


@contextmanager
def chromium(what: str) -> Iterator[Any]:
    """Open Chromium, or skip the test because `what` cannot be seen."""
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
    with browser.chromium() as opened:
        if opened is None:
            pytest.skip(f"no Chromium is installed: {what} was not seen in a browser")
        yield opened
