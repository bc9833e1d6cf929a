# SPDX-License-Identifier: Apache-2.0
"""Flaky tests: since which commit, on which boxes, and how sure (contract, "Answers beside the
rules").
"""

from hwci.analysis.suspects import flaky_tests
from hwci.engine.periods import last_days
from hwci.server.services import Service
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import asked
from hwci.server.services.analysis.statistics import require_statistics
from hwci.server.storage.ports import Reader
from hwci.wire.base import ListPage
from hwci.wire.queries import SuspectsQuery
from hwci.wire.suspects import SuspectAnswer


class FlakyTests(Service):
    """What the runs of flaky tests suggest."""

    async def listed(self, viewer: Viewer, query: SuspectsQuery) -> ListPage[SuspectAnswer]:
        """Return the rows of "Flakiest tests", each with what its runs suggest."""
        require_statistics()
        period = last_days(query.days, query.as_of or self._clock())

        def work(reader: Reader) -> ListPage[SuspectAnswer]:
            about = asked(reader, viewer, query, period)
            return query.page_of(
                flaky_tests(*about, query.selection, query.rank_by), SuspectAnswer.of
            )

        return await self._storage.read(work, organization=viewer.org_id)
