# SPDX-License-Identifier: Apache-2.0
"""The questions that the rules ask of recorded history, and the shapes of the answers.

A store answers them narrowly, from its indexes. `full_history.FullHistory` answers them from all
facts and is the definition: for every history both must give the same page. Answers are facts and
states only; every rule over them is written once, in `rules`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar
from uuid import UUID

from hwci.contract.runs.commits import ChangeList
from hwci.contract.runs.merges import Merge
from hwci.contract.scope import ProductKey
from hwci.contract.vocabulary import FailureClass, Outcome, Reason, Verdict
from hwci.engine.facts import FailureKey, Lane, Product, Review, SuiteConfig, TestKey
from hwci.engine.periods import Period, Slots

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """A slice of a list and the number of all its rows."""

    items: Sequence[Row]
    total: int


@dataclass(frozen=True, slots=True)
class Scope:
    """What a page shows: all, one repository, or one product (`suite` needs `repo_key`)."""

    repo_key: str | None = None
    suite: str | None = None

    def holds(self, repo_key: str, suite: str | None) -> bool:
        """Whether what belongs to a product, or to a repository alone, is shown."""
        return self.repo_key in {None, repo_key} and self.suite in {None, suite}

    @property
    def product(self) -> ProductKey | None:
        """The product as answers have it; None of all products."""
        if self.repo_key is None:
            return None
        return ProductKey(repo_key=self.repo_key, suite=self.suite)


@dataclass(frozen=True, slots=True)
class Where:
    """Of which box, branch and commit (by its first digits) a list shows rows; None: any."""

    box_key: str | None = None
    branch: str | None = None
    sha: str | None = None

    def has_box(self, box_keys: Collection[str]) -> bool:
        """Whether a row of these boxes is shown."""
        return self.box_key is None or self.box_key in box_keys

    def has_commit(self, branch: str, shas: Iterable[str]) -> bool:
        """Whether a row of a branch and of these commits is shown."""
        if self.branch not in {None, branch}:
            return False
        return self.sha is None or any(sha.startswith(self.sha) for sha in shas)


EVERYTHING, ANYWHERE = Scope(), Where()


class Place(NamedTuple):
    """The place of a commit on a branch: its first mention, compared field by field.

    `way` is 0 for `changes.base_sha`, 1 for `covers_shas`, 2 for `changes.commits`, 3 for the
    report's own `sha`; `position` is the index in that list (0 where there is no list).
    """

    started_at: datetime
    way: int
    position: int
    sha: str


class ReportOrder(NamedTuple):
    """The order of reports wherever the rules say "earliest" (semantics, 5.1)."""

    started_at: datetime
    run_id: int
    run_attempt: int
    box_key: str


class FailingRun(NamedTuple):
    """The first failing run of a failure. `ci_run_id` is the run as CI knows it (for a part of a
    larger report: `part_of.run_id`); `run_id` is the report's own and orders ties. `ci_run`: here
    and below, the number that the CI shows for people, where it is another.
    """

    started_at: datetime
    run_id: int
    run_attempt: int
    workflow: str
    verdict: Verdict
    ci_run_id: int
    ci_run: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Failure:
    """The state of one failure: what decides its label and its group.

    `passed`: its own commit passed for the test and box (semantics, 4.2).
    `next_pass`: the first passed commit with a later place on the branch, or None. A failure that
    passed has none unless it is reviewed. `reviewed`: a review is stored at it. Nobody changes one;
    it is not frozen, as a period has thousands of them, and a frozen one takes twice as long.
    """

    id: UUID
    key: FailureKey
    place: Place
    items: int
    first: FailingRun
    last_started_at: datetime
    passed: bool
    next_pass: str | None
    reviewed: bool = False


class Decision(NamedTuple):
    """What the checks gave for an episode. `reason` is None for a real firmware bug. `rests_on`:
    the commits that its walk to the fix rests on (`rules/walk.py`), if one was searched.
    """

    failure_class: FailureClass
    reason: Reason | None
    rests_on: frozenset[str] = frozenset()


@dataclass(slots=True, unsafe_hash=True)
class Episode:
    """Failures that count as one, but no flake that nobody reviewed: what its label and its class
    rest on, and what a table shows of it.

    `id`, `key` and `first`, the first failing run, are those of its first failure. `fix`: the first
    passed commit after it, or None. `reviewed`: its failures that have a review. `decision`: the
    automatic class as a store keeps it; None if it is not kept, or may be another one by now.
    `number`: its row, where a store has one. Nobody changes one, as a failure.
    """

    id: UUID
    key: FailureKey
    first: FailingRun
    last_sha: str
    commits: int
    fix: str | None
    reviewed: tuple[UUID, ...] = ()
    decision: Decision | None = None
    number: int | None = field(default=None, compare=False)

    @property
    def started_at(self) -> datetime:
        """When its first failing run started."""
        return self.first.started_at

    @property
    def verdict(self) -> Verdict:
        """The harness verdict of its first failing run."""
        return self.first.verdict


class RunCounts(NamedTuple):
    """Numbers of run reports, first parts only: those that never reached the hardware, and all."""

    infra: int
    total: int


class RunStarts(NamedTuple):
    """Starts of the same reports, in order: those that never reached the hardware, and all."""

    infra: Sequence[datetime]
    all: Sequence[datetime]


StoredTest = tuple[Any, Any]
"""A product and a test as a store calls them: a table names only the tests that it shows."""


class Notable(NamedTuple):
    """The items of a test that are no pass at the first attempt: how many, the attempts that they
    took together, and how many of them failed.
    """

    items: int = 0
    attempts: int = 0
    failed: int = 0


class TestRuns(NamedTuple):
    """One test over the `hello_ok` reports of a period. `test`: what the store calls it. `items`,
    `attempts`, `failed`: as of `Notable`. `flakes`: the failing items of failures whose own commit
    passed and that have no review.
    """

    test: StoredTest
    boxes: int
    reports: int
    items: int
    attempts: int
    failed: int
    flakes: int


class BoxRuns(NamedTuple):
    """One test on one box over the `hello_ok` reports of one slot."""

    product: Product
    test_id: str
    box_key: str
    slot: int
    reports: int
    notable: Notable


class Sighting(NamedTuple):
    """What decides whether a report checks a merge that its `sha` or `covers_shas` hold."""

    suite: str
    hello_ok: bool
    has_tests: bool


class MergeState(NamedTuple):
    """An announced merge, and whether a run checked it."""

    merge: Merge
    checked: bool


class MergeCounts(NamedTuple):
    """Numbers of announced merges: those that a run checked, and all."""

    checked: int
    total: int


class SightedRun(NamedTuple):
    """A report that holds a commit in its `sha` or `covers_shas`. `sha`: the commit that it tested.
    Within a repository these compare in the order of reports (semantics, 5.1).
    """

    started_at: datetime
    run_id: int
    run_attempt: int
    box_key: str
    ci_run_id: int
    sha: str
    sighting: Sighting
    ci_run: int | None = None


@dataclass(frozen=True, slots=True)
class RunChanges:
    """The changes of a run (semantics, 5.1). `order` is that of the report that carries them."""

    order: ReportOrder
    ci_run_id: int
    workflow: str
    branch: str
    sha: str
    changes: ChangeList
    ci_run: int | None = None


class ResolvedEpisodes(NamedTuple):
    """The resolved episodes of a period. `settled`: by class those that were asked for, in the
    order of their table, and how many the class has. `unsettled`: all others, in any order.
    """

    settled: Mapping[FailureClass, Listing[Episode]]
    unsettled: Sequence[Episode]


class EpisodeRuns(NamedTuple):
    """What a table shows of the runs of an episode beside the first failing one. `under_test`: the
    changes that this tested. `fixed_at`: start of the earliest run in
    which its test passed on its fix; None if it has no fix.
    """

    under_test: ChangeList | None
    fixed_at: datetime | None


@dataclass(frozen=True, slots=True)
class LaneRun:
    """One item of a test on a box, for the evidence of a failure."""

    started_at: datetime
    ci_run_id: int
    run_attempt: int
    workflow: str
    branch: str
    outcome: Outcome
    attempts: int
    verdict: Verdict
    duration_s: float
    message: str | None = None
    ci_run: int | None = None
    board: str | None = None
    log_url: str | None = None


@dataclass(frozen=True, slots=True)
class LaneCommit:
    """A commit of a branch on which a test ran on a box, with every such run (any branch)."""

    sha: str
    place: Place
    runs: tuple[LaneRun, ...]


class ProductState(NamedTuple):
    """A product named by a report, an announcement or a configuration. `last_report_at` is the
    latest start among its reports, whether or not they reached the hardware.
    """

    product: Product
    config: SuiteConfig | None
    last_report_at: datetime | None


class OutOfTimeError(Exception):
    """The time for an answer is over. Any question to a history may raise it."""


class History(Protocol):
    """One organization's history, read within one consistent snapshot."""

    @property
    def org_id(self) -> UUID:
        """Whose history it is."""

    @property
    def decided(self) -> dict[UUID, tuple[Episode, Decision]]:
        """What was decided of it so far and no store keeps yet, by the id of the episode. Whoever
        decides adds to it, so that nothing is decided twice, and a store can keep it also when the
        time runs out.
        """

    def check_time(self) -> None:
        """Raise `OutOfTimeError` if the time is over. Called in long work between two questions."""

    def extent(self, scope: Scope, period: Period) -> Period | None:
        """Time of the first and last run or merge in the period; None if there is none."""

    def merges(self, scope: Scope, period: Period) -> Sequence[MergeState]:
        """Announcements of the period by `merged_at`. A scope of one product holds only merges
        announced for it; one of a repository holds its unassigned merges too.
        """

    def merge_counts(self, scope: Scope, period: Period) -> MergeCounts:
        """Numbers of the merges that `merges` returns."""

    def newest_unchecked(self, scope: Scope, period: Period, most: int) -> Sequence[Merge]:
        """The first of these merges that no run checked, in the order of their table."""

    def sighted_runs(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[SightedRun]]:
        """Reports of a repository whose `sha` or `covers_shas` hold a commit, in any order; of each
        of these commits that has any.
        """

    def run_counts(self, scope: Scope, period: Period) -> RunCounts:
        """Numbers of run reports by start."""

    def run_starts(self, scope: Scope, period: Period) -> RunStarts:
        """Starts of the run reports that `run_counts` counts."""

    def test_runs(self, scope: Scope, period: Period) -> Sequence[TestRuns]:
        """Tests of `hello_ok` reports of the period with a notable item, in any order."""

    def test_keys(self, tests: Sequence[StoredTest]) -> Sequence[TestKey]:
        """The product and the id of each of these tests."""

    def box_runs(self, tests: Collection[TestKey], slots: Slots) -> Sequence[BoxRuns]:
        """Runs of these tests by box and slot, in any order; no row where none ran."""

    def failures(self, scope: Scope, period: Period) -> Sequence[Failure]:
        """Failures with an item in the period, with all that count as one with them: of their lane,
        with equal `next_pass`, none of them passed.
        """

    def failing_items(self, scope: Scope, period: Period) -> Mapping[UUID, int]:
        """Number of failing items in the period by failure id; only failures with one."""

    def newest_failing(self, scope: Scope, period: Period, most: int) -> Listing[UUID]:
        """So many of these failures, the newest first by their first failing run, then by id, as
        its text orders; and how many there are.
        """

    def with_groups(self, failures: Collection[UUID]) -> Sequence[Failure]:
        """These failures, with all that count as one with them: see `failures`."""

    def flake_count(self, scope: Scope, period: Period) -> int:
        """Number of failing items in the period, of failures whose own commit passed and that have
        no review.
        """

    def flaky_starts(self, scope: Scope, period: Period) -> Sequence[datetime]:
        """Start of each of these items, in order."""

    def episodes(self, scope: Scope, period: Period) -> Sequence[Episode]:
        """Episodes whose first failing run started in the period, in any order."""

    def episodes_failed(self, scope: Scope, period: Period) -> Sequence[Episode]:
        """Episodes with a failing item in the period, in any order."""

    def resolved(
        self,
        scope: Scope,
        period: Period,
        tables: Sequence[Collection[FailureClass]],
        most: int | None = None,
    ) -> ResolvedEpisodes:
        """Episodes of the period with a fix or a review. Settled are those with a fix, without a
        review, and with a decision that is kept; a store that keeps no decision has none. Of these
        it returns the `most` first of each of the `tables`, which are classes; None: all.
        """

    def failure(self, failure_id: UUID) -> Failure | None:
        """The failure with this id; None if there is none."""

    def members(self, episodes: Sequence[Episode]) -> Sequence[Sequence[Failure]]:
        """The failures of each of these episodes, in any order."""

    def together(self, failure: Failure) -> Sequence[Failure]:
        """All that count as one with a failure, itself among them: see `failures`."""

    def reviews(self, failures: Iterable[UUID] | None = None) -> Mapping[UUID, Review]:
        """The reviews stored at these failures, by the id of the failure; None: every review."""

    def config(self, product: Product) -> SuiteConfig | None:
        """The configuration of a product that counts now."""

    def changes_under_test(
        self, repo_key: str, workflow: str, branch: str, sha: str
    ) -> RunChanges | None:
        """Changes of the first run on a commit (semantics, 5.2 and 5.1); None if it sent none."""

    def changes_listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Changes of all runs of the repository whose `commits` list the sha, by `order`."""

    def tested_with(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[tuple[str, int]]]:
        """The tested commit and the CI run of each of `changes_listing`, of each of these commits
        that has any.
        """

    def first_listing(self, repo_key: str, shas: Sequence[str]) -> Mapping[str, ChangeList]:
        """The first of `changes_listing` for each of these commits that has any."""

    def changes_based_on(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Changes of all runs of the repository whose `base_sha` is this commit, by `order`."""

    def under_test(self, episodes: Sequence[Episode]) -> Sequence[ChangeList | None]:
        """The changes in the answer to `changes_under_test` for the first failing run of each of
        these episodes; None: it sent none.
        """

    def episode_runs(self, episodes: Sequence[Episode]) -> Sequence[EpisodeRuns]:
        """What a table shows of the runs of each of these episodes."""

    def last_passes_before(
        self, failures: Sequence[tuple[FailureKey, Sequence[str]]]
    ) -> Sequence[str | None]:
        """For each of these failures the last passed commit of its lane with a place before it, if
        that is one of the commits beside it; else None. So a store need not search further back.
        """

    def pass_started_at(self, lane: Lane, sha: str) -> datetime | None:
        """Start of the earliest run in which the lane's test passed on that commit and box."""

    def lane_commits(self, lane: Lane, first: Place, last: Place, margin: int) -> list[LaneCommit]:
        """Commits of the branch that ran the test on the box, from `first` to `last` by place,
        with up to `margin` more on either side: `hello_ok` reports of any branch, by start.
        """

    def place(self, repo_key: str, branch: str, sha: str) -> Place | None:
        """Place of a commit on a branch, or None when no report of the branch mentions it."""

    def products(self) -> Sequence[ProductState]:
        """Every product, by repository and suite."""

    def unassigned_repositories(self) -> Sequence[str]:
        """The repositories with a merge that was announced without a suite, by name: no product
        may tell of them.
        """
