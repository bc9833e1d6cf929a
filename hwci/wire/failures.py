# SPDX-License-Identifier: Apache-2.0
"""Failures: rows of tables, and one failure with its evidence (contract, "CI metrics").

Each model makes itself of the engine's answer with `of`. No figure is computed here.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, Self
from uuid import UUID

from pydantic import Field

from hwci.contract.people import Actor
from hwci.contract.vocabulary import (
    REASONS,
    FailureClass,
    FileKind,
    Label,
    Outcome,
    Reason,
    ReviewAction,
    Verdict,
)
from hwci.engine.facts import Commit, Lane, Review, run_record_id
from hwci.engine.history import FailingRun, LaneCommit, LaneRun, SightedRun
from hwci.engine.page import failures as engine
from hwci.engine.page.plan import Reclassified
from hwci.engine.rules.classify import Check, CheckedRun
from hwci.wire import limits
from hwci.wire.base import Address, Answer, Body, Note, Time


class FailureOfLane(Answer):
    """A failure: its id, test, box and branch."""

    id: UUID
    repo_key: str
    suite: str
    test_id: str
    box_key: str
    branch: str


class RunOnBox(Answer):
    """A run on one box. `run_record_id`: its record in the list of runs. `ci_run`: the number that
    the CI shows, where `run_id` is another.
    """

    started_at: Time
    run_id: int
    run_attempt: int
    run_record_id: UUID
    ci_run: int | None


def box_run(
    org_id: UUID, repo_key: str, box_key: str, run: FailingRun | LaneRun | SightedRun
) -> dict[str, Any]:
    """Return the fields of a run on a box."""
    return {
        "started_at": run.started_at,
        "run_id": run.ci_run_id,
        "run_attempt": run.run_attempt,
        "ci_run": run.ci_run,
        "run_record_id": run_record_id(org_id, repo_key, run.ci_run_id, run.run_attempt, box_key),
    }


class FirstFailure(Answer):
    """The first failing run of a resolved failure's first commit."""

    sha: str
    started_at: Time
    workflow: str
    run_id: int
    run_attempt: int
    run_record_id: UUID
    ci_run: int | None


class CommitSubject(Answer):
    """A commit by its hash and first line."""

    sha: str
    subject: str


class BrokenByAnswer(Answer):
    """The commit that broke the test, or the range of commits that may have."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    commits: tuple[CommitSubject, ...]

    @classmethod
    def of(cls, commits: Sequence[Commit]) -> Self:
        """Make the range of these commits, oldest first."""
        return cls(
            start=commits[0].sha,
            end=commits[-1].sha,
            commits=[{"sha": commit.sha, "subject": commit.subject} for commit in commits],
        )


class FixAnswer(Answer):
    """The fixing commit, and when the earliest run that passed on it started."""

    sha: str
    started_at: Time

    @classmethod
    def of(cls, fix: engine.Fix) -> Self:
        """Make the fix."""
        return cls(sha=fix.sha, started_at=fix.started_at)


class ClassAnswer(Answer):
    """A class with its reason; the text is the spec's."""

    failure_class: FailureClass = Field(alias="class")
    reason: Reason | None
    reason_text: str | None


@cache
def _class_of(failure_class: FailureClass, reason: Reason | None) -> ClassAnswer:
    text = None if reason is None else REASONS[reason].text
    return ClassAnswer(failure_class=failure_class, reason=reason, reason_text=text)


class ReviewNote(Body):
    """Body of Confirm, Dismiss and Reset: why, and the address of an issue. It may be left out."""

    note: Note | None = None
    issue: Address | None = None


class ReviewAnswer(Answer):
    """A person's review of a resolved failure."""

    action: ReviewAction
    by: Actor
    at: Time
    note: str | None
    issue: str | None

    @classmethod
    def of(cls, review: Review) -> Self:
        """Make the review."""
        by = Actor(id=UUID(review.by_id), name=review.by_name)
        return cls(action=review.action, by=by, at=review.at, note=review.note, issue=review.issue)


