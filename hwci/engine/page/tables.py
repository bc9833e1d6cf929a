# SPDX-License-Identifier: Apache-2.0
"""The tables of the metrics page, sorted, searched and sliced (spec, "Metrics page").

This module decides by which columns a table can be sorted, which texts of a row a search reads, and
which rows are shown and described. The history must be the one that the rows were read from, or one
of the same state. Without a sort, rows keep the order in which they were read. So do rows that a
sort finds equal.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from operator import attrgetter
from typing import Generic, NamedTuple, Protocol, TypeVar

from hwci.contract.failures.failures import ResolvedFailure
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.runs.merges import CheckedMerge, Merge
from hwci.contract.vocabulary import (
    UNASSIGNED,
    FailureClass,
    FailureColumn,
    FlakyColumn,
    Label,
    MergeColumn,
    ResolvedColumn,
)
from hwci.engine.facts import FailureKey, Lane
from hwci.engine.history import History, Listing, Scope, SightedRun, Where
from hwci.engine.page.failures import LabelledFailure, describe_rows
from hwci.engine.page.merges import checking_run
from hwci.engine.page.reading import Classified, read_failures, read_newest_failures
from hwci.engine.periods import Period
from hwci.engine.rules.merges import checks

_NEWEST_MAX = 1000
"""Failures; to read more of the newest takes as long as to read all."""
Column = TypeVar("Column", bound=StrEnum)
Row = TypeVar("Row")
Value = str | float | datetime


class HasRuns(Protocol):
    """A merge with its runs."""

    @property
    def runs(self) -> Sequence[SightedRun]:
        """Those that checked it, or tell why none did."""


WithRuns = TypeVar("WithRuns", bound=HasRuns)


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
    """Which rows of a table are shown. None: any row, in the default order, without a limit.
    `where`: of a table whose rows have a box, a branch or a commit.
    """

    search: str | None = None
    sort: Sort[Column] | None = None
    offset: int = 0
    limit: int | None = None
    where: Where = field(default=Where(), kw_only=True)


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
        matches, sort = matching(rows, selection.search, self.texts), selection.sort
        if sort is not None:
            matches = sorted(matches, key=self.values[sort.column], reverse=sort.descending)
        return Listing(matches[selection.offset :][: selection.limit], len(matches))


def matching(
    rows: Sequence[Row], search: str | None, texts: Callable[[Row], Sequence[str]]
) -> Sequence[Row]:
    """Return the rows whose texts contain every word of the search, in any case; None: all rows."""
    if search is None:
        return rows
    # Words have no white space, so no match runs from one text into the next.
    matches = [(row, "\n".join(texts(row)).casefold()) for row in rows]
    for word in search.casefold().split():
        matches = [match for match in matches if word in match[1]]
    return [row for row, _ in matches]


def _lane(row: Classified) -> Lane:
    return row.episode.key.lane


def _texts(row: Classified) -> Sequence[str]:
    episode = row.episode
    return (*episode.key.lane, episode.key.sha, episode.last_sha, episode.fix or "")


# Unassigned merges come before those of any product, as in the default order.
MERGES: Table[Merge, MergeColumn] = Table(
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


class MergeRuns(NamedTuple):
    """A merge that was checked, and the runs that checked it, the earliest first. `subject`: the
    first line of the commit's message, if a run has it.
    """

    merge: Merge
    runs: Sequence[SightedRun]
    subject: str | None


def unchecked_merges(merges: Sequence[Merge], selection: Selection[MergeColumn]) -> Listing[Merge]:
    """List announced merges that no run checked. No run tells of which box they are."""
    return MERGES.listing(of_commit(merges, selection.where), selection)


def checked_merges(
    history: History, merges: Sequence[Merge], selection: Selection[MergeColumn]
) -> Listing[CheckedMerge]:
    """List announced merges that a run checked, each with the runs that did; of a box those that
    one of its runs checked.
    """
    listing = with_runs(merges, selection, partial(checks_of, history))
    return Listing([_checked(history, row) for row in listing.items], listing.total)


def _checked(history: History, row: MergeRuns) -> CheckedMerge:
    merge, [first, *_], subject = row
    first_run = checking_run(history, merge.repo_key, first)
    return CheckedMerge(**vars(merge), first_run=first_run, subject=subject)


def with_runs(
    merges: Sequence[Merge],
    selection: Selection[MergeColumn],
    describe: Callable[[Sequence[Merge]], Sequence[WithRuns]],
) -> Listing[WithRuns]:
    """Return the selected merges with their runs, which alone tell of which boxes a merge is."""
    where, merges = selection.where, of_commit(merges, selection.where)
    if where.box_key is None:
        listing = MERGES.listing(merges, selection)
        return Listing(describe(listing.items), listing.total)
    every = MERGES.listing(merges, replace(selection, offset=0, limit=None)).items
    rows = [row for row in describe(every) if where.has_box({run.box_key for run in row.runs})]
    return Listing(rows[selection.offset :][: selection.limit], len(rows))


def checks_of(history: History, merges: Sequence[Merge]) -> list[MergeRuns]:
    """Return each of these merges, all checked, with the runs that checked it."""
    subjects, sighted = subjects_of(history, merges), sighted_runs_of(history, merges)
    return [
        MergeRuns(
            merge,
            sorted(run for run in sighted.get(commit, ()) if checks(run.sighting, merge)),
            subjects.get(commit),
        )
        for merge in merges
        for commit in [(merge.repo_key, merge.sha)]
    ]


def of_commit(merges: Sequence[Merge], where: Where) -> Sequence[Merge]:
    """Return those of these merges that are of a branch and a commit."""
    return [merge for merge in merges if where.has_commit(merge.branch, [merge.sha])]


def shas_by_repository(merges: Iterable[Merge]) -> Mapping[str, Collection[str]]:
    """Return the commits of merges by their repository."""
    shas: dict[str, set[str]] = defaultdict(set)
    for merge in merges:
        shas[merge.repo_key].add(merge.sha)
    return shas


def sighted_runs_of(
    history: History, merges: Sequence[Merge]
) -> Mapping[tuple[str, str], Sequence[SightedRun]]:
    """Return the runs that name the commits of merges, by repository and commit."""
    return {
        (repo_key, sha): runs
        for repo_key, shas in shas_by_repository(merges).items()
        for sha, runs in history.sighted_runs(repo_key, shas).items()
    }


def subjects_of(history: History, merges: Sequence[Merge]) -> dict[tuple[str, str], str]:
    """Return first lines of commit messages, by repository and commit, where reports have them."""
    subjects = {}
    for repo_key, named in shas_by_repository(merges).items():
        shas = sorted(named)
        for sha, changes in history.first_listing(repo_key, shas).items():
            subject = next(commit.subject for commit in changes.commits if commit.sha == sha)
            if subject:
                subjects[repo_key, sha] = subject
    return subjects


def real_bugs(
    history: History, bugs: Sequence[Classified], selection: Selection[ResolvedColumn]
) -> Listing[ResolvedFailure]:
    """List resolved failures that are real firmware bugs."""
    return resolved(history, bugs, selection)


def other_failures(
    history: History, others: Sequence[Classified], selection: OtherSelection
) -> Listing[ResolvedFailure]:
    """List all other resolved failures, dismissed ones included."""
    failure_class = selection.failure_class
    rows = [row for row in others if failure_class in {None, row.failure_class}]
    return resolved(history, rows, selection)


def resolved(
    history: History, rows: Sequence[Classified], selection: Selection[ResolvedColumn]
) -> Listing[ResolvedFailure]:
    """List the selected ones of these resolved failures."""
    listing = RESOLVED.listing(_resolved_of(history, rows, selection.where), selection)
    return Listing(describe_rows(history, listing.items), listing.total)


def flakiest_tests(tests: Sequence[FlakyTest], selection: FlakySelection) -> Listing[FlakyTest]:
    """List tests with a failed attempt, highest flake rate first by default."""
    rows = [
        row
        for row in tests
        if selection.broken in {None, row.broken} and selection.flaked in {None, row.flaked}
    ]
    return FLAKIEST.listing(rows, selection)


def failures(
    history: History, scope: Scope, period: Period, selection: FailureSelection
) -> Listing[LabelledFailure]:
    """List the selected failures of a period. Of the first rows of all no others are read."""
    first = FailureSelection(offset=selection.offset, limit=selection.limit)
    end = None if selection.limit is None else selection.offset + selection.limit
    if selection != first or end is None or end > _NEWEST_MAX:
        return labelled_failures(read_failures(history, scope, period), selection)
    newest = read_newest_failures(history, scope, period, end)
    return Listing(newest.items[selection.offset :], newest.total)


def labelled_failures(
    failures: Sequence[LabelledFailure], selection: FailureSelection
) -> Listing[LabelledFailure]:
    """List the selected failures of a period, newest first by default."""
    rows = [
        row
        for row in failures
        if selection.label in {None, row.label}
        and selection.test_id in {None, row.failure.key.lane.test_id}
        and _is_of(row.failure.key, selection.where)
    ]
    return FAILURES.listing(rows, selection)


def _is_of(key: FailureKey, where: Where) -> bool:
    lane = key.lane
    return where.has_box([lane.box_key]) and where.has_commit(lane.branch, [key.sha])


def _resolved_of(
    history: History, rows: Sequence[Classified], where: Where
) -> Sequence[Classified]:
    """Return those of these rows that are shown: of a commit those with a failure on it."""
    of_lane = [row for row in rows if _is_of(row.episode.key, replace(where, sha=None))]
    if where.sha is None:
        return of_lane
    members = history.members([row.episode for row in of_lane])
    return [
        row
        for row, failures in zip(of_lane, members, strict=True)
        if any(_is_of(failure.key, where) for failure in failures)
    ]
