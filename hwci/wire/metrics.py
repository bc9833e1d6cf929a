# SPDX-License-Identifier: Apache-2.0
"""The metrics page, its tables, and one failure with its evidence (contract, "CI metrics").

Shapes only: the figures are the engine's, `outgoing.py` puts them here.
"""

from collections.abc import Sequence
from uuid import UUID

from pydantic import Field

from hwci.engine.rules.flakiness import is_broken
from hwci.engine.vocabulary import (
    FailureClass,
    FileKind,
    Label,
    Outcome,
    Reason,
    ReviewAction,
    Verdict,
)
from hwci.wire.accounts import Actor
from hwci.wire.base import Answer, ListPage, Time


class ProductAnswer(Answer):
    """A product that was heard of. `merge_trigger` null: not configured."""

    repo_key: str
    suite: str
    configured: bool
    merge_trigger: bool | None
    last_report_at: Time | None


class SuiteConfigAnswer(Answer):
    """A configuration as sent."""

    repo_key: str
    suite: str
    firmware_paths: Sequence[str]
    harness_paths: Sequence[str]
    trigger_paths: Sequence[str] | None
    merge_trigger: bool
    updated_at: Time


class PeriodAnswer(Answer):
    """Both ends belong to the period."""

    days: int
    start: Time = Field(alias="from")
    end: Time = Field(alias="to")


class ProductKey(Answer):
    """A product, or all products of a repository (`suite` null)."""

    repo_key: str
    suite: str | None


class MergesChecked(Answer):
    """Announced merges of the period, and how many of them a run checked."""

    checked: int
    announced: int


class RealFwBugs(Answer):
    """Resolved failures of the period by class."""

    real: int
    bench_or_harness: int
    ambiguous: int
    dismissed: int


class FlakyFailures(Answer):
    """Failing items on a commit where the test also passed on the same box."""

    count: int


class InfraRuns(Answer):
    """Run reports that never reached the hardware, out of all."""

    infra: int
    total: int


class TilesAnswer(Answer):
    """The four tiles."""

    merges_checked: MergesChecked
    real_fw_bugs: RealFwBugs
    flaky_failures: FlakyFailures
    infra_runs: InfraRuns


class UncheckedMerge(Answer):
    """An announced merge that no run checked. `suite` null: Unassigned."""

    repo_key: str
    suite: str | None
    sha: str
    branch: str
    merged_at: Time


class FirstFailure(Answer):
    """The first failing run of a resolved failure's first commit."""

    sha: str
    started_at: Time
    workflow: str
    run_id: int
    run_attempt: int
    run_record_id: UUID


class CommitSubject(Answer):
    """A commit by its hash and first line."""

    sha: str
    subject: str


class BrokenByAnswer(Answer):
    """The commit that broke the test, or the range of commits that may have."""

    start: str = Field(alias="from")
    end: str = Field(alias="to")
    commits: Sequence[CommitSubject]


class FixAnswer(Answer):
    """The fixing commit, and when the earliest run that passed on it started."""

    sha: str
    started_at: Time


class ClassAnswer(Answer):
    """A class with its reason; the text is the spec's."""

    failure_class: FailureClass = Field(alias="class")
    reason: Reason | None
    reason_text: str | None


class ReviewAnswer(Answer):
    """What a person said of a resolved failure."""

    action: ReviewAction
    by: Actor
    at: Time


class ResolvedFailureAnswer(ClassAnswer):
    """A row of "Real FW bugs caught" or "Resolved by a bench or harness change".

    `label` is `resolved` in both tables; the answer to a Reset says what the failure is now.
    """

    id: UUID
    repo_key: str
    suite: str
    test_id: str
    box_key: str
    branch: str
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


class ReclassifiedFailure(Answer):
    """A resolved failure that the checks would see otherwise under another configuration. One that
    was reviewed counts as reviewed, before and after.
    """

    id: UUID
    repo_key: str
    suite: str
    test_id: str
    box_key: str
    branch: str
    sha: str
    started_at: Time
    before: ClassAnswer
    after: ClassAnswer
    review: ReviewAnswer | None


class SuiteConfigPlan(Answer):
    """What a configuration would change, were it sent: resolved failures of the period by class,
    and those that the checks would see otherwise. When the time of the request was over, only the
    newest `looked_at` of all `failures` were looked at, and it is not `complete`.
    """

    period: PeriodAnswer
    product: ProductKey
    before: RealFwBugs
    after: RealFwBugs
    changes: ListPage[ReclassifiedFailure]
    complete: bool = True
    looked_at: int | None = None
    failures: int | None = None


class FlakyTestAnswer(Answer):
    """A row of "Flakiest tests". `flake_rate` is a percentage."""

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
        """Tell a test that is broken from one that is flaky. It follows from the row, and is no
        field of its own.
        """
        return is_broken(self.retry_passes, self.flaky_failures)


class MetricsPage(Answer):
    """The metrics page."""

    period: PeriodAnswer
    product: ProductKey | None
    tiles: TilesAnswer
    unchecked_merges: ListPage[UncheckedMerge]
    real_bugs: ListPage[ResolvedFailureAnswer]
    other_failures: ListPage[ResolvedFailureAnswer]
    flakiest_tests: ListPage[FlakyTestAnswer]


class FailureAnswer(Answer):
    """A failure of `ci-failures`. `items` counts its failing test items."""

    id: UUID
    repo_key: str
    suite: str
    test_id: str
    box_key: str
    branch: str
    sha: str
    label: Label
    items: int
    first_started_at: Time
    last_started_at: Time
    verdict: Verdict
    group_id: UUID | None


class EvidenceRun(Answer):
    """One result of the test in the timeline."""

    started_at: Time
    run_id: int
    run_attempt: int
    run_record_id: UUID
    workflow: str
    branch: str
    outcome: Outcome
    attempts: int
    duration_s: float
    verdict: Verdict


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


class CheckRun(Answer):
    """The run that a check looked at."""

    started_at: Time
    run_id: int
    run_attempt: int
    run_record_id: UUID
    box_key: str


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


class FileAnswer(Answer):
    """A changed file by kind; null: no paths are configured for the product."""

    path: str
    kind: FileKind | None


class ChangedCommit(Answer):
    """A commit that a run told of.

    At most 200 files are shown of `files_total`, firmware and harness files before others.
    """

    sha: str
    subject: str
    committed_at: Time | None
    files: Sequence[FileAnswer]
    files_total: int
    files_truncated: bool


class FailureEvidence(Answer):
    """One failure with all that its answer rests on.

    `resolved` is null for a flake or a pending failure; `under_test` and `before_fix` are null
    when unknown or not connected. `timeline_changes` are the commits of the timeline that any run
    of the repository told of, without those that the two lists show.

    Each list of commits shows at most 200 of its total: of the timeline its ends and what is around
    the failure, of changes those with firmware or harness files before others.
    """

    failure: FailureAnswer
    resolved: ResolvedFailureAnswer | None
    timeline: Sequence[EvidenceCommit]
    timeline_total: int
    timeline_changes: Sequence[ChangedCommit]
    checks: Sequence[CheckAnswer]
    under_test: Sequence[ChangedCommit] | None
    under_test_total: int | None
    before_fix: Sequence[ChangedCommit] | None
    before_fix_total: int | None
