# SPDX-License-Identifier: Apache-2.0
"""The newest events of an organization, in memory for its streams (contract, "Runs and streams").

This module decides where an event is read from: memory if it is recent, else storage, a batch at a
time. However many streams there are, new events are read from storage once.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from hwci.contract.runs.runs import RunEvent
from hwci.contract.vocabulary import RunEventType
from hwci.server.errors import ConflictError
from hwci.server.storage.ports import Reader, Storage
from hwci.server.storage.records import Event
from hwci.wire.codec import adapter
from hwci.wire.runs import event_json

LENGTH = 256
BATCH = 64
"""Events that are read, and sent, at once."""


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """An event as it is sent: `data` is the JSON of a `RunEvent`."""

    number: int
    type: RunEventType
    run_id: UUID
    data: str


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events in order, and the number up to which there are no others."""

    events: Sequence[StreamEvent]
    upto: int


def check_place(after: int, extent: tuple[int, int]) -> None:
    """Raise `ConflictError` if a stream that goes on after this number would miss an event."""
    oldest, newest = extent
    fault = "is not kept any more" if after + 1 < oldest else "does not exist yet"
    if not oldest - 1 <= after <= newest:
        raise ConflictError(
            f"The stream cannot resume after event {after}: it {fault}."
            " List the runs, then follow without the id of an event"
        )


class EventBuffer:
    """The newest events of one organization."""

    def __init__(self, storage: Storage, org_id: UUID) -> None:
        self._storage = storage
        self._org_id = org_id
        self._recent: deque[StreamEvent] = deque(maxlen=LENGTH)
        self._newest = 0
        self._changes = 1  # a new buffer has everything to read
        self._read_changes = 0
        self._changed = asyncio.Event()
        self._reading = asyncio.Lock()

    @property
    def changes(self) -> int:
        """The number of `note_change` calls so far."""
        return self._changes

    def note_change(self) -> None:
        """Note that there may be new events, and wake those who wait."""
        self._changes += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def changed(self, changes: int) -> None:
        """Return when there were more changes than this."""
        if changes == self._changes:
            await self._changed.wait()

    async def place(self, after: int | None) -> int:
        """Return the number to go on after, by default the newest. Raises as `check_place`."""

        def look(reader: Reader) -> int:
            extent = reader.event_extent(self._org_id)
            if after is None:
                return extent[1]
            check_place(after, extent)
            return after

        return await self._storage.read(look, short=True)

    async def after(self, number: int, run_record_id: UUID | None) -> EventBatch:
        """Return the next events after a number, of all runs or one. Raises as `check_place`."""
        await self._catch_up()
        skipped = number - (self._newest - len(self._recent))
        if skipped < 0:
            return await self._storage.read(
                lambda reader: self._read_older(reader, number, run_record_id)
            )
        events = list(islice(self._recent, skipped, skipped + BATCH))
        mine = [event for event in events if run_record_id in {None, event.run_id}]
        return EventBatch(mine, events[-1].number if events else number)

    async def _catch_up(self) -> None:
        """Read new events; of many callers at once, one does."""
        async with self._reading:
            while self._read_changes < self._changes:
                changes = self._changes
                more = await self._storage.read(self._read_new, short=True)
                for event in more:
                    if event.number != self._newest + 1:
                        self._recent.clear()
                    self._recent.append(event)
                    self._newest = event.number
                if len(more) < BATCH:
                    self._read_changes = changes

    def _read_new(self, reader: Reader) -> Sequence[StreamEvent]:
        """Read what comes after the newest known event; a new buffer begins near the end."""
        _, newest = reader.event_extent(self._org_id)
        known = max(self._newest, newest - BATCH)
        return [_as_sent(event) for event in reader.events(self._org_id, known, BATCH)]

    def _read_older(self, reader: Reader, number: int, run_record_id: UUID | None) -> EventBatch:
        extent = reader.event_extent(self._org_id)
        check_place(number, extent)
        events = reader.events(self._org_id, number, BATCH, run_record_id)
        upto = events[-1].number if len(events) == BATCH else extent[1]
        return EventBatch([_as_sent(event) for event in events], upto)


def _as_sent(event: Event) -> StreamEvent:
    happening = event.happening
    whole = adapter(RunEvent).validate_python(
        {
            "id": str(event.number),
            "type": happening.type,
            "runId": happening.run_id,
            "at": happening.at,
            **happening.body,
        }
    )
    return StreamEvent(event.number, happening.type, happening.run_id, event_json(whole))
