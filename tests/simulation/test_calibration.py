# SPDX-License-Identifier: Apache-2.0
"""The measures of the calibration, on small cases. The calibration itself is `make calibration`."""

from collections import defaultdict
from dataclasses import replace
from itertools import product
from math import isclose

import numpy as np

from hwci.analysis.flaky.onset import Step
from hwci.analysis.flaky.suspects import Counted
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import Band, Claim, Whose
from tests.simulation.calibration.asked import asked
from tests.simulation.calibration.bands import ABOVE_MIN, CALLED_MAX, bands_of, ranked
from tests.simulation.calibration.bands import fleet_of as fleet_with_bands
from tests.simulation.calibration.benches import by_eye, lost_runs
from tests.simulation.calibration.bisection import (
    Case,
    bisected,
    bisected_by_git,
    repeats_that_suffice,
)
from tests.simulation.calibration.boards import FLEET as FOUR_BOARDS
from tests.simulation.calibration.boards import boards, named
from tests.simulation.calibration.cases import cases, sized
from tests.simulation.calibration.change_points import change_points, interval, rises
from tests.simulation.calibration.commits import PLAN as PULLED
from tests.simulation.calibration.commits import fleet_of as fleet_of_commit
from tests.simulation.calibration.commits import planted_bug, rows_of
from tests.simulation.calibration.fixes import claims_of, is_fixed
from tests.simulation.calibration.flaky_tests import entropy, flip_rate
from tests.simulation.calibration.incidents import POOL, box_by_box, pooled
from tests.simulation.calibration.lost import fleet_of, real_bugs
from tests.simulation.calibration.onsets import came_again, chances, observed, said, told
from tests.simulation.calibration.page import Line, auc, reliability, share, table
from tests.simulation.calibration.shares import FLEET, interval_of, look
from tests.simulation.calibration.statements import BENCH, hung, is_wrong
from tests.simulation.fleet import Cause, Kind, Plan, planted, simulate


def runs(*failed: int) -> Counted:
    return Counted(*np.array([(at, 0, one, 0, 0) for at, one in enumerate(failed)]).T)


def test_auc_is_the_chance_that_one_of_the_higher_is_higher() -> None:
    assert auc([2, 3], [0, 1]) == "1.00"
    assert auc([1], [1]) == "0.50"
    assert auc([0, 2], [1]) == "0.50"
    assert auc([], [1]) == "no case"


def test_a_share_says_of_how_many() -> None:
    assert share([True, False, False, False]) == "25 % of 4"
    assert share([]) == "no case"


def test_flip_rate_and_entropy_look_at_results_alone() -> None:
    assert flip_rate(runs(0, 1, 0, 1)) == 1
    assert flip_rate(runs(0, 0, 1)) == 0.5
    assert entropy(runs(0, 1)) == 1
    assert entropy(runs(0, 0)) == 0


def test_a_table_is_markdown() -> None:
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | ---: |\n| 1 | 2 |\n"


def test_chances_that_were_said_stand_beside_how_often_they_were_true() -> None:
    said_so = [(0.1, False), (0.3, True), (0.4, False), (1.0, True)]

    rows = reliability(said_so, (0, 0.2, 0.5, 0.8, 1)).splitlines()[2:]

    assert rows == [
        "| 0% to 20% | 1 | 10.0% | 0.0% |",
        "| 20% to 50% | 2 | 35.0% | 50.0% |",
        "| 50% to 80% | 0 | - | - |",
        "| 80% to 100% | 1 | 100.0% | 100.0% |",
    ]


def test_what_is_asked_leads_to_the_section_or_the_test_that_shows_it() -> None:
    rows = asked([Line("a", "1", False, "Fixed?"), Line("b", "2", True, "tests/test_house.py")])

    assert "| a | [Fixed?](#fixed) | 1 | **not met** |" in rows
    assert "| b | [test_house.py](../tests/test_house.py) | 2 | met |" in rows


def steps(*failed: int) -> list[Step]:
    """Ten runs on each commit, of which so many failed, and their retries passed."""
    return [Step(10, one, one, 0) for one in failed]


def test_a_change_point_is_where_the_rate_changes() -> None:
    up_and_down = steps(*[0] * 20, *[5] * 20, *[0] * 20)
    cuts = change_points(up_and_down)

    assert cuts == [20, 40]
    assert [rises(up_and_down, cuts, which) for which in range(2)] == [True, False]
    assert interval(up_and_down, cuts, 0) == (20, 20)
    assert change_points(steps(*[1] * 60)) == []
    assert change_points(steps(1)) == []


def test_the_interval_of_a_change_point_is_wide_where_it_may_be_anywhere() -> None:
    rarely = [Step(3, failed, failed, 0) for failed in [0] * 40 + [0, 0, 1, 0, 1] * 8]
    [cut] = change_points(rarely)
    first, last = interval(rarely, [cut])

    assert first < cut <= last
    assert 40 in range(first, last + 1)


