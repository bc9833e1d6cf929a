# SPDX-License-Identifier: Apache-2.0
"""Why failures have their class, and what would give them another (ADR 0009).

Storage finds facts, and the analysis asks the rules: this module joins the two within one read
transaction.
"""

from uuid import UUID

from hwci.analysis.failures.explanation import explanation
from hwci.analysis.failures.gaps import budget
from hwci.analysis.failures.what_if import OfGit
from hwci.contract.failures.explanations import Explanation, Gaps
from hwci.server.errors import NotFoundError
from hwci.server.services.access import Viewer, require_product
from hwci.server.services.analysis.asking import Analysis, Answers, Asked
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.ports import Reader
from hwci.wire.analysis.explanations import UnsentBody
from hwci.wire.endpoints import analysis
from hwci.wire.queries import PeriodQuery


class Explanations(Analysis):
    """Explanations of failures."""

    async def of_failure(self, viewer: Viewer, failure_id: UUID | None) -> Explanation:
        """Return what would give a failure another class. Raises `NotFoundError`."""
        return await self._of_failure(viewer, failure_id, {})

    async def with_git(
        self, viewer: Viewer, failure_id: UUID | None, body: UnsentBody
    ) -> Explanation:
        """Return the same, where git tells what runs changed that did not send it. Raises
        `NotFoundError`.
        """
        return await self._of_failure(viewer, failure_id, body.of_git())

    async def _of_failure(
        self, viewer: Viewer, failure_id: UUID | None, of_git: OfGit
    ) -> Explanation:

        def work(reader: Reader) -> Explanation:
            history = reader.history(viewer.org_id)
            failure = None if failure_id is None else history.failure(failure_id)
            if failure is None:
                raise NotFoundError("Failure not found")
            require_product(viewer, *failure.key.lane.product)
            return explanation(history, failure, of_git)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def gaps(self, viewer: Viewer, query: PeriodQuery, tags: Tags) -> Gaps | None:
        """Return what CI leaves out, and how many ambiguous failures it would decide."""

        def work(about: Asked) -> Gaps:
            pages = about.history.ci_pages(about.scope, about.period)
            return budget(*about, pages)

        return await self._answer(viewer, query, work, tags)


ANSWERS: Answers = {
    analysis.EXPLAIN_FAILURE: Explanations.of_failure,
    analysis.EXPLAIN_FAILURE_WITH_GIT: Explanations.with_git,
    analysis.LIST_GAPS: Explanations.gaps,
}
