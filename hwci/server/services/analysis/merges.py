# SPDX-License-Identifier: Apache-2.0
"""Announced merges: which runs checked each, why none did, and the runs that would (contract,
"Answers beside the rules").
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from hwci.analysis.merges.announced import announced
from hwci.analysis.merges.merge_plan import plan
from hwci.analysis.merges.unchecked import UncheckedMerge, explain
from hwci.contract.shape import ListPage
from hwci.engine.facts import Announcement, Product
from hwci.engine.history import Scope, SightedRun
from hwci.engine.page.reading import read_merges
from hwci.engine.page.tables import of_commit, with_runs
from hwci.server.services.access import Viewer, may_see
from hwci.server.services.analysis.asking import Analysis, Asked
from hwci.wire.analysis import merges as wire
from hwci.wire.queries import MergePlanQuery, MergeRunsQuery


class MergeAnalysis(Analysis):
    """Reads about announced merges."""

    async def announced(
        self, viewer: Viewer, query: MergeRunsQuery
    ) -> ListPage[wire.AnnouncedMergeAnswer]:
        """Return all announced merges, each with the runs that checked it or tell why none did."""

        def work(about: Asked) -> ListPage[wire.AnnouncedMergeAnswer]:
            rows = announced(*about, query.selection, partial(_visible, viewer))
            return query.page_of(rows, partial(wire.AnnouncedMergeAnswer.of, viewer.org_id))

        return await self._answer(viewer, query, work)

    async def unchecked(
        self, viewer: Viewer, query: MergeRunsQuery
    ) -> ListPage[wire.ExplainedMergeAnswer]:
        """Return the rows of "Merges not checked on hardware", each with its cause."""

        def work(about: Asked) -> ListPage[wire.ExplainedMergeAnswer]:
            return unchecked_of(about, viewer, query)

        return await self._answer(viewer, query, work)

    async def plan(self, viewer: Viewer, query: MergePlanQuery) -> wire.MergePlanAnswer:
        """Return the runs that would check all of these merges."""

        def work(about: Asked) -> wire.MergePlanAnswer:
            merges = of_commit(read_merges(*about).unchecked, query.where)
            found = plan(*about, merges, query.box_key)
            jobs: dict[Product, str] = {}
            for product in {run.offer.product for run in found.runs}:
                for page in about.history.ci_pages(Scope(*product), about.period):
                    jobs[product] = page
            return wire.MergePlanAnswer.of(found, jobs, query, about.period)

        return await self._answer(viewer, query, work)


def unchecked_of(
    about: Asked, viewer: Viewer, query: MergeRunsQuery
) -> ListPage[wire.ExplainedMergeAnswer]:
    """Return the unchecked merges that a query asks for, with their causes."""

    def explained(merges: Sequence[Announcement]) -> list[UncheckedMerge]:
        return [
            replace(row, runs=_visible(viewer, row.announcement.repo_key, row.runs))
            for row in explain(about.history, merges)
        ]

    rows = with_runs(read_merges(*about).unchecked, query.selection, explained)
    return query.page_of(rows, partial(wire.ExplainedMergeAnswer.of, viewer.org_id))


def _visible(viewer: Viewer, repo_key: str, runs: Sequence[SightedRun]) -> Sequence[SightedRun]:
    """Return the runs but those of products that a reader key may not see."""
    return [run for run in runs if may_see(viewer, Product(repo_key, run.sighting.suite))]
