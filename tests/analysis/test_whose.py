# SPDX-License-Identifier: Apache-2.0
"""What caused a failure of a commit (semantics, 15), by small histories: forty commits of main on
two boxes, and then a pull request that was forked from the last of them, or from an earlier one.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from hwci.analysis.commits.before import Before, Tries
from hwci.analysis.commits.change import Change
from hwci.analysis.commits.known import Known
from hwci.analysis.commits.odds import Chances, Losses, Odds, OnBox
from hwci.analysis.commits.one_commit import one_commit
from hwci.analysis.commits.past import Box, Past
from hwci.analysis.commits.whose import CLAIMS, whose
from hwci.analysis.outcomes import FirstAttempts
from hwci.contract.runs.one_commit import FailureOfCommit, OneCommit
from hwci.contract.vocabulary import Outcome, Whose
from hwci.engine.facts import Facts, Report
from hwci.engine.history import Scope
from tests.analysis.bad_histories import HISTORIES
from tests.analysis.stories import story
from tests.engine.timeline import EVER, ORG, REPO, changes, item, minute, report
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

COMMITS, LAST = 40, "c39"
PULL, TOPIC = "dddddddd", "topic"
BOXES = ("box-1", "box-2")
MOST = 100
Outcomes = Callable[[int, str], str]


def main(of: Outcomes = lambda _number, _box: "P", boxes: Sequence[str] = BOXES) -> list[Report]:
    """Runs of main: an outcome by the number of the commit and the box."""
    return [
        report(
            f"c{number:02}:P",
            number + place / 10,
            box=box,
            sent=changes(f"c{number - 1:02}", f"c{number:02}") if number else None,
            tests=[item(of(number, box))],
        )
        for number in range(COMMITS)
        for place, box in enumerate(boxes)
    ]


def pull(outcome: str, box: str = "box-1", at: float = 100, base: str | None = LAST) -> Report:
    """A run of the pull request."""
    sent = None if base is None else changes(base, PULL)
    return report(f"{PULL}:P", at, box=box, branch=TOPIC, sent=sent, tests=[item(outcome)])


def answer(*reports: Report, sha: str = PULL, most: int = MOST) -> OneCommit:
    history = FullRecordedRuns(ORG, Facts(reports=reports))
    return one_commit(history, Scope(REPO), EVER, sha, most)


def failure(*reports: Report, sha: str = PULL) -> FailureOfCommit:
    [result] = answer(*reports, sha=sha).failures
    return result


def every_eighth(number: int, _box: str) -> str:
    return "P2" if number % 8 == 3 else "P"


def test_a_test_that_passed_before_and_fails_here_is_broken_by_the_change() -> None:
    result = failure(*main(), pull("F2"), pull("F2", "box-2", 101))

    assert result.whose is Whose.THIS_CHANGE
    assert result.chance is not None
    assert result.chance > 0.95
    assert (result.failed_on, result.passed_on) == (BOXES, ())
    assert result.says == "Broken by this change"
    assert result.evidence == (
        "4 of 4 attempts failed here; before, on main, 0 of 80 first attempts failed"
    )
    assert result.to_settle is None


def test_a_flaky_test_that_passed_again_on_the_same_box_is_flaky() -> None:
    result = failure(*main(every_eighth), pull("F"), pull("P", at=101))

    assert result.whose is Whose.FLAKY
    assert result.says == "Flaky: it passed here on box-1"
    assert result.evidence == (
        "1 of 2 attempts failed here; before, on main, 10 of 80 first attempts failed, and 10 of 10"
        " retries passed"
    )


def test_retries_that_fail_with_the_first_attempt_say_no_more_than_it() -> None:
    """What hangs the board, or a box, fails them all."""
    odds = Odds([FirstAttempts(1, 100)])
    few, many = (
        odds.chances([OnBox(Tries(4, 6, retries))], Tries(passed=80), Tries()).made_flaky
        for retries in (4, 40)
    )

    assert few == pytest.approx(many, rel=0.01)


def test_a_steady_test_that_fails_once_is_not_called_flaky() -> None:
    result = failure(*main(), pull("F"), pull("P", at=101))

    assert result.whose is Whose.TOO_FEW


def test_a_flaky_test_that_fails_all_its_tries_is_not_called_flaky() -> None:
    once = failure(*main(every_eighth), pull("F"))
    often = failure(*main(every_eighth), *(pull("F", at=100 + at) for at in range(5)))

    assert once.whose is Whose.TOO_FEW
    assert once.to_settle == "Test dddddddd on box-1 again: if it fails there, suspect this change"
    assert often.whose is Whose.THIS_CHANGE


def test_however_unlikely_the_change_is_an_excuse_needs_a_pass_here() -> None:
    def said_of(tries: Tries) -> Whose:
        past = Past(Change(PULL, "main", (), (), {}, None, minute(1)), [], None)
        losses = Losses(Tries(), Tries())
        box = Box("box-1", True, OnBox(tries), Before(Tries(passed=80)), False, False)
        return whose(Known([box], ["box-1"], [], Chances(0.999, 0, 0.001, 0), [], losses, past))

    assert said_of(Tries(failed=1)) is Whose.TOO_FEW
    assert said_of(Tries(failed=1, passed=1)) is Whose.FLAKY


def test_a_test_that_never_ran_before_is_not_called_flaky() -> None:
    """It may have come with the change, with its bug."""
    runs = [pull("F"), pull("P", at=101), pull("P", "box-2", 102)]
    first_of_all = failure(*runs)
    added = failure(
        *main(),
        *(
            replace(run, tests=(item("P"), item("F" if place == 0 else "P", "new")))
            for place, run in enumerate(runs)
        ),
    )

    for result in (first_of_all, added):
        assert result.whose is Whose.TOO_FEW
        assert "no run tells of it: it may be new" in result.evidence


def test_a_test_that_a_bug_broke_for_a_time_is_not_flaky() -> None:
    result = failure(
        *main(lambda number, _: "F" if 10 <= number < 25 else "P"), pull("F"), pull("F", at=101)
    )

    assert result.whose is Whose.THIS_CHANGE
    assert "0 of 50 first attempts failed" in result.evidence


def test_a_change_that_makes_a_steady_test_fail_in_most_tries_made_it_flaky() -> None:
    tries = [pull(outcome, at=100 + at) for at, outcome in enumerate("FFFP")]
    result = failure(*main(), *tries)

    assert (result.whose, result.says) == (Whose.THIS_CHANGE, "Made flaky by this change")


def broken_since(first: int, last: int = COMMITS) -> Outcomes:
    return lambda number, _box: "F" if first <= number < last else "P"


def test_what_main_fails_too_is_of_the_base_branch_since_its_first_commit() -> None:
    result = failure(*main(broken_since(36)), pull("F"))

    assert result.whose is Whose.BASE
    assert result.since == "c36"
    assert result.says.startswith("Fails on main too, since c36 (")
    assert result.evidence.endswith("the last 8 runs failed")


def test_a_bug_that_came_to_main_after_the_fork_is_no_excuse() -> None:
    result = failure(
        *main(broken_since(36)), pull("F2", base="c30"), pull("F2", "box-2", 101, "c30")
    )

    assert result.whose is Whose.THIS_CHANGE
    assert result.since is None


def test_without_lists_main_is_what_ran_before() -> None:
    assert failure(*main(broken_since(36)), pull("F", base=None)).whose is Whose.BASE


def test_a_bug_that_main_fixed_meanwhile_asks_for_a_rebase() -> None:
    result = failure(*main(broken_since(30, 37)), pull("F", base="c36"))

    assert result.whose is Whose.BASE
    assert result.since is None
    assert result.says == "Failed on main too, and passes there again: rebase"


def test_a_commit_of_main_is_compared_with_those_before_it() -> None:
    assert failure(*main(broken_since(38)), sha="c38").whose is Whose.THIS_CHANGE
    assert failure(*main(broken_since(36)), sha="c39").whose is Whose.BASE


def test_a_box_that_fails_it_on_main_too_is_to_blame() -> None:
    past = main(lambda number, box: "F" if box == "box-2" and number > 33 else "P")
    result = failure(*past, pull("P"), pull("F", "box-2", 101))

    assert result.whose is Whose.BENCH
    assert result.says == "box-2: fails on main too, other boxes do not"


def test_a_box_that_went_bad_after_the_fork_is_to_blame_too() -> None:
    past = main(lambda number, box: "F" if box == "box-2" and number > 33 else "P")

    assert failure(*past, pull("F", "box-2", base="c20")).whose is Whose.BENCH


def test_a_box_that_was_mended_is_no_excuse() -> None:
    past = main(lambda number, box: "F" if box == "box-2" and number < 20 else "P")
    result = failure(*past, pull("F2"), pull("F2", "box-2", 101))

    assert result.whose is Whose.THIS_CHANGE


def test_the_harness_is_believed_where_it_passes_on_another_box() -> None:
    with_pass = failure(*main(), pull("P"), pull("I", "box-2", 101))
    alone = failure(*main(), pull("I", "box-2"))

    assert (with_pass.whose, with_pass.says) == (Whose.BENCH, "The harness blames the bench")
    assert alone.whose is Whose.TOO_FEW


def test_a_failure_on_one_box_alone_is_settled_by_the_base_on_it() -> None:
    before = [*main(), pull("P"), pull("F2", "box-2", 101), pull("F2", "box-2", 102)]
    settling = report(f"{LAST}:P", 200, box="box-2", tests=[item("P")])
    result, settled = failure(*before), failure(*before, settling)

    assert result.whose is Whose.TOO_FEW
    assert result.to_settle == "Test c39 on box-2: if it passes there, suspect this change"
    assert settled.whose is Whose.THIS_CHANGE


def test_a_box_that_never_ran_it_before_settles_nothing() -> None:
    assert failure(*main(boxes=["box-1"]), pull("F2", "box-2")).whose is Whose.TOO_FEW


def test_a_failure_leads_to_its_log_or_else_to_its_job() -> None:
    job, log = "https://ci.example/7", "https://ci.example/7/a.log"
    failed = replace(pull("F"), ci_url=job)
    with_log = replace(
        pull("F", at=101), tests=tuple(replace(test, log_url=log) for test in failed.tests)
    )

    assert failure(*main(), pull("F")).log_url is None
    assert failure(*main(), failed).log_url == job
    assert failure(*main(), failed, with_log).log_url == log


def test_a_test_that_passes_here_and_fails_on_main_is_shown() -> None:
    result = answer(*main(broken_since(36)), pull("P"))

    assert result.failures == ()
    [gone] = result.passes
    assert (gone.boxes, gone.since) == (("box-1",), "c36")
    assert answer(*main(), pull("P")).passes == ()


SUITE_OF_TESTS = [f"test {number:02}" for number in range(12)]


def whole(
    sha: str, at: float, lost_from: int = 99, box: str = "box-1", verdict: str = "F"
) -> Report:
    tests = [
        item(verdict if number >= lost_from else "P", name)
        for number, name in enumerate(SUITE_OF_TESTS)
    ]
    branch = TOPIC if sha == PULL else "main"
    return report(f"{sha}:P", at, box=box, branch=branch, tests=tests)


PAST = [whole(f"c{number:02}", number) for number in range(COMMITS)]


def test_what_failed_behind_a_lost_board_is_the_benchs_where_that_is_sure() -> None:
    lost = whole(PULL, 100, lost_from=6)
    alone = answer(*PAST, lost)
    once = answer(*PAST, lost, whole(PULL, 101))
    again = answer(*PAST, lost, *(whole(PULL, 101 + at) for at in range(30)))
    elsewhere = answer(*PAST, lost, *(whole(PULL, 101 + at, box="box-2") for at in range(30)))
    blamed = answer(*PAST, whole(PULL, 100, lost_from=6, verdict="I"))

    assert {row.whose for row in alone.failures} == {Whose.TOO_FEW}
    assert alone.failures[1].evidence.startswith("The board was lost at test 06:")
    assert {row.whose for row in elsewhere.failures} == {Whose.TOO_FEW}
    assert {row.whose for row in once.failures} == {Whose.TOO_FEW}
    assert {row.whose for row in again.failures} == {Whose.BENCH}
    assert {row.whose for row in blamed.failures} == {Whose.TOO_FEW}
    assert again.failures[1].evidence == (
        "The board was lost at test 06; 30 other runs of this commit kept it on box-1"
    )
    assert [row.says for row in again.failures[:2]] == [
        "The board was lost at this test",
        "The board was lost at test 06",
    ]


def test_a_box_that_often_loses_its_board_needs_fewer_runs_that_keep_it() -> None:
    past = [
        run if number % 4 else whole(run.sha, number, lost_from=6)
        for number, run in enumerate(PAST)
    ]
    again = [whole(PULL, 101 + at) for at in range(4)]

    for history, expected in ((PAST, Whose.TOO_FEW), (past, Whose.BENCH)):
        result = answer(*history, whole(PULL, 100, lost_from=6), *again)
        assert {row.whose for row in result.failures} == {expected}


def test_runs_of_fewer_tests_do_not_show_that_the_board_is_kept() -> None:
    short = [
        replace(run, tests=run.tests[:6]) for run in (whole(PULL, 101 + at) for at in range(30))
    ]
    result = answer(*PAST, whole(PULL, 100, lost_from=6), *short)

    assert {row.test_id: row.whose for row in result.failures}["test 06"] is Whose.TOO_FEW


def test_runs_that_never_reach_where_one_was_lost_do_not_show_that_the_board_is_kept() -> None:
    """One run is lost at test 06, and one without the tests before 07 at test 07."""

    def without(run: Report) -> Report:
        return replace(run, tests=(*run.tests[:4], *run.tests[7:]))

    lost = [whole(PULL, 100, lost_from=6), without(whole(PULL, 101, lost_from=7))]
    kept = [without(whole(PULL, 102 + at)) for at in range(60)]
    result = answer(*PAST, *lost, *kept)

    assert {row.test_id: row.whose for row in result.failures}["test 07"] is Whose.TOO_FEW


def test_it_says_how_many_more_runs_must_keep_the_board() -> None:
    lost = whole(PULL, 100, lost_from=6)
    one, nine = (
        answer(*PAST, lost, *(whole(PULL, 101 + at) for at in range(kept))).failures[1].evidence
        for kept in (0, 9)
    )
    needed = [int(re.findall(r"; (\d+) ", evidence)[0]) for evidence in (one, nine)]

    assert "that run tells nothing of this test; " in one
    assert "9 other runs of this commit kept it on box-1; " in nine
    assert needed[0] - needed[1] == 9
    enough = answer(*PAST, lost, *(whole(PULL, 101 + at) for at in range(needed[0])))
    short = answer(*PAST, lost, *(whole(PULL, 101 + at) for at in range(needed[0] - 1)))
    assert enough.failures[1].whose is Whose.BENCH
    assert short.failures[1].whose is Whose.TOO_FEW


@pytest.mark.parametrize("verdict", ["F", "I"])
def test_a_change_that_hangs_every_other_run_is_no_bad_bench(verdict: str) -> None:
    runs = [
        whole(PULL, 100 + at, lost_from=6 if at % 2 else 99, verdict=verdict) for at in range(8)
    ]
    result = answer(*PAST, *runs)

    assert {row.whose for row in result.failures} <= {Whose.THIS_CHANGE, Whose.TOO_FEW}


def test_the_word_of_the_harness_counts_for_nothing_where_the_board_was_lost() -> None:
    others = [replace(run, box_key=f"box-{box}") for run in PAST for box in range(2, 6)]
    kept = [whole(PULL, 100 + at, box=f"box-{2 + at % 4}") for at in range(8)]
    lost = [whole(PULL, 110 + at, lost_from=6, verdict="I") for at in range(2)]
    result = answer(*PAST, *others, *kept, *lost)

    assert {row.test_id: row.whose for row in result.failures}["test 06"] is Whose.TOO_FEW


def test_two_boards_lost_at_one_test_are_no_accident() -> None:
    runs = [whole(PULL, 100 + at, lost_from=6, box=box) for at, box in enumerate(BOXES)]
    result = answer(*PAST, *(replace(run, box_key="box-2") for run in PAST), *runs)

    assert {row.test_id: row.whose for row in result.failures}["test 06"] is Whose.THIS_CHANGE
    assert Whose.BENCH not in {row.whose for row in result.failures}


@pytest.mark.parametrize("seed", range(rounds(40, 150)))
def test_no_failure_is_told_twice_and_counts_add_up_in_any_order_of_reports(seed: int) -> None:
    past = story(random.Random(seed))
    reports = list(past.facts.reports)
    for sha in sorted({run.sha for run in reports}):
        result = answer(*reports, sha=sha)
        names = [(row.suite, row.test_id) for row in result.failures]
        failing = {
            (run.suite, test.id)
            for run in reports
            if run.sha == sha and run.hello_ok
            for test in run.tests
            if test.outcome is Outcome.FAIL
        }

        assert sorted(names) == sorted(failing)
        counts = Counter(row.whose for row in result.failures)
        assert {count.whose: count.failures for count in result.counts} == counts
        shown = [[*Whose].index(Whose(row.whose)) for row in result.failures]
        assert shown == sorted(shown)
        assert not {(row.suite, row.test_id) for row in result.passes} & failing
        random.Random(seed).shuffle(reports)
        assert answer(*reports, sha=sha) == result


def test_claims_are_made_in_the_order_of_the_table() -> None:
    assert [*CLAIMS] == [
        Whose.BENCH,
        Whose.BASE,
        Whose.FLAKY,
        Whose.THIS_CHANGE,
        Whose.TOO_FEW,
    ]


@pytest.mark.parametrize("name", [name for name in HISTORIES if name != "ten thousand boxes"])
def test_bad_input_is_answered(name: str) -> None:
    reports = HISTORIES[name]
    for sha in {run.sha for run in reports}:
        result = answer(*reports, sha=sha)
        assert result.runs
        if name in {"one run", "one box", "all failing"}:
            assert all(row.whose in {Whose.TOO_FEW, Whose.BASE} for row in result.failures)


def test_ten_thousand_failures_are_counted_and_the_first_are_listed() -> None:
    names = [f"test {number}" for number in range(10_000)]
    runs = [
        report(f"c{number:02}:P", number, tests=[item("P", name) for name in names])
        for number in range(3)
    ]
    broken = report(f"{PULL}:P", 100, branch=TOPIC, tests=[item("F", name) for name in names])
    asked: list[None] = []
    history = FullRecordedRuns(ORG, Facts(reports=(*runs, broken)))
    history.check_time = lambda: asked.append(None)
    result = one_commit(history, Scope(REPO), EVER, PULL, MOST)

    assert len(result.failures) == MOST
    assert sum(count.failures for count in result.counts) == len(names)
    assert len(asked) < MOST, "tests that did the same are one case"
