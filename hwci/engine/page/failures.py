# SPDX-License-Identifier: Apache-2.0
"""One failure as a row of a table, and with its evidence (contract, `ci-failures/{id}`).

This module gathers what the rules decide and chooses what is shown of a list that is too long. It
does not know which failures a page shows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.contract.vocabulary import FileKind, Label, Verdict
from hwci.engine.facts import Commit, FailureKey, Lane, Review
from hwci.engine.history import Episode, FailingRun, Failure, History, LaneCommit
from hwci.engine.rules.changes import ProductFiles, UnderTest, broken_by, last_place
from hwci.engine.rules.classify import Classification, Classifier, shown_class
from hwci.engine.rules.labels import Group, group_of

Row = TypeVar("Row")


class Fix(NamedTuple):
    """The first passed commit after a group, and the start of its earliest run that passed."""

    sha: str
    started_at: datetime


class ResolvedFailure(NamedTuple):
    """A row of "Real FW bugs caught" or of "Resolved by a bench or harness change".

    The answer to a review has this shape too: after a reset `label` may be flake or pending.
    `broken_by`: the firmware commits that may have broken the test, oldest first.
    """

    id: UUID
    key: FailureKey
    first: FailingRun
    last_failing_sha: str
    failing_commits: int
    broken_by: tuple[Commit, ...] | None
    fix: Fix | None
    shown: Classification
    automatic: Classification
    review: Review | None
    label: Label = Label.RESOLVED

    @property
    def verdict(self) -> Verdict:
        """The harness verdict of the first failing run."""
        return self.first.verdict


@dataclass(frozen=True, slots=True)
class LabelledFailure:
    """A failure with its label and the id of its group; a flake is shown without a group."""

    failure: Failure
    label: Label
    group_id: UUID | None


class FileEvidence(NamedTuple):
    """A changed file and its kind; None without a configuration."""

    path: str
    kind: FileKind | None


@dataclass(frozen=True, slots=True)
class CommitEvidence:
    """A commit that a run listed, with its files by kind."""

    commit: Commit
    files: tuple[FileEvidence, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One failure with its evidence.

    `resolved` is None for a flake or a pending failure. `broken_by` are the firmware commits that
    may have broken the test, oldest first; None if unknown, and for a flake. `timeline` is what is
    shown of the `timeline_total` commits of its lane around it, and `timeline_changes` are those of
    these commits that a run listed. `under_test` is None if unknown, `before_fix` if not connected.
    """

    failure: LabelledFailure
    lane: Lane
    resolved: ResolvedFailure | None
    broken_by: tuple[Commit, ...] | None
    timeline: Sequence[LaneCommit]
    timeline_total: int
    timeline_changes: tuple[CommitEvidence, ...]
    under_test: tuple[CommitEvidence, ...] | None
    before_fix: tuple[CommitEvidence, ...] | None


def labelled(failure: Failure, group: Group) -> LabelledFailure:
    """Label a failure of a group."""
    return LabelledFailure(
        failure, group.label, None if group.label is Label.FLAKE else group.first.id
    )


def describe(history: History, group: Group, classifier: Classifier) -> ResolvedFailure:
    """Describe a group: its class, its suspects and its fix."""
    first, automatic, fixed_at = group.first, classifier.automatic(group), None
    if group.fix is not None:
        fixed_at = history.pass_started_at(first.key.lane, group.fix)
    return ResolvedFailure(
        id=first.id,
        key=first.key,
        first=first.first,
        last_failing_sha=group.last.key.sha,
        failing_commits=len(group.failures),
        broken_by=_suspects(history, group, classifier),
        fix=_fix(group.fix, fixed_at),
        shown=shown_class(group.review, automatic),
        automatic=automatic,
        review=group.review,
        label=group.label,
    )


def _suspects(history: History, group: Group, classifier: Classifier) -> tuple[Commit, ...] | None:
    [found] = broken_by(history, [(group.first.key, classifier.under_test(group))])
    return found


