# SPDX-License-Identifier: Apache-2.0
"""Answers have the contract's keys, no more and no less, and say the spec's words."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.page.metrics import (
    FlakyFailures,
    InfraRuns,
    MergesChecked,
    MetricsPage,
    RealFwBugs,
    Tiles,
)
from hwci.contract.runs.merges import Merge
from hwci.contract.shape import ListPage
from hwci.engine.history import Scope
from hwci.engine.page.evidence import evidence
from hwci.engine.periods import last_days
from hwci.wire.codec import as_json, from_json
from hwci.wire.errors import ErrorBody, Issue
from tests.engine.timeline import (
    ALL,
    ORG,
    Past,
    changes,
    commit,
    flaky_test,
    id_of,
    report,
    seen,
)

ID = UUID("00000000-0000-4000-8000-000000000002")
AT = datetime(2026, 3, 2, 12, tzinfo=UTC)
SHA = "a" * 40
REAL = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"})
MIXED = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw hs"})

RESOLVED_KEYS = {
    *("id", "repoKey", "suite", "testId", "boxKey", "branch", "firstFailure", "lastFailingSha"),
    *("failingCommits", "brokenBy", "fix", "verdict", "class", "reason", "reasonText"),
    *("automatic", "review", "status"),
    "label",  # what a reviewed failure is now (semantics, 8.2)
}


def page(days: int = 30, as_of: datetime = AT, scope: Scope = ALL) -> MetricsPage:
    """Return a page with a row in each table."""
    merge = Merge("acme/sensor-node", None, SHA, "main", AT)
    flaky = flaky_test("acme/sensor-node", "sensor-fw", "t", 1, 2, 4, 1, 1, 0, 25.0)
    bug, other = REAL.row("b"), MIXED.row("b")
    return MetricsPage(
        period=last_days(days, as_of),
        product=scope.product,
        tiles=Tiles(
            merges_checked=MergesChecked(checked=12, announced=15),
            real_fw_bugs=RealFwBugs(real=3, bench_or_harness=4, ambiguous=2, dismissed=1),
            flaky_failures=FlakyFailures(count=7),
            infra_runs=InfraRuns(infra=2, total=120),
        ),
        unchecked_merges=ListPage(items=(merge,), total=3, page=1, limit=10),
        real_bugs=ListPage(items=(bug,), total=3, page=1, limit=10),
        other_failures=ListPage(items=(other,), total=6, page=1, limit=10),
        flakiest_tests=ListPage(items=(flaky,), total=1, page=1, limit=10),
    )


def sent(answer: object) -> Any:
    """Return an answer as its reader finds it."""
    return json.loads(as_json(type(answer), answer))


def shown_page(**about: Any) -> Any:
    """Return the page as JSON."""
    return sent(page(**about))


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
    assert shown_page()["product"] is None
    assert shown_page(scope=Scope("r"))["product"] == {"repoKey": "r", "suite": None}
    assert shown_page(scope=Scope("r", "s"))["product"] == {"repoKey": "r", "suite": "s"}


def test_the_days_are_those_asked_for_where_time_does_not_reach_back_so_far() -> None:
    first_day = datetime(1, 1, 2, tzinfo=UTC)

    assert shown_page(as_of=first_day)["period"] == {
        "days": 30,
        "from": "0001-01-01T00:00:00Z",
        "to": "0001-01-02T00:00:00Z",
    }


def test_a_real_bug_has_the_keys_of_the_contract() -> None:
    row = sent(REAL.row("b"))

    assert set(row) == RESOLVED_KEYS
    assert set(row["firstFailure"]) == {
        *("sha", "startedAt", "workflow", "runId", "runAttempt", "runRecordId"),
        "ciRun",
    }
    assert row["brokenBy"] == {
        "from": "b",
        "to": "b",
        "commits": [{"sha": "b", "subject": "Change b"}],
    }
    assert row["fix"] == {"sha": "c", "startedAt": "2026-01-01T00:02:00Z"}
    assert (row["class"], row["reason"], row["reasonText"]) == ("real_fw_bug", None, None)
    assert (row["verdict"], row["review"], row["status"]) == ("device", None, "Automatic")


def test_another_resolved_failure_says_its_reason_in_the_words_of_the_spec() -> None:
    row = sent(MIXED.row("b"))

    text = "Fix changed firmware and harness in the same commit"
    assert (row["class"], row["reason"], row["reasonText"]) == ("ambiguous", "fix_mixed", text)
    assert row["automatic"] == {"class": "ambiguous", "reason": "fix_mixed", "reasonText": text}


def test_a_reviewed_failure_shows_who_reviewed_it_and_keeps_its_automatic_class() -> None:
    row = sent(MIXED.reviewed("b", "confirm").row("b"))

    assert row["status"] == "Ada"
    assert row["review"] == {
        "action": "confirm",
        "by": {"id": str(ORG), "name": "Ada"},
        "at": "2026-01-01T08:20:00Z",
        "note": None,
        "issue": None,
    }
    assert (row["class"], row["automatic"]["class"]) == ("real_fw_bug", "ambiguous")


def test_unknown_values_are_null() -> None:
    row = sent(seen("box-1 | a:P b:F").reviewed("b", "confirm").row("b"))

    assert set(row) == RESOLVED_KEYS
    assert (row["brokenBy"], row["fix"]) == (None, None)


def test_a_failure_and_its_evidence_have_the_keys_of_the_contract() -> None:
    past = MIXED.and_also(report("b:F3", 5))

    found = evidence(past.history, id_of("b"), 200)
    assert found is not None
    shown = sent(found)

    assert set(shown["failure"]) == {
        *("id", "repoKey", "suite", "testId", "boxKey", "branch", "sha", "label", "items"),
        *("firstStartedAt", "lastStartedAt", "verdict", "groupId", "known"),
    }
    own = next(at for at in shown["timeline"] if at["this"])
    assert (own["passed"], own["failed"], own["runsTotal"]) == (False, True, 2)
    assert set(own["runs"][0]) == {
        *("startedAt", "runId", "runAttempt", "runRecordId", "ciRun", "workflow", "branch"),
        *("outcome", "attempts", "durationS", "verdict", "message", "board", "logUrl"),
    }
    *passed, decided = shown["checks"]
    assert not any(check["decided"] for check in passed)
    assert set(decided["run"]) == {
        *("startedAt", "runId", "runAttempt", "runRecordId", "ciRun", "boxKey"),
    }
    assert {**decided, "run": None} == {
        "reason": "fix_mixed",
        "reasonText": "Fix changed firmware and harness in the same commit",
        "decided": True,
        "found": "The fix changed firmware, and the harness file ci/run.py",
        "run": None,
        "commit": "c",
        "file": "src/main.c",
        "pattern": "src/**",
    }
    assert shown["underTest"][0]["files"] == [{"path": "src/main.c", "kind": "firmware"}]
    assert shown["underTest"][0]["filesTotal"] == 1
    assert shown["brokenBy"] == shown["resolved"]["brokenBy"]
    assert (shown["timelineTotal"], shown["underTestTotal"], shown["beforeFixTotal"]) == (3, 1, 1)
    assert shown["timelineChanges"] == []


def test_long_evidence_is_bounded_and_says_how_long_it_is() -> None:
    plain = " ".join(f"{number}.md" for number in range(1_000))
    dull = [f"d{number}" for number in range(249)]
    later = [f"c{number}" for number in range(250)]
    between = [f"f{number}" for number in range(499)]
    runs = [report("b:F", 1 + at / 1_000, run_id=at, sent=None) for at in range(1, 300)]
    first = report("b:F", 1, run_id=300, sent=changes("a", *dull, commit("b", f"{plain} fw")))
    still = [
        report(f"{sha}:F", 2 + at, sent=changes(before, sha))
        for at, (before, sha) in enumerate(zip(["b", *later], later, strict=False))
    ]
    fixed = report("z:P", 900, sent=changes(later[-1], *between, commit("z", "fw")))
    past = Past([report("a:P", 0), first, *runs, *still, fixed])

    found = evidence(past.history, id_of("b"), 200)
    assert found is not None
    shown = sent(found)

    timeline = shown["timeline"]
    assert (len(timeline), shown["timelineTotal"]) == (200, 253)
    (own,) = [at for at in timeline if at["this"]]
    assert (len(own["runs"]), own["runsTotal"]) == (200, 300)
    assert own["runs"][-1]["runId"] == 299
    told = [at["sha"] for at in shown["timelineChanges"]]
    assert told == [at["sha"] for at in timeline if at["sha"] not in {"a", "b", "z"}]
    assert (len(shown["underTest"]), shown["underTestTotal"]) == (200, 250)
    assert (len(shown["beforeFix"]), shown["beforeFixTotal"]) == (200, 500)
    assert [shown[name][-1]["sha"] for name in ("underTest", "beforeFix")] == ["b", "z"]
    listed = shown["underTest"][-1]["files"]
    assert (len(listed), shown["underTest"][-1]["filesTotal"]) == (200, 1_001)
    assert (listed[0]["path"], listed[-1]["path"]) == ("0.md", "src/main.c")


def test_a_reader_gets_back_what_was_sent_and_ignores_what_it_does_not_know() -> None:
    answer = REAL.reviewed("b", "dismiss").row("b")
    newer = sent(answer) | {"future": 1}

    assert from_json(ResolvedFailure, json.dumps(newer)) == answer


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
