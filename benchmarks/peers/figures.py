# SPDX-License-Identifier: Apache-2.0
"""The figures of a metrics page that a peer must give, too: all but the classes of failures.

This module decides what is compared. The first rows of a table can be cut between failures of one
instant, whose order is that of our ids: of these none is compared.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

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


def newest(found: Iterable[Resolved], rows: int) -> tuple[Resolved, ...]:
    """Return the newest of the rows, without those of the last instant if more may have it."""
    newest_first = sorted(found, key=lambda row: (-row.started_at, row))
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
