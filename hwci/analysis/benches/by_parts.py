# SPDX-License-Identifier: Apache-2.0
"""How sure a share of results is (ADR 0010). Results of one run fail together, and a bug fails them
in run after run. Taken for independent, they would make an interval far too narrow.

This module decides how much wider it is, by how much the share differs between parts of the period,
and knows neither what was counted nor why it differs.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from hwci.analysis.certainty import Tally, share, wilson
from hwci.contract.shares import Share
from hwci.engine.periods import Period

PARTS = 7
"""The time from the first to the last run of a period is cut into so many equal parts. In more of
them, a bug that lasts is in several parts and counts as several; fewer say less of how much the
share differs.
"""
_DEVIATIONS = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447),
    *(2.365, 2.306, 2.262, 2.228, 2.201, 2.179),
)
"""Student's t: by degrees of freedom, from 1 to those of two shares."""

Parts = Mapping[int, Tally]
"""What was counted in each part that has something."""


def part_of(at: datetime, ran: Period) -> int:
    """Return the number of the part that has an instant. `ran`: from the first to the last run."""
    if ran.start == ran.end:
        return 0
    return min(PARTS - 1, int(PARTS * ((at - ran.start) / (ran.end - ran.start))))


def whole(parts: Parts) -> Tally:
    """Add up the parts."""
    return Tally(
        sum(part.part for part in parts.values()), sum(part.total for part in parts.values())
    )


def added(some: Iterable[Parts]) -> Parts:
    """Add up what was counted by several in each part of the same time."""
    totals: dict[int, Tally] = {}
    for parts in some:
        for number, (part, total) in parts.items():
            before = totals.get(number, Tally(0, 0))
            totals[number] = Tally(before.part + part, before.total + total)
    return totals


def sure_shares(*counted: Parts) -> list[Share]:
    """Return each of these shares with its interval, which is that of Wilson for so many fewer
    results as they differ more between parts than independent ones would.

    How much more is asked of all of these shares together: one in which nothing failed does not
    tell it.
    """
    scatter = expected = 0.0
    freedom = parts = 0
    for by_part in counted:
        part, total = whole(by_part)
        if total:
            rate = part / total
            scatter += sum((tally.part - rate * tally.total) ** 2 for tally in by_part.values())
            expected += total * rate * (1 - rate)
            parts += len(by_part)
            freedom += len(by_part) - 1
    fewer = max(1.0, scatter * parts / freedom / expected) if freedom and expected else 1.0
    return [_sure(whole(by_part), fewer, freedom) for by_part in counted]


def _sure(counted: Tally, fewer: float, freedom: int) -> Share:
    part, total = counted
    if total == 0 or freedom == 0:
        return share(part, total, None)
    return share(part, total, wilson(part / total, total / fewer, _DEVIATIONS[freedom - 1]))