class ResolvedFailureAnswer(FailureOfLane, ClassAnswer):
    """A row of "Real FW bugs caught" or "Resolved by a bench or harness change".

    `label` is `resolved` in both tables; the answer to a Reset says what the failure is now.
    """

    first_failure: FirstFailure
    last_failing_sha: str
    failing_commits: int
    broken_by: BrokenByAnswer | None
    fix: FixAnswer | None
    verdict: Verdict
    automatic: ClassAnswer
    review: ReviewAnswer | None
    status: str
    label: Label = Label.RESOLVED

    @classmethod
    def of(cls, org_id: UUID, row: engine.ResolvedFailure) -> Self:
        """Make one resolved failure."""
        lane, run = row.key.lane, row.first
        return cls(
            **lane._asdict(),
            id=row.id,
            failure_class=row.shown.failure_class,
            reason=row.shown.reason,
            reason_text=row.shown.reason_text,
            first_failure={
                **box_run(org_id, lane.repo_key, lane.box_key, run),
                "sha": row.key.sha,
                "workflow": run.workflow,
            },
            last_failing_sha=row.last_failing_sha,
            failing_commits=row.failing_commits,
            broken_by=None if row.broken_by is None else BrokenByAnswer.of(row.broken_by),
            fix=None if row.fix is None else row.fix._asdict(),
            verdict=row.verdict,
            automatic=_class_of(row.automatic.failure_class, row.automatic.reason),
            review=None if row.review is None else ReviewAnswer.of(row.review),
            status="Automatic" if row.review is None else row.review.by_name,
            label=row.label,
        )


class ReclassifiedFailure(FailureOfLane):
    """A resolved failure that the checks would class otherwise with another configuration. One that
    was reviewed counts as reviewed, before and after.
    """

    sha: str
    started_at: Time
    before: ClassAnswer
    after: ClassAnswer
    review: ReviewAnswer | None

    @classmethod
    def of(cls, row: Reclassified) -> Self:
        """Make one changed failure of a plan."""
        return cls(
            **row.key.lane._asdict(),
            id=row.id,
            sha=row.key.sha,
            started_at=row.first.started_at,
            before=ClassAnswer.model_validate(row.before),
            after=ClassAnswer.model_validate(row.after),
            review=None if row.review is None else ReviewAnswer.of(row.review),
        )


class FailureAnswer(FailureOfLane):
    """A failure of `ci-failures`. `items` counts its failing test items."""

    sha: str
    label: Label
    items: int
    first_started_at: Time
    last_started_at: Time
    verdict: Verdict
    group_id: UUID | None

    @classmethod
    def of(cls, row: engine.LabelledFailure) -> Self:
        """Make one failure of the list."""
        failure = row.failure
        return cls(
            **failure.key.lane._asdict(),
            id=failure.id,
            sha=failure.key.sha,
            label=row.label,
            items=failure.items,
            first_started_at=failure.first.started_at,
            last_started_at=failure.last_started_at,
            verdict=failure.first.verdict,
            group_id=row.group_id,
        )


class EvidenceRun(RunOnBox):
    """One result of the test in the timeline."""

    workflow: str
    branch: str
    outcome: Outcome
    attempts: int
    duration_s: float
    verdict: Verdict
    message: str | None = None

    @classmethod
    def of(cls, org_id: UUID, lane: Lane, run: LaneRun) -> Self:
        """Make one run of a lane."""
        return cls(**asdict(run) | box_run(org_id, lane.repo_key, lane.box_key, run))


class EvidenceCommit(Answer):
    """A commit of the timeline, in the order of the branch. `this`: the failure's own commit.

    At most 200 runs are shown, the latest of `runs_total`.
    """

    sha: str
    this: bool
    passed: bool
    failed: bool
    runs: Sequence[EvidenceRun]
    runs_total: int

    @classmethod
    def of(cls, org_id: UUID, found: engine.Evidence, commit: LaneCommit) -> Self:
        """Make one commit of a failure's timeline."""
        return cls(
            sha=commit.sha,
            this=commit.sha == found.failure.failure.key.sha,
            passed=any(run.outcome is Outcome.PASS for run in commit.runs),
            failed=any(run.outcome is Outcome.FAIL for run in commit.runs),
            runs=[
                EvidenceRun.of(org_id, found.lane, run)
                for run in commit.runs[-limits.EVIDENCE_MAX :]
            ],
            runs_total=len(commit.runs),
        )


class CheckRun(RunOnBox):
    """The run that a check looked at."""

    box_key: str

    @classmethod
    def of(cls, org_id: UUID, repo_key: str, run: CheckedRun) -> Self:
        """Make the run of a check."""
        record = run_record_id(org_id, repo_key, run.run_id, run.run_attempt, run.box_key)
        return cls(**run._asdict(), run_record_id=record)


