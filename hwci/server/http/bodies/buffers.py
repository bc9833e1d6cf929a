# SPDX-License-Identifier: Apache-2.0
"""Memory for bodies: a report may have 64 MiB, and many at once would fill the machine.

This module decides how many bytes of bodies are in memory, from their arrival to the answer; which
body is dropped when there is no room; and whose large body is parsed next. The organization that
holds the most loses a body (503 with `Retry-After`), so none keeps another one out.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType

from hwci.server.errors import OverloadedError
from hwci.server.http.bodies.apart import BodyProcess

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


@dataclass(eq=False, slots=True)
class _Share:
    """What an organization or key holds. `turns`: large bodies parsed since it last held none."""

    held: int = 0
    buffers: int = 0
    turns: int = 0


class BodyBuffer:
    """The body of one request. `pieces`: the `size` bytes so far. `called`: it may be parsed."""

    def __init__(self, bodies: "LargeBodies") -> None:
        self.pieces: list[bytearray] = []
        self.size = 0
        self._bodies = bodies
        self._names: tuple[Hashable, ...] = ()
        self._shares: tuple[_Share, ...] = ()
        self._waiting: asyncio.Timeout | None = None
        self.called = asyncio.Event()
        self._evicted = False

    def charge_to(self, organization: Hashable, key: Hashable) -> None:
        """Count the body for its sender, before any of it is taken."""
        self._names = (organization, (organization, key))
        self._shares = tuple(self._bodies.shares.setdefault(name, _Share()) for name in self._names)
        for share in self._shares:
            share.buffers += 1

    def take(self, chunk: bytes) -> None:
        """Keep bytes that have arrived. Raises `OverloadedError`: it was evicted."""
        while not self._evicted and self._bodies.held + len(chunk) > ROOM_BYTES:
            self._bodies.greediest(self).evict()
        if self._evicted:
            raise OverloadedError(_FULL)
        if self.pieces and len(self.pieces[-1]) < PIECE_BYTES:
            self.pieces[-1] += chunk
        else:
            self.pieces.append(bytearray(chunk))
        self._hold(len(chunk))

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
            if not self._evicted:
                raise
        finally:
            self._bodies.movable.discard(self)
        if self._evicted:  # perhaps at the moment when the wait ended
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
        for share in self._shares:
            share.turns += 1
        return self._bodies.process

    @property
    def weight(self) -> tuple[int, ...]:
        """The heaviest is evicted first."""
        return (*(share.held for share in self._shares), self.size)

    @property
    def turns(self) -> tuple[int, ...]:
        """The one with the fewest is next."""
        return tuple(share.turns for share in self._shares)

    def _hold(self, size: int) -> None:
        self.size += size
        self._bodies.held += size
        for share in self._shares:
            share.held += size

    def _leave(self) -> None:
        self._hold(-self.size)
        self.pieces = []

    def evict(self) -> None:
        """Free the space of this body for others. Its reader gets an error."""
        self._evicted = True
        self._leave()
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
        self._leave()
        for name, share in zip(self._names, self._shares, strict=True):
            share.buffers -= 1
            if not share.buffers:
                del self._bodies.shares[name]
        if self._bodies.read is self:
            self._bodies.read = None
            self._bodies.call_next()


class LargeBodies:
    """The bodies of one server."""

    def __init__(self) -> None:
        self.held = 0
        self.shares: dict[Hashable, _Share] = {}
        self.movable: set[BodyBuffer] = set()
        self.line: list[BodyBuffer] = []
        self.read: BodyBuffer | None = None
        self.process = BodyProcess()

    def buffer(self) -> BodyBuffer:
        """Return a buffer for one request."""
        return BodyBuffer(self)

    def greediest(self, claimant: BodyBuffer) -> BodyBuffer:
        """Return the body to evict: of the organization that holds the most, the largest body of
        the key that holds the most; among equals the claimant.
        """
        able = {buffer for buffer in self.movable if buffer.size} | {claimant}
        return max(able, key=lambda buffer: (*buffer.weight, buffer is claimant))

    def call_next(self) -> None:
        """Call the next body, if none is being parsed: of the organization, and of its key, that
        had the fewest turns. It awaits nothing, so no cancellation can leave the others waiting.
        """
        if self.read is None and self.line:
            self.read = min(self.line, key=lambda buffer: buffer.turns)
            self.line.remove(self.read)
            self.read.called.set()
