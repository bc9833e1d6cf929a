# SPDX-License-Identifier: Apache-2.0
"""How sure a share of results is: by hand, and beside what scipy has."""

from datetime import UTC, datetime, timedelta

import pytest
from scipy.special import stdtrit

from hwci.analysis.benches.by_parts import (
    _DEVIATIONS,
    PARTS,
    added,
    part_of,
    sure_shares,
    whole,
)
from hwci.analysis.certainty import Tally, wilson
from hwci.contract.shares import Share
from hwci.engine.periods import Period

START = datetime(2026, 1, 1, tzinfo=UTC)
WEEK = Period(START, START + timedelta(days=7))


def within(share: Share) -> tuple[float, float]:
    assert share.low is not None
    assert share.high is not None
    return share.low, share.high


def test_a_time_has_equal_parts_and_both_of_its_ends() -> None:
    days = [part_of(START + timedelta(days=day), WEEK) for day in range(8)]
    assert days == [0, 1, 2, 3, 4, 5, 6, 6]
    assert part_of(START + timedelta(days=1, microseconds=-1), WEEK) == 0
    assert part_of(START, Period(START, START)) == 0


def test_students_t_has_as_many_degrees_of_freedom_as_two_shares_may_have() -> None:
    assert len(_DEVIATIONS) == 2 * (PARTS - 1)
    assert [stdtrit(degrees, 0.975) for degrees in range(1, 13)] == pytest.approx(
        _DEVIATIONS, abs=0.0005
    )


def test_shares_that_are_the_same_in_each_part_are_as_sure_as_independent_results() -> None:
    [found] = sure_shares(dict.fromkeys(range(PARTS), Tally(3, 10)))
    low, high = wilson(0.3, 70, _DEVIATIONS[5])
    assert found == Share(part=21, total=70, low=low, high=high)


def test_what_failed_in_one_part_alone_is_as_unsure_as_one_case_in_two_parts() -> None:
    # Each result of a part ends alike, so each part is worth one result, and they differ as much as
    # two can: half of that is left.
    [found] = sure_shares({0: Tally(50, 50), 1: Tally(0, 50)})
    assert within(found) == pytest.approx(wilson(0.5, 1, _DEVIATIONS[0]))
    assert within(found)[1] - within(found)[0] > 0.99


def test_a_share_of_which_nothing_failed_is_as_unsure_as_the_one_beside_it() -> None:
    quiet = dict.fromkeys(range(4), Tally(0, 100))
    bursts = {**quiet, 2: Tally(40, 100)}

    alone, beside = within(sure_shares(quiet)[0]), within(sure_shares(quiet, bursts)[0])

    assert alone == wilson(0.0, 400, _DEVIATIONS[2])
    share, parts, freedom = 0.1, 8, 6
    scatter = 3 * (share * 100) ** 2 + (40 - share * 100) ** 2
    fewer = scatter * parts / freedom / (400 * share * (1 - share))
    assert beside == pytest.approx(wilson(0.0, 400 / fewer, _DEVIATIONS[5]))
    assert beside[1] > 10 * alone[1]


def test_without_two_parts_or_four_results_there_is_no_interval() -> None:
    for parts, (part, total) in (
        ({3: Tally(5, 80)}, (5, 80)),
        ({}, (0, 0)),
        ({0: Tally(1, 1), 1: Tally(0, 2)}, (1, 3)),
    ):
        assert sure_shares(parts) == [Share(part=part, total=total, low=None, high=None)]
    one_part, two_parts = sure_shares({0: Tally(5, 80)}, {0: Tally(5, 80), 1: Tally(5, 80)})
    assert within(one_part), "the other one tells how they scatter"
    assert within(two_parts)


def test_parts_of_several_add_up_each_by_itself() -> None:
    found = added([{0: Tally(1, 2), 3: Tally(0, 5)}, {3: Tally(2, 2)}])
    assert found == {0: Tally(1, 2), 3: Tally(2, 7)}
    assert whole(found) == Tally(3, 9)
