# SPDX-License-Identifier: Apache-2.0
"""Answers by the runs of some branches: which these are, and what counts there."""

from collections import Counter
from dataclasses import replace

import pytest

from hwci.analysis.benches.report import KnownOfBoxes, benches
from hwci.analysis.branches import branches_of, default_branches
from hwci.analysis.flaky.suspects import flaky_tests
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import BranchChoice
from hwci.engine.facts import Facts, Report
from hwci.engine.history import Scope
from hwci.engine.page.tables import FlakySelection
from hwci.engine.periods import Period
from tests.engine.timeline import ALL, EVER, MAIN, ORG, REPO, TEST, item, minute, report
from tests.server.storage.histories import ORG as DRAWN_ORG
from tests.server.storage.histories import HistoryDraw
from tests.server.storage.kept import Kept
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

DEFAULT, OTHERS = BranchChoice.DEFAULT, BranchChoice.OTHERS
NAMES = [
    *("main", "topic/*x", "a.c", "abc", "[a-c]", "100%", "under_score", "'; DROP TABLE report"),
    *("aa", "a", "Ünïcode 🐞", " ", "\\d", "default", "defaults", "others"),
]


def run(branch: str, sha: str, at: float, outcome: str, box: str = "box-1") -> Report:
    return replace(report(f"{sha}:P", at, box=box, tests=[item(outcome)]), branch=branch)


def merged(*branches: str, repo: str = REPO, at: float = 1) -> tuple[Merge, ...]:
    return tuple(
        Merge(repo, None, f"{number:040x}", branch, minute(at))
        for number, branch in enumerate(branches)
    )


def history(*reports: Report, merges: tuple[Merge, ...] = ()) -> FullRecordedRuns:
    return FullRecordedRuns(ORG, Facts(reports=reports, announcements=merges))


def on(past: RecordedRuns, choice: str, scope: Scope = ALL) -> RecordedRuns:
    branches = branches_of(past, scope, EVER, choice)
    assert branches is not None
    return past.on_branches(branches)


def flaky(past: RecordedRuns) -> dict[str, tuple[int, int, int]]:
    """Return the runs, failed attempts and flakes of each test with a failed attempt."""
    rows = flaky_tests(past, ALL, EVER, FlakySelection(limit=100)).items
    return {
        row.test.test_id: (row.test.run_reports, row.test.failed_attempts, row.test.flaky_failures)
        for row in rows
    }


PAST = history(
    *(run(MAIN, f"m{number}", number, "P") for number in range(3)),
    run("topic", "t", 4, "F"),
    run("topic", "t", 5, "P"),
    merges=merged(MAIN),
)


def test_a_test_that_is_flaky_on_the_branch_of_a_pull_request_alone_is_not_on_the_default_one() -> (
    None
):
    assert flaky(PAST) == {TEST: (5, 1, 1)}
    assert flaky(on(PAST, DEFAULT)) == {}
    assert flaky(on(PAST, OTHERS)) == {TEST: (2, 1, 1)}
    assert flaky(on(PAST, "topic")) == flaky(on(PAST, "t*c")) == flaky(on(PAST, OTHERS))
    assert flaky(on(PAST, "gone")) == {}


def test_a_pass_on_another_branch_still_makes_a_failure_a_flake() -> None:
    past = history(run(MAIN, "a", 1, "F"), run("topic", "a", 2, "P"), merges=merged(MAIN))

    assert flaky(on(past, DEFAULT)) == {TEST: (1, 1, 1)}
    assert flaky(on(past, OTHERS)) == {}


def test_the_pending_failures_of_a_test_are_those_on_these_branches() -> None:
    past = history(
        *(run(MAIN, f"m{number}", number, "F3" if number == 2 else "P3") for number in range(3)),
        run("topic", "t", 4, "F"),
        merges=merged(MAIN),
    )

    def pending(choice: str) -> set[str]:
        rows = flaky_tests(on(past, choice), ALL, EVER, FlakySelection(limit=100)).items
        return {group.first.key.lane.branch for row in rows for group in row.pending}

    assert (pending(DEFAULT), pending(OTHERS)) == ({MAIN}, {"topic"})


