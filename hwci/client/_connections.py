# SPDX-License-Identifier: Apache-2.0
"""Connections of the synchronous shell: the route to the server, and one connection per thread.

This module decides which connection a thread uses, and when it is cut. It does not know the calls.
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
"""Cut again this often: a socket may be opened just after the time has expired."""


@dataclass(frozen=True, slots=True)
class Route:
    """The route to the server. `tunnel`: the server, where a proxy only passes bytes on.

    `prefix`: goes before the target of each request; `headers`: for a proxy that reads requests.
    """

    host: str
    port: int
    prefix: str
    tls: ssl.SSLContext | None = None
    tunnel: tuple[str, int] | None = None
    tunnel_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


def route_to(server: ServerAddress, proxy: Proxy | None) -> Route:
    """Return the route to a server, through a proxy if there is one."""
    tls = ssl.create_default_context() if server.scheme == "https" else None
    if proxy is None:
        return Route(server.host, server.port, server.prefix, tls)
    host, port = proxy.address.host, proxy.address.port
    if tls is None:
        return Route(host, port, str(server), headers=proxy.headers)
    return Route(host, port, server.prefix, tls, (server.host, server.port), proxy.headers)


class _ThreadConnection:
    """A thread's connection. Only the thread refers to it, so it is closed when the thread ends."""

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
        self._all: WeakSet[_ThreadConnection] = WeakSet()
        self._lock = threading.Lock()

    def open(self, *, fresh: bool) -> tuple[HTTPConnection, bool]:
        """Return this thread's connection, and whether it was kept from an earlier call."""
        connection = self._of_this_thread()
        if fresh:
            connection.close()
        kept = connection.sock is not None
        if not kept:
            try:
                connection.connect()
            except OSError:
                # A half-open connection must not be used: TLS may not be agreed on yet.
                connection.close()
                raise
        return connection, kept

    @contextmanager
    def cut_after(self, seconds: float | None) -> Iterator[threading.Event]:
        """Cut this thread's connection if the block takes longer than `seconds`.

        The event is set once it is cut. A socket's timeout does not end an answer that comes byte
        by byte.
        """
        expired, done = threading.Event(), threading.Event()
        if seconds is None:
            yield expired
            return
        connection = self._of_this_thread()
        watch = threading.Thread(
            target=_cut,
            args=(connection, seconds, expired, done),
            name="hwci-deadline",
            daemon=True,
        )
        connection.timeout = min(self._timeout, seconds)  # there is no socket to cut yet
        watch.start()
        try:
            yield expired
        finally:
            done.set()
            watch.join()
            connection.timeout = self._timeout
            if expired.is_set():
                connection.close()

    def separate(self, silence: float) -> HTTPConnection:
        """Return a new connection, which the caller closes. `silence`: the longest wait for a byte,
        in seconds.
        """
        connection = self._new()
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

    def _of_this_thread(self) -> HTTPConnection:
        # A forked child inherits its parent's sockets, and must not use them.
        kept: _ThreadConnection | None = getattr(self._own, "kept", None)
        if kept is None or kept.process != os.getpid():
            kept = _ThreadConnection(self._new())
            with self._lock:
                self._own.kept = kept
                self._all.add(kept)
        return kept.connection

    def _new(self) -> HTTPConnection:
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
    connection: HTTPConnection, seconds: float, expired: threading.Event, done: threading.Event
) -> None:
    if done.wait(min(seconds, threading.TIMEOUT_MAX)):
        return
    expired.set()
    while True:
        sock = connection.sock
        if sock is not None:
            # Not the method of a TLS socket: it would drop TLS while another thread writes.
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
        if done.wait(_CUT_AGAIN_S):
            return
