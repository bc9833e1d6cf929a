# SPDX-License-Identifier: Apache-2.0
"""A period cut into slots of equal width (contract, "CI metrics").

This module decides where a slot ends and in which one an instant lies, to the microsecond. It does
not know what is counted in a slot.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from hwci.engine.history import Period

SLOTS_MAX = 90


@dataclass(frozen=True, slots=True)
class Slots:
    """So many slots of a period. What lies on the border of two belongs to the later one; the end
    of the period belongs to the last slot, as it belongs to the period.
    """

    period: Period
    count: int

    def edges(self) -> list[datetime]:
        """Give where the slots start, and where the last one ends."""
        start, length = self.period.start, self.period.end - self.period.start
        # Rounded up: no instant before an edge is in the slot that it begins.
        return [start - -(length * number) // self.count for number in range(self.count + 1)]

    def slot(self, at: datetime) -> int:
        """Give the number of the slot in which an instant of the period lies."""
        start, end = self.period.start, self.period.end
        return self.count - 1 if at >= end else (at - start) * self.count // (end - start)

    def counted(self, times: Sequence[datetime]) -> list[int]:
        """Count instants of the period, given in order, by slot."""
        inner = self.edges()[1:-1]
        before = [0, *(bisect_left(times, edge) for edge in inner), len(times)]
        return [end - start for start, end in pairwise(before)]


def slots_of(days: int, period: Period) -> Slots:
    """Cut the last days into slots: days, as far as there are not too many."""
    return Slots(period, min(days, SLOTS_MAX))
