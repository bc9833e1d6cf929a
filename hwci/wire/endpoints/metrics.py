# SPDX-License-Identifier: Apache-2.0
"""Products, the metrics page, its tables, failures and their review."""

from hwci.contract.failures.failures import (
    Failure,
    FailureEvidence,
    ResolvedFailure,
    ReviewedFailures,
)
from hwci.contract.flaky.flaky_history import FlakyHistories
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.page.metrics import MetricsPage, SuiteConfigPlan, Trend
from hwci.contract.runs.merges import CheckedMerge, Merge
from hwci.contract.runs.products import Product, SuiteConfig
from hwci.contract.shape import ListPage
from hwci.wire import limits
from hwci.wire.analysis.causes import ReviewsBody
from hwci.wire.analysis.flaky_history import FlakyHistoryQuery
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.failures import ReviewNote
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
    Query,
    ResolvedQuery,
    SuiteConfigsQuery,
)
from hwci.wire.reports import SuiteConfiguration

# fmt: off
LIST_PRODUCTS = Endpoint(
    "products.list", "GET", "/api/orgs/{orgId}/products", Who.READER, "List the known products",
    query=ProductsQuery, answer=ListPage[Product], metrics=True
)
LIST_SUITE_CONFIGS = Endpoint(
    "suite_configs.list", "GET", "/api/orgs/{orgId}/suite-configs", Who.READER,
    "List suite configurations as sent", query=SuiteConfigsQuery,
    answer=ListPage[SuiteConfig], metrics=True
)
PLAN_SUITE_CONFIG = Endpoint(
    "suite_configs.plan", "POST", "/api/orgs/{orgId}/suite-configs/plan", Who.MEMBER,
    "Show what a suite configuration would change if it were sent; nothing is kept",
    body=SuiteConfiguration, query=PlanQuery, answer=SuiteConfigPlan, metrics=True,
    body_bytes=limits.SUITE_CONFIG_BYTES, reads=True, whole_body=True
)
METRICS = Endpoint(
    "metrics.page", "GET", "/api/orgs/{orgId}/ci-metrics", Who.READER,
    "Open the metrics page: four tiles and the first rows of four tables", query=MetricsQuery,
    answer=MetricsPage, metrics=True, tagged=True
)
TREND = Endpoint(
    "metrics.trend", "GET", "/api/orgs/{orgId}/ci-metrics/trend", Who.READER,
    "The four tiles over time: at most 90 slots of equal width", query=PeriodQuery,
    answer=Trend, metrics=True
)
UNCHECKED_MERGES = Endpoint(
    "metrics.unchecked_merges", "GET", "/api/orgs/{orgId}/ci-metrics/unchecked-merges", Who.READER,
    "List the announced merges that no run checked", query=MergesQuery,
    answer=ListPage[Merge], metrics=True, tagged=True
)
CHECKED_MERGES = Endpoint(
    "metrics.checked_merges", "GET", "/api/orgs/{orgId}/ci-metrics/checked-merges", Who.READER,
    "Merges checked on hardware, each with the run that checked it first", query=MergeRunsQuery,
    answer=ListPage[CheckedMerge], metrics=True, tagged=True
)
REAL_BUGS = Endpoint(
    "metrics.real_bugs", "GET", "/api/orgs/{orgId}/ci-metrics/real-bugs", Who.READER,
    "List the resolved failures that were real firmware bugs", query=ResolvedQuery,
    answer=ListPage[ResolvedFailure], metrics=True, tagged=True
)
OTHER_FAILURES = Endpoint(
    "metrics.other_failures", "GET", "/api/orgs/{orgId}/ci-metrics/other-failures", Who.READER,
    "List the other resolved failures, each with its reason", query=OthersQuery,
    answer=ListPage[ResolvedFailure], metrics=True, tagged=True
)
FLAKIEST_TESTS = Endpoint(
    "metrics.flakiest_tests", "GET", "/api/orgs/{orgId}/ci-metrics/flakiest-tests", Who.READER,
    "Flakiest tests", query=FlakyQuery, answer=ListPage[FlakyTest], metrics=True, tagged=True
)
FLAKY_HISTORY = Endpoint(
    "metrics.flaky_history", "GET", "/api/orgs/{orgId}/ci-metrics/flakiest-tests/history",
    Who.READER, "Flakiest tests over time and boxes, in the slots of the trend",
    query=FlakyHistoryQuery, answer=FlakyHistories, metrics=True
)
LIST_FAILURES = Endpoint(
    "failures.list", "GET", "/api/orgs/{orgId}/ci-failures", Who.READER,
    "List failures that have an item in the period, with their labels", query=FailuresQuery,
    answer=ListPage[Failure], metrics=True, tagged=True
)
GET_FAILURE = Endpoint(
    "failures.get", "GET", "/api/orgs/{orgId}/ci-failures/{failureId}", Who.READER,
    "Show one failure with its evidence", query=Query, answer=FailureEvidence, metrics=True
)
CONFIRM_FAILURE = Endpoint(
    "failures.confirm", "POST", "/api/orgs/{orgId}/ci-failures/{failureId}/confirm", Who.ADMIN,
    "Count a resolved failure as a real firmware bug", body=ReviewNote,
    answer=ResolvedFailure, also=(409,), metrics=True, bodiless=True, repeatable=False
)
DISMISS_FAILURE = Endpoint(
    "failures.dismiss", "POST", "/api/orgs/{orgId}/ci-failures/{failureId}/dismiss", Who.ADMIN,
    "Move a real firmware bug to the other list", body=ReviewNote, answer=ResolvedFailure,
    also=(409,), metrics=True, bodiless=True, repeatable=False
)
RESET_FAILURE = Endpoint(
    "failures.reset", "POST", "/api/orgs/{orgId}/ci-failures/{failureId}/reset", Who.ADMIN,
    "Restore the automatic label of a reviewed failure", body=ReviewNote,
    answer=ResolvedFailure, also=(409,), metrics=True, bodiless=True, repeatable=False
)
REVIEW_FAILURES = Endpoint(
    "failures.review", "POST", "/api/orgs/{orgId}/ci-reviews", Who.ADMIN,
    "Confirm, dismiss and reset several failures, all or none", body=ReviewsBody,
    answer=ReviewedFailures, also=(404, 409), metrics=True, whole_body=True, repeatable=False
)
# fmt: on
