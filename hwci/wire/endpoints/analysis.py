# SPDX-License-Identifier: Apache-2.0
"""Answers beside the rules (ADR 0009): none of them is part of an answer of the specification."""

from hwci.contract.boxes.benches import Benches, OneBox
from hwci.contract.failures.causes import Cause
from hwci.contract.failures.explanations import Explanation, Gaps
from hwci.contract.failures.failures import Failure, ResolvedFailure
from hwci.contract.failures.incidents import Incident
from hwci.contract.failures.lost_boards import LostBoardCounts
from hwci.contract.flaky.bisection import Bisection
from hwci.contract.flaky.flaky_history import FlakyHistories
from hwci.contract.flaky.one_test import OneTest
from hwci.contract.flaky.suspects import FlakyRow
from hwci.contract.known_failures import KnownTest
from hwci.contract.page.page_figures import PageFigures
from hwci.contract.periods.days import Days
from hwci.contract.periods.digest import Digest
from hwci.contract.periods.times_to_fix import TimesToFix
from hwci.contract.periods.trends import Trends
from hwci.contract.runs.merges import AnnouncedMerge, ExplainedMerge, MergePlan
from hwci.contract.runs.one_commit import OneCommit
from hwci.contract.scope import TestName
from hwci.contract.shape import ListPage
from hwci.wire import limits
from hwci.wire.analysis.bisection import BisectionQuery
from hwci.wire.analysis.causes import CausesQuery
from hwci.wire.analysis.days import DaysQuery
from hwci.wire.analysis.explanations import UnsentBody
from hwci.wire.analysis.flaky_history import RankedHistoryQuery
from hwci.wire.analysis.incidents import IncidentsQuery
from hwci.wire.analysis.lost_boards import LostResolvedQuery
from hwci.wire.analysis.one_box import OneBoxQuery
from hwci.wire.analysis.one_commit import OneCommitQuery
from hwci.wire.analysis.one_test import OneTestQuery, TestNamesQuery
from hwci.wire.analysis.page_figures import PageFiguresQuery
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.queries import (
    BoxHealthQuery,
    BoxTableQuery,
    FailuresQuery,
    MergePlanQuery,
    MergeRunsQuery,
    PeriodQuery,
    Query,
    SuspectsQuery,
    TableQuery,
)

