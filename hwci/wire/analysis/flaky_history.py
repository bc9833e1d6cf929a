# SPDX-License-Identifier: Apache-2.0
"""Flaky tests over time: in the slots of the trend, or by the calendar days of a reader (contract,
"CI metrics"). No figure is computed here.
"""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from hwci.analysis.periods.days import Days, calendar_days
from hwci.contract.shape import ListPage, shape
from hwci.engine.periods import Period
from hwci.wire.analysis.days import CalendarDay, Zone
from hwci.wire.metrics import FlakyTestHistory
from hwci.wire.queries import FlakyQuery, RankedQuery


class FlakyHistoryQuery(FlakyQuery):
    """Query of flaky tests over time. `zone`: its calendar days are the slots."""

    zone: Zone | None = None

    def by_day(self, period: Period) -> list[Days] | None:
        """Return the days of the zone; None: none was asked for."""
        return None if self.zone is None else calendar_days(period, ZoneInfo(self.zone))


class RankedHistoryQuery(FlakyHistoryQuery, RankedQuery):
    """Query of flaky tests over time, in the order of a rank."""


@shape
class FlakyHistories(ListPage[FlakyTestHistory]):
    """Rows of "Flakiest tests" over time. `days`: what the slots are, if a zone was asked for."""

    days: tuple[CalendarDay, ...] | None = None


def histories(page: ListPage[FlakyTestHistory], days: Sequence[Days] | None) -> FlakyHistories:
    """Make a page of the rows."""
    of_days = None if days is None else tuple(map(CalendarDay.of_days, days))
    return FlakyHistories(**vars(page), days=of_days)
