# SPDX-License-Identifier: Apache-2.0
"""How a table is sorted and searched (contract, "CI metrics").

This module decides by which columns each table can be put in order, which texts of a row a search
looks at, and what it means for a row to match. It does not know the order in which a table stands
when nobody asks: rows come in it, and those that a column holds for equal stay in it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Generic, TypeVar

from hwci.engine.answers import FlakyTest, LabelledFailure
from hwci.engine.facts import Announcement, Lane
from hwci.engine.page.reading import Judged
from hwci.engine.vocabulary import (
    UNASSIGNED,
    FailureClass,
    FailureColumn,
    FlakyColumn,
    Label,
    MergeColumn,
    ResolvedColumn,
)

Column = TypeVar("Column", bound=StrEnum)
Row = TypeVar("Row")
Value = str | float | datetime


@dataclass(frozen=True)
class Sort(Generic[Column]):
    """The column that a table is put in order by. Written `column`, or `-column`: descending."""

    column: Column
    descending: bool = False

    def __str__(self) -> str:
        """Write it as it stands in a query."""
        return f"-{self.column}" if self.descending else str(self.column)


@dataclass(frozen=True)
class Wanted(Generic[Column]):
    """Which rows of a table, and in which order; None: all of them, as the table has them."""

    search: str | None = None
    sort: Sort[Column] | None = None


@dataclass(frozen=True)
class WantedFailures(Wanted[FailureColumn]):
    """Which failures, by what else the list of failures is asked for; None: any."""

    label: Label | None = None
    test_id: str | None = None

    def among(self, rows: Sequence[LabelledFailure]) -> Sequence[LabelledFailure]:
        """Give the failures of the label, and of the test by its whole id."""
        return [
            row
            for row in rows
            if self.label in {None, row.label}
            and self.test_id in {None, row.failure.key.lane.test_id}
        ]


@dataclass(frozen=True)
class WantedOthers(Wanted[ResolvedColumn]):
    """Which failures that were resolved otherwise; None: of any class."""

    failure_class: FailureClass | None = None

    def among(self, rows: Sequence[Judged]) -> Sequence[Judged]:
        """Give the failures of the class."""
        return [row for row in rows if self.failure_class in {None, row.failure_class}]


@dataclass(frozen=True)
class WantedTests(Wanted[FlakyColumn]):
    """Which of the flakiest tests. `broken`: those that are broken rather than flaky, or those that
    are not; None: both.
    """

    broken: bool | None = None

    def among(self, rows: Sequence[FlakyTest]) -> Sequence[FlakyTest]:
        """Give the tests of that kind."""
        return [row for row in rows if self.broken in {None, row.broken}]


@dataclass(frozen=True, slots=True)
class Table(Generic[Row, Column]):
    """A table by what its columns hold, and by the texts that a search looks at."""

    values: Mapping[Column, Callable[[Row], Value]]
    texts: Callable[[Row], Sequence[str]]

    def chosen(self, rows: Sequence[Row], wanted: Wanted[Column]) -> Sequence[Row]:
        """Give the rows that match, in the order that was asked for."""
        found = rows if wanted.search is None else self._matching(rows, wanted.search)
        if wanted.sort is None:
            return found
        value = self.values[wanted.sort.column]
        return sorted(found, key=value, reverse=wanted.sort.descending)

    def _matching(self, rows: Sequence[Row], search: str) -> Sequence[Row]:
        """Give the rows in which every word occurs, in any of their texts, case-folded.

        No word holds a blank, so none is found across the end of a text.
        """
        texts = self.texts
        found = [(row, "\n".join(texts(row)).casefold()) for row in rows]
        for word in search.casefold().split():
            found = [one for one in found if word in one[1]]
        return [row for row, _ in found]


def _labelled_texts(row: LabelledFailure) -> Sequence[str]:
    key = row.failure.key
    return (*key.lane, key.sha)


def _lane(row: Judged) -> Lane:
    return row.group.first.key.lane


def _merge_texts(row: Announcement) -> Sequence[str]:
    return (row.repo_key, row.suite or UNASSIGNED, row.branch, row.sha)


def _failure_texts(row: Judged) -> Sequence[str]:
    first, last = row.group.first.key, row.group.last.key
    return (*first.lane, first.sha, last.sha, row.group.fix or "")


# Unassigned merges stand before those of any product, as they do in the table's own order.
MERGES: Table[Announcement, MergeColumn] = Table(
    values={
        MergeColumn.MERGED_AT: attrgetter("merged_at"),
        MergeColumn.REPO_KEY: attrgetter("repo_key"),
        MergeColumn.SUITE: lambda row: row.suite or "",
        MergeColumn.BRANCH: attrgetter("branch"),
        MergeColumn.SHA: attrgetter("sha"),
    },
    texts=_merge_texts,
)

RESOLVED: Table[Judged, ResolvedColumn] = Table(
    values={
        ResolvedColumn.STARTED_AT: lambda row: row.group.first.first.started_at,
        ResolvedColumn.REPO_KEY: lambda row: _lane(row).repo_key,
        ResolvedColumn.SUITE: lambda row: _lane(row).suite,
        ResolvedColumn.TEST_ID: lambda row: _lane(row).test_id,
        ResolvedColumn.BOX_KEY: lambda row: _lane(row).box_key,
        ResolvedColumn.BRANCH: lambda row: _lane(row).branch,
        ResolvedColumn.FAILING_COMMITS: lambda row: len(row.group.failures),
        ResolvedColumn.VERDICT: lambda row: row.group.first.first.verdict,
        ResolvedColumn.CLASS: attrgetter("failure_class"),
    },
    texts=_failure_texts,
)

FAILURES: Table[LabelledFailure, FailureColumn] = Table(
    values={
        FailureColumn.FIRST_STARTED_AT: lambda row: row.failure.first.started_at,
        FailureColumn.LAST_STARTED_AT: lambda row: row.failure.last_started_at,
        FailureColumn.REPO_KEY: lambda row: row.failure.key.lane.repo_key,
        FailureColumn.SUITE: lambda row: row.failure.key.lane.suite,
        FailureColumn.TEST_ID: lambda row: row.failure.key.lane.test_id,
        FailureColumn.BOX_KEY: lambda row: row.failure.key.lane.box_key,
        FailureColumn.BRANCH: lambda row: row.failure.key.lane.branch,
        FailureColumn.SHA: lambda row: row.failure.key.sha,
        FailureColumn.LABEL: attrgetter("label"),
        FailureColumn.ITEMS: lambda row: row.failure.items,
        FailureColumn.VERDICT: lambda row: row.failure.first.verdict,
    },
    texts=_labelled_texts,
)

FLAKIEST: Table[FlakyTest, FlakyColumn] = Table(
    values={column: attrgetter(column.name.lower()) for column in FlakyColumn},
    texts=attrgetter("repo_key", "suite", "test_id"),
)
