# SPDX-License-Identifier: Apache-2.0
"""Announced merges: which runs checked each, why none did, and the runs that would (contract,
"Answers beside the rules").
"""

from collections.abc import Sequence
from functools import partial

from hwci.analysis.merges.announced import announced
from hwci.analysis.merges.merge_plan import merge_plan, plan
from hwci.analysis.merges.unchecked import unchecked_merges
from hwci.contract.runs.merges import AnnouncedMerge, ExplainedMerge, MergePlan
from hwci.contract.shape import ListPage
from hwci.engine.facts import Product
from hwci.engine.history import SightedRun
from hwci.engine.page.reading import read_merges
from hwci.engine.page.tables import of_commit
from hwci.server.services.access import Viewer, may_see
from hwci.server.services.analysis.asking import Analysis, Answers, Asked
from hwci.server.services.ci_metrics.tags import Tags
from hwci.wire.endpoints import analysis
from hwci.wire.queries import MergePlanQuery, MergeRunsQuery


class MergeAnalysis(Analysis):
    """Reads about announced merges."""

    async def announced(
        self, viewer: Viewer, query: MergeRunsQuery, tags: Tags
    ) -> ListPage[AnnouncedMerge] | None:
        """Return all announced merges, each with the runs that checked it or tell why none did."""

        def work(about: Asked) -> ListPage[AnnouncedMerge]:
            return query.page_of(announced(*about, query.selection, partial(_visible, viewer)))

        return await self._answer(viewer, query, work, tags)

    async def unchecked(
        self, viewer: Viewer, query: MergeRunsQuery, tags: Tags
    ) -> ListPage[ExplainedMerge] | None:
        """Return the rows of "Merges not checked on hardware", each with its cause."""

        def work(about: Asked) -> ListPage[ExplainedMerge]:
            return unchecked_of(about, viewer, query)

        return await self._answer(viewer, query, work, tags)

    async def plan(self, viewer: Viewer, query: MergePlanQuery, tags: Tags) -> MergePlan | None:
        """Return the runs that would check all of these merges."""

        def work(about: Asked) -> MergePlan:
            merges = of_commit(read_merges(*about).unchecked, query.where)
            return merge_plan(*about, plan(*about, merges, query.box_key), query.paged)

        return await self._answer(viewer, query, work, tags)


ANSWERS: Answers = {
    analysis.LIST_MERGES: MergeAnalysis.announced,
    analysis.EXPLAIN_UNCHECKED_MERGES: MergeAnalysis.unchecked,
    analysis.PLAN_MERGES: MergeAnalysis.plan,
}


def unchecked_of(about: Asked, viewer: Viewer, query: MergeRunsQuery) -> ListPage[ExplainedMerge]:
    """Return the unchecked merges that a query asks for, with their causes."""
    merges, visible = read_merges(*about).unchecked, partial(_visible, viewer)
    return query.page_of(unchecked_merges(about.history, merges, query.selection, visible))


def _visible(viewer: Viewer, repo_key: str, runs: Sequence[SightedRun]) -> Sequence[SightedRun]:
    """Return the runs but those of products that a reader key may not see."""
    return [run for run in runs if may_see(viewer, Product(repo_key, run.sighting.suite))]
