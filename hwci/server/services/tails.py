# SPDX-License-Identifier: Apache-2.0
"""The newest events of an organization, kept in memory for all who follow it (contract, "Runs and
streams").

This module decides where an event is taken from: from memory when it is recent, else from storage,
a batch at a time. However many follow, new events are read from storage once. It does not know who
follows, or for how long.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from hwci.engine.vocabulary import RunEventType
from hwci.server.errors import ConflictError
from hwci.server.storage.ports import Reader, Storage
from hwci.server.storage.records import Event
from hwci.wire.runs import RunEvent

LENGTH = 256
BATCH = 64
"""Events that are read, and sent, at once."""


@dataclass(frozen=True, slots=True)
class Told:
    """An event as it is told: `data` is the JSON of a `RunEvent`."""

    number: int
    type: RunEventType
    run_id: UUID
    data: str


@dataclass(frozen=True, slots=True)
class Found:
    """Events in order, and the number up to which there are no others."""

    events: Sequence[Told]
    upto: int


def check_place(after: int, extent: tuple[int, int]) -> None:
    """Raise `ConflictError` when nobody could go on after this number without missing an event."""
    oldest, newest = extent
    fault = "is not kept any more" if after + 1 < oldest else "does not exist yet"
    if not oldest - 1 <= after <= newest:
        raise ConflictError(
            f"What follows event {after} cannot be told: it {fault}."
            " List the runs, then follow without an event to go on after"
        )


class Tail:
    """The newest events of one organization."""

    def __init__(self, storage: Storage, org_id: UUID) -> None:
        self._storage = storage
        self._org_id = org_id
        self._recent: deque[Told] = deque(maxlen=LENGTH)
        self._newest = 0
        self._heard = 1  # a new tail has everything to learn
        self._learnt = 0
        self._bell = asyncio.Event()
        self._learning = asyncio.Lock()

    @property
    def heard(self) -> int:
        """How often the tail was told that there is more."""
        return self._heard

    def hear(self) -> None:
        """Take note that there may be more, and wake who waits."""
        self._heard += 1
        self._bell.set()
        self._bell = asyncio.Event()

    async def rung(self, heard: int) -> None:
        """Return when more was heard than this."""
        if heard == self._heard:
            await self._bell.wait()

    async def place(self, after: int | None) -> int:
        """Give the number to go on after: `after`, once it is seen to be one, or the newest.

        Raises:
            ConflictError: nobody can go on after this number.
        """

        def look(reader: Reader) -> int:
            extent = reader.event_extent(self._org_id)
            if after is None:
                return extent[1]
            check_place(after, extent)
            return after

        return await self._storage.read(look, short=True)

    async def after(self, number: int, run_record_id: UUID | None) -> Found:
        """Give the next events after a number, of all runs or one.

        Raises:
            ConflictError: they are not kept any more.
        """
        await self._learn()
        skipped = number - (self._newest - len(self._recent))
        if skipped < 0:
            return await self._storage.read(
                lambda reader: self._kept(reader, number, run_record_id)
            )
        found = list(islice(self._recent, skipped, skipped + BATCH))
        mine = [told for told in found if run_record_id in {None, told.run_id}]
        return Found(mine, found[-1].number if found else number)

    async def _learn(self) -> None:
        """Read what is new; of many who ask at once, one does."""
        async with self._learning:
            while self._learnt < self._heard:
                heard = self._heard
                more = await self._storage.read(self._new, short=True)
                for told in more:
                    if told.number != self._newest + 1:
                        self._recent.clear()
                    self._recent.append(told)
                    self._newest = told.number
                if len(more) < BATCH:
                    self._learnt = heard

    def _new(self, reader: Reader) -> Sequence[Told]:
        """Read what comes after the newest that is known; a new tail begins near the end."""
        _, newest = reader.event_extent(self._org_id)
        known = max(self._newest, newest - BATCH)
        return [_told(event) for event in reader.events(self._org_id, known, BATCH)]

    def _kept(self, reader: Reader, number: int, run_record_id: UUID | None) -> Found:
        extent = reader.event_extent(self._org_id)
        check_place(number, extent)
        events = reader.events(self._org_id, number, BATCH, run_record_id)
        upto = events[-1].number if len(events) == BATCH else extent[1]
        return Found([_told(event) for event in events], upto)


def _told(event: Event) -> Told:
    happening = event.happening
    whole = RunEvent.model_validate(
        {
            "id": str(event.number),
            "type": happening.type,
            "runId": happening.run_id,
            "at": happening.at,
            **happening.body,
        }
    )
    # What an event does not have is left out; what a run does not have yet is null.
    data = whole.model_dump_json(exclude_unset=True)
    return Told(event.number, happening.type, happening.run_id, data)
