# SPDX-License-Identifier: Apache-2.0
"""The page, identities, reviews, merges, periods and paths, as computed by hand (§1, §8 to §11)."""

from typing import Any

import pytest

from tests.reference import brute
from tests.reference.brute import ReviewRefusedError
from tests.reference.cases import (
    AS_OF,
    BREAK,
    MEND,
    REAL,
    announce,
    at,
    checked_merges,
    config,
    failures,
    labels,
    page,
    reason,
    resolved,
    review,
    run,
    sha,
    the_one,
)
from tests.reference.facts import instant
from tests.reference.paths import matches_list


def test_a_whole_row_of_a_real_bug() -> None:
    assert the_one(*REAL) == {
        "id": ("fw", "hil", "t", "box", "main", sha("b")),
        "repoKey": "fw",
        "suite": "hil",
        "testId": "t",
        "boxKey": "box",
        "branch": "main",
        "firstFailure": {
            "sha": sha("b"),
            "startedAt": "2026-02-03T00:10:00+00:00",
            "workflow": "hil",
            "runId": 1000,
            "runAttempt": 1,
            "runRecordId": ("fw", 1000, 1, "box"),
            "ciRun": None,
        },
        "lastFailingSha": sha("b"),
        "failingCommits": 1,
        "brokenBy": {
            "from": sha("b"),
            "to": sha("b"),
            "commits": [{"sha": sha("b"), "subject": "Commit b"}],
        },
        "fix": {"sha": sha("c"), "startedAt": "2026-02-03T00:20:00+00:00"},
        "verdict": "device",
        "class": "real_fw_bug",
        "reason": None,
        "reasonText": None,
        "automatic": {"class": "real_fw_bug", "reason": None, "reasonText": None},
        "review": None,
        "status": "Automatic",
    }


# -- §1: identities


def test_the_first_of_two_announcements_stays() -> None:
    shown = page(announce("a", 5), announce("a", 9, branch="other", sha=sha("A")))
    assert shown["uncheckedMerges"] == [
        {
            "repoKey": "fw",
            "suite": None,
            "sha": sha("a"),
            "branch": "main",
            "mergedAt": "2026-02-03T00:05:00+00:00",
            "ciUrl": None,
        }
    ]


def test_the_last_of_two_reports_stays_whole() -> None:
    moved = run("b", 11, "fail", run_id=1000, branch="side", suite="ota")
    assert [(row["branch"], row["suite"]) for row in failures(BREAK, moved)] == [("side", "ota")]


def test_the_suite_of_a_report_is_its_workflow_unless_given() -> None:
    assert failures(BREAK)[0]["suite"] == "hil"
    assert failures(run("b", 10, "fail", suite=None, workflow="w"))[0]["suite"] == "w"


def test_an_abbreviation_is_another_commit_and_case_is_none() -> None:
    assert labels(run("b", 1, "fail", sha="abcdef0"), run("b", 2, "pass", sha="ABCDEF0")) == {
        "a": "flake"
    }
    assert labels(run("b", 1, "fail", sha="abcdef01"), run("b", 2, "pass", sha="abcdef0")) == {
        "a": "resolved"
    }


def part(number: int, parts: int, outcome: str, **fields: Any) -> tuple[str, dict[str, object]]:
    part_of = {"run_id": 1, "part": number, "parts": parts}
    return run("b", 1, outcome, run_id=number, part_of=part_of, **fields)


def test_later_parts_are_not_counted_as_infra_runs_and_show_the_run_they_belong_to() -> None:
    events = [part(1, 2, "pass", tests=[]), part(2, 2, "fail"), run("c", 2, "pass")]
    assert page(*events)["tiles"]["infraRuns"] == {"infra": 0, "total": 2}
    first = the_one(*events)["firstFailure"]
    assert (first["runId"], first["runRecordId"]) == (1, ("fw", 2, 1, "box"))


def test_fewer_parts_sent_again_remove_the_parts_beyond() -> None:
    whole = [part(1, 2, "pass", tests=[]), part(2, 2, "fail")]
    assert len(failures(*whole)) == 1
    assert failures(*whole, part(1, 1, "pass")) == []
    assert len(failures(*whole, part(1, 1, "pass", box_key="box 2"))) == 1


# -- §8: reviews


