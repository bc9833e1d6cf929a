# SPDX-License-Identifier: Apache-2.0
"""The figures that a peer must give, too: those of a metrics page, all but the classes of failures;
the newest failures; and how often a test was tried on each box.

This module decides what is compared. The first rows of a table can be cut between failures of one
instant, whose order is that of our ids: of these none is compared.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeVar

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(text: str) -> int:
    """Return microseconds since 1970 of a time as it is written."""
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)


class Resolved(NamedTuple):
    """A resolved failure. `commits`: how many failed in it."""

    started_at: int
    suite: str
    test_id: str
    box_key: str
    branch: str
    commits: int


class Labelled(NamedTuple):
    """A failure of the list of failures. `items`: its failing test items."""

    started_at: int
    suite: str
    test_id: str
    box_key: str
    branch: str
    label: str
    items: int


class Tried(NamedTuple):
    """How often a test was tried on a box, and how often it failed, retries included."""

    box_key: str
    attempts: int
    failed_attempts: int


class Flaky(NamedTuple):
    """A row of "Flakiest tests"."""

    suite: str
    test_id: str
    boxes: int
    run_reports: int
    attempts: int
    failed_attempts: int
    retry_passes: int
    flaky_failures: int
    flake_rate: float


@dataclass(frozen=True)
class Figures:
    """The tiles, and the first rows of each table, those of resolved failures in one."""

    checked: int
    announced: int
    infra: int
    reports: int
    resolved: int
    flaky_failures: int
    unchecked: tuple[str, ...]
    newest: tuple[Resolved, ...]
    flakiest: tuple[Flaky, ...]

    @classmethod
    def of_page(cls, page: Mapping[str, Any], rows: int) -> "Figures":
        """Read our own answer."""
        tiles = page["tiles"]
        return cls(
            checked=tiles["mergesChecked"]["checked"],
            announced=tiles["mergesChecked"]["announced"],
            infra=tiles["infraRuns"]["infra"],
            reports=tiles["infraRuns"]["total"],
            resolved=sum(tiles["realFwBugs"].values()),
            flaky_failures=tiles["flakyFailures"]["count"],
            unchecked=tuple(row["sha"] for row in page["uncheckedMerges"]["items"]),
            newest=newest(
                (
                    _resolved(row)
                    for table in ("realBugs", "otherFailures")
                    for row in page[table]["items"]
                ),
                rows,
            ),
            flakiest=tuple(_flaky(row) for row in page["flakiestTests"]["items"]),
        )


def failures_of(answer: Mapping[str, Any], rows: int) -> tuple[Labelled, ...]:
    """Read our own list of failures."""
    return newest((_labelled(row) for row in answer["items"]), rows)


def tries_of(answer: Mapping[str, Any]) -> tuple[Tried, ...]:
    """Read our own answer about a test."""
    return tuple(
        sorted(
            Tried(box["boxKey"], box["attempts"], box["failedAttempts"]) for box in answer["boxes"]
        )
    )


class _Started(Protocol):
    @property
    def started_at(self) -> int: ...


Row = TypeVar("Row", bound=_Started)


def newest(rows_of_table: Iterable[Row], rows: int) -> tuple[Row, ...]:
    """Return the newest of the rows, without those of the last instant if more may have it."""
    newest_first = sorted(rows_of_table, key=lambda row: (-row.started_at, row))
    if len(newest_first) < rows:
        return tuple(newest_first)
    last = newest_first[rows - 1].started_at
    return tuple(row for row in newest_first if row.started_at > last)


def _resolved(row: Mapping[str, Any]) -> Resolved:
    return Resolved(
        micros(row["firstFailure"]["startedAt"]),
        row["suite"],
        row["testId"],
        row["boxKey"],
        row["branch"],
        row["failingCommits"],
    )


def _labelled(row: Mapping[str, Any]) -> Labelled:
    return Labelled(
        micros(row["firstStartedAt"]),
        row["suite"],
        row["testId"],
        row["boxKey"],
        row["branch"],
        row["label"],
        row["items"],
    )


def _flaky(row: Mapping[str, Any]) -> Flaky:
    return Flaky(
        row["suite"],
        row["testId"],
        row["boxes"],
        row["runReports"],
        row["attempts"],
        row["failedAttempts"],
        row["retryPasses"],
        row["flakyFailures"],
        row["flakeRate"],
    )
