# SPDX-License-Identifier: Apache-2.0
"""Accepts connections while places are free, and loses none when the server stops.

One address may hold a quarter of the places. Trusted proxies may hold all, because they carry the
requests of many people. When no place is free, new connections wait in the system's queue. On
closing, the listener first has the system refuse new connections, then accepts those in the queue,
and only then closes its sockets: closing a socket resets the connections in its queue.
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
ACCEPTS_PER_TURN = 64
"""Connections that are accepted in one turn of the event loop."""
PAUSE_SECONDS = 0.1
ARRIVE_SECONDS = 0.1
"""Time for handshakes under way to end, and for the connections in the queue to be accepted."""
TLS_SHUTDOWN_SECONDS = 2.0

UNSENT_BYTES = 64 * 1024
"""The system takes so much of an answer that it cannot send yet; connections inherit it."""
_SO_ATTACH_FILTER = 26
_DROP_NEW_CONNECTIONS = (  # Linux packet filter: code, jump if true, jump if false, operand
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
    sockets = [listening.dup() for listening in resolved.sockets]
    resolved.close()
    try:
        for listening in sockets:
            listening.setblocking(False)
            _hold_little(listening)
            listening.listen(BACKLOG)
    except OSError:
        for listening in sockets:
            listening.close()
        raise
    return sockets


PARTS = 4
"""One address may hold one of this many equal parts of the places."""
_ALL = ""


class Places:
    """The places of one server. `most`: how many there are; `trusted`: networks of proxies."""

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
        """Log why new connections wait: once, until half of the places are free again."""
        held = f"{self._total} of {self._most} places are taken"
        self._warn(_ALL, f"New connections wait: {why}; {held}")

    def take(self, peer: str) -> Callable[[], None] | None:
        """Return a function that frees the place again; None if the peer holds too many."""
        address = sender(peer, self._trusted)
        if address and self._held[address] >= self._each:
            held = f"{self._each} connections, the most that one address may"
            self._warn(address, f"{address} holds {held}; more are closed immediately")
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
            LOG.warning("New connections no longer wait: half of the places are free")

    def _warn(self, what: str, words: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            LOG.warning(words)


class Listener:
    """Accepts connections for a server."""

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
        self._resuming: asyncio.TimerHandle | None = None
        self._resume()

    async def close(self) -> None:
        """Stop listening; return once all connections in the queue are accepted."""
        for listening in self.sockets:
            _drop_new_connections(listening)
        await asyncio.sleep(ARRIVE_SECONDS)
        if self._resuming is not None:
            self._resuming.cancel()
        sockets, self.sockets = self.sockets, ()
        for listening in sockets:
            self._loop.remove_reader(listening)
            self._accept(listening, BACKLOG + 1)
            listening.close()
        if self._arriving:
            await asyncio.wait(self._arriving, timeout=connection.GRACE_SECONDS)

    def _resume(self) -> None:
        for listening in self.sockets:
            self._loop.add_reader(listening, self._accept, listening, ACCEPTS_PER_TURN)

    def _pause(self, why: str) -> None:
        self._places.warn_full(why)
        for listening in self.sockets:
            self._loop.remove_reader(listening)
        self._resuming = self._loop.call_later(PAUSE_SECONDS, self._resume)

    def _accept(self, listening: socket.socket, most: int) -> None:
        for _ in range(most):
            if self._places.full:
                return self._pause("the limit is reached")
            try:
                sock, peer = listening.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return None
            except OSError as fault:  # out of descriptors or memory
                return self._pause(f"the system cannot accept more, {fault.strerror}")
            free = self._places.take(peer[0])
            if free is None:
                sock.close()
                continue
            arriving = self._loop.create_task(self._arrive(sock, free))
            self._arriving.add(arriving)
            arriving.add_done_callback(self._arriving.discard)
        return None

    async def _arrive(self, sock: socket.socket, free: Callable[[], None]) -> None:
        try:
            await self._loop.connect_accepted_socket(
                partial(self._server, free),
                sock,
                ssl=self._tls,
                ssl_handshake_timeout=connection.HEAD_SECONDS if self._tls else None,
                ssl_shutdown_timeout=TLS_SHUTDOWN_SECONDS if self._tls else None,
            )
        except OSError:  # the handshake failed, or took too long
            free()


def _hold_little(listening: socket.socket) -> None:
    """Have the system take no more of an answer than its caller does, where it can: without, it
    takes some megabytes, which neither count nor show that nobody reads.
    """
    if sys.platform == "linux":
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)


def _drop_new_connections(listening: socket.socket) -> None:
    """Have the system drop new connections, where it can, and finish handshakes under way.

    A dropped client's system tries again after a second. Then it is refused, or accepted by the
    next server.
    """
    if sys.platform == "linux":
        code = ctypes.create_string_buffer(
            b"".join(struct.pack("HBBI", *step) for step in _DROP_NEW_CONNECTIONS)
        )
        program = struct.pack("HP", len(_DROP_NEW_CONNECTIONS), ctypes.addressof(code))
        with suppress(OSError):
            listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
