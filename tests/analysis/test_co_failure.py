# SPDX-License-Identifier: Apache-2.0
"""Which tests fail together: by small pictures, against scipy, and on simulated benches."""

import random
from dataclasses import replace

import pytest
from scipy.stats import hypergeom

from hwci.analysis.failures.co_failure import _chance
from hwci.analysis.failures.incidents import Incident, incidents
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Facts, Report
from hwci.engine.history import OutOfTimeError, Scope
from tests.analysis.stories import COMMITS, runs
from tests.engine.timeline import ALL, EVER, ORG, Past, changes, commit
from tests.simulation.fleet import Cause, Kind, Plan, simulate
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

FLEET = Plan(boxes=3, boxes_at_once=3, tests=20, runs=300, attempts=1, changes=0.0, base_rate=0.02)
AGAIN = Cause(Kind.OUTAGE, frozenset({3, 7, 9}), frozenset({"bench-2"}), rate=0.15)


def found(*reports: Report) -> list[Incident]:
    return incidents(FullRecordedRuns(ORG, Past(list(reports)).facts), ALL, EVER)


def summary(*reports: Report) -> list[tuple[list[str], int]]:
    """The tests of each incident, and on how many commits it began."""
    return sorted(([*one.tests], one.times) for one in found(*reports))


def test_tests_that_fail_together_again_and_again_are_one_incident() -> None:
    [one] = found(*runs(i2c={5, 15, 25, 35}, spi={5, 15, 25, 35}, adc=set()))
    commits = {failed.key.sha for failed in one.failed}

    assert (one.tests, one.times, len(commits), len(one.failed)) == (["i2c", "spi"], 4, 4, 8)
    assert (one.label, one.fix, one.suspects) == (Label.RESOLVED, None, None)


def test_what_failed_beside_them_once_or_alone_is_an_incident_of_its_own() -> None:
    together = {5, 15, 25, 35}
    assert summary(*runs(i2c=together, spi=together, adc={15}, uart={20})) == [
        (["adc"], 1),
        (["i2c", "spi"], 4),
        (["uart"], 1),
    ]


def test_a_failure_of_one_of_them_alone_is_an_incident_of_its_own() -> None:
    assert summary(*runs(i2c={5, 15, 25, 35, 10}, spi={5, 15, 25, 35})) == [
        (["i2c"], 1),
        (["i2c", "spi"], 4),
    ]


def test_those_that_still_fail_are_apart_from_those_that_pass_again() -> None:
    last = COMMITS - 1
    both = {5, 15, 25, last}
    assert summary(*runs(i2c=both, spi=both)) == [(["i2c", "spi"], 1), (["i2c", "spi"], 3)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({5, 15}, {5, 15}),  # twice
        ({5, 6, 7, 8, 10, 12}, {5, 6, 7, 8, 10, 12}),  # one of ten ways within eight commits
        ({5, 10, 15, 20, 25, 30, 35}, {5, 12, 15, 22, 25, 32, 35}),  # mostly apart
        (set(range(5, 30)), set(range(5, 30))),  # long, but once
        ({5, 6, 7, 25, 26, 27}, {5, 6, 7, 25, 26, 27, 28}),  # long, but twice
    ],
)
def test_failures_that_may_be_chance_stay_separate(one: set[int], other: set[int]) -> None:
    rows = found(*runs(i2c=one, spi=other))
    assert max(row.times for row in rows) == 1


def test_failures_whose_commits_are_known_are_left_as_they_are() -> None:
    def known(one: Report, number: int) -> Report:
        sent = changes(f"c{number - 1:02}", commit(one.sha, "fw"))
        return replace(one, changes=sent if number else None)

    both = {5, 15, 25, 35}
    rows = found(*(known(one, n) for n, one in enumerate(runs(i2c=both, spi=both))))
    assert [(row.times, len(row.failed)) for row in rows] == [(1, 2)] * 4


def test_commits_that_only_one_of_them_ran_say_nothing() -> None:
    history = [
        replace(one, box_key="box-2", tests=one.tests[1:]) if n % 2 else one
        for n, one in enumerate(runs(i2c={4, 14, 24, 34}, spi={5, 15, 25, 35}))
    ]
    assert {row.times for row in found(*history)} == {1}


def test_the_chance_is_the_hypergeometric_one_of_scipy() -> None:
    draw = random.Random(1)
    for _ in range(200):
        commits = draw.randint(2, 400)
        here, there = draw.randint(1, commits), draw.randint(1, commits)
        common = draw.randint(max(0, here + there - commits), min(here, there))
        exact = hypergeom(commits, here, there).sf(common - 1)
        assert _chance(commits, here, there, common) == pytest.approx(exact, rel=1e-6)


def again(facts: Facts) -> list[Incident]:
    rows = incidents(FullRecordedRuns(ORG, facts), Scope(), EVER)
    return [row for row in rows if row.times > 1]


def test_few_clean_fleets_have_failures_that_are_taken_for_one() -> None:
    races = [Cause(Kind.RACE, frozenset({test}), rate=0.3) for test in range(5)]
    fleets = [simulate(FLEET, races, seed).facts for seed in range(rounds(4, 200))]
    assert sum(bool(again(one)) for one in fleets) <= 0.05 * len(fleets)


def test_tests_that_an_outage_strikes_together_are_one_incident() -> None:
    hits = 0
    for seed in range(rounds(4, 100)):
        hits += any(
            (row.tests, row.boxes) == (["test_003", "test_007", "test_009"], ["bench-2"])
            for row in again(simulate(replace(FLEET, base_rate=0.0), [AGAIN], seed).facts)
        )
    assert hits >= 0.9 * rounds(4, 100)


def test_it_stops_when_the_time_is_over() -> None:
    left = 50

    def less() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise OutOfTimeError

    facts = Facts(reports=tuple(runs(i2c={5, 15, 25, 35}, spi={5, 15, 25, 35})))
    history = FullRecordedRuns(ORG, facts, less)
    with pytest.raises(OutOfTimeError):
        [*(incidents(history, ALL, EVER) for _ in range(50))]
