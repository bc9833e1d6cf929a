# SPDX-License-Identifier: Apache-2.0
"""Intermittent firmware suspects: since which commit a test is flaky, what that commit changed,
whether it is so on all boxes alike, and how many clean runs say that it is fixed.

This module decides what is counted for these answers and when there is too little of it. The
models behind them are in `onset.py` and `certainty.py`, the sentences in `suspect_words.py`. Which
tests are flaky, and their order, is the table's of the specification (`rules/flakiness.py`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from hwci import said
from hwci.analysis.benches.report import Note, TestOnBox, worst_boxes_of
from hwci.analysis.certainty import SURE, Rate, chance_of_passes, clean_runs_needed, rates
from hwci.analysis.flaky.branch_order import CommitKind, OrderedCommit, branch_order
from hwci.analysis.flaky.onset import Onset, Rates, Step, onset, rates_beside
from hwci.analysis.flaky.weighing import Counts, Effort, chance_alike, effort
from hwci.analysis.outcomes import NotableResult, ProductOutcomes, RecordedRuns
from hwci.engine.facts import Product, TestKey
from hwci.engine.history import Listing, Scope
from hwci.engine.page.over_time import BoxOverTime
from hwci.engine.page.reading import read_flakiest
from hwci.engine.page.tables import FlakySelection, flakiest_tests
from hwci.engine.periods import Period
from hwci.engine.rules.flakiness import FlakyTest
from hwci.engine.rules.labels import Group, groups_of
from hwci.engine.vocabulary import Label, Outcome

RUNS_NEEDED = 20
FAILURES_NEEDED = 2
"""So many runs on the branch, and so many that failed at first, are the fewest to judge by."""
FAILURES_OF_A_BOX = 2
"""With fewer for each box, those of one bad box would pass for chance."""
SHOWN_MAX = 20
"""The most commits and boxes that an answer names; it counts all."""
CLEAN_BEFORE = 5
"""So many commits on which it did not fail stand between the ends of the suspects, if there are as
many: after one pass alone it would be likely that it failed there already.
"""
SET_HOLDS = 0.9
"""The suspects hold together so large a part of the chance that a commit of the period did it."""
NEVER_PASSED = "it never passed in this period"
STRONG = 0.9
"""A chance that is called sure; one below 10 % is called sure not to be."""


_EARLIEST = datetime.min.replace(tzinfo=UTC)


class RankBy(StrEnum):
    """How flaky tests are ranked: as the specification does, or by the lower end of the interval,
    so that one failure in two runs does not rank above forty in a hundred. Those with too few
    attempts for an interval come last.
    """

    FLAKE_RATE = "flakeRate"
    LOWER_BOUND = "lowerBound"


class SuspectCommit(NamedTuple):
    """A commit, with the chance that it made the test flaky."""

    commit: OrderedCommit
    share: float


@dataclass(frozen=True, slots=True)
class Since:
    """Which commit of a branch made the test flaky: the fewest that hold it with 90 %, likeliest
    first, and how many they are; `before` is the chance that none of the period did, whose first
    run began at `begins_at` (`is_first`: no run was reported before that). `chances`: that of each
    commit of the branch, in their order: the one chance that a commit has, wherever it is shown
    (semantics, 13). `kinds`: by what commits changed, if one of the period did. `ends`: a commit
    some way before all of these, on which it ran and did not fail, and the last on which it failed
    from them on; None: there are no such two.
    """

    branch: str
    before: float
    begins_at: datetime
    is_first: bool
    chances: Mapping[str, float]
    suspects: Sequence[SuspectCommit]
    suspects_total: int
    kinds: Mapping[CommitKind, float]
    ends: tuple[str, str] | None

    def after(self, sha: str) -> float | None:
        """Return the chance that it was a commit after this one; None: it is not of the branch."""
        if sha not in self.chances:
            return None
        later = [*self.chances][::-1]
        return sum(self.chances[one] for one in later[: later.index(sha)])


class BoxRate(NamedTuple):
    """First attempts on one box since the test is flaky. `compared`: it ran a commit that another
    box ran, too.
    """

    box_key: str
    rate: Rate
    compared: bool


@dataclass(frozen=True, slots=True)
class BoxesCompared:
    """Boxes, those that can be compared first, of these the highest lower bound. `alike`: the
    chance that all `compared` ones have one rate, against one for each, on the commits that two of
    them ran; None: there are not two, or too few runs failed.
    """

    boxes: Sequence[BoxRate]
    boxes_total: int
    compared: int
    alike: float | None

    @property
    def all_alike(self) -> bool:
        """Whether it is sure that all boxes of the test have one rate."""
        return self.compared == self.boxes_total and (self.alike or 0.0) >= STRONG


@dataclass(frozen=True, slots=True)
class Fixed:
    """Whether it is fixed. `clean_runs`: those since its last failure, in the order of the commits.
    `needed`: how many more say so with 95 %; None: more than anybody waits for. `chance` reaches
    95 % when none is.
    """

    chance: float
    clean_runs: int
    needed: int | None


@dataclass(frozen=True, slots=True)
class Intermittent:
    """What the runs of a flaky test suggest. `broken`: every run since failed until the last
    failure, retries too. `passes_again`: on each box on which it failed since. `rate`: about that
    of its first attempts that fail since then.
    """

    runs: int
    since: Since
    broken: bool
    passes_again: bool
    boxes: BoxesCompared
    fixed: Fixed
    rate: float

    @property
    def is_fixed(self) -> bool:
        """Whether it is fixed: a pass on each box shows it of a broken test, a row of them of a
        flaky one. A pass elsewhere does not: what still fails may be a bench.
        """
        return self.fixed.needed == 0 or (self.broken and self.passes_again)

    @property
    def bisection(self) -> Effort | None:
        """A bisection of the suspects; None: there is nothing to look for, as it is fixed or its
        commit is sure, or it takes too many runs.
        """
        if self.is_fixed or any(one.share >= SURE for one in self.since.suspects):
            return None
        return effort(max(1, self.since.suspects_total), self.rate, self.boxes.boxes_total)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A flaky test of the specification's table, its rate, and what its runs suggest; or what is
    missing for that. `worst`: the box on which it fails more; `pending`: its failures that are.
    """

    test: FlakyTest
    rate: Rate
    found: Intermittent | None
    missing: str | None
    worst: TestOnBox | None = None
    pending: Sequence[Group] = ()


