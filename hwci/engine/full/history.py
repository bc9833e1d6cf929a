# SPDX-License-Identifier: Apache-2.0
"""Answers to the questions of `History`, from all facts: the definition that every store must
equal.

This module decides nothing: it reads each answer from the facts, or from the indexes that
`lanes.py` and `runs.py` build once.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from hwci.engine.facts import (
    Announcement,
    Changes,
    Facts,
    Lane,
    Product,
    Report,
    Review,
    SuiteConfig,
    TestItem,
    TestKey,
    failure_id,
)
from hwci.engine.full.lanes import Lanes
from hwci.engine.full.runs import Runs, Target
from hwci.engine.history import (
    BoxRuns,
    Failure,
    ItemGroup,
    LaneCommit,
    Merge,
    Place,
    ProductState,
    RunChanges,
    RunCounts,
    RunStarts,
    Scope,
    SightedRun,
    TestRuns,
)
from hwci.engine.periods import Period, Slots
from hwci.engine.rules.flakiness import has_failed_attempt
from hwci.engine.vocabulary import Outcome


class FullHistory:
    """One organization's history, from all its facts."""

    def __init__(
        self, org_id: UUID, facts: Facts, check_time: Callable[[], None] = lambda: None
    ) -> None:
        self.check_time = check_time
        self._org_id = org_id
        self._facts = facts
        self._lanes = Lanes(org_id, facts.reports)
        self._runs = Runs(facts.reports)

    def extent(self, scope: Scope, period: Period) -> Period | None:
        """Time of the first and last run or merge in the period."""
        merged = [merge.announcement.merged_at for merge in self.merges(scope, period)]
        times = [*merged, *(report.started_at for report in self._reports(scope, period))]
        return Period(min(times), max(times)) if times else None

    def merges(self, scope: Scope, period: Period) -> Sequence[Merge]:
        """Announcements of the period with the sightings of their commits."""
        return [
            Merge(one, frozenset(run.sighting for run in self.sighted_runs(one.repo_key, one.sha)))
            for one in self._facts.announcements
            if _in_scope(scope, one) and period.start <= one.merged_at <= period.end
        ]

    def sighted_runs(self, repo_key: str, sha: str) -> Sequence[SightedRun]:
        """Reports of a repository whose `sha` or `covers_shas` hold a commit."""
        return self._runs.holding(repo_key, sha)

    def run_counts(self, scope: Scope, period: Period) -> RunCounts:
        """Run reports of the period, parts after the first left out."""
        counted = [
            report.hello_ok for report in self._reports(scope, period) if report.is_first_part
        ]
        return RunCounts(counted.count(False), len(counted))

    def run_starts(self, scope: Scope, period: Period) -> RunStarts:
        """Starts of the run reports that `run_counts` counts."""
        counted = [report for report in self._reports(scope, period) if report.is_first_part]
        infra = (report.started_at for report in counted if not report.hello_ok)
        return RunStarts(sorted(infra), sorted(report.started_at for report in counted))

    def test_runs(self, scope: Scope, period: Period) -> Sequence[TestRuns]:
        """Tests of the period with a notable item."""
        boxes: dict[TestKey, list[str]] = defaultdict(list)
        items: dict[TestKey, list[TestItem]] = defaultdict(list)
        for report in self._reports(scope, period):
            for item in report.tests if report.hello_ok else ():
                test = (Product(report.repo_key, report.suite), item.id)
                boxes[test].append(report.box_key)
                items[test].append(item)
        notable = {test: _notable(ran) for test, ran in items.items()}
        return [
            TestRuns(
                product=test[0],
                test_id=test[1],
                boxes=len(set(boxes[test])),
                reports=len(boxes[test]),
                notable=kinds,
            )
            for test, kinds in notable.items()
            if kinds
        ]

    def box_runs(self, tests: Collection[TestKey], slots: Slots) -> Sequence[BoxRuns]:
        """Runs of these tests by box and slot."""
        ran: dict[tuple[Product, str, str, int], list[TestItem]] = defaultdict(list)
        for report in self._reports(Scope(), slots.period):
            product = Product(report.repo_key, report.suite)
            for item in report.tests if report.hello_ok else ():
                if (product, item.id) in tests:
                    slot = slots.slot(report.started_at)
                    ran[product, item.id, report.box_key, slot].append(item)
        return [BoxRuns(*cell, len(items), _notable(items)) for cell, items in ran.items()]

    def failures(self, scope: Scope, period: Period) -> Sequence[Failure]:
        """Failures with an item in the period, and those of their lane with equal `next_pass`."""
        wanted: dict[Lane, set[str | None]] = defaultdict(set)
        for failure_id_ in self.failing_items(scope, period):
            failure = self._lanes.by_id[failure_id_]
            wanted[failure.key.lane].add(failure.next_pass)
        return [
            failure
            for lane, fixes in wanted.items()
            for failure in self._lanes.by_lane[lane]
            if failure.next_pass in fixes
        ]

    def failing_items(self, scope: Scope, period: Period) -> Mapping[UUID, int]:
        """Failing items in the period, by failure id."""
        counts = {}
        for failure in self._lanes.by_id.values():
            if _in_scope(scope, failure.key.lane):
                starts = [ran.report.started_at for ran in self._lanes.failing_runs(failure.key)]
                counts[failure.id] = sum(period.start <= at <= period.end for at in starts)
        return {failure_id_: items for failure_id_, items in counts.items() if items}

    def failing_starts(
        self, scope: Scope, period: Period, failures: Collection[UUID]
    ) -> Sequence[datetime]:
        """Start of each failing item in the period of these failures."""
        of_scope = (
            self._lanes.by_id[one] for one in self.failing_items(scope, period) if one in failures
        )
        runs = (ran for failure in of_scope for ran in self._lanes.failing_runs(failure.key))
        starts = (ran.report.started_at for ran in runs)
        return sorted(at for at in starts if period.start <= at <= period.end)

    def failure(self, failure_id: UUID) -> Failure | None:
        """The failure with this id."""
        return self._lanes.by_id.get(failure_id)

    def lane_failures(self, lane: Lane) -> Sequence[Failure]:
        """Every failure of a lane, in order of place."""
        return self._lanes.by_lane.get(lane, ())

    def reviews(self) -> Mapping[UUID, Review]:
        """Every review kept, by the id of the failure it is stored at."""
        return {failure_id(self._org_id, key): one for key, one in self._facts.reviews.items()}

    def config(self, product: Product) -> SuiteConfig | None:
        """The configuration of a product that counts now."""
        return self._facts.configs.get(product)

    def changes_under_test(
        self, repo_key: str, workflow: str, branch: str, sha: str
    ) -> RunChanges | None:
        """Changes of the first run on a commit."""
        return self._runs.under_test(Target(repo_key, workflow, branch, sha))

    def changes_listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Changes of all runs of the repository whose `commits` list the sha."""
        return self._runs.listing(repo_key, sha)

    def first_listing(self, repo_key: str, shas: Sequence[str]) -> Mapping[str, Changes]:
        """Changes of the first run whose `commits` list each sha."""
        listings = {sha: self._runs.listing(repo_key, sha) for sha in shas}
        return {sha: listing[0].changes for sha, listing in listings.items() if listing}

    def is_recorded_base(self, repo_key: str, sha: str) -> bool:
        """Whether some run's changes have this `base_sha`."""
        return self._runs.is_base(repo_key, sha)

    def last_pass_before(self, lane: Lane, place: Place, among: Sequence[str]) -> str | None:
        """The last passed commit of the lane before `place`, if it is one of `among`."""
        earlier = [passed.sha for passed in self._lanes.passes(lane) if passed < place]
        return earlier[-1] if earlier and earlier[-1] in among else None

    def pass_started_at(self, lane: Lane, sha: str) -> datetime | None:
        """Start of the earliest run in which the lane's test passed on that commit and box."""
        passed = [
            ran.report.started_at
            for ran in self._lanes.runs(lane, sha)
            if ran.item.outcome is Outcome.PASS
        ]
        return min(passed, default=None)

    def lane_commits(self, lane: Lane, first: Place, last: Place, margin: int) -> list[LaneCommit]:
        """Commits that ran the lane's test, from `first` to `last` and around them."""
        return self._lanes.commits(lane, first, last, margin)

    def place(self, repo_key: str, branch: str, sha: str) -> Place | None:
        """Place of a commit on a branch."""
        return self._lanes.place(repo_key, branch, sha)

    def products(self) -> Sequence[ProductState]:
        """Every product."""
        last: dict[Product, datetime | None] = dict.fromkeys(self._facts.configs)
        for one in self._facts.announcements:
            if one.suite is not None:
                last.setdefault(Product(one.repo_key, one.suite))
        for report in self._facts.reports:
            product = Product(report.repo_key, report.suite)
            known = last.get(product)
            last[product] = report.started_at if known is None else max(known, report.started_at)
        return [ProductState(one, self.config(one), at) for one, at in sorted(last.items())]

    def _reports(self, scope: Scope, period: Period) -> Iterator[Report]:
        for report in self._facts.reports:
            if _in_scope(scope, report) and period.start <= report.started_at <= period.end:
                yield report


def _notable(items: Iterable[TestItem]) -> tuple[ItemGroup, ...]:
    """Group the items that are not a pass at the first attempt."""
    kinds = Counter((item.outcome, item.attempts) for item in items if has_failed_attempt(item))
    return tuple(ItemGroup(*kind, count) for kind, count in sorted(kinds.items()))


def _in_scope(scope: Scope, fact: Announcement | Report | Lane) -> bool:
    return scope.repo_key in {None, fact.repo_key} and scope.suite in {None, fact.suite}
