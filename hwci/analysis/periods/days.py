# SPDX-License-Identifier: Apache-2.0
"""A period by the calendar days of a reader: what the tiles count on each, and how sure a share is
(ADR 0009). What counts is decided where the page is made (`engine/page`).
"""

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from hwci.analysis.certainty import share_of_cases
from hwci.analysis.periods.targets import targets
from hwci.contract.days import CalendarDay, DayCounts, Days
from hwci.engine.calendar import calendar_days
from hwci.engine.history import History, Scope
from hwci.engine.page.over_time import Dates, read_dates
from hwci.engine.periods import Period


def by_day(dates: Dates, days: Sequence[CalendarDay]) -> tuple[DayCounts, ...]:
    """Count the dates of each of these days."""
    edges = [day.start for day in days[1:]]
    counts = zip(*(_counted(times, edges) for times in dates), strict=True)
    return tuple(
        DayCounts(
            **vars(day),
            merges_checked=checked,
            merges_announced=announced,
            checked=share_of_cases(checked, announced),
            real_fw_bugs=bugs,
            flaky_failures=flaky,
            infra_runs=infra,
            runs=runs,
            infra=share_of_cases(infra, runs),
        )
        for day, (checked, announced, bugs, flaky, infra, runs) in zip(days, counts, strict=True)
    )


def tiles_by_day(history: History, scope: Scope, period: Period, zone: ZoneInfo) -> Days:
    """Return the tiles of a period by the calendar days of a zone."""
    days = by_day(read_dates(history, scope, period, []), calendar_days(period, zone))
    configs = [product.config for product in history.products() if scope.holds(*product.product)]
    return Days(
        period=period.shown,
        product=scope.product,
        zone=zone.key,
        days=days,
        targets=targets(configs, days),
    )


def _counted(times: Sequence[datetime], edges: Sequence[datetime]) -> list[int]:
    before = [0, *(bisect_left(times, edge) for edge in edges), len(times)]
    return [end - start for start, end in pairwise(before)]
