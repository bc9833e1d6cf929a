# SPDX-License-Identifier: Apache-2.0
"""The band of an incident that still fails: whether its tests are broken, probably flaky, or the
bench is to blame (semantics, 17).

This module decides the band from a few counts, so that it costs little for each of many incidents.
It does not know since which commit a test fails, nor on which boxes.
"""

from collections.abc import Collection, Mapping
from math import exp, log
from typing import NamedTuple

from hwci.analysis.outcomes import FirstAttempts
from hwci.contract.vocabulary import Band, Verdict

BREAKS = 1 / 1000
"""The chance that a run is the first after a change that broke its test, before anything is known:
few of a thousand changes break a test, and most of these one of many.
"""
BREAKS_ALSO = 1 / 10
"""The chance that what broke a test broke another of its incident, too. Flaky tests that fail in
one run are one incident, so without it any three of them that once fail together would be broken.
"""
BROKEN_MIN = 1 / 2
"""From this chance on it is called broken."""
_NONE = FirstAttempts(0, 0)
_EXPONENT_MAX = 700.0


class Counts(NamedTuple):
    """What an incident rests on. `verdicts`: of the harness, of each commit on which something of
    it failed. `is_lost`: all of its runs had lost their board. `failed`: by test, the runs of it
    that failed, on all boxes, but for those that tell nothing of the firmware. `tried`: by test,
    all runs of the period that do.
    """

    verdicts: Collection[Verdict]
    is_lost: bool
    failed: Mapping[str, int]
    tried: Mapping[str, FirstAttempts]


def band_of(counts: Counts) -> Band:
    """Return the band of an incident."""
    if {*counts.verdicts} == {Verdict.INFRA} or counts.is_lost:
        return Band.BENCH
    is_broken = _never_passed(counts) or chance_of_broken(counts) >= BROKEN_MIN
    return Band.BROKEN if is_broken else Band.FLAKY


def _never_passed(counts: Counts) -> bool:
    """Whether no run tells that one of the tests may pass at its first attempt."""
    tried = [counts.tried.get(test, _NONE) for test in counts.failed]
    return bool(tried) and all(of_test.failed == of_test.runs for of_test in tried)


def chance_of_broken(counts: Counts) -> float:
    """Return the chance that a change broke the tests, against that all are flaky and failed in all
    of these runs by chance, each at the rate of its other runs.
    """
    # Of many tests and runs either is less than a float can hold, and its logarithm is not.
    breaks = log(BREAKS) + max(0, len(counts.failed) - 1) * log(BREAKS_ALSO)
    by_chance = sum(
        failed * log(_rate(counts.tried.get(test, _NONE), failed))
        for test, failed in counts.failed.items()
    )
    return 1 / (1 + exp(min(by_chance - breaks, _EXPONENT_MAX)))


def _rate(tried: FirstAttempts, failed: int) -> float:
    """Return how often a test fails in its runs but for those of the incident. Some of these may
    lie before the period.
    """
    others = max(0, tried.failed - failed)
    runs = max(others, tried.runs - failed)
    return (others + 1 / 2) / (runs + 1)
