# SPDX-License-Identifier: Apache-2.0
"""The plan of runs for unchecked merges: against every set of runs there is, in small random cases,
and by the rule itself, with its runs sent.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import combinations, product
from typing import Any

from hwci.analysis.merges.merge_plan import CommitRun, LeastRuns, plan
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import MissingRun
from hwci.engine.facts import Part, Report
from tests.engine.timeline import ALL, EVER, MAIN, ORG, REPO, SUITE, Past, changes, minute, report
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

OTHER = "boot"
MERGE = Merge(REPO, SUITE, "b", MAIN, minute(1))


def ran(at: float, seconds: float, box: str = "box-1", **given: Any) -> Report:
    """A run of commit `a` that took so long."""
    made = report(f"{given.pop('run', 'a:P')}", at, box=box, **given)
    return replace(made, ended_at=made.started_at + timedelta(seconds=seconds))


def planned(reports: Sequence[Report], *merges: Merge) -> LeastRuns:
    past = Past([*reports]).announced(*merges)
    return plan(FullRecordedRuns(ORG, past.facts), ALL, EVER, past.read().unchecked_merges)


def boxes(found: LeastRuns) -> list[tuple[str, str, str, float]]:
    return [
        (one.sha, one.offer.product.suite, one.offer.box_key, one.offer.seconds)
        for one in found.runs
    ]


def test_the_box_with_the_least_median_time_is_proposed() -> None:
    slow_once = [ran(1, 5), ran(2, 5), ran(3, 90)]
    steady = [ran(at, 10, "box-2") for at in (4, 5)]

    (run,) = planned([*slow_once, *steady], MERGE).runs

    assert (run.offer.box_key, run.offer.seconds, run.offer.runs) == ("box-1", 5, 3)


def test_a_box_that_did_not_reach_the_hardware_lately_is_not_proposed() -> None:
    lost = ran(9, 1, run="c:L")

    assert boxes(planned([ran(1, 5), lost, ran(2, 8, "box-2")], MERGE)) == [
        ("b", SUITE, "box-2", 8)
    ]
    assert planned([ran(1, 5), lost], MERGE).unplanned == {MERGE: MissingRun.NOT_REACHED}


def test_without_a_run_of_the_product_there_is_no_figure() -> None:
    none = planned([ran(1, 5, suite=OTHER), ran(2, 5, run="a:-")], MERGE)

    assert (none.runs, none.unplanned, none.board_seconds) == ([], {MERGE: MissingRun.NO_RUN}, 0)


def test_the_parts_of_a_large_report_are_one_run() -> None:
    first = replace(ran(1, 40, run_id=98), part_of=Part(7, 1, 2))
    second = replace(first, run_id=99, part_of=Part(7, 2, 2))

    (run,) = planned([first, second], MERGE).runs

    assert (run.offer.seconds, run.offer.runs) == (40, 1)


def test_a_run_that_ended_before_it_began_tells_no_time() -> None:
    (run,) = planned([ran(1, -5), ran(2, 30)], MERGE).runs

    assert (run.offer.seconds, run.offer.runs) == (30, 1)


def test_a_merge_of_no_product_is_checked_by_the_run_of_another_merge_of_its_commit() -> None:
    reports = [ran(1, 5, suite=OTHER), ran(2, 60)]
    unassigned = replace(MERGE, suite=None)

    assert boxes(planned(reports, unassigned)) == [("b", OTHER, "box-1", 5)]
    (run,) = planned(reports, unassigned, MERGE).runs
    assert (run.offer.product.suite, len(run.merges)) == (SUITE, 2)


def test_one_of_two_runs_on_a_commit_counts_for_a_merge_of_no_product() -> None:
    of_each = [replace(MERGE, suite=suite) for suite in (SUITE, OTHER, None)]

    runs = planned([ran(1, 5, suite=OTHER), ran(2, 60)], *of_each).runs

    assert [(one.offer.product.suite, len(one.merges)) for one in runs] == [(OTHER, 2), (SUITE, 1)]


def test_a_planned_run_checks_its_own_commit_only() -> None:
    later = ran(3, 5, run="d:L", sent=changes("a", "b", "c", "d"))

    found = planned([later, ran(4, 5)], MERGE, replace(MERGE, sha="c"))

    assert sorted(one.sha for one in found.runs) == ["b", "c"]


def test_the_cheapest_runs_come_first() -> None:
    reports = [ran(1, 60, suite=OTHER), ran(2, 5, "box-2")]

    found = planned(reports, replace(MERGE, suite=OTHER), MERGE, replace(MERGE, sha="c"))

    assert [one.offer.seconds for one in found.runs] == [5, 5, 60]
    assert found.board_seconds == 70


def story(draw: random.Random) -> tuple[list[Report], list[Merge]]:
    """Runs of two products and repositories on three boxes, and merges of two commits."""
    reports = [
        ran(
            number,
            draw.choice([3, 5, 8]),
            f"box-{draw.randint(1, 3)}",
            run=f"{draw.choice('aaab')}:{draw.choice('PPPFL-')}",
            suite=draw.choice([SUITE, OTHER]),
            repo=draw.choice([REPO, REPO, "else"]),
        )
        for number in range(draw.randint(0, 6))
    ]
    identities = [*product([REPO, "else"], [SUITE, OTHER, None], "bc")]
    merges = [
        Merge(repo, suite, sha, MAIN, minute(draw.randint(0, 9)))
        for repo, suite, sha in draw.sample(identities, draw.randint(1, 4))
    ]
    return reports, merges


Run = tuple[str, str, str, str]  # repository, suite, commit, box


def does(run: Run, merge: Merge) -> bool:
    repo, suite, sha, _ = run
    return (repo, sha) == (merge.repo_key, merge.sha) and merge.suite in {None, suite}


def all_runs(reports: Sequence[Report], merges: Sequence[Merge]) -> dict[Run, float]:
    """Every run that could be planned, with the time that it takes."""
    last = {one.box_key: one.hello_ok for one in sorted(reports, key=lambda one: one.started_at)}
    times: dict[tuple[str, str, str], list[float]] = {}
    for one in reports:
        if one.hello_ok and one.tests and last[one.box_key]:
            seconds = (one.ended_at - one.started_at).total_seconds()
            times.setdefault((one.repo_key, one.suite, one.box_key), []).append(seconds)
    found: dict[Run, float] = {}
    for (repo, suite, box), took in times.items():
        took.sort()
        middle = (took[(len(took) - 1) // 2] + took[len(took) // 2]) / 2
        found |= {(repo, suite, one.sha, box): middle for one in merges}
    return {run: took for run, took in found.items() if any(does(run, one) for one in merges)}


def fewest(runs: dict[Run, float], merges: Sequence[Merge]) -> tuple[int, float]:
    """Number and time of the best set among all sets of runs that check what can be checked."""
    able = [one for one in merges if any(does(run, one) for run in runs)]
    for size in range(len(able) + 1):
        costs = [
            sum(runs[run] for run in chosen)
            for chosen in combinations(runs, size)
            if all(any(does(run, one) for run in chosen) for one in able)
        ]
        if costs:
            return size, min(costs)
    raise AssertionError("a run for each merge is enough")


def sent(runs: Sequence[CommitRun]) -> list[Report]:
    """What the planned runs would report: their own commit, and no push list."""
    return [
        ran(
            100 + number,
            1,
            one.offer.box_key,
            run=f"{one.sha}:P",
            suite=one.offer.product.suite,
            repo=one.offer.product.repo_key,
        )
        for number, one in enumerate(runs)
    ]


def test_the_plan_is_the_best_of_all_sets_of_runs() -> None:
    for seed in range(rounds(300, 10_000)):
        reports, merges = story(random.Random(seed))
        unchecked = Past(reports).announced(*merges).read().unchecked_merges
        found, runs = planned(reports, *merges), all_runs(reports, unchecked)

        assert (len(found.runs), found.board_seconds) == fewest(runs, unchecked), f"seed {seed}"
        assert {*found.unplanned} == {
            one for one in unchecked if not any(does(run, one) for run in runs)
        }, f"seed {seed}"
        counted = [merge for one in found.runs for merge in one.merges]
        assert sorted(map(repr, [*counted, *found.unplanned])) == sorted(map(repr, unchecked)), seed
        after = Past([*reports, *sent(found.runs)]).announced(*merges).read()
        assert {*after.unchecked_merges} == {*found.unplanned}, f"seed {seed}"
