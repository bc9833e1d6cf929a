# SPDX-License-Identifier: Apache-2.0
"""The simulated benches: what is planted there is what happens there."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from hwci.contract.vocabulary import Outcome, Verdict
from hwci.engine.facts import Report
from tests.simulation.fleet import Cause, Kind, Plan, Runs, planted, simulate

RACE = frozenset({0})


def failing(reports: tuple[Report, ...], name: str = "test_000") -> Counter[bool]:
    """Count the items of a test by whether they failed."""
    return Counter(
        item.outcome is Outcome.FAIL for one in reports for item in one.tests if item.id == name
    )


def test_a_seed_gives_the_same_fleet_again_and_another_seed_another() -> None:
    plan = Plan(runs=40, base_rate=0.1, lost=0.1, unreached=0.1, unrun=0.1, branches=2)
    assert simulate(plan, (), 1) == simulate(plan, (), 1)
    assert simulate(plan, (), 1).facts != simulate(plan, (), 2).facts


def test_each_push_takes_as_many_boxes_as_are_drawn_for_it() -> None:
    plan = Plan(boxes=5, boxes_at_once=3, boxes_at_once_min=1)
    boxes = Counter(report.run_id for report in simulate(plan, (), 1).facts.reports)
    assert {*boxes.values()} == {1, 2, 3}


def test_a_bug_fails_every_attempt_from_its_commit_up_to_its_fix_and_no_other() -> None:
    plan = Plan(runs=100, base_rate=0.0)
    fleet = simulate(plan, [Cause(Kind.BUG, RACE, rate=1.0, since=10, until=20)], 1)
    numbers = {one.sha: number for number, one in enumerate(fleet.commits)}
    for report in fleet.facts.reports:
        assert (report.tests[0].outcome is Outcome.FAIL) == (10 <= numbers[report.sha] < 20)
        assert all(item.outcome is Outcome.PASS for item in report.tests[1:])
    assert fleet.kinds[10] == fleet.kinds[20] == "firmware"


def test_a_race_fails_at_its_rate() -> None:
    plan = Plan(runs=2000, tests=1, attempts=1, base_rate=0.0)
    reports = simulate(plan, [Cause(Kind.RACE, RACE, rate=0.2)], 1).facts.reports
    assert 0.17 < failing(reports)[True] / len(reports) < 0.23


def test_the_odds_of_a_bad_box_are_those_planted() -> None:
    bad = Cause(Kind.BAD_BOX, boxes=frozenset({"bench-2"}), odds=4.0)
    plan = Plan(runs=1000, tests=20, attempts=1, base_rate=0.05)
    odds = {}
    for reports in [simulate(plan, [bad], 1).facts.reports]:
        for box in plan.box_keys:
            here = Counter(
                item.outcome for one in reports if one.box_key == box for item in one.tests
            )
            odds[box] = here[Outcome.FAIL] / here[Outcome.PASS]
    assert 3.5 < odds["bench-2"] / odds["bench-1"] < 4.5
    assert 0.85 < odds["bench-3"] / odds["bench-1"] < 1.15


def test_a_bench_lost_midway_fails_all_tests_from_there_on() -> None:
    reports = simulate(Plan(runs=100, base_rate=0.0, lost=0.5), (), 3).facts.reports
    ends = [[item.outcome is Outcome.FAIL for item in one.tests] for one in reports]
    assert all(one == sorted(one) for one in ends)
    assert 30 < sum(one[-1] for one in ends) < 70
    verdicts = {item.verdict for one in reports for item in one.tests if item.outcome == "fail"}
    assert verdicts == {Verdict.INFRA}


def test_what_ci_forgets_is_missing_at_the_given_rates() -> None:
    plan = Plan(runs=1000, base_rate=1.0, attempts=1, verdicts=0.5, changes=0.5, unrun=0.2)
    fleet = simulate(plan, (), 4)
    items = [item for one in fleet.facts.reports for item in one.tests]
    unknown = sum(item.verdict is Verdict.UNKNOWN for item in items)
    assert 0.45 < unknown / len(items) < 0.55
    without = sum(one.changes is None for one in fleet.facts.reports)
    assert 0.4 < without / len(fleet.facts.reports) < 0.6
    assert 0.1 < len(fleet.unrun) / len(fleet.commits) < 0.3


def test_every_merge_is_covered_by_one_push_or_was_never_run() -> None:
    fleet = simulate(Plan(runs=200, unrun=0.2), (), 5)
    covered = {sha for one in fleet.facts.reports for sha in one.covers_shas}
    assert covered | fleet.unrun == {one.sha for one in fleet.commits}
    assert not covered & fleet.unrun


def test_changes_go_back_to_the_commit_that_ran_before() -> None:
    fleet = simulate(Plan(runs=100, unrun=0.3), (), 6)
    before = None
    for number in fleet.tested:
        sha = fleet.commits[number].sha
        report = next(one for one in fleet.facts.reports if one.sha == sha)
        assert report.changes is not None
        assert report.changes.base_sha == before
        assert report.changes.commits[-1].sha == sha
        before = sha


def test_a_branch_has_the_causes_of_the_commit_that_it_was_forked_from() -> None:
    plan = Plan(runs=100, tests=1, base_rate=0.0, branches=20)
    half = plan.pushes
    fleet = simulate(plan, [Cause(Kind.BUG, RACE, rate=1.0, since=half)], 7)
    numbers = {one.sha: number for number, one in enumerate(fleet.commits)}
    forked = [one for one in fleet.facts.reports if one.branch != "main"]
    assert len({one.branch for one in forked}) == 20
    for one in forked:
        assert one.changes is not None
        fork = numbers[one.changes.base_sha or ""]
        assert (one.tests[0].outcome is Outcome.FAIL) == (fork >= half)


def test_a_renamed_test_has_one_name_after_the_other() -> None:
    reports = simulate(Plan(runs=100, renamed=1), (), 8).facts.reports
    names = [one.tests[0].id for one in reports]
    assert names == sorted(names)
    assert set(names) == {"test_000", "test_000_renamed"}


def test_planted_causes_begin_anywhere_and_are_fixed_half_of_the_time() -> None:
    plan = Plan()
    causes = [planted(plan, Kind.RACE, 0.05, seed) for seed in range(200)]
    early = sum(one.since < plan.pushes for one in causes)
    assert 70 < early < 130
    assert 70 < sum(one.until is None for one in causes) < 130
    assert all(one.until is None or one.since < one.until for one in causes)


def test_a_push_runs_on_as_many_boxes_as_the_plan_says() -> None:
    drawn = _boxes(Plan(boxes=5, boxes_at_once=3, boxes_at_once_min=1))
    assert {len(boxes) for boxes in drawn} == {1, 2, 3}
    assert {len(boxes) for boxes in _boxes(Plan(boxes=5, boxes_at_once=3))} == {3}


def test_a_spare_runs_where_another_failed_and_a_box_behind_a_gate_where_it_passed() -> None:
    plan = Plan(boxes=2, attempts=1, base_rate=0.02)
    for order, runs_both in ((Runs.SPARE, "failure"), (Runs.GATE, "success")):
        ended: dict[str, list[str]] = defaultdict(list)
        for report in simulate(replace(plan, order=order), [], 1).facts.reports:
            ended[report.sha].append(report.conclusion)
        assert {len(runs) for runs in ended.values()} == {1, 2}
        for first, *others in ended.values():
            assert bool(others) is (first == runs_both)


def test_a_box_that_leaves_runs_nothing_from_that_commit_on() -> None:
    fleet = simulate(Plan(leaves=("bench-2", 40)), [], 1)
    number = {commit.sha: at for at, commit in enumerate(fleet.commits)}
    ran = [number[one.sha] for one in fleet.facts.reports if one.box_key == "bench-2"]
    assert 0 < max(ran) < 40 < max(fleet.tested)


def test_a_test_that_hangs_the_board_fails_with_all_behind_it() -> None:
    hang = Cause(Kind.HANG, frozenset({5}), rate=1.0)
    for report in simulate(Plan(tests=8, base_rate=0.0), [hang], 1).facts.reports:
        assert [one.outcome is Outcome.FAIL for one in report.tests] == [False] * 5 + [True] * 3


def _boxes(plan: Plan) -> Sequence[Sequence[str]]:
    boxes: dict[str, list[str]] = defaultdict(list)
    for report in simulate(plan, [], 1).facts.reports:
        boxes[report.sha].append(report.box_key)
    return [*boxes.values()]