def test_a_change_of_what_retries_give_is_a_change_point() -> None:
    assert change_points([Step(4, 1, 1, 0)] * 20 + [Step(4, 1, 1, 1)] * 20) == [20]


def test_a_claim_that_a_race_is_fixed_is_wrong_while_it_acts() -> None:
    found = list(cases(sized(200), Kind.RACE, 0.5, 10))
    never = [one._replace(cause=replace(one.cause, until=None)) for one in found]

    claimed = claims_of(found, is_fixed)

    assert claimed
    assert not any(claimed)
    assert all(claims_of(never, is_fixed))


def test_chances_of_commits_and_of_the_time_before_them_add_up() -> None:
    for case in cases(sized(200), Kind.RACE, 0.2, 10):
        found = [*chances(case).of_commits, chances(case).before]
        assert isclose(sum(chance for chance, _ in found), 1)
        assert [is_true for _, is_true in found].count(True) == 1


def test_an_onset_that_is_not_looked_at_is_not_counted_as_missed() -> None:
    plan = Plan(tests=1, runs=100, base_rate=0.0)
    found = list(cases(plan, Kind.RACE, 0.5, 10))
    first = [one._replace(cause=replace(one.cause, since=0)) for one in found]
    assert all(said(one) is None for one in first)
    assert told(first) == []
    assert any(one.held for one in told(found))


def test_the_last_time_of_a_race_that_came_again_is_looked_for() -> None:
    found = [one for seed in range(10) for one in came_again(0.2, seed)]
    assert found
    for case in found:
        assert len(case.fleet.causes) == 2
        assert case.cause.since == max(one.since for one in case.fleet.causes)
        assert case.counted.failed[case.counted.at >= case.since].sum() >= 2


def test_an_observer_adds_up_every_way_in_which_a_cause_is_drawn() -> None:
    plan, rates = Plan(tests=1, runs=40, base_rate=0.01), (0.05, 0.2)
    case = next(iter(cases(plan, Kind.RACE, 0.2, 10)))
    last, chances = len(case.fleet.commits), defaultdict[str, float](float)
    for rate, since in product(rates, range(last)):
        for until in range(since + 1, last + 1):
            chance = (0.5 + 0.5 / (last - since)) if until == last else 0.5 / (last - since)
            for at, _, first_failed, retries, retries_failed in zip(*case.counted, strict=True):
                failing = 1 - 0.99 * (1 - rate * (since <= at < until))
                failed = first_failed + retries_failed
                passed = 1 + retries - failed
                chance *= failing**failed * (1 - failing) ** passed
            chances[case.fleet.commits[since].sha] += chance

    found = observed(case, rates)
    whole = sum(chances.values())
    assert len(found) > last - 4
    for each in found:
        assert isclose(each.chance, chances[each.commit.sha] / whole)


def test_a_box_named_by_eye_fails_more_than_all_others() -> None:
    bad = Cause(Kind.BAD_BOX, boxes=frozenset({"bench-2"}), odds=4)
    plan = Plan(runs=100, base_rate=0.05)
    assert by_eye(simulate(plan, [bad], 1)) == ["bench-2"]
    assert by_eye(simulate(plan, [], 1)) == []


def test_a_bad_board_of_a_box_is_named_and_boards_that_are_alike_are_not() -> None:
    bad = Cause(Kind.BAD_BOX, boxes=frozenset({"bench-2"}), odds=4)

    assert named(boards(simulate(FOUR_BOARDS, [bad], 1))) == ["bench-2"]
    assert named(boards(simulate(FOUR_BOARDS, [], 1))) == []


def test_only_runs_that_lost_their_board_count_as_lost() -> None:
    bug = Cause(Kind.BUG, frozenset({1, 2, 3, 4}), rate=1.0)
    assert lost_runs(simulate(Plan(lost=0.0), [bug], 1)) == set()
    assert len(lost_runs(simulate(Plan(lost=1.0), [bug], 1))) > 100


def test_a_real_bug_of_a_lost_board_is_told_from_one_of_a_commit() -> None:
    plan = Plan(runs=100)
    of_bugs = [row for seed in range(4) for row in real_bugs(fleet_of(plan, seed))]
    both = [row for seed in range(4) for row in real_bugs(fleet_of(replace(plan, lost=0.05), seed))]

    assert of_bugs
    assert not any(row.is_wrong or row.is_told for row in of_bugs)
    assert sum(row.is_wrong for row in both) > 10
    assert sum(row.is_told for row in both if row.is_wrong) > 10


def test_a_bisection_ends_on_the_commit_and_takes_fewer_runs_than_repeats_of_git() -> None:
    found = [Case(20, 1.0, seed) for seed in range(30)]
    ours, git = [bisected(one) for one in found], [bisected_by_git(one) for one in found]

    assert all(one.held for one in ours)
    assert sum(one.minutes for one in ours) < 0.8 * sum(one.minutes for one in git)


