# SPDX-License-Identifier: Apache-2.0
"""Trends of a period (contract, "Answers beside the rules")."""

from hwci.analysis.trends import trends
from hwci.engine.periods import last_days
from hwci.server.services import Service
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import asked
from hwci.server.storage.ports import Reader
from hwci.wire.queries import PeriodQuery
from hwci.wire.trends import TrendsAnswer


class Trends(Service):
    """How a period compares with the one before."""

    async def against_before(self, viewer: Viewer, query: PeriodQuery) -> TrendsAnswer:
        """Return the tiles beside those of the period before."""
        period = last_days(query.days, query.as_of or self._clock())

        def work(reader: Reader) -> TrendsAnswer:
            history, scope, _ = asked(reader, viewer, query, period)
            return TrendsAnswer.of(trends(history, scope, query.days, period), query, period)

        return await self._storage.read(work, organization=viewer.org_id)
