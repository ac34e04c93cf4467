"""The built site, and a browser to look at it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder of the site that `make site` built."""
    site = Path(__file__).parents[2] / "site"
    if not (site / "index.html").exists():
        pytest.fail("the site is not built: run `make site`")
    return site


@pytest.fixture(scope="session")
def address(built: Path) -> Iterator[str]:
    """Where a plain web server shows the site."""
    handler = partial(_Silent, directory=str(built))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Nothing: the tests' own output stays readable."""