def test_a_bisection_is_right_where_repeats_of_git_are_not() -> None:
    found = [Case(8, 0.1, seed) for seed in range(30)]

    assert sum(bisected(one).held for one in found) >= 27
    assert sum(bisected_by_git(one).held for one in found) <= 15


def test_a_search_that_knows_the_rate_repeats_until_all_steps_are_right() -> None:
    assert repeats_that_suffice(Case(20, 1.0, 0)) == 1
    assert repeats_that_suffice(Case(2, 0.5, 0)) == 5
    assert repeats_that_suffice(Case(20, 0.05, 0)) == 90


def test_a_share_is_looked_at_by_parts_and_by_number() -> None:
    ours, by_number = look(simulate(replace(FLEET, runs=100, lost=0.1), [], 1))

    assert (ours.part, ours.total) == (by_number.part, by_number.total)
    assert 100 * FLEET.tests / FLEET.boxes / 2 < ours.total < 100 * FLEET.tests / 2
    widths = [high - low for low, high in filter(None, map(interval_of, (ours, by_number)))]
    assert widths[0] > 2 * widths[1]


def test_a_bug_on_a_pool_is_one_incident_and_its_commit_suspected() -> None:
    plan = replace(POOL, runs=60, tests=2)
    fleets = [simulate(plan, [planted(plan, Kind.BUG, 1.0, seed)], seed) for seed in range(10)]
    ours, alone = [*map(pooled, fleets)], [*map(box_by_box, fleets)]

    assert sum(one.incidents for one in ours) <= 1.2 * len(ours)
    assert sum(all(one.guilty) for one in ours) >= 9
    assert sum(one.incidents for one in alone) > 2 * len(ours)


def test_a_race_on_a_pool_is_no_more_incidents_than_box_by_box() -> None:
    plan = replace(POOL, runs=60, tests=2)
    fleets = [simulate(plan, [planted(plan, Kind.RACE, 0.2, seed)], seed) for seed in range(10)]

    assert all(pooled(one).incidents <= box_by_box(one).incidents for one in fleets)


def test_what_a_bug_broke_stands_above_all_that_is_flaky() -> None:
    fleets = [ranked(fleet_with_bands(seed)) for seed in range(40)]
    pairs = [pair for fleet in fleets for pair in fleet.pairs]
    flaky = bands_of(fleet.flaky for fleet in fleets)

    assert len(pairs) > 100
    assert sum(pairs) >= ABOVE_MIN * len(pairs)
    assert len(flaky) > 50
    assert flaky.count(Band.BROKEN) <= CALLED_MAX * len(flaky)


def test_a_sentence_that_names_a_box_that_is_not_planted_is_wrong() -> None:
    on_two = replace(BENCH, boxes=frozenset({"a", "b"}))
    one = Statement(
        claim=Claim.ONE_BOX,
        boxes=("a",),
        others=(),
        chance=0.9,
        failed=5,
        runs=9,
        others_failed=0,
        others_runs=9,
        since=None,
        lost_here=0,
    )
    group = replace(one, claim=Claim.GROUP, boxes=("a", "b"))
    steady, alike = replace(one, claim=Claim.STEADY), replace(one, claim=Claim.ALIKE)

    assert is_wrong(one, BENCH)
    assert is_wrong(one, on_two)
    assert not is_wrong(group, on_two)
    assert is_wrong(replace(group, boxes=("a", "c")), on_two)
    assert is_wrong(alike, on_two)
    assert not is_wrong(alike, replace(on_two, boxes=frozenset()))
    assert is_wrong(steady, on_two)
    assert not is_wrong(steady, replace(on_two, until=3))


def test_only_fleets_whose_board_hung_count_as_hung() -> None:
    hang = Cause(Kind.HANG, frozenset({0}), rate=1.0)
    plan = Plan(runs=20, base_rate=0.0)
    assert hung(simulate(plan, [hang], 1))
    assert not hung(simulate(plan, [replace(hang, rate=0.0)], 1))


def test_a_failure_is_whose_the_plan_says() -> None:
    rows = [row for seed in range(4) for row in rows_of(fleet_of_commit(PULLED, seed, breaks=True))]

    assert {frozenset({Whose.THIS_CHANGE}), frozenset({Whose.BASE})} <= {row.truth for row in rows}
    assert all(row.is_right or row.said.whose is Whose.TOO_FEW for row in rows)


def test_planted_bugs_of_a_change_are_never_excused() -> None:
    rows = [row for seed in range(9) for row in planted_bug(seed)]

    assert rows
    assert {row.said.whose for row in rows} <= {Whose.THIS_CHANGE, Whose.TOO_FEW}
