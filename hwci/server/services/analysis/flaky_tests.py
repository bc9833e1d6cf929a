# SPDX-License-Identifier: Apache-2.0
"""Flaky tests: since which commit, on which boxes, and how sure (contract, "Answers
beside the rules").
"""

from collections.abc import Mapping, Sequence

from hwci.analysis import flaky_rows as rows_of
from hwci.analysis.flaky.suspects import flake_rates, flaky_tests, ranked
from hwci.contract.flaky.flaky_history import BoxHistory, FlakyHistories
from hwci.contract.flaky.suspects import FlakyRow
from hwci.contract.shape import ListPage
from hwci.contract.shares import Share
from hwci.engine.calendar import calendar_days
from hwci.engine.history import Listing
from hwci.engine.page.over_time import flaky_over_time
from hwci.engine.periods import equal_slots
from hwci.server.services.access import Viewer
from hwci.server.services.analysis.asking import (
    Analysis,
    Answers,
    Asked,
    asked,
    bounds,
    note,
    on_branches,
)
from hwci.server.services.analysis.benches import notes_of
from hwci.server.services.ci_metrics.metrics import histories_of
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.ports import Reader
from hwci.wire.analysis.flaky_history import RankedHistoryQuery
from hwci.wire.endpoints import analysis
from hwci.wire.queries import Detail, SuspectsQuery


class FlakyTests(Analysis):
    """What the runs of flaky tests suggest."""

    async def listed(
        self, viewer: Viewer, query: SuspectsQuery, tags: Tags
    ) -> ListPage[FlakyRow] | None:
        """Return the rows of "Flakiest tests", each with as much of what its runs suggest as was
        asked for.
        """
        period = self._period(query)

        def work(reader: Reader) -> ListPage[FlakyRow] | None:
            about = asked(reader, viewer, query, period)
            notes = notes_of(reader, viewer.org_id, period)
            if note(tags, reader, viewer, about, notes):
                return None
            about = on_branches(about, query.branch)
            if query.detail is Detail.RATES:
                tests = ranked(*about, query.selection, query.rank_by)
                rows = map(rows_of.rated, tests.items, flake_rates(tests.items))
                return query.page_of(Listing([*rows], tests.total))
            suspects = flaky_tests(*about, query.selection, query.rank_by, notes)
            if query.detail is Detail.ANSWERS:
                return query.page_of(suspects, rows_of.answered)
            tests = Listing([suspect.test for suspect in suspects.items], suspects.total)
            by_box = flaky_over_time(about.history, tests, equal_slots(period, 1))
            rates = [_rates_by_box(test.boxes) for test in by_box.items]
            whole = map(rows_of.whole, suspects.items, rates)
            return query.page_of(Listing([*whole], suspects.total))

        return await self._storage.read(
            work, organization=viewer.org_id, person=viewer.id, question=tags.question
        )

    async def over_time(
        self, viewer: Viewer, query: RankedHistoryQuery, tags: Tags
    ) -> FlakyHistories | None:
        """Return the same rows over time and boxes."""

        def work(about: Asked) -> FlakyHistories:
            about = on_branches(about, query.branch)
            tests = ranked(*about, query.selection, query.rank_by)
            return histories_of(about.history, tests, query, about.period)

        def moving(about: Asked) -> object:
            zone = query.zone_info
            return about.period if zone is None else bounds(calendar_days(about.period, zone))

        return await self._answer(viewer, query, work, tags, moving)


ANSWERS: Answers = {
    analysis.SUSPECTS: FlakyTests.listed,
    analysis.SUSPECTS_HISTORY: FlakyTests.over_time,
}


def _rates_by_box(boxes: Sequence[BoxHistory]) -> Mapping[str, Share]:
    return dict(zip((box.box_key for box in boxes), flake_rates(boxes), strict=True))