def flaky_tests(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    selection: FlakySelection,
    rank_by: RankBy = RankBy.FLAKE_RATE,
    notes: Mapping[str, Note] | None = None,
) -> Listing[Suspect]:
    """Return the selected rows of "Flakiest tests" with what their runs suggest. A sort that is
    asked for goes before a rank. `notes`: the latest one of each box that has any.
    """
    rows = read_flakiest(history, scope, period)
    if rank_by is RankBy.LOWER_BOUND:
        rows = by_lower_bound(rows)
    shown = flakiest_tests(rows, selection)
    outcomes = history.outcomes(scope, period) if shown.items else ()
    of_product: dict[Product, list[str]] = defaultdict(list)
    for row in shown.items:
        of_product[Product(row.repo_key, row.suite)].append(row.test_id)
    seen, worst = {}, {}
    for one in outcomes:
        if one.product in of_product:
            seen[one.product] = SeenProduct(history, one)
            worst[one.product] = worst_boxes_of(
                one, of_product[one.product], notes or {}, history.check_time
            )
    pending = pending_by_test(history, scope, period) if seen else {}
    found = []
    for row, rate in zip(shown.items, flake_rates(shown.items), strict=True):
        history.check_time()
        product = Product(row.repo_key, row.suite)
        suspect = seen[product].suspect(row, rate)
        found.append(
            replace(
                suspect,
                worst=standing_out(suspect.found, worst[product].get(row.test_id)),
                pending=pending.get((product, row.test_id), ()),
            )
        )
    return Listing(found, shown.total)


def standing_out(found: Intermittent | None, worst: TestOnBox | None) -> TestOnBox | None:
    """Return the box on which a test fails more, unless it is sure that all have one rate."""
    is_sure = found is not None and found.boxes.all_alike
    return None if worst is None or (is_sure and not worst.only) else worst


