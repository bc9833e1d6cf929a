# SPDX-License-Identifier: Apache-2.0
"""Flaky tests: since which commit, on which boxes, and how sure (contract, "Answers beside the
rules").
"""

from hwci.analysis.flaky.suspects import flaky_tests
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Asked
from hwci.server.services.analysis.statistics import require_statistics
from hwci.wire.analysis.suspects import SuspectAnswer
from hwci.wire.base import ListPage
from hwci.wire.queries import SuspectsQuery


class FlakyTests(Analysis):
    """What the runs of flaky tests suggest."""

    async def listed(self, viewer: Viewer, query: SuspectsQuery) -> ListPage[SuspectAnswer]:
        """Return the rows of "Flakiest tests", each with what its runs suggest."""
        require_statistics()

        def work(about: Asked) -> ListPage[SuspectAnswer]:
            return query.page_of(
                flaky_tests(*about, query.selection, query.rank_by), SuspectAnswer.of
            )

        return await self._answer(viewer, query, work)
