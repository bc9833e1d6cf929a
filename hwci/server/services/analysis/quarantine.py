# SPDX-License-Identifier: Apache-2.0
"""Which tests may be put into quarantine (contract, "Known failures")."""

from hwci.analysis.quarantine import active_rules, known_tests
from hwci.contract.known_failures import KnownTest
from hwci.contract.shape import ListPage
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, asked, note
from hwci.server.services.analysis.benches import notes_of
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.ports import Reader
from hwci.wire.endpoints import analysis
from hwci.wire.queries import TableQuery


class Quarantine(Analysis):
    """Tests with known failures, and what their runs suggest."""

    async def listed(
        self, viewer: Viewer, query: TableQuery, tags: Tags
    ) -> ListPage[KnownTest] | None:
        """List the tests with known failures of rules that have not ended."""
        period = self._period(query)

        def work(reader: Reader) -> ListPage[KnownTest] | None:
            about = asked(reader, viewer, query, period)
            notes = notes_of(reader, viewer.org_id, period)
            active = active_rules(about.history, period.end)
            if note(tags, reader, viewer, about, notes, active):
                return None
            return query.paged(known_tests(*about, notes))

        return await self._storage.read(
            work, organization=viewer.org_id, person=viewer.id, question=tags.question
        )


ANSWERS: Answers = {
    analysis.QUARANTINE: Quarantine.listed,
}
