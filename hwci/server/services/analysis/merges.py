# SPDX-License-Identifier: Apache-2.0
"""Unchecked merges: why no run checked each, and the runs that would (contract, "Answers beside the
rules").
"""

from dataclasses import replace

from hwci.analysis.merges.merge_plan import plan
from hwci.analysis.merges.unchecked import UncheckedMerge, explain
from hwci.engine.facts import Product
from hwci.engine.history import Listing, Scope
from hwci.engine.page.reading import read_merges
from hwci.engine.page.tables import MERGES
from hwci.server.services.access import Viewer, may_see
from hwci.server.services.analysis.asking import Analysis, Asked
from hwci.wire.analysis import merges as wire
from hwci.wire.base import ListPage
from hwci.wire.queries import MergePlanQuery, MergesQuery


class MergeAnalysis(Analysis):
    """Reads about the merges that no run checked."""

    async def unchecked(
        self, viewer: Viewer, query: MergesQuery
    ) -> ListPage[wire.ExplainedMergeAnswer]:
        """Return the rows of "Merges not checked on hardware", each with its cause."""

        def work(about: Asked) -> ListPage[wire.ExplainedMergeAnswer]:
            return unchecked_of(about, viewer, query)

        return await self._answer(viewer, query, work)

    async def plan(self, viewer: Viewer, query: MergePlanQuery) -> wire.MergePlanAnswer:
        """Return the runs that would check all of these merges."""

        def work(about: Asked) -> wire.MergePlanAnswer:
            unchecked = read_merges(*about).unchecked
            found = plan(*about, [one for one in unchecked if one.sha.startswith(query.sha or "")])
            jobs: dict[Product, str] = {}
            for product in {run.offer.product for run in found.runs}:
                for page in about.history.ci_pages(Scope(*product), about.period):
                    jobs[product] = page
            return wire.MergePlanAnswer.of(found, jobs, query, about.period)

        return await self._answer(viewer, query, work)


def unchecked_of(
    about: Asked, viewer: Viewer, query: MergesQuery
) -> ListPage[wire.ExplainedMergeAnswer]:
    """Return the unchecked merges that a query asks for, with their causes."""

    def of(row: UncheckedMerge) -> wire.ExplainedMergeAnswer:
        return wire.ExplainedMergeAnswer.of(viewer.org_id, _visible(row, viewer))

    rows = MERGES.listing(read_merges(*about).unchecked, query.selection)
    return query.page_of(Listing(explain(about.history, rows.items), rows.total), of)


def _visible(row: UncheckedMerge, viewer: Viewer) -> UncheckedMerge:
    """Return a row without the runs of products that a reader key may not see."""
    repo_key = row.announcement.repo_key
    runs = [run for run in row.runs if may_see(viewer, Product(repo_key, run.sighting.suite))]
    return replace(row, runs=runs)
