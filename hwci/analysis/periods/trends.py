# SPDX-License-Identifier: Apache-2.0
"""Trends: how the tiles changed against the period before (ADR 0009).

This module decides which period is the one before and whether it can be compared with. What a tile
counts is a rule (`engine/page`).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import hypot
from typing import NamedTuple

from hwci.analysis.periods.days import share
from hwci.engine.history import History, Scope
from hwci.engine.page.overview import read_tiles
from hwci.engine.page.reading import Tally, Tiles
from hwci.engine.periods import Period

_EARLIEST = datetime.min.replace(tzinfo=UTC)
_NEXT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Trends:
    """The tiles of a period and of the one before. `then` is None if that cannot be compared with:
    nothing was recorded before it began. `recorded_since`: the first run or merge of all; None if
    there is none.
    """

    before: Period | None
    now: Tiles
    then: Tiles | None
    recorded_since: datetime | None


class ShareChange(NamedTuple):
    """How much a share changed, and the interval that holds the true change with 95 %."""

    change: float
    low: float
    high: float


def share_change(now: Tally, then: Tally) -> ShareChange | None:
    """Return the change of a share, with Newcombe's interval, made of Wilson's of both; None where
    one is a share of too little for an interval.
    """
    late, early = share(*now), share(*then)
    if late is None or early is None or late.shown_interval is None or early.shown_interval is None:
        return None
    after, before = late.part / late.total, early.part / early.total
    change = after - before
    below = hypot(after - late.low, early.high - before)
    above = hypot(late.high - after, before - early.low)
    return ShareChange(change, change - below, change + above)


def period_before(period: Period) -> Period | None:
    """Return as much time up to a period, which both ends belong to. None: there is no earlier
    time.
    """
    if period.start == _EARLIEST:
        return None
    end, length = period.start - _NEXT, period.end - period.start
    return Period(end - min(length, end - _EARLIEST), end)


class Before(NamedTuple):
    """What a period is compared with. `period`: the one before, None if there is no earlier time;
    `whole`: the same if all of it was recorded, else None.
    """

    period: Period | None
    recorded_since: datetime | None
    whole: Period | None


def before_of(history: History, scope: Scope, period: Period) -> Before:
    """Return what a period is compared with.

    A period of which only the end was recorded has fewer of everything: it is not compared with.
    """
    before = period_before(period)
    recorded = history.extent(scope, Period(_EARLIEST, period.end))
    since = None if recorded is None else recorded.start
    whole = before is not None and since is not None and since <= before.start
    return Before(before, since, before if whole else None)


def trends(history: History, scope: Scope, period: Period) -> Trends:
    """Return the tiles of a period and of the period before."""
    before = before_of(history, scope, period)
    return Trends(
        before=before.period,
        now=read_tiles(history, scope, period),
        then=None if before.whole is None else read_tiles(history, scope, before.whole),
        recorded_since=before.recorded_since,
    )