def test_confirm_dismiss_and_reset() -> None:
    other = [config(), BREAK, run("c", 20, "pass", after="b", of="c:ot")]
    confirmed = the_one(*other, review("confirm", "b"))
    assert (confirmed["class"], confirmed["reason"]) == ("real_fw_bug", None)
    assert confirmed["automatic"]["reason"] == "fix_not_firmware"
    assert confirmed["status"] == "Ada"
    dismissed = the_one(*other, review("confirm", "b"), review("dismiss", "b"))
    assert (dismissed["class"], dismissed["reason"]) == ("dismissed", "dismissed")
    assert dismissed["reasonText"] == "Dismissed by an admin"
    reset = the_one(*other, review("confirm", "b"), review("reset", "b"))
    assert (reset["reason"], reset["review"]) == ("fix_not_firmware", None)
    assert reset["status"] == "Automatic"


def test_a_review_counts_in_the_tile_as_what_it_makes_of_the_failure() -> None:
    assert page(*REAL, review("dismiss", "b"))["tiles"]["realFwBugs"] == {
        "real": 0,
        "benchOrHarness": 0,
        "ambiguous": 0,
        "dismissed": 1,
    }


@pytest.mark.parametrize(
    "illegal",
    [
        [*REAL, review("confirm", "b")],
        [*REAL, review("reset", "b")],
        [*REAL, review("dismiss", "b"), review("dismiss", "b")],
        [*REAL[:3], review("confirm", "b")],
        [BREAK, MEND, run("b", 30, "pass"), review("confirm", "b")],
        [BREAK, MEND, review("confirm", "c")],
    ],
)
def test_an_action_that_the_state_does_not_allow_is_refused(
    illegal: list[tuple[str, dict[str, object]]],
) -> None:
    with pytest.raises(ReviewRefusedError):
        page(*illegal)


GROUP = [BREAK, run("c", 20, "fail"), run("d", 30, "pass")]


def test_a_review_of_any_member_is_stored_at_the_first_failure() -> None:
    """When the first failure leaves the group, the review goes with it."""
    reviewed = [*GROUP, review("confirm", "c")]
    assert the_one(*reviewed)["status"] == "Ada"
    parted = resolved(*reviewed, run("b", 40, "pass"))
    assert {row["firstFailure"]["sha"][0]: row["status"] for row in parted} == {
        "b": "Ada",
        "c": "Automatic",
    }


def test_a_group_carries_the_review_written_last_among_its_members() -> None:
    passing = run("c", 20, "pass")
    apart = [config(), BREAK, passing, run("d", 30, "fail"), run("e", 40, "pass")]
    reviews = [review("confirm", "d"), review("confirm", "b"), review("dismiss", "b")]
    joined = the_one(*apart, *reviews, run("c", 20, "fail"))
    assert (joined["class"], joined["failingCommits"]) == ("dismissed", 3)
    again = the_one(*apart, *reviews, run("c", 20, "fail"), review("reset", "d"))
    assert again["status"] == "Automatic"


def test_an_action_removes_the_reviews_of_the_other_members() -> None:
    apart = [BREAK, run("c", 20, "pass"), run("d", 30, "fail"), run("e", 40, "pass")]
    both = [*apart, review("confirm", "b"), review("confirm", "d"), run("c", 20, "fail")]
    parted = resolved(*both, review("dismiss", "b"), run("c", 20, "pass"))
    assert [(row["firstFailure"]["sha"][0], row["class"]) for row in parted] == [
        ("d", "ambiguous"),
        ("b", "dismissed"),
    ]


def test_a_reviewed_group_counts_as_resolved_when_its_fix_is_gone() -> None:
    gone = [*REAL, review("dismiss", "b"), run("c", 20, "fail")]
    row = the_one(*gone)
    assert (row["fix"], row["class"]) == (None, "dismissed")
    assert row["automatic"]["reason"] == "fix_unconnected"
    assert labels(*gone) == {"b": "resolved", "c": "resolved"}
    assert labels(*gone, review("reset", "c")) == {"b": "pending", "c": "pending"}


def test_a_reviewed_failure_whose_own_commit_passed_stands_alone() -> None:
    events = [*REAL, review("dismiss", "b"), run("b", 15, "pass")]
    row = the_one(*events)
    assert (row["fix"]["sha"], row["class"]) == (sha("c"), "dismissed")
    assert page(*events)["tiles"]["flakyFailures"] == {"count": 0}
    assert labels(*events, review("reset", "b")) == {"b": "flake"}


def test_a_failure_that_stands_alone_may_have_no_later_fix() -> None:
    row = the_one(*REAL, review("dismiss", "b"), run("b", 15, "pass"), run("c", 20))
    assert (row["fix"], row["automatic"]["reason"]) == (None, "fix_unconnected")


