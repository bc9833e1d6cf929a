# SPDX-License-Identifier: Apache-2.0
"""What the metrics page of the dashboard shows beside the specification's answer, as one answer
(contract, "Answers beside the rules"). Each part is as its own route gives it; no figure is
computed here.
"""

from collections.abc import Sequence

from hwci.contract.causes import Cause
from hwci.contract.days import Days
from hwci.contract.flaky_tests import FlakyTest
from hwci.contract.lost_boards import LostBoardCounts
from hwci.contract.merges import ExplainedMerge
from hwci.contract.products import Product
from hwci.contract.shape import ListPage
from hwci.contract.trends import Trends
from hwci.contract.vocabulary import Label
from hwci.wire import limits
from hwci.wire.analysis.causes import CausesQuery, OfTable
from hwci.wire.analysis.days import DaysQuery
from hwci.wire.analysis.incidents import IncidentAnswer, IncidentsQuery
from hwci.wire.base import Answer
from hwci.wire.queries import FlakyQuery, MergeRunsQuery, MetricsQuery, PeriodQuery, ProductsQuery


class PageFiguresQuery(DaysQuery, MetricsQuery):
    """Query of the figures of the metrics page: `limit` rows of the tables that it unfolds. The
    properties are the queries of its parts.
    """

    @property
    def real_bugs(self) -> CausesQuery:
        """The causes of the real firmware bugs."""
        asked = {**self._asked, "table": OfTable.REAL_BUGS, "limit": self.limit}
        return CausesQuery.model_validate(asked)

    @property
    def pending_incidents(self) -> IncidentsQuery:
        """What still fails."""
        most = limits.PAGE_LIMIT_MAX
        return IncidentsQuery.model_validate({**self._asked, "label": Label.PENDING, "limit": most})

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


class PageFiguresAnswer(Answer):
    """The figures beside `ci-metrics`. `real_bug_causes`: the causes of the real firmware bugs;
    `causes_to_review`: how many causes wait for a review; `lost_boards`: which resolved failures
    lie in runs that lost their board; `incidents`: those that still fail, 100
    at most; `pending_failures`: how many failures these are one by one; `flaky_tests`: those of
    which a flake was seen, or where there are none, those that are not broken; `products`: 100 at
    most; `unassigned_repositories`: those with a merge that was announced without a suite, 100 at
    most: there may be no product of them. `not_computed`: those that took too long for one answer,
    and are null; without `incidents` there are no `pending_failures` either.
    """

    days: Days | None
    trends: Trends | None
    real_bug_causes: ListPage[Cause] | None
    causes_to_review: int | None
    lost_boards: LostBoardCounts | None
    incidents: ListPage[IncidentAnswer] | None
    pending_failures: int | None
    unchecked_merges: ListPage[ExplainedMerge] | None
    flaky_tests: ListPage[FlakyTest] | None
    products: ListPage[Product]
    unassigned_repositories: Sequence[str]
    not_computed: list[str]