def pending_by_test(
    history: RecordedRuns, scope: Scope, period: Period
) -> Mapping[TestKey, Sequence[Group]]:
    """Return the pending failures of each test that failed in the period."""
    found: dict[TestKey, list[Group]] = defaultdict(list)
    for group in groups_of(history, history.failures(scope, period)):
        if group.label is Label.PENDING:
            lane = group.first.key.lane
            found[lane.product, lane.test_id].append(group)
    return found


def flake_rates(rows: Sequence[FlakyTest | BoxOverTime]) -> list[Rate]:
    """Return the flake rate of each test, or of one on each box, with its interval."""
    return rates([(row.failed_attempts, row.attempts) for row in rows])


def by_lower_bound(rows: Sequence[FlakyTest]) -> list[FlakyTest]:
    """Return the rows of the table by the lower end of the interval of their rate; those that have
    none last, and equal ones as they stood.
    """
    lows = [0.0 if one.shown_interval is None else one.low for one in flake_rates(rows)]
    ranked = sorted(zip(lows, rows, strict=True), key=lambda one: -one[0])
    return [row for _, row in ranked]


class Counted(NamedTuple):
    """A run of a test as it counts: on which commit of the branch, on which box, and its tries."""

    at: int
    box_key: str
    tries: Step


class SeenProduct:
    """The runs of a product on the branch that ran most, and the commits of that branch in order.
    Runs of other branches count, too, if their commit is on it.
    """

    def __init__(self, history: RecordedRuns, product: ProductOutcomes) -> None:
        self._history, self._product = history, product
        ran: dict[str, int] = defaultdict(int)
        for run in product.runs:
            ran[run.branch] += run.hello_ok
        self._branch = max(sorted(ran), key=ran.__getitem__)
        shas = {run.sha for run in product.runs if run.hello_ok}
        order = branch_order(history, product.product, self._branch, shas)
        self._in_a_circle, self._order = order is None, order or []
        self._at = {one.sha: at for at, one in enumerate(self._order)}
        self._tried = product.first_attempts()
        self._alike = Counter(self._tried.values())  # how many tests have the same counts

    @property
    def _begins_at(self) -> datetime:
        return self._product.runs[0].started_at

    @cached_property
    def _is_first(self) -> bool:
        if self._begins_at == _EARLIEST:
            return True
        before = Period(_EARLIEST, self._begins_at - timedelta(microseconds=1))
        return not self._history.run_counts(Scope(*self._product.product), before).total

    def rates(self, test_id: str) -> Rates:
        """Return the rates that a test with runs may have, beside what the other tests do."""
        return rates_beside(self._alike - Counter([self._tried[test_id]]))

    def suspect(self, row: FlakyTest, rate: Rate) -> Suspect:
        """Return what the runs of a test suggest."""
        found = NEVER_PASSED if row.broken else self.suggested(row.test_id)
        if isinstance(found, str):
            return Suspect(row, rate, None, found)
        return Suspect(row, rate, found, None)

    def suggested(self, test_id: str) -> Intermittent | str:
        """Return what the runs of a test that passed and failed suggest, or what is missing."""
        counted = list(self.counted(test_id))
        return self._missing(counted) or self._intermittent(test_id, counted)

    def _missing(self, counted: Sequence[Counted]) -> str | None:
        if self._in_a_circle:
            return "the order of the commits is not known: changes that were sent lead in a circle"
        failed = sum(one.tries.first_failed for one in counted)
        if len(counted) < RUNS_NEEDED:
            runs = said.counted(len(counted), "run")
            return f"{runs} on {self._branch}; {RUNS_NEEDED} are needed"
        if len({one.at for one in counted}) == 1:
            return f"all runs on {self._branch} are of one commit"
        if failed < FAILURES_NEEDED:
            return (
                f"{failed} of {len(counted):,} runs on {self._branch} failed, not counting failures"
                f" blamed on the bench; {FAILURES_NEEDED} are needed"
            )
        return None

    def counted(self, test_id: str) -> Iterator[Counted]:
        """Yield the runs of a test that say something of the firmware, on commits of the branch."""
        for run, result in self._product.tried(test_id):
            at = self._at.get(run.sha)
            if at is not None:
                yield Counted(at, run.box_key, _tries(result))

    def _intermittent(self, test_id: str, counted: Sequence[Counted]) -> Intermittent:
        places, found = self._onset(test_id, counted)
        flaky, telling = flaky_runs(places, counted, found), counted
        failing = where_it_fails(flaky, counted)
        if len(failing) < len(counted) and not self._missing(failing):
            telling = failing
            places, found = self._onset(test_id, telling)
            flaky = flaky_runs(places, counted, found)
        since = self._since(places, found, telling)
        failed = sum(one.tries.first_failed for one in flaky)
        state = fixed(flaky, found)
        last = len(flaky) - state.clean_runs
        failed_on = {one.box_key for one in flaky[:last] if one.tries.first_failed}
        return Intermittent(
            runs=len(counted),
            since=since,
            broken=_is_broken(flaky[:last]),
            passes_again=failed_on <= {one.box_key for one in flaky[last:]},
            boxes=boxes_compared(flaky),
            fixed=state,
            rate=(failed + 0.5) / (len(flaky) + 1),
        )

    def _onset(self, test_id: str, counted: Sequence[Counted]) -> tuple[Sequence[int], Onset]:
        places = sorted({one.at for one in counted})
        return places, onset(steps_of(places, counted), self.rates(test_id))

    def _since(self, places: Sequence[int], found: Onset, counted: Sequence[Counted]) -> Since:
        shares = self.shares(places, found)
        within = sum(found.at)
        kinds: dict[CommitKind, float] = defaultdict(float)
        for commit, share in shares:
            kinds[commit.kind] += share / within if within else 0.0
        total = fewest_that_hold(shares)
        return Since(
            branch=self._branch,
            before=found.before + found.never,
            begins_at=self._begins_at,
            is_first=self._is_first,
            chances=dict.fromkeys(self._at, 0.0) | {one.commit.sha: one.share for one in shares},
            suspects=shares[: min(total, SHOWN_MAX)],
            suspects_total=total,
            kinds=dict(kinds),
            ends=self._ends(shares[:total], counted),
        )

    def _ends(
        self, suspects: Sequence[SuspectCommit], counted: Sequence[Counted]
    ) -> tuple[str, str] | None:
        failed = {one.at for one in counted if one.tries.first_failed}
        places = [self._at[one.commit.sha] for one in suspects]
        clean = sorted({one.at for one in counted if one.at < min(places)} - failed)
        bad = [at for at in failed if at >= max(places)]
        if not clean or not bad:
            return None
        return self._order[clean[-CLEAN_BEFORE:][0]].sha, self._order[max(bad)].sha

    def shares(self, places: Sequence[int], found: Onset) -> list[SuspectCommit]:
        """Return each commit with its chance, likeliest first. What a step is worth is shared among
        the commits that came with it.
        """
        shares = [
            SuspectCommit(commit, chance / (at - before))
            for at, before, chance in zip(places[1:], places, found.at[1:], strict=False)
            for commit in self._order[before + 1 : at + 1]
        ]
        return sorted(shares, key=lambda one: -one.share)


