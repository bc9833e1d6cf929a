# SPDX-License-Identifier: Apache-2.0
"""The metrics page and each of its tables (spec, "Metrics page"; semantics, 9 and 10).

This module decides what a period counts and the order of each table. Every group of the period is
classified, since tiles count them all; only the rows that are shown are described.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from hwci.engine.answers import (
    ClassCounts,
    FlakyTest,
    LabelledFailure,
    Listing,
    Page,
    ResolvedFailure,
    Tally,
    Tiles,
)
from hwci.engine.classify import Classifier
from hwci.engine.evidence import evidence, labelled
from hwci.engine.facts import Announcement, Product
from hwci.engine.flakiest import TestKey, flakiest
from hwci.engine.groups import Group, groups_of
from hwci.engine.history import Failure, History, Merge, Period, Scope
from hwci.engine.merges import is_checked
from hwci.engine.resolved import describe, resolved_failure
from hwci.engine.vocabulary import FailureClass, Label

__all__ = [
    "evidence",
    "flakiest_tests",
    "labelled_failures",
    "metrics_page",
    "other_failures",
    "real_bugs",
    "resolved_failure",
    "unchecked_merges",
]

Row = TypeVar("Row")


class _Failures:
    """The failures of a period, read and classified once for all that is shown of them."""

    def __init__(self, history: History, scope: Scope, period: Period) -> None:
        self._history = history
        self._period = period
        self._classifier = Classifier(history)
        self.items = history.failing_items(scope, period)
        self.groups = groups_of(history.failures(scope, period), history.reviews())

    @cached_property
    def by_class(self) -> dict[FailureClass, list[Group]]:
        """Resolved failures, dated by "the start time of the first failing run"."""
        groups: dict[FailureClass, list[Group]] = {one: [] for one in FailureClass}
        for group in self.groups:
            started_at = group.first.first.started_at
            if (
                group.label is Label.RESOLVED
                and self._period.start <= started_at <= self._period.end
            ):
                groups[self._classifier.shown(group).failure_class].append(group)
        return groups

    @cached_property
    def flaky(self) -> Counter[TestKey]:
        """Items of the period labelled Flake, by test."""
        flaky: Counter[TestKey] = Counter()
        for group in self.groups:
            if group.label is Label.FLAKE:
                lane = group.first.key.lane
                test = (Product(lane.repo_key, lane.suite), lane.test_id)
                flaky[test] += self.items.get(group.first.id, 0)
        return flaky

    def counts(self) -> ClassCounts:
        """Count the resolved failures of each class."""
        return ClassCounts(
            real=len(self.by_class[FailureClass.REAL_FW_BUG]),
            bench_or_harness=len(self.by_class[FailureClass.BENCH_OR_HARNESS]),
            ambiguous=len(self.by_class[FailureClass.AMBIGUOUS]),
            dismissed=len(self.by_class[FailureClass.DISMISSED]),
        )

    def table(self, *, real: bool, offset: int, limit: int) -> Listing[ResolvedFailure]:
        """List the real bugs, or all other resolved failures."""
        groups = [
            group
            for failure_class, members in self.by_class.items()
            if (failure_class is FailureClass.REAL_FW_BUG) is real
            for group in members
        ]
        groups = _newest_first(groups, lambda group: group.first)
        return Listing(
            [
                describe(self._history, group, self._classifier)
                for group in groups[offset : offset + limit]
            ],
            len(groups),
        )


def metrics_page(history: History, scope: Scope, period: Period, rows: int = 20) -> Page:
    """Give the page: the tiles, and the first rows of each table."""
    failures = _Failures(history, scope, period)
    merges = history.merges(scope, period)
    unchecked = _unchecked(merges)
    infra = history.run_counts(scope, period)
    return Page(
        tiles=Tiles(
            merges_checked=Tally(len(merges) - len(unchecked), len(merges)),
            real_fw_bugs=failures.counts(),
            flaky_failures=failures.flaky.total(),
            infra_runs=Tally(infra.infra, infra.total),
        ),
        unchecked_merges=_slice(unchecked, 0, rows),
        real_bugs=failures.table(real=True, offset=0, limit=rows),
        other_failures=failures.table(real=False, offset=0, limit=rows),
        flakiest_tests=_slice(flakiest(history.test_runs(scope, period), failures.flaky), 0, rows),
    )


def unchecked_merges(
    history: History, scope: Scope, period: Period, offset: int, limit: int
) -> Listing[Announcement]:
    """List announced merges that no run checked."""
    return _slice(_unchecked(history.merges(scope, period)), offset, limit)


def real_bugs(
    history: History, scope: Scope, period: Period, offset: int, limit: int
) -> Listing[ResolvedFailure]:
    """List resolved failures that are real firmware bugs."""
    return _Failures(history, scope, period).table(real=True, offset=offset, limit=limit)


def other_failures(
    history: History, scope: Scope, period: Period, offset: int, limit: int
) -> Listing[ResolvedFailure]:
    """List all other resolved failures, dismissed ones included."""
    return _Failures(history, scope, period).table(real=False, offset=offset, limit=limit)


def flakiest_tests(
    history: History, scope: Scope, period: Period, offset: int, limit: int
) -> Listing[FlakyTest]:
    """List tests with a failed attempt, the highest flake rate first."""
    flaky = _Failures(history, scope, period).flaky
    return _slice(flakiest(history.test_runs(scope, period), flaky), offset, limit)


def labelled_failures(
    history: History,
    scope: Scope,
    period: Period,
    label: Label | None,
    offset: int,
    limit: int,
) -> Listing[LabelledFailure]:
    """List every failure with an item in the period, of one label or of all."""
    failures = _Failures(history, scope, period)
    rows = [
        labelled(failure, group)
        for group in failures.groups
        if label in {None, group.label}
        for failure in group.failures
        if failure.id in failures.items
    ]
    return _slice(_newest_first(rows, lambda row: row.failure), offset, limit)


def _unchecked(merges: Sequence[Merge]) -> list[Announcement]:
    rows = [merge.announcement for merge in merges if not is_checked(merge)]
    rows.sort(key=lambda one: (one.repo_key, one.suite or "", one.sha))
    rows.sort(key=lambda one: one.merged_at, reverse=True)
    return rows


def _newest_first(rows: list[Row], failure_of: Callable[[Row], Failure]) -> list[Row]:
    """Order rows by the first failing run, the newest first, then by id."""
    rows.sort(key=lambda row: str(failure_of(row).id))
    rows.sort(key=lambda row: failure_of(row).first.started_at, reverse=True)
    return rows


def _slice(rows: Sequence[Row], offset: int, limit: int) -> Listing[Row]:
    return Listing(rows[offset : offset + limit], len(rows))
