# SPDX-License-Identifier: Apache-2.0
"""Answers have the contract's keys, no more and no less, and say the spec's words."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from hwci.contract.vocabulary import (
    FailureClass,
    FileKind,
    Label,
    Outcome,
    Reason,
    ReviewAction,
    Verdict,
)
from hwci.engine import facts, history
from hwci.engine.history import Listing
from hwci.engine.page.failures import (
    CommitEvidence,
    Evidence,
    FileEvidence,
    Fix,
    LabelledFailure,
    ResolvedFailure,
)
from hwci.engine.page.overview import Page
from hwci.engine.page.reading import ClassCounts, Tally, Tiles
from hwci.engine.periods import last_days
from hwci.engine.rules.classify import Check, Classification, Finding
from hwci.wire import failures, metrics
from hwci.wire.base import Answer
from hwci.wire.errors import ErrorBody, Issue
from hwci.wire.queries import MetricsQuery
from tests.engine.timeline import flaky_test

ORG = UUID("00000000-0000-4000-8000-000000000001")
ID = UUID("00000000-0000-4000-8000-000000000002")
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
SHA, FIX = "a" * 40, "b" * 40
LANE = facts.Lane("acme/sensor-node", "sensor-fw", "boot.test_reset", "bench-1", "main")
KEY = facts.FailureKey(LANE, SHA)
RUN = history.FailingRun(AT, 4711, 1, "hil", Verdict.DEVICE, 4711)
COMMIT = facts.Commit(SHA, "Rework reset", AT, ("src/reset.c",))
REAL = Classification(FailureClass.REAL_FW_BUG, None)
FOUND = Finding("src/reset.c is firmware", None, SHA, "src/reset.c", "src/**")
MIXED = Classification(
    FailureClass.AMBIGUOUS, Reason.FIX_MIXED, (Check(Reason.FIX_MIXED, True, FOUND),)
)
REVIEW = facts.Review(KEY, ReviewAction.CONFIRM, str(ID), "Ada", AT, 1)

RESOLVED_KEYS = {
    *("id", "repoKey", "suite", "testId", "boxKey", "branch", "firstFailure", "lastFailingSha"),
    *("failingCommits", "brokenBy", "fix", "verdict", "class", "reason", "reasonText"),
    *("automatic", "review", "status"),
    "label",  # what a reviewed failure is now (semantics, 8.2)
}


def resolved(**fields: Any) -> ResolvedFailure:
    """Return a real bug, or what `fields` make of it."""
    row: dict[str, Any] = {
        "id": ID,
        "key": KEY,
        "first": RUN,
        "last_failing_sha": SHA,
        "failing_commits": 1,
        "broken_by": (COMMIT,),
        "fix": Fix(FIX, AT),
        "shown": REAL,
        "automatic": REAL,
        "review": None,
    }
    return ResolvedFailure(**(row | fields))


def page() -> Page:
    """Return a page with a row in each table."""
    merge = facts.Announcement("acme/sensor-node", None, SHA, "main", AT)
    flaky = flaky_test("acme/sensor-node", "sensor-fw", "t", 1, 2, 4, 1, 1, 0, 25.0)
    other = resolved(shown=MIXED, automatic=MIXED)
    return Page(
        tiles=Tiles(Tally(12, 15), ClassCounts(3, 4, 2, 1), 7, Tally(2, 120)),
        unchecked_merges=Listing((merge,), 3),
        real_bugs=Listing((resolved(),), 3),
        other_failures=Listing((other,), 6),
        flakiest_tests=Listing((flaky,), 1),
    )


def sent(answer: Answer) -> Any:
    """Return an answer as its reader finds it."""
    return json.loads(answer.model_dump_json())


TEN_ROWS = MetricsQuery(limit=10)


def shown_page(query: MetricsQuery = TEN_ROWS) -> Any:
    """Return the page as JSON."""
    return sent(metrics.MetricsPage.of(ORG, page(), query, last_days(query.days, AT)))


def test_the_metrics_page_has_the_keys_of_the_contract() -> None:
    shown = shown_page()

    assert set(shown) == {
        *("period", "product", "tiles"),
        *("uncheckedMerges", "realBugs", "otherFailures", "flakiestTests"),
    }
    assert shown["period"] == {
        "days": 30,
        "from": "2026-01-31T12:00:00Z",
        "to": "2026-03-02T12:00:00Z",
    }
    assert shown["tiles"] == {
        "mergesChecked": {"checked": 12, "announced": 15},
        "realFwBugs": {"real": 3, "benchOrHarness": 4, "ambiguous": 2, "dismissed": 1},
        "flakyFailures": {"count": 7},
        "infraRuns": {"infra": 2, "total": 120},
    }


def test_each_table_of_the_page_is_a_list_page() -> None:
    shown = shown_page()

    for table, total in (
        ("uncheckedMerges", 3),
        ("realBugs", 3),
        ("otherFailures", 6),
        ("flakiestTests", 1),
    ):
        assert set(shown[table]) == {"items", "total", "page", "limit"}
        assert (shown[table]["total"], shown[table]["page"], shown[table]["limit"]) == (
            total,
            1,
            10,
        )
    assert shown["uncheckedMerges"]["items"] == [
        {
            "repoKey": "acme/sensor-node",
            "suite": None,
            "sha": SHA,
            "branch": "main",
            "mergedAt": "2026-03-02T12:00:00Z",
            "ciUrl": None,
        }
    ]
    assert shown["flakiestTests"]["items"] == [
        {
            "repoKey": "acme/sensor-node",
            "suite": "sensor-fw",
            "testId": "t",
            "boxes": 1,
            "runReports": 2,
            "attempts": 4,
            "failedAttempts": 1,
            "retryPasses": 1,
            "flakyFailures": 0,
            "flakeRate": 25.0,
        }
    ]


def test_the_page_says_what_it_is_about() -> None:
    one = MetricsQuery(repo_key="r", suite="s")

    assert shown_page()["product"] is None
    assert shown_page(MetricsQuery(repo_key="r"))["product"] == {"repoKey": "r", "suite": None}
    assert shown_page(one)["product"] == {"repoKey": "r", "suite": "s"}


def test_the_days_are_those_asked_for_where_time_does_not_reach_back_so_far() -> None:
    query, first_day = MetricsQuery(days=30), datetime(1, 1, 2, tzinfo=UTC)
    period = last_days(query.days, first_day)

    assert sent(metrics.MetricsPage.of(ORG, page(), query, period))["period"] == {
        "days": 30,
        "from": "0001-01-01T00:00:00Z",
        "to": "0001-01-02T00:00:00Z",
    }


def test_a_real_bug_has_the_keys_of_the_contract() -> None:
    row = sent(failures.ResolvedFailureAnswer.of(ORG, resolved()))

    assert set(row) == RESOLVED_KEYS
    assert set(row["firstFailure"]) == {
        *("sha", "startedAt", "workflow", "runId", "runAttempt", "runRecordId"),
        "ciRun",
    }
    assert row["brokenBy"] == {
        "from": SHA,
        "to": SHA,
        "commits": [{"sha": SHA, "subject": "Rework reset"}],
    }
    assert row["fix"] == {"sha": FIX, "startedAt": "2026-03-02T12:00:00Z"}
    assert (row["class"], row["reason"], row["reasonText"]) == ("real_fw_bug", None, None)
    assert (row["verdict"], row["review"], row["status"]) == ("device", None, "Automatic")


def test_another_resolved_failure_says_its_reason_in_the_words_of_the_spec() -> None:
    row = sent(failures.ResolvedFailureAnswer.of(ORG, resolved(shown=MIXED, automatic=MIXED)))

    text = "Fix changed firmware and harness in the same commit"
    assert (row["class"], row["reason"], row["reasonText"]) == ("ambiguous", "fix_mixed", text)
    assert row["automatic"] == {"class": "ambiguous", "reason": "fix_mixed", "reasonText": text}


def test_a_reviewed_failure_shows_who_reviewed_it_and_keeps_its_automatic_class() -> None:
    row = sent(failures.ResolvedFailureAnswer.of(ORG, resolved(automatic=MIXED, review=REVIEW)))

    assert row["status"] == "Ada"
    assert row["review"] == {
        "action": "confirm",
        "by": {"id": str(ID), "name": "Ada"},
        "at": "2026-03-02T12:00:00Z",
        "note": None,
        "issue": None,
    }
    assert (row["class"], row["automatic"]["class"]) == ("real_fw_bug", "ambiguous")


def test_unknown_values_are_null() -> None:
    row = sent(failures.ResolvedFailureAnswer.of(ORG, resolved(broken_by=None, fix=None)))

    assert set(row) == RESOLVED_KEYS
    assert (row["brokenBy"], row["fix"]) == (None, None)


def test_a_failure_and_its_evidence_have_the_keys_of_the_contract() -> None:
    place = history.Place(AT, 3, 0, SHA)
    failure = history.Failure(ID, KEY, place, 2, RUN, AT, False, FIX)
    run = history.LaneRun(
        AT, 4711, 1, "hil", "main", Outcome.FAIL, 3, Verdict.DEVICE, 1.5, "CRC 0x1f"
    )
    changed = CommitEvidence(COMMIT, (FileEvidence("a.c", FileKind.FIRMWARE),))
    evidence = Evidence(
        failure=LabelledFailure(failure, Label.RESOLVED, ID),
        lane=LANE,
        resolved=resolved(shown=MIXED, automatic=MIXED),
        broken_by=(COMMIT,),
        timeline=(history.LaneCommit(SHA, place, (run,)),),
        timeline_total=1,
        timeline_changes=(changed,),
        under_test=(changed,),
        before_fix=None,
    )

    shown = sent(failures.FailureEvidence.of(ORG, evidence))

    assert set(shown["failure"]) == {
        *("id", "repoKey", "suite", "testId", "boxKey", "branch", "sha", "label", "items"),
        *("firstStartedAt", "lastStartedAt", "verdict", "groupId"),
    }
    commit = shown["timeline"][0]
    assert (commit["this"], commit["passed"], commit["failed"]) == (True, False, True)
    assert commit["runs"][0]["message"] == "CRC 0x1f"
    assert shown["checks"] == [
        {
            "reason": "fix_mixed",
            "reasonText": "Fix changed firmware and harness in the same commit",
            "decided": True,
            "found": "src/reset.c is firmware",
            "run": None,
            "commit": SHA,
            "file": "src/reset.c",
            "pattern": "src/**",
        }
    ]
    assert shown["underTest"][0]["files"] == [{"path": "a.c", "kind": "firmware"}]
    assert shown["beforeFix"] is None
    assert shown["brokenBy"] == shown["resolved"]["brokenBy"]
    assert (shown["timelineTotal"], commit["runsTotal"]) == (1, 1)
    assert (shown["underTestTotal"], shown["beforeFixTotal"]) == (1, None)
    assert shown["underTest"][0]["filesTotal"] == 1
    assert shown["timelineChanges"] == []


def test_long_evidence_is_bounded_and_says_how_long_it_is() -> None:
    failure = history.Failure(ID, KEY, history.Place(AT, 3, 0, SHA), 1, RUN, AT, False, FIX)
    runs = tuple(
        history.LaneRun(AT, number, 1, "hil", "main", Outcome.FAIL, 3, Verdict.DEVICE, 1.5)
        for number in range(300)
    )
    lane = [history.LaneCommit(str(at), history.Place(AT, 3, at, str(at)), ()) for at in range(200)]
    lane[150] = history.LaneCommit(KEY.sha, failure.place, runs)
    plain = [FileEvidence(f"{number}.md", FileKind.OTHER) for number in range(1_000)]
    files = (*plain, FileEvidence("a.c", FileKind.FIRMWARE))
    dull = CommitEvidence(COMMIT, ())
    evidence = Evidence(
        failure=LabelledFailure(failure, Label.PENDING, ID),
        lane=LANE,
        resolved=None,
        broken_by=None,
        timeline=lane,
        timeline_total=900,
        timeline_changes=tuple(CommitEvidence(facts.Commit(one.sha), ()) for one in lane),
        under_test=(*([dull] * 249), CommitEvidence(COMMIT, files)),
        before_fix=(dull,) * 500,
    )

    shown = sent(failures.FailureEvidence.of(ORG, evidence))

    timeline = shown["timeline"]
    assert (len(timeline), shown["timelineTotal"]) == (200, 900)
    (own,) = [commit for commit in timeline if commit["this"]]
    assert (len(own["runs"]), own["runsTotal"]) == (200, 300)
    assert own["runs"][-1]["runId"] == 299
    told = [commit["sha"] for commit in shown["timelineChanges"]]
    assert told == [commit["sha"] for commit in timeline if commit["sha"] != COMMIT.sha]
    assert (len(shown["underTest"]), shown["underTestTotal"]) == (200, 250)
    assert (len(shown["beforeFix"]), shown["beforeFixTotal"]) == (200, 500)
    listed = shown["underTest"][-1]["files"]
    assert (len(listed), shown["underTest"][-1]["filesTotal"]) == (200, 1_001)
    assert (listed[0]["path"], listed[-1]["path"]) == ("0.md", "a.c")


def test_a_reader_gets_back_what_was_sent_and_ignores_what_it_does_not_know() -> None:
    answer = failures.ResolvedFailureAnswer.of(ORG, resolved(review=REVIEW))
    newer = sent(answer) | {"future": 1}

    assert failures.ResolvedFailureAnswer.model_validate_json(json.dumps(newer)) == answer


def test_an_error_has_the_fields_of_the_spec() -> None:
    error = ErrorBody(
        status_code=400,
        error="Bad Request",
        message="Validation failed",
        issues=[Issue(path=["body", "tests", 3, "outcome"], message="Field required")],
    )

    assert json.loads(error.model_dump_json()) == {
        "statusCode": 400,
        "error": "Bad Request",
        "message": "Validation failed",
        "issues": [{"path": ["body", "tests", 3, "outcome"], "message": "Field required"}],
    }