# fmt: off
LIST_MERGES = Endpoint(
    "merges.list", "GET", "/api/orgs/{orgId}/ci-analysis/merges", Who.READER,
    "Announced merges, each with the runs that checked it or tell why none did",
    query=MergeRunsQuery, answer=ListPage[AnnouncedMerge], metrics=True, tagged=True
)
EXPLAIN_UNCHECKED_MERGES = Endpoint(
    "merges.unchecked", "GET", "/api/orgs/{orgId}/ci-analysis/unchecked-merges", Who.READER,
    "Merges not checked on hardware, each with the one cause of it", query=MergeRunsQuery,
    answer=ListPage[ExplainedMerge], metrics=True, tagged=True
)
PLAN_MERGES = Endpoint(
    "merges.plan", "GET", "/api/orgs/{orgId}/ci-analysis/merge-plan", Who.READER,
    "The runs that would check these merges in the least board time", query=MergePlanQuery,
    answer=MergePlan, metrics=True, tagged=True
)
BOX_HEALTH = Endpoint(
    "boxes.health", "GET", "/api/orgs/{orgId}/ci-analysis/boxes", Who.READER,
    "Boxes: which one fails more than the others on the same commits, and how each fares",
    query=BoxHealthQuery, answer=Benches, also=(409,), metrics=True, tagged=True
)
ONE_BOX = Endpoint(
    "boxes.show", "GET", "/api/orgs/{orgId}/ci-analysis/box", Who.READER,
    "One box: how it compares, its shares beside the others', what failed on it alone",
    query=OneBoxQuery, answer=OneBox, also=(409,), metrics=True, tagged=True
)
EXPLAIN_FAILURE = Endpoint(
    "failures.explain", "GET", "/api/orgs/{orgId}/ci-analysis/failures/{failureId}", Who.READER,
    "Show which single edits would give a failure another class", query=Query,
    answer=Explanation, metrics=True
)
EXPLAIN_FAILURE_WITH_GIT = Endpoint(
    "failures.explain_with_git", "POST", "/api/orgs/{orgId}/ci-analysis/failures/{failureId}",
    Who.READER, "The same, with what git has of changes that runs did not send; nothing is kept",
    body=UnsentBody, answer=Explanation, metrics=True, body_bytes=limits.UNSENT_BYTES,
    reads=True
)
LIST_GAPS = Endpoint(
    "failures.gaps", "GET", "/api/orgs/{orgId}/ci-analysis/gaps", Who.READER,
    "What CI leaves out, and how many ambiguous failures it would decide", query=PeriodQuery,
    answer=Gaps, metrics=True, tagged=True
)
SUSPECTS = Endpoint(
    "tests.flaky", "GET", "/api/orgs/{orgId}/ci-analysis/flaky-tests", Who.READER,
    "Flaky tests: since which commit, on which boxes, and how sure", query=SuspectsQuery,
    answer=ListPage[FlakyRow], also=(409,), metrics=True, tagged=True
)
SUSPECTS_HISTORY = Endpoint(
    "tests.flaky_history", "GET", "/api/orgs/{orgId}/ci-analysis/flaky-tests/history", Who.READER,
    "The same tests over time, on each box", query=RankedHistoryQuery, answer=FlakyHistories,
    also=(409,), metrics=True, tagged=True
)
LIST_CAUSES = Endpoint(
    "causes.list", "GET", "/api/orgs/{orgId}/ci-analysis/causes", Who.READER,
    "Resolved failures by cause: what one commit broke and one fixed, as one", query=CausesQuery,
    answer=ListPage[Cause], metrics=True, tagged=True
)
LOST_BOARDS = Endpoint(
    "lost_boards.count", "GET", "/api/orgs/{orgId}/ci-analysis/lost-boards", Who.READER,
    "How many resolved failures lie in runs that lost their board, and which", query=PeriodQuery,
    answer=LostBoardCounts, metrics=True, tagged=True
)
LOST_RESOLVED = Endpoint(
    "lost_boards.resolved", "GET", "/api/orgs/{orgId}/ci-analysis/lost-boards/resolved", Who.READER,
    "The same as rows of the tables of resolved failures", query=LostResolvedQuery,
    answer=ListPage[ResolvedFailure], metrics=True, tagged=True
)
LOST_FAILURES = Endpoint(
    "lost_boards.failures", "GET", "/api/orgs/{orgId}/ci-analysis/lost-boards/failures", Who.READER,
    "All failures in runs that lost their board, as `ci-failures` lists them", query=FailuresQuery,
    answer=ListPage[Failure], metrics=True, tagged=True
)
QUARANTINE = Endpoint(
    "known_failures.quarantine", "GET", "/api/orgs/{orgId}/ci-analysis/quarantine", Who.READER,
    "Tests with known failures, and which of them must not be put into quarantine",
    query=TableQuery, answer=ListPage[KnownTest], also=(409,), metrics=True, tagged=True
)
LIST_INCIDENTS = Endpoint(
    "incidents.list", "GET", "/api/orgs/{orgId}/ci-analysis/incidents", Who.READER,
    "Failures that one cause explains, as one: tests by boxes, the commits that began it",
    query=IncidentsQuery, answer=ListPage[Incident], metrics=True, tagged=True
)
TRENDS = Endpoint(
    "metrics.trends", "GET", "/api/orgs/{orgId}/ci-analysis/trends", Who.READER,
    "The tiles against the period before", query=PeriodQuery, answer=Trends, metrics=True,
    tagged=True
)
BISECTION = Endpoint(
    "tests.bisection", "GET", "/api/orgs/{orgId}/ci-analysis/bisection", Who.READER,
    "Which commit broke a test, how sure that is, and the run that tells most about it",
    query=BisectionQuery, answer=Bisection, metrics=True, tagged=True
)
ONE_TEST = Endpoint(
    "tests.show", "GET", "/api/orgs/{orgId}/ci-analysis/test", Who.READER,
    "One test over time on each box: how often it failed, and what a retry gave",
    query=OneTestQuery, answer=OneTest, metrics=True, tagged=True
)
LIST_TESTS = Endpoint(
    "tests.list", "GET", "/api/orgs/{orgId}/ci-analysis/tests", Who.READER,
    "List the tests that reports name", query=TestNamesQuery, answer=ListPage[TestName],
    metrics=True
)
ONE_COMMIT = Endpoint(
    "commits.show", "GET", "/api/orgs/{orgId}/ci-analysis/commit", Who.READER,
    "One commit: on which boxes it ran, and what caused each of its failures", query=OneCommitQuery,
    answer=OneCommit, metrics=True, tagged=True
)
METRICS_BY_DAY = Endpoint(
    "metrics.by_day", "GET", "/api/orgs/{orgId}/ci-analysis/days", Who.READER,
    "The tiles by the calendar days of a time zone, each share with its interval", query=DaysQuery,
    answer=Days, metrics=True, tagged=True
)
TIMES_TO_FIX = Endpoint(
    "metrics.times_to_fix", "GET", "/api/orgs/{orgId}/ci-analysis/times-to-fix", Who.READER,
    "How long failures took until they were seen, and fixed, by product and box",
    query=BoxTableQuery, answer=ListPage[TimesToFix], metrics=True, tagged=True
)
DIGEST = Endpoint(
    "metrics.digest", "GET", "/api/orgs/{orgId}/ci-analysis/digest", Who.READER,
    "A period in a few lines: what broke, was fixed, is flaky, was not run, fell silent",
    query=PeriodQuery, answer=Digest, metrics=True, tagged=True
)
PAGE_FIGURES = Endpoint(
    "metrics.beside", "GET", "/api/orgs/{orgId}/ci-analysis/page", Who.MEMBER,
    "What the dashboard's metrics page shows beside `ci-metrics`, as one answer",
    query=PageFiguresQuery, answer=PageFigures, metrics=True, tagged=True, called=False
)
FLEET = Endpoint(
    "metrics.fleet", "GET", "/api/orgs/{orgId}/ci-analysis/fleet", Who.READER,
    "Figures of each box and product, for Prometheus", query=PeriodQuery, metrics=True,
    media="text/plain", called=False
)
# fmt: on
