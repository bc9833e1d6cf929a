# SPDX-License-Identifier: Apache-2.0
"""A period of a history, read and decided once (spec, "Metrics page"; semantics, 9-10).

This module decides what a period counts and the order of each table. All failures are labelled and
all groups classified, as the tiles count them; only rows that are shown are described, later.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar
from uuid import UUID

from hwci.engine.facts import Announcement, TestKey
from hwci.engine.history import Failure, History, Merge, Scope
from hwci.engine.page.failures import LabelledFailure, labelled
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.flakiness import FlakyTest, flakiest
from hwci.engine.rules.labels import Group, groups_of
from hwci.engine.rules.merges import is_checked
from hwci.engine.vocabulary import FailureClass, Label

Row = TypeVar("Row")


class Tally(NamedTuple):
    """A part and its whole."""

    part: int
    total: int


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Numbers of resolved failures by class."""

    real: int
    bench_or_harness: int
    ambiguous: int
    dismissed: int

    @classmethod
    def of(cls, classes: Iterable[FailureClass]) -> "ClassCounts":
        """Count classes."""
        counts = Counter(classes)
        return cls(
            real=counts[FailureClass.REAL_FW_BUG],
            bench_or_harness=counts[FailureClass.BENCH_OR_HARNESS],
            ambiguous=counts[FailureClass.AMBIGUOUS],
            dismissed=counts[FailureClass.DISMISSED],
        )


@dataclass(frozen=True, slots=True)
class Tiles:
    """The four tiles of the metrics page."""

    merges_checked: Tally
    real_fw_bugs: ClassCounts
    flaky_failures: int
    infra_runs: Tally


class Classified(NamedTuple):
    """A resolved failure and the class that people see."""

    group: Group
    failure_class: FailureClass


@dataclass(frozen=True, slots=True)
class Reading:
    """The tiles and whole tables of a scope and period, valid until the history changes."""

    tiles: Tiles
    unchecked_merges: Sequence[Announcement]
    real_bugs: Sequence[Classified]
    other_failures: Sequence[Classified]
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
    checked = _merges(merge for merge in merges if is_checked(merge))
    items = history.failing_items(scope, period)
    groups = groups_of(history.failures(scope, period), history.reviews())
    classifier = Classifier(history)
    resolved = [
        Classified(group, classifier.shown(group).failure_class)
        for group in resolved_in(groups, period)
    ]
    flaky = _flaky_items(groups, items)
    return Reading(
        tiles=Tiles(
            merges_checked=Tally(len(checked), len(merges)),
            real_fw_bugs=ClassCounts.of(one.failure_class for one in resolved),
            flaky_failures=flaky.total(),
            infra_runs=Tally(*history.run_counts(scope, period)),
        ),
        unchecked_merges=_merges(merge for merge in merges if not is_checked(merge)),
        real_bugs=[one for one in resolved if one.failure_class is FailureClass.REAL_FW_BUG],
        other_failures=[
            one for one in resolved if one.failure_class is not FailureClass.REAL_FW_BUG
        ],
        flakiest_tests=flakiest(history.test_runs(scope, period), flaky),
        failures=_labelled(groups, items),
        checked_merges=checked,
    )


def _merges(merges: Iterable[Merge]) -> list[Announcement]:
    """Return a table of merges: the newest first, then by repository, product and commit."""
    rows = [merge.announcement for merge in merges]
    rows.sort(key=lambda one: (one.repo_key, one.suite or "", one.sha))
    rows.sort(key=lambda one: one.merged_at, reverse=True)
    return rows


def resolved_in(groups: Sequence[Group], period: Period) -> list[Group]:
    """Return the resolved failures of a period, the newest first: "resolved failures use the start
    time of the first failing run".
    """
    resolved = [
        group
        for group in groups
        if group.label is Label.RESOLVED
        and period.start <= group.first.first.started_at <= period.end
    ]
    return _newest_first(resolved, lambda group: group.first)


def _flaky_items(groups: Sequence[Group], items: Mapping[UUID, int]) -> Counter[TestKey]:
    flaky: Counter[TestKey] = Counter()
    for group in groups:
        if group.label is Label.FLAKE:
            lane = group.first.key.lane
            flaky[lane.product, lane.test_id] += items.get(group.first.id, 0)
    return flaky


def _labelled(groups: Sequence[Group], items: Mapping[UUID, int]) -> list[LabelledFailure]:
    rows = [
        labelled(failure, group)
        for group in groups
        for failure in group.failures
        if failure.id in items
    ]
    return _newest_first(rows, lambda row: row.failure)


def _newest_first(rows: list[Row], failure_of: Callable[[Row], Failure]) -> list[Row]:
    """Order rows by the first failing run, the newest first, then by id (as its text orders)."""
    rows.sort(key=lambda row: failure_of(row).id.int)
    rows.sort(key=lambda row: failure_of(row).first.started_at, reverse=True)
    return rows
