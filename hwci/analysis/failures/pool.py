# SPDX-License-Identifier: Apache-2.0
"""Which failures of a test on several boxes are one: a pool has one history a test (ADR 0012).

A stretch is what failed on one box with no pass between. Stretches are alike if no box of them
passed from the first of all their failures to the last. This module knows places alone, no commit.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hwci.engine.history import Place


class Stretch(NamedTuple):
    """Failures with no pass between them: the places of the first and of the last, and those of the
    passes next to them; None: none is known.
    """

    first: Place
    last: Place
    passed: Place | None
    passes: Place | None

    def with_other(self, other: "Stretch") -> "Stretch":
        """Return both as one: without a pass are only the commits where neither has one."""
        passed = [place for place in (self.passed, other.passed) if place is not None]
        passes = [place for place in (self.passes, other.passes) if place is not None]
        return Stretch(
            first=min(self.first, other.first),
            last=max(self.last, other.last),
            passed=max(passed, default=None),
            passes=min(passes, default=None),
        )

    @property
    def is_whole(self) -> bool:
        """Whether no pass is amid the failures. A failure whose own commit passed has one."""
        return (self.passed is None or self.passed < self.first) and (
            self.passes is None or self.last < self.passes
        )


def pooled(stretches: Sequence[Stretch]) -> list[list[int]]:
    """Return which of these stretches of one test are one, by their numbers. Each joins the first
    that it is alike, those with a known pass before them first, by the first failure. One that
    never passed before may always have failed: it joins these only while they fail.
    """
    order = sorted(range(len(stretches)), key=lambda at: (stretches[at].first, at))
    pools = _Pools(stretches)
    for at in order:
        if stretches[at].passed is not None:
            pools.add(at)
    pools.reopen()
    for at in order:
        if stretches[at].passed is None:
            pools.add(at)
    return [members for _, members in pools.all]


class _Pools:
    """Pools, each as one stretch with the numbers of its members. `open`: those that a later
    stretch may still join.
    """

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self._stretches = stretches
        self._open: list[int] = []
        self.all: list[tuple[Stretch, list[int]]] = []

    def reopen(self) -> None:
        """Begin again with an earlier stretch."""
        self._open = [*range(len(self.all))]

    def add(self, at: int) -> None:
        """Add a stretch, of which none that is added later begins earlier."""
        stretch = self._stretches[at]
        self._open = [
            number for number in self._open if _is_open(self.all[number][0], stretch.first)
        ]
        for number in self._open:
            pool, members = self.all[number]
            both = pool.with_other(stretch)
            if both.is_whole and _may_have_begun_with(pool, stretch):
                self.all[number] = both, [*members, at]
                return
        self._open.append(len(self.all))
        self.all.append((stretch, [at]))


def _is_open(pool: Stretch, first: Place) -> bool:
    return pool.passes is None or first < pool.passes


def _may_have_begun_with(pool: Stretch, stretch: Stretch) -> bool:
    passed_before = pool.passed is not None and stretch.passed is None
    return not passed_before or pool.first <= stretch.first <= pool.last
