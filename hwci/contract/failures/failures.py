# SPDX-License-Identifier: Apache-2.0
"""Failures: rows of tables, and one failure with its evidence (contract, "CI metrics")."""

from datetime import datetime
from typing import ClassVar
from uuid import UUID

from hwci.contract.known_failures import KnownBy
from hwci.contract.people import Actor
from hwci.contract.runs.commits import BrokenBy, ChangedCommit, Fix
from hwci.contract.runs.runs import RunOnBox
from hwci.contract.scope import Identified, TestName
from hwci.contract.shape import Open, sent, shape
from hwci.contract.vocabulary import FailureClass, Label, Outcome, Reason, ReviewAction, Verdict


@shape
class FailureOfLane(TestName, Identified):
    """A failure: its id, test, box and branch."""

    box_key: str
    branch: str


@shape
class FirstFailure:
    """The first failing run of a resolved failure's first commit."""

    sha: str
    started_at: datetime
    workflow: str
    run_id: int
    run_attempt: int
    run_record_id: UUID
    ci_run: int | None


@shape
class ClassAndReason:
    """A class with its reason; the text is the spec's."""

    JSON_NAMES: ClassVar = {"failure_class": "class"}

    failure_class: Open[FailureClass]
    reason: Open[Reason] | None
    reason_text: str | None


@sent
class Review:
    """A person's review of a resolved failure, with what they wrote about it and the address of an
    issue.
    """

    action: Open[ReviewAction]
    by: Actor
    at: datetime
    note: str | None = None
    issue: str | None = None


@shape
class ResolvedFailure(FailureOfLane, ClassAndReason):
    """A row of "Real FW bugs caught" or "Resolved by a bench or harness change".

    `label` is `resolved` in both tables; the answer to a Reset says what the failure is now.
    """

    first_failure: FirstFailure
    last_failing_sha: str
    failing_commits: int
    broken_by: BrokenBy | None
    fix: Fix | None
    verdict: Open[Verdict]
    automatic: ClassAndReason
    review: Review | None
    status: str
    label: Open[Label] = Label.RESOLVED


@shape
class ReclassifiedFailure(FailureOfLane):
    """A resolved failure that the checks would class otherwise with another configuration. One that
    was reviewed counts as reviewed, before and after.
    """

    sha: str
    started_at: datetime
    before: ClassAndReason
    after: ClassAndReason
    review: Review | None


@shape
class ReviewedFailures:
    """Each reviewed failure once, as it is now, in the order of the reviews."""

    items: tuple[ResolvedFailure, ...]


@shape
class Failure(FailureOfLane):
    """A failure of `ci-failures`. `items` counts its failing test items. `known`: the rule of a
    person by which it is known; it changes nothing else.
    """

    sha: str
    label: Open[Label]
    items: int
    first_started_at: datetime
    last_started_at: datetime
    verdict: Open[Verdict]
    group_id: UUID | None
    known: KnownBy | None = None


@shape
class EvidenceRun(RunOnBox):
    """One result of the test in the timeline."""

    workflow: str
    branch: str
    outcome: Open[Outcome]
    attempts: int
    duration_s: float
    verdict: Open[Verdict]
    message: str | None = None
    board: str | None = None
    log_url: str | None = None


@shape
class EvidenceCommit:
    """A commit of the timeline, in the order of the branch. `this`: the failure's own commit.

    At most 200 runs are shown, the latest of `runs_total`.
    """

    sha: str
    this: bool
    passed: bool
    failed: bool
    runs: tuple[EvidenceRun, ...]
    runs_total: int


@shape
class CheckRun(RunOnBox):
    """The run that a check looked at."""

    box_key: str


@shape
class Check:
    """A row of the reason table, asked: what was found, and what decided."""

    reason: Open[Reason]
    reason_text: str
    decided: bool
    found: str
    run: CheckRun | None
    commit: str | None
    file: str | None
    pattern: str | None


@shape
class FailureEvidence:
    """One failure with its evidence.

    `resolved` is null for a flake or a pending failure; `under_test` and `before_fix` are null
    when unknown or not connected. `broken_by` is that of a pending failure too. `timeline_changes`
    are the commits of the timeline that a run of the repository listed, without those that the two
    lists show.

    Each list of commits shows at most 200 of its total: of the timeline its ends and what is around
    the failure, of changes those with firmware or harness files before others.
    """

    failure: Failure
    resolved: ResolvedFailure | None
    broken_by: BrokenBy | None
    timeline: tuple[EvidenceCommit, ...]
    timeline_total: int
    timeline_changes: tuple[ChangedCommit, ...]
    checks: tuple[Check, ...]
    under_test: tuple[ChangedCommit, ...] | None
    under_test_total: int | None
    before_fix: tuple[ChangedCommit, ...] | None
    before_fix_total: int | None