def _tries(result: NotableResult | None) -> Step:
    if result is None:
        return Step(1, 0)
    retries = result.attempts - 1
    passed = result.outcome is Outcome.PASS
    return Step(1, 1, retries, retries - passed)


def steps_of(places: Sequence[int], counted: Sequence[Counted]) -> list[Step]:
    """Add up the tries on each commit that ran the test."""
    tries: dict[int, list[Step]] = defaultdict(list)
    for one in counted:
        tries[one.at].append(one.tries)
    since = dict(zip(places[1:], places, strict=False))
    return [
        Step(
            first=len(tries[at]),
            first_failed=sum(one.first_failed for one in tries[at]),
            retries=sum(one.retries for one in tries[at]),
            retries_failed=sum(one.retries_failed for one in tries[at]),
            commits=at - since.get(at, at - 1),
        )
        for at in places
    ]


def flaky_runs(
    places: Sequence[int], counted: Sequence[Counted], found: Onset
) -> Sequence[Counted]:
    """Return the runs from the likeliest onset on, in the order of the commits."""
    likeliest = max(range(len(places)), key=found.at.__getitem__)
    before = found.before + found.never
    first = places[likeliest] if found.at[likeliest] > before else places[0]
    return sorted((one for one in counted if one.at >= first), key=lambda one: one.at)


