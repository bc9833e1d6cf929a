# SPDX-License-Identifier: Apache-2.0
"""The metrics page, its tables, and failures with their evidence (contract, "CI metrics").

Storage finds facts, the engine decides, the wire has the shapes: this module joins the three within
one read transaction. It computes no figure, and caches what it has read.
"""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.engine.history import Decision, Episode, History, Listing, Scope
from hwci.engine.page import failures, tables
from hwci.engine.page.over_time import FlakyOverTime, flaky_over_time, trend
from hwci.engine.page.overview import read_page
from hwci.engine.page.plan import plan
from hwci.engine.page.reading import Reading
from hwci.engine.periods import Period, last_days, slots_of
from hwci.server.clock import Clock
from hwci.server.errors import HwciServerError, NotFoundError
from hwci.server.services.access import Member, Viewer, may_see, require_product
from hwci.server.services.ci_metrics.readings import Decided, ReadingKey, Readings
from hwci.server.services.known import require_known_product
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.wire import limits
from hwci.wire import metrics as wire
from hwci.wire.base import ListPage
from hwci.wire.failures import FailureAnswer, FailureEvidence, ResolvedFailureAnswer
from hwci.wire.queries import (
    FailuresQuery,
    FlakyQuery,
    MergesQuery,
    MetricsQuery,
    OthersQuery,
    PageQuery,
    PeriodQuery,
    PlanQuery,
    ResolvedQuery,
    TableQuery,
)
from hwci.wire.reports import SuiteConfiguration

LOG = logging.getLogger("hwci.server")

_NEVER = datetime.min.replace(tzinfo=UTC)

Row = TypeVar("Row")
Item = TypeVar("Item")


class Snapshot(NamedTuple):
    """A history and a reading of it."""

    history: History
    reading: Reading


