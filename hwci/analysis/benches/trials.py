# SPDX-License-Identifier: Apache-2.0
"""Runs as trials that can be compared: what ran on which box at which commit, and what failed.

A result counts as failed when its first attempt failed: whether it was retried, and how often, is a
matter of the CI, not of the box. A lost board is one event, not many: it counts as a failure of the
test at which it was lost, and what the run failed after that counts nowhere. Runs that exist
because another passed or failed are kept apart (`presence.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, takewhile
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.blame import Blame, OnCommit, Uncompared, blame, uncompared
from hwci.analysis.benches.presence import Order, is_rerun, orders
from hwci.analysis.outcomes import FirstAttempts, ProductOutcomes, RunOutcomes
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.engine.test_sets import CountedTests, mask_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hwci.analysis.benches.blame import Whole

    Bytes = NDArray[np.uint8]

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


class Told(NamedTuple):
    """A run that tells something of a test, with its result if that is notable. `is_lost`: the
    board was lost at the test.
    """

    run: RunOutcomes
    result: TestResult | None
    is_lost: bool

    @property
    def is_of_firmware(self) -> bool:
        """Whether it tells something of the firmware: a failure that the harness blames on the
        bench does not, unless the test lost the board.
        """
        return self.is_lost or self.result is None or not _is_of_bench(self.result)


class Stratum(NamedTuple):
    """The runs that are compared with each other: of a commit, on boxes that wait for the same
    other boxes, mostly for none.
    """

    sha: str
    after: frozenset[str]


class Trial(NamedTuple):
    """One run on a box. `ran` and `failed` are sets of tests as bits."""

    side: Side
    ran: int
    failed: int


Tries = Mapping[Side, OnCommit]
"""How often a test failed on each box of a commit, of how many runs."""
_NONE = OnCommit(0, 0)


class _Columns(NamedTuple):
    """The trials of commits, in the order of these. `place`: of each trial the number of its
    commit, times that of the sides, and the number of its side; `ran` and `failed`: a row of bytes
    for each eight tests.
    """

    commits: Sequence[Sequence[Trial]]
    sides: Sequence[Side]
    place: Whole
    ran: Bytes
    failed: Bytes

    @classmethod
    def of(cls, commits: Sequence[Sequence[Trial]], last_test: int) -> _Columns:
        """Return the columns of the trials of these commits."""
        import numpy as np

        sides, ran, failed = zip(*chain.from_iterable(commits), strict=True)
        numbers = {side: at for at, side in enumerate(dict.fromkeys(sides))}
        first = np.repeat(np.arange(len(commits)) * len(numbers), [*map(len, commits)])
        place = first + np.array([numbers[side] for side in sides])
        width = last_test // 8 + 1
        columns = (packed(some, width).T.copy() for some in (ran, failed))
        return cls(commits, [*numbers], place, *columns)

    def tries(self, test: int) -> Sequence[tuple[Tries, int]]:
        """Return the tries of a test on commits, each with how many they are of. Commits on which
        it passed are added up where the same boxes ran it: none tells boxes apart.
        """
        import numpy as np

        shape = len(self.commits), len(self.sides)
        runs, failed = (
            np.bincount(
                self.place[tests[test >> 3] >> (test & 7) & 1 > 0], minlength=shape[0] * shape[1]
            ).reshape(shape)
            for tests in (self.ran, self.failed)
        )
        bad = failed.any(axis=1)
        runs = runs[~bad]
        alike, which, times = np.unique(
            np.packbits(runs > 0, axis=1), axis=0, return_inverse=True, return_counts=True
        )
        total = np.zeros((len(alike), len(self.sides)), np.int64)
        np.add.at(total, which.ravel(), runs)
        failing = [(_tries(self.commits[at], test), 1) for at in np.flatnonzero(bad).tolist()]
        return failing + [
            ({side: OnCommit(0, ran) for side, ran in zip(self.sides, row, strict=True) if ran}, n)
            for row, n in zip(total.tolist(), times.tolist(), strict=True)
        ]


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

    def told(self, test_id: str) -> Iterator[Told]:
        """Yield the runs that tell something of a test. Behind a lost board, nothing is told."""
        test = self.found.number_of(test_id)
        if test is not None:
            yield from self.told_of(test)

    def told_of(self, test: int) -> Iterator[Told]:
        """Yield the same of the test with this number."""
        notable = self._notable.get(test, {})
        lists = (runs for tests, runs in self._lists.items() if tests >> test & 1)
        for number in sorted(chain.from_iterable(lists)):
            result = notable.get(number)
            if result is None:
                yield self._passes[number]
            else:
                yield self._told(test, number, result)

    def pattern_of(self, test: int) -> object:
        """Return what all runs tell of a test: whatever is said of it holds for others that have
        the same.
        """
        lists = tuple(at for at, tests in enumerate(self._lists) if tests >> test & 1)
        return lists, tuple(self._notable.get(test, {}).items())

    def failed_on(self, test_id: str) -> Collection[str]:
        """Return the boxes on which a test ever failed."""
        test = self.found.number_of(test_id)
        notable = {} if test is None else self._notable.get(test, {})
        return {self.found.runs[number].box_key for number in notable}

    def first_attempts(self) -> Mapping[str, FirstAttempts]:
        """Return those of each test in the runs that tell something of the firmware; none if there
        is no such run.
        """
        ran = CountedTests()
        for tests, numbers in self._lists.items():
            ran.add(tests, len(numbers))
        counts = ran.counts(max(self.found.tests, default=-1) + 1)
        attempts = {}
        for test, name in self.found.tests.items():
            notable = self._notable.get(test, {})
            failed = sum(
                not _is_of_bench(result) or self._told(test, number, result).is_of_firmware
                for number, result in notable.items()
            )
            if runs := counts[test] - len(notable) + failed:
                attempts[name] = FirstAttempts(failed, runs)
        return attempts

    @cached_property
    def _lists(self) -> Mapping[int, Sequence[int]]:
        """The runs that tell of the same tests, by their places in the list of runs."""
        lists: dict[int, list[int]] = defaultdict(list)
        for number, run in enumerate(self.found.runs):
            if run.hello_ok:
                lists[run.ran & ~self._untold(number)].append(number)
        return lists

    @cached_property
    def _notable(self) -> Mapping[int, Mapping[int, TestResult]]:
        """The notable results of each test that are told, by the place of the run."""
        notable: dict[int, dict[int, TestResult]] = defaultdict(dict)
        for number, run in enumerate(self.found.runs):
            untold = self._untold(number)
            for test, result in run.notable.items():
                if not untold >> test & 1:
                    notable[test][number] = result
        return notable

    def _told(self, test: int, number: int, result: TestResult) -> Told:
        lost = self.lost.get(number)
        is_lost = lost is not None and test == lost.tests[0]
        return Told(self.found.runs[number], result, is_lost)

    @cached_property
    def _passes(self) -> Sequence[Told]:
        """What each run tells of a test that it passed."""
        return [Told(run, None, is_lost=False) for run in self.found.runs]

    def _untold(self, number: int) -> int:
        """Return the tests of which a run says nothing, as bits."""
        return mask_of(self.lost[number].untold) if number in self.lost else 0

    @cached_property
    def orders(self) -> Collection[Order]:
        """Which boxes run a commit depending on how a run on another box ended there."""
        commits: dict[str, dict[str, bool]] = defaultdict(dict)
        for run in self.found.runs:
            if run.hello_ok and not is_rerun(run):
                boxes, failed = commits[run.sha], any(_failed(run, test) for test in run.notable)
                boxes[run.box_key] = boxes.get(run.box_key, False) or failed
        return orders(Counter(frozenset(boxes.items()) for boxes in commits.values()))

    @cached_property
    def by_stratum(self) -> Mapping[Stratum, Sequence[Trial]]:
        """The trials of each commit, without reruns."""
        waits, strata = _waits(self.orders), dict[Stratum, list[Trial]]()
        for sha, trials in self._by_commit.items():
            for trial in trials:
                after = waits.get(box_of(trial.side), frozenset())
                strata.setdefault(Stratum(sha, after), []).append(trial)
        return strata

    @cached_property
    def _by_commit(self) -> Mapping[str, Sequence[Trial]]:
        trials: dict[str, list[Trial]] = defaultdict(list)
        for number, run in enumerate(self.found.runs):
            if run.hello_ok and not is_rerun(run):
                untold = self._untold(number)
                failed = mask_of(run.notable) & ~untold
                trials[run.sha].append(Trial(self.side_of(run), run.ran & ~untold, failed))
        return trials

    @cached_property
    def _columns(self) -> _Columns:
        return _Columns.of([*self._by_commit.values()], max(self.found.tests))

    @cached_property
    def _blames(self) -> dict[int, Blame[Side] | None]:
        return {}

    def blame_of(self, test: int) -> Blame[Side] | None:
        """Return which boxes explain the failures of a test; None: too little to compare. A box
        with a note is taken since then, or as it was before it, where it failed only then. It is
        weighed once.
        """
        if test not in self._blames:
            self._blames[test] = self._weighed(test)
        return self._blames[test]

    def why_uncompared(self, test: int) -> Uncompared | None:
        """Return why the boxes of a test cannot be compared; None: they can."""
        if self.blame_of(test) is not None:
            return None
        commits: list[Mapping[str, OnCommit]] = []
        for tries, _ in self._columns.tries(test) if self._by_commit else ():
            # A box before its note and since then is one box.
            on: dict[str, OnCommit] = {}
            for side, (failed, runs) in tries.items():
                before = on.get(box_of(side), _NONE)
                on[box_of(side)] = OnCommit(before.failed + failed, before.runs + runs)
            commits.append(on)
        return uncompared(commits)

    def _weighed(self, test: int) -> Blame[Side] | None:
        if not self.is_shared or test not in self._notable or not self._by_commit:
            return None
        return blame(self._strata(self._columns.tries(test)))

    def _strata(self, tries: Sequence[tuple[Tries, int]]) -> Sequence[Tries]:
        """Return the tries of a test on commits, apart where a box waits for others."""
        failed = {side for on, _ in tries for side, counts in on.items() if counts.failed}
        box = {side: box_of(side) for on, _ in tries for side in on}
        ended = Counter[frozenset[tuple[str, bool]]]()
        for on, times in tries:
            ended[frozenset((box[side], on[side].failed > 0) for side in on)] += times
        all_waits, waits = _waits(self.orders), _waits(orders(ended))
        after = {
            side: all_waits.get(key, frozenset()) | waits.get(key, frozenset())
            for side, key in box.items()
            if self._is_taken(side, failed)
        }
        strata: list[Tries] = []
        for on, _ in tries:
            apart: dict[frozenset[str], dict[Side, OnCommit]] = defaultdict(dict)
            for side, counts in on.items():
                if side in after:
                    apart[after[side]][side] = counts
            strata += apart.values()
        return strata

    def _is_taken(self, side: Side, failed: Collection[Side]) -> bool:
        is_before_only = Earlier(box_of(side)) in failed and box_of(side) not in failed
        if isinstance(side, Earlier):
            return is_before_only
        return not is_before_only

    @cached_property
    def lost(self) -> Mapping[int, Lost]:
        """The runs that lost their board, by their place in the list of runs."""
        losses = {}
        for number, run in enumerate(self.found.runs):
            end = failed_to_the_end(run)
            if len(end) >= LOST_TESTS_MIN:
                self.check_time()
                chance = 1.0
                for test in end:
                    chance *= self._failing(run, test)
                if chance <= LOST_CHANCE_MAX:
                    losses[number] = Lost(end, chance)
        return losses

    def _failing(self, run: RunOutcomes, test: int) -> float:
        """Return how often a test fails in other runs: of the same commit, if there are any, for a
        bug of the firmware fails in all of them; else of the period.
        """
        same = [
            other for other in self._runs_of[run.sha] if other is not run and other.ran >> test & 1
        ]
        if same:
            return (sum(_failed(other, test) for other in same) + 0.5) / (len(same) + 1)
        ran = sum(runs for tests, runs in self._ran.items() if tests >> test & 1)
        return (self._fails[test] - 0.5) / ran

    @cached_property
    def _runs_of(self) -> Mapping[str, Sequence[RunOutcomes]]:
        runs: dict[str, list[RunOutcomes]] = defaultdict(list)
        for run in self.found.runs:
            if run.hello_ok:
                runs[run.sha].append(run)
        return runs

    @cached_property
    def _ran(self) -> Counter[int]:
        return Counter(run.ran for run in self.found.runs if run.hello_ok)

    @cached_property
    def _fails(self) -> Counter[int]:
        return Counter(
            test for run in self.found.runs for test in run.notable if _failed(run, test)
        )


def _tries(trials: Sequence[Trial], test: int) -> Tries:
    """Return how often a test was tried on each box of a commit."""
    tries: dict[Side, OnCommit] = {}
    for side, ran, failed in trials:
        if ran >> test & 1:
            before = tries.get(side, _NONE)
            tries[side] = OnCommit(before.failed + (failed >> test & 1), before.runs + 1)
    return tries


def packed(sets: Iterable[int], width: int) -> Bytes:
    """Return sets of tests as rows of bytes, eight tests in each, the first in the lowest bit."""
    import numpy as np

    return np.frombuffer(
        b"".join(tests.to_bytes(width, "little") for tests in sets), np.uint8
    ).reshape(-1, width)


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
    for trial in sorted(trials, key=lambda trial: -trial.ran.bit_count()):
        check_time()
        for tests, group in groups:
            if 2 * (tests & trial.ran).bit_count() >= (tests | trial.ran).bit_count():
                group.append(trial)
                break
        else:
            groups.append((trial.ran, [trial]))
    for _, group in groups:
        sides = {trial.side for trial in group}
        members = [
            trial
            for trial in group
            if not isinstance(trial.side, Earlier) or trial.side.box_key not in sides
        ]
        if len({trial.side for trial in members}) > 1:
            yield members


def _is_of_bench(result: TestResult) -> bool:
    return result.verdict is Verdict.INFRA


def _failed(run: RunOutcomes, test: int) -> bool:
    result = run.notable.get(test)
    return result is not None and result.outcome is Outcome.FAIL
