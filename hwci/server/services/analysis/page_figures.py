# SPDX-License-Identifier: Apache-2.0
"""What the metrics page shows beside the specification's answer, in one reading (ADR 0013).

This module decides what of them moves with the clock. Each figure is decided where its own route
has it.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeVar

from hwci.analysis.failures.causes import causes_of
from hwci.analysis.failures.incidents import by_harm, failures_of, seen_products
from hwci.analysis.failures.last_days import last_day
from hwci.analysis.periods.days import tiles_by_day
from hwci.analysis.periods.trends import trends
from hwci.contract.failures.causes import Cause
from hwci.contract.failures.incidents import Incident
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.page import page_figures as shapes
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Band, FailureClass
from hwci.engine.calendar import calendar_days
from hwci.engine.history import Listing, OutOfTimeError
from hwci.engine.page.failures import Suspected, with_suspects
from hwci.engine.page.over_time import Dates, read_dates
from hwci.engine.page.reading import Classified, read_classified
from hwci.engine.rules.flakiness import flakiest, has_flaked, never_passed
from hwci.server.services.access import Member
from hwci.server.services.analysis.asking import (
    Analysis,
    Answers,
    Asked,
    asked,
    before_in,
    bounds,
    note,
)
from hwci.server.services.analysis.causes import page_of as page_of_causes
from hwci.server.services.analysis.incidents import incidents_of, rows_of
from hwci.server.services.analysis.lost_boards import lost_among
from hwci.server.services.analysis.merges import unchecked_of
from hwci.server.services.ci_metrics.metrics import products_of
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.ports import Reader
from hwci.wire import limits
from hwci.wire.analysis.causes import CausesQuery
from hwci.wire.analysis.incidents import IncidentsQuery
from hwci.wire.analysis.page_figures import PageFiguresQuery
from hwci.wire.endpoints import analysis
from hwci.wire.queries import FlakyQuery

Figure = TypeVar("Figure")

_FIGURES = 8
"""Those that may take long."""
_REPOSITORIES = limits.PAGE_LIMIT_MAX
_SHARED = 0.9
"""Of the time: the answer has to be made of them, too."""


class PageFigures(Analysis):
    """The figures of the dashboard's metrics page."""

    async def shown(
        self, member: Member, query: PageFiguresQuery, tags: Tags
    ) -> shapes.PageFigures | None:
        """Return all of them; None if the caller has this answer."""
        period = self._period(query)
        days = calendar_days(period, query.zone_info)

        def work(reader: Reader) -> shapes.PageFigures | None:
            about = asked(reader, member, query, period)
            moving = bounds(days), before_in(about), last_day(period)
            if note(tags, reader, member, about, *moving):
                return None
            figures = _Figures(reader)
            resolved, zone = _Resolved(about), query.zone_info
            by_day = figures.of("days", lambda: tiles_by_day(*about, zone, resolved.dates))
            against_before = figures.of("trends", lambda: trends(*about, resolved.dates))
            bugs = figures.of("realBugCauses", lambda: resolved.real_bugs(query.real_bugs))
            to_review = figures.of("causesToReview", resolved.to_review)
            lost = figures.of("lostBoards", lambda: lost_among(about, resolved.rows))
            merges = figures.of(
                "uncheckedMerges", lambda: unchecked_of(about, member, query.merges)
            )
            # Those that take longest come last: what the others left of their time is theirs.
            flaky = figures.of("flakyTests", lambda: _flaky(about, query.flaky))
            failing = figures.of("incidents", lambda: _failing(about, query.pending_incidents))
            repositories = about.history.unassigned_repositories()
            shown = shapes.PageFigures(
                days=by_day,
                trends=against_before,
                real_bug_causes=bugs,
                causes_to_review=to_review,
                lost_boards=lost,
                incidents=failing and failing.incidents,
                bands=failing and failing.bands,
                incidents_elsewhere=failing and failing.elsewhere,
                pending_failures=failing and failing.failures,
                unchecked_merges=merges,
                flaky_tests=flaky,
                products=products_of(about.history, member, query.products),
                unassigned_repositories=tuple(repositories[:_REPOSITORIES]),
                not_computed=tuple(figures.not_computed),
            )
            if shown.not_computed:
                tags.tag = None  # another time there may be time for them
            return shown

        return await self._storage.read(
            work, organization=member.org_id, person=member.id, question=tags.question
        )


