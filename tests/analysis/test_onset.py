# SPDX-License-Identifier: Apache-2.0
"""Since which commit a test is flaky, against the sum over every way that it could have been."""

from collections import defaultdict
from itertools import product
from math import isclose
from random import Random

import numpy as np
import pytest
from scipy.special import beta

from hwci.analysis.flaky.onset import (
    APART,
    FLAKY_RATES,
    STEADY_RATES,
    Onset,
    Rates,
    Step,
    onset,
    onsets,
    rates_beside,
)
from hwci.analysis.outcomes import FirstAttempts
from tests.support.soak import rounds

STEADY = Step(20, 0)


def enumerated(steps: list[Step], pairs: list[tuple[float, float, float]]) -> Onset:
    """Add up every way in which a test may be steady or flaky, for every pair of rates."""
    change = 1 / (sum(one.commits for one in steps) + 1)
    again = change / 10
    retries = sum(one.retries for one in steps)
    failed = sum(one.retries_failed for one in steps)
    chances: dict[object, float] = defaultdict(float)
    for (*pair, like), apart in product(pairs, (False, True)):
        for states in product((0, 1), repeat=len(steps)):
            weight = 0.5 * like
            last: str | int = "before" if states[0] else "never"
            for at, step in enumerate(steps):
                is_again = at and not states[at - 1] and 1 in states[:at]
                stays = (1 - (again if is_again else change)) ** step.commits
                rate = pair[states[at]]
                tries = step.first + (0 if apart else step.retries)
                fails = step.first_failed + (0 if apart else step.retries_failed)
                weight *= rate**fails * (1 - rate) ** (tries - fails)
                if at:
                    weight *= stays if states[at] == states[at - 1] else 1 - stays
                    last = at if states[at - 1 : at + 1] == (0, 1) else last
            weight *= beta(failed + 1, retries - failed + 1) if apart else 1
            chances[last] += weight
            chances["still"] += weight * states[-1]
    whole = sum(weight for last, weight in chances.items() if last != "still")
    at_each = [chances[at] / whole for at in range(len(steps))]
    return Onset(at_each, *(chances[one] / whole for one in ("before", "never", "still")))


def drawn(random: Random) -> list[Step]:
    steps = []
    for _ in range(random.randint(1, 5)):
        first = random.randint(0, 6)
        failed = random.randint(0, first) if random.random() < 0.5 else 0
        retries = random.randint(0, failed)
        steps.append(Step(first, failed, retries, random.randint(0, retries), random.randint(1, 4)))
    return steps


@pytest.mark.parametrize("seed", range(rounds(3, 100)))
def test_the_chances_are_those_of_enumerating_every_way(seed: int) -> None:
    random = Random(seed)
    steps = drawn(random)
    pairs = [(low, high) for low in STEADY_RATES for high in FLAKY_RATES if high >= APART * low]
    few = [(*pair, random.random()) for pair in random.sample(pairs, 5)]
    found = onset(steps, Rates(*np.array(few).T))
    expected = enumerated(steps, few)
    for field in ("before", "never", "still_flaky"):
        assert isclose(getattr(found, field), getattr(expected, field), abs_tol=1e-12), field
    assert np.allclose(found.at, expected.at, atol=1e-12)


@pytest.mark.parametrize("seed", range(rounds(3, 100)))
def test_tests_that_are_weighed_together_have_the_answers_that_they_have_alone(seed: int) -> None:
    random = Random(seed)
    tests = [
        (drawn(random), rates_beside({FirstAttempts(random.randint(0, 9), 100): 5}))
        for _ in range(11)
    ]
    assert [*onsets(tests)] == [onset(*test) for test in tests]


def test_the_chances_add_up_to_one() -> None:
    found = onset([STEADY, Step(10, 3, 3, 0), STEADY, Step(10, 2, 2, 1), STEADY])
    assert isclose(sum(found.at) + found.before + found.never, 1)


