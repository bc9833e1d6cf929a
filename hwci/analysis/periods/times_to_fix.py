# SPDX-License-Identifier: Apache-2.0
"""How long it took until a failure was seen, and until it was fixed, by product and box (ADR 0009).

This module decides between which instants a time lies and what is counted once. Failures that one
cause explains are one incident (`incidents.py`): a commit that breaks ten tests is fixed once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from hwci.analysis.failures.one_cause import Began, CauseKey, Failed, causes_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.analysis.periods.spread import spread
from hwci.analysis.periods.trends import before_of
from hwci.contract.periods.times_to_fix import IncidentTimes, TimesToFix
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Product
from hwci.engine.history import Episode, History, Scope
from hwci.engine.periods import Period, last_days
from hwci.engine.rules.changes import UnderTest
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import label_of, review_of

LOOK_BACK_DAYS = 365
"""A merge that broke a test is looked for in so many days before the period."""

Merged = Mapping[tuple[str, str, str], datetime]
"""When a commit of a repository and branch was merged, at first."""


class Member(NamedTuple):
    """A failure of an incident, as an episode. `merged_at`: when the commit was merged that brought
    the first of those that may have broken it; None if unknown. `fixed_at`: None if it still fails.
    """

    product: Product
    box_key: str
    cause: CauseKey
    merged_at: datetime | None
    failed_at: datetime
    fixed_at: datetime | None


class Where(NamedTuple):
    """A product on all its boxes, or one of its boxes; without a product, all products."""

    product: Product | None
    box_key: str | None


def times_to_fix(history: RecordedRuns, scope: Scope, period: Period) -> list[TimesToFix]:
    """Return the times of all products, then of each with its boxes, the boxes with most incidents
    first, each beside that of the period before. What still fails has lasted until the end of the
    period, in both.
    """
    members = _members_by_place(history, scope, period)
    times = {where: _times(some, period.end) for where, some in members.items()}
    before = before_of(history, scope, period).whole if times else None
    earlier = {} if before is None else _members_by_place(history, scope, before)
    rows = [
        TimesToFix(
            **vars(now),
            repo_key=where.product and where.product.repo_key,
            suite=where.product and where.product.suite,
            box_key=where.box_key,
            before=None if before is None else _times(earlier.get(where, ()), period.end),
        )
        for where, now in times.items()
    ]
    return sorted(rows, key=_place)


def _place(row: TimesToFix) -> tuple[object, ...]:
    """Return what rows are sorted by; no name is empty."""
    product = row.repo_key or "", row.suite or ""
    return (*product, row.box_key is not None, -row.incidents, row.box_key or "")


def _members_by_place(
    history: RecordedRuns, scope: Scope, period: Period
) -> Mapping[Where, Sequence[Member]]:
    by_place: dict[Where, list[Member]] = defaultdict(list)
    for member in _members(history, scope, period):
        product = member.product
        for where in (Where(None, None), Where(product, None), Where(product, member.box_key)):
            by_place[where].append(member)
    return by_place


def _times(members: Iterable[Member], now: datetime) -> IncidentTimes:
    """Return the times of incidents. `now`: until when what still fails has lasted."""
    together: dict[CauseKey, list[Member]] = defaultdict(list)
    for member in members:
        together[member.cause].append(member)
    detected, fixed, failing = [], [], []
    for some in together.values():
        first = min(some, key=lambda member: member.failed_at)
        ends = [member.fixed_at for member in some if member.fixed_at is not None]
        if first.merged_at is not None:
            detected.append(first.failed_at - first.merged_at)
        if len(ends) == len(some):
            # A later commit may have run, and passed, before.
            fixed.append(max(max(ends) - first.failed_at, timedelta()))
        else:
            failing.append(max(now - first.failed_at, timedelta()))
    return IncidentTimes(
        incidents=len(together),
        failing=len(failing),
        to_detect=spread(detected),
        to_fix=spread(fixed, failing),
    )


def _members(history: RecordedRuns, scope: Scope, period: Period) -> list[Member]:
    episodes = _ended_or_failing(history, history.episodes(scope, period))
    runs = history.episode_runs([episode for episode, _ in episodes])
    classifier, failed = Classifier(history), []
    for (episode, label), ran in zip(episodes, runs, strict=True):
        history.check_time()
        tested = UnderTest(classifier.files_of(episode.key.lane.product), ran.under_test)
        failed.append(Failed(episode, label, tested))
    causes = causes_of(history, period, failed)
    merged = _merges(history, scope, period)
    return [
        Member(
            product=episode.key.lane.product,
            box_key=episode.key.lane.box_key,
            cause=caused.cause,
            merged_at=_broken_at(episode, caused.began, merged),
            failed_at=episode.started_at,
            fixed_at=ran.fixed_at,
        )
        for (episode, _), ran, caused in zip(episodes, runs, causes, strict=True)
    ]


def _ended_or_failing(history: History, episodes: Sequence[Episode]) -> list[tuple[Episode, Label]]:
    """Return the episodes with their labels, without those that a review alone calls resolved: it
    is unknown when they were.
    """
    reviews = history.reviews([failure for episode in episodes for failure in episode.reviewed])
    labels = [
        label_of(False, episode.fix, review_of(episode.reviewed, reviews)) for episode in episodes
    ]
    return [
        (episode, label)
        for episode, label in zip(episodes, labels, strict=True)
        if label is Label.PENDING or episode.fix is not None
    ]


def _merges(history: History, scope: Scope, period: Period) -> Merged:
    """Return when commits were merged, whichever product they were announced for."""
    merged: dict[tuple[str, str, str], datetime] = {}
    start = last_days(LOOK_BACK_DAYS, period.start).start
    for merge, _ in history.merges(Scope(scope.repo_key), Period(start, period.end)):
        commit = merge.repo_key, merge.branch, merge.sha
        merged[commit] = min(merge.merged_at, merged.get(commit, merge.merged_at))
    return merged


def _broken_at(episode: Episode, began: Began, merged: Merged) -> datetime | None:
    """Return when the first suspect was merged: by the first announced commit from there on, which
    is itself or the merge that brought it.
    """
    if began.suspects is None or began.commits is None:
        return None
    lane, listed = episode.key.lane, [commit.sha for commit in began.commits]
    after = listed[listed.index(began.suspects[0].sha) :]
    times = (merged.get((lane.repo_key, lane.branch, sha)) for sha in after)
    merged_at = next((at for at in times if at is not None), None)
    return None if merged_at is None or merged_at > episode.started_at else merged_at