class Metrics:
    """Reads of the CI Metrics feature."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._readings = Readings()

    async def page(self, viewer: Viewer, query: MetricsQuery) -> wire.MetricsPage:
        """Return the tiles and the first rows of each table."""
        period = self._period(query)

        def work(reader: Reader) -> wire.MetricsPage:
            history, scope = reader.history(viewer.org_id), _scope(reader, viewer, query)
            decided: list[tuple[Episode, Decision]] = []
            try:
                found = read_page(history, scope, period, query.limit, decided)
            finally:  # also when the time ran out, so that the next page has less to decide
                self._readings.note_decided(viewer.org_id, reader.version(viewer.org_id), decided)
            return wire.MetricsPage.of(viewer.org_id, found, query, period)

        return await self._storage.read(work, organization=viewer.org_id)

    async def trend(self, viewer: Viewer, query: PeriodQuery) -> wire.TrendAnswer:
        """Return the tiles over time."""
        period = self._period(query)
        slots = slots_of(query.days, period)

        def work(reader: Reader) -> wire.TrendAnswer:
            history = reader.history(viewer.org_id)
            dates = self._readings.dates_of(_key(reader, history, viewer, query, period), history)
            return wire.TrendAnswer.of(trend(dates, slots), query, period)

        return await self._storage.read(work, organization=viewer.org_id)

    async def unchecked_merges(
        self, viewer: Viewer, query: MergesQuery
    ) -> ListPage[wire.UncheckedMerge]:
        """Return "Merges not checked on hardware"."""
        return await self._table(
            viewer,
            query,
            lambda seen: tables.unchecked_merges(seen.reading, query.selection),
            wire.UncheckedMerge.model_validate,
        )

    async def checked_merges(
        self, viewer: Viewer, query: MergesQuery
    ) -> ListPage[wire.CheckedMergeAnswer]:
        """Return the merges checked on hardware."""
        of = partial(wire.CheckedMergeAnswer.of, viewer.org_id)
        return await self._table(
            viewer, query, lambda seen: tables.checked_merges(*seen, query.selection), of
        )

    async def real_bugs(
        self, viewer: Viewer, query: ResolvedQuery
    ) -> ListPage[ResolvedFailureAnswer]:
        """Return "Real FW bugs caught"."""
        of = partial(ResolvedFailureAnswer.of, viewer.org_id)
        return await self._table(
            viewer, query, lambda seen: tables.real_bugs(*seen, query.selection), of
        )

    async def other_failures(
        self, viewer: Viewer, query: OthersQuery
    ) -> ListPage[ResolvedFailureAnswer]:
        """Return "Resolved by a bench or harness change"."""
        of = partial(ResolvedFailureAnswer.of, viewer.org_id)
        return await self._table(
            viewer, query, lambda seen: tables.other_failures(*seen, query.selection), of
        )

    async def flakiest_tests(
        self, viewer: Viewer, query: FlakyQuery
    ) -> ListPage[wire.FlakyTestAnswer]:
        """Return "Flakiest tests"."""
        return await self._table(
            viewer,
            query,
            lambda seen: tables.flakiest_tests(seen.reading, query.selection),
            wire.FlakyTestAnswer.model_validate,
        )

    async def flaky_history(
        self, viewer: Viewer, query: FlakyQuery
    ) -> ListPage[wire.FlakyTestHistory]:
        """Return the same rows over time and boxes."""
        slots = slots_of(query.days, self._period(query))

        def rows(seen: Snapshot) -> Listing[FlakyOverTime]:
            tests = tables.flakiest_tests(seen.reading, query.selection)
            return flaky_over_time(seen.history, tests, slots)

        return await self._table(viewer, query, rows, wire.FlakyTestHistory.of)

    async def failures(self, viewer: Viewer, query: FailuresQuery) -> ListPage[FailureAnswer]:
        """List failures with their labels."""
        period = self._period(query)

        def work(reader: Reader) -> ListPage[FailureAnswer]:
            history = reader.history(viewer.org_id)
            key = _key(reader, history, viewer, query, period)
            found = self._readings.failures_of(key, history)
            return query.page_of(tables.labelled_failures(found, query.selection), FailureAnswer.of)

        return await self._storage.read(work, organization=viewer.org_id)

    async def evidence(self, viewer: Viewer, failure_id: UUID | None) -> FailureEvidence:
        """Return one failure with its evidence. Raises `NotFoundError`."""

        def work(reader: Reader) -> FailureEvidence:
            history, found = reader.history(viewer.org_id), None
            if failure_id is not None:
                found = failures.evidence(history, failure_id, limits.EVIDENCE_MAX)
            if found is None:
                raise NotFoundError("Failure not found")
            require_product(viewer, found.lane.repo_key, found.lane.suite)
            return FailureEvidence.of(viewer.org_id, found)

        return await self._storage.read(work, organization=viewer.org_id)

    async def products(self, viewer: Viewer, query: PageQuery) -> ListPage[wire.ProductAnswer]:
        """List the products: the last to report first, those without a report at the end. A reader
        key that is bound to products gets those.
        """

        def work(reader: Reader) -> ListPage[wire.ProductAnswer]:
            known = reader.history(viewer.org_id).products()
            found = [state for state in known if may_see(viewer, state.product)]
            found.sort(key=lambda state: state.last_report_at or _NEVER, reverse=True)
            rows = Listing(found[query.offset :][: query.limit], len(found))
            return query.page_of(rows, wire.ProductAnswer.of)

        return await self._storage.read(work, organization=viewer.org_id)

    async def configs(self, viewer: Viewer, query: PageQuery) -> ListPage[wire.SuiteConfigAnswer]:
        """List configurations as sent, of all products."""
        require_product(viewer, None, None)

        def work(reader: Reader) -> ListPage[wire.SuiteConfigAnswer]:
            rows = reader.configs(viewer.org_id, query.offset, query.limit)
            return query.page_of(rows, lambda row: wire.SuiteConfigAnswer.of(*row))

        return await self._storage.read(work, organization=viewer.org_id)

    async def plan(
        self, member: Member, body: SuiteConfiguration, query: PlanQuery
    ) -> wire.SuiteConfigPlan:
        """Return what a configuration would change if it were sent."""
        configuration, period = body.fact(), self._period(query)

        def work(reader: Reader) -> wire.SuiteConfigPlan:
            found = plan(reader.history(member.org_id), period, configuration)
            return wire.SuiteConfigPlan.of(configuration, found, query, period)

        return await self._storage.read(work, organization=member.org_id)

    async def keep_decisions(self) -> None:
        """Keep what pages decided since the last call, so that no page decides it again."""
        for one in self._readings.take_decided():
            try:
                await self._storage.write(partial(_keep, one), organization=one.org_id)
            except HwciServerError as error:
                # A page decides again what is not kept; other organizations need not wait for it.
                LOG.info("What pages of organization %s decided is not kept: %s", one.org_id, error)

    async def _table(
        self,
        viewer: Viewer,
        query: TableQuery,
        rows: Callable[[Snapshot], Listing[Row]],
        of: Callable[[Row], Item],
    ) -> ListPage[Item]:
        period = self._period(query)

        def work(reader: Reader) -> ListPage[Item]:
            return query.page_of(rows(self._read(reader, viewer, query, period)), of)

        return await self._storage.read(work, organization=viewer.org_id)

    def _read(self, reader: Reader, viewer: Viewer, query: PeriodQuery, period: Period) -> Snapshot:
        history = reader.history(viewer.org_id)
        key = _key(reader, history, viewer, query, period)
        return Snapshot(history, self._readings.of(key, history))

    def _period(self, query: PeriodQuery | PlanQuery) -> Period:
        return last_days(query.days, query.as_of or self._clock())


def _keep(one: Decided, writer: Writer) -> None:
    writer.keep_decisions(one.org_id, one.version, one.decisions)


def _key(
    reader: Reader, history: History, viewer: Viewer, query: PeriodQuery, period: Period
) -> ReadingKey:
    """Return the key of a reading; the number of the state is of the same snapshot.

    A period is read over its extent, so that a page opened again later costs no second reading
    unless something entered or left the period in between.
    """
    scope = _scope(reader, viewer, query)
    extent = history.extent(scope, period) or period
    return ReadingKey(viewer.org_id, reader.version(viewer.org_id), scope, extent)


def _scope(reader: Reader, viewer: Viewer, query: PeriodQuery) -> Scope:
    """Return what a query is about. Raises `NotFoundError`: not for this viewer, or unknown."""
    require_product(viewer, query.repo_key, query.suite)
    require_known_product(reader, viewer, query.repo_key, query.suite)
    return Scope(query.repo_key, query.suite)