def test_a_test_is_flaky_since_the_commit_from_which_on_it_fails() -> None:
    found = onset([STEADY] * 10 + [Step(20, 4)] * 10)
    assert max(range(20), key=found.at.__getitem__) == 10
    assert found.at[10] > 0.9
    assert found.still_flaky > 0.99


def test_the_last_of_several_times_counts() -> None:
    flaky, steady = [Step(20, 6)] * 5, [STEADY] * 10
    found = onset([*steady, *flaky, *steady, *flaky])
    assert max(range(30), key=found.at.__getitem__) == 25


def test_one_that_was_flaky_from_the_first_run_on_was_so_before() -> None:
    assert onset([Step(20, 4)] * 10).before > 0.9


def test_one_that_passes_again_is_flaky_no_longer() -> None:
    found = onset([STEADY] * 10 + [Step(20, 5)] * 5 + [STEADY] * 10)
    assert found.still_flaky < 0.01
    assert found.at[10] > 0.9


def test_retries_that_always_fail_do_not_move_the_onset() -> None:
    # One broken run of a thousand retries would look like a flaky commit if they were first tries.
    steps = [STEADY] * 5 + [Step(20, 1, 1000, 1000)] + [STEADY] * 5
    plain = onset([STEADY] * 5 + [Step(20, 1)] + [STEADY] * 5)
    assert isclose(onset(steps).at[5], plain.at[5], rel_tol=1e-6)


def test_commits_that_nothing_ran_make_a_step_as_much_likelier() -> None:
    # Whether it began at this step or the next cannot be told; ten commits are in one of them.
    found = onset([STEADY] * 5 + [Step(0, 0, commits=10), Step(20, 5)] + [Step(20, 5)] * 4)
    assert 10 <= found.at[5] / found.at[6] < 15


def steady_chances(rates: Rates) -> dict[float, float]:
    """Return how likely each steady rate is, whatever the flaky one."""
    of_rate = dict(zip(map(float, rates.steady), map(float, rates.chance), strict=True))
    return {rate: chance / sum(of_rate.values()) for rate, chance in of_rate.items()}


@pytest.mark.parametrize("seed", range(rounds(3, 100)))
def test_a_steady_rate_is_as_likely_as_other_tests_have_it(seed: int) -> None:
    random = Random(seed)
    others = [FirstAttempts(random.choice([0, 0, 0, 1, 2, 30]), 200) for _ in range(12)]
    grid = [*STEADY_RATES, *(one for one in FLAKY_RATES if one > STEADY_RATES[-1])]
    tests = [1.0] * len(grid)
    for _ in range(50):
        found = [1.0] * len(grid)
        for failed, runs in others:
            here = [
                many * rate**failed * (1 - rate) ** (runs - failed)
                for many, rate in zip(tests, grid, strict=True)
            ]
            found = [one + part / sum(here) for one, part in zip(found, here, strict=True)]
        tests = found
    steady = tests[: len(STEADY_RATES)]

    chances = steady_chances(rates_beside({one: others.count(one) for one in others}))

    for chance, many in zip(chances.values(), steady, strict=True):
        assert isclose(chance, many / sum(steady))


def test_with_no_other_test_each_steady_rate_is_as_likely() -> None:
    assert set(steady_chances(rates_beside({})).values()) == {1 / len(STEADY_RATES)}


def test_tests_that_a_bug_broke_do_not_make_the_others_less_steady() -> None:
    quiet = {FirstAttempts(0, 2000): 30}
    chances = steady_chances(rates_beside({**quiet, FirstAttempts(700, 2000): 10}))
    for rate, chance in steady_chances(rates_beside(quiet)).items():
        assert isclose(chances[rate], chance, abs_tol=0.001)


def test_one_early_failure_is_noise_where_other_tests_have_as_many() -> None:
    steps = [STEADY] * 5 + [Step(20, 1)] + [STEADY] * 9 + [Step(20, 3)] * 5
    steady, noisy = (
        onset(steps, rates_beside({FirstAttempts(failed, 400): 50})) for failed in (0, 4)
    )
    assert steady.at[5] > 3 * noisy.at[5]
