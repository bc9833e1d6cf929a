# SPDX-License-Identifier: Apache-2.0
"""Streams of the events of an organization (contract, "Runs and streams").

This module decides when a stream begins, waits and ends, and which one ends when all places are
taken. It does not know how events are sent, or where they are read from.
"""

import asyncio
import math
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.errors import RateLimitedError, StoppingError, UnauthenticatedError
from hwci.server.services.access import Access, Viewer, require_product
from hwci.server.services.runs.event_buffer import EventBuffer, StreamEvent
from hwci.server.services.runs.records import seen_since
from hwci.server.storage.ports import Reader, Storage
from hwci.server.storage.records import ReaderKey
from hwci.wire import limits

SILENCE_SECONDS = 15.0
"""A stream without events sends a sign of life after this."""
CHECK_SECONDS = 4.0
"""A sign-in or membership that ended is noticed within this time."""
COME_BACK_SECONDS = 15
_GIVE_WAY = (
    "Others are waiting for a place and your organization holds the most;"
    f" try again in {COME_BACK_SECONDS} seconds"
)
_TOKEN_ENDED = "The access token has ended; renew it, then go on after the last event"


@dataclass(frozen=True, slots=True)
class Subscription:
    """What someone wants to follow: one run or all, after an event or from now on. `connected`:
    whether they still are; `address`: theirs, as limits count it.
    """

    run_id: UUID | None
    after: int | None
    connected: Callable[[], bool]
    address: str


_Holders = tuple[UUID, str]
"""An organization and an address."""


class Stream:
    """The events for one follower."""

    def __init__(
        self, streams: "Streams", buffer: EventBuffer, viewer: Viewer, subscription: Subscription
    ) -> None:
        self._streams = streams
        self._buffer = buffer
        self._subscription = subscription
        self._check_at = _seconds() + CHECK_SECONDS
        self.viewer = viewer
        self.place = 0
        """The number of the last event that was sent."""
        self.displaced = False
        """Whether the place was given to another."""

    @property
    def holds(self) -> bool:
        """Whether it takes a place: one that left or was displaced may not have ended yet."""
        return self.connected and not self.displaced

    @property
    def holders(self) -> _Holders:
        """The organization and address that its place counts for."""
        return self.viewer.org_id, self._subscription.address

    @property
    def connected(self) -> bool:
        """Whether the follower is still connected."""
        return self._subscription.connected()

    async def begin(self) -> None:
        """Find the event to begin after. Raises `ConflictError`: there is no such event."""
        self.place = await self._buffer.place(self._subscription.after)

    async def next(self) -> Sequence[StreamEvent]:
        """Return the next events, in order; none after a time of silence, or if the follower has
        left.

        Raises:
            UnauthenticatedError: the token or the session has ended.
            NotFoundError: the follower is not a member any more.
            RateLimitedError: the place was given to someone who has fewer.
            StoppingError: the server stops.
        """
        silent_at = _seconds() + SILENCE_SECONDS
        while True:
            changes = self._buffer.changes
            await self._require_leave()
            batch = await self._buffer.after(self.place, self._subscription.run_id)
            moved, self.place = batch.upto != self.place, batch.upto
            if batch.events or not self.connected or _seconds() >= silent_at:
                return batch.events
            if not moved:
                await self._wait(changes, min(silent_at, self._check_at) - _seconds())

    async def _require_leave(self) -> None:
        """Raise what ends the stream, if anything does."""
        self._streams.require_open()
        if self.displaced:
            raise RateLimitedError(_GIVE_WAY, COME_BACK_SECONDS)
        if self._left() <= 0:
            raise UnauthenticatedError(_TOKEN_ENDED)
        if _seconds() >= self._check_at:
            await self._streams.access.check_viewer(self.viewer)
            self._check_at = _seconds() + CHECK_SECONDS

    def _left(self) -> float:
        """Return the seconds until the credential ends."""
        if isinstance(self.viewer, ReaderKey):
            return math.inf  # it works until it is revoked
        ends_at = self.viewer.claims.ends_at
        assert ends_at is not None, "only a token that is still to be made has no end"
        return (ends_at - self._streams.clock()).total_seconds()

    async def _wait(self, changes: int, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, min(seconds, self._left()))):
                await self._buffer.changed(changes)
        except TimeoutError:
            return


