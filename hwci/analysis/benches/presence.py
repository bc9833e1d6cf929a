# SPDX-License-Identifier: Apache-2.0
"""Runs that exist because another passed or failed: reruns of what failed, on a spare or on the
same box, and runs that wait for another box to pass (a gate). By themselves they tell nothing about
a box: where a spare runs, the others failed; where a gated box runs, its gate passed. So they are
left out where boxes are compared (ADR 0129).

This module decides which runs those are: by what CI tells, or by whether one box runs a commit more
often where another failed there than where that passed. It does not know how boxes are compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from math import exp
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.certainty import log_beta

if TYPE_CHECKING:
    from hwci.analysis.outcomes import RunOutcomes

PRIOR_ODDS = 1 / 50
"""Before any run, that one box waits for another is as rare as this, against that it does not."""
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


Ended = Mapping[str, bool]
"""The boxes that ran a commit, each with whether it failed there."""


def is_rerun(run: RunOutcomes) -> bool:
    """Whether CI says that a run exists because of another: a later attempt does."""
    return run.run_attempt > 1


def orders(commits: Iterable[Ended]) -> Collection[Order]:
    """Return which boxes run depending on how others ended, by the commits that were run."""
    both: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for boxes in commits:
        for box, is_failed in boxes.items():
            both[box, is_failed].update(boxes.keys())
    names = sorted({box for box, _ in both})
    found = []
    for gate in names:
        failed, passed = both[gate, True], both[gate, False]
        if failed[gate] and passed[gate]:
            for box in names:
                seen = _Seen(failed[box], failed[gate], passed[box], passed[gate])
                follows = None if box == gate else _follows(seen)
                if follows is not None:
                    found.append(Order(box, gate, follows))
    return found


def _follows(seen: _Seen) -> Follows | None:
    """Return after what the other box runs; None: whether it runs does not depend on that."""
    here, there = _chance(seen.failed_both, seen.failed), _chance(seen.passed_both, seen.passed)
    both = _chance(seen.failed_both + seen.passed_both, seen.failed + seen.passed)
    if exp(min(here + there - both, 700.0)) * PRIOR_ODDS < 1:
        return None
    after_failures = seen.failed_both * seen.passed > seen.passed_both * seen.failed
    return Follows.FAILED if after_failures else Follows.PASSED


def _chance(part: int, total: int) -> float:
    return log_beta(part + _HALF, total - part + _HALF) - log_beta(_HALF, _HALF)
