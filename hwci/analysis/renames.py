# SPDX-License-Identifier: Apache-2.0
"""Under which other name a test may have run: that of a test whose place it took from one run to
the next, wherever both ran (ADR 0083).

This module decides what may be a renaming. It does not know that it was one: a test that was
deleted when another one was written looks the same, so no figure counts two names together.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from hwci.analysis.outcomes import ProductOutcomes, RunOutcomes
from hwci.engine.vocabulary import Outcome


class Place(NamedTuple):
    """Where runs follow each other: a workflow on a branch and a box."""

    workflow: str
    branch: str
    box_key: str


@dataclass(frozen=True, slots=True)
class OtherName:
    """A name that a test may have had before, or have now. `runs` of the period ran it, in `failed`
    of which it failed. `at`: when the later of both names ran first where it took over, on `sha`,
    of `places` such.
    """

    test_id: str
    at: datetime
    sha: str
    places: int
    runs: int
    failed: int


@dataclass(slots=True)
class _Follows:
    """What a place ran. `first`: its first run with the test; `gone`: the tests of the run before
    that one which no run had from there on; `also`: those of all runs.
    """

    last: RunOutcomes | None = None
    first: RunOutcomes | None = None
    gone: int = 0
    also: int = 0


class Renames:
    """The other names of the tests of a product in a period."""

    def __init__(self, outcomes: ProductOutcomes) -> None:
        """Look at these runs."""
        self._tests = outcomes.tests
        self._runs = [run for run in outcomes.runs if run.hello_ok and run.ran]
        self._back = self._runs[::-1]

    def before(self, number: int) -> OtherName | None:
        """Return the name that a test may have had before."""
        other = self._only(number, self._runs, self._back)
        return None if other is None else self._told(other, other, number)

    def since(self, number: int) -> OtherName | None:
        """Return the name that a test may have now."""
        other = self._only(number, self._back, self._runs)
        return None if other is None else self._told(other, number, other)

    def _only(
        self, number: int, runs: Sequence[RunOutcomes], back: Sequence[RunOutcomes]
    ) -> int | None:
        """Return the one test that may be another name of this one, if this is the only one for
        that test, too. Of several, those count whose name ends alike: a file or folder was renamed.
        """
        found = _neighbours(number, runs)
        others = found if len(found) == 1 else self._alike(number, found)
        if len(others) != 1:
            return None
        [other] = others
        theirs = _neighbours(other, back)
        mutual = theirs if len(found) == 1 and len(theirs) == 1 else self._alike(other, theirs)
        return other if mutual == [number] else None

    def _alike(self, number: int, others: Iterable[int]) -> list[int]:
        own = _end(self._tests[number])
        return [other for other in others if _end(self._tests[other]) == own]

    def _told(self, other: int, former: int, later: int) -> OtherName:
        taken = [
            place.first
            for place in _places(later, self._runs).values()
            if place.first is not None and place.gone >> former & 1
        ]
        first = min(taken, key=lambda run: run.started_at)
        ran = [run for run in self._runs if run.ran >> other & 1]
        results = [run.notable.get(other) for run in ran]
        failed = sum(one is not None and one.outcome is Outcome.FAIL for one in results)
        return OtherName(
            self._tests[other], first.started_at, first.sha, len(taken), len(ran), failed
        )


def _places(number: int, runs: Iterable[RunOutcomes]) -> dict[Place, _Follows]:
    """Return what each place ran around the first run of a test there."""
    places: dict[Place, _Follows] = defaultdict(_Follows)
    for run in runs:
        place = places[Place(run.workflow, run.branch, run.box_key)]
        if place.first is None and run.ran >> number & 1:
            place.first = run
            place.gone = 0 if place.last is None else place.last.ran
        if place.first is not None:
            place.gone &= ~run.ran
        place.also |= run.ran
        place.last = run
    return places


def _neighbours(number: int, runs: Iterable[RunOutcomes]) -> list[int]:
    """Return the tests that ran last in the very run before the first one of a test, in each place
    that ran both.
    """
    places = [place for place in _places(number, runs).values() if place.first is not None]
    some = other = 0
    for place in places:
        some |= place.gone
        other |= place.also & ~place.gone
    found = some & ~other
    return [bit for bit in range(found.bit_length()) if found >> bit & 1]


_PARTS = re.compile(r"::|[/.\s]")


def _end(name: str) -> str:
    """Return the last part of the name of a test, with its parameters: `test_a[1.5]` of
    `tests/x.py::test_a[1.5]`.
    """
    head, bracket, parameters = name.partition("[")
    return _PARTS.split(head)[-1] + bracket + parameters
