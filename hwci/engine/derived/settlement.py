# SPDX-License-Identifier: Apache-2.0
"""What a write of reports touches, and the consequences in their order.

This module decides which places and results a new, replaced or removed report can change: it notes
them before any row changes, and afterwards compares. Its cost depends on what was touched, never on
the length of the history.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import Outcome
from hwci.engine.derived import episodes, order
from hwci.engine.derived.days import DayChanges, ItemSum, item_sums
from hwci.engine.derived.episodes import Point, Shift
from hwci.engine.derived.rows import Bench, Placed, Results, Rows, Spot, Track
from hwci.engine.facts import Report, TestItem
from hwci.engine.history import Place
from hwci.engine.rules.merges import commits_checked
from hwci.engine.rules.reports import Mention, mentions


class OnBench(NamedTuple):
    """A commit on a bench."""

    bench: Bench
    sha: str


class Settlement:
    """One change of the reports of a repository: the state before it, then its consequences."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._placed: dict[Spot, Placed | None] = {}
        self._added: dict[Spot, Place] = {}
        self._removed: set[Spot] = set()
        self._results: dict[OnBench, Results] = {}
        self._reported: set[str] = set()
        self._days = DayChanges()
        self._checks: Counter[tuple[str, str]] = Counter()
        self._failing: dict[tuple[OnBench, str], Counter[ItemSum]] = defaultdict(Counter)

    def watch(self, product: int, report: Report) -> Sequence[Mention]:
        """Note the present state of all that a report affects, before any row is changed. Return
        what it mentions.
        """
        self._reported.add(report.sha)
        named = mentions(report)
        unseen = {Spot(mention.sha, report.branch) for mention in named} - self._placed.keys()
        placed = self._rows.placed(unseen) if unseen else {}
        self._placed.update((spot, placed.get(spot)) for spot in unseen)
        if report.hello_ok:
            self.watch_results(Bench(product, report.box_key), report.sha)
        return named

    def watch_results(self, bench: Bench, sha: str) -> None:
        """Note the present results of a commit."""
        if OnBench(bench, sha) not in self._results:
            self._results[OnBench(bench, sha)] = self._rows.results(bench, sha)

    def count(
        self,
        product: int,
        report: Report,
        tests: int,
        notable: Mapping[int, TestItem],
        named: Iterable[Mention],
        times: int = 1,
    ) -> None:
        """Count a report in the sums of its day, as `DayChanges.count`, and at the merges that it
        checks; note the commits that it mentions, which are `named`.
        """
        self._note_mentions(report, named, times)
        self._days.count(product, report, tests, notable, times)
        for sha in commits_checked(report):
            self._checks[report.suite, sha] += times
        on_bench = OnBench(Bench(product, report.box_key), report.sha)
        for key in item_sums(product, report, notable):
            if key.outcome is Outcome.FAIL:
                self._failing[on_bench, report.branch][key] += times

    def _note_mentions(self, report: Report, named: Iterable[Mention], times: int) -> None:
        for mention in named:
            spot = Spot(mention.sha, report.branch)
            if times < 0:
                self._removed.add(spot)
            else:
                self._added[spot] = min(mention.place, self._added.get(spot, mention.place))

    def settle(self) -> None:
        """Bring all that follows up to date with the rows of reports as they are now."""
        relisted = self._rows.settle_runs()
        moved = self._settle_order()
        after = {result: self._rows.count_failures(*result) for result in self._results}
        for commit, results in after.items():
            self._count_flakes(commit, self._results[commit].flaky, results.flaky)
        self._rows.change_days(self._days)
        self._rows.add_checks({check: times for check, times in self._checks.items() if times})
        for track, shifts in self._shifts(moved, after).items():
            episodes.update(self._rows, track, shifts)
        # A decision rests on the first failing run and the changes under test, both reports of the
        # first commit, and on the lists that its walk to the fix visited.
        listed = {sha for changes in relisted for sha in _named(changes)}
        self._rows.undecide(self._reported, listed)

    def _count_flakes(
        self, commit: OnBench, before: Mapping[str, int], after: Mapping[str, int]
    ) -> None:
        """Count the items of flakes on a commit. Of a test that is one before and after, only what
        came and went: a commit may be tested thousands of times.
        """
        flakes = self._days.flakes
        for branch in before.keys() | after.keys():
            were, are = before.get(branch, 0), after.get(branch, 0)
            for key, times in self._failing[commit, branch].items():
                if were >> key.test & 1:
                    flakes[key] += times
            if began := are & ~were:
                flakes.update(self._rows.failing_items(*commit, branch, began))
            if ended := were & ~are:
                flakes.subtract(self._rows.failing_items(*commit, branch, ended))

    def _settle_order(self) -> dict[Spot, int | None]:
        """Write the places that changed. Return the new rank of each commit that has another."""
        mentioned = self._first_mentions()
        moved: dict[Spot, int | None] = {}
        by_branch: dict[str, dict[str, Place | None]] = defaultdict(dict)
        for spot, old in self._placed.items():
            new = mentioned.get(spot)
            if new != (None if old is None else old.place):
                by_branch[spot.branch][spot.sha] = new
        for branch, places in by_branch.items():
            there = {sha: place for sha, place in places.items() if place is not None}
            gone = places.keys() - there.keys()
            ranks = self._rank(branch, there, gone)
            self._rows.set_ranks(branch, ranks)
            moved.update((Spot(sha, branch), rank) for sha, rank in ranks.items())
            self._rows.drop_places(branch, gone)
            moved.update((Spot(sha, branch), None) for sha in gone)
        return moved

    def _first_mentions(self) -> Mapping[Spot, Place]:
        """Return the first mention of each commit as reports are now. It is looked up where one was
        removed; else it is that of the place, or an earlier one that was added.
        """
        earliest = dict(self._rows.first_mentions(self._removed))
        for spot in self._placed.keys() - self._removed:
            old, new = self._placed[spot], self._added.get(spot)
            places = [place for place in (old and old.place, new) if place is not None]
            if places:
                earliest[spot] = min(places)
        return earliest

    def _rank(
        self, branch: str, places: Mapping[str, Place], gone: Collection[str]
    ) -> dict[str, int]:
        """Write the new places of commits of a branch. Return the ranks that change."""
        if not places:
            return {}
        self._rows.set_places(branch, places)
        ends = min(places.values()), max(places.values())
        ranks = order.new_ranks(self._rows.line(branch, *ends, gone), places)
        if ranks is None:
            self._rows.spread(branch, order.STEP)
            spots = [spot for spot in self._placed if spot.branch == branch]
            placed = self._rows.placed(spots)
            self._placed.update((spot, placed[spot]) for spot in spots if self._placed[spot])
            ranks = order.new_ranks(self._rows.line(branch, *ends, gone), places)
            assert ranks is not None  # a step is more than the commits that a report mentions
        return ranks

    def _shifts(
        self, moved: Mapping[Spot, int | None], results: Mapping[OnBench, Results]
    ) -> Mapping[Track, Sequence[Shift]]:
        """Compare results and ranks before and after, on every branch that has the commit.
        `results`: what those that were noted are now.
        """
        on_moved = self._rows.benches({spot.sha for spot in moved})
        pairs = results.keys() | {OnBench(bench, sha) for sha, bench in on_moved}
        ranks = self._rows.ranks({sha for _, sha in pairs})
        branches: dict[str, set[str]] = defaultdict(set)
        for spot in (*ranks, *moved):
            branches[spot.sha].add(spot.branch)
        shifts: dict[Track, list[Shift]] = defaultdict(list)
        for bench, sha in pairs:
            after = results.get(OnBench(bench, sha)) or self._rows.results(bench, sha)
            before = self._results.get(OnBench(bench, sha), after)
            for branch in branches[sha]:
                spot = Spot(sha, branch)
                new = ranks.get(spot)
                old = new
                if spot in moved:
                    placed = self._placed[spot]
                    old = None if placed is None else placed.rank
                shift = Shift(sha, _point(old, before, branch), _point(new, after, branch))
                if shift.before != shift.after:
                    shifts[Track(bench, branch)].append(shift)
        return shifts


def _named(changes: ChangeList) -> Iterator[str]:
    """Yield the commits whose lists of changes these are part of, and the one they begin after."""
    yield from (commit.sha for commit in changes.commits)
    if changes.base_sha is not None:
        yield changes.base_sha


def _point(rank: int | None, results: Results, branch: str) -> Point | None:
    if rank is None:
        return None
    failed, reviewed = results.failed.get(branch, 0), results.reviewed.get(branch, 0)
    return Point(rank, results.passed, failed, reviewed)
