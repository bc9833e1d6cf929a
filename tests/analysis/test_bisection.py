# SPDX-License-Identifier: Apache-2.0
"""The commit that broke a test: what is known of it, and what is said where it cannot be known."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from hwci.analysis.flaky.bisection import (
    COMMITS_MAX,
    MISSING,
    Asked,
    progress,
)
from hwci.analysis.flaky.weighing import Counts
from hwci.contract.flaky.bisection import Bisected, NextRun
from hwci.contract.vocabulary import MissingCommit, Outcome
from hwci.engine.facts import Product, Report
from hwci.engine.periods import Period
from tests.analysis.races import RACE, planted
from tests.engine.timeline import (
    EVER,
    ORG,
    REPO,
    SUITE,
    TEST,
    Past,
    changes,
    item,
    report,
)
from tests.simulation.fleet import EPOCH, Cause, Simulated
from tests.support.outcomes import FullRecordedRuns

COMMITS = "bcdefgh"
PUSH = report("h:F", 1, sent=changes("a", *COMMITS))
"""The run on the bad commit, which lists all commits after the good one."""


def asked(
    reports: Sequence[Report],
    good: str = "a",
    bad: str = "h",
    test_id: str = TEST,
    box_key: str | None = None,
    at_once: int = 1,
) -> Bisected | MissingCommit:
    history = FullRecordedRuns(ORG, Past([*reports]).facts)
    wanted = Asked(Product(REPO, SUITE), test_id, good, bad, box_key, at_once)
    return progress(history, EVER, wanted)


def progress_of(
    reports: Sequence[Report], box_key: str | None = None, at_once: int = 1
) -> Bisected:
    found = asked(reports, box_key=box_key, at_once=at_once)
    assert isinstance(found, Bisected)
    return found


def proposed(found: Bisected) -> NextRun:
    [run] = found.next_runs
    return run


def seen(of: Bisected | NextRun, at: int = 0) -> Counts:
    """Return how the runs of the test ended: on a commit, or on the box of a run."""
    counts = of.commits[at] if isinstance(of, Bisected) else of
    return Counts(counts.failed, counts.runs - counts.failed)


def every(found: Bisected) -> list[Counts]:
    return [seen(found, at) for at in range(len(found.commits))]


def known(*runs: str) -> Bisected:
    """Ask after the push and these runs."""
    return progress_of([PUSH, *(report(run, at) for at, run in enumerate(runs, 2))])


def test_the_commits_are_those_that_runs_listed_after_the_good_one() -> None:
    found = known("a:P")

    assert [one.sha for one in found.commits] == ["a", *COMMITS]
    assert seen(found) == Counts(0, 1)
    assert seen(found, -1) == Counts(1, 0)


def test_a_run_in_the_middle_is_proposed_first() -> None:
    found = known("a:P")

    assert found_at(found, proposed(found).sha) in {3, 4}
    assert proposed(found).box_key == "box-1"


def test_a_commit_that_fails_always_is_found_in_a_few_runs_a_step() -> None:
    reports = [report("a:P", 0), PUSH]
    for at in range(2, 12):
        found = progress_of(reports)
        if not found.next_runs:
            break
        sha = proposed(found).sha
        reports.append(report(f"{sha}:{'F' if sha >= 'e' else 'P'}", at))

    assert not found.next_runs
    assert found.bracket.first == found.bracket.last
    assert found.bracket.first == "e"
    assert found.bracket.chance >= 0.95


def test_one_pass_does_not_clear_a_commit_that_fails_now_and_then() -> None:
    often = known("a:P", "d:P", *["h:F"] * 9)
    rarely = known("a:P", "d:P", *["h:P"] * 9)

    late = slice(4, None)
    assert sum(commit.chance for commit in often.commits[late]) > 0.9
    assert sum(commit.chance for commit in rarely.commits[late]) < 0.7


def test_one_box_that_failed_alone_may_have_broken_then() -> None:
    """A commit that breaks one box looks as a bench does that broke at the same time."""
    passed = [report(f"{sha}:P", at) for at, sha in enumerate("abcd")]
    failed = [report(f"{sha}:F", 10 + at) for at, sha in enumerate("hgfe" * 3)]
    push = replace(failed[0], changes=PUSH.changes)
    again = " It failed on box-1 alone: test d there again, to see whether the bench did it."
    found = progress_of([*passed, push, *failed[1:]])

    assert (found.bracket.first, found.bracket.commits) == ("e", 1)
    assert found.says.endswith(again)
    assert again not in progress_of([*passed, push, *failed[1:], report("d:P", 60)]).says
    elsewhere = replace(report("e:F", 60), box_key="box-2")
    assert again not in progress_of([*passed, push, *failed[1:], elsewhere]).says


def test_a_failure_that_the_harness_blames_on_the_bench_says_nothing() -> None:
    assert every(known("a:P", "d:I", "e:L")) == every(known("a:P"))


def test_a_run_that_did_not_reach_the_hardware_tells_nothing() -> None:
    lost = replace(report("d:F", 3), hello_ok=False)

    assert every(known("a:P")) == every(progress_of([PUSH, report("a:P", 2), lost]))


def test_a_run_counts_by_its_first_attempt() -> None:
    assert seen(known("a:P", "d:P3"), 3) == Counts(1, 0)


def test_only_runs_of_the_box_that_is_named_count() -> None:
    other = report("d:F", 3, box="box-2")
    slow = replace(other, ended_at=other.started_at + timedelta(hours=1))

    reports = [PUSH, slow, report("a:P", 0, box="box-2")]

    whole, of_one = progress_of(reports), progress_of(reports, box_key="box-2")

    assert (sum(map(sum, every(whole))), sum(map(sum, every(of_one)))) == (3, 2)
    assert proposed(whole).box_key == "box-1"
    assert proposed(of_one).box_key == "box-2"


def test_no_run_is_proposed_on_a_box_that_did_not_reach_the_hardware() -> None:
    assert not known("a:P", "d:L").next_runs


def test_a_commit_that_is_listed_twice_counts_at_its_last_place() -> None:
    first = report("d:P", 0, sent=changes("a", "b", "c", "d"))
    rebased = report("h:F", 1, sent=changes("d", "b", "e", "h"))

    found = progress_of([first, rebased])

    assert [one.sha for one in found.commits] == ["a", "c", "d", "b", "e", "h"]


def test_the_good_commit_is_no_candidate_though_it_is_listed_again() -> None:
    found = progress_of([report("a:P", 0), report("h:F", 1, sent=changes("a", "b", "a", "h"))])

    assert [one.sha for one in found.commits] == ["a", "b", "h"]


def test_first_digits_name_a_commit_that_ran() -> None:
    reports = [report("a1:P", 0), report("h1:F", 1, sent=changes("a1", "b", "h1"))]

    assert isinstance(asked(reports), Bisected)
    assert asked([*reports, report("h2:P", 3)]) is MissingCommit.SEVERAL_COMMITS


@pytest.mark.parametrize(
    ("reports", "given", "missing"),
    [
        ([], {}, MissingCommit.UNKNOWN_TEST),
        ([PUSH], {"test_id": "flies"}, MissingCommit.UNKNOWN_TEST),
        ([PUSH], {"box_key": "box-9"}, MissingCommit.UNKNOWN_TEST),
        ([PUSH], {"good": "x"}, MissingCommit.UNKNOWN_COMMIT),
        ([PUSH], {"bad": "x"}, MissingCommit.UNKNOWN_COMMIT),
        ([PUSH], {"good": "h", "bad": "a"}, MissingCommit.NOT_CONNECTED),
        ([PUSH], {"good": "h"}, MissingCommit.NOT_CONNECTED),
        ([report("a:P", 0), report("h:F", 1)], {}, MissingCommit.NOT_CONNECTED),
        ([replace(PUSH, tests=(item("P"),))], {}, MissingCommit.NEVER_FAILED),
        ([PUSH], {}, MissingCommit.NEVER_PASSED),
        (
            [PUSH, *(report(f"{sha}:F", at) for at, sha in enumerate(COMMITS, 2))],
            {},
            MissingCommit.NEVER_PASSED,
        ),
        ([PUSH, report("a:P", 2, sent=changes("h", "b", "a"))], {}, MissingCommit.CIRCLE),
        (
            [
                PUSH,
                report("a:F", 0),
                *(report(f"{sha}:P", at) for at, sha in enumerate("bcdefg", 2)),
            ],
            {},
            MissingCommit.BROKEN_BEFORE,
        ),
        ([PUSH, *(report("a:F", at) for at in range(2, 5))], {}, MissingCommit.BROKEN_BEFORE),
        (
            [PUSH, *(report(f"{sha}:F", at) for at, sha in enumerate("abcdefgh", 2))],
            {},
            MissingCommit.BROKEN_BEFORE,
        ),
        (
            [
                PUSH,
                *(report("a:P", at) for at in range(2, 6)),
                *(report("c:F", at) for at in range(6, 10)),
                *(report("e:P", at) for at in range(10, 20)),
                *(report("h:F", at) for at in range(20, 24)),
            ],
            {},
            MissingCommit.CONTRADICTION,
        ),
    ],
)
def test_what_cannot_be_known_has_a_reason_and_no_figure(
    reports: list[Report], given: dict[str, Any], missing: MissingCommit
) -> None:
    assert asked(reports, **given) is missing


def test_a_few_passes_behind_a_failure_are_no_contradiction() -> None:
    assert known("a:P", "c:F", *["f:P"] * 5).next_runs


def test_a_range_may_be_too_long() -> None:
    listed = [f"{number:04}" for number in range(COMMITS_MAX)]

    def of(*between: str) -> Bisected | MissingCommit:
        return asked([report("a:P", 0), report("h:F", 1, sent=changes("a", *between, "h"))])

    assert isinstance(of(*listed[1:]), Bisected)
    assert of(*listed) is MissingCommit.TOO_LONG


def test_a_good_commit_that_no_run_tested_may_be_broken_too() -> None:
    failing = [f"{sha}:F" for sha in COMMITS]

    found = known(*failing, *failing, "h:P")

    assert found.bracket.first == found.commits[0].sha == "a"
    assert proposed(found).sha == "a"


def test_runs_at_once_are_on_boxes_of_their_own_and_of_different_commits() -> None:
    boxes = [report("a:P", at, box=f"box-{at}") for at in range(2, 5)]

    found = progress_of([PUSH, *boxes], at_once=3)

    assert {one.box_key for one in found.next_runs} <= {"box-1", "box-2", "box-3", "box-4"}
    assert len({one.box_key for one in found.next_runs}) == 3
    assert len({run.sha for run in found.next_runs}) == 3
    assert len(progress_of([PUSH, *boxes], at_once=8).next_runs) == 4


@pytest.mark.parametrize(("passes", "boxes"), [(1, ["box-1", "box-2"]), (12, ["box-1"])])
def test_a_box_that_passes_is_proposed_beside_another_only_while_that_may_be_chance(
    passes: int, boxes: list[str]
) -> None:
    passed = [report("h:P", at, box="box-2") for at in range(3, 3 + passes)]

    found = progress_of([PUSH, report("a:P", 2), *passed], at_once=2)

    assert [one.box_key for one in found.next_runs] == boxes
    on = {run.box_key: seen(run) for run in found.next_runs}
    assert on["box-1"] == Counts(1, 1)
    assert on.get("box-2", Counts(0, passes)) == Counts(0, passes)


# Without a good and a bad commit


def suggested(fleet: Simulated, days: int = 3650) -> Bisected | MissingCommit:
    history = FullRecordedRuns(ORG, fleet.facts)
    product = Product(fleet.facts.reports[0].repo_key, fleet.facts.reports[0].suite)
    period = Period(EPOCH, EPOCH + timedelta(days=days))
    return progress(history, period, Asked(product, "test_000", None, None))


def test_without_ends_it_looks_between_those_that_the_runs_suggest() -> None:
    fleet = planted(RACE)
    found = suggested(fleet)
    assert isinstance(found, Bisected)
    at = {one.sha: number for number, one in enumerate(fleet.commits)}
    numbers = [at[one.sha] for one in found.commits]
    assert numbers[0] < 15
    assert numbers[-1] > 20
    assert at[found.bracket.first] <= 20 <= at[found.bracket.last]
    assert seen(found).passed > 0
    assert not seen(found).failed
    assert seen(found, -1).failed
    named = fleet.commits[numbers[0]].sha, fleet.commits[numbers[-1]].sha
    history = FullRecordedRuns(ORG, fleet.facts)
    product = Product(fleet.facts.reports[0].repo_key, fleet.facts.reports[0].suite)
    period = Period(EPOCH, EPOCH + timedelta(days=3650))
    assert progress(history, period, Asked(product, "test_000", *named)) == found
    assert found.says.startswith("It began to fail in ")


@pytest.mark.parametrize(
    ("cause", "missing"),
    [
        (replace(RACE, since=0), MissingCommit.BEFORE_PERIOD),
        (replace(RACE, until=45), MissingCommit.FIXED),
    ],
)
def test_without_ends_it_says_why_there_is_nothing_to_look_for(
    cause: Cause, missing: MissingCommit
) -> None:
    assert suggested(planted(cause)) is missing


def test_of_a_test_that_fails_rarely_it_does_not_say_that_the_first_runs_failed() -> None:
    fleet = planted(replace(RACE, rate=0.01, since=0), seed=3)
    runs = sorted(fleet.facts.reports, key=lambda run: run.started_at)
    first = [one for run in runs[:70] for one in run.tests if one.id == "test_000"]

    assert len(first) > 50
    assert {(one.outcome, one.attempts) for one in first} == {(Outcome.PASS, 1)}
    assert suggested(fleet) is MissingCommit.BEFORE_PERIOD
    assert MISSING[MissingCommit.BEFORE_PERIOD].text == (
        "Its runs suggest that it failed before this period already"
    )


def test_without_ends_too_few_runs_suggest_none() -> None:
    fleet = planted(RACE)
    few = replace(fleet.facts, reports=fleet.facts.reports[:10])
    assert suggested(replace(fleet, facts=few)) is MissingCommit.NO_RANGE


def test_what_failed_behind_a_lost_board_is_no_run_of_the_test() -> None:
    beside = ["first", "second", TEST, "third", "last"]

    def whole(run: str, at: float, failing: Sequence[str]) -> Report:
        tests = [item("F" if test in failing else "P", test) for test in beside]
        return report(run, at, tests=tests, sent=changes("a", *COMMITS) if at == 1 else None)

    runs = [whole("h:F", 1, [TEST]), *(whole("a:P", 2 + at, []) for at in range(30))]
    behind = progress_of([*runs, whole("c:F", 40, beside[1:])])
    at_it = progress_of([*runs, whole("c:F", 40, beside[2:])])

    assert seen(behind, found_at(behind, "c")) == Counts(0, 0)
    assert seen(at_it, found_at(at_it, "c")) == Counts(1, 0)


def found_at(found: Bisected, sha: str) -> int:
    """Return the place of a commit."""
    return [one.sha for one in found.commits].index(sha)
