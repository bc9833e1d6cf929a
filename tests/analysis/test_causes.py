# SPDX-License-Identifier: Apache-2.0
"""Causes: which resolved failures are one, by small pictures, and what is told of them."""

from dataclasses import replace

from hwci.analysis.failures.causes import (
    CommonCause,
    causes,
    described,
    to_review,
)
from hwci.contract.failures.causes import Cause
from hwci.contract.runs.commits import Commit, FilesOfKind
from hwci.contract.vocabulary import FailureClass, FileKind, Outcome
from hwci.engine.facts import Report
from hwci.engine.page.reading import read_classified
from tests.analysis.stories import BROKEN, run
from tests.engine.timeline import ALL, EVER, ORG, Past, changes, commit
from tests.support.outcomes import FullRecordedRuns


def found(past: Past, search: str | None = None) -> list[CommonCause]:
    rows = read_classified(past.history, ALL, EVER, list(FailureClass))
    return causes(past.history, rows, search)


def summary(past: Past) -> list[str]:
    """Each cause as its failures, the first to fail first."""
    return [" ".join(f"{lane.test_id}@{lane.box_key}" for lane in one.lanes) for one in found(past)]


def test_tests_and_boxes_that_broke_and_were_fixed_together_are_one_cause() -> None:
    (words,) = summary(Past(BROKEN))
    assert sorted(words.split()) == ["i2c@box-1", "i2c@box-2", "spi@box-1"]
    assert words.endswith("i2c@box-2")
    (one,) = found(Past(BROKEN))
    assert (one.tests, one.boxes) == (2, 2)


def test_another_fix_or_another_beginning_is_another_cause() -> None:
    later = [
        run("b", 2.6, {"uart": "F"}, "box-3"),
        run("d", 4.7, {"uart": "F"}, "box-3"),
        run("e", 5, {"uart": "P"}, "box-3", base="d"),
    ]
    assert [len(one.split()) for one in summary(Past([*BROKEN, *later]))] == [1, 3]


def test_what_the_harness_blames_on_the_bench_is_another_cause() -> None:
    blamed = run("b", 2.2, {"uart": "I"}, base="a")
    passes = run("d", 4.2, {"uart": "P"}, base="c")

    assert "uart@box-1" in summary(Past([*BROKEN, blamed, passes]))


def test_a_cause_is_found_whole_by_words_of_one_of_its_failures() -> None:
    unknown = [run("x", 0.1, {"adc": "U"}), run("a", 1, {"adc": "P"})]
    past = Past([*unknown, *BROKEN])

    assert [len(one.members) for one in found(past, "SPI box-1")] == [3]
    assert [len(one.members) for one in found(past, "adc")] == [1]
    assert found(past, "spi box-2") == []
    assert len(found(past, "box")) == 2


def test_those_that_the_checks_cannot_decide_are_reviewed_first() -> None:
    unknown = [run("x", 0.1, {"adc": "U"}), run("a", 1, {"adc": "P"})]
    past = Past([*unknown, *BROKEN])
    classes = [{row.failure_class for row in one.members} for one in to_review(found(past))]

    assert FailureClass.AMBIGUOUS in classes[0]
    assert FailureClass.AMBIGUOUS not in classes[-1]


def test_of_those_the_cause_of_most_failures_is_reviewed_first() -> None:
    two = [run("w", 0.1, {"adc": "U", "dac": "U"}), run("x", 0.2, {"adc": "P", "dac": "P"})]
    newer = [run("y", 0.3, {"uart": "U"}), run("z", 0.4, {"uart": "P"})]
    rows = found(Past([*two, *newer]))

    assert [len(one.members) for one in rows] == [1, 2]
    assert [len(one.members) for one in to_review(rows)] == [2, 1]


def told(past: Past) -> Cause:
    """What is told of the only cause."""
    (one,) = found(past)
    return described(FullRecordedRuns(ORG, past.facts), [one], 100, 5)[0]


