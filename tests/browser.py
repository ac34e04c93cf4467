"""Where a browser is found, for every test that looks at a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium(what: str) -> Iterator[Any]:
    """Chromium: the one that CHROMIUM names, the system's, or Playwright's own; without one, `what` is not seen."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install 'linnet[browser]'"
    )
    with playwright.sync_playwright() as driver:
        found = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), driver.chromium.executable_path]
        path = next((candidate for candidate in found if candidate and Path(candidate).exists()), None)
        if path is None:
            pytest.skip(f"no Chromium is installed: {what} was not seen in a browser")
        opened = driver.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()
