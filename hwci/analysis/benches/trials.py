# SPDX-License-Identifier: Apache-2.0
"""Runs as trials that can be compared: what ran on which box at which commit, and what failed.

A result counts as failed when its first attempt failed: whether it was retried, and how often, is a
matter of the CI, not of the box. A lost board is one event, not many: it counts as a failure of the
test at which it was lost, and what the run failed after that counts nowhere. Runs that exist
because another passed or failed are kept apart (`presence.py`).
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import takewhile
from typing import NamedTuple

from hwci.analysis.benches.blame import Blame, OnCommit, blame
from hwci.analysis.benches.presence import Order, is_rerun, orders
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
    have failed anyway. At the first of them the board was lost; of the rest it says nothing.
    """

    tests: Sequence[int]
    chance: float

    @property
    def untold(self) -> Sequence[int]:
        """The tests of which the run says nothing."""
        return self.tests[1:]


class Stratum(NamedTuple):
    """The runs that are compared with each other: of a commit, on boxes that wait for the same
    other boxes, mostly for none.
    """

    sha: str
    after: frozenset[str]


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
    def orders(self) -> Collection[Order]:
        """Which boxes run a commit depending on how a run on another box ended there."""
        return self._orders(lambda run: any(_failed(run, test) for test in run.notable))

    def _orders(self, failed: Callable[[RunOutcomes], bool], of: int = -1) -> Collection[Order]:
        ended: dict[str, dict[str, bool]] = defaultdict(dict)
        for run in self.found.runs:
            if run.hello_ok and not is_rerun(run) and run.ran & of:
                boxes = ended[run.sha]
                boxes[run.box_key] = boxes.get(run.box_key, False) or failed(run)
        return orders(ended.values())

    @cached_property
    def by_stratum(self) -> Mapping[Stratum, Sequence[Trial]]:
        """The trials of each commit, without reruns."""
        waits = _waits(self.orders)
        joined: dict[Stratum, dict[tuple[int, str], Trial]] = defaultdict(dict)
        for number, run in enumerate(self.found.runs):
            if run.hello_ok and not is_rerun(run):
                untold = mask_of(self.lost[number].untold) if number in self.lost else 0
                stratum = Stratum(run.sha, waits.get(run.box_key, frozenset()))
                trials, key = joined[stratum], (run.ci_run_id, run.box_key)
                before = trials.get(key, Trial(self.side_of(run), 0, 0))
                failed = before.failed | mask_of(run.notable) & ~untold
                trials[key] = Trial(before.side, before.ran | run.ran & ~untold, failed)
        return {stratum: [*trials.values()] for stratum, trials in joined.items()}

    def blame_of(self, test: int) -> Blame[Side] | None:
        """Return which boxes explain the failures of a test; None: too little to compare. A box
        with a note is taken since then, or as it was before it, where it failed only then.
        """
        if not self.is_shared:
            return None
        waits = _waits(self._orders(lambda run: _failed(run, test), 1 << test))
        strata: dict[Stratum, dict[Side, OnCommit]] = defaultdict(dict)
        for stratum, trials in self.by_stratum.items():
            for trial in trials:
                if trial.ran >> test & 1:
                    after = stratum.after | waits.get(box_of(trial.side), stratum.after)
                    boxes = strata[stratum._replace(after=after)]
                    before = boxes.get(trial.side, OnCommit(0, 0))
                    is_failed = trial.failed >> test & 1
                    boxes[trial.side] = OnCommit(before.failed + is_failed, before.runs + 1)
        failed = {side for boxes in strata.values() for side, on in boxes.items() if on.failed}
        return blame(
            [
                {side: on for side, on in boxes.items() if self._is_taken(side, failed)}
                for boxes in strata.values()
            ]
        )

    def _is_taken(self, side: Side, failed: Collection[Side]) -> bool:
        is_before_only = Earlier(box_of(side)) in failed and box_of(side) not in failed
        if isinstance(side, Earlier):
            return is_before_only
        return not is_before_only

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


def _waits(orders: Collection[Order]) -> Mapping[str, frozenset[str]]:
    """Return for each box that waits for others which these are."""
    after: dict[str, set[str]] = defaultdict(set)
    for order in orders:
        after[order.box].add(order.after)
    return {box: frozenset(boxes) for box, boxes in after.items()}


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