def test_a_failure_that_stands_alone_still_ends_the_group_before_it() -> None:
    events = [*GROUP, run("b", 11, "pass"), review("confirm", "c"), run("c", 25, "pass")]
    extra = run("a", 5, "fail")
    assert {row["firstFailure"]["sha"][0]: row["fix"]["sha"][0] for row in resolved(*events)} == {
        "c": "d"
    }
    assert the_one(extra, *events[:-2], run("c", 25, "pass"))["fix"]["sha"] == sha("b")


def test_its_own_pass_does_not_narrow_what_broke_it() -> None:
    row = the_one(*REAL, review("dismiss", "b"), run("b", 15, "pass"))
    assert [one["sha"] for one in row["brokenBy"]["commits"]] == [sha("b")]


def test_a_review_waits_for_a_failure_that_is_gone_for_a_while() -> None:
    events = [*REAL, review("dismiss", "b"), run("b", 10, None, run_id=1000)]
    assert resolved(*events) == []
    assert the_one(*events, BREAK)["class"] == "dismissed"


# -- §9: merges, infra runs, flakiest tests


def checked(*events: tuple[str, dict[str, object]], **view: object) -> tuple[int, int]:
    tile = page(*events, **view)["tiles"]["mergesChecked"]
    return (tile["checked"], tile["announced"])


def test_a_run_checks_its_commit_and_its_push() -> None:
    """Two pushes seconds apart can leave the first unchecked when only the second is tested."""
    pushes = [announce("a", 1), announce("b", 1.01)]
    assert checked(*pushes, run("b", 2, "pass")) == (1, 2)
    assert checked(*pushes, run("b", 2, "pass", covers_shas=[sha("A"), sha("b")])) == (2, 2)


@pytest.mark.parametrize(
    "no_check",
    [
        run("a", 2, "pass", hello_ok=False),
        run("a", 2),
        run("a", 2, "pass", repo_key="other"),
        run("b", 2, "pass", after="0", of="a:fw b:fw"),
    ],
)
def test_what_checks_no_merge(no_check: tuple[str, dict[str, object]]) -> None:
    assert checked(announce("a", 1), no_check) == (0, 1)


def test_a_named_product_is_checked_by_its_own_runs_at_any_time_on_any_branch() -> None:
    merge = announce("a", 100, suite="hil")
    assert checked(merge, run("a", 2, "pass", suite="ota")) == (0, 1)
    assert checked(merge, run("a", 2, "pass", branch="side", started_at="2020-01-01T00:00Z")) == (
        1,
        1,
    )
    assert checked(announce("a", 1), run("a", 2, "pass", suite="ota")) == (1, 1)


def test_all_products_count_a_merge_twice_and_one_product_no_unassigned_one() -> None:
    merges = [announce("a", 1, suite="hil"), announce("a", 1, suite="ota"), announce("a", 1)]
    assert checked(*merges) == (0, 3)
    assert checked(*merges, repo_key="fw") == (0, 3)
    assert checked(*merges, repo_key="fw", suite="ota") == (0, 1)
    assert [row["suite"] for row in page(*merges)["uncheckedMerges"]] == [None, "hil", "ota"]


def test_a_whole_row_of_a_checked_merge() -> None:
    """The run that started first of those that checked it, in the order of reports."""
    merge = announce("a", 1, suite="hil")
    runs = [
        run("a", 5, "pass", box_key="late"),
        run("a", 1, "pass", hello_ok=False),
        run("b", 2, "fail", covers_shas=[sha("A")], suite="ota"),
        run("b", 3, "fail", covers_shas=[sha("A")], part_of={"run_id": 7, "part": 2, "parts": 2}),
        run("a", 3, "pass", run_id=301),
    ]
    assert checked_merges(merge, *runs) == [
        {
            "repoKey": "fw",
            "suite": "hil",
            "sha": sha("a"),
            "branch": "main",
            "mergedAt": at(1),
            "ciUrl": None,
            "subject": None,
            "firstRun": {
                "startedAt": at(3),
                "runId": 7,
                "runAttempt": 1,
                "runRecordId": ("fw", 7, 1, "box"),
                "ciRun": None,
                "suite": "hil",
                "boxKey": "box",
                "sha": sha("b"),
            },
        }
    ]
    assert checked_merges(announce("c", 1), *runs) == []
    assert checked_merges(merge, *runs, as_of=at(0)) == []


def test_run_reports_are_counted_and_not_runs() -> None:
    boxes = [run("a", 1, hello_ok=False, box_key=box) for box in ["1", "2", "3"]]
    assert page(*boxes)["tiles"]["infraRuns"] == {"infra": 3, "total": 3}


