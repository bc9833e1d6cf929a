# SPDX-License-Identifier: Apache-2.0
"""How a test fared before a change, on boxes that are alike: how often its first attempt failed,
and whether it was broken when the change began.

A test that is broken for a time fails in each run; one that is flaky does so in a row only by
chance. A row of failures is put down to a bug where that is likelier, and counts for no rate: else
a bug that was fixed would make a test look flaky, and a new bug of it would be excused.
"""

from collections.abc import Sequence
from itertools import chain, groupby
from typing import NamedTuple

from hwci.analysis.outcomes import RunOutcomes
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Outcome

BREAKS = 0.01
"""Before any run, a change breaks a test as often as this."""
_LIKELY = 0.5
_ROW = 2  # a single failure between passes is a flake, as far as anybody knows


class Ran(NamedTuple):
    """A run with a test, and the result of it; None: it passed at the first attempt."""

    run: RunOutcomes
    result: TestResult | None

    @classmethod
    def of(cls, run: RunOutcomes, test: int) -> "Ran":
        """Return what a run did with a test."""
        return cls(run, run.notable.get(test))


class Tries(NamedTuple):
    """Attempts at a test: the first ones, and retries within a run."""

    failed: int = 0
    passed: int = 0
    retries_failed: int = 0
    retries_passed: int = 0

    def plus(self, other: "Tries") -> "Tries":
        """Return both together."""
        return Tries(*map(sum, zip(self, other, strict=True)))

    @property
    def failures(self) -> int:
        """Attempts that failed."""
        return self.failed + self.retries_failed

    @property
    def passes(self) -> int:
        """Attempts that passed."""
        return self.passed + self.retries_passed


class Before(NamedTuple):
    """How a test fared: its `tries`, without the times in which it was broken. `broken`: the chance
    that it was when its runs end, `since` that run; None if the last one passed. `runs`: so many
    failed since.
    """

    tries: Tries
    broken: float = 0.0
    since: RunOutcomes | None = None
    runs: int = 0


def before(runs: Sequence[Ran]) -> Before:
    """Return how a test fared in these runs, which are in order."""
    streaks = [[*streak] for _, streak in groupby(runs, is_failed)]
    failed = sum(map(is_failed, runs))
    chances = [
        _broken(len(streak), failed - len(streak), len(runs) - len(streak))
        if is_failed(streak[0])
        else 0.0
        for streak in streaks
    ]
    flaky = [
        streak
        for streak, chance in zip(streaks, chances, strict=True)
        if chance < _LIKELY or len(streak) < _ROW
    ]
    tries = tries_of([*chain.from_iterable(flaky)])
    if not chances or not chances[-1]:
        return Before(tries)
    return Before(tries, chances[-1], streaks[-1][0].run, len(streaks[-1]))


def tries_of(runs: Sequence[Ran]) -> Tries:
    """Add up the attempts in these runs."""
    columns = [*zip(*map(_tries, runs), strict=True)]
    return Tries(*map(sum, columns)) if columns else Tries()


def _tries(ran: Ran) -> Tries:
    if ran.result is None:
        return Tries(passed=1)
    retries = ran.result.attempts - 1
    passed = int(ran.result.outcome is Outcome.PASS)
    return Tries(failed=1, retries_failed=retries - passed, retries_passed=passed)


def is_failed(ran: Ran) -> bool:
    """Whether a run failed the test, retries too."""
    return ran.result is not None and ran.result.outcome is Outcome.FAIL


def _broken(row: int, failed_else: int, runs_else: int) -> float:
    """Return the chance that a test was broken in so many failures in a row, by how often its other
    runs fail.
    """
    by_chance = ((failed_else + 0.5) / (runs_else + 1)) ** row
    return BREAKS / (BREAKS + (1 - BREAKS) * by_chance)
