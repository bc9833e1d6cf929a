# SPDX-License-Identifier: Apache-2.0
"""What a history says of a period: read and decided once (spec, "Metrics page"; semantics, 9-10).

This module decides what a period counts and the order of each table. Every failure of the period
is labelled and every group classified, since tiles count them all. It does not describe rows: who
broke and who fixed a test is asked for the rows that are shown.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.engine.answers import ClassCounts, FlakyTest, LabelledFailure, Tally, Tiles
from hwci.engine.facts import Announcement, Product
from hwci.engine.history import Failure, History, Period, Scope
from hwci.engine.page.evidence import labelled
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.flakiness import TestKey, flakiest
from hwci.engine.rules.labels import Group, groups_of
from hwci.engine.rules.merges import is_checked
from hwci.engine.sightings import Merge
from hwci.engine.vocabulary import FailureClass, Label

Row = TypeVar("Row")


class Judged(NamedTuple):
    """A resolved failure and the class that people see."""

    group: Group
    failure_class: FailureClass


@dataclass(frozen=True, slots=True)
class Reading:
    """The tiles and the whole tables of a scope and a period, each table in its order.

    Plain values: they hold as long as the history does not change, and no longer.
    """

    tiles: Tiles
    unchecked_merges: Sequence[Announcement]
    real_bugs: Sequence[Judged]
    other_failures: Sequence[Judged]
    flakiest_tests: Sequence[FlakyTest]
    failures: Sequence[LabelledFailure]
    checked_merges: Sequence[Announcement]

    @property
    def size(self) -> int:
        """Number of rows and failures held."""
        resolved = (*self.real_bugs, *self.other_failures)
        merges = len(self.unchecked_merges) + len(self.checked_merges)
        rows = merges + len(self.flakiest_tests) + len(self.failures)
        return rows + sum(len(one.group.failures) for one in resolved)


def read_period(history: History, scope: Scope, period: Period) -> Reading:
    """Read and decide all that a scope and a period show."""
    merges = history.merges(scope, period)
    checked, unchecked = _by_check(merges)
    items = history.failing_items(scope, period)
    groups = groups_of(history.failures(scope, period), history.reviews())
    classes = by_class(groups, period, Classifier(history))
    flaky = _flaky_items(groups, items)
    return Reading(
        tiles=Tiles(
            merges_checked=Tally(len(checked), len(merges)),
            real_fw_bugs=counts({one: len(members) for one, members in classes.items()}),
            flaky_failures=flaky.total(),
            infra_runs=Tally(*history.run_counts(scope, period)),
        ),
        unchecked_merges=unchecked,
        real_bugs=_judged(classes, real=True),
        other_failures=_judged(classes, real=False),
        flakiest_tests=flakiest(history.test_runs(scope, period), flaky),
        failures=_labelled(groups, items),
        checked_merges=checked,
    )


def _by_check(merges: Sequence[Merge]) -> tuple[list[Announcement], list[Announcement]]:
    """Give the merges that a run checked and those that none did, each in the table's order."""
    checked: list[Announcement] = []
    unchecked: list[Announcement] = []
    for merge in merges:
        (checked if is_checked(merge) else unchecked).append(merge.announcement)
    for rows in (checked, unchecked):
        rows.sort(key=lambda one: (one.repo_key, one.suite or "", one.sha))
        rows.sort(key=lambda one: one.merged_at, reverse=True)
    return checked, unchecked


def by_class(
    groups: Sequence[Group], period: Period, classifier: Classifier
) -> dict[FailureClass, list[Group]]:
    """Return the resolved failures of a period by class."""
    classes: dict[FailureClass, list[Group]] = {one: [] for one in FailureClass}
    for group in resolved_in(groups, period):
        classes[classifier.shown(group).failure_class].append(group)
    return classes


def resolved_in(groups: Sequence[Group], period: Period) -> list[Group]:
    """Return the resolved failures, dated by "the start time of the first failing run"."""
    return [
        group
        for group in groups
        if group.label is Label.RESOLVED
        and period.start <= group.first.first.started_at <= period.end
    ]


def counts(classes: Mapping[FailureClass, int]) -> ClassCounts:
    """Return how many groups there are of each class."""
    return ClassCounts(
        real=classes[FailureClass.REAL_FW_BUG],
        bench_or_harness=classes[FailureClass.BENCH_OR_HARNESS],
        ambiguous=classes[FailureClass.AMBIGUOUS],
        dismissed=classes[FailureClass.DISMISSED],
    )


def _judged(classes: Mapping[FailureClass, Sequence[Group]], *, real: bool) -> list[Judged]:
    """Give the real bugs, or all other resolved failures, dismissed ones included."""
    rows = [
        Judged(group, failure_class)
        for failure_class, members in classes.items()
        if (failure_class is FailureClass.REAL_FW_BUG) is real
        for group in members
    ]
    return newest_first(rows, lambda row: row.group.first)


def _flaky_items(groups: Sequence[Group], items: Mapping[UUID, int]) -> Counter[TestKey]:
    """Items of the period labelled Flake, by test."""
    flaky: Counter[TestKey] = Counter()
    for group in groups:
        if group.label is Label.FLAKE:
            lane = group.first.key.lane
            test = (Product(lane.repo_key, lane.suite), lane.test_id)
            flaky[test] += items.get(group.first.id, 0)
    return flaky


def _labelled(groups: Sequence[Group], items: Mapping[UUID, int]) -> list[LabelledFailure]:
    """Every failure with an item in the period, with its label."""
    rows = [
        labelled(failure, group)
        for group in groups
        for failure in group.failures
        if failure.id in items
    ]
    return newest_first(rows, lambda row: row.failure)


def newest_first(rows: list[Row], failure_of: Callable[[Row], Failure]) -> list[Row]:
    """Order rows by the first failing run, the newest first, then by id (as its text orders)."""
    rows.sort(key=lambda row: failure_of(row).id.int)
    rows.sort(key=lambda row: failure_of(row).first.started_at, reverse=True)
    return rows
