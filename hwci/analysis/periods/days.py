# SPDX-License-Identifier: Apache-2.0
"""A period by the calendar days of a reader: what the tiles count on each, and how sure a share is
(ADR 0009). What counts is decided where the page is made (`engine/page`).
"""

from collections.abc import Sequence
from zoneinfo import ZoneInfo

from hwci.analysis.certainty import share_of_cases
from hwci.analysis.periods.targets import targets
from hwci.contract.periods.days import CalendarDay, DayCounts, Days
from hwci.engine.calendar import calendar_days
from hwci.engine.history import History, Scope
from hwci.engine.page.over_time import Dates, counted
from hwci.engine.periods import Period, Slots


def by_day(dates: Dates, period: Period, days: Sequence[CalendarDay]) -> tuple[DayCounts, ...]:
    """Count the dates of each of these days of a period."""
    slots = Slots(period, [day.start for day in days])
    return tuple(
        DayCounts(
            **(vars(day) | counts),
            checked=share_of_cases(counts["merges_checked"], counts["merges_announced"]),
            infra=share_of_cases(counts["infra_runs"], counts["runs"]),
        )
        for day, counts in zip(days, counted(dates, slots), strict=True)
    )


def tiles_by_day(
    history: History, scope: Scope, period: Period, zone: ZoneInfo, dates: Dates
) -> Days:
    """Return the tiles of a period, of these dates, by the calendar days of a zone."""
    days = by_day(dates, period, calendar_days(period, zone))
    configs = [product.config for product in history.products() if scope.holds(*product.product)]
    return Days(
        period=period,
        product=scope.product,
        zone=zone.key,
        days=days,
        targets=targets(configs, days),
    )
