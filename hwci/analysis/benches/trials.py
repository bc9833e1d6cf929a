# SPDX-License-Identifier: Apache-2.0
"""Runs as trials that can be compared: what ran on which box at which commit, and what failed.

A result counts as failed when its first attempt failed: whether it was retried, and how often, is a
matter of the CI, not of the box. What a run failed after it had lost its board counts nowhere: that
is one event, not many. Nothing here knows a statistic.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from hwci.analysis.outcomes import ProductOutcomes, RunOutcomes
from hwci.engine.test_sets import mask_of
from hwci.engine.vocabulary import Outcome

LOST_TESTS_MIN = 3
"""So many failures in a row end a run that lost its board, at least."""
LOST_CHANCE_MAX = 0.001
"""So likely such an end is without a loss, at most, by how often these tests fail elsewhere."""


class Earlier(NamedTuple):
    """A box as it was before the latest note of what was done to it."""

    box_key: str


Side = str | Earlier
"""A box, or what it was before its latest note: the two are compared as if they were two boxes, but
never with each other.
"""


def box_of(side: Side) -> str:
    """Return the name of the box."""
    return side.box_key if isinstance(side, Earlier) else side


class Lost(NamedTuple):
    """A run that lost its board: which tests failed from there on, and the chance that they would
    have failed anyway.
    """

    tests: Sequence[int]
    chance: float


class Trial(NamedTuple):
    """One run on a box, its parts together. `ran` and `failed` are sets of tests as bits."""

    side: Side
    ran: int
    failed: int


@dataclass(frozen=True)
class Trials:
    """The runs of a product that reached the hardware. `noted`: when something was done to a box
    last, for boxes with a note.
    """

    found: ProductOutcomes
    check_time: Callable[[], None]
    noted: Mapping[str, datetime]

    def side_of(self, run: RunOutcomes) -> Side:
        """Return on what a run ran."""
        noted = self.noted.get(run.box_key)
        earlier = noted is not None and run.started_at < noted
        return Earlier(run.box_key) if earlier else run.box_key

    @cached_property
    def is_shared(self) -> bool:
        """Whether the product ran on two boxes or more."""
        return len({run.box_key for run in self.found.runs}) > 1

    @cached_property
    def _starts(self) -> Sequence[datetime]:
        return [run.started_at for run in self.found.runs]

    def runs_between(self, start: datetime, end: datetime) -> int:
        """Return how many runs began from `start` on and before `end`."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    @cached_property
    def by_commit(self) -> Mapping[str, Sequence[Trial]]:
        """The trials of each commit."""
        joined: dict[str, dict[tuple[int, int, str], Trial]] = defaultdict(dict)
        for number, run in enumerate(self.found.runs):
            if run.hello_ok:
                lost = mask_of(self.lost[number].tests) if number in self.lost else 0
                key = run.ci_run_id, run.run_attempt, run.box_key
                before = joined[run.sha].get(key, Trial(self.side_of(run), 0, 0))
                failed = before.failed | mask_of(run.notable) & ~lost
                joined[run.sha][key] = Trial(before.side, before.ran | run.ran & ~lost, failed)
        return {sha: [*runs.values()] for sha, runs in joined.items()}

    @cached_property
    def lost(self) -> Mapping[int, Lost]:
        """The runs that lost their board, by their place in the list of runs."""
        found = {}
        for number, run in enumerate(self.found.runs):
            end = failed_to_the_end(run)
            if len(end) >= LOST_TESTS_MIN:
                self.check_time()
                chance = 1.0
                for test in end:
                    chance *= self._failing(run, test)
                if chance <= LOST_CHANCE_MAX:
                    found[number] = Lost(end, chance)
        return found

    def _failing(self, run: RunOutcomes, test: int) -> float:
        """Return how often a test fails in other runs: of the same commit, if there are any, for a
        bug of the firmware fails in all of them; else of the period.
        """
        same = [
            other for other in self._runs_of[run.sha] if other is not run and other.ran >> test & 1
        ]
        if same:
            return (sum(_failed(other, test) for other in same) + 0.5) / (len(same) + 1)
        ran = sum(runs for tests, runs in self._lists.items() if tests >> test & 1)
        return (self._fails[test] - 0.5) / ran

    @cached_property
    def _runs_of(self) -> Mapping[str, Sequence[RunOutcomes]]:
        runs: dict[str, list[RunOutcomes]] = defaultdict(list)
        for run in self.found.runs:
            if run.hello_ok:
                runs[run.sha].append(run)
        return runs

    @cached_property
    def _lists(self) -> Counter[int]:
        return Counter(run.ran for run in self.found.runs if run.hello_ok)

    @cached_property
    def _fails(self) -> Counter[int]:
        return Counter(
            test for run in self.found.runs for test in run.notable if _failed(run, test)
        )


def failed_to_the_end(run: RunOutcomes) -> Sequence[int]:
    """Return the tests with which a run ended that all failed."""
    if not run.order or not _failed(run, run.order[-1]):
        return ()
    return [*takewhile(lambda test: _failed(run, test), reversed(run.order))][::-1]


def alike(trials: Sequence[Trial], check_time: Callable[[], None]) -> Iterator[Sequence[Trial]]:
    """Yield the trials of a commit in groups that can be compared: their lists of tests have at
    least half of all their tests in common. Boxes of another kind run other tests. Of a box that
    ran both before and after its note, what ran before is left out.
    """
    groups: list[tuple[int, list[Trial]]] = []
    for trial in sorted(trials, key=lambda one: -one.ran.bit_count()):
        check_time()
        for tests, group in groups:
            if 2 * (tests & trial.ran).bit_count() >= (tests | trial.ran).bit_count():
                group.append(trial)
                break
        else:
            groups.append((trial.ran, [trial]))
    for _, group in groups:
        sides = {one.side for one in group}
        kept = [
            one
            for one in group
            if not isinstance(one.side, Earlier) or one.side.box_key not in sides
        ]
        if len({one.side for one in kept}) > 1:
            yield kept


def _failed(run: RunOutcomes, test: int) -> bool:
    result = run.notable.get(test)
    return result is not None and result.outcome is Outcome.FAIL
