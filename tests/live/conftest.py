"""The live pages in a real browser, opened from a folder: what holds there holds everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import linnet, refused  # noqa: F401 fixtures
from linnet.live import write

PATIENCE = 60_000  # milliseconds: nothing fails because the machine is slow


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("live")).parent


@pytest.fixture
def visit(browser: Any, folder: Path) -> Iterator[Callable[..., Any]]:
    """Opens an address in a tab: `visit("#/train?width=100", size=(390, 844), theme="dark")`.

    A tab that wrote an error, or asked for anything but its own file, fails the test.
    """
    tabs: list[Any] = []
    wrong: list[str] = []

    def open_tab(address: str = "", *, size: tuple[int, int] = (1440, 900), theme: str = "light") -> Any:
        phone = size[0] < 500
        tab = browser.new_page(
            viewport={"width": size[0], "height": size[1]}, color_scheme=theme, has_touch=phone, is_mobile=phone
        )
        tabs.append(tab)
        tab.set_default_timeout(PATIENCE)
        tab.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda asked: None if asked.url.startswith(allowed) else wrong.append(f"asked {asked.url}"))
        tab.goto(f"{folder.as_uri()}/index.html{address}")
        return tab

    allowed = (folder.as_uri(), "data:", "blob:")
    yield open_tab
    for tab in tabs:
        tab.close()
    assert not wrong


class Numbers:
    """Calls functions of the pages: `numbers("numbers/train.js", "train", settings)`, or any function of JavaScript."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab

    def __call__(self, module: str, name: str, *given: object) -> Any:
        return self.evaluate(f"((...given) => linnet['{module}']['{name}'](...given, () => {{}}))", *given)

    def evaluate(self, function: str, *given: object) -> Any:
        """What a function returns; what is not a finite number comes as a word."""
        plain = (
            "(_, v) => ArrayBuffer.isView(v) ? Array.from(v)"
            " : typeof v === 'number' && !Number.isFinite(v) ? String(v) : v"
        )
        return json.loads(self.tab.evaluate(f"(given) => JSON.stringify(({function})(...given), {plain})", list(given)))


@pytest.fixture(scope="session")
def numbers(browser: Any, folder: Path) -> Iterator[Numbers]:
    tab = browser.new_page()
    tab.set_default_timeout(PATIENCE)
    tab.goto(f"{folder.as_uri()}/index.html#/")
    yield Numbers(tab)
    tab.close()
