# SPDX-License-Identifier: Apache-2.0
"""Runs as trials that can be compared: what ran on which box at which commit, and what failed.

A result counts as failed when its first attempt failed: whether it was retried, and how often, is a
matter of the CI, not of the box. A lost board is one event, not many: it counts as a failure of the
test at which it was lost, and what the run failed after that counts nowhere. Runs that exist
because another passed or failed are kept apart (`presence.py`). Runs are read once into columns, as
each test asks for a few of them. numpy is imported when it is asked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import chain, takewhile
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.blame import Blame, Uncompared, blame, uncompared
from hwci.analysis.benches.presence import Ended, Order, is_rerun, orders
from hwci.analysis.outcomes import FirstAttempts, ProductOutcomes, RunOutcomes
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.engine.test_sets import mask_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hwci.analysis.benches.blame import Flags, Whole

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
    """The runs that tell something of a test, a column each, in the order of reports. `run`: its
    place in the list of runs; `failed`: 1 if the first attempt failed; `lost`: 1 if the board was
    lost at the test; `of_bench`: 1 if it tells nothing of the firmware, as the harness blames the
    failure on the bench and the test did not lose the board; its `retries`, and those that failed.
    """

    run: Whole
    failed: Whole
    lost: Whole
    of_bench: Whole
    retries: Whole
    retries_failed: Whole


class Stratum(NamedTuple):
    """The runs that are compared with each other: of a commit, on boxes that wait for the same
    other boxes, mostly for none.
    """

    sha: str
    after: frozenset[str]


class Trial(NamedTuple):
    """One run on a box. `ran` and `failed` are sets of tests as bits; `number`: its place in the
    list of runs.
    """

    side: Side
    ran: int
    failed: int
    number: int = 0


class _Notable(NamedTuple):
    """The notable results that are told, by test and then in the order of reports. `told`: a row
    for each column of `Told` but the first.
    """

    test: Whole
    run: Whole
    told: Whole


class _Tries(NamedTuple):
    """How often a test ran, and failed, on a commit and side; `first`: the place of the first run.
    A row for each commit and side that ran it, in their order: of many boxes few run a commit.
    """

    commit: Whole
    side: Whole
    runs: Whole
    failed: Whole
    first: Whole

    def shared(self) -> tuple[Whole, Whole, Whole, Whole]:
        """Return sides (columns), and their runs, failed ones and first runs on each commit (row)
        that several of them ran; the first run is at most 0, and 0 if there is none.
        """
        import numpy as np

        ran = np.bincount(self.commit)
        several = ran[self.commit] > 1
        row = np.cumsum(ran > 1)[self.commit[several]] - 1
        ran_on = np.bincount(self.side[several]) > 0
        sides, column = np.flatnonzero(ran_on), np.cumsum(ran_on)[self.side[several]] - 1
        # A column after the other: there are many commits, of which each is summed up.
        tries = np.zeros((3, len(sides), np.count_nonzero(ran > 1)), np.int64)
        first = self.first - self.first.max(initial=0)
        tries[:, column, row] = np.stack([self.runs, self.failed, first])[:, several]
        runs, failed, first = tries.transpose(0, 2, 1)
        return sides, runs, failed, first

    def apart(self, groups: Flags) -> tuple[Whole, Whole, Whole]:
        """Return the same with a row for each commit and group of sides (a row of flags each), in
        the order of commits and first runs.
        """
        import numpy as np

        sides, runs, failed, first = self.shared()
        groups = groups[:, sides]
        if len(groups) == 1:
            return sides, runs * groups, failed * groups
        runs, failed = (counts[:, None] * groups for counts in (runs, failed))
        order = (first[:, None] * groups).min(axis=2, initial=0).argsort(axis=1)[:, :, None]
        runs, failed = (np.take_along_axis(counts, order, axis=1) for counts in (runs, failed))
        shape = len(first) * len(groups), len(sides)
        return sides, runs.reshape(shape), failed.reshape(shape)


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
    def boxes(self) -> Sequence[str]:
        """The boxes of the runs."""
        return [*dict.fromkeys(run.box_key for run in self.found.runs)]

    @cached_property
    def box(self) -> Whole:
        """The box of each run, by its place in the list of boxes."""
        return _numbered(self.boxes, [run.box_key for run in self.found.runs])

    @cached_property
    def commits(self) -> Sequence[str]:
        """The commits of the runs, by their first trials, then those without any."""
        trials = (run.sha for run in self.found.runs if _is_trial(run))
        return [*dict.fromkeys(chain(trials, (run.sha for run in self.found.runs)))]

    @cached_property
    def commit(self) -> Whole:
        """The commit of each run, by its place in the list of commits."""
        return _numbered(self.commits, [run.sha for run in self.found.runs])

    def told(self, test_id: str) -> Told:
        """Return the runs that tell something of a test. Behind a lost board, nothing is told."""
        import numpy as np

        test = self.found.number_of(test_id)
        none = np.zeros((len(Told._fields), 0), np.int64)
        return Told(*none) if test is None else self.told_of(test)

    def told_of(self, test: int) -> Told:
        """Return the same of the test with this number."""
        import numpy as np

        lists, list_of = self._lists
        run = np.flatnonzero((lists[:, test >> 3] >> (test & 7) & 1)[list_of])
        notable = self._notable_of(test)
        told = np.zeros((len(notable.told), len(run)), np.int64)
        told[:, np.searchsorted(run, notable.run)] = notable.told
        return Told(run, *told)

    def pattern_of(self, test: int) -> object:
        """Return what all runs tell of a test: whatever is said of it holds for others that have
        the same.
        """
        lists, _ = self._lists
        notable = self._notable_of(test)
        columns = lists[:, test >> 3] >> (test & 7) & 1, notable.run, notable.told
        return tuple(column.tobytes() for column in columns)

    def failed_on(self, test: int) -> Collection[str]:
        """Return the boxes on which a test ever failed."""
        return self.named(self.box[self._notable_of(test).run])

    def named(self, boxes: Whole) -> Collection[str]:
        """Return the names of these boxes."""
        return {self.boxes[box] for box in {*boxes.tolist()}}

    def by_box(self, boxes: Whole, failed: Flags | Whole) -> Mapping[str, FirstAttempts]:
        """Return how many runs failed on each box, by name. `boxes`: the box of each run."""
        import numpy as np

        runs, of_failed = np.bincount(boxes), np.bincount(boxes, failed)
        return {
            name: FirstAttempts(int(of_failed[box]), int(runs[box]))
            for box, name in sorted(enumerate(self.boxes), key=lambda pair: pair[1])
            if box < len(runs) and runs[box]
        }

    def first_attempts(self) -> Mapping[str, FirstAttempts]:
        """Return those of each test in the runs that tell something of the firmware; none if there
        is no such run.
        """
        import numpy as np

        lists, list_of = self._lists
        times = np.bincount(list_of, minlength=len(lists))
        ran = times @ np.unpackbits(lists, axis=1, bitorder="little")
        notable = self._notable
        of_bench = notable.told[Told._fields.index("of_bench") - 1] > 0
        untold, failed = (
            np.bincount(notable.test[rows], minlength=len(ran)).tolist()
            for rows in (of_bench, ~of_bench)
        )
        runs = (ran - untold).tolist()
        return {
            name: FirstAttempts(failed[test], runs[test])
            for test, name in self.found.tests.items()
            if runs[test]
        }

    @cached_property
    def _lists(self) -> tuple[Bytes, Whole]:
        """The lists of tests of which runs tell, a row of bits each, and the list of each run."""
        import numpy as np

        lists: dict[int, int] = {}
        list_of = [
            lists.setdefault(run.ran & ~self._untold(number) if run.hello_ok else 0, len(lists))
            for number, run in enumerate(self.found.runs)
        ]
        width = max(self.found.tests, default=0) // 8 + 1
        return packed(lists, width), np.array(list_of, np.int64)

    @cached_property
    def _notable(self) -> _Notable:
        import numpy as np

        runs = self.found.runs
        results = [*chain.from_iterable(run.notable.values() for run in runs)]
        size = len(results)
        test = np.fromiter(chain.from_iterable(run.notable for run in runs), np.int64, size)
        run = np.repeat(np.arange(len(runs)), [len(run.notable) for run in runs])
        lost, is_told = np.zeros(size, bool), np.ones(size, bool)
        for number, loss in self.lost.items():
            here = slice(*np.searchsorted(run, [number, number + 1]))
            lost[here] = test[here] == loss.tests[0]
            is_told[here] = ~np.isin(test[here], loss.untold)
        # Few results differ, and most that are equal are one object.
        ids = np.fromiter(map(id, results), np.int64, size)
        _, first, kind = np.unique(ids, return_index=True, return_inverse=True)
        unlike = [results[at] for at in first.tolist()]
        of_bench = np.array([it.verdict is Verdict.INFRA for it in unlike], bool)[kind]
        retries = np.array([it.attempts - 1 for it in unlike], np.int64)[kind]
        passed = np.array([it.outcome is Outcome.PASS for it in unlike], bool)[kind]
        told = np.stack([np.ones_like(retries), lost, of_bench & ~lost, retries, retries - passed])
        order = np.argsort(test, kind="stable")
        order = order[is_told[order]]
        return _Notable(test[order], run[order], told[:, order])

    def _notable_of(self, test: int) -> _Notable:
        import numpy as np

        tests, run, told = self._notable
        here = slice(*np.searchsorted(tests, [test, test + 1]))
        return _Notable(tests[here], run[here], told[:, here])

    def _untold(self, number: int) -> int:
        """Return the tests of which a run says nothing, as bits."""
        return mask_of(self.lost[number].untold) if number in self.lost else 0

    @cached_property
    def orders(self) -> Collection[Order]:
        """Which boxes run a commit depending on how a run on another box ended there."""
        import numpy as np

        boxes, trial = max(1, len(self.boxes)), np.flatnonzero(self._cell >= 0)
        ended, row = np.unique(self.commit[trial] * boxes + self.box[trial], return_inverse=True)
        has_failed = [_has_failed(self.found.runs[at]) for at in trial.tolist()]
        failed = np.bincount(row[np.array(has_failed, bool)], minlength=len(ended)) > 0
        return orders(self._ended(*np.divmod(ended, boxes), failed))

    def _ended(self, commit: Whole, box: Whole, failed: Flags) -> Mapping[str, Ended]:
        """Return how commits ended on each box, of commits, boxes and whether they failed there."""
        import numpy as np

        flags = np.zeros((len(self.boxes), 2, len(self.commits)), bool)
        flags[box, 1 - failed, commit] = True
        return {
            name: Ended(*(int.from_bytes(row.tobytes(), "little") for row in of_box))
            for name, of_box in zip(
                self.boxes, np.packbits(flags, axis=2, bitorder="little"), strict=True
            )
        }

    @cached_property
    def by_stratum(self) -> Mapping[Stratum, Sequence[Trial]]:
        """The trials of each commit, without reruns."""
        strata: dict[Stratum, list[Trial]] = {}
        for sha, trials in self._by_commit.items():
            for trial in trials:
                after = self._waits.get(box_of(trial.side), frozenset())
                strata.setdefault(Stratum(sha, after), []).append(trial)
        return strata

    @cached_property
    def _waits(self) -> Mapping[str, frozenset[str]]:
        return _waits(self.orders)

    @cached_property
    def _by_commit(self) -> Mapping[str, Sequence[Trial]]:
        trials: dict[str, list[Trial]] = defaultdict(list)
        for number, run in enumerate(self.found.runs):
            if _is_trial(run):
                untold = self._untold(number)
                failed = mask_of(run.notable) & ~untold
                trials[run.sha].append(Trial(self.side_of(run), run.ran & ~untold, failed, number))
        return trials

    @cached_property
    def _sides(self) -> Sequence[Side]:
        """What is compared: boxes, and where any has a note, also what each was before."""
        return [*self.boxes, *(map(Earlier, self.boxes) if self.noted else ())]

    @cached_property
    def _cell(self) -> Whole:
        """Where the tries of each run count: the number of its commit, times that of the sides, and
        the number of its side; -1: nowhere.
        """
        import numpy as np

        runs = self.found.runs
        side = _numbered(self._sides, map(self.side_of, runs))
        cell = self.commit * len(self._sides) + side
        return np.where(np.array([*map(_is_trial, runs)], bool), cell, -1)

    @cached_property
    def _cells(self) -> tuple[Whole, Whole, Whole]:
        """The commit and the side of each cell that has a trial, in their order, and the place of
        the cell of each run among these; -1: it is no trial.
        """
        import numpy as np

        cells, place = np.unique(self._cell, return_inverse=True)
        none = np.searchsorted(cells, 0)
        commit, side = np.divmod(cells[none:], max(1, len(self._sides)))
        return commit, side, place - none

    def _tries(self, test: int) -> _Tries:
        """Return the tries of a test."""
        import numpy as np

        told = self.told_of(test)
        commit, side, place = self._cells
        cell = place[told.run]
        trial = np.flatnonzero(cell >= 0)
        runs = np.bincount(cell[trial], minlength=len(commit))
        failed = np.bincount(cell[trial[told.failed[trial] > 0]], minlength=len(commit))
        first = np.zeros_like(commit)
        first[cell[trial[::-1]]] = told.run[trial[::-1]]  # the last that is put there stays
        return _Tries(*(column[runs > 0] for column in (commit, side, runs, failed, first)))

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
        import numpy as np

        if self.blame_of(test) is not None:
            return None
        sides, *counts, _ = self._tries(test).shared()
        # A box before its note and since then is one box.
        boxes, column = np.unique(sides % len(self.boxes), return_inverse=True)
        runs, failed = np.zeros((2, len(boxes), len(counts[0])), np.int64)
        for of_boxes, of_sides in zip((runs, failed), counts, strict=True):
            np.add.at(of_boxes, column, of_sides.T)
        return uncompared([self.boxes[box] for box in boxes.tolist()], runs.T, failed.T)

    def _weighed(self, test: int) -> Blame[Side] | None:
        tries = self._tries(test)
        sides, runs, failed = tries.apart(self._groups(tries))
        return blame([self._sides[side] for side in sides.tolist()], runs, failed)

    def _groups(self, tries: _Tries) -> Flags:
        """Return the sides that are compared in groups that wait for the same boxes, as flags."""
        import numpy as np

        has_failed = tries.failed > 0
        box = tries.side % max(1, len(self.boxes))
        waits = _waits(orders(self._ended(tries.commit, box, has_failed)))
        failed = {self._sides[side] for side in {*tries.side[has_failed].tolist()}}
        groups: dict[frozenset[str], list[int]] = defaultdict(list)
        for at in sorted({*tries.side.tolist()}):
            side = self._sides[at]
            if self._is_taken(side, failed):
                after = (of.get(box_of(side), frozenset()) for of in (self._waits, waits))
                groups[frozenset().union(*after)].append(at)
        several = [sides for sides in groups.values() if len(sides) > 1]
        flags = np.zeros((len(several), len(self._sides)), bool)
        for group, sides in zip(flags, several, strict=True):
            group[sides] = True
        return flags

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


def _is_trial(run: RunOutcomes) -> bool:
    """Whether a run can be compared: it reached the hardware, and nobody asked for it again."""
    return run.hello_ok and not is_rerun(run)


def _numbered(names: Iterable[Side], values: Iterable[Side]) -> Whole:
    """Return the place of each value among these names."""
    import numpy as np

    places = {name: place for place, name in enumerate(names)}
    return np.array([*map(places.__getitem__, values)], np.int64)


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


def _failed(run: RunOutcomes, test: int) -> bool:
    result = run.notable.get(test)
    return result is not None and result.outcome is Outcome.FAIL


def _has_failed(run: RunOutcomes) -> bool:
    return any(result.outcome is Outcome.FAIL for result in run.notable.values())
