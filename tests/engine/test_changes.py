# SPDX-License-Identifier: Apache-2.0
"""Changes of runs, and the first run on a commit (semantics, 5)."""

from hwci.engine.history import RunChanges
from tests.engine.timeline import MAIN, REPO, Past, changes, report, seen


def under_test(past: Past, workflow: str = "hil") -> RunChanges | None:
    return past.history.changes_under_test(REPO, workflow, MAIN, "b")


def base_of(past: Past) -> str | None:
    run = under_test(past)
    assert run is not None
    return run.changes.base_sha


def test_a_runs_changes_are_those_of_its_earliest_report_that_carries_them() -> None:
    run = [
        report("b:F", 1, run_id=1),
        report("b:F", 3, run_id=1, attempt=2, sent=changes("x", "b")),
        report("b:F", 2, run_id=1, box="box-2", sent=changes("a", "b")),
    ]

    assert base_of(Past(run)) == "a"
    assert base_of(Past(run[::-1])) == "a"


def test_earliest_is_by_start_then_run_then_attempt_then_box() -> None:
    boxes = [
        report("b:F", 1, run_id=1, box=box, sent=changes(box, "b")) for box in ("box-2", "box-1")
    ]
    attempt = report("b:F", 1, run_id=1, attempt=2, box="box-0", sent=changes("z", "b"))

    assert base_of(Past([attempt, *boxes])) == "box-1"


def test_the_first_run_on_a_commit_speaks_for_it_although_a_later_one_carries_more() -> None:
    later = report("b:F", 5, run_id=2, sent=changes("a", "b"))

    assert under_test(Past([report("b:F", 1, run_id=1), later])) is None
    assert base_of(Past([later])) == "a"


def test_the_first_run_counts_whatever_its_box_and_although_its_bench_was_lost() -> None:
    lost = report("b:L", 1, run_id=1, box="box-9", sent=changes("a", "b"))
    retry = report("b:F", 2, run_id=2, sent=changes("b"))

    assert base_of(Past([retry, lost])) == "a"


def test_the_first_run_is_looked_for_in_its_workflow_and_branch() -> None:
    others = [
        report("b:P", 1, workflow="night", sent=changes("n", "b")),
        report("b:P", 1, branch="topic", sent=changes("t", "b")),
        report("b:P", 1, repo="elsewhere", sent=changes("e", "b")),
    ]

    assert base_of(Past([*others, report("b:F", 2, sent=changes("a", "b"))])) == "a"
    assert under_test(Past(others)) is None


def test_changes_whose_base_is_the_reports_own_commit_count_as_not_carried() -> None:
    itself = report("b:F", 1, run_id=1, sent=changes("b"))
    attempt = report("b:F", 2, run_id=1, attempt=2, sent=changes("a", "b"))

    assert under_test(Past([itself])) is None
    assert base_of(Past([itself, attempt])) == "a"
    assert Past([itself]).history.changes_listing(REPO, "b") == ()
    assert Past([itself]).history.changes_based_on(REPO, "b") == ()


def test_their_mentions_stand() -> None:
    past = seen("box-1 | c:F").and_also(report("c:F", -1, sent=changes("c", "a")), report("a:P", 9))

    assert past.labels() == "c:pending"


def test_changes_listing_a_commit_come_once_per_run_in_order() -> None:
    past = Past(
        [
            report("c:F", 2, run_id=2, sent=changes("a", "b", "c")),
            report("c:F", 3, run_id=2, box="box-2", sent=changes("a", "b", "c")),
            report("b:F", 1, run_id=1, sent=changes(None, "b", "b", truncated=True)),
            report("d:F", 4, run_id=4, sent=changes("b", "d")),
        ]
    )

    listing = past.history.changes_listing(REPO, "b")

    assert [run.sha for run in listing] == ["b", "c"]
    assert [run.sha for run in past.history.changes_based_on(REPO, "b")] == ["d"]
    assert [run.sha for run in past.history.changes_based_on(REPO, "a")] == ["c"]
    assert not past.history.changes_based_on(REPO, "c")
    assert not past.history.changes_based_on("elsewhere", "b")
