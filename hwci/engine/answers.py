# SPDX-License-Identifier: Apache-2.0
"""What people see, as values: tiles, table rows, and the trace that explains a class.

This module only gives shapes. Rows are computed in the modules that own their rule; the wire turns
these values into JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from hwci.engine.facts import Announcement, Commit, FailureKey, Lane, Review
from hwci.engine.history import FailingRun, Failure, LaneCommit
from hwci.engine.sightings import SightedRun
from hwci.engine.vocabulary import FailureClass, FileKind, Label, Reason, Verdict

Row = TypeVar("Row")


class CheckedMerge(NamedTuple):
    """A row of the merges checked on hardware: the merge, and the run that checked it first."""

    announcement: Announcement
    first_run: SightedRun


class Tally(NamedTuple):
    """A part and the whole it is a part of."""

    part: int
    total: int


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Resolved failures of the period by class."""

    real: int
    bench_or_harness: int
    ambiguous: int
    dismissed: int


@dataclass(frozen=True, slots=True)
class Tiles:
    """The four tiles of the metrics page."""

    merges_checked: Tally
    real_fw_bugs: ClassCounts
    flaky_failures: int
    infra_runs: Tally


class CheckedRun(NamedTuple):
    """The run that a check looked at, on one box: `run_id` is the run as CI knows it."""

    started_at: datetime
    run_id: int
    run_attempt: int
    box_key: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check looked at and found: a sentence, and the evidence that decided it."""

    note: str
    run: CheckedRun | None = None
    commit: str | None = None
    file: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the reason table, asked. `decided`: this row gave the class."""

    reason: Reason
    decided: bool
    finding: Finding


@dataclass(frozen=True, slots=True)
class Classification:
    """A class, its reason (None: a real firmware bug), and every check up to the deciding one."""

    failure_class: FailureClass
    reason: Reason | None
    trace: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class BrokenBy:
    """The commits that may have broken the test (semantics, 7): firmware commits, oldest first."""

    commits: tuple[Commit, ...]


class Fix(NamedTuple):
    """The first passed commit after a group; the earliest run that passed on it started then."""

    sha: str
    started_at: datetime


@dataclass(frozen=True, slots=True)
class ResolvedFailure:
    """A row of "Real FW bugs caught" or of "Resolved by a bench or harness change".

    The answer to a review has this shape too: after a reset `label` may say that the failure is
    a flake or pending again.
    """

    id: UUID
    key: FailureKey
    first: FailingRun
    last_failing_sha: str
    failing_commits: int
    broken_by: BrokenBy | None
    fix: Fix | None
    shown: Classification
    automatic: Classification
    review: Review | None
    label: Label = Label.RESOLVED

    @property
    def verdict(self) -> Verdict:
        """The harness verdict of the first failing run."""
        return self.first.verdict


def is_broken(retry_passes: int, flaky_failures: int) -> bool:
    """Semantics, 9.3: "A test that never passed on a retry and has no Flake is broken rather than
    flaky".
    """
    return retry_passes == 0 and flaky_failures == 0


@dataclass(frozen=True, slots=True)
class FlakyTest:
    """A row of "Flakiest tests". `flake_rate` is a percentage (metric rule 1)."""

    repo_key: str
    suite: str
    test_id: str
    boxes: int
    run_reports: int
    attempts: int
    failed_attempts: int
    retry_passes: int
    flaky_failures: int
    flake_rate: float

    @property
    def broken(self) -> bool:
        """Tell a test that is broken from one that is flaky (semantics, 9.3)."""
        return is_broken(self.retry_passes, self.flaky_failures)


@dataclass(frozen=True, slots=True)
class LabelledFailure:
    """A failure with what later runs say of it; `group_id` is its group's first failure's id."""

    failure: Failure
    label: Label
    group_id: UUID | None


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """A slice of a table and the number of its rows."""

    items: Sequence[Row]
    total: int


@dataclass(frozen=True, slots=True)
class Page:
    """The metrics page: tiles, and the first rows of each table."""

    tiles: Tiles
    unchecked_merges: Listing[Announcement]
    real_bugs: Listing[ResolvedFailure]
    other_failures: Listing[ResolvedFailure]
    flakiest_tests: Listing[FlakyTest]


@dataclass(frozen=True, slots=True)
class Reclassified:
    """A resolved failure that the checks would see otherwise under another configuration."""

    id: UUID
    key: FailureKey
    first: FailingRun
    before: Classification
    after: Classification
    review: Review | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What another configuration would change: the tile, and every failure seen otherwise, among
    the newest `looked_at` of all `failures` of the period.
    """

    before: ClassCounts
    after: ClassCounts
    changes: Sequence[Reclassified]
    looked_at: int
    failures: int


class FileEvidence(NamedTuple):
    """A changed file and what it is to the product; None: nobody said what its files are."""

    path: str
    kind: FileKind | None


@dataclass(frozen=True, slots=True)
class CommitEvidence:
    """A commit that a run told of, with its files by kind."""

    commit: Commit
    files: tuple[FileEvidence, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One failure with all that its answer rests on.

    `resolved` is None for a flake or a pending failure. `under_test` and `before_fix` are None
    when unknown or unconnected; `timeline` is its lane around it, as much as is shown of that, and
    `timeline_changes` are those of these commits that any run told of.
    """

    failure: LabelledFailure
    lane: Lane
    resolved: ResolvedFailure | None
    timeline: Listing[LaneCommit]
    timeline_changes: tuple[CommitEvidence, ...]
    under_test: tuple[CommitEvidence, ...] | None
    before_fix: tuple[CommitEvidence, ...] | None
