# SPDX-License-Identifier: Apache-2.0
"""Intervals of rates, and how many clean runs say that a test is fixed, against scipy."""

from math import isclose, prod

import pytest
from scipy.stats import beta, binomtest

from hwci.analysis.certainty import (
    ATTEMPTS_NEEDED,
    RUNS_MAX,
    chance_of_passes,
    clean_runs_needed,
    jeffreys,
    rates,
    share_of_cases,
    wilson,
)
from hwci.contract.shares import Share


@pytest.mark.parametrize("counts", [(1, 20), (3, 7), (50, 1000), (999, 1000)])
def test_an_interval_leaves_a_fortieth_on_either_side_and_is_near_that_of_wilson(
    counts: tuple[int, int],
) -> None:
    [(low, high)] = jeffreys([counts])
    failed, attempts = counts
    posterior = beta(failed + 0.5, attempts - failed + 0.5)
    assert isclose(posterior.cdf(low), 0.025)
    assert isclose(posterior.sf(high), 0.025)
    by_wilson = binomtest(failed, attempts).proportion_ci(method="wilson")
    assert abs(low - by_wilson.low) < 0.05
    assert abs(high - by_wilson.high) < 0.05


def test_none_failing_begins_at_0_and_all_failing_ends_at_1() -> None:
    none, all_of_them = jeffreys([(0, 10), (10, 10)])
    assert none[0] == 0.0
    assert 0.1 < none[1] < 0.3
    assert all_of_them[1] == 1.0
    assert isclose(all_of_them[0], 1 - none[1])


def test_an_interval_is_told_from_the_first_number_of_attempts_that_can_exclude_one_half() -> None:
    """Whatever fewer attempts give, both kinds of intervals hold one half."""
    for attempts in range(1, 12):
        counts = [(failed, attempts) for failed in range(attempts + 1)]
        wilsons = [wilson(failed / attempts, attempts) for failed, _ in counts]
        for intervals, shares in (
            (jeffreys(counts), rates(counts)),
            (wilsons, [share_of_cases(*count) for count in counts]),
        ):
            excludes = any(not low <= 0.5 <= high for low, high in intervals)
            assert excludes == (attempts >= ATTEMPTS_NEEDED)
            shown = intervals if excludes else [(None, None)] * len(counts)
            assert [share and (share.low, share.high) for share in shares] == shown


def test_no_tests_have_no_rate() -> None:
    assert rates([]) == []


def test_a_rate_has_its_counts() -> None:
    [found] = rates([(1, 4)])
    assert isinstance(found, Share)
    assert (found.part, found.total) == (1, 4)


def test_passes_in_a_row_are_as_likely_as_one_after_the_other() -> None:
    # After each pass the next is likelier: the mean of Beta(a, b + n) failing.
    one_by_one = prod(1 - 2.5 / (2.5 + 18.5 + passes) for passes in range(30))
    assert isclose(chance_of_passes(2, 18, 30), one_by_one)


def test_clean_runs_needed_are_the_fewest_that_are_enough() -> None:
    needed = clean_runs_needed(5, 95)
    assert needed is not None

    def fixed(runs: int) -> float:
        return 0.5 / (0.5 + 0.5 * chance_of_passes(5, 95, runs))

    assert fixed(needed) >= 0.95 > fixed(needed - 1)


def test_clean_runs_are_more_for_what_fails_less_and_for_what_is_hardly_fixed() -> None:
    needed = [clean_runs_needed(*counts) or 0 for counts in [(50, 50), (20, 80), (5, 95), (2, 98)]]
    assert needed == sorted(set(needed))
    assert (clean_runs_needed(5, 95, still_flaky=0.9) or 0) > (clean_runs_needed(5, 95) or 0)
    assert clean_runs_needed(5, 95, still_flaky=0.04) == 0


def test_a_very_large_number_of_runs_is_not_shown() -> None:
    assert clean_runs_needed(0, 10 * RUNS_MAX) is None
    assert clean_runs_needed(5, 95, still_flaky=1.0) is None
