# SPDX-License-Identifier: Apache-2.0
"""Trends of a period, and what it has to tell (contract, "Answers beside the rules")."""

from hwci.analysis.periods.days import tiles_by_day
from hwci.analysis.periods.digest import digest, looked_back
from hwci.analysis.periods.times_to_fix import times_to_fix
from hwci.analysis.periods.trends import trends
from hwci.contract.periods import trends as shapes
from hwci.contract.periods.days import Days
from hwci.contract.periods.digest import Digest
from hwci.contract.periods.times_to_fix import TimesToFix
from hwci.contract.shape import ListPage
from hwci.engine.calendar import calendar_days
from hwci.engine.history import Scope
from hwci.engine.page.over_time import read_dates
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, Asked, before_in, bounds
from hwci.server.services.ci_metrics.tags import Tags
from hwci.wire.analysis.days import DaysQuery
from hwci.wire.endpoints import analysis
from hwci.wire.queries import BoxTableQuery, PeriodQuery


class Trends(Analysis):
    """How a period compares with the one before."""

    async def against_before(
        self, viewer: Viewer, query: PeriodQuery, tags: Tags
    ) -> shapes.Trends | None:
        """Return the tiles beside those of the period before."""
        return await self._answer(viewer, query, lambda about: trends(*about), tags, before_in)

    async def by_day(self, viewer: Viewer, query: DaysQuery, tags: Tags) -> Days | None:
        """Return the tiles by the calendar days of a zone."""
        zone = query.zone_info

        def work(about: Asked) -> Days:
            return tiles_by_day(*about, zone, read_dates(*about))

        def moving(about: Asked) -> object:
            return bounds(calendar_days(about.period, zone))

        return await self._answer(viewer, query, work, tags, moving)

    async def to_fix(
        self, viewer: Viewer, query: BoxTableQuery, tags: Tags
    ) -> ListPage[TimesToFix] | None:
        """Return how long failures took until they were seen and fixed, by product and box."""

        def work(about: Asked) -> ListPage[TimesToFix]:
            rows = times_to_fix(*about)
            shown = [row for row in rows if query.box_key in {None, row.box_key}]
            return query.page_of(query.slice_of(shown))

        return await self._answer(viewer, query, work, tags, lambda about: about.period)

    async def digest(self, viewer: Viewer, query: PeriodQuery, tags: Tags) -> Digest | None:
        """Return a period in a few lines."""

        def moving(about: Asked) -> object:
            history, scope, period = about
            return period, history.extent(Scope(scope.repo_key), looked_back(period))

        return await self._answer(viewer, query, lambda about: digest(*about), tags, moving)


ANSWERS: Answers = {
    analysis.TRENDS: Trends.against_before,
    analysis.METRICS_BY_DAY: Trends.by_day,
    analysis.TIMES_TO_FIX: Trends.to_fix,
    analysis.DIGEST: Trends.digest,
}