class CheckAnswer(Answer):
    """A row of the reason table, asked: what was found, and what decided."""

    reason: Reason
    reason_text: str
    decided: bool
    found: str
    run: CheckRun | None
    commit: str | None
    file: str | None
    pattern: str | None

    @classmethod
    def of(cls, org_id: UUID, repo_key: str, check: Check) -> Self:
        """Make one check of a trace."""
        finding = check.finding
        return cls(
            reason=check.reason,
            reason_text=REASONS[check.reason].text,
            decided=check.decided,
            found=finding.note,
            run=None if finding.run is None else CheckRun.of(org_id, repo_key, finding.run),
            commit=finding.commit,
            file=finding.file,
            pattern=finding.pattern,
        )


class FileAnswer(Answer):
    """A changed file by kind; null: no paths are configured for the product."""

    path: str
    kind: FileKind | None


def _decides(file: engine.FileEvidence) -> bool:
    """Whether a check looks at the file: it has a kind, and not `other`."""
    return file.kind not in {None, FileKind.OTHER}


class ChangedCommit(Answer):
    """A commit that a run listed.

    At most 200 files are shown of `files_total`, firmware and harness files before others.
    """

    sha: str
    subject: str
    committed_at: Time | None
    files: Sequence[FileAnswer]
    files_total: int
    files_truncated: bool

    @classmethod
    def of(cls, changed: engine.CommitEvidence) -> Self:
        """Make one commit with its files."""
        commit, files = changed.commit, changed.files
        shown = engine.relevant_first(files, _decides, limits.EVIDENCE_MAX)
        return cls(
            sha=commit.sha,
            subject=commit.subject,
            committed_at=commit.committed_at,
            files=[FileAnswer.model_validate(file) for file in shown],
            files_total=len(files),
            files_truncated=commit.files_truncated,
        )


def _commits(commits: Sequence[engine.CommitEvidence]) -> list[ChangedCommit]:
    """Make a list of commits, those with firmware or harness files before others."""
    shown = engine.relevant_first(
        commits, lambda one: any(map(_decides, one.files)), limits.EVIDENCE_MAX
    )
    return [ChangedCommit.of(one) for one in shown]


class FailureEvidence(Answer):
    """One failure with its evidence.

    `resolved` is null for a flake or a pending failure; `under_test` and `before_fix` are null
    when unknown or not connected. `broken_by` is that of a pending failure too. `timeline_changes`
    are the commits of the timeline that a run of the repository listed, without those that the two
    lists show.

    Each list of commits shows at most 200 of its total: of the timeline its ends and what is around
    the failure, of changes those with firmware or harness files before others.
    """

    failure: FailureAnswer
    resolved: ResolvedFailureAnswer | None
    broken_by: BrokenByAnswer | None
    timeline: Sequence[EvidenceCommit]
    timeline_total: int
    timeline_changes: Sequence[ChangedCommit]
    checks: Sequence[CheckAnswer]
    under_test: Sequence[ChangedCommit] | None
    under_test_total: int | None
    before_fix: Sequence[ChangedCommit] | None
    before_fix_total: int | None

    @classmethod
    def of(cls, org_id: UUID, found: engine.Evidence) -> Self:
        """Make one failure with its evidence."""
        resolved, repo_key = found.resolved, found.lane.repo_key
        checks = () if resolved is None else resolved.automatic.trace
        under_test = None if found.under_test is None else _commits(found.under_test)
        before_fix = None if found.before_fix is None else _commits(found.before_fix)
        shown = {one.sha for one in (*(under_test or ()), *(before_fix or ()))}
        others = {one.sha for one in found.timeline} - shown
        return cls(
            failure=FailureAnswer.of(found.failure),
            resolved=None if resolved is None else ResolvedFailureAnswer.of(org_id, resolved),
            broken_by=None if found.broken_by is None else BrokenByAnswer.of(found.broken_by),
            timeline=[EvidenceCommit.of(org_id, found, commit) for commit in found.timeline],
            timeline_total=found.timeline_total,
            timeline_changes=_commits(
                [one for one in found.timeline_changes if one.commit.sha in others]
            ),
            checks=[CheckAnswer.of(org_id, repo_key, check) for check in checks],
            under_test=under_test,
            under_test_total=None if found.under_test is None else len(found.under_test),
            before_fix=before_fix,
            before_fix_total=None if found.before_fix is None else len(found.before_fix),
        )
