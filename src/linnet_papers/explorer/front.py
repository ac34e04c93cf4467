"""What stands before the application: who may ask, and an answer to the first request while it is still being loaded.

Importing Dash and JAX takes about as long as a browser takes to read Plotly's megabytes: here both happen at once. The
head of every page is the same and names Plotly; it is sent at once, the rest of the page when the application is there.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from linnet_papers.explorer.computing.uploads import MAX_BASE64_CHARACTERS

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

    from werkzeug.datastructures import Headers

MAX_REQUEST_BYTES = MAX_BASE64_CHARACTERS + 2**20  # the largest upload, and a MiB for the rest of its request
DATA_PATH = "/data/"  # where files of numbers are: PATH + PAGE/PART.ENDING, in assets/explorer.js too
LOOPBACK_NAMES = ("localhost",)  # beside the literal addresses: see `is_loopback`
PLOTLY = "/_dash-component-suites/plotly/package_data/plotly.min.js"  # where Dash has it too
# The beginning of every page: `application.INDEX` begins with it too.
HEAD = f"""<!DOCTYPE html>
<html lang="en">
    <head>
        <script src="{PLOTLY}"></script>
"""

# Nothing from another host, by order of the browser too.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self' data: blob:; font-src 'self' data:; "
    "object-src 'none'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def is_loopback(host: str) -> bool:
    """Return whether `host` is a literal loopback address (127.0.0.2, ::1) or a name that always means one.

    It never resolves a name: a page of another site could let its own name resolve to this machine.
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in LOOPBACK_NAMES


def refusal_reason(host: str, origin: str | None, only_local: bool, site: str | None = None) -> str:
    """Return why a request to this host, from a page of this origin and site, is refused; empty if it is not.

    `site` is the header Sec-Fetch-Site (see `sec_fetch_site`): a browser sends "cross-site" for what a page of another
    site asks for.
    """
    # A page of another site must not reach this server by a name of its own that resolves to this machine.
    try:
        name, page = urlsplit(f"//{host}").hostname or "", urlsplit(origin or "").netloc
    except ValueError:  # half an IPv6 address
        name, page = "", "nobody's"
    if only_local and not is_loopback(name):
        return "This explorer answers only to localhost and to loopback addresses, as 127.0.0.1.\n"
    if origin and page != host:
        return "This explorer answers only to its own pages.\n"
    if site in ("cross-site", "same-site"):
        return "This explorer answers only to its own pages.\n"
    return ""


def sec_fetch_site(headers: Mapping[str, str] | Headers, path: str) -> str | None:
    """Return the header Sec-Fetch-Site of a request; None for a link from elsewhere that opens a page.

    Files under `DATA_PATH` are no pages: a link of another site must neither start a computation nor a download.
    """
    opened = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
    return None if opened and not path.startswith(DATA_PATH) else headers.get("Sec-Fetch-Site")


class Front:
    """A WSGI application that hands requests to another one, which arrives later by `application.set_result(...)`.

    Until then it sends Plotly's script and the heads of pages itself, and all other requests wait.
    """

    def __init__(self, only_local: bool = True) -> None:
        self.application: Future[WSGIApplication] = Future()
        self.only_local = only_local

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer a request: the head of a page and Plotly's script at once, all else by the application."""
        early = not self.application.done() and environ["REQUEST_METHOD"] == "GET"
        if early and not refusal_reason(environ.get("HTTP_HOST", ""), environ.get("HTTP_ORIGIN"), self.only_local):
            path = environ["PATH_INFO"]
            if path == PLOTLY and (script := _plotly_file()) is not None:
                start("200 OK", [("Content-Type", "text/javascript; charset=utf-8"), *HEADERS.items()])
                return [script.read_bytes()]
            if "." not in path and not path.startswith("/_"):
                start("200 OK", [("Content-Type", "text/html; charset=utf-8"), *HEADERS.items()])
                return self._head_then_page(environ)
        return self.application.result()(environ, start)

    def _head_then_page(self, environ: WSGIEnvironment) -> Iterator[bytes]:
        """Send the head of a page at once, and the rest of it when the application is there."""
        head = HEAD.encode()
        yield head
        page = b"".join(self.application.result()(environ, _ignore_start))
        yield page.removeprefix(head)


def _ignore_start(*_: object) -> Callable[[bytes], object]:
    """Drop the status and headers of an application: those of the front have been sent."""
    return bytes


def _plotly_file() -> Path | None:
    """Return the file of Plotly's script, found without importing Plotly."""
    spec = find_spec("plotly")
    place = Path(spec.origin).parent / "package_data" / "plotly.min.js" if spec and spec.origin else None
    return place if place and place.exists() else None
