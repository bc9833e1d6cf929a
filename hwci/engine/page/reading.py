# SPDX-License-Identifier: Apache-2.0
"""The whole tables of a period, read and decided (spec, "Metrics page"; semantics, 9-10).

This module decides what a period counts and the order of each table. All resolved failures are
classified, as the tiles count them; only rows that are shown are described, later.
"""

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.contract.failures.failures import Review
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.page.metrics import RealFwBugs
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import FailureClass, Label
from hwci.engine.history import Episode, History, Listing, Scope
from hwci.engine.page.failures import LabelledFailure, labelled
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classification, Classifier, shown_class
from hwci.engine.rules.flakiness import flakiest
from hwci.engine.rules.labels import Group, groups_at, groups_of, label_of, review_of
from hwci.engine.rules.merges import in_order

OfEpisode = TypeVar("OfEpisode", "Resolved", "Classified")

_AT_ONCE = 200  # episodes whose failures are read together


def bugs_by_class(counts: Counter[FailureClass]) -> RealFwBugs:
    """Return the numbers of resolved failures of each class."""
    return RealFwBugs(
        real=counts[FailureClass.REAL_FW_BUG],
        bench_or_harness=counts[FailureClass.BENCH_OR_HARNESS],
        ambiguous=counts[FailureClass.AMBIGUOUS],
        dismissed=counts[FailureClass.DISMISSED],
    )


class Resolved(NamedTuple):
    """A resolved episode, and the review that its group carries."""

    episode: Episode
    review: Review | None


class Classified(NamedTuple):
    """A resolved episode with its review, and its class by the checks."""

    episode: Episode
    review: Review | None
    automatic: Classification

    @property
    def failure_class(self) -> FailureClass:
        """The class that people see."""
        return shown_class(self.review, self.automatic).failure_class


class Merges(NamedTuple):
    """The merges of a period, each list in the order of its table."""

    unchecked: Sequence[Merge]
    checked: Sequence[Merge]


class ResolvedTables(NamedTuple):
    """The resolved failures of a period, each list in the order of its table."""

    real_bugs: Sequence[Classified]
    other_failures: Sequence[Classified]


def read_merges(history: History, scope: Scope, period: Period) -> Merges:
    """Read the merges of a scope and a period."""
    merges = history.merges(scope, period)
    return Merges(
        unchecked=in_order(merge for merge, checked in merges if not checked),
        checked=in_order(merge for merge, checked in merges if checked),
    )


def read_resolved(history: History, scope: Scope, period: Period) -> ResolvedTables:
    """Read and decide the resolved failures of a scope and a period."""
    rows = read_classified(history, scope, period, frozenset(FailureClass))
    return ResolvedTables(
        real_bugs=[row for row in rows if row.failure_class is FailureClass.REAL_FW_BUG],
        other_failures=[row for row in rows if row.failure_class is not FailureClass.REAL_FW_BUG],
    )


def read_classified(
    history: History, scope: Scope, period: Period, classes: Collection[FailureClass]
) -> list[Classified]:
    """Read the resolved failures of these classes, in the order of their table. Of those that a
    store has settled no others are read.
    """
    if {*classes} == {*FailureClass}:
        return classified(history, resolved_episodes(history, scope, period))
    settled, unsettled = history.resolved(scope, period, [classes])
    resolved = [Resolved(episode, None) for part in settled.values() for episode in part.items]
    rows = classified(history, [*resolved, *resolved_of(history, unsettled)])
    return newest_first(row for row in rows if row.failure_class in classes)


def read_flakiest(history: History, scope: Scope, period: Period) -> list[FlakyTest]:
    """Read the tests of a scope and a period that have a failed attempt."""
    return flakiest(history, history.test_runs(scope, period))


def resolved_episodes(history: History, scope: Scope, period: Period) -> list[Resolved]:
    """Return the resolved failures of a period, the newest first: "resolved failures use the start
    time of the first failing run".
    """
    return resolved_of(history, history.episodes(scope, period))


def resolved_of(history: History, episodes: Sequence[Episode]) -> list[Resolved]:
    """Return those of these episodes that are resolved, the newest first."""
    reviews = history.reviews([failure for episode in episodes for failure in episode.reviewed])
    rows = [Resolved(episode, review_of(episode.reviewed, reviews)) for episode in episodes]
    return newest_first(
        row for row in rows if label_of(False, row.episode.fix, row.review) is Label.RESOLVED
    )


def newest_first(rows: Iterable[OfEpisode]) -> list[OfEpisode]:
    """Return a table of resolved failures in its order: by the first failing run, then by id, as
    its text orders.
    """
    table = sorted(rows, key=lambda row: row.episode.id.int)
    table.sort(key=lambda row: row.episode.started_at, reverse=True)
    return table


def classified(history: History, resolved: Sequence[Resolved]) -> list[Classified]:
    """Return these episodes with their classes. Those whose decision no store keeps are decided."""
    undecided = [episode for episode, _ in resolved if episode.decision is None]
    for _ in deciding(history, undecided):
        pass
    rows = []
    for row in resolved:
        decision = row.episode.decision or history.decided[row.episode.id][1]
        automatic = Classification(decision.failure_class, decision.reason)
        rows.append(Classified(*row, automatic))
    return rows


def deciding(history: History, undecided: Iterable[Episode]) -> Iterator[Episode]:
    """Decide these episodes, but for those that were, in their order; yield each as it is."""
    classifier = Classifier(history)
    left = iter([episode for episode in undecided if episode.id not in history.decided])
    while some := [*islice(left, _AT_ONCE)]:
        for episode, group in zip(some, groups_at(history, some), strict=True):
            history.decided[episode.id] = episode, classifier.decide(group)
            yield episode


def read_failures(history: History, scope: Scope, period: Period) -> Sequence[LabelledFailure]:
    """Read and label the failures that have an item in the period, the newest first (by the first
    failing run, then by id, as its text orders).
    """
    items = history.failing_items(scope, period)
    groups = groups_of(history, history.failures(scope, period))
    rows = [*_labelled(groups, items)]
    rows.sort(key=lambda row: row.failure.id.int)
    rows.sort(key=lambda row: row.failure.first.started_at, reverse=True)
    return rows


def read_newest_failures(
    history: History, scope: Scope, period: Period, most: int
) -> Listing[LabelledFailure]:
    """Read and label so many of the first of these failures; no others are read."""
    newest = history.newest_failing(scope, period, most)
    groups = groups_of(history, history.with_groups(newest.items))
    rows = {row.failure.id: row for row in _labelled(groups, {*newest.items})}
    return Listing([rows[failure_id] for failure_id in newest.items], newest.total)


def _labelled(groups: Iterable[Group], of: Container[UUID]) -> Iterator[LabelledFailure]:
    return (
        labelled(failure, group)
        for group in groups
        for failure in group.failures
        if failure.id in of
    )
