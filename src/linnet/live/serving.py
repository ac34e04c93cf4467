"""The live pages at an address of this machine."""

from __future__ import annotations

import errno
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from linnet.live import page

HOST = "127.0.0.1"
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",  # another version may be served at the same port
}


class _Page(BaseHTTPRequestHandler):
    """Answers every address with the same page; its own address says what it shows."""

    def do_GET(self) -> None:
        body = page().encode()
        found = self.path.partition("?")[0] in ("/", "/index.html")
        self.send_response(200 if found else 404)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if found else 0))
        self.end_headers()
        if found:
            with suppress(ConnectionError):
                self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Write no line for each request."""


@contextmanager
def served(port: int = 0) -> Iterator[str]:
    """Serve the pages on this machine alone while the block runs; gives their address."""
    server = _listening(port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def serve(port: int, open_browser: bool) -> None:
    """Serve the pages until the process is interrupted."""
    server = _listening(port)
    address = f"http://{HOST}:{server.server_address[1]}/"
    with suppress(OSError):  # a closed terminal does not keep the pages from being served
        sys.stderr.write(f"linnet explore: {address} (Ctrl-C ends it)\n")
        sys.stderr.flush()
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    server.serve_forever()


def _listening(port: int) -> ThreadingHTTPServer:
    """Return a server at a port, or raise a sentence why there is none."""
    try:
        return ThreadingHTTPServer((HOST, port), _Page)
    except OSError as reason:
        if reason.errno == errno.EADDRINUSE:
            raise ValueError(f"port {port} is in use: take another one with --port {port + 1}.") from None
        raise ValueError(f"cannot listen on {HOST}:{port}: {reason.strerror or reason}.") from None
