# SPDX-License-Identifier: Apache-2.0
"""Runs that exist because another passed or failed: found where they are, and seldom where boxes
run by chance.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from statistics import mean
from typing import Any

import pytest

from hwci.analysis.benches.blame import Blamed
from hwci.analysis.benches.presence import COMMITS_MIN, Ended, Follows, Order, orders
from hwci.analysis.benches.trials import Stratum, Trial, Trials
from hwci.contract.boxes.benches import Note
from hwci.engine.facts import Facts, Report
from tests.simulation.calibration.page import recorded
from tests.simulation.calibration.statements import accused_by_all_runs
from tests.simulation.fleet import EPOCH, Cause, Kind, Plan, Runs, Simulated, simulate
from tests.support.soak import rounds

A, B, C = "bench-1", "bench-2", "bench-3"
RACE = Cause(Kind.RACE, frozenset({0}), rate=0.2)
FLEET = Plan(runs=200, attempts=1, base_rate=0.01)


def trials(fleet: Simulated, notes: Mapping[str, Note] | None = None) -> Trials:
    history, runs = recorded(fleet)
    noted = {box: note.at for box, note in (notes or {}).items()}
    return Trials(runs, history.check_time, noted)


Commits = Sequence[Collection[tuple[str, bool]]]
"""The boxes that ran each commit, each with whether it failed there."""


def times(**of: int) -> Commits:
    """Return commits of which so many ended so. `A_b`: box a ran it and failed, b ran it and
    passed.
    """
    return [
        [(name.lower(), name.isupper()) for name in ended.split("_")]
        for ended, number in of.items()
        for _ in range(number)
    ]


def ended(commits: Commits) -> Mapping[str, Ended]:
    """Return how these commits ended on each box."""
    bits: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for at, commit in enumerate(commits):
        for box, failed in commit:
            bits[box][not failed] |= 1 << at
    return {box: Ended(*of_box) for box, of_box in bits.items()}


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        (times(A_b=10, a=40), {Order("b", "a", Follows.FAILED)}),
        (times(A=10, a_b=40), {Order("b", "a", Follows.PASSED)}),
        (times(A_b=10, a_b=40), set()),
        (times(A=10, a=40, B=9, b=30), set()),
        (times(A_b=3, a=4), set()),
        (times(A_b=30), set()),
        (times(a_b=30), set()),
        (times(), set()),
    ],
    ids=["spare", "gate", "together", "apart", "too few", "all failed", "none", "nothing"],
)
def test_a_box_that_runs_where_another_failed_or_passed_waits_for_it(
    commits: Commits, expected: set[Order]
) -> None:
    assert {*orders(ended(commits))} == expected


def test_no_box_is_left_out_that_could_show_that_another_waits() -> None:
    for failed in range(COMMITS_MIN):
        passed = COMMITS_MIN - 1 - failed
        assert not orders(ended(times(A_b=failed, a=passed)))
        assert not orders(ended(times(A=failed, a_b=passed)))


@pytest.mark.parametrize("boxes", [2, 3])
def test_a_spare_is_found(boxes: int) -> None:
    plan = replace(FLEET, boxes=boxes, order=Runs.SPARE)
    found = trials(simulate(plan, [RACE], 1)).orders

    spare = plan.box_keys[-1]
    assert found
    assert {(order.box, order.follows) for order in found} == {(spare, Follows.FAILED)}


@pytest.mark.parametrize("boxes", [2, 3])
def test_a_gate_is_found(boxes: int) -> None:
    plan = replace(FLEET, boxes=boxes, order=Runs.GATE)
    found = trials(simulate(plan, [RACE], 1)).orders

    assert {*found} == {Order(box, A, Follows.PASSED) for box in plan.box_keys[1:]}


def test_boxes_that_a_matrix_stops_at_the_first_failure_wait_for_those_before() -> None:
    together = simulate(replace(FLEET, boxes=3), [RACE], 1)
    stopped, failed = [], set[str]()
    for report in sorted(together.facts.reports, key=lambda report: report.started_at):
        if report.sha not in failed:
            stopped.append(report)
            if report.conclusion == "failure":
                failed.add(report.sha)
    found = trials(replace(together, facts=replace(together.facts, reports=tuple(stopped))))

    assert {*found.orders} >= {Order(B, A, Follows.PASSED), Order(C, B, Follows.PASSED)}
    blame = found.blame_of(0)
    assert blame is None or not blame.boxes


@pytest.mark.parametrize(
    "plan",
    [
        replace(FLEET, boxes_at_once=3, boxes_at_once_min=1),
        replace(FLEET, boxes_at_once=1),
        FLEET,
        replace(FLEET, boxes=12, boxes_at_once=4, runs=400),
    ],
    ids=["1 to 3 of five", "1 of five", "all of five", "4 of twelve"],
)
def test_boxes_that_run_by_chance_hardly_ever_seem_to_wait(plan: Plan) -> None:
    count = rounds(20, 100)
    waiting = [bool(trials(simulate(plan, [RACE], seed)).orders) for seed in range(count)]

    assert mean(waiting) <= 0.1


def strata(of: Trials) -> dict[Stratum, list[Trial]]:
    """Return the runs by stratum, without their places in the list of all."""
    return {
        stratum: [trial._replace(number=0) for trial in runs]
        for stratum, runs in of.by_stratum.items()
    }


@pytest.mark.parametrize("told", [{"run_attempt": 2}, {"run_id": 9_999, "rerun_of": 1}])
def test_a_run_of_which_ci_tells_that_it_is_a_rerun_tells_nothing_of_a_box(
    told: Mapping[str, Any],
) -> None:
    fleet = simulate(replace(FLEET, boxes=2), [RACE], 1)
    reruns = [
        replace(report, **told, started_at=report.ended_at, box_key=C)
        for report in fleet.facts.reports
        if report.conclusion == "failure"
    ]
    facts = replace(fleet.facts, reports=(*fleet.facts.reports, *reruns))
    plain, with_reruns = trials(fleet), trials(replace(fleet, facts=facts))

    assert reruns
    assert strata(with_reruns) == strata(plain)
    assert with_reruns.blame_of(0) == plain.blame_of(0)


@pytest.mark.parametrize("order", [Runs.SPARE, Runs.GATE])
def test_a_box_that_waits_is_not_accused_where_all_are_alike(order: Runs) -> None:
    fleets = [simulate(replace(FLEET, boxes=2, order=order), [RACE], seed) for seed in range(10)]
    found = [trials(fleet).blame_of(0) for fleet in fleets]

    assert not any(blame and blame.boxes for blame in found)
    assert sum(map(accused_by_all_runs, fleets)) >= 7


def test_boxes_that_wait_for_the_same_are_compared_with_each_other() -> None:
    bench = Cause(Kind.BOX_TEST, frozenset({0}), frozenset({C}), rate=0.4)
    plan = replace(FLEET, boxes=4, order=Runs.GATE, runs=400)
    found = trials(simulate(plan, [bench], 1)).blame_of(0)

    assert found is not None
    assert (found.blamed, found.boxes) == (Blamed.ONE, (C,))
    assert A not in found.compared


def test_which_boxes_explain_a_test_is_weighed_once_for_all_that_ask() -> None:
    bench = Cause(Kind.BOX_TEST, frozenset({0}), frozenset({C}), rate=0.4)
    found = trials(simulate(FLEET, [bench], 1))

    assert found.blame_of(0) is not None
    assert found.blame_of(0) is found.blame_of(0)


def test_a_note_parts_a_box_for_what_it_waits_for_too() -> None:
    bench = Cause(Kind.BOX_TEST, frozenset({0}), frozenset({B}), rate=0.4)
    fleet = simulate(replace(FLEET, boxes=3), [bench], 1)
    half = sorted(report.started_at for report in fleet.facts.reports)[100]
    found = trials(fleet, {B: Note(at=half, text="new cable")}).blame_of(0)

    assert found is not None
    assert found.boxes == (B,)
    assert found.counts.runs < 60


def _alone(fleet: Simulated) -> Facts:
    """Return the facts in which no two boxes run the same commit."""
    by_commit: dict[str, list[Report]] = defaultdict(list)
    for report in fleet.facts.reports:
        by_commit[report.sha].append(report)
    alone = (reports[at % len(reports)] for at, reports in enumerate(by_commit.values()))
    return replace(fleet.facts, reports=tuple(alone))


@pytest.mark.parametrize(
    "fleet",
    [
        simulate(replace(FLEET, boxes=1), [RACE], 1),
        simulate(replace(FLEET, boxes=1, runs=1), [RACE], 1),
        simulate(replace(FLEET, unreached=1.0), [RACE], 1),
        simulate(replace(FLEET, base_rate=0.0), [], 1),
        simulate(replace(FLEET, base_rate=1.0), [], 1),
    ],
    ids=["one box", "one run", "all lost", "none failed", "all failed"],
)
def test_runs_that_tell_nothing_name_no_culprit(fleet: Simulated) -> None:
    found = trials(fleet)

    assert found.blame_of(0) is None
    assert not found.orders


def test_boxes_that_never_share_a_commit_are_not_compared() -> None:
    fleet = simulate(FLEET, [RACE], 1)
    found = trials(replace(fleet, facts=_alone(fleet)))

    assert len({run.box_key for run in found.found.runs}) > 1
    assert found.blame_of(0) is None


def test_large_fleets_are_looked_at_within_a_second() -> None:
    random = Random(1)
    wide = [[(f"box-{number}", number % 2 == 0) for number in range(10_000)]]
    many = [
        [(f"box-{random.randrange(400)}", random.random() < 0.2) for _ in range(5)]
        for _ in range(10_000)
    ]
    for commits in (wide, many):
        on_boxes = ended(commits)
        start = time.process_time()
        orders(on_boxes)
        assert time.process_time() - start < 1


def test_the_day_of_a_run_does_not_say_that_it_waits() -> None:
    fleet = simulate(FLEET, [RACE], 1)
    later = [
        replace(report, started_at=EPOCH + 2 * (report.started_at - EPOCH))
        for report in fleet.facts.reports
    ]
    facts = replace(fleet.facts, reports=tuple(later))

    assert trials(replace(fleet, facts=facts)).orders == trials(fleet).orders
