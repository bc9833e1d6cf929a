# SPDX-License-Identifier: Apache-2.0
"""How likely it is that a change broke a test, against that all is as it was before, and that a box
went bad meanwhile (semantics, 15.4).

This module knows counts of attempts by box. It does not know what a test is called, nor what is
said of these chances. Likelihoods are logarithms.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from enum import Enum
from functools import cached_property, lru_cache, reduce
from math import exp, inf, log
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.certainty import log_beta
from hwci.analysis.commits.before import BREAKS, Tries
from hwci.analysis.flaky.onset import tests_by_rate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hwci.analysis.benches.strata import Numbers
    from hwci.analysis.outcomes import FirstAttempts

ON_SOME_BOXES, MADE_FLAKY = 0.1, 0.1
"""Of the changes that break a test, so many do on some boxes alone, and so many only now and then.
"""


class Seen(float, Enum):
    """How likely a box is bad for a test that passed there `since` the commit ran, or `lately`
    before it, or neither.
    """

    SINCE = 0.00001
    LATELY = 0.0005
    NOT = 0.05


HARNESS_SAYS = 300.0
"""So many times as likely it is the bench where the harness says so: the rules take its word."""
STUCK = 0.999
"""What is broken fails so many of its attempts."""
_LOST, _NOT_LOST = 0.5, 49.5  # before any run of a box, it loses its board in 1 % of runs
_MOST_KEPT = 1_000  # more is no help
_AT_MOST = 0.5  # nothing before the runs makes it sure that a box is bad
_HALF = 0.5


class OnBox(NamedTuple):
    """What a box tried at the commit. `is_bad`: its failures before are apart from those of the
    other boxes. `was_broken`: the test failed there in each run when the change began. `seen`:
    when it passed there. `blames_bench`: the harness does, each time that it failed.
    """

    tries: Tries
    is_bad: bool = False
    was_broken: bool = False
    seen: Seen = Seen.LATELY
    blames_bench: bool = False

    @property
    def is_stuck(self) -> bool:
        """Whether all attempts failed."""
        return self.tries.failures > 0 and not self.tries.passes


class Chances(NamedTuple):
    """Chances that add up to one: all is as `before`; boxes are bad that were not before (`bench`);
    the change broke the test (`broken`), or made it fail now and then (`made_flaky`).
    """

    before: float
    bench: float
    broken: float
    made_flaky: float

    @property
    def change(self) -> float:
        """The chance that it is the change."""
        return self.broken + self.made_flaky


class Losses(NamedTuple):
    """Runs that lost their board and runs that did not, as tries: `here`, at the commit on the
    boxes that lost it there, and on these boxes `before` the change.
    """

    here: Tries
    before: Tries

    @property
    def by_change(self) -> float:
        """The chance that the change makes these boards hang, however often."""
        here, before = self.here, self.before
        lost, kept = before.failed + _LOST, before.passed + _NOT_LOST
        as_before = log_beta(lost + here.failed, kept + here.passed) - log_beta(lost, kept)
        hangs = log_beta(here.failed + 1, here.passed + 1)
        odds = (1 - BREAKS) / BREAKS * exp(as_before - hangs)
        return 1 / (1 + odds)


@lru_cache(1024)
def kept_needed(losses: Losses, to: float) -> int:
    """Return how many more runs must keep their boards until the chance that the change makes them
    hang is so low.
    """
    here, more = losses.here, 0
    while losses.by_change > to and more < _MOST_KEPT:
        more += 1
        losses = losses._replace(here=here._replace(passed=here.passed + more))
    return more


class Odds:
    """The odds for the tests of a product, whose first attempts before the change were these."""

    def __init__(self, attempts: Iterable[FirstAttempts]) -> None:
        self._attempts = Counter(attempts)

    def chances(self, boxes: Sequence[OnBox], good: Tries, bad: Tries) -> Chances:
        """Return the chances of a test that failed. `bad` and `good`: its attempts before, on boxes
        that are bad and on the others.
        """
        stuck = [box for box in boxes if box.is_stuck]
        others = [box for box in boxes if not box.is_stuck]
        on_stuck = _if_broken(stuck) + self._as_before(others, good, bad) if stuck else -inf
        tries = _together(boxes)
        usual = 1 - ON_SOME_BOXES - MADE_FLAKY
        weights = (
            log(1 - BREAKS) + self._as_before(boxes, good, bad),
            log(1 - BREAKS) + sum(map(_went_bad, stuck)) + on_stuck,
            log(BREAKS * usual) + _if_broken(boxes),
            log(BREAKS * ON_SOME_BOXES) + on_stuck,
            log(BREAKS * MADE_FLAKY)
            + log_beta(tries.failed + 1, tries.passed + 1)
            + _retried(tries, Tries()),
        )
        highest = max(weights)
        before, bench, everywhere, on_some, flaky = (exp(weight - highest) for weight in weights)
        total = before + bench + everywhere + on_some + flaky
        return Chances(before / total, bench / total, (everywhere + on_some) / total, flaky / total)

    def _as_before(self, boxes: Sequence[OnBox], good: Tries, bad: Tries) -> float:
        chance = _if_broken([box for box in boxes if box.was_broken])
        sides: dict[bool, list[OnBox]] = defaultdict(list)
        for box in boxes:
            if not box.was_broken:
                sides[box.is_bad].append(box)
        for is_bad, side in sides.items():
            chance += self._at_rate(bad if is_bad else good, _together(side))
        return chance

    def _at_rate(self, known: Tries, tries: Tries) -> float:
        """Return how likely these tries are at the rates that earlier ones show. Before any run of
        it, a test has the rate of any test of the product, its retries any rate.
        """
        import numpy as np

        failing, passing, tests = self._rates
        chance = tests + known.failed * failing + known.passed * passing
        here = chance + tries.failed * failing + tries.passed * passing
        first = np.logaddexp.reduce(here) - np.logaddexp.reduce(chance)
        return float(first) + _retried(tries, known)

    @cached_property
    def _rates(self) -> tuple[Numbers, Numbers, Numbers]:
        import numpy as np

        rates, tests = tests_by_rate(self._attempts)
        return np.log(rates), np.log1p(-rates), np.log(tests)


def _together(boxes: Sequence[OnBox]) -> Tries:
    return reduce(Tries.plus, (box.tries for box in boxes), Tries())


def _retried(tries: Tries, known: Tries) -> float:
    """Return how likely the retries are of a test that fails now and then: at the rate that earlier
    ones show, be it rare or a failure that all retries of a run share.
    """
    a, b = known.retries_failed + _HALF, known.retries_passed + _HALF
    return log_beta(a + tries.retries_failed, b + tries.retries_passed) - log_beta(a, b)


def _if_broken(boxes: Sequence[OnBox]) -> float:
    """Return how likely the tries of these boxes are if the test is broken there."""
    tries = _together(boxes)
    return tries.failures * log(STUCK) + tries.passes * log(1 - STUCK)


def _went_bad(box: OnBox) -> float:
    return log(min(_AT_MOST, box.seen.value * (HARNESS_SAYS if box.blames_bench else 1)))
