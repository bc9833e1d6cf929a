# SPDX-License-Identifier: Apache-2.0
"""What can be asked of the figures beside the metrics page: one query, and those of its parts."""

from hwci.contract.vocabulary import Label
from hwci.wire import limits
from hwci.wire.analysis.causes import CausesQuery, OfTable
from hwci.wire.analysis.days import DaysQuery
from hwci.wire.analysis.incidents import IncidentsQuery
from hwci.wire.queries import FlakyQuery, MergeRunsQuery, MetricsQuery, PeriodQuery, ProductsQuery


class PageFiguresQuery(DaysQuery, MetricsQuery):
    """Query of the figures of the metrics page: `limit` rows of the tables that it unfolds. The
    properties are the queries of its parts.
    """

    @property
    def real_bugs(self) -> CausesQuery:
        """The causes of the real firmware bugs."""
        table = OfTable.REAL_BUGS
        return CausesQuery.model_validate({**self._asked, "table": table, "limit": self.limit})

    @property
    def pending_incidents(self) -> IncidentsQuery:
        """What still fails."""
        of_first = {"label": Label.PENDING, "limit": limits.INCIDENTS_FIRST}
        return IncidentsQuery.model_validate({**self._asked, **of_first})

    @property
    def merges(self) -> MergeRunsQuery:
        """The unchecked merges."""
        return MergeRunsQuery.model_validate({**self._asked, "limit": self.limit})

    @property
    def flaky(self) -> FlakyQuery:
        """The flaky tests of which a flake was seen."""
        return FlakyQuery.model_validate({**self._asked, "limit": self.limit, "flaked": True})

    @property
    def products(self) -> ProductsQuery:
        """The products."""
        return ProductsQuery(limit=limits.PAGE_LIMIT_MAX)

    @property
    def _asked(self) -> dict[str, object]:
        return self.model_dump(include={*PeriodQuery.model_fields})
