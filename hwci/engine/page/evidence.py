# SPDX-License-Identifier: Apache-2.0
"""One failure with all that its answer rests on (contract, `ci-failures/{id}`).

This module gathers, of the timeline no more than is shown; every conclusion in it comes from the
module that owns its rule.
"""

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from hwci.engine.answers import (
    CommitEvidence,
    Evidence,
    FileEvidence,
    LabelledFailure,
    Listing,
)
from hwci.engine.facts import Commit
from hwci.engine.history import Failure, History, LaneCommit
from hwci.engine.page.excerpts import ends_and_around
from hwci.engine.page.resolved import describe
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.files import ProductFiles
from hwci.engine.rules.labels import Group, group_of
from hwci.engine.rules.walk import last_place
from hwci.engine.vocabulary import Label


def labelled(failure: Failure, group: Group) -> LabelledFailure:
    """Label a failure of a group; a flake belongs to no group that people see."""
    return LabelledFailure(
        failure, group.label, None if group.label is Label.FLAKE else group.first.id
    )


def evidence(history: History, failure_id: UUID, most: int, margin: int = 5) -> Evidence | None:
    """Gather the evidence of a failure, its lane shown with `margin` commits on either side, and of
    that at most so many commits.
    """
    failure = history.failure(failure_id)
    if failure is None:
        return None
    group = group_of(history, failure)
    classifier = Classifier(history)
    under_test = classifier.under_test(group)
    changes = under_test.changes
    walk = None if group.label is Label.FLAKE else classifier.walk(group)
    resolved = group.label is Label.RESOLVED
    timeline = _timeline(history, group, failure, most, margin)
    return Evidence(
        failure=labelled(failure, group),
        lane=failure.key.lane,
        resolved=describe(history, group, classifier) if resolved else None,
        timeline=timeline,
        timeline_changes=_told(_commits_of(history, failure, timeline.items), under_test.files),
        under_test=None if changes is None else _told(changes.commits, under_test.files),
        before_fix=None
        if walk is None
        else _told((commit for step in walk for commit in step.commits), under_test.files),
    )


def _timeline(
    history: History, group: Group, failure: Failure, most: int, margin: int
) -> Listing[LaneCommit]:
    """Give the lane from the first failing commit to the fix, with a margin: its ends, and what is
    around the failure.
    """
    lane = group.first.key.lane
    fix = None if group.fix is None else history.place(lane.repo_key, lane.branch, group.fix)
    commits = history.lane_commits(lane, group.first.place, fix or group.last.place, margin)
    own = next((at for at, one in enumerate(commits) if one.sha == failure.key.sha), 0)
    return Listing(ends_and_around(commits, own, most), len(commits))


def _commits_of(
    history: History, failure: Failure, timeline: Sequence[LaneCommit]
) -> Iterator[Commit]:
    """Give the commits of the timeline as the first run told them whose list has them."""
    shas = [one.sha for one in timeline]
    listings = history.first_listing(failure.key.lane.repo_key, shas)
    for sha in shas:
        if sha in listings:
            commits = listings[sha].commits
            yield commits[last_place(commits, sha)]


def _told(commits: Iterable[Commit], files: ProductFiles | None) -> tuple[CommitEvidence, ...]:
    """Tell the kind of each file; without a configuration no file has one."""
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
