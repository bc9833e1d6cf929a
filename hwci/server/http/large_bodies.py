# SPDX-License-Identifier: Apache-2.0
"""Room for bodies: a legal report may hold 64 MiB, many at once would hold the machine.

This module decides how many bytes of bodies are in memory together, from the moment they arrive
until the request is answered, who gives way when there is no more room, and whose turn it is to
have a large body read, which takes several times its size. The organization that holds the most
gives way (503 with `Retry-After`: a reporter comes again), so nobody is kept out by another one.
It does not know what a body says.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType

from hwci.server.errors import OverloadedError

PIECE_BYTES = 64 * 1024
"""Bodies are kept in pieces that are about as long: many long ones that grow leave holes in memory,
several times what they hold.
"""
ROOM_BYTES = 80 * 1024 * 1024
"""Of all bodies of a server together; a single one is at most 64 MiB. While one is read, the server
holds less than 400 MiB.
"""
TURN_SECONDS = 30.0
"""So long may a large body wait to be read."""

_FULL = "Too many large bodies arrive at once; try again in a few seconds"


@dataclass(eq=False, slots=True)
class _Share:
    """What an organization, or one of its keys, has of the room. `turns`: had while it was here."""

    held: int = 0
    rooms: int = 0
    turns: int = 0


class Room:
    """The room of one request. `pieces`: of the body, as far as it has arrived, `size` bytes; their
    memory is free once it gave way. `called`: its turn has come.
    """

    def __init__(self, bodies: "LargeBodies") -> None:
        self.pieces: list[bytearray] = []
        self.size = 0
        self._bodies = bodies
        self._names: tuple[Hashable, ...] = ()
        self._shares: tuple[_Share, ...] = ()
        self._waiting: asyncio.Timeout | None = None
        self.called = asyncio.Event()
        self._gave_way = False

    def belong(self, organization: Hashable, key: Hashable) -> None:
        """Say whose body it is, before any of it is taken."""
        self._names = (organization, (organization, key))
        self._shares = tuple(self._bodies.shares.setdefault(name, _Share()) for name in self._names)
        for share in self._shares:
            share.rooms += 1

    def take(self, chunk: bytes) -> None:
        """Keep bytes that have arrived. Raises `OverloadedError`: others need the room more."""
        while not self._gave_way and self._bodies.held + len(chunk) > ROOM_BYTES:
            self._bodies.greediest(self)._give_way()  # noqa: SLF001 - of the same class
        if self._gave_way:
            raise OverloadedError(_FULL)
        if self.pieces and len(self.pieces[-1]) < PIECE_BYTES:
            self.pieces[-1] += chunk
        else:
            self.pieces.append(bytearray(chunk))
        self._hold(len(chunk))

    @asynccontextmanager
    async def patience(self, seconds: float) -> AsyncIterator[asyncio.Timeout]:
        """Wait within the block for so many seconds; meanwhile the room can be needed by others.

        Raises:
            OverloadedError: it was.
            TimeoutError: the time is up.
        """
        try:
            async with asyncio.timeout(seconds) as self._waiting:
                self._bodies.movable.add(self)
                yield self._waiting
        except TimeoutError:
            if not self._gave_way:
                raise
        finally:
            self._bodies.movable.discard(self)
        if self._gave_way:  # perhaps just as what it waited for came
            raise OverloadedError(_FULL)

    async def turn(self) -> None:
        """Wait until this body may be read; no other large one is, until its request is answered.

        Raises:
            OverloadedError: its turn does not come in time.
        """
        self._bodies.line.append(self)
        self._bodies.call_next()
        try:
            async with self.patience(TURN_SECONDS):
                await self.called.wait()
        except TimeoutError:
            raise OverloadedError(_FULL) from None
        finally:
            if not self.called.is_set():
                self._bodies.line.remove(self)
        for share in self._shares:
            share.turns += 1

    @property
    def weight(self) -> tuple[int, ...]:
        """Who has the greatest gives way first."""
        return (*(share.held for share in self._shares), self.size)

    @property
    def turns(self) -> tuple[int, ...]:
        """Who has the fewest is next."""
        return tuple(share.turns for share in self._shares)

    def _hold(self, size: int) -> None:
        self.size += size
        self._bodies.held += size
        for share in self._shares:
            share.held += size

    def _leave(self) -> None:
        self._hold(-self.size)
        self.pieces = []

    def _give_way(self) -> None:
        self._gave_way = True
        self._leave()
        if self._waiting is not None and not self._waiting.expired():
            self._waiting.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> "Room":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()
        for name, share in zip(self._names, self._shares, strict=True):
            share.rooms -= 1
            if not share.rooms:
                del self._bodies.shares[name]
        if self._bodies.read is self:
            self._bodies.read = None
            self._bodies.call_next()


class LargeBodies:
    """The room of one server."""

    def __init__(self) -> None:
        self.held = 0
        self.shares: dict[Hashable, _Share] = {}
        self.movable: set[Room] = set()
        self.line: list[Room] = []
        self.read: Room | None = None

    def room(self) -> Room:
        """Return a request's claim to room."""
        return Room(self)

    def greediest(self, claimant: Room) -> Room:
        """Return who gives way: of the organization that holds the most, the largest body of the
        key that does; among equals the claimant.
        """
        able = {room for room in self.movable if room.size} | {claimant}
        return max(able, key=lambda room: (*room.weight, room is claimant))

    def call_next(self) -> None:
        """Call who is next, if none is read: of the organization, and of its key, that had the
        fewest turns. Nothing is awaited, so nobody's end can leave the others uncalled.
        """
        if self.read is None and self.line:
            self.read = min(self.line, key=lambda room: room.turns)
            self.line.remove(self.read)
            self.read.called.set()
