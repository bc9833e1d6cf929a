# SPDX-License-Identifier: Apache-2.0
"""The tables of the metrics page, sorted, searched and sliced (spec, "Metrics page").

This module decides by which columns a table can be sorted, which texts of a row a search reads, and
which rows are shown and described. The history must be the one that the rows were read from, or one
of the same state. Without a sort, rows keep the order in which they were read. So do rows that a
sort finds equal.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Generic, NamedTuple, TypeVar

from hwci.engine.facts import Announcement, Lane
from hwci.engine.history import History, Listing, SightedRun
from hwci.engine.page.failures import LabelledFailure, ResolvedFailure, describe_rows
from hwci.engine.page.reading import Classified
from hwci.engine.rules.flakiness import FlakyTest
from hwci.engine.rules.merges import first_check
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
    """The column that a table is sorted by. Written `column`, or `-column` for descending."""

    column: Column
    descending: bool = False

    def __str__(self) -> str:
        """Return the sort as a query writes it."""
        return f"-{self.column}" if self.descending else str(self.column)


@dataclass(frozen=True)
class Selection(Generic[Column]):
    """Which rows of a table are shown. None: any row, in the default order, without a limit."""

    search: str | None = None
    sort: Sort[Column] | None = None
    offset: int = 0
    limit: int | None = None


@dataclass(frozen=True)
class FailureSelection(Selection[FailureColumn]):
    """Which failures are shown: of one label, and of one test by its whole id; None: any."""

    label: Label | None = None
    test_id: str | None = None


@dataclass(frozen=True)
class OtherSelection(Selection[ResolvedColumn]):
    """Which of the other resolved failures are shown; None: those of any class."""

    failure_class: FailureClass | None = None


@dataclass(frozen=True)
class FlakySelection(Selection[FlakyColumn]):
    """Which of the flakiest tests are shown: those that are `broken`, or the others; those of which
    a flake was seen (`flaked`), or the others; None: all.
    """

    broken: bool | None = None
    flaked: bool | None = None


@dataclass(frozen=True, slots=True)
class Table(Generic[Row, Column]):
    """A table: the value of each column, and the texts that a search reads."""

    values: Mapping[Column, Callable[[Row], Value]]
    texts: Callable[[Row], Sequence[str]]

    def listing(self, rows: Sequence[Row], selection: Selection[Column]) -> Listing[Row]:
        """Return the selected rows, and the number of all rows that match."""
        found, sort = matching(rows, selection.search, self.texts), selection.sort
        if sort is not None:
            found = sorted(found, key=self.values[sort.column], reverse=sort.descending)
        return Listing(found[selection.offset :][: selection.limit], len(found))


def matching(
    rows: Sequence[Row], search: str | None, texts: Callable[[Row], Sequence[str]]
) -> Sequence[Row]:
    """Return the rows whose texts contain every word of the search, in any case; None: all rows."""
    if search is None:
        return rows
    # Words have no white space, so no match runs from one text into the next.
    found = [(row, "\n".join(texts(row)).casefold()) for row in rows]
    for word in search.casefold().split():
        found = [one for one in found if word in one[1]]
    return [row for row, _ in found]


def _lane(row: Classified) -> Lane:
    return row.episode.key.lane


def _texts(row: Classified) -> Sequence[str]:
    one = row.episode
    return (*one.key.lane, one.key.sha, one.last_sha, one.fix or "")


# Unassigned merges come before those of any product, as in the default order.
MERGES: Table[Announcement, MergeColumn] = Table(
    values={
        MergeColumn.MERGED_AT: attrgetter("merged_at"),
        MergeColumn.REPO_KEY: attrgetter("repo_key"),
        MergeColumn.SUITE: lambda row: row.suite or "",
        MergeColumn.BRANCH: attrgetter("branch"),
        MergeColumn.SHA: attrgetter("sha"),
    },
    texts=lambda row: (row.repo_key, row.suite or UNASSIGNED, row.branch, row.sha),
)

RESOLVED: Table[Classified, ResolvedColumn] = Table(
    values={
        ResolvedColumn.STARTED_AT: attrgetter("episode.started_at"),
        ResolvedColumn.REPO_KEY: lambda row: _lane(row).repo_key,
        ResolvedColumn.SUITE: lambda row: _lane(row).suite,
        ResolvedColumn.TEST_ID: lambda row: _lane(row).test_id,
        ResolvedColumn.BOX_KEY: lambda row: _lane(row).box_key,
        ResolvedColumn.BRANCH: lambda row: _lane(row).branch,
        ResolvedColumn.FAILING_COMMITS: attrgetter("episode.commits"),
        ResolvedColumn.VERDICT: attrgetter("episode.verdict"),
        ResolvedColumn.CLASS: attrgetter("failure_class"),
    },
    texts=_texts,
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
    texts=lambda row: (*row.failure.key.lane, row.failure.key.sha),
)

FLAKIEST: Table[FlakyTest, FlakyColumn] = Table(
    values={column: attrgetter(column.name.lower()) for column in FlakyColumn},
    texts=attrgetter("repo_key", "suite", "test_id"),
)


class CheckedMerge(NamedTuple):
    """A row of the merges checked on hardware: the merge, and the run that checked it first.
    `subject`: the first line of the commit's message, if a run has it.
    """

    announcement: Announcement
    first_run: SightedRun
    subject: str | None


def unchecked_merges(
    merges: Sequence[Announcement], selection: Selection[MergeColumn]
) -> Listing[Announcement]:
    """List announced merges that no run checked."""
    return MERGES.listing(merges, selection)


def checked_merges(
    history: History, merges: Sequence[Announcement], selection: Selection[MergeColumn]
) -> Listing[CheckedMerge]:
    """List announced merges that a run checked, each with the run that checked it first."""
    rows = MERGES.listing(merges, selection)
    subjects = subjects_of(history, rows.items)
    found = []
    for one in rows.items:
        run = first_check(one, history.sighted_runs(one.repo_key, one.sha))
        found.append(CheckedMerge(one, run, subjects.get((one.repo_key, one.sha))))
    return Listing(found, rows.total)


def subjects_of(history: History, merges: Sequence[Announcement]) -> dict[tuple[str, str], str]:
    """Return first lines of commit messages, by repository and commit, where reports have them."""
    found = {}
    for repo_key in {merge.repo_key for merge in merges}:
        shas = sorted({merge.sha for merge in merges if merge.repo_key == repo_key})
        for sha, changes in history.first_listing(repo_key, shas).items():
            subject = next(one.subject for one in changes.commits if one.sha == sha)
            if subject:
                found[repo_key, sha] = subject
    return found


def real_bugs(
    history: History, bugs: Sequence[Classified], selection: Selection[ResolvedColumn]
) -> Listing[ResolvedFailure]:
    """List resolved failures that are real firmware bugs."""
    return _described(history, RESOLVED.listing(bugs, selection))


def other_failures(
    history: History, others: Sequence[Classified], selection: OtherSelection
) -> Listing[ResolvedFailure]:
    """List all other resolved failures, dismissed ones included."""
    failure_class = selection.failure_class
    rows = [row for row in others if failure_class in {None, row.failure_class}]
    return _described(history, RESOLVED.listing(rows, selection))


def flakiest_tests(tests: Sequence[FlakyTest], selection: FlakySelection) -> Listing[FlakyTest]:
    """List tests with a failed attempt, highest flake rate first by default."""
    rows = [
        row
        for row in tests
        if selection.broken in {None, row.broken} and selection.flaked in {None, row.flaked}
    ]
    return FLAKIEST.listing(rows, selection)


def labelled_failures(
    failures: Sequence[LabelledFailure], selection: FailureSelection
) -> Listing[LabelledFailure]:
    """List the selected failures of a period, newest first by default."""
    rows = [
        row
        for row in failures
        if selection.label in {None, row.label}
        and selection.test_id in {None, row.failure.key.lane.test_id}
    ]
    return FAILURES.listing(rows, selection)


def _described(history: History, rows: Listing[Classified]) -> Listing[ResolvedFailure]:
    return Listing(describe_rows(history, rows.items), rows.total)
