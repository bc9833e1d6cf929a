# SPDX-License-Identifier: Apache-2.0
"""Intermittent firmware suspects: since which commit a test is flaky, what that commit changed,
whether it is so on all boxes alike, and how many clean runs say that it is fixed.

This module decides what is counted for these answers and when there is too little of it. Which
boxes explain the failures is decided in `benches/blame.py`, and only their runs count then. The
models of time are in `onset.py` and `certainty.py`, the sentences in `suspect_words.py`. Which
tests are flaky, and their order, is the table's of the specification (`rules/flakiness.py`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING, NamedTuple

from hwci import said
from hwci.analysis.benches.blame import Blamed
from hwci.analysis.benches.lost_runs import LostBoards, failures_in_lost_runs
from hwci.analysis.benches.trials import Trials, box_of
from hwci.analysis.benches.words import listed
from hwci.analysis.certainty import SURE, chance_of_passes, clean_runs_needed, jeffreys, rates
from hwci.analysis.flaky.branch_order import branch_order
from hwci.analysis.flaky.onset import Onset, Step, onsets, rates_beside
from hwci.analysis.flaky.weighing import effort
from hwci.contract.flaky import suspects as shapes
from hwci.contract.flaky.suspects import (
    IT_NEVER_PASSED,
    BoxesCompared,
    BoxRate,
    BranchCommit,
    Fixed,
)
from hwci.contract.vocabulary import CommitKind, Label, RankBy
from hwci.engine.facts import FailureKey, Product
from hwci.engine.history import Listing, Scope
from hwci.engine.page.reading import read_flakiest
from hwci.engine.page.tables import flakiest_tests
from hwci.engine.periods import Period
from hwci.engine.rules.labels import groups_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hwci.analysis.benches.blame import Blame, Flags, Numbers, Uncompared, Whole
    from hwci.analysis.benches.trials import Side
    from hwci.analysis.flaky.onset import Rates
    from hwci.analysis.outcomes import (
        FirstAttempts,
        ProductOutcomes,
        RecordedRuns,
        RunOutcomes,
    )
    from hwci.contract.boxes.benches import Note
    from hwci.contract.flaky.flaky_history import BoxHistory
    from hwci.contract.flaky.flaky_tests import FlakyTest
    from hwci.contract.shares import Share
    from hwci.engine.facts import TestKey
    from hwci.engine.page.tables import FlakySelection
    from hwci.engine.rules.labels import Group

RUNS_NEEDED = 20
FAILURES_NEEDED = 2
"""So many runs on the branch, and so many that failed at first, are the fewest to judge by."""
GONE_AFTER = 5.0
"""A box is gone if it would have run the test so often since, had it run it as often as before."""
SHOWN_MAX = 20
"""The most commits and boxes that an answer names; it counts all."""
CLEAN_BEFORE = 5
"""So many commits on which it did not fail stand between the ends of the suspects, if there are as
many: after one pass alone it would be likely that it failed there already.
"""
SET_HOLDS = 0.9
"""The suspects hold together so large a part of the chance that a commit of the period did it."""
NEVER_PASSED = f"{IT_NEVER_PASSED[0].lower()}{IT_NEVER_PASSED[1:]}"
STRONG = 0.9
"""A chance that is called sure."""
BROKEN_BY_CHANCE = 0.05
"""A test that passes again is called broken only if a flaky one would fail so often in a row, in so
large a part of histories at most.
"""
LOST_BY_CHANCE = 0.01
"""So likely a test loses the board so often by chance, at most, if it is called the suspect."""


_EARLIEST = datetime.min.replace(tzinfo=UTC)
_KINDS = [*CommitKind]


@dataclass(frozen=True, kw_only=True)
class Since(shapes.Since):
    """The same, with what is not shown. The first run of the period began at `begins_at`
    (`is_first`: no run was reported before that). `chances`: that of each commit of the branch, in
    their order: the one chance that a commit has, wherever it is shown (semantics, 13). `by_kind`:
    the chances by what commits changed, likeliest commit first, if one of the period did; `usual`:
    the shares of these kinds of all of them. `ends`: a commit some way before all suspects, on
    which it ran and did not fail, and the last on which it failed from them on; None: there are no
    such two.
    """

    begins_at: datetime
    is_first: bool
    chances: Mapping[str, float]
    by_kind: Mapping[CommitKind, float]
    usual: Mapping[CommitKind, float]
    ends: tuple[str, str] | None

    def after(self, sha: str) -> float | None:
        """Return the chance that it was a commit after this one; None: it is not of the branch."""
        if sha not in self.chances:
            return None
        later = [*self.chances][::-1]
        return sum(self.chances[commit] for commit in later[: later.index(sha)])


@dataclass(frozen=True, kw_only=True)
class Intermittent(shapes.Intermittent):
    """The same, with what is not shown. A broken test failed in all `broken_for` runs since then,
    retries too, which were of the commits `broken_on`; both are empty of any other
    (`BROKEN_BY_CHANCE`). `failed_on`: the boxes on which it failed since; `passes_again`: on each
    of them. `judged_on`: the boxes to blame, whose runs alone count here; None: all boxes. `rate`:
    about that of its first attempts that fail since then. `clean_of_bench`: so many failures that
    the harness blames on the bench lie among its clean runs. `bisection` takes long, so it is null
    until it is asked for (`bisected`).
    """

    since: Since
    broken_for: int
    broken_on: Sequence[str]
    clean_of_bench: int
    failed_on: Collection[str]
    passes_again: bool
    judged_on: Collection[str] | None
    rate: float

    @property
    def broken(self) -> bool:
        """Whether it failed in each run since."""
        return self.broken_for > 0

    @property
    def would_be_fixed(self) -> bool:
        """Whether its clean runs are enough, be they on all of its boxes or not."""
        return self.fixed.needed == 0 or (self.broken and self.passes_again)

    @property
    def is_fixed(self) -> bool:
        """Whether it passes again on each box on which it failed; a flaky test in a row of runs
        that says so.
        """
        return self.passes_again and self.would_be_fixed


class Tried(NamedTuple):
    """The runs of a test that tell something of it, on all branches and boxes: `on_boxes` has how
    often its first attempt failed on each. `gone`: the boxes that run it no more, each with its
    last run. `lost_here`: the runs that lost their board at this test, which count as failed, of
    `lost` runs that lost it at any test. `tests`: so many a run has on average. `failed_last`: the
    boxes whose last run failed. `uncompared`: why its boxes cannot be compared; None: they can.
    `behind_loss`: its failures in runs that had all lost their board before it, which tell nothing.
    `never_passed_on`: the boxes on which all attempts failed, in two runs or more. `of_bench`: so
    many failures the harness blames on the bench. `passed_last`: so many runs passed since the last
    that failed, be it by the bench, on the boxes on which it failed.
    """

    on_boxes: Mapping[str, FirstAttempts]
    gone: Mapping[str, datetime]
    lost_here: Sequence[RunOutcomes]
    lost: int
    tests: int
    failed_last: Collection[str] = ()
    uncompared: Uncompared | None = None
    behind_loss: Collection[FailureKey] = ()
    never_passed_on: Collection[str] = ()
    of_bench: int = 0
    passed_last: int = 0

    @property
    def failed(self) -> int:
        """So many first attempts failed."""
        return sum(box.failed for box in self.on_boxes.values())

    @property
    def runs(self) -> int:
        """So many runs tell something."""
        return sum(box.runs for box in self.on_boxes.values())

    @property
    def boxes(self) -> Sequence[str]:
        """All boxes that ran it."""
        return [*self.on_boxes]

    def last_run_of(self, boxes: Collection[str]) -> datetime:
        """Return when the last of these boxes, which run it no more, ran it; of all boxes, if none
        runs it any more.
        """
        return max(at for box, at in self.gone.items() if box in boxes or self.is_left_out)

    @property
    def is_left_out(self) -> bool:
        """Whether no box runs it any more."""
        return self.gone.keys() >= self.on_boxes.keys()

    @property
    def failed_on(self) -> Collection[str]:
        """The boxes on which it failed."""
        return {box for box, counts in self.on_boxes.items() if counts.failed}

    @property
    def is_lost_here(self) -> bool:
        """Whether it loses the board more often than a test does by chance."""
        times = len(self.lost_here)
        return times > 1 and self.tests * _tail(times, self.lost, 1 / self.tests) <= LOST_BY_CHANCE


@dataclass(frozen=True, slots=True)
class Suspect:
    """A flaky test of the specification's table, its rate, and what its runs suggest; or what is
    missing for that. `blame`: which boxes explain its failures; `pending`: those that are.
    `notes`: the latest one of each box that has any.
    """

    test: FlakyTest
    rate: Share
    found: Intermittent | None
    missing: str | None
    tried: Tried
    blame: Blame[Side] | None = None
    pending: Sequence[Group] = ()
    notes: Mapping[str, Note] = field(default_factory=dict)


def flaky_tests(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    selection: FlakySelection,
    rank_by: RankBy = RankBy.FLAKE_RATE,
    notes: Mapping[str, Note] | None = None,
) -> Listing[Suspect]:
    """Return the selected rows of "Flakiest tests" with what their runs suggest. `notes`: the
    latest one of each box that has any.
    """
    shown = ranked(history, scope, period, selection, rank_by)
    return Listing(suspects_of(history, scope, period, shown.items, notes), shown.total)


def suspects_of(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    rows: Sequence[FlakyTest],
    notes: Mapping[str, Note] | None = None,
) -> list[Suspect]:
    """Return these rows of "Flakiest tests" with what their runs suggest."""
    wanted = {Product(row.repo_key, row.suite) for row in rows}
    outcomes = history.outcomes(scope, period) if wanted else ()
    seen = {
        of_product.product: SeenProduct(history, of_product, notes)
        for of_product in outcomes
        if of_product.product in wanted
    }
    shown_tests = [(Product(row.repo_key, row.suite), row.test_id) for row in rows]
    pending = pending_by_test(history, shown_tests, period)
    for product, of_product in seen.items():
        of_product.suggest(
            [row.test_id for row in rows if (row.repo_key, row.suite) == product and not row.broken]
        )
    suspects = []
    for row, rate in zip(rows, flake_rates(rows), strict=True):
        history.check_time()
        product = Product(row.repo_key, row.suite)
        suspect = seen[product].suspect(row, rate)
        suspects.append(replace(suspect, pending=pending.get((product, row.test_id), ())))
    return suspects


def pending_by_test(
    history: RecordedRuns, tests: Collection[TestKey], period: Period
) -> Mapping[TestKey, Sequence[Group]]:
    """Return the pending failures of each of these tests that failed in the period."""
    pending: dict[TestKey, list[Group]] = defaultdict(list)
    for group in groups_of(history, history.never_passed_since(tests, period)):
        if group.label is Label.PENDING:
            lane = group.first.key.lane
            pending[lane.product, lane.test_id].append(group)
    return pending


def flake_rates(rows: Sequence[FlakyTest | BoxHistory]) -> list[Share]:
    """Return the flake rate of each test, or of one on each box, with its interval."""
    return rates([(row.failed_attempts, row.attempts) for row in rows])


def ranked(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    selection: FlakySelection,
    rank_by: RankBy,
) -> Listing[FlakyTest]:
    """Return the selected rows of "Flakiest tests" by a rank. A sort that is asked for goes before
    it.
    """
    rows = read_flakiest(history, scope, period)
    if rank_by is RankBy.LOWER_BOUND:
        lows = [rate.low or 0.0 for rate in flake_rates(rows)]
        by_low = sorted(zip(lows, rows, strict=True), key=lambda pair: -pair[0])
        rows = [row for _, row in by_low]
    return flakiest_tests(rows, selection)


class Counted(NamedTuple):
    """Runs of a test as they count, a column each: on which commit of the branch, on which box (by
    its number), whether the first attempt failed, the retries, and those that failed.
    """

    at: Whole
    box: Whole
    failed: Whole
    retries: Whole
    retries_failed: Whole

    def where(self, rows: Flags | Whole | slice) -> Counted:
        """Return some of these runs."""
        return Counted(*(column[rows] for column in self))

    def on(self, boxes: Sequence[int]) -> Counted:
        """Return the runs on these boxes."""
        import numpy as np

        return self.where(np.bincount(boxes, minlength=self.box.max(initial=0) + 1)[self.box] > 0)

    @property
    def places(self) -> list[int]:
        """The commits of these runs."""
        import numpy as np

        return np.flatnonzero(np.bincount(self.at)).tolist()


class SeenProduct:
    """The runs of a product on the branch that ran most, and the commits of that branch in order.
    Runs of other branches count, too, if their commit is on it. `notes`: the latest one of each box
    that has any.
    """

    def __init__(
        self,
        history: RecordedRuns,
        product: ProductOutcomes,
        notes: Mapping[str, Note] | None = None,
    ) -> None:
        self._history, self.outcomes, self.notes = history, product, notes or {}
        self.trials = Trials(
            product, history.check_time, {box: note.at for box, note in self.notes.items()}
        )

    @cached_property
    def branch(self) -> str:
        """The branch that ran most."""
        ran: dict[str, int] = defaultdict(int)
        for run in self.outcomes.runs:
            ran[run.branch] += run.hello_ok
        return max(sorted(ran), key=ran.__getitem__)

    @cached_property
    def _placed_commits(self) -> Sequence[BranchCommit] | None:
        shas = {run.sha for run in self.outcomes.runs if run.hello_ok}
        return branch_order(self._history, self.outcomes.product, self.branch, shas)

    @property
    def order(self) -> Sequence[BranchCommit]:
        """The commits of the branch in order; none if it is not known."""
        return self._placed_commits or ()

    @cached_property
    def _at(self) -> Mapping[str, int]:
        return {commit.sha: at for at, commit in enumerate(self.order)}

    @cached_property
    def first_attempts(self) -> Mapping[str, FirstAttempts]:
        """Those of each test, in the runs that tell something of the firmware."""
        return self.trials.first_attempts()

    @cached_property
    def _alike(self) -> Counter[FirstAttempts]:
        """How many tests have the same counts."""
        return Counter(self.first_attempts.values())

    @cached_property
    def lost_boards(self) -> LostBoards:
        """The failures of runs that lost their board."""
        return failures_in_lost_runs(self.trials, self._history.check_time)

    @cached_property
    def _placed(self) -> Whole:
        """The place of the commit of each run; -1: it is not of the branch."""
        import numpy as np

        places = np.array([self._at.get(sha, -1) for sha in self.trials.commits])
        return places[self.trials.commit]

    @cached_property
    def _tests(self) -> Whole:
        """How many tests each run has."""
        import numpy as np

        return np.array([len(run.order) for run in self.outcomes.runs])

    @cached_property
    def _begun(self) -> Whole:
        """How many commits ran first until each run began."""
        import numpy as np

        return np.array([bisect_right(self._commits, run.started_at) for run in self.outcomes.runs])

    @property
    def _begins_at(self) -> datetime:
        return self.outcomes.runs[0].started_at

    @cached_property
    def _commits(self) -> Sequence[datetime]:
        first: dict[str, datetime] = {}
        for run in self.outcomes.runs:
            if run.hello_ok:
                first.setdefault(run.sha, run.started_at)
        return sorted(first.values())

    @cached_property
    def _is_first(self) -> bool:
        if self._begins_at == _EARLIEST:
            return True
        before = Period(_EARLIEST, self._begins_at - timedelta(microseconds=1))
        return not self._history.run_counts(Scope(*self.outcomes.product), before).total

    def rates(self, test_id: str) -> Rates:
        """Return the rates that a test with runs may have, beside what the other tests do."""
        return rates_beside(self._alike - Counter([self.first_attempts[test_id]]))

    def suspect(self, row: FlakyTest, rate: Share) -> Suspect:
        """Return what the runs of a test suggest."""
        suggestion = self.found(row.test_id, never_passed=row.broken)
        return Suspect(
            test=row,
            rate=rate,
            found=None if isinstance(suggestion, str) else suggestion,
            missing=suggestion if isinstance(suggestion, str) else None,
            tried=self.tried(row.test_id),
            blame=self.blame_of(row.test_id),
            notes=self.notes,
        )

    def blame_of(self, test_id: str) -> Blame[Side] | None:
        """Return which boxes explain the failures of a test; None: too little to compare."""
        number = self.outcomes.number_of(test_id)
        return None if number is None else self.trials.blame_of(number)

    def tried(self, test_id: str) -> Tried:
        """Return how often a test was tried, and how often it lost its board."""
        number = self.outcomes.number_of(test_id)
        trials, told, runs = self.trials, self.trials.told(test_id), self.outcomes.runs
        box = trials.box[told.run]
        never_passed = (told.failed > 0) & (told.retries_failed == told.retries)
        on_boxes, failed_always = trials.by_box(box, told.failed), trials.by_box(box, never_passed)
        lost = [runs[at] for at in trials.lost]
        return Tried(
            on_boxes=on_boxes,
            gone=self._gone(told.run, [*on_boxes]),
            failed_last=trials.named(_failed_last(box, told.failed)),
            lost_here=[runs[at] for at in told.run[told.lost > 0].tolist()],
            lost=sum(run.ran >> (number or 0) & 1 for run in lost),
            tests=max(1, int(self._tests[told.run].sum()) // max(1, len(told.run))),
            uncompared=None if number is None else trials.why_uncompared(number),
            behind_loss={
                key
                for key, tests in self.lost_boards.items()
                if key.lane.test_id == test_id and test_id not in tests
            },
            never_passed_on={
                name for name, (failed, ran) in failed_always.items() if failed == ran > 1
            },
            of_bench=int(told.of_bench.sum()),
            passed_last=_passed_last(box, told.failed),
        )

    def _gone(self, ran: Whole, boxes: Sequence[str]) -> Mapping[str, datetime]:
        """Return which of these boxes run a test no more, each with its last run. `ran`: all runs
        of the test.
        """
        last_runs = {}
        for box in boxes:
            own = ran[self.trials.box[ran] == self.trials.boxes.index(box)]
            begun = self._begun[own].tolist()
            first, last = min(begun), max(begun)
            usual = min(1.0, len({*self.trials.commit[own].tolist()}) / (last - first + 1))
            if usual * (len(self._commits) - last) >= GONE_AFTER:
                last_runs[box] = max(self.outcomes.runs[at].started_at for at in own.tolist())
        return last_runs

    def found(self, test_id: str, *, never_passed: bool) -> Intermittent | str:
        """Return what the runs of a test suggest, or what is missing. One that failed is too little
        to call a test broken.
        """
        if never_passed and len(self.trials.told(test_id).run) > 1:
            return NEVER_PASSED
        return self.suggested(test_id)

    def suggested(self, test_id: str) -> Intermittent | str:
        """Return what the runs of a test that passed and failed suggest, or what is missing."""
        self.suggest([test_id])
        return self._suggested[test_id]

    def suggest(self, tests: Collection[str]) -> None:
        """Weigh what is suggested of these tests, each once: together they take less time."""
        judged: dict[str, Counted] = {}
        for test_id in dict.fromkeys(tests):
            if test_id in self._suggested:
                continue
            self._history.check_time()
            runs, boxes = self._judged(test_id)
            missing = self._missing(test_id, runs, boxes)
            if missing is None:
                judged[test_id] = runs
            else:
                self._suggested[test_id] = missing
        of_tests = [(steps_of(runs), self.rates(test_id)) for test_id, runs in judged.items()]
        for (test_id, runs), chances in zip(judged.items(), onsets(of_tests), strict=True):
            self._history.check_time()
            self._suggested[test_id] = self._intermittent(test_id, runs, chances)

    @cached_property
    def _suggested(self) -> dict[str, Intermittent | str]:
        return {}

    def _judged(self, test_id: str) -> tuple[Counted, Collection[str]]:
        """Return the runs of a test that count, and on which boxes they are, if not on all: on
        those to blame; else on all but those that left before the first came on which it fails.
        """
        counted, boxes = self.counted(test_id), culprits(self.blame_of(test_id))
        if not boxes:
            boxes = self.trials.named(_overlapping(counted))
            if len(boxes) == len(self.trials.named(counted.box)):
                return counted, ()
        return counted.on([self.trials.boxes.index(box) for box in boxes]), boxes

    def _missing(self, test_id: str, counted: Counted, boxes: Collection[str]) -> str | None:
        """Return what is missing to judge by these runs. `boxes`: theirs, if not all count."""
        if self._placed_commits is None:
            return "the order of the commits is not known: changes that were sent lead in a circle"
        runs, failed = len(counted.at), int(counted.failed.sum())
        where = f"of {listed(sorted(boxes))} on {self.branch}" if boxes else f"on {self.branch}"
        if runs < RUNS_NEEDED:
            return f"{said.counted(runs, 'run')} {where}; {RUNS_NEEDED} are needed"
        if counted.at.min() == counted.at.max():
            return f"all runs {where} are of one commit"
        if failed < FAILURES_NEEDED:
            of_bench = int(self.trials.told(test_id).of_bench.sum())
            besides = f", besides {of_bench:,} that the harness blames on the bench"
            return (
                f"{failed} of {runs:,} runs {where} failed{besides if of_bench else ''};"
                f" {FAILURES_NEEDED} failures are needed"
            )
        return None

    def counted(self, test_id: str) -> Counted:
        """Return the runs of a test that tell something of the firmware, on commits of the
        branch.
        """
        run, failed, _, of_bench, retries, retries_failed = self.trials.told(test_id)
        at = self._placed[run]
        counted = Counted(at, self.trials.box[run], failed, retries, retries_failed)
        return counted.where((at >= 0) & (of_bench == 0))

    def _intermittent(self, test_id: str, counted: Counted, chances: Onset) -> Intermittent:
        flaky, blame = flaky_runs(counted, chances), self.blame_of(test_id)
        failed_on = {*flaky.box[flaky.failed > 0].tolist()}
        # Runs elsewhere would not show that it is fixed where it failed.
        shown = flaky.on([*failed_on])
        state = fixed(shown, chances)
        passes_again = not len(_failed_last(shown.box, shown.failed))
        until = _until_last_failure(shown)
        if not _is_broken(until) or (passes_again and not self._is_beyond_chance(test_id, until)):
            until = until.where(slice(0))
        names = self.trials.boxes
        return Intermittent(
            runs=len(counted.at),
            since=self._since(chances, counted),
            boxes=boxes_compared(names, flaky, blame),
            fixed=state,
            bisection=None,
            broken_for=len(until.at),
            broken_on=[self.order[at].sha for at in until.places],
            clean_of_bench=self._clean_of_bench(test_id, shown),
            failed_on={names[box] for box in failed_on},
            passes_again=passes_again,
            judged_on=culprits(blame) or None,
            rate=(int(flaky.failed.sum()) + 0.5) / (len(flaky.at) + 1),
        )

    def _is_beyond_chance(self, test_id: str, row: Counted) -> bool:
        """Whether a test that fails as its other runs on these boxes do would hardly fail so often
        in a row, failures included that the harness blames on the bench.
        """
        import numpy as np

        told = self.trials.told(test_id)
        failed = told.failed[np.isin(self.trials.box[told.run], row.box)]
        runs, times = len(failed), len(row.at)
        rate = (int(failed.sum()) - times + 0.5) / (runs - times + 1)
        return runs * rate**times <= BROKEN_BY_CHANCE

    def _clean_of_bench(self, test_id: str, runs: Counted) -> int:
        """Return how many failures on the boxes of these runs the harness blames on the bench, on
        commits after the last that failed otherwise.
        """
        import numpy as np

        told = self.trials.told(test_id)
        there = np.isin(self.trials.box[told.run], runs.box)
        later = self._placed[told.run] > runs.at[runs.failed > 0].max(initial=-1)
        return int((told.of_bench[there & later] > 0).sum())

    def _since(self, chances: Onset, counted: Counted) -> Since:
        import numpy as np

        likely, chance = likeliest(counted.places, chances)
        within, kinds = sum(chances.at), self._kinds[likely]
        of_kinds = [*dict.fromkeys(kinds.tolist())]
        part = chance / within if within else np.zeros_like(chance)
        by_kind = np.bincount(kinds, part, len(_KINDS))[of_kinds].tolist()
        usual = np.bincount(kinds, minlength=len(_KINDS))[of_kinds] / len(kinds)
        named = {kind: _KINDS[kind] for kind in of_kinds}.values()
        of_commits = np.zeros(len(self.order))
        of_commits[likely] = chance
        total = fewest_that_hold(chance)
        shown = slice(min(total, SHOWN_MAX))
        return Since(
            branch=self.branch,
            before=chances.before + chances.never,
            suspects=tuple(
                shapes.SuspectCommit(**vars(self.order[at]), chance=chance)
                for at, chance in zip(likely[shown].tolist(), chance[shown].tolist(), strict=True)
            ),
            suspects_total=total,
            kinds=shapes.Kinds(
                **{kind.value: part for kind, part in zip(named, by_kind, strict=True)}
            ),
            begins_at=self._begins_at,
            is_first=self._is_first,
            chances=dict(zip(self._at, of_commits.tolist(), strict=True)),
            by_kind=dict(zip(named, by_kind, strict=True)),
            usual=dict(zip(named, usual.tolist(), strict=True)),
            ends=self._ends(likely[:total].tolist(), counted),
        )

    @cached_property
    def _kinds(self) -> Whole:
        """The kind of each commit, by its place in the list of kinds."""
        import numpy as np

        return np.array([_KINDS.index(commit.kind) for commit in self.order], np.int64)

    def _ends(self, suspects: Sequence[int], counted: Counted) -> tuple[str, str] | None:
        failed = {*counted.at[counted.failed > 0].tolist()}
        first, last = min(suspects), max(failed)
        clean = [at for at in counted.places if at < first and at not in failed]
        if not clean or last < max(suspects):
            return None
        return self.order[clean[-CLEAN_BEFORE:][0]].sha, self.order[last].sha


def likeliest(places: Sequence[int], chances: Onset) -> tuple[Whole, Numbers]:
    """Return the commits that came with a step, by their places, likeliest first, and the chance of
    each. What a step is worth is shared among the commits that came with it. `places`: those of the
    steps.
    """
    import numpy as np

    commits = np.diff(places)
    chance = np.repeat(np.array(chances.at[1:]) / commits, commits)
    order = np.argsort(-chance, kind="stable")
    return order + places[0] + 1, chance[order]


def steps_of(counted: Counted) -> Whole:
    """Add up the tries on each commit that ran the test: a row for each, as `Step`."""
    import numpy as np

    places, step = np.unique(counted.at, return_inverse=True)
    tries = np.stack([np.ones_like(step), *counted[2:]], axis=1)
    steps = np.zeros((len(places), len(Step._fields)), np.int64)
    np.add.at(steps[:, :-1], step, tries)
    steps[:, -1] = np.diff(places, prepend=places[0] - 1)
    return steps


def flaky_runs(counted: Counted, chances: Onset) -> Counted:
    """Return the runs from the likeliest onset on, in the order of the commits."""
    places = counted.places
    likeliest = max(range(len(places)), key=chances.at.__getitem__)
    before = chances.before + chances.never
    first = places[likeliest] if chances.at[likeliest] > before else places[0]
    flaky = counted.where(counted.at >= first)
    return flaky.where(flaky.at.argsort(kind="stable"))


def fixed(flaky: Counted, chances: Onset) -> Fixed:
    """Judge by the runs since a test is flaky, in the order of the commits, and by the chance that
    it still is.

    Rates alone do not say it: one failure after many passes is rare enough to be a steady test's.
    The clean runs since the last failure must say it, too.
    """
    unfixed = min(1.0, chances.still_flaky + chances.never)
    runs, failing = len(flaky.at), flaky.failed.nonzero()[0].tolist()
    clean = runs - 1 - failing[-1] if failing else runs
    failed, passed = len(failing), runs - len(failing)
    by_rates = clean_runs_needed(failed, passed, unfixed)
    by_clean = clean_runs_needed(failed, passed - clean)
    needed = None
    if by_rates is not None and by_clean is not None:
        needed = max(by_rates, by_clean - clean)
    chance = 1 / (1 + chance_of_passes(failed, passed - clean, clean)) if clean else 0.0
    return Fixed(chance=min(1 - unfixed, chance), clean_runs=clean, needed=needed)


def _overlapping(counted: Counted) -> Whole:
    """Return the boxes that ran the test at the first commit of one that failed it, or later; if
    none failed, all.
    """
    failed_on = counted.box[counted.failed > 0].tolist()
    first = counted.on(failed_on).at.min() if failed_on else 0
    return counted.box[counted.at >= first]


def _until_last_failure(runs: Counted) -> Counted:
    """Return the runs up to the last commit that failed, in the order of the commits."""
    return runs.where(runs.at <= runs.at[runs.failed > 0].max(initial=-1))


def _is_broken(runs: Counted) -> bool:
    all_failed = runs.failed.all() and (runs.retries_failed == runs.retries).all()
    return len(runs.at) >= FAILURES_NEEDED and bool(all_failed)


def fewest_that_hold(chances: Numbers) -> int:
    """Return how many of these, the highest first, hold `SET_HOLDS` of the sum of all."""
    held = chances.cumsum()
    return int(held.searchsorted(SET_HOLDS * held[-1])) + 1


def bisected(test: Intermittent) -> Intermittent:
    """Return the same with what a bisection of the suspects takes, on the boxes that can show the
    failure; none where there is nothing to look for, as it is fixed or its commit is sure, or where
    it takes too many runs.
    """
    since, boxes = test.since, test.boxes
    if test.is_fixed or any(suspect.chance >= SURE for suspect in since.suspects):
        return test
    is_alike = (boxes.alike or 0.0) >= STRONG
    able = boxes.boxes_total if is_alike else len(test.judged_on or test.failed_on)
    return replace(test, bisection=effort(max(1, since.suspects_total), test.rate, able))


def culprits(blame: Blame[Side] | None) -> Collection[str]:
    """Return the boxes to blame, if some but not all are."""
    if blame is None or blame.blamed not in {Blamed.ONE, Blamed.GROUP}:
        return ()
    return {box_of(side) for side in blame.boxes}


def boxes_compared(
    names: Sequence[str], flaky: Counted, blame: Blame[Side] | None
) -> BoxesCompared:
    """Return the boxes of a test by their runs since it is flaky. `names`: of all boxes."""
    ran = Counter(flaky.box.tolist())
    failed = Counter(flaky.box[flaky.failed > 0].tolist())
    counts = [(failed[box], number) for box, number in ran.items()]
    runs = [names[box] for box in ran]
    in_common = set() if blame is None else {box_of(side) for side in blame.compared}
    boxes = [
        BoxRate(box_key=box, rate=rate, compared=box in in_common)
        for box, rate in zip(runs, rates(counts), strict=True)
    ]
    # Of few attempts, too: an interval that is not shown still tells which box is likelier worse.
    lows = {box: low for box, (low, _) in zip(runs, jeffreys(counts), strict=True)}
    boxes.sort(key=lambda row: (not row.compared, -lows[row.box_key], row.box_key))
    alike = None if blame is None else blame.alike
    return BoxesCompared(
        boxes=tuple(boxes[:SHOWN_MAX]),
        boxes_total=len(boxes),
        compared=len(in_common),
        alike=alike,
    )


def _passed_last(box: Whole, failed: Whole) -> int:
    """Return how many runs passed since the last that failed, on the boxes on which one failed."""
    import numpy as np

    there = failed[np.isin(box, box[failed > 0])]
    failing = there.nonzero()[0]
    return len(there) - 1 - int(failing[-1]) if len(failing) else 0


def _failed_last(box: Whole, failed: Whole) -> Whole:
    """Return the boxes whose last run failed."""
    import numpy as np

    last = np.zeros(box.max(initial=-1) + 1, np.int64)
    last[box] = failed  # the last that is put there stays
    return last.nonzero()[0]


def _tail(times: int, total: int, chance: float) -> float:
    """Return the chance of so many or more, of so many, each with this chance."""
    return sum(
        comb(total, n) * chance**n * (1 - chance) ** (total - n) for n in range(times, total + 1)
    )
