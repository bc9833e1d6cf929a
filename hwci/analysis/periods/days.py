# SPDX-License-Identifier: Apache-2.0
"""A period by the calendar days of a reader: what the tiles count on each, and how sure a share is
(ADR 0074).

This module decides where a day begins in a zone and what its interval is. What counts is decided
where the page is made (`engine/page`).
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise

from hwci.analysis.certainty import share_of_cases
from hwci.contract.shares import Share
from hwci.engine.page.over_time import Dates
from hwci.engine.periods import Period

DAYS_MAX = 92
"""Up to so many days of a period are shown one by one: 90 days touch 91. More are grouped."""
_NEXT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Days:
    """One calendar day, or several. `period`: the part of it that the period asked for has;
    `is_whole`: that is all of it.
    """

    first: date
    last: date
    period: Period
    is_whole: bool


@dataclass(frozen=True, slots=True)
class DayCounts:
    """What the tiles count of some days. `checked` and `infra` are None where there is no merge, or
    no run.
    """

    days: Days
    merges_checked: int
    merges_announced: int
    real_fw_bugs: int
    flaky_failures: int
    infra_runs: int
    runs: int

    @property
    def checked(self) -> Share | None:
        """The share of the merges that were checked."""
        return share_of_cases(self.merges_checked, self.merges_announced)

    @property
    def infra(self) -> Share | None:
        """The share of the runs that never reached the hardware."""
        return share_of_cases(self.infra_runs, self.runs)


def calendar_days(period: Period, zone: tzinfo) -> list[Days]:
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
    return [
        Days(
            first=date.fromordinal(number),
            last=date.fromordinal(after - 1),
            period=Period(starts[at], ends[at]),
            is_whole=starts[at] == edges[at] and ends[at] == edges[at + 1] - _NEXT,
        )
        for at, (number, after) in enumerate(pairwise(numbers))
    ]


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


def by_day(dates: Dates, days: Sequence[Days]) -> list[DayCounts]:
    """Count the dates of each of these days."""
    edges = [day.period.start for day in days[1:]]
    counts = zip(*(_counted(times, edges) for times in dates), strict=True)
    return [DayCounts(one, *row) for one, row in zip(days, counts, strict=True)]


def _counted(times: Sequence[datetime], edges: Sequence[datetime]) -> list[int]:
    before = [0, *(bisect_left(times, edge) for edge in edges), len(times)]
    return [end - start for start, end in pairwise(before)]
