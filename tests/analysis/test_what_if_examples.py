# SPDX-License-Identifier: Apache-2.0
"""What would change a class, by pictures: each kind of edit in the words that people read."""

from dataclasses import replace

import pytest

from hwci.analysis.failures.advice import advice
from hwci.analysis.failures.what_if import FILES_TRIED, what_if
from hwci.contract.runs.commits import Commit
from hwci.contract.vocabulary import EditKind
from hwci.engine.history import OutOfTimeError
from tests.analysis.hurried import HurriedRuns
from tests.engine.timeline import ORG, Past, changes, commit, item, report, seen
from tests.support.outcomes import FullRecordedRuns


def recorded(past: Past) -> FullRecordedRuns:
    return FullRecordedRuns(ORG, past.facts)


def conditions(past: Past, sha: str, *kinds: EditKind) -> list[tuple[str, str]]:
    """Return what would change the class by edits of these kinds, and to which class."""
    group = past.group(sha)
    return [
        (advice(group.first.id, one.edit).condition, one.then.failure_class.value)
        for one in what_if(recorded(past), group).found
        if one.edit.kind in kinds
    ]


def test_a_run_that_sent_no_changes_would_have_decided() -> None:
    past = Past(
        [
            report("a:P", 1),
            report("b:F", 2, run_id=7),
            report("c:P", 3, sent=changes("b", commit("c", "fw"))),
        ]
    )
    sent = "run 7 on box-1 had sent the changes from a to b, and these were changes of"

    assert past.reason("b") == "changes_unknown"
    assert conditions(past, "b", EditKind.CHANGES_SENT) == [
        (f"{sent} firmware alone", "real_fw_bug"),
        (f"{sent} harness alone", "bench_or_harness"),
    ]


def test_a_fix_that_no_report_leads_to_would_be_connected_by_the_run_that_sent_nothing() -> None:
    past = Past(
        [
            report("a:P", 1),
            report("b:F", 2, sent=changes("a", commit("b", "fw"))),
            report("c:P", 3, run_id=7),
        ]
    )
    sent = "run 7 on box-1 had sent the changes from b to c, and these were changes of"

    assert past.reason("b") == "fix_unconnected"
    assert conditions(past, "b", EditKind.CHANGES_SENT) == [
        (f"{sent} firmware alone", "real_fw_bug"),
        (f"{sent} harness alone", "bench_or_harness"),
    ]


@pytest.mark.parametrize("lost", [True, False])
def test_a_run_beside_the_test_that_sent_nothing_would_connect_the_fix(lost: bool) -> None:
    between = report("c:L" if lost else "c:P", 3, run_id=7, tests=[] if lost else [item("P", "x")])
    past = Past(
        [
            report("a:P", 1),
            report("b:F", 2, sent=changes("a", commit("b", "fw"))),
            between,
            report("d:P", 4, sent=changes("c", commit("d", "fw"))),
        ]
    )
    sent = "run 7 on box-1 had sent the changes from b to c, and these were changes of"

    assert past.reason("b") == "fix_unconnected"
    named = conditions(past, "b", EditKind.CHANGES_SENT)
    assert named == [
        (f"{sent} firmware alone", "real_fw_bug"),
        (f"{sent} harness alone", "bench_or_harness"),
    ]
    for kind, (_, then) in zip(("fw", "hs"), named, strict=True):
        made = replace(between, changes=changes("b", commit("c", kind)))
        reports = [made if one is between else one for one in past.reports]
        assert Past(reports).judged("b").failure_class.value == then


def test_a_run_is_not_named_where_another_may_be_the_first_on_its_commit() -> None:
    past = Past(
        [
            report("a:P", 1),
            report("b:P", 1.5, box="box-2", run_id=6),
            report("b:F", 2, run_id=7),
            report("c:P", 3, sent=changes("b", commit("c", "fw"))),
        ]
    )

    assert past.reason("b") == "changes_unknown"
    assert conditions(past, "b", EditKind.CHANGES_SENT) == []


def test_a_base_that_began_at_the_same_time_is_not_named_as_it_would_move_commits() -> None:
    past = Past(
        [
            report("0:F", 2, run_id=5),
            report("a:P", 2, run_id=6),
            report("b:F", 2, run_id=7),
            report("c:P", 3, sent=changes("b", commit("c", "fw"))),
        ]
    )
    told = report("b:F", 2, run_id=7, sent=changes("a", commit("b", "fw")))

    assert conditions(past, "b", EditKind.CHANGES_SENT) == []
    assert past.together() == {"0", "b"}
    assert Past([*past.reports[:2], told, past.reports[3]]).together() == {"0 b"}


def test_lists_that_were_cut_would_decide_if_they_were_whole() -> None:
    files = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw ~"})
    past = Past(
        [
            report("a:P", 1),
            report("b:F", 2, run_id=7, sent=changes("a", commit("b"), truncated=True)),
            report("c:P", 3, sent=changes("b", commit("c", "fw"))),
        ]
    )

    assert conditions(files, "b", EditKind.FILES_WHOLE) == [
        ("commit c had changed no other files than those that were sent", "real_fw_bug")
    ]
    assert conditions(past, "b", EditKind.COMMITS_WHOLE) == [
        ("run 7 on box-1 had tested no other commits than those that it sent", "bench_or_harness")
    ]


def test_a_file_that_no_list_has_is_tried_with_its_folder_and_by_itself() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "lib/rtos/tick.c", "c": "fw"})

    assert past.reason("b") == "changes_not_firmware"
    assert conditions(past, "b", EditKind.PATTERN_ADDED) == [
        ('firmware_paths had the pattern "lib/rtos/**"', "real_fw_bug"),
        ('firmware_paths had the pattern "lib/rtos/tick.c"', "real_fw_bug"),
    ]


def test_a_reviewed_failure_changes_its_class_by_the_other_review_alone() -> None:
    past = seen("box-1 | a:P b:U c:P", changed={"b": "fw", "c": "fw"})
    dismissed, confirmed = past.reviewed("b", "dismiss"), past.reviewed("b", "confirm")

    assert conditions(dismissed, "b", *EditKind) == [
        ("an owner or admin confirmed it", "real_fw_bug")
    ]
    assert conditions(confirmed, "b", *EditKind) == [
        ("an owner or admin dismissed it", "dismissed")
    ]


@pytest.mark.parametrize("beyond", [0, 1, 1_960])
def test_more_files_than_are_tried_are_told(beyond: int) -> None:
    files = tuple(f"doc/{number}.md" for number in range(FILES_TRIED + beyond))
    past = Past(
        [
            report("a:P", 1),
            report("b:F", 2, sent=changes("a", Commit("b", files=files))),
            report("c:P", 3, sent=changes("b", Commit("c"))),
        ]
    )

    assert bool(beyond) is not what_if(recorded(past), past.group("b")).complete


def test_when_the_time_is_over_what_was_found_is_told() -> None:
    past = seen("box-1 | a:P b:U c:P", changed={"b": "fw", "c": "fw"})
    group = past.group("b")
    whole = what_if(recorded(past), group)
    seen_lengths = set()
    for looks in range(1_000):
        history = HurriedRuns(past.facts, looks)
        try:
            found = what_if(history, group)
        except OutOfTimeError:
            continue
        assert list(found.found) == list(whole.found)[: len(found.found)]
        seen_lengths.add(len(found.found))
        if found.complete:
            assert found == whole
            break

    assert {1, len(whole.found)} <= seen_lengths
