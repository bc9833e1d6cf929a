# SPDX-License-Identifier: Apache-2.0
"""The metrics page, its tables, and failures with their evidence (contract, "CI metrics").

Storage finds facts, and the engine decides: this module joins the two within one read transaction.
It computes no figure, and remembers no answer.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.contract.failures.failures import Failure, FailureEvidence, ResolvedFailure
from hwci.contract.flaky.flaky_history import FlakyHistories
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.page.metrics import MetricsPage, SuiteConfigPlan, Trend
from hwci.contract.runs.merges import CheckedMerge, Merge
from hwci.contract.runs.products import Product, SuiteConfig
from hwci.contract.shape import ListPage
from hwci.engine import facts
from hwci.engine.calendar import calendar_days
from hwci.engine.history import History, Listing, ProductState, Scope
from hwci.engine.page import tables
from hwci.engine.page.evidence import evidence
from hwci.engine.page.over_time import flaky_over_time, read_dates, trend
from hwci.engine.page.overview import read_page
from hwci.engine.page.plan import plan
from hwci.engine.page.reading import (
    ResolvedTables,
    read_failures,
    read_flakiest,
    read_merges,
    read_resolved,
)
from hwci.engine.periods import Period, Slots, last_days, slots_of
from hwci.server.errors import NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import Member, Viewer, is_bound, may_see, require_product
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.services.known import known_scope, require_known_product
from hwci.server.services.known_failures import known_or_not, page_with_known, with_known
from hwci.server.storage.ports import Reader
from hwci.server.storage.records import NOBODY
from hwci.wire import limits
from hwci.wire.analysis.flaky_history import FlakyHistoryQuery
from hwci.wire.codec import as_json
from hwci.wire.queries import (
    FailuresQuery,
    FlakyQuery,
    MergeRunsQuery,
    MergesQuery,
    MetricsQuery,
    OthersQuery,
    PeriodQuery,
    PlanQuery,
    ProductsQuery,
    ResolvedQuery,
    SuiteConfigsQuery,
    TableQuery,
)
from hwci.wire.reports import SuiteConfiguration

_NEVER = datetime.min.replace(tzinfo=UTC)

Row = TypeVar("Row")
Found = TypeVar("Found")


class Asked(NamedTuple):
    """What a query is about: a history, and which part of it."""

    history: History
    scope: Scope
    period: Period

    @property
    def resolved(self) -> ResolvedTables:
        """The resolved failures, read now."""
        return read_resolved(*self)


class Metrics(Service):
    """Reads of the CI Metrics feature. None instead of an answer: by its tag, the caller has it."""

    async def page(self, viewer: Viewer, query: MetricsQuery, tags: Tags) -> MetricsPage | None:
        """Return the tiles and the first rows of each table."""

        def work(about: Asked) -> MetricsPage:
            return read_page(*about, query.limit)

        return await self._answer(viewer, query, work, tags)

    async def warm_up(self) -> None:
        """Make a page that nobody asked for, that of the first organization when it last reported:
        what is done only once does not delay the page of the first who asks.
        """
        query = MetricsQuery()

        def work(reader: Reader) -> None:
            org_id = next(iter(reader.organization_ids()), NOBODY)
            history, scope = reader.history(org_id), Scope()
            ends = [
                product.last_report_at for product in history.products() if product.last_report_at
            ]
            period = last_days(query.days, max(ends, default=self._clock()))
            Tags().note(reader.state(org_id), history.extent(scope, period))
            as_json(MetricsPage, read_page(history, scope, period, query.limit))

        await self._storage.warm_up(work)

    async def trend(self, viewer: Viewer, query: PeriodQuery) -> Trend | None:
        """Return the tiles over time."""

        def work(about: Asked) -> Trend:
            slots = slots_of(query.days, about.period)
            return trend(read_dates(*about), slots, about.scope.product)

        return await self._answer(viewer, query, work)

    async def unchecked_merges(
        self, viewer: Viewer, query: MergesQuery, tags: Tags
    ) -> ListPage[Merge] | None:
        """Return "Merges not checked on hardware"."""

        def rows(about: Asked) -> Listing[Merge]:
            merges = read_merges(about.history, about.scope, about.period)
            return tables.unchecked_merges(merges.unchecked, query.selection)

        return await self._table(viewer, query, rows, tags)

    async def checked_merges(
        self, viewer: Viewer, query: MergeRunsQuery, tags: Tags
    ) -> ListPage[CheckedMerge] | None:
        """Return the merges checked on hardware."""

        def rows(about: Asked) -> Listing[CheckedMerge]:
            merges = read_merges(about.history, about.scope, about.period)
            return tables.checked_merges(about.history, merges.checked, query.selection)

        return await self._table(viewer, query, rows, tags)

    async def real_bugs(
        self, viewer: Viewer, query: ResolvedQuery, tags: Tags
    ) -> ListPage[ResolvedFailure] | None:
        """Return "Real FW bugs caught"."""

        def rows(about: Asked) -> Listing[ResolvedFailure]:
            return tables.real_bugs(about.history, about.resolved.real_bugs, query.selection)

        return await self._table(viewer, query, rows, tags)

    async def other_failures(
        self, viewer: Viewer, query: OthersQuery, tags: Tags
    ) -> ListPage[ResolvedFailure] | None:
        """Return "Resolved by a bench or harness change"."""

        def rows(about: Asked) -> Listing[ResolvedFailure]:
            others = about.resolved.other_failures
            return tables.other_failures(about.history, others, query.selection)

        return await self._table(viewer, query, rows, tags)

    async def flakiest_tests(
        self, viewer: Viewer, query: FlakyQuery, tags: Tags
    ) -> ListPage[FlakyTest] | None:
        """Return "Flakiest tests"."""
        rows = partial(_flakiest, query)
        return await self._table(viewer, query, rows, tags)

    async def flaky_history(
        self, viewer: Viewer, query: FlakyHistoryQuery
    ) -> FlakyHistories | None:
        """Return the same rows over time and boxes."""

        def work(about: Asked) -> FlakyHistories:
            return histories_of(about.history, _flakiest(query, about), query, about.period)

        return await self._answer(viewer, query, work)

    async def failures(
        self, viewer: Viewer, query: FailuresQuery, tags: Tags
    ) -> ListPage[Failure] | None:
        """List failures with their labels."""
        period = self._period(query)

        def look(reader: Reader) -> ListPage[Failure] | None:
            history = reader.history(viewer.org_id)
            about = _asked(reader, history, viewer, query, period, tags)
            if about is None:
                return None
            if query.known is None:
                return page_with_known(history, query, tables.failures(*about, query.selection))
            return known_or_not(history, query, read_failures(*about))

        return await self._read(viewer, look, tags)

    async def evidence(self, viewer: Viewer, failure_id: UUID | None) -> FailureEvidence:
        """Return one failure with its evidence. Raises `NotFoundError`."""

        def work(reader: Reader) -> FailureEvidence:
            history, shown = reader.history(viewer.org_id), None
            if failure_id is not None:
                shown = evidence(history, failure_id, limits.EVIDENCE_MAX)
            if shown is None:
                raise NotFoundError("Failure not found")
            require_product(viewer, shown.failure.repo_key, shown.failure.suite)
            [failure] = with_known(history, [shown.failure])
            return replace(shown, failure=failure)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def products(self, viewer: Viewer, query: ProductsQuery) -> ListPage[Product]:
        """List the products: the last to report first, those without a report at the end, below
        them the repositories that are asked for. A reader key that is bound to products gets those.
        """

        def work(reader: Reader) -> ListPage[Product]:
            require_known_product(reader, viewer, query.repo_key, query.suite)
            return products_of(reader.history(viewer.org_id), viewer, query)

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def configs(self, viewer: Viewer, query: SuiteConfigsQuery) -> ListPage[SuiteConfig]:
        """List configurations as sent."""

        def work(reader: Reader) -> ListPage[SuiteConfig]:
            scope = known_scope(reader, viewer, query)
            rows = reader.configs(viewer.org_id, query.offset, query.limit, scope)
            return query.page_of(rows, lambda row: _config(*row))

        return await self._storage.read(work, organization=viewer.org_id, person=viewer.id)

    async def plan(
        self, member: Member, body: SuiteConfiguration, query: PlanQuery
    ) -> SuiteConfigPlan:
        """Return what a configuration would change if it were sent."""
        configuration, period = body.fact(), self._period(query)

        def work(reader: Reader) -> SuiteConfigPlan:
            return plan(reader.history(member.org_id), period, configuration, query.paged)

        return await self._storage.read(work, organization=member.org_id, person=member.id)

    async def _table(
        self,
        viewer: Viewer,
        query: TableQuery,
        rows: Callable[[Asked], Listing[Row]],
        tags: Tags | None = None,
    ) -> ListPage[Row] | None:
        return await self._answer(viewer, query, lambda about: query.page_of(rows(about)), tags)

    async def _answer(
        self,
        viewer: Viewer,
        query: PeriodQuery,
        work: Callable[[Asked], Found],
        tags: Tags | None = None,
    ) -> Found | None:
        """Return what `work` makes of the history; None if the caller has this answer."""
        period = self._period(query)

        def look(reader: Reader) -> Found | None:
            about = _asked(reader, reader.history(viewer.org_id), viewer, query, period, tags)
            return None if about is None else work(about)

        return await self._read(viewer, look, tags)

    async def _read(
        self, viewer: Viewer, look: Callable[[Reader], Found], tags: Tags | None
    ) -> Found:
        question = None if tags is None else tags.question
        return await self._storage.read(
            look, organization=viewer.org_id, person=viewer.id, question=question
        )


def _asked(
    reader: Reader,
    history: History,
    viewer: Viewer,
    query: PeriodQuery,
    period: Period,
    tags: Tags | None,
) -> Asked | None:
    """Return what a query is about; None if the caller has the answer."""
    scope = known_scope(reader, viewer, query)
    if tags is not None:
        tags.note(reader.state(viewer.org_id), history.extent(scope, period))
        if tags.is_answered:
            return None
    return Asked(history, scope, period)


def products_of(history: History, viewer: Viewer, query: ProductsQuery) -> ListPage[Product]:
    """Return the products that a query asks for, of those that the viewer may see."""
    scope = Scope(query.repo_key, query.suite)
    states = [
        state
        for state in history.products()
        if may_see(viewer, state.product) and scope.holds(*state.product)
    ]
    states.sort(key=lambda state: state.last_report_at or _NEVER, reverse=True)
    rows = [_product(state) for state in states]
    if query.unassigned and not is_bound(viewer):
        names = history.unassigned_repositories()
        rows += [_unassigned(name) for name in names if scope.holds(name, None)]
    return query.paged(rows)


def _product(state: ProductState) -> Product:
    config = state.config
    return Product(
        repo_key=state.product.repo_key,
        suite=state.product.suite,
        configured=config is not None,
        merge_trigger=None if config is None else config.merge_trigger,
        last_report_at=state.last_report_at,
        links=None if config is None else config.links,
    )


def _unassigned(repo_key: str) -> Product:
    return Product(
        repo_key=repo_key, suite=None, configured=False, merge_trigger=None, last_report_at=None
    )


def _config(config: facts.SuiteConfig, updated_at: datetime) -> SuiteConfig:
    return SuiteConfig(
        repo_key=config.repo_key,
        suite=config.suite,
        firmware_paths=config.firmware_paths,
        harness_paths=config.harness_paths,
        trigger_paths=config.trigger_paths,
        merge_trigger=config.merge_trigger,
        updated_at=updated_at,
        links=config.links,
        targets=config.targets,
    )


def histories_of(
    history: History, rows: Listing[FlakyTest], query: FlakyHistoryQuery, period: Period
) -> FlakyHistories:
    """Return a slice of "Flakiest tests" over time, in the slots that a query asks for."""
    zone = query.zone_info
    days = None if zone is None else calendar_days(period, zone)
    if days is None:
        slots = slots_of(query.days, period)
    else:
        slots = Slots(period, [day.start for day in days])
    page = query.page_of(flaky_over_time(history, rows, slots))
    return FlakyHistories(**vars(page), days=days)


def _flakiest(query: FlakyQuery, about: Asked) -> Listing[FlakyTest]:
    tests = read_flakiest(about.history, about.scope, about.period)
    return tables.flakiest_tests(tests, query.selection)