def of_kind(kind: FileKind | None, total: int, first: str) -> FilesOfKind:
    return FilesOfKind(kind=kind, total=total, first=first)


def with_changes(sent: dict[str, list[Commit]]) -> Past:
    """`BROKEN`, where the runs on a commit list these commits."""
    return Past(
        [
            replace(one, changes=changes(one.changes.base_sha, *sent[one.sha]))
            if one.changes and one.sha in sent
            else one
            for one in BROKEN
        ]
    )


def says(message: str, run_: Report, *tests: str) -> Report:
    """The run, whose failures of these tests have a message."""
    return replace(
        run_,
        tests=tuple(
            replace(one, message=message)
            if one.outcome is Outcome.FAIL and one.id in tests
            else one
            for one in run_.tests
        ),
    )


def test_the_commits_that_are_told_have_their_files_by_kind() -> None:
    broke = commit("b", "fw src/uart.c ci/run.py hs doc src/i2c.c")
    one = told(with_changes({"b": [broke], "d": [replace(commit("d", "hs ~"), subject="")]}))

    assert [(at.sha, at.subject) for at in one.commits] == [
        ("b", "Change b"),
        ("d", ""),
    ]
    assert one.commits[0].files == (
        of_kind(FileKind.FIRMWARE, 3, "src/main.c"),
        of_kind(FileKind.HARNESS, 2, "ci/run.py"),
        of_kind(FileKind.OTHER, 1, "README.md"),
    )
    assert one.commits[1].files == (of_kind(FileKind.HARNESS, 1, "ci/run.py"),)
    assert one.commits[1].files_truncated


def test_where_no_paths_are_configured_files_have_no_kind() -> None:
    one = told(Past(BROKEN).configured())

    assert [(at.sha, at.files) for at in one.commits] == [
        ("b", (of_kind(None, 1, "src/main.c"),)),
        ("d", (of_kind(None, 1, "src/main.c"),)),
    ]


def test_a_first_commit_that_broke_nothing_and_one_that_nobody_listed() -> None:
    """No firmware is suspected: what failed first is told. The fix is listed by no run."""
    runs = [run("x", 0.1, {"adc": "U"}), run("a", 1, {"adc": "P"})]
    assert told(Past(runs)).commits == ()
    listed = replace(runs[0], changes=changes("w", commit("x", "hs")))
    one = told(Past([listed, runs[1]]))
    assert [(at.sha, at.files) for at in one.commits] == [
        ("x", (of_kind(FileKind.HARNESS, 1, "ci/run.py"),))
    ]


def test_of_a_long_range_the_first_commits_are_told_and_the_fix() -> None:
    many = [commit(f"s{number:02}", "fw") for number in range(25)]
    one = told(with_changes({"b": [*many, commit("b", "doc")]}))

    assert [at.sha for at in one.commits] == [*(at.sha for at in many[:20]), "b", "d"]


def test_each_different_message_is_told_by_its_first_line_the_most_frequent_first() -> None:
    _, first, second, third, *rest = BROKEN
    lost, late = "\n  no ACK \nat 0x1f", "no ACK\nat 0x2e"

    def told_by_tests(*reports: Report) -> list[tuple[str, list[str]]]:
        found = told(Past([*reports]))
        tests = {one.id: one.test_id for one in found.failures}
        return [(it.line, sorted(tests[one] for one in it.failure_ids)) for it in found.messages]

    both = told_by_tests(says("late", third, "i2c"), says(lost, first, "i2c", "spi"), second, *rest)
    assert both == [("no ACK", ["i2c", "spi"])]
    each = told_by_tests(says("CRC", first, "i2c"), says(late, second, "i2c"), *BROKEN[3:])
    assert [line for line, _ in each] == ["CRC", "no ACK"]  # that of the failure that came first
    assert [len(tests) for _, tests in each] == [1, 1]
    assert told_by_tests(says(" \n", first, "i2c"), second, *rest) == []
    assert told_by_tests(*BROKEN) == []
