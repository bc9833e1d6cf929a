# SPDX-License-Identifier: Apache-2.0
"""Failures of runs that lost their board (contract, "Answers beside the rules")."""

from collections.abc import Sequence

from hwci.analysis.failures.lost_boards import in_lost_runs, lost_boards, lost_rows
from hwci.contract.failures import lost_boards as shapes
from hwci.contract.failures.failures import Failure, ResolvedFailure
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import FailureClass
from hwci.engine.page import tables
from hwci.engine.page.reading import Classified, read_classified, read_failures
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, Asked
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.known_failures import known_or_not
from hwci.wire import limits
from hwci.wire.analysis.lost_boards import LostResolvedQuery
from hwci.wire.endpoints import analysis
from hwci.wire.queries import FailuresQuery, PeriodQuery


class LostBoards(Analysis):
    """Reads of failures that lie in runs that lost their board."""

    async def counted(
        self, viewer: Viewer, query: PeriodQuery, tags: Tags
    ) -> shapes.LostBoardCounts | None:
        """Return how many resolved failures they are, and which."""
        return await self._answer(viewer, query, lost_of, tags)

    async def resolved(
        self, viewer: Viewer, query: LostResolvedQuery, tags: Tags
    ) -> ListPage[ResolvedFailure] | None:
        """List the resolved ones, as the tables of the metrics page have them."""

        def work(about: Asked) -> ListPage[ResolvedFailure]:
            rows = in_lost_runs(*about, read_classified(*about, query.classes))
            return query.page_of(tables.resolved(about.history, rows, query.selection))

        return await self._answer(viewer, query, work, tags)

    async def failures(
        self, viewer: Viewer, query: FailuresQuery, tags: Tags
    ) -> ListPage[Failure] | None:
        """List all of them with their labels, one for each commit, as `ci-failures` does."""

        def work(about: Asked) -> ListPage[Failure]:
            lost = lost_boards(*about)
            rows = [row for row in read_failures(*about) if row.failure.key in lost]
            return known_or_not(about.history, query, rows)

        return await self._answer(viewer, query, work, tags)


ANSWERS: Answers = {
    analysis.LOST_BOARDS: LostBoards.counted,
    analysis.LOST_RESOLVED: LostBoards.resolved,
    analysis.LOST_FAILURES: LostBoards.failures,
}


def lost_of(about: Asked) -> shapes.LostBoardCounts:
    """Return how many resolved failures lie in runs that lost their board, and which."""
    return lost_among(about, read_classified(*about, [*FailureClass]))


def lost_among(about: Asked, rows: Sequence[Classified]) -> shapes.LostBoardCounts:
    """Return the same of the resolved failures of the period, which are read."""
    return lost_rows(in_lost_runs(*about, rows), limits.LOST_BOARDS_MAX)
