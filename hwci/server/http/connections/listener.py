# SPDX-License-Identifier: Apache-2.0
"""Accepts connections while there are places, and loses none when the server stops.

An address may hold a quarter of the places; trusted proxies carry many people's requests and may
hold them all. Without a place, connections wait in the system's queue. A listener that closes first
lets the system refuse newcomers, then accepts all in the queue, and only then closes, as the system
resets the connections in the queue of a closed socket.
"""

import asyncio
import ctypes
import logging
import socket
import struct
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from ssl import SSLContext

from hwci.server.http.addresses import sender
from hwci.server.http.connections import connection
from hwci.server.settings import Network

LOG = logging.getLogger("hwci.server")

BACKLOG = 1_024
AT_ONCE = 64
"""Connections that are accepted in one turn of the event loop."""
REST_SECONDS = 0.1
ARRIVE_SECONDS = 0.1
"""Time for a connection in the making to reach the queue, and one in the queue to be accepted."""
TLS_GOODBYE_SECONDS = 2.0

_SO_ATTACH_FILTER = 26
_REFUSE_NEWCOMERS = (  # Linux packet filter: code, jump if true, jump if false, operand
    (0x30, 0, 0, 13),  # load the flags of the TCP header,
    (0x54, 0, 0, 0x12),  # mask SYN and ACK;
    (0x15, 0, 1, 0x02),  # if only SYN is set
    (0x06, 0, 0, 0),  # drop the packet,
    (0x06, 0, 0, 0xFFFFFFFF),  # else keep it
)


async def bound(host: str, port: int) -> Sequence[socket.socket]:
    """Return sockets that listen at an address. Raises `OSError`."""
    loop = asyncio.get_running_loop()
    resolved = await loop.create_server(asyncio.Protocol, host, port, start_serving=False)
    sockets = [one.dup() for one in resolved.sockets]
    resolved.close()
    try:
        for one in sockets:
            one.setblocking(False)
            one.listen(BACKLOG)
    except OSError:
        for one in sockets:
            one.close()
        raise
    return sockets


PARTS = 4
"""One address may hold one part of so many of the places."""
_ALL = ""


class Places:
    """The places of one server. `most`: connections at once; `trusted`: proxies."""

    def __init__(self, most: int, trusted: Sequence[Network] = ()) -> None:
        self._most, self._each = most, max(1, most // PARTS)
        self._trusted = trusted
        self._held = Counter[str]()
        self._total = 0
        self._warned = set[str]()

    @property
    def full(self) -> bool:
        """Whether all places are taken."""
        return self._total >= self._most

    def warn_full(self, why: str) -> None:
        """Log why new connections wait; once until half of the places are free."""
        held = f"{self._total} connections are held of {self._most}"
        self._warn(_ALL, f"New connections wait: {why}; {held}")

    def take(self, peer: str) -> Callable[[], None] | None:
        """Return a function that frees the place again; None if the peer holds too many."""
        address = sender(peer, self._trusted)
        if address and self._held[address] >= self._each:
            held = f"{self._each} connections, as many as one address may"
            self._warn(address, f"{address} holds {held}; its further ones are closed at once")
            return None
        self._total += 1
        if address:
            self._held[address] += 1
        return partial(self._free, address)

    def _free(self, address: str | None) -> None:
        self._total -= 1
        if address:
            self._held[address] -= 1
            if self._held[address] <= self._each // 2:
                self._warned.discard(address)
            if not self._held[address]:
                del self._held[address]
        if _ALL in self._warned and self._total <= self._most // 2:
            self._warned.discard(_ALL)
            LOG.warning("New connections are taken at once again: half of the places are free")

    def _warn(self, what: str, words: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            LOG.warning(words)


class Listener:
    """Accepts at sockets that listen, for a server."""

    def __init__(
        self,
        sockets: Sequence[socket.socket],
        server: connection.SpecServer,
        places: Places,
        tls: SSLContext | None,
    ) -> None:
        self.sockets = sockets
        self._server, self._places, self._tls = server, places, tls
        self._loop = asyncio.get_running_loop()
        self._arriving = set[asyncio.Task[None]]()
        self._resting: asyncio.TimerHandle | None = None
        self._go_on()

    async def close(self) -> None:
        """Listen no longer; return when all connections in the queue are accepted."""
        for one in self.sockets:
            _refuse_newcomers(one)
        await asyncio.sleep(ARRIVE_SECONDS)
        if self._resting is not None:
            self._resting.cancel()
        sockets, self.sockets = self.sockets, ()
        for one in sockets:
            self._loop.remove_reader(one)
            self._accept(one, BACKLOG + 1)
            one.close()
        if self._arriving:
            await asyncio.wait(self._arriving, timeout=connection.GRACE_SECONDS)

    def _go_on(self) -> None:
        for one in self.sockets:
            self._loop.add_reader(one, self._accept, one, AT_ONCE)

    def _rest(self, why: str) -> None:
        self._places.warn_full(why)
        for one in self.sockets:
            self._loop.remove_reader(one)
        self._resting = self._loop.call_later(REST_SECONDS, self._go_on)

    def _accept(self, listening: socket.socket, most: int) -> None:
        for _ in range(most):
            if self._places.full:
                return self._rest("no more can be served at once")
            try:
                line, peer = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return None
            except OSError as fault:  # out of descriptors or memory
                return self._rest(f"the system gives none, {fault.strerror}")
            free = self._places.take(peer[0])
            if free is None:
                line.close()
                continue
            arriving = self._loop.create_task(self._arrive(line, free))
            self._arriving.add(arriving)
            arriving.add_done_callback(self._arriving.discard)
        return None

    async def _arrive(self, line: socket.socket, free: Callable[[], None]) -> None:
        try:
            await self._loop.connect_accepted_socket(
                partial(self._server, free),
                line,
                ssl=self._tls,
                ssl_handshake_timeout=connection.HEAD_SECONDS if self._tls else None,
                ssl_shutdown_timeout=TLS_GOODBYE_SECONDS if self._tls else None,
            )
        except OSError:  # the handshake failed, or took too long
            free()


def _refuse_newcomers(listening: socket.socket) -> None:
    """Have the system accept no new connection, where it can; those in the making are finished.

    A client that connects meanwhile tries again after a second, by itself, and is then refused, or
    accepted by the next server.
    """
    if sys.platform == "linux":
        code = ctypes.create_string_buffer(
            b"".join(struct.pack("HBBI", *step) for step in _REFUSE_NEWCOMERS)
        )
        program = struct.pack("HP", len(_REFUSE_NEWCOMERS), ctypes.addressof(code))
        with suppress(OSError):
            listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
