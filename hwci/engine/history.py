# SPDX-License-Identifier: Apache-2.0
"""The questions that the rules ask of recorded history, and the shape of the answers.

A store answers them narrowly, from its indexes; `full.FullHistory` answers them from all facts
and is the definition: for every history both must give the same page. The protocol carries facts
and states only: every rule over them is written once, in the modules beside this one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from hwci.engine.facts import Changes, FailureKey, Lane, Product, Review, SuiteConfig
from hwci.engine.sightings import Merge, SightedRun
from hwci.engine.vocabulary import Outcome, Verdict


@dataclass(frozen=True, slots=True)
class Scope:
    """What a page is about: all, one repository, or one product (`suite` needs `repo_key`)."""

    repo_key: str | None = None
    suite: str | None = None


@dataclass(frozen=True, slots=True)
class Period:
    """Both ends belong to the period (semantics, 10)."""

    start: datetime
    end: datetime


class Place(NamedTuple):
    """Where a commit stands on a branch: its first mention, compared field by field.

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


@dataclass(frozen=True, slots=True)
class FailingRun:
    """The first failing run of a failure. `ci_run_id` is the run as CI knows it (for a part of a
    larger report: `part_of.run_id`); `run_id` is the report's own and orders ties.
    """

    started_at: datetime
    run_id: int
    run_attempt: int
    workflow: str
    verdict: Verdict
    ci_run_id: int


@dataclass(frozen=True, slots=True)
class Failure:
    """The state of one failure: what decides its label and its group.

    `passed`: its own commit passed for the test and box (semantics, 4.2).
    `next_pass`: the first passed commit with a later place on the branch, or None.
    """

    id: UUID
    key: FailureKey
    place: Place
    items: int
    first: FailingRun
    last_started_at: datetime
    passed: bool
    next_pass: str | None


class RunCounts(NamedTuple):
    """Run reports of a period, parts after the first left out: lost to the bench, and all."""

    infra: int
    total: int


class ItemGroup(NamedTuple):
    """So many items of a test had this outcome after this many attempts."""

    outcome: Outcome
    attempts: int
    items: int


@dataclass(frozen=True, slots=True)
class TestRuns:
    """One test over the `hello_ok` reports of a period. Only tests with an item that is not a pass
    at the first attempt are given; `notable` holds exactly those items.
    """

    __test__ = False  # pytest: not a test class

    product: Product
    test_id: str
    boxes: int
    reports: int
    notable: tuple[ItemGroup, ...]


@dataclass(frozen=True, slots=True)
class RunChanges:
    """The changes of a run (semantics, 5.1), placed by the report that carries them."""

    order: ReportOrder
    ci_run_id: int
    workflow: str
    branch: str
    sha: str
    changes: Changes


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


@dataclass(frozen=True, slots=True)
class LaneCommit:
    """A commit of a branch on which a test ran on a box, with every such run (any branch)."""

    sha: str
    place: Place
    runs: tuple[LaneRun, ...]


class ProductState(NamedTuple):
    """A product that was heard of, by a report, an announcement or a configuration.

    `last_report_at` is the latest start among its reports, `hello_ok` either way.
    """

    product: Product
    config: SuiteConfig | None
    last_report_at: datetime | None


class OutOfTimeError(Exception):
    """The time for an answer is over. Any question of a history may raise it."""


class History(Protocol):
    """One organization's history, read within one consistent snapshot."""

    def go_on(self) -> None:
        """Return while there is time for the answer. Asked in long work between two questions."""

    def extent(self, scope: Scope, period: Period) -> Period | None:
        """First and last start of a run or merge in the period: what decides all that it holds."""

    def merges(self, scope: Scope, period: Period) -> Sequence[Merge]:
        """Announcements of the period by `merged_at`. A scope of one product holds only merges
        announced for it; one of a repository holds its unassigned merges too.
        """

    def sighted_runs(self, repo_key: str, sha: str) -> Sequence[SightedRun]:
        """Give the reports of a repository that saw a commit, in any order."""

    def run_counts(self, scope: Scope, period: Period) -> RunCounts:
        """Count run reports by their start."""

    def test_runs(self, scope: Scope, period: Period) -> Sequence[TestRuns]:
        """Tests of `hello_ok` reports of the period that failed or were retried."""

    def failures(self, scope: Scope, period: Period) -> Sequence[Failure]:
        """Every failure with an item in the period, and every failure of its lane with the same
        `next_pass`, in any order.
        """

    def failing_items(self, scope: Scope, period: Period) -> Mapping[UUID, int]:
        """Failing items in the period, by failure id; failures without one are left out."""

    def failure(self, failure_id: UUID) -> Failure | None:
        """Give one failure by its id."""

    def lane_failures(self, lane: Lane) -> Sequence[Failure]:
        """Every failure of a lane, in order of place."""

    def reviews(self) -> Mapping[UUID, Review]:
        """Every review kept, by the id of the failure it is stored at."""

    def config(self, product: Product) -> SuiteConfig | None:
        """Give the configuration of a product that counts now."""

    def changes_under_test(
        self, repo_key: str, workflow: str, branch: str, sha: str
    ) -> RunChanges | None:
        """Changes of the first run on a commit (semantics, 5.2 and 5.1); None when not carried."""

    def changes_listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        """Changes of all runs of the repository whose `commits` list the sha, by `order`."""

    def first_listing(self, repo_key: str, shas: Sequence[str]) -> Mapping[str, Changes]:
        """The first of `changes_listing` for each of these commits that has any: for people."""

    def is_recorded_base(self, repo_key: str, sha: str) -> bool:
        """Whether some run's changes have this `base_sha`: spares a walk through all of history."""

    def last_pass_before(self, lane: Lane, place: Place, among: Sequence[str]) -> str | None:
        """Give the last passed commit of the lane with a place before `place`, if it is one of
        `among`; else None. So a store need not look back for a test that passed on none of them.
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
        """Every product heard of, by repository and suite."""
