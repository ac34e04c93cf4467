"""Serving the explorer: a port of this machine, a few threads, one line for what goes wrong."""

from __future__ import annotations

import errno
import logging
import socket
import sys
import threading
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from linnet import _extras as extras
from linnet_papers.explorer import connections, warming
from linnet_papers.explorer.front import MAX_REQUEST_BYTES, Front, is_loopback

MAX_CONNECTIONS = 500  # in all; of one client, see `connections`
THREADS = 8  # requests served at once; `Service` says how many are computed at once


def serve(host: str = "127.0.0.1", port: int = 8050, open_browser: bool = True) -> None:
    """Serve the explorer until it is interrupted, on this machine alone unless `host` says otherwise.

    By waitress: a fixed number of threads, so that JAX's thread-local state stays bounded, and limits on what it
    reads; Flask's own server starts a thread for each request and says itself that it is not for use.
    """
    for needed in ("dash", "waitress"):
        if find_spec(needed) is None:  # before anything is started, and without the time that importing it takes
            raise ModuleNotFoundError(extras.line(needed, "the explorer"), name=needed)
    listening = _listening_socket(host, port)
    address = f"http://{_shown_host(host)}:{listening.getsockname()[1]}/"
    if not is_loopback(host):
        _announce(
            f"warning: {host} can be reached by other machines, and everyone who reaches it can compute on this one."
        )
    _announce(f"linnet explore: {address} (Ctrl-C ends it)")
    if open_browser:  # which takes as long to start as what follows; until then its request waits at the port
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    import waitress

    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # that a request waits is no news here
    front = Front(only_local=is_loopback(host))
    server: Any = waitress.create_server(
        front,
        sockets=[listening],
        threads=THREADS,
        max_request_body_size=MAX_REQUEST_BYTES,
        connection_limit=MAX_CONNECTIONS,
        cleanup_interval=1,  # seconds between looks for what has to be closed
    )
    connections.limit_connections(server)
    loading = threading.Thread(target=_load_application, args=(front, server), name="linnet-application", daemon=True)
    loading.start()
    try:
        server.run()
    finally:
        server.close()
    if front.application.done() and (failed := front.application.exception()) is not None:
        raise failed


def _load_application(front: Front, server: Any) -> None:
    """Make the application and hand it to the front, then warm the pages, in a thread of its own; what fails before
    ends the server, and is raised there."""
    try:
        from linnet_papers.explorer.application import create_app
        from linnet_papers.explorer.pages import PAGES
        from linnet_papers.explorer.service import Service

        service = Service(PAGES)
        app = create_app(service, only_local=front.only_local)
    except BaseException as reason:
        front.application.set_exception(reason)
        # In the server's own thread, which may be waiting for what is closed; waitress's own name, see `connections`.
        server.trigger.pull_trigger(server.close)
        return
    front.application.set_result(app.server)
    warming.warm_first_page(service)
    warming.warm_other_pages(service)


def _listening_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, or raise a sentence why there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError as reason:
        listening.close()
        if reason.errno == errno.EADDRINUSE:
            raise ValueError(f"port {port} is in use: take another one with --port {port + 1}.") from None
        raise ValueError(f"cannot listen on {host}:{port}: {reason.strerror or reason}.") from None
    return listening


def _shown_host(host: str) -> str:
    """Return a host as it stands in the address that a reader opens."""
    named = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)
    return f"[{named}]" if ":" in named and not named.startswith("[") else named


def _announce(text: str) -> None:
    """Write a line to the terminal."""
    with suppress(OSError):  # a full or closed terminal does not keep the page from being served
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