def describe_rows(
    history: History, rows: Sequence[tuple[Episode, Review | None, Classification]]
) -> list[ResolvedFailure]:
    """Describe resolved episodes with their review and automatic class: as `describe`, but without
    the trace of the checks, and without asking for each failure.
    """
    classifier = Classifier(history)
    runs = history.episode_runs([episode for episode, *_ in rows])
    tested = [
        (episode.key, UnderTest(classifier.files_of(episode.key.lane.product), of.under_test))
        for (episode, *_), of in zip(rows, runs, strict=True)
    ]
    return [
        ResolvedFailure(
            id=episode.id,
            key=episode.key,
            first=episode.first,
            last_failing_sha=episode.last_sha,
            failing_commits=episode.commits,
            broken_by=suspects,
            fix=_fix(episode.fix, of.fixed_at),
            shown=shown_class(review, automatic),
            automatic=automatic,
            review=review,
        )
        for (episode, review, automatic), of, suspects in zip(
            rows, runs, broken_by(history, tested), strict=True
        )
    ]


def _fix(sha: str | None, started_at: datetime | None) -> Fix | None:
    return None if sha is None or started_at is None else Fix(sha, started_at)


def resolved_failure(history: History, failure_id: UUID) -> ResolvedFailure | None:
    """Describe the group of a failure; None if there is no such failure."""
    failure = history.failure(failure_id)
    if failure is None:
        return None
    return describe(history, group_of(history, failure), Classifier(history))


def evidence(history: History, failure_id: UUID, most: int, margin: int = 5) -> Evidence | None:
    """Gather the evidence of a failure; None if there is no such failure.

    Its lane is shown from the first failing commit to the fix with `margin` commits on either side,
    and of these at most `most`.
    """
    failure = history.failure(failure_id)
    if failure is None:
        return None
    group = group_of(history, failure)
    classifier = Classifier(history)
    under_test = classifier.under_test(group)
    changes, files = under_test.changes, under_test.files
    walk = None if group.label is Label.FLAKE else classifier.walk(group)
    resolved = suspects = None
    if group.label is Label.RESOLVED:
        resolved = describe(history, group, classifier)
        suspects = resolved.broken_by
    elif group.label is Label.PENDING:
        suspects = _suspects(history, group, classifier)
    commits = _lane_commits(history, group, margin)
    own = next((at for at, one in enumerate(commits) if one.sha == failure.key.sha), 0)
    timeline = ends_and_around(commits, own, most)
    return Evidence(
        failure=labelled(failure, group),
        lane=failure.key.lane,
        resolved=resolved,
        broken_by=suspects,
        timeline=timeline,
        timeline_total=len(commits),
        timeline_changes=_with_kinds(_listed(history, failure, timeline), files),
        under_test=None if changes is None else _with_kinds(changes.commits, files),
        before_fix=None
        if walk is None
        else _with_kinds((commit for step in walk for commit in step.commits), files),
    )


def _lane_commits(history: History, group: Group, margin: int) -> list[LaneCommit]:
    lane = group.first.key.lane
    fix = None if group.fix is None else history.place(lane.repo_key, lane.branch, group.fix)
    return history.lane_commits(lane, group.first.place, fix or group.last.place, margin)


def _listed(history: History, failure: Failure, timeline: Sequence[LaneCommit]) -> Iterator[Commit]:
    shas = [one.sha for one in timeline]
    listings = history.first_listing(failure.key.lane.repo_key, shas)
    for sha in shas:
        if sha in listings:
            commits = listings[sha].commits
            yield commits[last_place(commits, sha)]


def _with_kinds(
    commits: Iterable[Commit], files: ProductFiles | None
) -> tuple[CommitEvidence, ...]:
    return tuple(
        CommitEvidence(
            commit,
            tuple(
                FileEvidence(file, None if files is None else files.kind(file))
                for file in commit.files
            ),
        )
        for commit in commits
    )


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
