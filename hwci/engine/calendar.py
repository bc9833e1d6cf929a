# SPDX-License-Identifier: Apache-2.0
"""The calendar days of a reader that a period touches. This module decides where a day begins in a
zone, and knows nothing that happens on it.
"""

from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise

from hwci.contract.periods.days import CalendarDay
from hwci.engine.periods import Period

DAYS_MAX = 92
"""Up to so many days of a period are shown one by one: 90 days touch 91. More are grouped."""
_NEXT = timedelta(microseconds=1)


def calendar_days(period: Period, zone: tzinfo) -> tuple[CalendarDay, ...]:
    """Return the days of a zone that a period touches, in order: one by one, or so many together
    that there are `DAYS_MAX` at most, the last of them fewer.
    """
    first, last = (_local(at, zone) for at in (period.start, period.end))
    step = -(-((last - first).days + 1) // DAYS_MAX)
    numbers = [*range(first.toordinal(), last.toordinal() + 1, step), last.toordinal() + 1]
    edges = [_midnight(number, zone) for number in numbers]
    starts, ends = (
        [period.start, *edges[1:-1]],
        [*(edge - _NEXT for edge in edges[1:-1]), period.end],
    )
    return tuple(
        CalendarDay(
            first_day=date.fromordinal(number),
            last_day=date.fromordinal(after - 1),
            whole=starts[at] == edges[at] and ends[at] == edges[at + 1] - _NEXT,
            start=starts[at],
            end=ends[at],
        )
        for at, (number, after) in enumerate(pairwise(numbers))
    )


def _local(at: datetime, zone: tzinfo) -> date:
    """Return the day of an instant; of one at the ends of the calendar by UTC."""
    try:
        return at.astimezone(zone).date()
    except OverflowError:
        return at.astimezone(UTC).date()


def _midnight(ordinal: int, zone: tzinfo) -> datetime:
    """Return when a day begins; beyond the calendar, its end."""
    if ordinal > date.max.toordinal():
        return datetime.max.replace(tzinfo=UTC)
    midnight = datetime.combine(date.fromordinal(ordinal), datetime.min.time())
    try:
        return midnight.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return midnight.replace(tzinfo=UTC)