class Streams:
    """All streams of one server."""

    def __init__(self, storage: Storage, clock: Clock, access: Access) -> None:
        self._storage = storage
        self.clock = clock
        self.access = access
        self._open: dict[Stream, None] = {}  # the oldest first
        self._buffers: dict[UUID, EventBuffer] = {}
        self._unlisten: Callable[[], None] | None = None
        self._closing = False

    @asynccontextmanager
    async def following(self, viewer: Viewer, subscription: Subscription) -> AsyncIterator[Stream]:
        """Open a stream for a viewer; it holds a place while the block runs.

        Raises:
            StoppingError: the server stops.
            RateLimitedError: no place is left.
            ConflictError: there is no such event to go on after.
            ForbiddenError: it is not about a run of a product that the viewer may see.
        """
        self.require_open()
        await self._require_run(viewer, subscription.run_id)
        stream = Stream(self, self._buffer(viewer.org_id), viewer, subscription)
        self._open[stream] = None
        try:
            await stream.begin()
            self._make_place(stream)  # last: a stream that cannot begin displaces none
            yield stream
        finally:
            del self._open[stream]
            if all(other.viewer.org_id != viewer.org_id for other in self._open):
                self._buffers.pop(viewer.org_id, None)

    def require_open(self) -> None:
        """Raise `StoppingError` once streams are closed."""
        if self._closing:
            raise StoppingError("The server is stopping; follow again in a few seconds")

    def close(self) -> None:
        """End all streams, and let none begin."""
        self._closing = True
        if self._unlisten is not None:
            self._unlisten()
        for buffer in self._buffers.values():
            buffer.note_change()

    def _make_place(self, new: Stream) -> None:
        """Make room for a stream, if need be by displacing another. Raises `RateLimitedError`."""
        viewer = new.viewer
        held = [stream for stream in self._open if stream.holds and stream is not new]
        theirs = sum(stream.viewer.id == viewer.id for stream in held)
        if theirs >= limits.STREAMS_PER_USER:
            raise RateLimitedError(
                f"You follow {theirs} streams, as many as one person may;"
                f" close one, or try again in {COME_BACK_SECONDS} seconds",
                COME_BACK_SECONDS,
            )
        if len(held) < limits.STREAMS_PER_SERVER:
            return
        displaced = _whose_place(held, new.holders)
        if displaced is None:
            raise RateLimitedError(
                "As many streams as this server can serve are followed, and no organization holds"
                f" more than yours; try again in {COME_BACK_SECONDS} seconds",
                COME_BACK_SECONDS,
            )
        displaced.displaced = True
        self._buffers[displaced.viewer.org_id].note_change()

    async def _require_run(self, viewer: Viewer, run_id: UUID | None) -> None:
        if isinstance(viewer, ReaderKey) and viewer.products:
            since, org_id = seen_since(self.clock()), viewer.org_id

            def look(reader: Reader) -> None:
                run = None if run_id is None else reader.run_record(org_id, run_id, since)
                named = (None, None) if run is None else (run.repo_key, run.suite)
                require_product(viewer, *named)

            await self._storage.read(look, short=True)

    def _buffer(self, org_id: UUID) -> EventBuffer:
        if self._unlisten is None:
            self._unlisten = self._storage.listen(self._note_change)
        return self._buffers.setdefault(org_id, EventBuffer(self._storage, org_id))

    def _note_change(self, org_id: UUID) -> None:
        if org_id in self._buffers:
            self._buffers[org_id].note_change()


def _whose_place(held: Sequence[Stream], newcomer: _Holders) -> Stream | None:
    """Return the stream that a newcomer displaces; None if no other would then hold more.

    Organizations are compared first, then addresses, so neither many accounts of one organization
    nor many organizations of one address keep others out.
    """
    streams_of = Counter(holder for stream in held for holder in stream.holders)

    def share(holders: _Holders, more: int = 0) -> tuple[int, ...]:
        return tuple(streams_of[holder] + more for holder in holders)

    most = max(reversed(held), key=lambda stream: share(stream.holders))
    return most if share(most.holders) > share(newcomer, 1) else None


def _seconds() -> float:
    return asyncio.get_running_loop().time()