ANSWERS: Answers = {
    analysis.PAGE_FIGURES: PageFigures.shown,
}


class _Figures:
    """Figures, each with its share of the time that is left: one that takes longer is left out, and
    the others are answered.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._left = _FIGURES
        self.not_computed: list[str] = []

    def of(self, name: str, work: Callable[[], Figure]) -> Figure | None:
        """Return a figure; None if it takes too long."""
        share, self._left = _SHARED / self._left, self._left - 1
        try:
            with self._reader.share(share):
                return work()
        except OutOfTimeError:
            self.not_computed.append(name)
            if len(self.not_computed) == _FIGURES:
                raise  # there was no time for any of them
            return None


class _Resolved:
    """The resolved failures of the period, which several figures count: read once."""

    def __init__(self, about: Asked) -> None:
        self._about = about

    @cached_property
    def rows(self) -> Sequence[Classified]:
        """All of them."""
        return read_classified(*self._about, [*FailureClass])

    @cached_property
    def dates(self) -> Dates:
        """The dates of all that the tiles count."""
        return read_dates(*self._about, self.rows)

    @cached_property
    def _members(self) -> Sequence[Suspected]:
        return with_suspects(self._about.history, self.rows)

    def real_bugs(self, query: CausesQuery) -> ListPage[Cause]:
        """Return the first causes of those that are real firmware bugs."""
        kind = FailureClass.REAL_FW_BUG
        causes = causes_of(member for member in self._members if member.failure_class is kind)
        return page_of_causes(self._about, query, causes)

    def to_review(self) -> int:
        """Return how many causes wait for a review."""
        return len(causes_of(member for member in self._members if member.review is None))


class _Failing(NamedTuple):
    """What still fails: its first incidents, how many each band has, how many are on branches that
    no merge went to, and how many failures all of them are.
    """

    incidents: ListPage[Incident]
    bands: tuple[shapes.BandCount, ...]
    elsewhere: int
    failures: int


def _failing(about: Asked, query: IncidentsQuery) -> _Failing:
    pending = incidents_of(about, query)
    seen = seen_products(*about, pending)
    ranked = by_harm(about.history, pending, seen)
    merged = {
        band: [it.incident for it in ranked if it.band is band and it.incident.on_merge_branch]
        for band in Band
    }
    all_of = Counter(it.band for it in ranked)
    bands = [
        shapes.BandCount(
            band=band,
            incidents=len(rows),
            elsewhere=all_of[band] - len(rows),
            first_test=rows[0].tests[0] if rows else None,
        )
        for band, rows in merged.items()
    ]
    shown = query.slice_of([*chain.from_iterable(merged.values())])
    rows = rows_of(about, query, Listing(shown.items, len(pending)), seen)
    elsewhere = sum(band.elsewhere for band in bands)
    failures = failures_of(*about, [it.failures for it in ranked])
    return _Failing(rows, tuple(bands), elsewhere, failures)


def _flaky(about: Asked, query: FlakyQuery) -> ListPage[FlakyTest]:
    history, scope, period = about
    failed = history.test_runs(scope, period)
    tests = [test for test in failed if has_flaked(test)]
    # Where nothing is tried again, no flake is seen, and any of them may be flaky.
    tests = tests or [test for test in failed if not never_passed(test)]
    rows = Listing(flakiest(history, tests, query.limit), len(tests))
    return query.page_of(rows)
