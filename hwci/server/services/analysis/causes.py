# SPDX-License-Identifier: Apache-2.0
"""Resolved failures of a period by their cause (contract, "Answers beside the rules")."""

from collections.abc import Sequence
from functools import partial

from hwci.analysis.failures.causes import CommonCause, causes, described, reviewed, to_review
from hwci.analysis.failures.lost_boards import in_lost_runs
from hwci.contract.failures.causes import Cause
from hwci.contract.shape import ListPage
from hwci.engine.history import Listing
from hwci.engine.page.reading import Classified, read_classified
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Answers, Asked
from hwci.server.services.ci_metrics.tags import Tags
from hwci.wire import limits
from hwci.wire.analysis.causes import CausesQuery
from hwci.wire.endpoints import analysis


class Causes(Analysis):
    """Reads of resolved failures that one commit broke and one fixed."""

    async def causes(
        self, viewer: Viewer, query: CausesQuery, tags: Tags
    ) -> ListPage[Cause] | None:
        """List the causes of a period, the newest first, or as people review them and did."""
        return await self._answer(viewer, query, partial(causes_of, query=query), tags)


ANSWERS: Answers = {
    analysis.LIST_CAUSES: Causes.causes,
}


def causes_of(about: Asked, query: CausesQuery) -> ListPage[Cause]:
    """Answer the causes of a period."""
    rows = read_classified(*about, query.classes)
    if query.lost_board:
        rows = in_lost_runs(*about, rows)
    if query.to_review:
        rows = _unreviewed(rows)
    if query.reviewed:
        rows = [row for row in rows if row.review is not None]
    groups = causes(about.history, rows, query.search)
    groups = to_review(groups) if query.to_review else groups
    return page_of(about, query, reviewed(groups) if query.reviewed else groups)


def page_of(about: Asked, query: CausesQuery, groups: Sequence[CommonCause]) -> ListPage[Cause]:
    """Return the page of these causes that a query asks for."""
    shown = query.slice_of(groups)
    most = limits.INCIDENT_MAX, limits.MESSAGES_MAX
    return query.page_of(Listing(described(about.history, shown.items, *most), shown.total))


def _unreviewed(rows: Sequence[Classified]) -> list[Classified]:
    return [row for row in rows if row.review is None]
