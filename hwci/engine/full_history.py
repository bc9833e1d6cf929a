# SPDX-License-Identifier: Apache-2.0
"""Answers to the questions of `History` from all facts: the definition that stores must equal.

This module decides which failures exist, whether their own commit passed and which passed next
(semantics, 3, 4.1-4.3), which report gives a run its changes, and which run was the first on a
commit (5.1-5.2, 9.1). It does not know labels, groups or reviews.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from hwci.contract.failures.failures import EvidenceRun
from hwci.contract.runs.commits import ChangeList
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import FailureClass, Outcome
from hwci.engine.facts import (
    Facts,
    FailureKey,
    Lane,
    Product,
    Report,
    StoredReview,
    SuiteConfig,
    TestItem,
    TestKey,
    failure_id,
    run_record_id,
)
from hwci.engine.history import (
    BoxRuns,
    Decision,
    Episode,
    EpisodeRuns,
    FailingRun,
    Failure,
    LaneCommit,
    Listing,
    MergeCounts,
    MergeState,
    Notable,
    Place,
    ProductState,
    ResolvedEpisodes,
    RunChanges,
    RunCounts,
    RunStarts,
    Scope,
    SightedRun,
    Sighting,
    StoredTest,
    TestRuns,
)
from hwci.engine.periods import Period, Slots
from hwci.engine.rules.flakiness import has_failed_attempt
from hwci.engine.rules.merges import count_checks, in_order
from hwci.engine.rules.reports import carried_changes, first_places, report_order


class Ran(NamedTuple):
    """A test item and its report."""

    report: Report
    item: TestItem


class Target(NamedTuple):
    """What the first run is searched by."""

    repo_key: str
    workflow: str
    branch: str
    sha: str


Bench = tuple[str, str, str, str]  # a lane without its branch: repository, suite, test, box


class FullHistory:
    """One organization's history, from all its facts; each index is made when first needed."""

    def __init__(
        self, org_id: UUID, facts: Facts, check_time: Callable[[], None] = lambda: None
    ) -> None:
        self.check_time = check_time
        self.org_id = org_id
        self.decided: dict[UUID, tuple[Episode, Decision]] = {}
        self._facts = facts
        self._reports = sorted(facts.reports, key=report_order)

    def extent(self, scope: Scope, period: Period) -> Period | None:
        merged = [merge.merged_at for merge, _ in self.merges(scope, period)]
        times = [*merged, *(report.started_at for report in self._reports_of(scope, period))]
        return Period(min(times), max(times)) if times else None

    def merges(self, scope: Scope, period: Period) -> Sequence[MergeState]:
        return [
            MergeState(
                announcement,
                count_checks(
                    announcement, self._sighted.get((announcement.repo_key, announcement.sha), ())
                )
                > 0,
            )
            for announcement in self._facts.announcements
            if scope.holds(announcement.repo_key, announcement.suite)
            and period.start <= announcement.merged_at <= period.end
        ]

    def merge_counts(self, scope: Scope, period: Period) -> MergeCounts:
        merges = self.merges(scope, period)
        return MergeCounts(sum(merge.checked for merge in merges), len(merges))

    def newest_unchecked(self, scope: Scope, period: Period, most: int) -> Sequence[Merge]:
        merges = self.merges(scope, period)
        return in_order(merge for merge, checked in merges if not checked)[:most]

    def sighted_runs(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[SightedRun]]:
        return {sha: runs for sha in shas if (runs := self._sighted.get((repo_key, sha), ()))}

    def run_counts(self, scope: Scope, period: Period) -> RunCounts:
        counted = [
            report.hello_ok for report in self._reports_of(scope, period) if report.is_first_part
        ]
        return RunCounts(counted.count(False), len(counted))

    def run_starts(self, scope: Scope, period: Period) -> RunStarts:
        counted = [report for report in self._reports_of(scope, period) if report.is_first_part]
        infra = (report.started_at for report in counted if not report.hello_ok)
        return RunStarts(list(infra), [report.started_at for report in counted])

    def test_runs(self, scope: Scope, period: Period) -> Sequence[TestRuns]:
        items: dict[TestKey, list[Ran]] = defaultdict(list)
        for report in self._reports_of(scope, period):
            for item in report.tests if report.hello_ok else ():
                items[Product(report.repo_key, report.suite), item.id].append(Ran(report, item))
        flakes = self._flaky_items(scope, period)
        rows = []
        for key, runs in items.items():
            if (notable := _notable(run.item for run in runs)).items:
                boxes = {run.report.box_key for run in runs}
                rows.append(TestRuns(key, len(boxes), len(runs), *notable, flakes[key]))
        return rows

    def test_keys(self, tests: Sequence[StoredTest]) -> Sequence[TestKey]:
        return tests

    def box_runs(self, tests: Collection[TestKey], slots: Slots) -> Sequence[BoxRuns]:
        ran: dict[tuple[Product, str, str, int], list[TestItem]] = defaultdict(list)
        for report in self._reports_of(Scope(), slots.period):
            product = Product(report.repo_key, report.suite)
            for item in report.tests if report.hello_ok else ():
                if (product, item.id) in tests:
                    slot = slots.slot(report.started_at)
                    ran[product, item.id, report.box_key, slot].append(item)
        return [BoxRuns(*cell, len(items), _notable(items)) for cell, items in ran.items()]

    def failures(self, scope: Scope, period: Period) -> Sequence[Failure]:
        failing = map(self._by_id.__getitem__, self.failing_items(scope, period))
        return self.with_groups([failure.id for failure in failing])

    def failing_items(self, scope: Scope, period: Period) -> Mapping[UUID, int]:
        of_scope = (
            failure for failure in self._by_id.values() if scope.holds(*failure.key.lane.product)
        )
        counts = {failure.id: len(self._failing_starts(failure, period)) for failure in of_scope}
        return {failure_id: items for failure_id, items in counts.items() if items}

    def newest_failing(self, scope: Scope, period: Period, most: int) -> Listing[UUID]:
        ids = sorted(self.failing_items(scope, period), key=lambda failure_id: failure_id.int)
        ids.sort(key=lambda failure_id: self._by_id[failure_id].first.started_at, reverse=True)
        return Listing(ids[:most], len(ids))

    def with_groups(self, failures: Collection[UUID]) -> Sequence[Failure]:
        together = (self.together(self._by_id[failure_id]) for failure_id in failures)
        return [*{member.id: member for members in together for member in members}.values()]

    def flake_count(self, scope: Scope, period: Period) -> int:
        return self._flaky_items(scope, period).total()

    def _flaky_items(self, scope: Scope, period: Period) -> Counter[TestKey]:
        counts: Counter[TestKey] = Counter()
        for failure, items in self.failing_items(scope, period).items():
            lane = self._by_id[failure].key.lane
            if self._is_flake(failure):
                counts[lane.product, lane.test_id] += items
        return counts

    def flaky_starts(self, scope: Scope, period: Period) -> Sequence[datetime]:
        flakes = filter(self._is_flake, self.failing_items(scope, period))
        return sorted(
            at for flake in flakes for at in self._failing_starts(self._by_id[flake], period)
        )

    def _is_flake(self, failure_id: UUID) -> bool:
        failure = self._by_id[failure_id]
        return failure.passed and failure.key not in self._facts.reviews

    def episodes(self, scope: Scope, period: Period) -> Sequence[Episode]:
        episodes = []
        for failure in self._by_id.values():
            members = self.together(failure)
            is_first = failure == members[0] and not self._is_flake(failure.id)
            within = period.start <= failure.first.started_at <= period.end
            if is_first and within and scope.holds(*failure.key.lane.product):
                episodes.append(self._episode(members))
        return episodes

    def episodes_failed(self, scope: Scope, period: Period) -> Sequence[Episode]:
        failed = (
            self.together(self._by_id[failure])
            for failure in self.failing_items(scope, period)
            if not self._is_flake(failure)
        )
        return [
            self._episode(members)
            for members in {members[0].id: members for members in failed}.values()
        ]

    def _episode(self, members: Sequence[Failure]) -> Episode:
        first, last = members[0], members[-1]
        return Episode(
            id=first.id,
            key=first.key,
            first=first.first,
            last_sha=last.key.sha,
            commits=len(members),
            fix=first.next_pass,
            reviewed=tuple(member.id for member in members if member.key in self._facts.reviews),
        )

    def resolved(
        self,
        scope: Scope,
        period: Period,
        _tables: Sequence[Collection[FailureClass]],
        _most: int | None = None,
    ) -> ResolvedEpisodes:
        episodes = self.episodes(scope, period)
        return ResolvedEpisodes(
            {}, [episode for episode in episodes if episode.fix or episode.reviewed]
        )

    def failure(self, failure_id: UUID) -> Failure | None:
        return self._by_id.get(failure_id)

    def members(self, episodes: Sequence[Episode]) -> Sequence[Sequence[Failure]]:
        return [self.together(self._by_id[episode.id]) for episode in episodes]

    def together(self, failure: Failure) -> Sequence[Failure]:
        if failure.passed:
            return [failure]
        return [
            member
            for member in self._by_lane[failure.key.lane]
            if not member.passed and member.next_pass == failure.next_pass
        ]

    def reviews(self, failures: Iterable[UUID] | None = None) -> Mapping[UUID, StoredReview]:
        reviews = {failure_id(self.org_id, key): row for key, row in self._facts.reviews.items()}
        if failures is None:
            return reviews
        return {failure: reviews[failure] for failure in reviews.keys() & failures}

    def config(self, product: Product) -> SuiteConfig | None:
        return self._facts.configs.get(product)

    def changes_under_test(
        self, repo_key: str, workflow: str, branch: str, sha: str
    ) -> RunChanges | None:
        target = Target(repo_key, workflow, branch, sha)
        run_id = self._first_run.get(target)
        return None if run_id is None else self._changes.get((target, run_id))

    def changes_listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        return self._listing.get((repo_key, sha), ())

    def tested_with(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[tuple[str, int]]]:
        return {
            sha: [(run.sha, run.ci_run_id) for run in runs]
            for sha in shas
            if (runs := self.changes_listing(repo_key, sha))
        }

    def first_listing(self, repo_key: str, shas: Sequence[str]) -> Mapping[str, ChangeList]:
        listings = {sha: self.changes_listing(repo_key, sha) for sha in shas}
        return {sha: listing[0].changes for sha, listing in listings.items() if listing}

    def changes_based_on(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        return self._based_on.get((repo_key, sha), ())

    def under_test(self, episodes: Sequence[Episode]) -> Sequence[ChangeList | None]:
        changes = []
        for episode in episodes:
            lane, sha = episode.key
            run = self.changes_under_test(lane.repo_key, episode.first.workflow, lane.branch, sha)
            changes.append(None if run is None else run.changes)
        return changes

    def episode_runs(self, episodes: Sequence[Episode]) -> Sequence[EpisodeRuns]:
        return [
            EpisodeRuns(
                under_test,
                None
                if episode.fix is None
                else self.pass_started_at(episode.key.lane, episode.fix),
            )
            for episode, under_test in zip(episodes, self.under_test(episodes), strict=True)
        ]

    def last_passes_before(
        self, failures: Sequence[tuple[FailureKey, Sequence[str]]]
    ) -> Sequence[str | None]:
        passes = []
        for (lane, sha), among in failures:
            place = self._places[lane.repo_key, lane.branch][sha]
            earlier = [passed.sha for passed in self._passes(lane) if passed < place]
            passes.append(earlier[-1] if earlier and earlier[-1] in among else None)
        return passes

    def pass_started_at(self, lane: Lane, sha: str) -> datetime | None:
        runs = self._runs_on(lane, sha)
        passed = (ran.report.started_at for ran in runs if ran.item.outcome is Outcome.PASS)
        return min(passed, default=None)

    def lane_commits(self, lane: Lane, first: Place, last: Place, margin: int) -> list[LaneCommit]:
        places = self._placed(lane, self._runs.get(lane[:4], {}))
        start = max(0, bisect_left(places, first) - margin)
        end = bisect_right(places, last) + margin
        return [
            LaneCommit(at.sha, at, tuple(map(self._evidence, self._runs_on(lane, at.sha))))
            for at in places[start:end]
        ]

    def _evidence(self, ran: Ran) -> EvidenceRun:
        report, item = ran
        number, attempt = report.ci_run_id, report.run_attempt
        return EvidenceRun(
            started_at=report.started_at,
            run_id=number,
            run_attempt=attempt,
            run_record_id=run_record_id(
                self.org_id, report.repo_key, number, attempt, report.box_key
            ),
            ci_run=report.ci_run,
            workflow=report.workflow,
            branch=report.branch,
            outcome=item.outcome,
            attempts=item.attempts,
            duration_s=item.duration_s,
            verdict=item.verdict,
            message=item.message,
            board=item.board,
            log_url=item.log_url,
        )

    def place(self, repo_key: str, branch: str, sha: str) -> Place | None:
        return self._places.get((repo_key, branch), {}).get(sha)

    def products(self) -> Sequence[ProductState]:
        last: dict[Product, datetime | None] = dict.fromkeys(self._facts.configs)
        for merge in self._facts.announcements:
            if merge.suite is not None:
                last.setdefault(Product(merge.repo_key, merge.suite))
        for report in self._reports:  # the latest start comes last
            last[Product(report.repo_key, report.suite)] = report.started_at
        return [
            ProductState(product, self.config(product), at) for product, at in sorted(last.items())
        ]

    def unassigned_repositories(self) -> Sequence[str]:
        return sorted(
            {merge.repo_key for merge in self._facts.announcements if merge.suite is None}
        )

    def _reports_of(self, scope: Scope, period: Period) -> Iterator[Report]:
        for report in self._reports:
            if (
                scope.holds(report.repo_key, report.suite)
                and period.start <= report.started_at <= period.end
            ):
                yield report

    def _runs_on(self, lane: Lane, sha: str) -> Sequence[Ran]:
        """Return the items of the lane's test and box on one commit, on any branch, by start."""
        return self._runs.get(lane[:4], {}).get(sha, ())

    def _failing_starts(self, failure: Failure, period: Period) -> list[datetime]:
        lane, sha = failure.key
        starts = (
            ran.report.started_at
            for ran in self._runs_on(lane, sha)
            if ran.report.branch == lane.branch and ran.item.outcome is Outcome.FAIL
        )
        return [at for at in starts if period.start <= at <= period.end]

    def _passes(self, lane: Lane) -> list[Place]:
        commits = self._runs.get(lane[:4], {})
        return self._placed(
            lane,
            (
                sha
                for sha, runs in commits.items()
                if any(ran.item.outcome is Outcome.PASS for ran in runs)
            ),
        )

    def _placed(self, lane: Lane, shas: Iterable[str]) -> list[Place]:
        """Return the places of those commits that have one on the branch, in order."""
        places = self._places.get((lane.repo_key, lane.branch), {})
        return sorted(places[sha] for sha in shas if sha in places)

    def _state(self, key: FailureKey, runs: Sequence[Ran], passes: Sequence[Place]) -> Failure:
        place = self._places[key.lane.repo_key, key.lane.branch][key.sha]
        later = bisect_right(passes, place)
        report, item = runs[0]
        passed = later > 0 and passes[later - 1].sha == key.sha
        is_fixed = later < len(passes) and (not passed or key in self._facts.reviews)
        return Failure(
            id=failure_id(self.org_id, key),
            key=key,
            place=place,
            items=len(runs),
            first=FailingRun(
                report.started_at,
                report.run_id,
                report.run_attempt,
                report.workflow,
                item.verdict,
                report.ci_run_id,
                report.ci_run,
            ),
            last_started_at=runs[-1].report.started_at,
            passed=passed,
            reviewed=key in self._facts.reviews,
            next_pass=passes[later].sha if is_fixed else None,
        )

    @cached_property
    def _places(self) -> Mapping[tuple[str, str], Mapping[str, Place]]:
        branches: dict[tuple[str, str], list[Report]] = defaultdict(list)
        for report in self._reports:
            branches[report.repo_key, report.branch].append(report)
        return {branch: first_places(reports) for branch, reports in branches.items()}

    @cached_property
    def _runs(self) -> Mapping[Bench, Mapping[str, Sequence[Ran]]]:
        """Every counted item by bench and commit, each list by start."""
        runs: dict[Bench, dict[str, list[Ran]]] = defaultdict(lambda: defaultdict(list))
        for report in self._reports:
            for item in report.tests if report.hello_ok else ():
                bench = (report.repo_key, report.suite, item.id, report.box_key)
                runs[bench][report.sha].append(Ran(report, item))
        return runs

    @cached_property
    def _by_lane(self) -> Mapping[Lane, Sequence[Failure]]:
        """Every failure, by lane and in order of place."""
        failing: dict[Lane, dict[str, list[Ran]]] = defaultdict(lambda: defaultdict(list))
        for bench, commits in self._runs.items():
            for sha, runs in commits.items():
                for ran in runs:
                    if ran.item.outcome is Outcome.FAIL:
                        failing[Lane(*bench, ran.report.branch)][sha].append(ran)
        failures = {}
        for lane, commits in failing.items():
            passes = self._passes(lane)
            states = (self._state(FailureKey(lane, sha), commits[sha], passes) for sha in commits)
            failures[lane] = sorted(states, key=lambda failure: failure.place)
        return failures

    @cached_property
    def _by_id(self) -> Mapping[UUID, Failure]:
        return {failure.id: failure for lane in self._by_lane.values() for failure in lane}

    @cached_property
    def _first_run(self) -> Mapping[Target, int]:
        first: dict[Target, int] = {}
        for report in self._reports:
            first.setdefault(_target(report), report.run_id)
        return first

    @cached_property
    def _changes(self) -> Mapping[tuple[Target, int], RunChanges]:
        """The changes of each run: "those of its earliest report that carries any"."""
        changes: dict[tuple[Target, int], RunChanges] = {}
        for report in self._reports:
            run, carried = (_target(report), report.run_id), carried_changes(report)
            if carried is not None and run not in changes:
                changes[run] = RunChanges(
                    report_order(report),
                    report.ci_run_id,
                    report.workflow,
                    report.branch,
                    report.sha,
                    carried,
                    report.ci_run,
                )
        return changes

    @cached_property
    def _listing(self) -> Mapping[tuple[str, str], Sequence[RunChanges]]:
        listing: dict[tuple[str, str], list[RunChanges]] = defaultdict(list)
        for (target, _), run in self._changes.items():
            for sha in {commit.sha for commit in run.changes.commits}:
                listing[target.repo_key, sha].append(run)
        return listing

    @cached_property
    def _based_on(self) -> Mapping[tuple[str, str], Sequence[RunChanges]]:
        runs: dict[tuple[str, str], list[RunChanges]] = defaultdict(list)
        for (target, _), run in self._changes.items():
            if run.changes.base_sha is not None:
                runs[target.repo_key, run.changes.base_sha].append(run)
        return runs

    @cached_property
    def _sighted(self) -> Mapping[tuple[str, str], Sequence[SightedRun]]:
        runs: dict[tuple[str, str], list[SightedRun]] = defaultdict(list)
        for report in self._reports:
            run = SightedRun(
                *report_order(report),
                report.ci_run_id,
                report.sha,
                Sighting(report.suite, report.hello_ok, bool(report.tests)),
                report.ci_run,
            )
            for sha in {report.sha, *report.covers_shas}:
                runs[report.repo_key, sha].append(run)
        return runs


def _target(report: Report) -> Target:
    return Target(report.repo_key, report.workflow, report.branch, report.sha)


def _notable(items: Iterable[TestItem]) -> Notable:
    """Count the items that are no pass at the first attempt."""
    notable = [item for item in items if has_failed_attempt(item)]
    failed = sum(item.outcome is Outcome.FAIL for item in notable)
    return Notable(len(notable), sum(item.attempts for item in notable), failed)
