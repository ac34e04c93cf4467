"""Where a browser is found: for benchmarks and for tests that look at a page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = ("--no-sandbox", "--disable-gpu")  # containers have neither the rights nor the device


@contextmanager
def chromium() -> Iterator[Any]:
    """Open Chromium: the one that CHROMIUM names, the system's, or Playwright's own; None without one of them."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        yield None
        return
    with sync_playwright() as driver:
        candidates = [os.environ.get("CHROMIUM"), *map(shutil.which, NAMES), driver.chromium.executable_path]
        path = next((candidate for candidate in candidates if candidate and Path(candidate).exists()), None)
        if path is None:
            yield None
            return
        browser = driver.chromium.launch(executable_path=path, args=list(OPTIONS))
        try:
            yield browser
        finally:
            browser.close()
