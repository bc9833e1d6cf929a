# SPDX-License-Identifier: Apache-2.0
"""Readings that are remembered, so that the pages of a table cost one reading, not one each.

A reading is kept by what it was read of: the organization, the number of its history's state, the
scope and the period. So it is exact: a state that changed has another number, and its readings
are never asked for again. This module bounds how much is kept; it decides no figure.
"""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from hwci.engine.history import History, Scope
from hwci.engine.page.over_time import Dates, read_dates
from hwci.engine.page.reading import Reading, read_period
from hwci.engine.periods import Period

ENTRIES_MAX = 16
SIZE_MAX = 60_000  # rows of all readings together, at about 500 bytes


class Asked(NamedTuple):
    """What a reading is of. `version` was read on the snapshot that the history answers from."""

    org_id: UUID
    version: int
    scope: Scope
    period: Period


@dataclass(slots=True)
class _Place:
    """Room for one reading, and for its dates once somebody asks for them."""

    reading: Reading | None = None
    dates: Dates | None = None

    @property
    def size(self) -> int:
        return sum(part.size for part in (self.reading, self.dates) if part is not None)


class Readings:
    """The readings asked for last, shared by the threads of all readers. An organization reads one
    thing at a time (`Storage.read`), so no two threads read the same.
    """

    def __init__(self, entries_max: int = ENTRIES_MAX, size_max: int = SIZE_MAX) -> None:
        self._entries_max = entries_max
        self._size_max = size_max
        self._lock = Lock()
        self._places: OrderedDict[Asked, _Place] = OrderedDict()

    def of(self, asked: Asked, history: History) -> Reading:
        """Return the reading, read now if it is not kept."""
        place = self._place(asked)
        if place.reading is None:
            place.reading = read_period(history, asked.scope, asked.period)
        reading = place.reading
        self._make_room()
        return reading

    def dates_of(self, asked: Asked, history: History) -> Dates:
        """Return the dates of what the reading counts."""
        reading = self.of(asked, history)
        place = self._place(asked)
        if place.dates is None:
            place.dates = read_dates(history, asked.scope, asked.period, reading)
        dates = place.dates
        self._make_room()
        return dates

    def _place(self, asked: Asked) -> _Place:
        with self._lock:
            if asked not in self._places:
                self._forget_before(asked)
            place = self._places.setdefault(asked, _Place())
            self._places.move_to_end(asked)
            return place

    def _forget_before(self, asked: Asked) -> None:
        """Drop readings of earlier states."""
        for kept in list(self._places):
            if kept.org_id == asked.org_id and kept.version < asked.version:
                del self._places[kept]

    def _make_room(self) -> None:
        """Drop those that were not used for longest; the last one stays, whatever its size."""
        with self._lock:
            size = sum(place.size for place in self._places.values())
            while len(self._places) > 1 and (
                len(self._places) > self._entries_max or size > self._size_max
            ):
                size -= self._places.popitem(last=False)[1].size
