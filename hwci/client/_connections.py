# SPDX-License-Identifier: Apache-2.0
"""Connections of the synchronous shell: the way to the server, and one connection per thread.

This module decides which connection a thread speaks on. It knows nothing of calls.
"""

import os
import ssl
import threading
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from urllib.parse import SplitResult, unquote, urlsplit

from hwci.client._address import DEFAULT_PORTS, ServerAddress


@dataclass(frozen=True, slots=True)
class Route:
    """The way to the server. `tunnel`: the server, when a proxy leads there blindly.

    `before` stands before each request's target; `headers` are for a proxy that reads along.
    """

    host: str
    port: int
    before: str
    tls: ssl.SSLContext | None = None
    tunnel: tuple[str, int] | None = None
    tunnel_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def route_to(server: ServerAddress, proxy: str | None) -> Route:
    """Find the way to a server, through a proxy if there is one."""
    tls = ssl.create_default_context() if server.scheme == "https" else None
    if proxy is None:
        return Route(server.host, server.port, server.prefix, tls)
    parts = urlsplit(proxy)
    host, port = parts.hostname or "", parts.port or DEFAULT_PORTS["http"]
    signed = _proxy_authorization(parts)
    if tls is None:
        return Route(host, port, str(server), headers=signed)
    return Route(host, port, server.prefix, tls, (server.host, server.port), signed)


def _proxy_authorization(proxy: SplitResult) -> Mapping[str, str]:
    if proxy.username is None:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}


class Connections:
    """A connection per thread, kept for the next call."""

    def __init__(self, route: Route, timeout: float) -> None:
        self._route = route
        self._timeout = timeout
        self._own = threading.local()
        self._all: list[HTTPConnection] = []
        self._lock = threading.Lock()

    def open(self, *, fresh: bool) -> tuple[HTTPConnection, bool]:
        """Give this thread's connection, and whether it was kept from an earlier call."""
        connection = self._mine()
        if fresh:
            connection.close()
        kept = connection.sock is not None
        if not kept:
            try:
                connection.connect()
            except OSError:
                # What was opened halfway, before TLS was agreed on, must never be spoken on.
                connection.close()
                raise
        return connection, kept

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._all:
                connection.close()
            self._all.clear()
            self._own = threading.local()

    def _mine(self) -> HTTPConnection:
        # A forked child has its parent's sockets, and must not speak on them.
        kept: tuple[int, HTTPConnection] | None = getattr(self._own, "kept", None)
        if kept is not None and kept[0] == os.getpid():
            return kept[1]
        connection = self._made()
        with self._lock:
            self._own.kept = (os.getpid(), connection)
            self._all.append(connection)
        return connection

    def _made(self) -> HTTPConnection:
        route = self._route
        if route.tls is None:
            return HTTPConnection(route.host, route.port, timeout=self._timeout)
        connection = HTTPSConnection(
            route.host, route.port, timeout=self._timeout, context=route.tls
        )
        if route.tunnel is not None:
            connection.set_tunnel(*route.tunnel, headers=dict(route.tunnel_headers))
        return connection
