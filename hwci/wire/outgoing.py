# SPDX-License-Identifier: Apache-2.0
"""The engine's answers, as the models that people are sent. No figure is computed here."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.engine.facts import Announcement, Commit, Lane, Review, SuiteConfig, run_record_id
from hwci.engine.history import LaneCommit, LaneRun, ProductState
from hwci.engine.page.failures import (
    CommitEvidence,
    Evidence,
    FileEvidence,
    LabelledFailure,
    ResolvedFailure,
    relevant_first,
)
from hwci.engine.page.plan import Plan, Reclassified
from hwci.engine.page.reading import ClassCounts, Tiles
from hwci.engine.page.tables import Listing, Page
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Check, CheckedRun, Classification
from hwci.engine.rules.flakiness import FlakyTest
from hwci.engine.vocabulary import REASONS, FileKind, Outcome, Reason
from hwci.wire import limits, metrics
from hwci.wire.accounts import Actor
from hwci.wire.base import ListPage
from hwci.wire.queries import MetricsQuery, PeriodQuery, PlanQuery

Row = TypeVar("Row")


class Paging(NamedTuple):
    """The page that was asked for."""

    page: int
    limit: int


def list_page(items: Sequence[Row], total: int, paging: Paging) -> ListPage[Row]:
    """Wrap rows into the pagination convention."""
    return ListPage(items=items, total=total, page=paging.page, limit=paging.limit)


def metrics_page(
    org_id: UUID, page: Page, query: MetricsQuery, period: Period
) -> metrics.MetricsPage:
    """Give the metrics page as it was asked for. `period`: the days of `query` that there are."""
    first = Paging(1, query.limit)
    return metrics.MetricsPage(
        period=period_answer(query.days, period),
        product=product_asked(query),
        tiles=_tiles(page.tiles),
        unchecked_merges=unchecked_merges(page.unchecked_merges, first),
        real_bugs=resolved_failures(org_id, page.real_bugs, first),
        other_failures=resolved_failures(org_id, page.other_failures, first),
        flakiest_tests=flakiest_tests(page.flakiest_tests, first),
    )


def period_answer(days: int, period: Period) -> metrics.PeriodAnswer:
    """Give the days asked for, and those of them that there are."""
    return metrics.PeriodAnswer(days=days, start=period.start, end=period.end)


def product_asked(query: PeriodQuery) -> metrics.ProductKey | None:
    """Give the product asked for; None: all products."""
    if query.repo_key is None:
        return None
    return metrics.ProductKey(repo_key=query.repo_key, suite=query.suite)


def _tiles(tiles: Tiles) -> metrics.TilesAnswer:
    return metrics.TilesAnswer(
        merges_checked=metrics.MergesChecked(
            checked=tiles.merges_checked.part, announced=tiles.merges_checked.total
        ),
        real_fw_bugs=_by_class(tiles.real_fw_bugs),
        flaky_failures=metrics.FlakyFailures(count=tiles.flaky_failures),
        infra_runs=metrics.InfraRuns(infra=tiles.infra_runs.part, total=tiles.infra_runs.total),
    )


def _by_class(counts: ClassCounts) -> metrics.RealFwBugs:
    return metrics.RealFwBugs(
        real=counts.real,
        bench_or_harness=counts.bench_or_harness,
        ambiguous=counts.ambiguous,
        dismissed=counts.dismissed,
    )


def unchecked_merges(
    rows: Listing[Announcement], paging: Paging
) -> ListPage[metrics.UncheckedMerge]:
    """Give the table "Merges not checked on hardware"."""
    items = [
        metrics.UncheckedMerge(
            repo_key=row.repo_key,
            suite=row.suite,
            sha=row.sha,
            branch=row.branch,
            merged_at=row.merged_at,
        )
        for row in rows.items
    ]
    return list_page(items, rows.total, paging)


def resolved_failures(
    org_id: UUID, rows: Listing[ResolvedFailure], paging: Paging
) -> ListPage[metrics.ResolvedFailureAnswer]:
    """Give one of the two tables of resolved failures."""
    return list_page([resolved_failure(org_id, row) for row in rows.items], rows.total, paging)


def flakiest_tests(rows: Listing[FlakyTest], paging: Paging) -> ListPage[metrics.FlakyTestAnswer]:
    """Give the table "Flakiest tests"."""
    items = [
        metrics.FlakyTestAnswer(
            repo_key=row.repo_key,
            suite=row.suite,
            test_id=row.test_id,
            boxes=row.boxes,
            run_reports=row.run_reports,
            attempts=row.attempts,
            failed_attempts=row.failed_attempts,
            retry_passes=row.retry_passes,
            flaky_failures=row.flaky_failures,
            flake_rate=row.flake_rate,
        )
        for row in rows.items
    ]
    return list_page(items, rows.total, paging)


def resolved_failure(org_id: UUID, row: ResolvedFailure) -> metrics.ResolvedFailureAnswer:
    """Give one resolved failure."""
    lane = row.key.lane
    return metrics.ResolvedFailureAnswer(
        id=row.id,
        repo_key=lane.repo_key,
        suite=lane.suite,
        test_id=lane.test_id,
        box_key=lane.box_key,
        branch=lane.branch,
        first_failure=_first_failure(org_id, row),
        last_failing_sha=row.last_failing_sha,
        failing_commits=row.failing_commits,
        broken_by=_broken_by(row.broken_by),
        fix=None
        if row.fix is None
        else metrics.FixAnswer(sha=row.fix.sha, started_at=row.fix.started_at),
        verdict=row.verdict,
        failure_class=row.shown.failure_class,
        reason=row.shown.reason,
        reason_text=_text(row.shown.reason),
        automatic=_class(row.automatic),
        review=_review(row.review),
        status="Automatic" if row.review is None else row.review.by_name,
        label=row.label,
    )


def _first_failure(org_id: UUID, row: ResolvedFailure) -> metrics.FirstFailure:
    lane, run = row.key.lane, row.first
    return metrics.FirstFailure(
        sha=row.key.sha,
        started_at=run.started_at,
        workflow=run.workflow,
        run_id=run.ci_run_id,
        run_attempt=run.run_attempt,
        run_record_id=run_record_id(
            org_id, lane.repo_key, run.ci_run_id, run.run_attempt, lane.box_key
        ),
    )


def _broken_by(broken_by: tuple[Commit, ...] | None) -> metrics.BrokenByAnswer | None:
    if broken_by is None:
        return None
    commits = broken_by
    return metrics.BrokenByAnswer(
        start=commits[0].sha,
        end=commits[-1].sha,
        commits=[metrics.CommitSubject(sha=item.sha, subject=item.subject) for item in commits],
    )


def _text(reason: Reason | None) -> str | None:
    return None if reason is None else REASONS[reason].text


def _class(found: Classification) -> metrics.ClassAnswer:
    return metrics.ClassAnswer(
        failure_class=found.failure_class, reason=found.reason, reason_text=_text(found.reason)
    )


def _review(review: Review | None) -> metrics.ReviewAnswer | None:
    if review is None:
        return None
    return metrics.ReviewAnswer(
        action=review.action,
        by=Actor(id=UUID(review.by_id), name=review.by_name),
        at=review.at,
    )


def labelled_failure(row: LabelledFailure) -> metrics.FailureAnswer:
    """Give one failure of `ci-failures`."""
    failure, lane = row.failure, row.failure.key.lane
    return metrics.FailureAnswer(
        id=failure.id,
        repo_key=lane.repo_key,
        suite=lane.suite,
        test_id=lane.test_id,
        box_key=lane.box_key,
        branch=lane.branch,
        sha=failure.key.sha,
        label=row.label,
        items=failure.items,
        first_started_at=failure.first.started_at,
        last_started_at=failure.last_started_at,
        verdict=failure.first.verdict,
        group_id=row.group_id,
    )


def labelled_failures(
    rows: Listing[LabelledFailure], paging: Paging
) -> ListPage[metrics.FailureAnswer]:
    """Give a page of `ci-failures`."""
    return list_page([labelled_failure(row) for row in rows.items], rows.total, paging)


def failure_evidence(org_id: UUID, found: Evidence) -> metrics.FailureEvidence:
    """Give one failure with all that its answer rests on."""
    checks = () if found.resolved is None else found.resolved.automatic.trace
    timeline = _timeline(org_id, found)
    under_test, before_fix = _changed(found.under_test), _changed(found.before_fix)
    shown = {commit.sha for commit in (*(under_test or ()), *(before_fix or ()))}
    wanted = {commit.sha for commit in timeline} - shown
    return metrics.FailureEvidence(
        failure=labelled_failure(found.failure),
        resolved=None if found.resolved is None else resolved_failure(org_id, found.resolved),
        timeline=timeline,
        timeline_total=found.timeline_total,
        timeline_changes=_commits(
            [told for told in found.timeline_changes if told.commit.sha in wanted]
        ),
        checks=[_check(org_id, found.lane.repo_key, check) for check in checks],
        under_test=under_test,
        under_test_total=None if found.under_test is None else len(found.under_test),
        before_fix=before_fix,
        before_fix_total=None if found.before_fix is None else len(found.before_fix),
    )


def _timeline(org_id: UUID, found: Evidence) -> list[metrics.EvidenceCommit]:
    own_sha = found.failure.failure.key.sha
    return [
        metrics.EvidenceCommit(
            sha=commit.sha,
            this=commit.sha == own_sha,
            passed=any(run.outcome is Outcome.PASS for run in commit.runs),
            failed=any(run.outcome is Outcome.FAIL for run in commit.runs),
            runs=_evidence_runs(org_id, found.lane, commit),
            runs_total=len(commit.runs),
        )
        for commit in found.timeline
    ]


def _evidence_runs(org_id: UUID, lane: Lane, commit: LaneCommit) -> list[metrics.EvidenceRun]:
    latest = commit.runs[-limits.EVIDENCE_MAX :]
    return [_evidence_run(org_id, lane, run) for run in latest]


def _evidence_run(org_id: UUID, lane: Lane, run: LaneRun) -> metrics.EvidenceRun:
    return metrics.EvidenceRun(
        started_at=run.started_at,
        run_id=run.ci_run_id,
        run_attempt=run.run_attempt,
        run_record_id=run_record_id(
            org_id, lane.repo_key, run.ci_run_id, run.run_attempt, lane.box_key
        ),
        workflow=run.workflow,
        branch=run.branch,
        outcome=run.outcome,
        attempts=run.attempts,
        duration_s=run.duration_s,
        verdict=run.verdict,
    )


def _check(org_id: UUID, repo_key: str, check: Check) -> metrics.CheckAnswer:
    finding = check.finding
    return metrics.CheckAnswer(
        reason=check.reason,
        reason_text=REASONS[check.reason].text,
        decided=check.decided,
        found=finding.note,
        run=None if finding.run is None else _check_run(org_id, repo_key, finding.run),
        commit=finding.commit,
        file=finding.file,
        pattern=finding.pattern,
    )


def _check_run(org_id: UUID, repo_key: str, run: CheckedRun) -> metrics.CheckRun:
    return metrics.CheckRun(
        started_at=run.started_at,
        run_id=run.run_id,
        run_attempt=run.run_attempt,
        run_record_id=run_record_id(org_id, repo_key, run.run_id, run.run_attempt, run.box_key),
        box_key=run.box_key,
    )


def _changed(
    commits: Sequence[CommitEvidence] | None,
) -> list[metrics.ChangedCommit] | None:
    return None if commits is None else _commits(commits)


def _commits(commits: Sequence[CommitEvidence]) -> list[metrics.ChangedCommit]:
    return [
        metrics.ChangedCommit(
            sha=item.commit.sha,
            subject=item.commit.subject,
            committed_at=item.commit.committed_at,
            files=[
                metrics.FileAnswer(path=file.path, kind=file.kind)
                for file in relevant_first(item.files, _decides, limits.EVIDENCE_MAX)
            ],
            files_total=len(item.files),
            files_truncated=item.commit.files_truncated,
        )
        for item in relevant_first(
            commits, lambda item: any(map(_decides, item.files)), limits.EVIDENCE_MAX
        )
    ]


def _decides(file: FileEvidence) -> bool:
    """Other files matter to no check, nor does a file without a kind."""
    return file.kind not in {None, FileKind.OTHER}


def product(state: ProductState) -> metrics.ProductAnswer:
    """Give one product of the list."""
    return metrics.ProductAnswer(
        repo_key=state.product.repo_key,
        suite=state.product.suite,
        configured=state.config is not None,
        merge_trigger=None if state.config is None else state.config.merge_trigger,
        last_report_at=state.last_report_at,
    )


def suite_config_plan(
    config: SuiteConfig, plan: Plan, query: PlanQuery, period: Period
) -> metrics.SuiteConfigPlan:
    """Give what a configuration would change. `period`: the days of `query` that there are."""
    rows, paging = plan.changes[query.offset :][: query.limit], Paging(query.page, query.limit)
    return metrics.SuiteConfigPlan(
        period=period_answer(query.days, period),
        product=metrics.ProductKey(repo_key=config.repo_key, suite=config.suite),
        before=_by_class(plan.before),
        after=_by_class(plan.after),
        changes=list_page([_reclassified(row) for row in rows], len(plan.changes), paging),
        complete=plan.looked_at == plan.failures,
        looked_at=plan.looked_at,
        failures=plan.failures,
    )


def _reclassified(row: Reclassified) -> metrics.ReclassifiedFailure:
    lane = row.key.lane
    return metrics.ReclassifiedFailure(
        id=row.id,
        repo_key=lane.repo_key,
        suite=lane.suite,
        test_id=lane.test_id,
        box_key=lane.box_key,
        branch=lane.branch,
        sha=row.key.sha,
        started_at=row.first.started_at,
        before=_class(row.before),
        after=_class(row.after),
        review=_review(row.review),
    )


def suite_config(config: SuiteConfig, updated_at: datetime) -> metrics.SuiteConfigAnswer:
    """Give one configuration as sent."""
    return metrics.SuiteConfigAnswer(
        repo_key=config.repo_key,
        suite=config.suite,
        firmware_paths=config.firmware_paths,
        harness_paths=config.harness_paths,
        trigger_paths=config.trigger_paths,
        merge_trigger=config.merge_trigger,
        updated_at=updated_at,
    )
