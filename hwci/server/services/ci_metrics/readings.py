# SPDX-License-Identifier: Apache-2.0
"""A cache of readings, so that the pages of a table cost one reading, not one each.

Its key holds the version of the history, so the cache is exact: readings of an earlier version are
never asked for again. This module bounds the size of the cache; it decides no figure.
"""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from hwci.engine.history import Decision, Episode, History, Scope
from hwci.engine.page.failures import LabelledFailure
from hwci.engine.page.over_time import Dates, read_dates
from hwci.engine.page.reading import Reading, read_failures, read_period
from hwci.engine.periods import Period

ENTRIES_MAX = 16
SIZE_MAX = 60_000  # rows of all readings together, at about 500 bytes


class ReadingKey(NamedTuple):
    """The key of a reading. `version` was read on the snapshot that the history answers from."""

    org_id: UUID
    version: int
    scope: Scope
    period: Period


@dataclass(slots=True)
class _Place:
    """Room for one reading, and for its dates and failures once they are asked for."""

    reading: Reading | None = None
    dates: Dates | None = None
    failures: Sequence[LabelledFailure] | None = None

    @property
    def size(self) -> int:
        parts = sum(part.size for part in (self.reading, self.dates) if part is not None)
        return parts + len(self.failures or ())


class Decided(NamedTuple):
    """What a reading of this version of a history decided about episodes."""

    org_id: UUID
    version: int
    decisions: Sequence[tuple[Episode, Decision]]


class Readings:
    """The readings asked for last, shared by the threads of all readers. An organization reads one
    thing at a time (`Storage.read`), so no two threads read the same.
    """

    def __init__(self, entries_max: int = ENTRIES_MAX, size_max: int = SIZE_MAX) -> None:
        self._entries_max = entries_max
        self._size_max = size_max
        self._lock = Lock()
        self._places: OrderedDict[ReadingKey, _Place] = OrderedDict()
        self._decided: dict[UUID, Decided] = {}

    def of(self, key: ReadingKey, history: History) -> Reading:
        """Return the reading, read now if it is not kept."""
        place = self._place(key)
        if place.reading is None:
            decided: list[tuple[Episode, Decision]] = []
            try:
                place.reading = read_period(history, key.scope, key.period, decided)
            finally:  # also when the time ran out, so that the next page has less to decide
                self.note_decided(key.org_id, key.version, decided)
        reading = place.reading
        self._make_room()
        return reading

    def dates_of(self, key: ReadingKey, history: History) -> Dates:
        """Return the dates of what the reading counts."""
        reading = self.of(key, history)
        place = self._place(key)
        if place.dates is None:
            place.dates = read_dates(history, key.scope, key.period, reading)
        dates = place.dates
        self._make_room()
        return dates

    def failures_of(self, key: ReadingKey, history: History) -> Sequence[LabelledFailure]:
        """Return the failures of the period with their labels."""
        place = self._place(key)
        if place.failures is None:
            place.failures = read_failures(history, key.scope, key.period)
        failures = place.failures
        self._make_room()
        return failures

    def take_decided(self) -> Sequence[Decided]:
        """Return what was decided since the last call, of the latest version of each history."""
        with self._lock:
            decided = [*self._decided.values()]
            self._decided.clear()
        return decided

    def note_decided(
        self, org_id: UUID, version: int, decided: Sequence[tuple[Episode, Decision]]
    ) -> None:
        """Note what was decided about this version of a history."""
        if decided:
            with self._lock:
                before = self._decided.get(org_id)
                same = before.decisions if before and before.version == version else ()
                self._decided[org_id] = Decided(org_id, version, [*same, *decided])

    def _place(self, key: ReadingKey) -> _Place:
        with self._lock:
            if key not in self._places:
                self._forget_before(key)
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
            return place

    def _forget_before(self, key: ReadingKey) -> None:
        for kept in list(self._places):
            if kept.org_id == key.org_id and kept.version < key.version:
                del self._places[kept]

    def _make_room(self) -> None:
        """Drop the least recently used ones; the last one stays, whatever its size."""
        with self._lock:
            size = sum(place.size for place in self._places.values())
            while len(self._places) > 1 and (
                len(self._places) > self._entries_max or size > self._size_max
            ):
                size -= self._places.popitem(last=False)[1].size
