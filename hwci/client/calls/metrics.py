# SPDX-License-Identifier: Apache-2.0
"""The metrics page, its tables, failures and their review."""

from datetime import datetime
from typing import TypedDict, Unpack

from hwci.client._call import Call
from hwci.client.calls._writing import Id, listing, org_path, query_of, segment, written
from hwci.engine.vocabulary import FailureClass, Label
from hwci.wire import limits
from hwci.wire.base import ListPage
from hwci.wire.failures import FailureAnswer, FailureEvidence, ResolvedFailureAnswer
from hwci.wire.metrics import (
    CheckedMergeAnswer,
    FlakyTestAnswer,
    FlakyTestHistory,
    MetricsPage,
    ProductAnswer,
    SuiteConfigAnswer,
    SuiteConfigPlan,
    TrendAnswer,
    UncheckedMerge,
)
from hwci.wire.queries import (
    FailuresQuery,
    FlakyQuery,
    MergesQuery,
    MetricsQuery,
    OthersQuery,
    PeriodQuery,
    PlanQuery,
    ResolvedQuery,
)
from hwci.wire.reports import SuiteConfiguration


class TableFilters(TypedDict, total=False):
    """What narrows a table: its period, its products, and the page of it."""

    days: int
    repo_key: str | None
    suite: str | None
    as_of: datetime | None
    page: int
    limit: int


class SearchFilters(TableFilters, total=False):
    """What else narrows a table of the metrics page or the list of failures, and puts it in order:
    `sort` is a column as the answer names it, with `-` in front for descending.
    """

    search: str | None
    sort: str | None


def list_products(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[ProductAnswer]]:
    """List the products that were heard of."""
    return listing(f"{org_path(org_id)}/products", ListPage[ProductAnswer], page, limit)


def list_suite_configs(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[SuiteConfigAnswer]]:
    """List the suite configurations as sent."""
    return listing(f"{org_path(org_id)}/suite-configs", ListPage[SuiteConfigAnswer], page, limit)


def plan_suite_config(
    org_id: Id,
    body: SuiteConfiguration,
    days: int = limits.PLAN_DAYS_DEFAULT,
    as_of: datetime | None = None,
    page: int = 1,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
) -> Call[SuiteConfigPlan]:
    """Ask which failures a configuration would class otherwise, were it sent."""
    query = query_of(PlanQuery, days=days, as_of=as_of, page=page, limit=limit)
    path = f"{org_path(org_id)}/suite-configs/plan"
    return Call("POST", path, SuiteConfigPlan, 200, query=query, body=written(body))


def metrics(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
    limit: int = limits.PAGE_LIMIT_DEFAULT,
) -> Call[MetricsPage]:
    """Ask for the metrics page: the tiles, and `limit` rows of each table."""
    query = query_of(
        MetricsQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of, limit=limit
    )
    return Call("GET", f"{org_path(org_id)}/ci-metrics", MetricsPage, 200, query=query)


def trend(
    org_id: Id,
    days: int = limits.DAYS_DEFAULT,
    repo_key: str | None = None,
    suite: str | None = None,
    as_of: datetime | None = None,
) -> Call[TrendAnswer]:
    """Ask for the tiles over time: one slot a day, and at most 90."""
    query = query_of(PeriodQuery, days=days, repo_key=repo_key, suite=suite, as_of=as_of)
    return Call("GET", f"{org_path(org_id)}/ci-metrics/trend", TrendAnswer, 200, query=query)


def unchecked_merges(org_id: Id, **table: Unpack[SearchFilters]) -> Call[ListPage[UncheckedMerge]]:
    """List the merges not checked on hardware."""
    path = f"{org_path(org_id)}/ci-metrics/unchecked-merges"
    return Call("GET", path, ListPage[UncheckedMerge], 200, query=query_of(MergesQuery, **table))


