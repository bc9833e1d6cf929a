# SPDX-License-Identifier: Apache-2.0
"""Flaky tests: since which commit, on which boxes, and how sure; and ranked by how sure (contract,
"Answers beside the rules").
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from hwci.analysis.certainty import Rate
from hwci.analysis.flaky.suspects import Suspect, by_lower_bound, flake_rates, flaky_tests
from hwci.engine.history import Listing
from hwci.engine.page.over_time import BoxOverTime, flaky_over_time
from hwci.engine.page.reading import read_flakiest
from hwci.engine.page.tables import flakiest_tests
from hwci.engine.periods import slots_of
from hwci.engine.rules.flakiness import FlakyTest
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import Analysis, Asked, asked
from hwci.server.services.analysis.benches import notes_of
from hwci.server.services.ci_metrics.metrics import histories_of
from hwci.server.storage.ports import Reader
from hwci.wire.analysis.flaky_history import FlakyHistories, FlakyHistoryQuery
from hwci.wire.analysis.suspects import InFewWords, RankedTestAnswer, SuspectAnswer
from hwci.wire.base import Answer, ListPage
from hwci.wire.queries import FlakyQuery, SuspectsQuery

Row = TypeVar("Row", bound=Answer)


class FlakyTests(Analysis):
    """What the runs of flaky tests suggest."""

    async def listed(self, viewer: Viewer, query: SuspectsQuery) -> ListPage[SuspectAnswer]:
        """Return the rows of "Flakiest tests", each with what its runs suggest."""

        def work(about: Asked, found: Listing[Suspect]) -> ListPage[SuspectAnswer]:
            tests = Listing([one.test for one in found.items], found.total)
            by_box = flaky_over_time(about.history, tests, slots_of(query.days, about.period))
            rows = [
                (suspect, _rates_by_box(one.boxes))
                for suspect, one in zip(found.items, by_box.items, strict=True)
            ]
            return query.page_of(Listing(rows, found.total), lambda one: SuspectAnswer.of(*one))

        return await self._suspects(viewer, query, work)

    async def answered(self, viewer: Viewer, query: SuspectsQuery) -> ListPage[InFewWords]:
        """Return the same rows in few words, which takes less time."""
        return await self._suspects(
            viewer, query, lambda _, found: query.page_of(found, InFewWords.of)
        )

    async def _suspects(
        self,
        viewer: Viewer,
        query: SuspectsQuery,
        page_of: Callable[[Asked, Listing[Suspect]], ListPage[Row]],
    ) -> ListPage[Row]:
        period = self._period(query)

        def work(reader: Reader) -> ListPage[Row]:
            about = asked(reader, viewer, query, period)
            notes = notes_of(reader, viewer, period)
            return page_of(about, flaky_tests(*about, query.selection, query.rank_by, notes))

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def ranked(self, viewer: Viewer, query: FlakyQuery) -> ListPage[RankedTestAnswer]:
        """Return the rows of "Flakiest tests" by the lower end of the interval of their rate."""

        def work(about: Asked) -> ListPage[RankedTestAnswer]:
            rows = _ranked(about, query)
            found = zip(rows.items, flake_rates(rows.items), strict=True)
            return query.page_of(
                Listing([*found], rows.total), lambda one: RankedTestAnswer.of(*one)
            )

        return await self._answer(viewer, query, work)

    async def ranked_history(self, viewer: Viewer, query: FlakyHistoryQuery) -> FlakyHistories:
        """Return the same rows over time and boxes."""

        def work(about: Asked) -> FlakyHistories:
            return histories_of(about.history, _ranked(about, query), query, about.period)

        return await self._answer(viewer, query, work)


def _ranked(about: Asked, query: FlakyQuery) -> Listing[FlakyTest]:
    rows = read_flakiest(*about)
    return flakiest_tests(rows if query.sort else by_lower_bound(rows), query.selection)


def _rates_by_box(boxes: Sequence[BoxOverTime]) -> Mapping[str, Rate]:
    return dict(zip((one.box_key for one in boxes), flake_rates(boxes), strict=True))
