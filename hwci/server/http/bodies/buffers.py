# SPDX-License-Identifier: Apache-2.0
"""Memory for bodies: a report may have 64 MiB, and many at once would fill the machine.

This module decides whose large body is parsed next, and what becomes of a body that gives way
(503 with `Retry-After`). Which one does is decided in `room.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType

from hwci.server.errors import OverloadedError
from hwci.server.http.bodies.apart import BodyProcess
from hwci.server.http.room import Holding, Room

PIECE_BYTES = 64 * 1024
"""Bodies are kept in pieces of about this size: long arrays that grow would leave holes in memory
of several times their size.
"""
ROOM_BYTES = 80 * 1024 * 1024
"""All bodies that a server holds, together; a single one has at most 64 MiB. While one is read,
the server holds less than 400 MiB.
"""
TURN_SECONDS = 30.0
"""How long a large body may wait to be parsed."""

_FULL = "Too many large bodies arrive at once; try again in a few seconds"


class BodyBuffer(Holding):
    """The body of one request. `pieces`: the `size` bytes so far. `called`: it may be parsed."""

    def __init__(self, bodies: "LargeBodies") -> None:
        super().__init__(bodies)
        self.pieces: list[bytearray] = []
        self._bodies = bodies
        self._waiting: asyncio.Timeout | None = None
        self.called = asyncio.Event()

    def take(self, chunk: bytes) -> None:
        """Keep bytes that have arrived. Raises `OverloadedError`: it was evicted."""
        self.hold(len(chunk))
        if self.evicted:
            raise OverloadedError(_FULL)
        if self.pieces and len(self.pieces[-1]) < PIECE_BYTES:
            self.pieces[-1] += chunk
        else:
            self.pieces.append(bytearray(chunk))

    @asynccontextmanager
    async def wait_at_most(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """Run the block for so many seconds at most; the body may be evicted meanwhile.

        Raises:
            OverloadedError: it was evicted.
            TimeoutError: the time is up.
        """
        try:
            async with asyncio.timeout(seconds) as self._waiting:
                self._bodies.movable.add(self)
                yield self._waiting
        except TimeoutError:
            if not self.evicted:
                raise
        finally:
            self._bodies.movable.discard(self)
        if self.evicted:  # perhaps at the moment when the wait ended
            raise OverloadedError(_FULL)

    async def wait_turn(self) -> BodyProcess:
        """Wait for this body's turn, which the request's end frees, and return the process that
        reads it. Raises `OverloadedError`.
        """
        self._bodies.line.append(self)
        self._bodies.call_next()
        try:
            async with self.wait_at_most(TURN_SECONDS):
                await self.called.wait()
        except TimeoutError:
            raise OverloadedError(_FULL) from None
        finally:
            if not self.called.is_set():
                self._bodies.line.remove(self)
        for share in self.shares:
            share.turns += 1
        return self._bodies.process

    @property
    def turns(self) -> tuple[int, ...]:
        """The one with the fewest is next."""
        return tuple(share.turns for share in self.shares)

    def free(self) -> None:
        """Drop the body."""
        super().free()
        self.pieces = []

    def evict(self) -> None:
        """Free the space of this body for others. Its reader gets an error."""
        super().evict()
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> "BodyBuffer":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()
        if self._bodies.read is self:
            self._bodies.read = None
            self._bodies.call_next()


class LargeBodies(Room):
    """The bodies of one server."""

    def __init__(self) -> None:
        super().__init__(ROOM_BYTES)
        self.line: list[BodyBuffer] = []
        self.read: BodyBuffer | None = None
        self.process = BodyProcess()

    def buffer(self) -> BodyBuffer:
        """Return a buffer for one request."""
        return BodyBuffer(self)

    def call_next(self) -> None:
        """Call the next body, if none is being parsed: of the organization, and of its key, that
        had the fewest turns. It awaits nothing, so no cancellation can leave the others waiting.
        """
        if self.read is None and self.line:
            self.read = min(self.line, key=lambda buffer: buffer.turns)
            self.line.remove(self.read)
            self.read.called.set()
