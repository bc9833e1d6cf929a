# SPDX-License-Identifier: Apache-2.0
"""The routes of answers beside the rules (ADR 0063). None of them is part of an answer of the
specification.
"""

from hwci.server.http.route import Route, Who
from hwci.server.services.analysis.benches import Benches
from hwci.server.services.analysis.bisection import Bisections
from hwci.server.services.analysis.causes import Causes
from hwci.server.services.analysis.explanations import Explanations
from hwci.server.services.analysis.flaky_tests import FlakyTests
from hwci.server.services.analysis.incidents import Incidents
from hwci.server.services.analysis.lost_boards import LostBoards
from hwci.server.services.analysis.merges import MergeAnalysis
from hwci.server.services.analysis.page_figures import PageFigures
from hwci.server.services.analysis.tests import Tests
from hwci.server.services.analysis.trends import Trends
from hwci.wire import limits

# fmt: off
ANALYSIS = (
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/merges", Who.READER, MergeAnalysis.announced,
        "Announced merges, each with the runs that checked it or tell why none did", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/unchecked-merges", Who.READER,
        MergeAnalysis.unchecked,
        "Merges not checked on hardware, each with the one cause of it", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/merge-plan", Who.READER, MergeAnalysis.plan,
        "The runs that would check these merges in the least board time", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/boxes", Who.READER, Benches.health,
        "Boxes: which one fails more than the others on the same commits, and how each fares",
        metrics=True, also=(409,)
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/box", Who.READER, Benches.show,
        "One box: how it compares, its shares beside the others', what failed on it alone",
        metrics=True, also=(409,)
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/failures/{failureId}", Who.READER,
        Explanations.of_failure,
        "Show which single edits would give a failure another class", metrics=True
    ),
    Route(
        "POST", "/api/orgs/{orgId}/ci-analysis/failures/{failureId}", Who.READER,
        Explanations.with_git,
        "The same, with what git has of changes that runs did not send; nothing is kept",
        body_bytes=limits.UNSENT_BYTES, metrics=True, reads=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/gaps", Who.READER, Explanations.gaps,
        "What CI leaves out, and how many ambiguous failures it would decide", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/flaky-tests", Who.READER, FlakyTests.listed,
        "Flaky tests: since which commit, on which boxes, and how sure", metrics=True, also=(409,)
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/flaky-tests/history", Who.READER,
        FlakyTests.over_time, "The same tests over time, on each box", metrics=True, also=(409,)
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/causes", Who.READER, Causes.causes,
        "Resolved failures by cause: what one commit broke and one fixed, as one", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/lost-boards", Who.READER, LostBoards.counted,
        "How many resolved failures lie in runs that lost their board, and which", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/lost-boards/resolved", Who.READER,
        LostBoards.resolved,
        "The same as rows of the tables of resolved failures", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/lost-boards/failures", Who.READER,
        LostBoards.failures,
        "All failures in runs that lost their board, as `ci-failures` lists them", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/incidents", Who.READER, Incidents.incidents,
        "Failures that one cause explains, as one: tests by boxes, the commits that began it",
        metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/trends", Who.READER, Trends.against_before,
        "The tiles against the period before", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/bisection", Who.READER, Bisections.progress,
        "Which commit broke a test, how sure that is, and the run that tells most about it",
        metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/test", Who.READER, Tests.show,
        "One test over time on each box: how often it failed, and what a retry gave", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/tests", Who.READER, Tests.listed,
        "List the tests that reports name", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/days", Who.READER, Trends.by_day,
        "The tiles by the calendar days of a time zone, each share with its interval", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/times-to-fix", Who.READER, Trends.to_fix,
        "How long failures took until they were seen, and fixed, by product and box", metrics=True
    ),
    Route(
        "GET", "/api/orgs/{orgId}/ci-analysis/page", Who.MEMBER, PageFigures.shown,
        "What the dashboard's metrics page shows beside `ci-metrics`, as one answer", metrics=True
    ),
)
# fmt: on
