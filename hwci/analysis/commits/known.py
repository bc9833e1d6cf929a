# SPDX-License-Identifier: Apache-2.0
"""What is known of each test of a commit: what it did there on each box, how it fared before the
change, and how likely it is that the change broke it.

Tests with which all runs did the same are one case, so ten thousand failures cost little. Which
runs count is decided in `change.py`, the odds in `odds.py`; what caused a failure, in `whose.py`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from operator import or_
from typing import NamedTuple

from hwci.analysis.benches.trials import Trials
from hwci.analysis.commits.before import Ran, Tries, is_failed
from hwci.analysis.commits.change import Change
from hwci.analysis.commits.odds import Chances, Losses, Odds
from hwci.analysis.commits.past import Box, Past
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.contract.vocabulary import Outcome, Verdict


class Known(NamedTuple):
    """What is known of a test. `boxes`: those of which runs at the commit tell something, by name.
    `failed_on`, `passed_on`: the boxes, whatever is told. `chances`: None if no run tells of a
    failure. `lost_at`: the tests at which runs lost the board that failed it then or before;
    `losses`: what their boxes lose. `past`: before the change.
    """

    boxes: Sequence[Box]
    failed_on: Sequence[str]
    passed_on: Sequence[str]
    chances: Chances | None
    lost_at: Sequence[int]
    losses: Losses
    past: Past

    @property
    def failing(self) -> Sequence[Box]:
        """The boxes that tell of a failure."""
        return [box for box in self.boxes if box.failed]

    @property
    def tries(self) -> Tries:
        """All attempts at the commit that tell something."""
        return reduce(Tries.plus, (box.on.tries for box in self.boxes), Tries())


class Tested:
    """The runs of a product, as they tell of the tests of a commit."""

    def __init__(self, history: RecordedRuns, outcomes: ProductOutcomes, change: Change) -> None:
        self._change, self._outcomes = change, outcomes
        self._check_time = history.check_time
        self._trials = Trials(outcomes, history.check_time, {})
        before = [run for run in outcomes.runs if change.is_below(run) or change.is_earlier(run)]
        self._before = Trials(replace(outcomes, runs=before), history.check_time, {})
        self._here = [
            number
            for number, run in enumerate(outcomes.runs)
            if run.sha == change.sha and run.hello_ok
        ]
        self._known: dict[object, Known] = {}

    @property
    def _runs(self) -> Sequence[RunOutcomes]:
        return self._outcomes.runs

    def name_of(self, test: int) -> str:
        """Return the name of a test."""
        return self._outcomes.tests[test]

    @cached_property
    def failing(self) -> Mapping[int, RunOutcomes]:
        """The tests that failed at the commit, each with the first run that did."""
        first: dict[int, RunOutcomes] = {}
        for number in self._here:
            for test in _failed_in(self._runs[number]):
                first.setdefault(test, self._runs[number])
        return first

    def failed_by(self, test: int) -> Iterator[RunOutcomes]:
        """Yield the runs at the commit that failed a test."""
        runs = (self._runs[number] for number in self._here)
        return (run for run in runs if is_failed(Ran.of(run, test)))

    @cached_property
    def mended(self) -> Collection[int]:
        """The tests that only passed at the commit, and failed in the last run of a box before."""
        failed, seen = set[int](), defaultdict[str, int](int)
        for run in reversed(self._runs):
            if run.hello_ok and self._change.is_below(run):
                new = run.ran & ~seen[run.box_key]
                seen[run.box_key] |= run.ran
                failed.update(test for test in _failed_in(run) if new >> test & 1)
        ran = reduce(or_, (self._runs[number].ran for number in self._here), 0)
        return {test for test in failed - self.failing.keys() if ran >> test & 1}

    def known(self, test: int) -> Known:
        """Return what is known of a test that ran at the commit."""
        ran = [number for number in self._here if self._runs[number].ran >> test & 1]
        tells = [self._tells(number, test) for number in ran]
        key = self._trials.pattern_of(test), tuple(ran), tuple(tells)
        if key not in self._known:
            self._check_time()
            self._known[key] = self._of(test, ran, tells)
        return self._known[key]

    def _tells(self, number: int, test: int) -> bool:
        """Whether a run at the commit tells something of a test. One that lost its board tells
        nothing of the test at which it did either, unless two lost it there: one may be by chance.
        """
        lost = self._trials.lost.get(number)
        if lost is None or test not in lost.tests:
            return True
        return test == lost.tests[0] and self._lost_at[test] > 1

    @cached_property
    def _lost_at(self) -> Counter[int]:
        lost = self._trials.lost
        return Counter(lost[number].tests[0] for number in self._here if number in lost)

    @cached_property
    def _odds(self) -> Odds:
        return Odds(self._before.first_attempts().values())

    def _of(self, test: int, ran: Sequence[int], tells: Sequence[bool]) -> Known:
        telling: dict[str, list[Ran]] = defaultdict(list)
        failed_on, passed_on, lost = set[str](), set[str](), list[int]()
        for number, is_told in zip(ran, tells, strict=True):
            run = self._runs[number]
            row = self._ran(number, test)
            (failed_on if is_failed(row) else passed_on).add(run.box_key)
            if is_told:
                telling[run.box_key].append(row)
            else:
                lost.append(number)
        rows = [Ran.of(self._runs[at], test) for at in self._trials.told_of(test).run.tolist()]
        past = Past(self._change, rows, self._before.blame_of(test))
        boxes = [past.box(box, here) for box, here in sorted(telling.items())]
        chances = None
        if any(box.failed for box in boxes):
            on = [box.on for box in boxes]
            chances = self._odds.chances(on, past.good.tries, past.bad.tries)
        return Known(
            boxes=boxes,
            failed_on=sorted(failed_on),
            passed_on=sorted(passed_on),
            chances=chances,
            lost_at=sorted({self._trials.lost[number].tests[0] for number in lost}),
            losses=self._losses(lost),
            past=past,
        )

    def _ran(self, number: int, test: int) -> Ran:
        """Return what a run did with a test. At a lost board the harness sees a dead bench, whoever
        killed it: its word counts for nothing.
        """
        row, lost = Ran.of(self._runs[number], test), self._trials.lost.get(number)
        if row.result is None or lost is None or test not in lost.tests:
            return row
        return row._replace(result=replace(row.result, verdict=Verdict.UNKNOWN))

    def _losses(self, lost: Sequence[int]) -> Losses:
        """Return what the boxes of these runs lose. A run that kept its board counts if it ran each
        test at which one was lost: another may not have reached what hangs the board.
        """
        boxes = {self._runs[number].box_key for number in lost}
        lost_at = reduce(or_, (1 << self._trials.lost[number].tests[0] for number in lost), 0)
        here = [
            number in self._trials.lost
            for number in self._here
            if self._runs[number].box_key in boxes
            if number in self._trials.lost or not lost_at & ~self._runs[number].ran
        ]
        before = [
            number in self._before.lost
            for number, run in enumerate(self._before.found.runs)
            if run.box_key in boxes and run.hello_ok
        ]
        return Losses(*(Tries(sum(rows), len(rows) - sum(rows)) for rows in (here, before)))


def _failed_in(run: RunOutcomes) -> Iterator[int]:
    return (test for test, result in run.notable.items() if result.outcome is Outcome.FAIL)