def test_the_flake_rate_counts_attempts() -> None:
    """A test that passed on its third attempt adds two failed attempts."""
    rows = page(
        run("a", 1, "pass", attempts=3),
        run("a", 2, "fail", attempts=2, box_key="box 2"),
        run("b", 3, "pass"),
    )["flakiestTests"]
    assert rows == [
        {
            "repoKey": "fw",
            "suite": "hil",
            "testId": "t",
            "boxes": 2,
            "runReports": 3,
            "attempts": 6,
            "failedAttempts": 4,
            "retryPasses": 1,
            "flakyFailures": 0,
            "flakeRate": 100 * 4 / 6,
        }
    ]


def test_a_test_without_a_failed_attempt_is_not_listed() -> None:
    assert page(run("a", 1, "pass"))["flakiestTests"] == []


def test_a_test_is_broken_when_it_never_passed_in_the_period() -> None:
    events = [
        run("a", 1, "fail", suite="never"),
        run("b", 2, "fail", suite="never", attempts=3),
        run("a", 3, "fail", suite="once"),
        run("b", 4, "pass", suite="once"),
        run("a", 5, "pass", suite="retried", attempts=2),
    ]

    assert brute.broken_tests(events, 1, AS_OF) == {("fw", "never", "t")}


def test_the_flakiest_come_first_then_those_with_more_failed_attempts() -> None:
    events = [
        run("a", 1, "fail", suite="few"),
        run("a", 2, "fail", suite="many", attempts=2),
        run("a", 3, "fail", suite="Few"),
        run("a", 4, "pass", suite="half", attempts=2),
    ]
    suites = [row["suite"] for row in page(*events)["flakiestTests"]]
    assert suites == ["many", "Few", "few", "half"]


# -- §10: period and time


def test_both_ends_of_the_period_belong_to_it() -> None:
    edges = ["2026-02-03T00:00:00Z", AS_OF, "2026-02-02T23:59:59.999999Z"]
    edges.append("2026-02-04T00:00:00.000001Z")
    reports = [run("a", n, started_at=time) for n, time in enumerate(edges)]
    assert page(*reports)["tiles"]["infraRuns"]["total"] == 2


def test_labels_use_what_lies_outside_the_period() -> None:
    assert resolved(*REAL[:3], run("c", 20, "pass", started_at="2026-03-01T00:00:00Z"))
    row = page(*REAL, as_of=at(10))["realBugs"]
    assert [one["fix"]["sha"] for one in row] == [sha("c")]
    assert page(*REAL, as_of=at(9))["realBugs"] == []


def test_a_failure_is_listed_while_one_of_its_items_is_in_the_period() -> None:
    (row,) = failures(BREAK, run("b", 500, "fail"), as_of=at(1500))
    assert row["items"] == 2
    assert failures(BREAK, as_of=at(1500)) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02-03T01:00:00+02:00", "2026-02-02T23:00:00+00:00"),
        ("2026-02-03t01:00:00.1234569-0930", "2026-02-03T10:30:00.123456+00:00"),
        ("2026-02-03T01:00:00z", "2026-02-03T01:00:00+00:00"),
    ],
)
def test_times_are_kept_to_the_microsecond_in_utc(text: str, expected: str) -> None:
    assert instant(text).isoformat() == expected


# -- §11: path patterns


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (["src/*.c"], "src/a.c", True),
        (["src/*.c"], "src/.c", True),
        (["src/*.c"], "src/x/a.c", False),
        (["src/**"], "src/x/a.c", True),
        (["src/**"], "src", False),
        (["src/**/x.c"], "src/x.c", True),
        (["src/**/x.c"], "src/a/b/x.c", True),
        (["src/**/x.c"], "src/ax.c", False),
        (["**/README.md"], "README.md", True),
        (["src**/x.c"], "srcx.c", False),
        (["SRC/**"], "src/a", False),
        (["rc/**"], "src/a", False),
        (["src/**", "!src/**/*.md"], "src/a.md", False),
        (["src/**", "!!src/a.md"], "src/a.md", True),
        (["**", "!!a"], "!a", False),
        (["!src/**"], "lib/a", False),
        (["a.c"], "abc", False),
        (["*"], "", True),
        ([], "a", False),
    ],
)
def test_path_patterns(patterns: list[str], path: str, expected: bool) -> None:
    assert matches_list(patterns, path) is expected


def test_a_configuration_of_exclusions_alone_matches_nothing() -> None:
    assert reason(config(firmware_paths=["!hil/**"]), BREAK, MEND) == "changes_not_firmware"
