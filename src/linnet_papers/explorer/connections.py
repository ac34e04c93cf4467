"""Limits on connections: a deadline for each request, and a maximum number for each client."""

from __future__ import annotations

import time
from typing import Any

REQUEST_SECONDS = 20.0  # for a request to arrive whole, from its first byte or the opening of the connection on
MAX_CONNECTIONS_OF_A_CLIENT = 60  # the oldest that is not being answered makes place for a new one


def limit_connections(server: Any) -> None:
    """Make a server of waitress close connections that trickle, and the oldest ones of a client with too many.

    It uses waitress's own names of version 3: `maintenance`, `active_channels`, `channel_class`, and of channels
    `requests`, `request`, `creation_time`, `will_close`, `addr`, `received` and how they are made; `serving` uses
    `trigger.pull_trigger` too. A new version may change any of them.
    """
    before = server.maintenance

    def maintenance(now: float) -> None:
        """Close what waitress closes, and connections whose request is past its deadline."""
        before(now)  # which closes those that were silent for long
        for channel in idle_connections(server):
            if channel.began is not None and channel.began < now - REQUEST_SECONDS:
                channel.will_close = True

    server.channel_class = _limited_channel_class(server.channel_class)
    server.maintenance = maintenance


def idle_connections(server: Any) -> list[Any]:
    """Return the connections on which no request is being answered, the oldest first."""
    channels = [channel for channel in list(server.active_channels.values()) if not channel.requests]
    return sorted(channels, key=lambda channel: channel.creation_time)


def _limited_channel_class(base: Any) -> Any:
    """Return a subclass of `base`, waitress's class of connections, on which both limits rest.

    A connection notes when its request began, for the deadline; a new one closes its client's oldest idle ones where
    there are too many.
    """

    class LimitedChannel(base):
        """A connection; `began` says since when it waits for a whole request, None between two requests."""

        def __init__(self, server: Any, sock: Any, addr: Any, adj: Any, map: Any = None) -> None:
            """Open a connection, as waitress calls it, and close the client's oldest idle ones beyond its number."""
            self.began: float | None = time.time()
            client = [
                other for other in idle_connections(server) if other.addr[:1] == addr[:1] and not other.will_close
            ]
            for other in client[: max(0, len(client) + 1 - MAX_CONNECTIONS_OF_A_CLIENT)]:
                other.will_close = True
            super().__init__(server, sock, addr, adj, map=map)

        def received(self, data: bytes) -> Any:
            """Take bytes, as waitress calls it, and note whether a request is still incomplete."""
            if self.request is None:
                self.began = time.time()
            answer = super().received(data)
            if self.request is None:
                self.began = None
            return answer

    return LimitedChannel
