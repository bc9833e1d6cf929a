# SPDX-License-Identifier: Apache-2.0
"""Why failures have their class, and what would give them another (ADR 0009).

Storage finds facts, the analysis asks the rules, the wire has the shapes: this module joins the
three within one read transaction.
"""

from uuid import UUID

from hwci.analysis.failures.gaps import budget
from hwci.analysis.failures.lost_boards import lost_board_of
from hwci.analysis.failures.what_if import OfGit, what_if
from hwci.contract.vocabulary import Label
from hwci.engine.page.failures import describe
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import group_of
from hwci.server.errors import NotFoundError
from hwci.server.services.access import Viewer, require_product
from hwci.server.services.analysis.asking import Analysis, Asked
from hwci.server.storage.ports import Reader
from hwci.wire.analysis.explanations import ExplanationAnswer, GapsAnswer, UnsentBody
from hwci.wire.queries import PeriodQuery


class Explanations(Analysis):
    """Explanations of failures."""

    async def of_failure(self, viewer: Viewer, failure_id: UUID | None) -> ExplanationAnswer:
        """Return what would give a failure another class. Raises `NotFoundError`."""
        return await self._of_failure(viewer, failure_id, {})

    async def with_git(
        self, viewer: Viewer, failure_id: UUID | None, body: UnsentBody
    ) -> ExplanationAnswer:
        """Return the same, where git tells what runs changed that did not send it. Raises
        `NotFoundError`.
        """
        return await self._of_failure(viewer, failure_id, body.of_git())

    async def _of_failure(
        self, viewer: Viewer, failure_id: UUID | None, of_git: OfGit
    ) -> ExplanationAnswer:

        def work(reader: Reader) -> ExplanationAnswer:
            history = reader.history(viewer.org_id)
            failure = None if failure_id is None else history.failure(failure_id)
            if failure is None:
                raise NotFoundError("Failure not found")
            require_product(viewer, *failure.key.lane.product)
            group, lost_board = group_of(history, failure), lost_board_of(history, failure)
            if group.label is not Label.RESOLVED:
                return ExplanationAnswer(edits=[], complete=True, lost_board=lost_board)
            row = describe(history, group, Classifier(history))
            found = what_if(history, group, of_git)
            return ExplanationAnswer.of(viewer.org_id, row, found, lost_board)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def gaps(self, viewer: Viewer, query: PeriodQuery) -> GapsAnswer:
        """Return what CI leaves out, and how many ambiguous failures it would decide."""

        def work(about: Asked) -> GapsAnswer:
            pages = about.history.ci_pages(about.scope, about.period)
            return GapsAnswer.of(budget(*about), pages, query, about.period)

        return await self._answer(viewer, query, work)
