# SPDX-License-Identifier: Apache-2.0
"""The metrics page and each of its tables, as slices of a reading (spec, "Metrics page").

This module decides which rows are shown, and describes those alone. What a row tells beyond the
reading is asked of the history, which must be the one that was read, or one of the same state.
"""

from collections.abc import Sequence
from typing import TypeVar

from hwci.engine.answers import FlakyTest, LabelledFailure, Listing, Page, ResolvedFailure
from hwci.engine.classify import Classifier
from hwci.engine.evidence import evidence
from hwci.engine.facts import Announcement
from hwci.engine.groups import Group
from hwci.engine.history import History
from hwci.engine.reading import Reading
from hwci.engine.resolved import describe, resolved_failure
from hwci.engine.vocabulary import Label

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


def metrics_page(history: History, reading: Reading, rows: int = 20) -> Page:
    """Give the page: the tiles, and the first rows of each table."""
    return Page(
        tiles=reading.tiles,
        unchecked_merges=unchecked_merges(reading, 0, rows),
        real_bugs=real_bugs(history, reading, 0, rows),
        other_failures=other_failures(history, reading, 0, rows),
        flakiest_tests=flakiest_tests(reading, 0, rows),
    )


def unchecked_merges(reading: Reading, offset: int, limit: int) -> Listing[Announcement]:
    """List announced merges that no run checked."""
    return _slice(reading.unchecked_merges, offset, limit)


def real_bugs(
    history: History, reading: Reading, offset: int, limit: int
) -> Listing[ResolvedFailure]:
    """List resolved failures that are real firmware bugs."""
    return _described(history, _slice(reading.real_bugs, offset, limit))


def other_failures(
    history: History, reading: Reading, offset: int, limit: int
) -> Listing[ResolvedFailure]:
    """List all other resolved failures, dismissed ones included."""
    return _described(history, _slice(reading.other_failures, offset, limit))


def flakiest_tests(reading: Reading, offset: int, limit: int) -> Listing[FlakyTest]:
    """List tests with a failed attempt, the highest flake rate first."""
    return _slice(reading.flakiest_tests, offset, limit)


def labelled_failures(
    reading: Reading, label: Label | None, offset: int, limit: int
) -> Listing[LabelledFailure]:
    """List every failure with an item in the period, of one label or of all."""
    rows = [row for row in reading.failures if label is None or row.label is label]
    return _slice(rows, offset, limit)


def _described(history: History, groups: Listing[Group]) -> Listing[ResolvedFailure]:
    classifier = Classifier(history)
    return Listing([describe(history, one, classifier) for one in groups.items], groups.total)


def _slice(rows: Sequence[Row], offset: int, limit: int) -> Listing[Row]:
    return Listing(rows[offset : offset + limit], len(rows))
