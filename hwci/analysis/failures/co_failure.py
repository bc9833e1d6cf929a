# SPDX-License-Identifier: Apache-2.0
"""Which tests fail together again and again, where nobody knows what broke them (ADR 0012).

Two tests on their boxes fail together if they began to fail on the same commits more often than
chance explains. A beginning counts once, however long it failed from there on: else any two long
failures would look alike. Only commits between the first and the last beginning of both count: two
races of the same month need not be one. This module knows no incident and no cause.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from itertools import combinations, pairwise
from math import comb
from typing import NamedTuple

from hwci.engine.facts import FailureKey, Lane

TIMES_MIN = 3
"""So often two tests began to fail on one commit, at least."""
OVERLAP_MIN = 0.5
"""Of the commits on which one of them began to fail, so many are common, at least."""
CHANCE_MAX = 0.05
"""So likely is any false pair of a period, at most: a pair is held to it over all pairs."""


class _Past(NamedTuple):
    """A test on its box: the places of commits on which it began to fail, and of those on which it
    could have: it ran, and was not failing already.
    """

    began: Collection[int]
    open: Set[int]


def failing_together(
    beginnings: Sequence[FailureKey],
    went_on: Callable[[Collection[Lane]], Mapping[Lane, Collection[str]]],
    commits_run: Callable[[Collection[Lane]], Mapping[Lane, Mapping[str, int]]],
    check_time: Callable[[], None],
) -> Mapping[FailureKey, int]:
    """Return for each common beginning the number of its cause. `beginnings`: of all failures whose
    cause is unknown; `went_on`: the commits on which such failures of these tests went on;
    `commits_run`: those on which they ran, by their places. Both are asked only where two tests
    began together so often.
    """
    begun: dict[Lane, set[str]] = defaultdict(set)
    for lane, sha in beginnings:
        begun[lane].add(sha)
    again = {lane: shas for lane, shas in begun.items() if len(shas) >= TIMES_MIN}
    pairs = [*_pairs(again)]
    if not pairs:
        return {}
    paired = {lane: again[lane] for pair in pairs for lane in pair}
    ran, later = commits_run(paired), went_on(paired)
    pasts = {lane: _past(ran[lane], shas, later.get(lane, ())) for lane, shas in paired.items()}
    least = CHANCE_MAX / comb(len(again), 2)
    cause, lanes = _Causes(), {}
    for lane, other in pairs:
        check_time()
        if _beyond_chance(pasts[lane], pasts[other], least):
            cause.join(lane, other)
            for sha in again[lane] & again[other]:
                lanes[FailureKey(lane, sha)] = lanes[FailureKey(other, sha)] = lane
    numbers = {lane: number for number, lane in enumerate(again)}
    return {key: numbers[cause.of(lane)] for key, lane in lanes.items()}


class _Causes:
    """Tests that have one cause, each known by the first of them."""

    def __init__(self) -> None:
        self._first: dict[Lane, Lane] = {}

    def of(self, lane: Lane) -> Lane:
        while (before := self._first.get(lane, lane)) != lane:
            lane = before
        return lane

    def join(self, lane: Lane, other: Lane) -> None:
        first, second = sorted([self.of(lane), self.of(other)])
        if first != second:
            self._first[second] = first


def _pairs(begun: Mapping[Lane, Collection[str]]) -> Iterator[tuple[Lane, Lane]]:
    """Yield pairs of one product and branch that began to fail together often enough. Of tests that
    always began together each is paired with the next, and one of them with others.
    """
    alike: dict[object, list[Lane]] = defaultdict(list)
    at: dict[object, list[Lane]] = defaultdict(list)
    for lane, shas in begun.items():
        alike[lane.product, lane.branch, frozenset(shas)].append(lane)
    for lanes in alike.values():
        yield from pairwise(lanes)
        for sha in begun[lanes[0]]:
            at[lanes[0].product, lanes[0].branch, sha].append(lanes[0])
    times = Counter(pair for lanes in at.values() for pair in combinations(lanes, 2))
    yield from (pair for pair, number in times.items() if number >= TIMES_MIN)


def _past(ran: Mapping[str, int], begun: Collection[str], went_on: Collection[str]) -> _Past:
    places = {sha: place for sha, place in ran.items() if sha not in went_on}
    return _Past([places[sha] for sha in begun if sha in places], set(places.values()))


def _beyond_chance(past: _Past, other: _Past, least: float) -> bool:
    """Whether two tests began to fail together more often than by chance, and mostly together."""
    if not past.began or not other.began:
        return False
    first = max(min(past.began), min(other.began))
    last = min(max(past.began), max(other.began))
    commits = {place for place in past.open & other.open if first <= place <= last}
    here, there = commits.intersection(past.began), commits.intersection(other.began)
    common = len(here & there)
    enough = common >= TIMES_MIN and common >= OVERLAP_MIN * len(here | there)
    return enough and _chance(len(commits), len(here), len(there), common) <= least


def _chance(commits: int, here: int, there: int, common: int) -> float:
    """Return the chance that so many are common or more, if each began on any commits."""
    ways = sum(
        comb(here, number) * comb(commits - here, there - number)
        for number in range(common, min(here, there) + 1)
    )
    return ways / comb(commits, there)
