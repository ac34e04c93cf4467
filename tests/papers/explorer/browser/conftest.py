"""The explorer served in this process, and a browser that looks at it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from explored import PATIENCE, Explored

pytest.importorskip("dash", reason="Dash is not installed: pip install 'linear-networks[explorer]'")


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    import waitress

    from linnet_papers.explorer import create_app, service

    server: Any = waitress.create_server(create_app().server, host="127.0.0.1", port=0, threads=4)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "TIMEOUT_SECONDS", PATIENCE)  # nobody is sent away because the machine is slow
        yield f"http://127.0.0.1:{server.effective_port}"
    server.trigger.pull_trigger(server.close)  # in the server's own thread: another one could close what it waits for


@pytest.fixture(scope="session")
def windows(browser: Any) -> Iterator[Callable[[tuple[int, int], str], Any]]:
    """One window for each size and theme: what it has loaded once, Plotly above all, it need not compile again.

    A narrow one is a phone: it is touched, and nothing hovers over it.
    """
    held: dict[tuple[tuple[int, int], str], Any] = {}

    def of(size: tuple[int, int], theme: str) -> Any:
        if (size, theme) not in held:
            held[size, theme] = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme=theme,
                accept_downloads=True,
                has_touch=size[0] < 500,
                is_mobile=size[0] < 500,
            )
        return held[size, theme]

    yield of
    for window in held.values():
        window.close()


@pytest.fixture
def visit(windows: Callable[[tuple[int, int], str], Any], address: str) -> Iterator[Callable[..., Explored]]:
    """Opens a page by its name in a tab of its own: `visit("train", "width=100", size=(390, 844), theme="dark")`."""
    from linnet_papers.explorer.pages import PAGES

    pages, held = {page.name: page for page in PAGES}, []

    def go(name: str, query: str = "", *, size: tuple[int, int] = (1280, 900), theme: str = "light") -> Explored:
        held.append(windows(size, theme).new_page())
        return Explored(held[-1], address, pages[name]).open(query)

    yield go
    for tab in held:
        tab.evaluate("window.localStorage.clear()")  # the theme that was chosen
        tab.close()


@pytest.fixture(scope="session")
def opened(browser: Any, address: str) -> Callable[[Any], Explored]:
    """The pages, each open in one window for all tests of its controls."""
    held: dict[str, Explored] = {}

    def go(page: Any) -> Explored:
        if page.name not in held:
            held[page.name] = Explored(browser.new_page(viewport={"width": 1280, "height": 900}), address, page).open()
        held[page.name].said.clear()
        return held[page.name]

    return go
