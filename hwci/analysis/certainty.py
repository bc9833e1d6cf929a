# SPDX-License-Identifier: Apache-2.0
"""How sure a rate is, and how many clean runs say that it is fixed.

This module decides intervals and numbers of runs from counts. It does not know what was counted.
Before any run each rate has the prior of Jeffreys, Beta(½, ½).
"""

from collections.abc import Callable, Sequence
from math import exp, lgamma, sqrt
from statistics import NormalDist
from typing import NamedTuple

from hwci.contract.shares import Share

SURE = 0.95
DEVIATIONS = NormalDist().inv_cdf((1 + SURE) / 2)
"""So many standard deviations to either side hold a value with this certainty."""
ATTEMPTS_NEEDED = 4
"""With fewer attempts no interval is shown. Even if all attempts end alike, it holds one half: of
three it reaches to 53.6 %, so it does not say whether the test fails more often than not. Of four
it ends below one half (44.5 %). It is the same for the intervals of shares
(`wilson`).
"""
RUNS_MAX = 10_000
"""A larger number of runs is not shown: nobody waits for so many."""
_HALF = 0.5


Interval = tuple[float, float]


class Tally(NamedTuple):
    """A part and its whole."""

    part: int
    total: int


def share(part: int, total: int, interval: Interval | None) -> Share:
    """Return a share as people see it: without its interval if it rests on too few cases."""
    low, high = interval if interval and total >= ATTEMPTS_NEEDED else (None, None)
    return Share(part=part, total=total, low=low, high=high)


def share_of_cases(part: int, total: int) -> Share | None:
    """Return a share of independent cases, with the interval of Wilson; None of nothing."""
    return share(part, total, wilson(part / total, total)) if total else None


def wilson(rate: float, number: float, deviations: float = DEVIATIONS) -> Interval:
    """Return Wilson's interval of a rate of so many independent cases. One of nothing begins at 0,
    one of all ends at 1.
    """
    squared = deviations**2 / number
    middle = rate + squared / 2
    half = deviations * sqrt(rate * (1 - rate) / number + squared / 4 / number)
    low, high = (middle - half) / (1 + squared), (middle + half) / (1 + squared)
    return (0.0 if rate == 0 else low), (1.0 if rate == 1 else high)


def rates(counts: Sequence[tuple[int, int]]) -> list[Share]:
    """Return the rate of each (failed, attempts), with the interval of Jeffreys. Of no attempts
    there is no rate.
    """
    return [share(*count, ends) for count, ends in zip(counts, jeffreys(counts), strict=True)]


def jeffreys(counts: Sequence[tuple[int, int]]) -> list[Interval]:
    """Return the interval of Jeffreys of each (failed, attempts), be they few. One of a rate that
    never failed begins at 0, one that always failed ends at 1.
    """
    import numpy as np
    from scipy.special import betaincinv

    failed, attempts = np.array(counts, dtype=float).reshape(-1, 2).T
    passed, tail = attempts - failed, (1 - SURE) / 2
    low = np.where(failed == 0, 0.0, betaincinv(failed + _HALF, passed + _HALF, tail))
    high = np.where(passed == 0, 1.0, betaincinv(failed + _HALF, passed + _HALF, 1 - tail))
    return [*zip(low.tolist(), high.tolist(), strict=True)]


def chance_of_passes(failed: int, passed: int, runs: int) -> float:
    """Return the chance that a test with these counts passes so many times in a row (the posterior
    predictive of its rate).
    """
    a, b = failed + _HALF, passed + _HALF
    return exp(log_beta(a, b + runs) - log_beta(a, b))


def log_beta(a: float, b: float) -> float:
    """Return the logarithm of the beta function."""
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def clean_runs_needed(failed: int, passed: int, still_flaky: float = _HALF) -> int | None:
    """Return how many runs must pass in a row until a test is fixed with 95 %; None: more than
    `RUNS_MAX`. `failed` and `passed`: its first attempts while it was flaky; `still_flaky`: the
    chance that it still is, before these runs.
    """
    if still_flaky <= 1 - SURE:
        return 0
    # Bayes: flaky and passed all the same, against fixed.
    enough = (1 - SURE) / SURE * (1 - still_flaky) / still_flaky
    return _least(lambda runs: chance_of_passes(failed, passed, runs) <= enough)


def _least(holds: Callable[[int], bool]) -> int | None:
    """Return the least number of runs that is enough. More than enough is enough, too."""
    if not holds(RUNS_MAX):
        return None
    low, high = 0, RUNS_MAX
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
