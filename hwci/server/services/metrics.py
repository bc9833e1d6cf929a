# SPDX-License-Identifier: Apache-2.0
"""The metrics page, its tables, the failures and what they rest on (contract, "CI metrics").

Storage finds facts, the engine decides, the wire gives shapes: this module joins the three within
one read transaction. It computes no figure; what was read of a state is remembered.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.engine.history import History, Scope
from hwci.engine.page import failures, tables
from hwci.engine.page.over_time import strips, trend
from hwci.engine.page.plan import plan
from hwci.engine.page.reading import Reading
from hwci.engine.page.tables import Listing
from hwci.engine.periods import Period, last_days, slots_of
from hwci.server.clock import Clock
from hwci.server.errors import NotFoundError
from hwci.server.services.access import Member
from hwci.server.services.readings import Asked, Readings
from hwci.server.storage.ports import Reader, Storage
from hwci.wire import checked_merges, limits, outgoing, over_time
from hwci.wire import metrics as wire
from hwci.wire.base import ListPage
from hwci.wire.incoming import config_fact
from hwci.wire.outgoing import Paging
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

_NEVER = datetime.min.replace(tzinfo=UTC)

Row = TypeVar("Row")
Result = TypeVar("Result")


class Snapshot(NamedTuple):
    """A history, and what was read of it."""

    history: History
    reading: Reading


class Metrics:
    """Reads of the CI Metrics feature."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
        self._readings = Readings()

    async def page(self, member: Member, query: MetricsQuery) -> wire.MetricsPage:
        """Give tiles and the first rows of each table."""
        scope, period = _scope(query), self._period(query)

        def work(reader: Reader) -> wire.MetricsPage:
            found = tables.metrics_page(*self._read(reader, member, scope, period), query.limit)
            return outgoing.metrics_page(member.org_id, found, query, period)

        return await self._storage.read(work, organization=member.org_id)

    async def trend(self, member: Member, query: PeriodQuery) -> over_time.TrendAnswer:
        """Give the tiles over time."""
        scope, period = _scope(query), self._period(query)
        slots = slots_of(query.days, period)

        def work(reader: Reader) -> over_time.TrendAnswer:
            history = reader.history(member.org_id)
            asked = _asked(reader, history, member, scope, period)
            dates = self._readings.dates_of(asked, history)
            return over_time.trend(trend(dates, slots), query, period)

        return await self._storage.read(work, organization=member.org_id)

    async def unchecked_merges(
        self, member: Member, query: MergesQuery
    ) -> ListPage[wire.UncheckedMerge]:
        """Give "Merges not checked on hardware"."""
        return await self._table(
            member,
            query,
            lambda seen: tables.unchecked_merges(
                seen.reading, query.offset, query.limit, query.wanted
            ),
            outgoing.unchecked_merges,
        )

    async def checked_merges(
        self, member: Member, query: MergesQuery
    ) -> ListPage[checked_merges.CheckedMergeAnswer]:
        """Give the merges checked on hardware."""
        return await self._table(
            member,
            query,
            lambda seen: tables.checked_merges(*seen, query.offset, query.limit, query.wanted),
            lambda rows, paging: checked_merges.checked_merges(member.org_id, rows, paging),
        )

    async def real_bugs(
        self, member: Member, query: ResolvedQuery
    ) -> ListPage[wire.ResolvedFailureAnswer]:
        """Give "Real FW bugs caught"."""
        return await self._table(
            member,
            query,
            lambda seen: tables.real_bugs(*seen, query.offset, query.limit, query.wanted),
            lambda rows, paging: outgoing.resolved_failures(member.org_id, rows, paging),
        )

    async def other_failures(
        self, member: Member, query: OthersQuery
    ) -> ListPage[wire.ResolvedFailureAnswer]:
        """Give "Resolved by a bench or harness change"."""
        return await self._table(
            member,
            query,
            lambda seen: tables.other_failures(*seen, query.offset, query.limit, query.wanted),
            lambda rows, paging: outgoing.resolved_failures(member.org_id, rows, paging),
        )

    async def flakiest_tests(
        self, member: Member, query: FlakyQuery
    ) -> ListPage[wire.FlakyTestAnswer]:
        """Give "Flakiest tests"."""
        return await self._table(
            member,
            query,
            lambda seen: tables.flakiest_tests(
                seen.reading, query.offset, query.limit, query.wanted
            ),
            outgoing.flakiest_tests,
        )

    async def flaky_history(
        self, member: Member, query: FlakyQuery
    ) -> ListPage[over_time.FlakyTestHistory]:
        """Give the same rows over time and boxes."""
        scope, period = _scope(query), self._period(query)
        slots = slots_of(query.days, period)

        def work(reader: Reader) -> ListPage[over_time.FlakyTestHistory]:
            history, reading = self._read(reader, member, scope, period)
            rows = tables.flakiest_tests(reading, query.offset, query.limit, query.wanted)
            paging = Paging(query.page, query.limit)
            return over_time.flaky_history(strips(history, rows, slots), paging)

        return await self._storage.read(work, organization=member.org_id)

    async def failures(self, member: Member, query: FailuresQuery) -> ListPage[wire.FailureAnswer]:
        """List failures with their labels."""
        return await self._table(
            member,
            query,
            lambda seen: tables.labelled_failures(
                seen.reading, query.offset, query.limit, query.wanted
            ),
            outgoing.labelled_failures,
        )

    async def evidence(self, member: Member, failure_id: UUID | None) -> wire.FailureEvidence:
        """Give one failure with all that its answer rests on. Raises `NotFoundError`."""

        def work(reader: Reader) -> wire.FailureEvidence:
            history = reader.history(member.org_id)
            found = (
                None
                if failure_id is None
                else failures.evidence(history, failure_id, limits.EVIDENCE_MAX)
            )
            if found is None:
                raise NotFoundError("Failure not found")
            return outgoing.failure_evidence(member.org_id, found)

        return await self._storage.read(work, organization=member.org_id)

    async def products(self, member: Member, query: PageQuery) -> ListPage[wire.ProductAnswer]:
        """List the products heard of: the last to report first, silent ones at the end."""

        def work(reader: Reader) -> ListPage[wire.ProductAnswer]:
            found = list(reader.history(member.org_id).products())
            found.sort(key=lambda state: state.last_report_at or _NEVER, reverse=True)
            rows = found[query.offset : query.offset + query.limit]
            items = [outgoing.product(state) for state in rows]
            return outgoing.list_page(items, len(found), Paging(query.page, query.limit))

        return await self._storage.read(work, organization=member.org_id)

    async def configs(self, member: Member, query: PageQuery) -> ListPage[wire.SuiteConfigAnswer]:
        """List configurations as sent."""

        def work(reader: Reader) -> ListPage[wire.SuiteConfigAnswer]:
            found = reader.configs(member.org_id, query.offset, query.limit)
            items = [outgoing.suite_config(config, at) for config, at in found.items]
            return outgoing.list_page(items, found.total, Paging(query.page, query.limit))

        return await self._storage.read(work, organization=member.org_id)

    async def plan(
        self, member: Member, body: SuiteConfiguration, query: PlanQuery
    ) -> wire.SuiteConfigPlan:
        """Give what a configuration would change, were it sent."""
        configuration = config_fact(body)
        period = last_days(query.days, query.as_of or self._clock())

        def work(reader: Reader) -> wire.SuiteConfigPlan:
            found = plan(reader.history(member.org_id), period, configuration)
            return outgoing.suite_config_plan(configuration, found, query, period)

        return await self._storage.read(work, organization=member.org_id)

    async def _table(
        self,
        member: Member,
        query: TableQuery,
        table: Callable[[Snapshot], Listing[Row]],
        shape: Callable[[Listing[Row], Paging], Result],
    ) -> Result:
        scope, period = _scope(query), self._period(query)
        paging = Paging(query.page, query.limit)
        return await self._storage.read(
            lambda reader: shape(table(self._read(reader, member, scope, period)), paging),
            organization=member.org_id,
        )

    def _read(self, reader: Reader, member: Member, scope: Scope, period: Period) -> Snapshot:
        """Read a period, or remember it."""
        history = reader.history(member.org_id)
        asked = _asked(reader, history, member, scope, period)
        return Snapshot(history, self._readings.of(asked, history))

    def _period(self, query: PeriodQuery) -> Period:
        return last_days(query.days, query.as_of or self._clock())


def _asked(reader: Reader, history: History, member: Member, scope: Scope, period: Period) -> Asked:
    """Say what is to be read: one snapshot gives the state's number and the state.

    A period is read over its extent, so that a page opened again later costs no second reading
    unless something entered or left the period in between.
    """
    extent = history.extent(scope, period) or period
    return Asked(member.org_id, reader.version(member.org_id), scope, extent)


def _scope(query: PeriodQuery) -> Scope:
    return Scope(query.repo_key, query.suite)
