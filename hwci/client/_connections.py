# SPDX-License-Identifier: Apache-2.0
"""Connections of the synchronous shell: the way to the server, and one connection per thread.

This module decides which connection a thread speaks on, and when it is cut. It knows nothing of
calls.
"""

import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPSConnection
from weakref import WeakSet

from hwci.client._address import Proxy, ServerAddress

_CUT_AGAIN_S = 0.1
"""A connection may be opened just after the time is over."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way to the server. `tunnel`: the server, behind a proxy that passes bytes on unread.

    `before`: what precedes each request's target; `headers`: for a proxy that reads requests.
    """

    host: str
    port: int
    before: str
    tls: ssl.SSLContext | None = None
    tunnel: tuple[str, int] | None = None
    tunnel_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def route_to(server: ServerAddress, proxy: Proxy | None) -> Route:
    """Return the way to a server, through a proxy if there is one."""
    tls = ssl.create_default_context() if server.scheme == "https" else None
    if proxy is None:
        return Route(server.host, server.port, server.prefix, tls)
    host, port = proxy.address.host, proxy.address.port
    if tls is None:
        return Route(host, port, str(server), headers=proxy.headers)
    return Route(host, port, server.prefix, tls, (server.host, server.port), proxy.headers)


class _Kept:
    """A thread's connection. The thread alone holds it, and it is closed when the thread ends."""

    def __init__(self, connection: HTTPConnection) -> None:
        self.connection = connection
        self.process = os.getpid()

    def __del__(self) -> None:
        self.connection.close()


class Connections:
    """A connection per thread, kept for the next call."""

    def __init__(self, route: Route, timeout: float) -> None:
        self._route = route
        self._timeout = timeout
        self._own = threading.local()
        self._all: WeakSet[_Kept] = WeakSet()
        self._lock = threading.Lock()

    def open(self, *, fresh: bool) -> tuple[HTTPConnection, bool]:
        """Return this thread's connection, and whether it was kept from an earlier call."""
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

    @contextmanager
    def cut_after(self, seconds: float | None) -> Iterator[threading.Event]:
        """Cut this thread's connection if the block takes longer than `seconds`: a timeout ends
        only silence, not an answer that comes byte by byte. The event is set once it is cut.
        """
        over, done = threading.Event(), threading.Event()
        if seconds is None:
            yield over
            return
        connection = self._mine()
        watch = threading.Thread(
            target=_cut, args=(connection, seconds, over, done), name="hwci-deadline", daemon=True
        )
        connection.timeout = min(self._timeout, seconds)  # nothing to cut while it is opened
        watch.start()
        try:
            yield over
        finally:
            done.set()
            watch.join()
            connection.timeout = self._timeout
            if over.is_set():
                connection.close()

    def apart(self, silence: float) -> HTTPConnection:
        """Return a new connection, which the caller closes. `silence`: the longest wait for a byte,
        in seconds.
        """
        connection = self._made()
        try:
            connection.connect()
            connection.sock.settimeout(silence)
        except OSError:
            connection.close()
            raise
        return connection

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for kept in self._all:
                kept.connection.close()
            self._all.clear()
            self._own = threading.local()

    def _mine(self) -> HTTPConnection:
        # A forked child has its parent's sockets, and must not speak on them.
        kept: _Kept | None = getattr(self._own, "kept", None)
        if kept is None or kept.process != os.getpid():
            kept = _Kept(self._made())
            with self._lock:
                self._own.kept = kept
                self._all.add(kept)
        return kept.connection

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


def _cut(
    connection: HTTPConnection, seconds: float, over: threading.Event, done: threading.Event
) -> None:
    if done.wait(min(seconds, threading.TIMEOUT_MAX)):
        return
    over.set()
    while True:
        line = connection.sock
        if line is not None:
            # Not the method of a TLS socket: that would let go of TLS while another thread writes.
            with suppress(OSError):
                socket.socket.shutdown(line, socket.SHUT_RDWR)
        if done.wait(_CUT_AGAIN_S):
            return
