# SPDX-License-Identifier: Apache-2.0
"""The boards of one box against each other, by small histories: each commit runs on all of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hwci.analysis.benches.one_box import one_box
from hwci.analysis.benches.report import KnownOfBoxes
from hwci.contract.boxes.benches import BoardOfBox
from hwci.contract.vocabulary import NotCompared
from hwci.engine.facts import Facts, Report
from tests.engine.timeline import ALL, EVER, ORG, item, report
from tests.support.outcomes import FullRecordedRuns, days_in_utc

BOARDS = ("A1", "A2", "A3", "A4")
COMMITS, TESTS = 15, 10
Outcome = Callable[[int, str, int], str]


def run(commit: int, board: str, of: Outcome, box: str = "box-1") -> Report:
    tests = [replace(item(of(commit, board, at), f"test {at}"), board=board) for at in range(TESTS)]
    place = commit + BOARDS.index(board) / 10
    return replace(report(f"c{commit:02}:P", place, box=box, tests=tests), run_id=round(place * 10))


def bad(commit: int, board: str, test: int) -> str:
    """A2 fails a third of its tests, its twins a twentieth of theirs."""
    return "F" if (test + commit) % (3 if board == "A2" else 20) == 0 else "P"


def history(
    of: Outcome = bad, boards: Sequence[str] = BOARDS, box: str = "box-1"
) -> Sequence[Report]:
    return [run(commit, board, of, box) for commit in range(COMMITS) for board in boards]


def found(*reports: Report, box: str = "box-1") -> Sequence[BoardOfBox]:
    recorded = FullRecordedRuns(ORG, Facts(reports=reports))
    return one_box(recorded, ALL, days_in_utc(EVER), box, 100, KnownOfBoxes({}, {})).boards


def named(boards: Sequence[BoardOfBox]) -> list[str]:
    return [row.board for row in boards if row.comparison and row.comparison.named]


def test_a_board_that_fails_more_than_its_twins_is_named_first() -> None:
    boards = found(*history())

    assert named(boards) == ["A2"]
    assert boards[0].board == "A2"
    assert boards[0].says.startswith("fails 12 times as often as the 3 others compared (95 % sure")
    assert (boards[0].counts.failed, boards[0].counts.results) == (49, 149)


def test_boards_that_are_alike_are_not_named() -> None:
    assert named(found(*history(lambda commit, _, test: bad(commit, "A1", test)))) == []


def test_the_runs_of_other_boxes_do_not_count() -> None:
    others = history(lambda *_: "F", box="box-2")

    assert found(*history(), *others) == found(*history())
    assert len(found(*others, box="box-2")) == len(BOARDS)


def test_boards_of_several_tests_in_one_run_are_told_apart() -> None:
    """As twister deals the tests of a run to boards; here the deal changes with each run."""
    reports = [
        replace(
            one,
            tests=tuple(
                replace(test, board=BOARDS[(at + number) % 4]) for at, test in enumerate(one.tests)
            ),
        )
        for number, one in enumerate(history(lambda *_: "P"))
    ]
    failing = [
        replace(
            one,
            tests=tuple(
                replace(item("F" if test.board == "A3" else "P", test.id), board=test.board)
                for test in one.tests
            ),
        )
        for one in reports
    ]

    assert named(found(*failing)) == ["A3"]


def test_boards_without_a_commit_in_common_are_not_compared() -> None:
    boards = found(*(run(at, BOARDS[at % 4], bad) for at in range(COMMITS)))

    assert {row.missing for row in boards} == {NotCompared.NOTHING_IN_COMMON}
    assert boards[0].says == (
        "nothing to compare it with (no other board ran these tests on the same commits)"
    )


def test_one_board_and_runs_that_name_none_have_no_twin() -> None:
    assert found(*history(boards=["A1"])) == ()
    assert found(*(replace(one, tests=(item("P"),)) for one in history())) == ()
