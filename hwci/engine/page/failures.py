# SPDX-License-Identifier: Apache-2.0
"""One failure as a row of a table.

This module gathers what the rules decide of it. It does not know which failures a page shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from hwci.contract.failures import failures as shapes
from hwci.contract.failures.failures import (
    FirstFailure,
    ResolvedFailure,
    Review,
)
from hwci.contract.runs.commits import BrokenBy, Commit, CommitSubject, Fix
from hwci.contract.vocabulary import FailureClass, Label
from hwci.engine.history import Episode, Failure, History
from hwci.engine.page.runs import on_box
from hwci.engine.rules.changes import UnderTest, broken_by
from hwci.engine.rules.classify import Classification, Classifier, shown_class
from hwci.engine.rules.labels import Group, group_of


@dataclass(frozen=True, slots=True)
class LabelledFailure:
    """A failure with its label and the id of its group; a flake is shown without a group."""

    failure: Failure
    label: Label
    group_id: UUID | None


class Suspected(NamedTuple):
    """What a row of a table is made of: an episode, its review and its class by the checks; and the
    commits that may have broken the test, as a run listed them, oldest first, None if unknown.
    """

    episode: Episode
    review: Review | None
    automatic: Classification
    suspects: tuple[Commit, ...] | None

    @property
    def failure_class(self) -> FailureClass:
        """The class that people see."""
        return shown_class(self.review, self.automatic).failure_class


def labelled(failure: Failure, group: Group) -> LabelledFailure:
    """Label a failure of a group."""
    return LabelledFailure(
        failure, group.label, None if group.label is Label.FLAKE else group.first.id
    )


def failure_row(row: LabelledFailure) -> shapes.Failure:
    """Return a failure as the list shows it."""
    failure = row.failure
    return shapes.Failure(
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


def describe(history: History, group: Group, classifier: Classifier) -> ResolvedFailure:
    """Describe a group: its class, its suspects and its fix. After a reset its label may be flake
    or pending.
    """
    first, last, fixed_at = group.first, group.last, None
    if group.fix is not None:
        fixed_at = history.pass_started_at(first.key.lane, group.fix)
    commits = len(group.failures)
    episode = Episode(first.id, first.key, first.first, last.key.sha, commits, group.fix)
    suspects = suspects_of(history, group, classifier)
    row = Suspected(episode, group.review, classifier.automatic(group), suspects)
    return replace(_resolved_row(history, row, fixed_at), label=group.label)


def suspects_of(
    history: History, group: Group, classifier: Classifier
) -> tuple[Commit, ...] | None:
    """Return the firmware commits that may have broken the test of a group, oldest first."""
    [commits] = broken_by(history, [(group.first.key, classifier.under_test(group))])
    return commits


def describe_rows(
    history: History, rows: Sequence[tuple[Episode, Review | None, Classification]]
) -> list[ResolvedFailure]:
    """Describe resolved episodes with their review and automatic class: as `describe`, but without
    asking for each failure.
    """
    return resolved_rows(history, with_suspects(history, rows))


def with_suspects(
    history: History, rows: Sequence[tuple[Episode, Review | None, Classification]]
) -> list[Suspected]:
    """Return resolved episodes with all that their rows are made of."""
    classifier = Classifier(history)
    changes = history.under_test([episode for episode, *_ in rows])
    tested = [
        (episode.key, UnderTest(classifier.files_of(episode.key.lane.product), sent))
        for (episode, *_), sent in zip(rows, changes, strict=True)
    ]
    broken = broken_by(history, tested)
    return [Suspected(*row, suspects) for row, suspects in zip(rows, broken, strict=True)]


def resolved_rows(history: History, rows: Sequence[Suspected]) -> list[ResolvedFailure]:
    """Return resolved episodes as their table shows them."""
    runs = history.episode_runs([row.episode for row in rows])
    return [_resolved_row(history, row, ran.fixed_at) for row, ran in zip(rows, runs, strict=True)]


def _resolved_row(history: History, row: Suspected, fixed_at: datetime | None) -> ResolvedFailure:
    episode, review, automatic, suspects = row
    lane, run = episode.key.lane, episode.first
    shown, fix = shown_class(review, automatic).told, None
    if episode.fix is not None and fixed_at is not None:
        fix = Fix(sha=episode.fix, started_at=fixed_at)
    return ResolvedFailure(
        **lane._asdict(),
        **vars(shown),
        id=episode.id,
        first_failure=FirstFailure(
            **vars(on_box(history, lane.repo_key, lane.box_key, run)),
            sha=episode.key.sha,
            workflow=run.workflow,
        ),
        last_failing_sha=episode.last_sha,
        failing_commits=episode.commits,
        broken_by=broken_range(suspects),
        fix=fix,
        verdict=run.verdict,
        automatic=automatic.told,
        review=review,
        status="Automatic" if review is None else review.by.name,
    )


def broken_range(suspects: Sequence[Commit] | None) -> BrokenBy | None:
    """Return the commits that may have broken a test as a range."""
    if suspects is None:
        return None
    return BrokenBy(
        start=suspects[0].sha,
        end=suspects[-1].sha,
        commits=tuple(CommitSubject(sha=commit.sha, subject=commit.subject) for commit in suspects),
    )


def resolved_failure(history: History, failure_id: UUID) -> ResolvedFailure | None:
    """Describe the group of a failure; None if there is no such failure."""
    failure = history.failure(failure_id)
    if failure is None:
        return None
    return describe(history, group_of(history, failure), Classifier(history))
