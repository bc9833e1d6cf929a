# SPDX-License-Identifier: Apache-2.0
"""Resolved failures of a period by their cause (contract, "Answers beside the rules")."""

from functools import partial

from hwci.analysis.causes import causes, to_review
from hwci.engine.periods import last_days
from hwci.server.services import Service
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import asked
from hwci.server.storage.ports import Reader
from hwci.wire.base import ListPage
from hwci.wire.causes import CauseAnswer, CausesQuery


class Causes(Service):
    """Reads of resolved failures that one commit broke and one fixed."""

    async def causes(self, viewer: Viewer, query: CausesQuery) -> ListPage[CauseAnswer]:
        """List the causes of a period, the newest first, or as people review them."""
        period = last_days(query.days, query.as_of or self._clock())

        def work(reader: Reader) -> ListPage[CauseAnswer]:
            found = causes(*asked(reader, viewer, query, period), query.chosen, query.search)
            found = to_review(found) if query.to_review else found
            return query.page_of(query.slice_of(found), partial(CauseAnswer.of, viewer.org_id))

        return await self._storage.read(work, organization=viewer.org_id)