def test_a_box_that_only_ran_pull_requests_is_not_among_those_of_the_default_branch() -> None:
    past = history(run(MAIN, "a", 1, "P"), run("topic", "b", 2, "F", "box-2"), merges=merged(MAIN))

    def boxes(choice: str) -> list[str]:
        found = benches(on(past, choice), ALL, EVER, 100, KnownOfBoxes({}, {}))
        return [box.box_key for box in found.boxes]

    assert (boxes(DEFAULT), boxes(OTHERS), boxes("*")) == (["box-1"], ["box-2"], ["box-1", "box-2"])


def test_the_default_branch_has_most_merges_of_its_repository_not_most_runs() -> None:
    runs = [run("topic", f"t{number}", number, "P") for number in range(5)]
    there = replace(run("trunk", "x", 1, "P"), repo_key="boot")
    past = history(*runs, run(MAIN, "a", 9, "P"), there, merges=merged(MAIN, "next", MAIN))

    assert default_branches(past, ALL, EVER) == {REPO: MAIN, "boot": "trunk"}
    assert default_branches(past, Scope(REPO), EVER) == {REPO: MAIN}


def test_without_merges_in_the_period_it_is_the_branch_that_ran_most() -> None:
    runs = [run("topic", f"t{number}", number, "P") for number in range(2)]
    lost = [replace(run("lost", f"l{number}", number, "P"), hello_ok=False) for number in range(9)]
    past = history(*runs, *lost, run(MAIN, "a", 9, "P"), merges=merged(MAIN, at=99))

    assert default_branches(past, ALL, Period(EVER.start, minute(50))) == {REPO: "topic"}
    assert default_branches(past, ALL, Period(minute(60), minute(70))) == {}


def meant(past: RecordedRuns, choice: str) -> list[str]:
    """Return the names that a choice means."""
    branches = branches_of(past, ALL, EVER, choice)
    assert branches is not None
    return [name for name in NAMES if branches(REPO, name)]


@pytest.mark.parametrize("name", [name for name in NAMES if "*" not in name])
def test_a_name_means_that_branch_alone_whatever_signs_it_has(name: str) -> None:
    if name not in [*BranchChoice]:
        assert meant(history(), name) == [name]


def test_a_word_is_no_name_of_a_branch() -> None:
    past = history(merges=merged(MAIN))

    assert meant(past, "default") == [MAIN]
    assert meant(past, "others") == [name for name in NAMES if name != MAIN]
    assert meant(past, "Default") == []


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*", NAMES),
        ("a*", ["a.c", "abc", "aa", "a"]),
        ("*c", ["a.c", "abc"]),
        ("a*c", ["a.c", "abc"]),
        ("a*a", ["aa"]),
        ("defaul*", ["default", "defaults"]),
        ("*others", ["others"]),
        ("topic/*x", ["topic/*x"]),
        (".*", []),
    ],
)
def test_one_star_stands_for_any_characters_and_nothing_else_is_special(
    pattern: str, names: list[str]
) -> None:
    assert meant(history(), pattern) == names


@pytest.mark.parametrize("seed", range(rounds(20, 200)))
def test_the_default_branch_and_all_others_add_up_to_all(seed: int) -> None:
    draw, kept = HistoryDraw(seed), Kept()
    for _ in range(20):
        kept.put_report(DRAWN_ORG, draw.next_report(), minute(0))
        kept.announce(DRAWN_ORG, draw.announcement(), minute(0))
    past = FullRecordedRuns(DRAWN_ORG, kept.facts(DRAWN_ORG))
    whole, parts = counted(past), counted(on(past, DEFAULT)) + counted(on(past, OTHERS))

    assert whole == parts


def counted(past: RecordedRuns) -> Counter[object]:
    """Count runs by product, and what is counted of tests."""
    counts = Counter[object]()
    for test, _, *numbers in past.test_runs(ALL, EVER):
        counts.update({(test, at): number for at, number in enumerate(numbers[1:])})
    counts.update({runs.product: len(runs.runs) for runs in past.outcomes(ALL, EVER)})
    return counts
