# SPDX-License-Identifier: Apache-2.0
"""Which failures lie in runs that lost their board, by small pictures."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.failures.lost_boards import in_lost_runs, lost_board_of, lost_boards
from hwci.analysis.flaky.suspects import flaky_tests
from hwci.analysis.statements import known_of_row
from hwci.contract.vocabulary import FailureClass
from hwci.engine.facts import Part, Report
from hwci.engine.page.reading import read_classified
from hwci.engine.page.tables import FlakySelection
from tests.engine.timeline import ALL, EVER, MAIN, ORG, Past, changes, commit, item, report
from tests.support.outcomes import FullRecordedRuns

TESTS = "abcdefgh"
RUNS = 20
REST = "; what failed after it says little."


def run(
    number: int, failing: str = "", box: str = "box-1", branch: str = MAIN, fails: str = "F"
) -> Report:
    """A run on its own commit of the firmware, at its own minute, in which these tests fail."""
    sha, before = f"c{number:02}", f"c{number - 1:02}"
    tests = [item(fails if test in failing else "P", test) for test in TESTS]
    sent = changes(before, commit(sha, "fw"))
    return report(f"{sha}:P", number, box=box, branch=branch, tests=tests, sent=sent)


def runs(**failing: str) -> list[Report]:
    """A run for each commit; on the commits that are given, these tests fail."""
    return [run(number, failing.get(f"c{number:02}", "")) for number in range(RUNS)]


def later(one: Report) -> Report:
    """Return a run once more, with an identity of its own."""
    return report(
        f"{one.sha}:P", 5.5, box=one.box_key, tests=one.tests, sent=one.changes, run_id=99
    )


def lost(reports: list[Report]) -> dict[str, Sequence[str]]:
    """Return the failures of lost runs as commit and test, with where the board was lost."""
    found = lost_boards(FullRecordedRuns(ORG, Past(reports).facts), ALL, EVER)
    return {f"{key.sha} {key.lane.test_id}": at for key, at in found.items()}


def cut(one: Report, at: int) -> list[Report]:
    """Return the report of a run in two parts, of which the first has so many tests."""
    second = one.run_id + 1000
    return [
        replace(one, tests=one.tests[:at], part_of=Part(one.run_id, 1, 2)),
        replace(one, tests=one.tests[at:], part_of=Part(one.run_id, 2, 2), run_id=second),
    ]


def rows(reports: list[Report]) -> list[str]:
    """Return the resolved failures of lost runs, as first commit and test."""
    history = FullRecordedRuns(ORG, Past(reports).facts)
    found = read_classified(history, ALL, EVER, [*FailureClass])
    told = in_lost_runs(history, ALL, EVER, found)
    return sorted(f"{row.episode.key.sha} {row.episode.key.lane.test_id}" for row in told)


def words(reports: list[Report], sha: str, test: str) -> str | None:
    history = FullRecordedRuns(ORG, Past(reports).facts)
    failures = history.failures(ALL, EVER)
    [failure] = [one for one in failures if (one.key.sha, one.key.lane.test_id) == (sha, test)]
    return lost_board_of(history, failure)


def test_what_failed_from_where_the_board_was_lost_to_the_end_is_named() -> None:
    reports = runs(c05="defgh")
    assert lost(reports) == {f"c05 {test}": ["d"] for test in "defgh"}
    assert rows(reports) == [f"c05 {test}" for test in "defgh"]


@pytest.mark.parametrize("at", [2, 5, 7])
def test_a_run_that_came_in_parts_lost_its_board_as_a_whole_one(at: int) -> None:
    parts = [part for one in runs(c05="defgh") for part in cut(one, at)]
    assert lost(parts) == lost(runs(c05="defgh"))


def test_what_fails_at_the_end_of_a_part_that_is_not_the_last_lost_no_board() -> None:
    assert lost([part for one in runs(c05="bcd") for part in cut(one, 4)]) == {}


def test_what_failed_before_it_in_the_same_run_is_not() -> None:
    assert rows(runs(c05="bdefgh")) == [f"c05 {test}" for test in "defgh"]


def test_a_failure_of_another_run_on_the_commit_too_is_not() -> None:
    reports = [*runs(c05="cdefgh"), later(run(5, "d"))]
    assert sorted(lost(reports)) == [f"c05 {test}" for test in "cefgh"]


def test_a_row_that_failed_on_a_later_commit_by_itself_is_not() -> None:
    reports = runs(c05="defgh", c06="d")
    assert "c05 d" in lost(reports)
    assert rows(reports) == [f"c05 {test}" for test in "efgh"]


def test_a_row_of_two_lost_runs_is_and_says_where_each_was_lost() -> None:
    reports = runs(c05="defgh", c06="efgh")
    assert rows(reports) == [f"c05 {test}" for test in "defgh"]
    passing = [run(5, box=f"other-{number}") for number in range(10)]
    both = [*runs(c05="defgh"), later(run(5, "efgh")), *passing]
    assert words(both, "c05", "e") == (
        f"In the 2 runs in which it failed the board was lost at d and this test{REST}"
    )


def test_the_same_end_in_runs_one_after_another_is_no_lost_board() -> None:
    assert lost(runs(c05="efgh", c06="efgh")) == {}
    assert len(lost(runs(c05="efgh", c08="efgh"))) == 2 * len("efgh")


def test_the_same_end_on_another_box_or_branch_is() -> None:
    others = [run(number, box="box-2") for number in range(RUNS)]
    beside = [*runs(c05="cdefgh"), *others[:6], run(6, "cdefgh", box="box-2"), *others[7:]]
    assert {key[:3] for key in lost(beside)} == {"c05", "c06"}


def test_what_fails_on_all_boxes_of_a_commit_is_no_lost_board() -> None:
    boxes = [run(5, "efgh", box=f"box-{number}") for number in (2, 3)]
    assert lost([*runs(c05="efgh"), *boxes]) == {}


def test_words_name_the_test_or_call_it_this_one() -> None:
    reports = runs(c05="defgh", c09="b")
    assert words(reports, "c05", "f") == f"In this run the board was lost at d{REST}"
    assert words(reports, "c05", "d") == f"In this run the board was lost at this test{REST}"
    assert words(reports, "c09", "b") is None


def test_of_nothing_of_one_run_and_of_runs_that_all_or_none_lost_it_none_is_named() -> None:
    assert lost([]) == {}
    assert lost([run(1, TESTS)]) == {}
    assert lost([run(number, TESTS) for number in range(RUNS)]) == {}
    assert lost(runs()) == {}
    never_reached = [report(f"c{number:02}:L", number) for number in range(RUNS)]
    assert lost(never_reached) == {}


def looks(reports: list[Report], test: str) -> list[str | None]:
    """Return where to look first at the incidents in which a test fails now."""
    history = FullRecordedRuns(ORG, Past(reports).facts)
    return [it.look_first for it in failing_incidents(history, ALL, EVER, test)]


def fails_now(reports: list[Report], test: str) -> bool:
    """Whether the statement about a test says that it fails now."""
    history = FullRecordedRuns(ORG, Past(reports).facts)
    [row] = [
        row
        for row in flaky_tests(history, ALL, EVER, FlakySelection(offset=0, limit=10)).items
        if row.test.test_id == test
    ]
    return bool(row.pending) and known_of_row(row).failing is not None


def test_what_fails_now_behind_a_lost_board_is_put_down_to_the_loss_and_to_no_bench() -> None:
    lost_last = runs(c05="e", c19="defgh")
    words = (
        "The board was lost at d, and what fails after says little: test commit c19 on box-1 again"
    )
    assert looks(lost_last, "e") == looks(lost_last, "d") == [words]
    assert [fails_now(lost_last, test) for test in "de"] == [True, False]

    once_more = [*lost_last, run(20, "e")]
    assert "lost" not in str(looks(once_more, "e"))
    assert fails_now(once_more, "e")


def test_runs_that_lost_their_board_are_no_evidence_against_the_bench() -> None:
    once = [*runs(), run(20, "e", fails="I"), run(21, "defgh", fails="I")]
    thrice = [*once, *(run(at, "e", fails="I") for at in (22, 23))]

    again = "The harness blames the bench: test commit {0} on box-1 again, to see whether it"
    assert [str(it).startswith(again.format("c21")) for it in looks(once, "e")] == [True]
    assert looks(thrice, "e") == ["The harness blames the bench: look at box-1 first"]
