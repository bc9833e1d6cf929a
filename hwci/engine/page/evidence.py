# SPDX-License-Identifier: Apache-2.0
"""One failure with its evidence (contract, `ci-failures/{id}`).

This module gathers what the rules decide and chooses what is shown of a list that is too long.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.contract.failures import failures as shapes
from hwci.contract.failures.failures import (
    CheckRun,
    EvidenceCommit,
    EvidenceRun,
    FailureEvidence,
)
from hwci.contract.runs.commits import ChangedCommit, ChangedFile, Commit
from hwci.contract.vocabulary import REASONS, FileKind, Label, Outcome
from hwci.engine.facts import run_record_id
from hwci.engine.history import Failure, History, LaneCommit
from hwci.engine.page.failures import broken_range, describe, failure_row, labelled, suspects_of
from hwci.engine.page.runs import on_box
from hwci.engine.rules.changes import ProductFiles, last_place
from hwci.engine.rules.classify import Check, CheckedRun, Classifier
from hwci.engine.rules.labels import Group, group_of

Row = TypeVar("Row")


class _CommitFiles(NamedTuple):
    """A commit that a run listed, with its files by kind."""

    commit: Commit
    files: Sequence[ChangedFile]


def evidence(
    history: History, failure_id: UUID, most: int, margin: int = 5
) -> FailureEvidence | None:
    """Gather the evidence of a failure; None if there is no such failure.

    Its lane is shown from the first failing commit to the fix with `margin` commits on either side,
    and of these, as of each list, at most `most`.
    """
    failure = history.failure(failure_id)
    if failure is None:
        return None
    group = group_of(history, failure)
    classifier = Classifier(history)
    under_test, before_fix, files = _changes_of(classifier, group)
    resolved = suspects = None
    if group.label is Label.RESOLVED:
        resolved = describe(history, group, classifier)
        suspects = resolved.broken_by
    elif group.label is Label.PENDING:
        suspects = broken_range(suspects_of(history, group, classifier))
    commits = _lane_commits(history, group, margin)
    own = next((at for at, commit in enumerate(commits) if commit.sha == failure.key.sha), 0)
    timeline = ends_and_around(commits, own, most)
    tested = None if under_test is None else _changed(under_test, most)
    fixing = None if before_fix is None else _changed(before_fix, most)
    shown = {commit.sha for commit in (*(tested or ()), *(fixing or ()))}
    listed = (commit for commit in _listed(history, failure, timeline) if commit.sha not in shown)
    checks = () if resolved is None else classifier.automatic(group).trace
    return FailureEvidence(
        failure=failure_row(labelled(failure, group)),
        resolved=resolved,
        broken_by=suspects,
        timeline=tuple(_timeline_commit(history, failure, commit, most) for commit in timeline),
        timeline_total=len(commits),
        timeline_changes=_changed(_with_kinds(listed, files), most),
        checks=tuple(_check(history, failure.key.lane.repo_key, check) for check in checks),
        under_test=tested,
        under_test_total=None if under_test is None else len(under_test),
        before_fix=fixing,
        before_fix_total=None if before_fix is None else len(before_fix),
    )


def _lane_commits(history: History, group: Group, margin: int) -> list[LaneCommit]:
    lane = group.first.key.lane
    fix = None if group.fix is None else history.place(lane.repo_key, lane.branch, group.fix)
    return history.lane_commits(lane, group.first.place, fix or group.last.place, margin)


def _listed(history: History, failure: Failure, timeline: Sequence[LaneCommit]) -> Iterator[Commit]:
    shas = [commit.sha for commit in timeline]
    listings = history.first_listing(failure.key.lane.repo_key, shas)
    for sha in shas:
        if sha in listings:
            commits = listings[sha].commits
            yield commits[last_place(commits, sha)]


def _changes_of(
    classifier: Classifier, group: Group
) -> tuple[list[_CommitFiles] | None, list[_CommitFiles] | None, ProductFiles | None]:
    """Return the commits under test, those before the fix, and what tells their files apart."""
    tested = classifier.under_test(group)
    walk = None if group.label is Label.FLAKE else classifier.walk(group)
    return (
        None if tested.changes is None else _with_kinds(tested.changes.commits, tested.files),
        None
        if walk is None
        else _with_kinds((commit for step in walk for commit in step.commits), tested.files),
        tested.files,
    )


def _with_kinds(commits: Iterable[Commit], files: ProductFiles | None) -> list[_CommitFiles]:
    return [
        _CommitFiles(
            commit,
            [
                ChangedFile(path=path, kind=None if files is None else files.kind(path))
                for path in commit.files
            ],
        )
        for commit in commits
    ]


def _changed(commits: Sequence[_CommitFiles], most: int) -> tuple[ChangedCommit, ...]:
    """Return a list of commits, those with firmware or harness files before others."""
    shown = relevant_first(commits, lambda changed: any(map(_decides, changed.files)), most)
    return tuple(
        ChangedCommit(
            sha=commit.sha,
            subject=commit.subject,
            committed_at=commit.committed_at,
            files=tuple(relevant_first(files, _decides, most)),
            files_total=len(files),
            files_truncated=commit.files_truncated,
        )
        for commit, files in shown
    )


def _decides(file: ChangedFile) -> bool:
    """Whether a check looks at the file: it has a kind, and not `other`."""
    return file.kind not in {None, FileKind.OTHER}


def _timeline_commit(
    history: History, failure: Failure, commit: LaneCommit, most: int
) -> EvidenceCommit:
    lane = failure.key.lane
    return EvidenceCommit(
        sha=commit.sha,
        this=commit.sha == failure.key.sha,
        passed=any(run.outcome is Outcome.PASS for run in commit.runs),
        failed=any(run.outcome is Outcome.FAIL for run in commit.runs),
        runs=tuple(
            EvidenceRun(
                **vars(on_box(history, lane.repo_key, lane.box_key, run)),
                workflow=run.workflow,
                branch=run.branch,
                outcome=run.outcome,
                attempts=run.attempts,
                duration_s=run.duration_s,
                verdict=run.verdict,
                message=run.message,
                board=run.board,
                log_url=run.log_url,
            )
            for run in commit.runs[-most:]
        ),
        runs_total=len(commit.runs),
    )


def _check(history: History, repo_key: str, check: Check) -> shapes.Check:
    finding = check.finding
    return shapes.Check(
        reason=check.reason,
        reason_text=REASONS[check.reason].text,
        decided=check.decided,
        found=finding.note,
        run=None if finding.run is None else check_run(history, repo_key, finding.run),
        commit=finding.commit,
        file=finding.file,
        pattern=finding.pattern,
    )


def check_run(history: History, repo_key: str, run: CheckedRun) -> CheckRun:
    """Return a run that a check looked at."""
    number, attempt, box_key = run.run_id, run.run_attempt, run.box_key
    record = run_record_id(history.org_id, repo_key, number, attempt, box_key)
    return CheckRun(**run._asdict(), run_record_id=record)


def ends_and_around(rows: Sequence[Row], at: int, most: int) -> Sequence[Row]:
    """Shorten a list to its first rows, its last rows, and those around one: a third of each. What
    the ends do not use goes to the rows around the one.
    """
    if len(rows) <= most:
        return rows
    third = most // 3
    ends = {*range(third), *range(len(rows) - third, len(rows))}
    nearest_first = sorted(range(len(rows)), key=lambda index: (abs(index - at), index))
    around = [index for index in nearest_first if index not in ends][: most - len(ends)]
    return [rows[index] for index in sorted({*ends, *around})]


def relevant_first(
    rows: Sequence[Row], relevant: Callable[[Row], bool], most: int
) -> Sequence[Row]:
    """Shorten a list to its first relevant rows, then its first others, in their order."""
    if len(rows) <= most:
        return rows
    by_worth = sorted(range(len(rows)), key=lambda index: not relevant(rows[index]))
    return [rows[index] for index in sorted(by_worth[:most])]
