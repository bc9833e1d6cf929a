# SPDX-License-Identifier: Apache-2.0
"""Runs that exist because another passed or failed: reruns of what failed, on a spare or on the
same box, and runs that wait for another box to pass (a gate). By themselves they tell nothing about
a box: where a spare runs, the others failed; where a gated box runs, its gate passed. So they are
left out where boxes are compared (ADR 0010).

This module decides which runs those are: by what CI tells, or by whether one box runs a commit more
often where another failed there than where that passed. It does not know how boxes are compared.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.certainty import log_beta

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from hwci.analysis.outcomes import RunOutcomes

ODDS_MAX, WAITING = 1 / 50, 0.4
"""Before any run, that one box waits for another is as rare as this, against that it does not; of
many boxes rarer, so that no more than so many wait for another by chance.
"""
COMMITS_MIN, SHARED_MIN = 8, 3
"""On fewer commits of a box, and on fewer that it shares, no other one shows that it waits for it.
"""
_HALF = 0.5


class Follows(StrEnum):
    """After what of another box a box runs a commit."""

    FAILED = "failed"
    PASSED = "passed"


class Order(NamedTuple):
    """A box that runs a commit depending on how another box ended there."""

    box: str
    after: str
    follows: Follows


class _Seen(NamedTuple):
    """Commits that a box ran, by how it ended there: on which another box ran, too, and all."""

    failed_both: int
    failed: int
    passed_both: int
    passed: int


class Ended(NamedTuple):
    """The commits on which a box failed, and on which it passed, as bits. It may have done both."""

    failed: int
    passed: int

    @property
    def ran(self) -> int:
        """The commits that it ran."""
        return self.failed | self.passed


def is_rerun(run: RunOutcomes) -> bool:
    """Whether CI tells that a run exists because of another: it is a later attempt, or names it."""
    return run.run_attempt > 1 or run.rerun_of is not None


def orders(boxes: Mapping[str, Ended]) -> Collection[Order]:
    """Return which of these boxes run depending on how others ended."""
    ran = [(box, ended.ran) for box, ended in boxes.items()]
    seen: dict[tuple[str, str], _Seen] = {}
    for gate, (failed, passed) in boxes.items():
        if not failed or not passed or (failed | passed).bit_count() < COMMITS_MIN:
            continue
        totals = failed.bit_count(), passed.bit_count()
        for box, commits in ran:
            both = (commits & failed).bit_count(), (commits & passed).bit_count()
            if box != gate and sum(both) >= SHARED_MIN:
                seen[box, gate] = _Seen(both[0], totals[0], both[1], totals[1])
    odds = min(ODDS_MAX, WAITING / len(seen)) if seen else 0.0
    follows = {pair: _follows(counts, odds) for pair, counts in sorted(seen.items())}
    return [Order(*pair, after) for pair, after in follows.items() if after is not None]


def _follows(seen: _Seen, odds: float) -> Follows | None:
    """Return after what the other box runs; None: whether it runs does not depend on that."""
    here, there = _chance(seen.failed_both, seen.failed), _chance(seen.passed_both, seen.passed)
    both = _chance(seen.failed_both + seen.passed_both, seen.failed + seen.passed)
    if exp(min(here + there - both, 700.0)) * odds < 1:
        return None
    after_failures = seen.failed_both * seen.passed > seen.passed_both * seen.failed
    return Follows.FAILED if after_failures else Follows.PASSED


@lru_cache(maxsize=65_536)
def _chance(part: int, total: int) -> float:
    return log_beta(part + _HALF, total - part + _HALF) - log_beta(_HALF, _HALF)
