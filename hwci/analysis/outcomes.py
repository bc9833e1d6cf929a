# SPDX-License-Identifier: Apache-2.0
"""The questions that answers beside the rules ask of recorded history, and their shapes.

Tests are numbers within their product, and a set of tests is an integer whose bit k is test k: most
runs pass all their tests, so what a run did is its set and the few results that are no pass at the
first attempt.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import reduce
from itertools import chain
from operator import or_
from typing import NamedTuple, Protocol
from uuid import UUID

from hwci.contract.known_failures import KnownFailure
from hwci.contract.runs.commits import ChangeList
from hwci.contract.runs.runs import TestResult
from hwci.contract.vocabulary import Outcome, Trigger
from hwci.engine.facts import FailureKey, Lane, Product, TestKey
from hwci.engine.history import (
    ANYWHERE,
    Episode,
    Failure,
    History,
    Place,
    RunChanges,
    Scope,
    Where,
)
from hwci.engine.periods import Period


@dataclass(frozen=True, slots=True)
class RunOutcomes:
    """What one run did on its box, the parts of its report together. `ran`: its tests; `order`: the
    same in the order of the report. `notable`: its results by test other than a pass at the first
    attempt, as all others are; a pass failed `attempts - 1` times, a fail every time. A run with
    `hello_ok` false never reached the hardware: no rate counts its tests, and it has no `notable`.
    `rerun_of`: the CI run whose result made CI start this one, None if nothing tells. `boards`: the
    tests that name a board of the box, by board.
    """

    started_at: datetime
    ended_at: datetime
    ci_run_id: int
    run_attempt: int
    rerun_of: int | None
    box_key: str
    workflow: str
    trigger: Trigger
    branch: str
    sha: str
    hello_ok: bool
    ran: int
    order: Sequence[int]
    notable: Mapping[int, TestResult]
    boards: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of_parts(cls, parts: Sequence["RunOutcomes"]) -> "RunOutcomes":
        """Return the run of these parts, in their order. It reached the hardware if all did."""
        first, *others = parts
        if not others:
            return first
        hello_ok = all(part.hello_ok for part in parts)
        return replace(
            first,
            started_at=min(part.started_at for part in parts),
            ended_at=max(part.ended_at for part in parts),
            hello_ok=hello_ok,
            ran=reduce(or_, (part.ran for part in parts)),
            order=[*dict.fromkeys(chain.from_iterable(part.order for part in parts))],
            notable=dict(chain.from_iterable(part.notable.items() for part in reversed(parts)))
            if hello_ok
            else {},
            boards={
                board: reduce(or_, (part.boards.get(board, 0) for part in parts))
                for board in chain.from_iterable(part.boards for part in parts)
            },
        )


Branches = Callable[[str, str], bool]
"""Whether runs of a branch count, by its repository and its name."""


class FirstAttempts(NamedTuple):
    """How often the first attempt of a test failed, of so many runs."""

    failed: int
    runs: int


@dataclass(frozen=True, slots=True)
class ProductOutcomes:
    """The runs of a product in the order of reports (semantics, 5.1): one that came in parts stands
    where the first of them does. `tests`: names by number,
    of every test that one of them ran.
    """

    product: Product
    tests: Mapping[int, str]
    runs: Sequence[RunOutcomes]

    def number_of(self, test_id: str) -> int | None:
        """Return the number of a test; None if no run has it."""
        return next((number for number, name in self.tests.items() if name == test_id), None)

    def on(self, branches: Branches) -> "ProductOutcomes | None":
        """Return the runs on these branches; None: there is none."""
        names = {run.branch for run in self.runs}
        wanted = {name for name in names if branches(self.product.repo_key, name)}
        runs = [run for run in self.runs if run.branch in wanted]
        ran = reduce(or_, (run.ran for run in runs), 0)
        tests = {number: name for number, name in self.tests.items() if ran >> number & 1}
        return replace(self, tests=tests, runs=runs) if runs else None


class RecordedRuns(History, Protocol):
    """A history that also has the runs themselves."""

    def on_branches(self, branches: Branches) -> "RecordedRuns":
        """The same history, in which `outcomes`, `test_runs`, `box_runs` and `never_passed_since`
        are of runs on these branches alone. What passed elsewhere still counts as passed.
        """

    def outcomes(self, scope: Scope, period: Period) -> Sequence[ProductOutcomes]:
        """The runs of a period by start, of each product with one, by repository and suite."""

    def commits_run(
        self, lanes: Collection[Lane], period: Period
    ) -> Mapping[Lane, Mapping[str, int]]:
        """The commits on which reports of the period ran the test of each of these lanes, each with
        its number among all commits of the product and branch, by their first reports.
        """

    def listings_back(
        self, repo_key: str, shas: Sequence[str], steps: int, oldest: str = ""
    ) -> Mapping[str, ChangeList]:
        """The first list with each of these commits, as of `first_listing`, and those with the
        bases of these lists, so many steps back; not with the base of that of the `oldest`.
        """

    def runs_under_test(self, episodes: Sequence[Episode]) -> Sequence[RunChanges | None]:
        """The first run on the first commit of each of these episodes, as of
        `changes_under_test`.
        """

    def runs_listing(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[RunChanges]]:
        """The runs that list each of these commits that any lists, as of `changes_listing`."""

    def runs_based_on(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[RunChanges]]:
        """The runs whose list has this base, of each of these commits that is one, as of
        `changes_based_on`.
        """

    def places(
        self, commits: Mapping[tuple[str, str], Collection[str]]
    ) -> Mapping[tuple[str, str], Mapping[str, Place]]:
        """The place of each of these commits of a repository and branch that has one there."""

    def last_passes(self, failures: Sequence[FailureKey], back: int) -> Sequence[str | None]:
        """The last commit that passed the lane of each of these failures, of its own commit and so
        many of its branch before it; None: none of them did.
        """

    def never_passed_since(self, tests: Collection[TestKey], period: Period) -> Sequence[Failure]:
        """Failures of these tests with an item in the period whose commit never passed, nor a later
        one of their lane, with all that count as one with them (`failures`).
        """

    def failed_attempts(self, failures: Collection[UUID]) -> Mapping[UUID, int]:
        """How many attempts the failing items of each of these failures had, all of which failed;
        no entry for what is no failure.
        """

    def messages(self, failures: Collection[UUID]) -> Mapping[UUID, str]:
        """What the harness wrote of each of these failures, in the first of its runs in which it
        wrote something; no entry where there is none.
        """

    def known_failures(self) -> Sequence[KnownFailure]:
        """The rules of the organization by which failures are known, the first made first."""

    def logs(self, failures: Collection[UUID]) -> Mapping[UUID, str]:
        """Where the log of each of these failures is: that of its test in the first of its runs
        that has one, else the page of the first CI job; no entry where there is neither.
        """

    def elsewhere(
        self, groups: Sequence[Collection[FailureKey]]
    ) -> Sequence[Collection[tuple[str, Outcome]]]:
        """How the tests of each group of failures ended on their commits on other boxes of the
        product, on any branch: each box, with each outcome that one of them had there.
        """

    def ended_since(
        self, commits: Sequence[tuple[FailureKey, datetime]]
    ) -> Sequence[Outcome | None]:
        """How the test of each of these lanes ended on a commit on its box, on any branch, in the
        last of the runs that started after a time; None if none did.
        """

    def last_outcome(self, lane: Lane, since: datetime) -> Outcome | None:
        """How the last run of a branch, of those that started at this time or later, ended its
        test on its box; None if none ran it.
        """

    def durations(
        self, product: Product, test_id: str, period: Period
    ) -> Sequence[tuple[str, float]]:
        """Box and seconds of each run of the period that reached the hardware and in which the test
        passed at the first attempt, in any order.
        """

    def ran_on(
        self, tests: Collection[TestKey], period: Period
    ) -> Mapping[TestKey, Collection[str]]:
        """The boxes on which reports of the period that reached the hardware ran each of these
        tests; none for one that nothing ran.
        """

    def boxes_with_runs(self, scope: Scope, period: Period) -> Collection[str]:
        """The boxes that the reports of a period name, whether or not they reached the hardware."""

    def ci_pages(self, scope: Scope, period: Period) -> Sequence[str]:
        """The page of the CI job of the newest report of the period that names one, of each product
        with one, by repository and suite.
        """

    def test_names(self, product: Product, where: Where = ANYWHERE) -> Collection[str]:
        """Every test that a report of the product ever named, of this box, branch and commit."""
