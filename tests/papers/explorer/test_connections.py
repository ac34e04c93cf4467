"""Clients that hold connections: they lock nobody out, and are closed in time."""

from __future__ import annotations

import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest
import waitress

from linnet_papers.explorer import connections


@pytest.fixture(params=[1.0])
def served(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of a server whose application answers at once; requests have so many seconds to arrive, here 1."""
    monkeypatch.setattr(connections, "REQUEST_SECONDS", request.param)

    def application(environ, start):
        start("200 OK", [("Content-Type", "text/plain")])
        return [b"here"]

    listening = socket.create_server(("127.0.0.1", 0))
    server = waitress.create_server(
        application, sockets=[listening], threads=2, connection_limit=100, cleanup_interval=1
    )
    connections.limit_connections(server)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.trigger.pull_trigger(server.close)
    thread.join(5)
    server.task_dispatcher.shutdown()
    listening.close()


def asked(port: int) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
        return answer.read()


def closed(one: socket.socket, seconds: float) -> bool:
    """Whether the server closes a connection within that time on which a byte comes now and then."""
    until = time.monotonic() + seconds
    try:
        while time.monotonic() < until:
            one.sendall(b"x")  # which keeps waitress itself from closing it
            time.sleep(0.2)
    except OSError:
        return True
    return False


def test_150_trickling_connections_lock_nobody_out_and_are_closed(served: int) -> None:
    with ExitStack() as stack:
        trickling = [stack.enter_context(socket.create_connection(("127.0.0.1", served))) for _ in range(150)]
        for one in trickling:
            with suppress(OSError):  # the oldest are closed already
                one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert asked(served) == b"here"
        assert closed(trickling[-1], 20)
        assert asked(served) == b"here"


@pytest.mark.parametrize("served", [600.0], indirect=True)
def test_the_oldest_connections_of_a_client_make_place_for_new_ones(served: int) -> None:
    """Before any deadline, and though the server takes fewer connections in all."""
    with ExitStack() as stack:
        trickling = [stack.enter_context(socket.create_connection(("127.0.0.1", served))) for _ in range(150)]
        assert asked(served) == b"here"
        assert closed(trickling[0], 20) and not closed(trickling[-1], 1)
