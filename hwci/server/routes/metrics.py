# SPDX-License-Identifier: Apache-2.0
"""The metrics page, its four tables, and the products it is about."""

from hwci.server.http.route import Call, Route, Who
from hwci.wire import limits
from hwci.wire.base import ListPage
from hwci.wire.checked_merges import CheckedMergeAnswer
from hwci.wire.metrics import (
    FlakyTestAnswer,
    MetricsPage,
    ProductAnswer,
    ResolvedFailureAnswer,
    SuiteConfigAnswer,
    SuiteConfigPlan,
    UncheckedMerge,
)
from hwci.wire.over_time import FlakyTestHistory, TrendAnswer
from hwci.wire.queries import (
    FlakyQuery,
    MergesQuery,
    MetricsQuery,
    OthersQuery,
    PageQuery,
    PeriodQuery,
    PlanQuery,
    ResolvedQuery,
)
from hwci.wire.reports import SuiteConfiguration


async def products(call: Call) -> ListPage[ProductAnswer]:
    """List products."""
    return await call.services.metrics.products(call.member, call.query(PageQuery))


async def suite_configs(call: Call) -> ListPage[SuiteConfigAnswer]:
    """List suite configurations."""
    return await call.services.metrics.configs(call.member, call.query(PageQuery))


async def plan(call: Call) -> SuiteConfigPlan:
    """Tell what a suite configuration would change."""
    body = call.body(SuiteConfiguration)
    return await call.services.metrics.plan(call.member, body, call.query(PlanQuery))


async def page(call: Call) -> MetricsPage:
    """Open the metrics page."""
    return await call.services.metrics.page(call.member, call.query(MetricsQuery))


async def trend(call: Call) -> TrendAnswer:
    """Read the tiles over time."""
    return await call.services.metrics.trend(call.member, call.query(PeriodQuery))


async def unchecked_merges(call: Call) -> ListPage[UncheckedMerge]:
    """Read one table."""
    return await call.services.metrics.unchecked_merges(call.member, call.query(MergesQuery))


async def checked_merges(call: Call) -> ListPage[CheckedMergeAnswer]:
    """Read the rows behind a tile."""
    return await call.services.metrics.checked_merges(call.member, call.query(MergesQuery))


async def real_bugs(call: Call) -> ListPage[ResolvedFailureAnswer]:
    """Read one table."""
    return await call.services.metrics.real_bugs(call.member, call.query(ResolvedQuery))


async def other_failures(call: Call) -> ListPage[ResolvedFailureAnswer]:
    """Read one table."""
    return await call.services.metrics.other_failures(call.member, call.query(OthersQuery))


async def flakiest_tests(call: Call) -> ListPage[FlakyTestAnswer]:
    """Read one table."""
    return await call.services.metrics.flakiest_tests(call.member, call.query(FlakyQuery))


async def flaky_history(call: Call) -> ListPage[FlakyTestHistory]:
    """Read the rows of one table over time."""
    return await call.services.metrics.flaky_history(call.member, call.query(FlakyQuery))


ROUTES = (
    Route(
        "GET",
        "/api/orgs/{orgId}/products",
        Who.MEMBER,
        products,
        "List the products that were heard of",
        query=PageQuery,
        answer=ListPage[ProductAnswer],
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/suite-configs",
        Who.MEMBER,
        suite_configs,
        "List suite configurations as sent",
        query=PageQuery,
        answer=ListPage[SuiteConfigAnswer],
        metrics=True,
    ),
    Route(
        "POST",
        "/api/orgs/{orgId}/suite-configs/plan",
        Who.MEMBER,
        plan,
        "Tell what a suite configuration would change, were it sent; nothing is kept",
        body=SuiteConfiguration,
        body_bytes=limits.SUITE_CONFIG_BYTES,
        query=PlanQuery,
        answer=SuiteConfigPlan,
        metrics=True,
        reads=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics",
        Who.MEMBER,
        page,
        "Open the metrics page: four tiles and the first rows of four tables",
        query=MetricsQuery,
        answer=MetricsPage,
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics/trend",
        Who.MEMBER,
        trend,
        "The four tiles over time: at most 90 slots of equal width",
        query=PeriodQuery,
        answer=TrendAnswer,
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics/unchecked-merges",
        Who.MEMBER,
        unchecked_merges,
        "Merges not checked on hardware",
        query=MergesQuery,
        answer=ListPage[UncheckedMerge],
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics/checked-merges",
        Who.MEMBER,
        checked_merges,
        "Merges checked on hardware, each with the run that checked it first",
        query=MergesQuery,
        answer=ListPage[CheckedMergeAnswer],
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics/real-bugs",
        Who.MEMBER,
        real_bugs,
        "Real FW bugs caught",
        query=ResolvedQuery,
        answer=ListPage[ResolvedFailureAnswer],
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics/other-failures",
        Who.MEMBER,
        other_failures,
        "Resolved by a bench or harness change",
        query=OthersQuery,
        answer=ListPage[ResolvedFailureAnswer],
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics/flakiest-tests",
        Who.MEMBER,
        flakiest_tests,
        "Flakiest tests",
        query=FlakyQuery,
        answer=ListPage[FlakyTestAnswer],
        metrics=True,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-metrics/flakiest-tests/history",
        Who.MEMBER,
        flaky_history,
        "Flakiest tests over time and boxes, in the slots of the trend",
        query=FlakyQuery,
        answer=ListPage[FlakyTestHistory],
        metrics=True,
    ),
)