def checked_merges(
    org_id: Id, **table: Unpack[SearchFilters]
) -> Call[ListPage[CheckedMergeAnswer]]:
    """List the merges checked on hardware, each with the run that checked it first."""
    path = f"{org_path(org_id)}/ci-metrics/checked-merges"
    query = query_of(MergesQuery, **table)
    return Call("GET", path, ListPage[CheckedMergeAnswer], 200, query=query)


def real_bugs(org_id: Id, **table: Unpack[SearchFilters]) -> Call[ListPage[ResolvedFailureAnswer]]:
    """List the real firmware bugs caught."""
    path = f"{org_path(org_id)}/ci-metrics/real-bugs"
    query = query_of(ResolvedQuery, **table)
    return Call("GET", path, ListPage[ResolvedFailureAnswer], 200, query=query)


def other_failures(
    org_id: Id, failure_class: FailureClass | None = None, **table: Unpack[SearchFilters]
) -> Call[ListPage[ResolvedFailureAnswer]]:
    """List the other resolved failures, with reason, or those of one class."""
    path = f"{org_path(org_id)}/ci-metrics/other-failures"
    query = query_of(OthersQuery, failure_class=failure_class, **table)
    return Call("GET", path, ListPage[ResolvedFailureAnswer], 200, query=query)


def flakiest_tests(
    org_id: Id, broken: bool | None = None, **table: Unpack[SearchFilters]
) -> Call[ListPage[FlakyTestAnswer]]:
    """List the flakiest tests, the highest rate first; `broken` False: none that are broken."""
    query = query_of(FlakyQuery, broken=broken, **table)
    path = f"{org_path(org_id)}/ci-metrics/flakiest-tests"
    return Call("GET", path, ListPage[FlakyTestAnswer], 200, query=query)


def flaky_history(
    org_id: Id, broken: bool | None = None, **table: Unpack[SearchFilters]
) -> Call[ListPage[FlakyTestHistory]]:
    """List the same tests over time and boxes, in the slots of the trend."""
    query = query_of(FlakyQuery, broken=broken, **table)
    path = f"{org_path(org_id)}/ci-metrics/flakiest-tests/history"
    return Call("GET", path, ListPage[FlakyTestHistory], 200, query=query)


def list_failures(
    org_id: Id,
    label: Label | None = None,
    test_id: str | None = None,
    **table: Unpack[SearchFilters],
) -> Call[ListPage[FailureAnswer]]:
    """List every failure of the period with its label, or those of one label or one test."""
    query = query_of(FailuresQuery, label=label, test_id=test_id, **table)
    return Call("GET", f"{org_path(org_id)}/ci-failures", ListPage[FailureAnswer], 200, query=query)


def get_failure(org_id: Id, failure_id: Id) -> Call[FailureEvidence]:
    """Ask for one failure with its evidence."""
    return Call("GET", _failure(org_id, failure_id), FailureEvidence, 200)


def confirm_failure(org_id: Id, failure_id: Id) -> Call[ResolvedFailureAnswer]:
    """Count a resolved failure as a real firmware bug."""
    return _review(org_id, failure_id, "confirm")


def dismiss_failure(org_id: Id, failure_id: Id) -> Call[ResolvedFailureAnswer]:
    """Move a real firmware bug to the other list."""
    return _review(org_id, failure_id, "dismiss")


def reset_failure(org_id: Id, failure_id: Id) -> Call[ResolvedFailureAnswer]:
    """Restore the automatic label of a reviewed failure."""
    return _review(org_id, failure_id, "reset")


def _review(org_id: Id, failure_id: Id, action: str) -> Call[ResolvedFailureAnswer]:
    # Not repeatable: the second of two confirmations is refused with 409 (semantics, 8.1).
    path = f"{_failure(org_id, failure_id)}/{action}"
    return Call("POST", path, ResolvedFailureAnswer, 200, repeatable=False)


def _failure(org_id: Id, failure_id: Id) -> str:
    return f"{org_path(org_id)}/ci-failures/{segment(failure_id)}"
