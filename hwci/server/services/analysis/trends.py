# SPDX-License-Identifier: Apache-2.0
"""Trends of a period (contract, "Answers beside the rules")."""

from collections.abc import Sequence

from hwci.analysis.periods.days import Days, by_day, calendar_days
from hwci.analysis.periods.targets import targets
from hwci.analysis.periods.times_to_fix import times_to_fix
from hwci.analysis.periods.trends import trends
from hwci.contract import trends as shapes
from hwci.contract.shape import ListPage
from hwci.contract.times_to_fix import TimesToFix
from hwci.engine.page.over_time import read_dates
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Asked
from hwci.wire.analysis.days import DaysAnswer, DaysQuery
from hwci.wire.queries import BoxTableQuery, PeriodQuery


class Trends(Analysis):
    """How a period compares with the one before."""

    async def against_before(self, viewer: Viewer, query: PeriodQuery) -> shapes.Trends:
        """Return the tiles beside those of the period before."""
        return await self._answer(viewer, query, lambda about: trends(*about))

    async def by_day(self, viewer: Viewer, query: DaysQuery) -> DaysAnswer:
        """Return the tiles by the calendar days of a zone."""

        def work(about: Asked) -> DaysAnswer:
            return tiles_by_day(about, query, calendar_days(about.period, query.zone_info))

        return await self._answer(viewer, query, work)

    async def to_fix(self, viewer: Viewer, query: BoxTableQuery) -> ListPage[TimesToFix]:
        """Return how long failures took until they were seen and fixed, by product and box."""

        def work(about: Asked) -> ListPage[TimesToFix]:
            rows = times_to_fix(*about)
            shown = [row for row in rows if query.box_key in {None, row.box_key}]
            return query.page_of(query.slice_of(shown))

        return await self._answer(viewer, query, work)


def tiles_by_day(about: Asked, query: DaysQuery, days: Sequence[Days]) -> DaysAnswer:
    """Return the tiles of a period by its calendar days."""
    history, scope, period = about
    found = by_day(read_dates(history, scope, period, []), days)
    configs = [product.config for product in history.products() if scope.holds(*product.product)]
    return DaysAnswer.of(found, targets(configs, found), query, period)
