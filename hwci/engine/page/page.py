# SPDX-License-Identifier: Apache-2.0
"""The metrics page and each of its tables, as slices of a reading (spec, "Metrics page").

This module decides which rows are shown (which match and in which order: `tables.py`), and
describes those alone. What a row tells beyond the reading is asked of the history, which must be
the one that was read, or one of the same state.
"""

from collections.abc import Sequence
from typing import TypeVar

from hwci.engine.answers import (
    CheckedMerge,
    FlakyTest,
    LabelledFailure,
    Listing,
    Page,
    ResolvedFailure,
)
from hwci.engine.facts import Announcement
from hwci.engine.history import History
from hwci.engine.page.evidence import evidence
from hwci.engine.page.reading import Judged, Reading
from hwci.engine.page.resolved import describe, resolved_failure
from hwci.engine.page.tables import (
    FAILURES,
    FLAKIEST,
    MERGES,
    RESOLVED,
    Wanted,
    WantedFailures,
    WantedOthers,
    WantedTests,
)
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.merges import first_check
from hwci.engine.vocabulary import MergeColumn, ResolvedColumn

__all__ = [
    "checked_merges",
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

ALL_MERGES: Wanted[MergeColumn] = Wanted()
ALL_RESOLVED: Wanted[ResolvedColumn] = Wanted()
ALL_OTHERS = WantedOthers()
ALL_FLAKY = WantedTests()
ALL_FAILURES = WantedFailures()


def metrics_page(history: History, reading: Reading, rows: int = 20) -> Page:
    """Give the page: the tiles, and the first rows of each table."""
    return Page(
        tiles=reading.tiles,
        unchecked_merges=unchecked_merges(reading, 0, rows),
        real_bugs=real_bugs(history, reading, 0, rows),
        other_failures=other_failures(history, reading, 0, rows),
        flakiest_tests=flakiest_tests(reading, 0, rows),
    )


def unchecked_merges(
    reading: Reading, offset: int, limit: int, wanted: Wanted[MergeColumn] = ALL_MERGES
) -> Listing[Announcement]:
    """List announced merges that no run checked."""
    return _slice(MERGES.chosen(reading.unchecked_merges, wanted), offset, limit)


def checked_merges(
    history: History,
    reading: Reading,
    offset: int,
    limit: int,
    wanted: Wanted[MergeColumn] = ALL_MERGES,
) -> Listing[CheckedMerge]:
    """List announced merges that a run checked, each with the run that checked it first."""
    rows = _slice(MERGES.chosen(reading.checked_merges, wanted), offset, limit)
    found = [
        CheckedMerge(one, first_check(one, history.sighted_runs(one.repo_key, one.sha)))
        for one in rows.items
    ]
    return Listing(found, rows.total)


def real_bugs(
    history: History,
    reading: Reading,
    offset: int,
    limit: int,
    wanted: Wanted[ResolvedColumn] = ALL_RESOLVED,
) -> Listing[ResolvedFailure]:
    """List resolved failures that are real firmware bugs."""
    return _described(history, _slice(RESOLVED.chosen(reading.real_bugs, wanted), offset, limit))


def other_failures(
    history: History,
    reading: Reading,
    offset: int,
    limit: int,
    wanted: WantedOthers = ALL_OTHERS,
) -> Listing[ResolvedFailure]:
    """List all other resolved failures, dismissed ones included."""
    chosen = RESOLVED.chosen(wanted.among(reading.other_failures), wanted)
    return _described(history, _slice(chosen, offset, limit))


def flakiest_tests(
    reading: Reading, offset: int, limit: int, wanted: WantedTests = ALL_FLAKY
) -> Listing[FlakyTest]:
    """List tests with a failed attempt, the highest flake rate first unless asked otherwise."""
    rows = FLAKIEST.chosen(wanted.among(reading.flakiest_tests), wanted)
    return _slice(rows, offset, limit)


def labelled_failures(
    reading: Reading, offset: int, limit: int, wanted: WantedFailures = ALL_FAILURES
) -> Listing[LabelledFailure]:
    """List failures with an item in the period, the newest first unless asked otherwise."""
    rows = FAILURES.chosen(wanted.among(reading.failures), wanted)
    return _slice(rows, offset, limit)


def _described(history: History, rows: Listing[Judged]) -> Listing[ResolvedFailure]:
    classifier = Classifier(history)
    return Listing([describe(history, row.group, classifier) for row in rows.items], rows.total)


def _slice(rows: Sequence[Row], offset: int, limit: int) -> Listing[Row]:
    return Listing(rows[offset : offset + limit], len(rows))
