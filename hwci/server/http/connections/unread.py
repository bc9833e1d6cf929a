# SPDX-License-Identifier: Apache-2.0
"""What waits to be taken by a caller: held within bounds, sent in pieces, and at a pace (contract,
"Limits").

This module decides how large a piece is, how much may wait on all connections together, and how
fast it must be taken. Only what waits is counted: an answer that the system takes at once costs
nothing. Who gives way where there is no room is decided in `room.py`.
"""

import asyncio
import logging
import socket
import struct
from collections.abc import Hashable
from contextlib import suppress
from typing import IO, Any

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from hwci.server.errors import OverloadedError
from hwci.server.http.bodies.body import PACE_BYTES, PACE_SECONDS
from hwci.server.http.room import Holding, Room

LOG = logging.getLogger("hwci.server")

PIECE_BYTES = 64 * 1024
"""A longer answer is sent in pieces of this size, each once the one before is taken."""
UNREAD_BYTES = 64 * 1024 * 1024
"""All answers that wait to be taken, together. When there is no more room, the connection of the
organization or address that holds the most is closed.
"""
UNREAD_OF_ONE_BYTES = UNREAD_BYTES // 2
"""While more waits for one key, person or address, their next request is refused (503)."""
_NO_TIME = struct.pack("ii", 1, 0)
_NOTHING_WAITS = 1
"""With 0, a connection over TLS would seem to be full when it is empty."""


class Pieces(Payload):
    """A long body, of which one piece at a time waits to be taken."""

    def __init__(self, body: bytes) -> None:
        super().__init__(body)
        self._size = len(body)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Send the body."""
        body = memoryview(self._value)
        for start in range(0, len(body), PIECE_BYTES):
            await writer.write(body[start : start + PIECE_BYTES])
            await writer.drain()

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the body as text."""
        return bytes(self._value).decode(encoding, errors)


class PacedFile(web.FileResponse):
    """A file, which the system sends from the disk in pieces, each within its time; over TLS a
    piece is copied.
    """

    async def _sendfile(
        self, request: web.BaseRequest, fobj: IO[Any], offset: int, count: int
    ) -> AbstractStreamWriter:
        writer = await web.StreamResponse.prepare(self, request)
        assert writer is not None
        loop, end = asyncio.get_running_loop(), offset + count
        for start in range(offset, end, PACE_BYTES):
            transport = request.transport
            if transport is None or transport.is_closing():
                raise ConnectionResetError("The caller left")
            try:
                async with asyncio.timeout(PACE_SECONDS):
                    await loop.sendfile(transport, fobj, start, min(PACE_BYTES, end - start))
            except OSError as fault:  # TimeoutError, too
                _cut(transport)
                fault.__traceback__ = None  # it would hold the file in a cycle of references
                raise ConnectionResetError("The caller left, or takes too little") from None
        await web.StreamResponse.write_eof(self)
        return writer


class UnreadAnswers(Room):
    """All that waits on the connections of one server."""

    def __init__(self) -> None:
        super().__init__(UNREAD_BYTES)
        self._warned = False

    def warn_full(self, organization: Hashable) -> None:
        """Log who loses a connection: once, until half of the room is free again."""
        if not self._warned:
            self._warned = True
            LOG.warning(
                "Answers that nobody reads fill their room, %d bytes: connections of who holds the"
                " most are closed, now of %s",
                self.most,
                organization,
            )

    def note_free(self) -> None:
        """Note that somebody holds less."""
        self._warned = self._warned and self.held > self.most // 2


class Unread(Holding):
    """What waits on one connection. `answer`: the bytes of the answer that is being sent, all of
    which are kept until it is.
    """

    def __init__(self, room: UnreadAnswers, transport: asyncio.Transport) -> None:
        super().__init__(room)
        self.answer = 0
        self._answers = room
        self._transport = transport
        self._payer: tuple[Hashable, Hashable] = ("", "")
        self._due: asyncio.TimerHandle | None = None
        transport.set_write_buffer_limits(_NOTHING_WAITS)

    def count_for(self, organization: Hashable, key: Hashable) -> None:
        """Count what will wait for this caller. Raises `OverloadedError`: too much does already."""
        self._payer = (organization, key)
        share = self._answers.shares.get(self._payer)
        if share is not None and share.held > UNREAD_OF_ONE_BYTES:
            raise OverloadedError(
                f"More than {UNREAD_OF_ONE_BYTES} bytes of earlier answers wait for you to read"
                " them; read them or close their connections, then try again"
            )

    def begin(self) -> None:
        """Count what waits, and watch the pace."""
        waits = self._transport.get_write_buffer_size()
        self.charge_to(*self._payer)
        self._answers.movable.add(self)
        self.hold(min(max(self.answer, waits), self._answers.most))
        self._watch(waits)

    def end(self) -> None:
        """Count nothing: all is taken, or the connection is lost."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        self._answers.movable.discard(self)
        self.leave()
        self._answers.note_free()

    def evict(self) -> None:
        """Close the connection for others."""
        super().evict()
        self._answers.warn_full(self._payer[0])
        _cut(self._transport)

    def _watch(self, waits: int) -> None:
        loop = asyncio.get_running_loop()
        self._due = loop.call_later(PACE_SECONDS, self._look, waits)

    def _look(self, before: int) -> None:
        """Close the connection of who took too little since the last look."""
        waits = self._transport.get_write_buffer_size()
        if before - waits < PACE_BYTES:
            _cut(self._transport)
        else:
            self._watch(waits)


def _cut(transport: asyncio.Transport) -> None:
    """Close a connection by a reset: the system would go on to offer what it has taken."""
    sock = transport.get_extra_info("socket")
    with suppress(OSError):  # it may be closed
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_TIME)
    transport.abort()