def where_it_fails(flaky: Sequence[Counted], counted: Sequence[Counted]) -> Sequence[Counted]:
    """Return the runs without those on boxes on which the test surely fails less than on the worst
    one since it is flaky: what passes there whatever the commit is says nothing of the commit.
    """
    of_box = _box_rates(flaky)
    worst = max(one.low for one in of_box.values())
    hardly = {box for box, one in of_box.items() if one.high < worst}
    return [one for one in counted if one.box_key not in hardly]


def _box_rates(flaky: Sequence[Counted]) -> Mapping[str, Rate]:
    runs = Counter(one.box_key for one in flaky)
    failed = Counter(one.box_key for one in flaky if one.tries.first_failed)
    of_boxes = rates([(failed[box], number) for box, number in runs.items()])
    return dict(zip(runs, of_boxes, strict=True))


def fixed(flaky: Sequence[Counted], found: Onset) -> Fixed:
    """Judge by the runs since a test is flaky, in the order of the commits, and by the chance that
    it still is.

    Rates alone do not say it: one failure after many passes is rare enough to be a steady test's.
    The clean runs since the last failure must say it, too.
    """
    unfixed = min(1.0, found.still_flaky + found.never)
    failing = [number for number, one in enumerate(flaky) if one.tries.first_failed]
    clean = len(flaky) - 1 - failing[-1] if failing else len(flaky)
    failed, passed = len(failing), len(flaky) - len(failing)
    by_rates = clean_runs_needed(failed, passed, unfixed)
    by_clean = clean_runs_needed(failed, passed - clean)
    needed = None
    if by_rates is not None and by_clean is not None:
        needed = max(by_rates, by_clean - clean)
    chance = 1 / (1 + chance_of_passes(failed, passed - clean, clean)) if clean else 0.0
    return Fixed(chance=min(1 - unfixed, chance), clean_runs=clean, needed=needed)


def _is_broken(runs: Sequence[Counted]) -> bool:
    tries = [one.tries for one in runs]
    return len(tries) >= FAILURES_NEEDED and all(
        one.first_failed and one.retries_failed == one.retries for one in tries
    )


def fewest_that_hold(shares: Sequence[SuspectCommit]) -> int:
    """Return how many of these, likeliest first, hold `SET_HOLDS` of all their chances."""
    held, needed = 0.0, SET_HOLDS * sum(one.share for one in shares)
    for number, one in enumerate(shares, 1):
        held += one.share
        if held >= needed:
            return number
    return len(shares)


def boxes_compared(flaky: Sequence[Counted]) -> BoxesCompared:
    """Return the boxes of a test by their runs since it is flaky. They are compared on the commits
    that two boxes or more ran: elsewhere a commit may be what differs.
    """
    in_common = _in_common(flaky)
    boxes = [BoxRate(box, rate, box in in_common) for box, rate in _box_rates(flaky).items()]
    boxes.sort(key=lambda one: (not one.compared, -one.rate.low, one.box_key))
    alike = None
    if in_common:
        alike = chance_alike(in_common)
        few = sum(one.failed for one in in_common.values()) < FAILURES_OF_A_BOX * len(in_common)
        if few and alike > 1 - STRONG:
            alike = None
    return BoxesCompared(boxes[:SHOWN_MAX], len(boxes), len(in_common), alike)


def _in_common(flaky: Sequence[Counted]) -> Mapping[str, Counts]:
    """Return what each box gave on the commits that two boxes or more ran."""
    boxes: dict[int, set[str]] = defaultdict(set)
    for one in flaky:
        boxes[one.at].add(one.box_key)
    found: dict[str, Counts] = defaultdict(Counts)
    for one in flaky:
        if len(boxes[one.at]) > 1:
            failed = bool(one.tries.first_failed)
            found[one.box_key] = found[one.box_key].plus(Counts(failed, not failed))
    return found
