# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""Events of runs in memory, in order of their numbers."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from hwci.server.storage.memory.lists import first
from hwci.server.storage.memory.state import State
from hwci.server.storage.records import Event, Happening


class MemoryEvents:
    """Events of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def events(
        self, org_id: UUID, after: int, limit: int, run_record_id: UUID | None = None
    ) -> Sequence[Event]:
        found = [
            event
            for event in self._state.events.get(org_id, ())
            if event.number > after and run_record_id in {None, event.happening.run_id}
        ]
        return found[:limit]

    def event_extent(self, org_id: UUID) -> tuple[int, int]:
        kept = self._state.events.get(org_id)
        return (kept[0].number, kept[-1].number) if kept else (1, 0)

    def add_event(self, org_id: UUID, happening: Happening) -> None:
        _, newest = self.event_extent(org_id)
        kept = self._state.events.get(org_id, ())
        self._state.events[org_id] = (*kept, Event(newest + 1, happening))

    def drop_events(self, before: datetime, most: int) -> int:
        dropped = 0
        for org_id, kept in self._state.events.items():
            stays = first(n for n, event in enumerate(kept) if event.happening.at >= before)
            old = min(len(kept) - 1 if stays is None else stays, most - dropped)
            self._state.events[org_id] = kept[old:]
            dropped += old
        return dropped


def appended(before: State, after: State) -> list[UUID]:
    """Return the organizations to which a transaction added an event."""
    return [
        org_id
        for org_id in after.events
        if MemoryEvents(after).event_extent(org_id)[1]
        > MemoryEvents(before).event_extent(org_id)[1]
    ]
