# SPDX-License-Identifier: Apache-2.0
"""The period of a page, and its division into slots (semantics, 10).

This module decides which instants belong to a period and to a slot, to the microsecond. It does
not know what is counted in them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hwci.contract.scope import PeriodOfDays

SLOTS_MAX = 90
_DAY = timedelta(days=1)
_EARLIEST = datetime.min.replace(tzinfo=UTC)


class Period(PeriodOfDays):
    """Both ends belong to the period (semantics, 10). `days`: as many as a person asked for, or how
    many times 24 hours it takes to hold it, at least once.
    """

    def __init__(self, start: datetime, end: datetime, days: int = 0) -> None:
        days = days or max(1, -(-(end - start) // _DAY))
        super().__init__(days=days, start=start, end=end)


def last_days(days: int, as_of: datetime) -> Period:
    """Return the period "N x 24 hours up to and including `asOf`", cut off at year 1."""
    length = timedelta(days=days)
    start = as_of - length if as_of - _EARLIEST > length else _EARLIEST
    return Period(start, as_of, days)


@dataclass(frozen=True, slots=True)
class Slots:
    """A period in slots, of which the first starts with it. A border is in the later slot, the
    period's end in the last.
    """

    period: Period
    starts: Sequence[datetime]

    def edges(self) -> list[datetime]:
        """Return the starts of all slots and the end of the last one."""
        return [*self.starts, self.period.end]

    def slot(self, at: datetime) -> int:
        """Return the number of the slot that holds an instant of the period."""
        return bisect_right(self.starts, at) - 1

    def counted(self, times: Sequence[datetime]) -> list[int]:
        """Count the instants of each slot; `times` are in order and within the period."""
        inner = self.edges()[1:-1]
        before = [0, *(bisect_left(times, edge) for edge in inner), len(times)]
        return [end - start for start, end in pairwise(before)]


def equal_slots(period: Period, count: int) -> Slots:
    """Divide a period into `count` slots of equal width."""
    length = period.end - period.start
    # Rounded up: no instant before the start of a slot is in it.
    return Slots(period, [period.start - -(length * number) // count for number in range(count)])


def slots_of(days: int, period: Period) -> Slots:
    """Divide the last `days` into one slot a day, or into `SLOTS_MAX` slots if fewer."""
    return equal_slots(period, min(days, SLOTS_MAX))
