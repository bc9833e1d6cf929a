# SPDX-License-Identifier: Apache-2.0
"""Trends: how the tiles changed against the period before (ADR 0074).

This module decides which period is the one before and whether it can be compared with. What a tile
counts is a rule (`engine/page`).
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hwci.engine.history import History, Scope
from hwci.engine.page.overview import read_tiles
from hwci.engine.page.reading import Tiles
from hwci.engine.periods import Period, last_days

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


def period_before(days: int, period: Period) -> Period | None:
    """Return the same number of days up to a period, which both ends belong to. None: there are no
    earlier days.
    """
    return None if period.start == _EARLIEST else last_days(days, period.start - _NEXT)


def trends(history: History, scope: Scope, days: int, period: Period) -> Trends:
    """Return the tiles of a period, which are the last `days`, beside those of the period before.

    A period of which only the end was recorded has fewer of everything: it is not compared with.
    """
    before = period_before(days, period)
    recorded = history.extent(scope, Period(_EARLIEST, period.end))
    since = None if recorded is None else recorded.start
    whole = before is not None and since is not None and since <= before.start
    return Trends(
        before=before,
        now=read_tiles(history, scope, period),
        then=read_tiles(history, scope, before) if whole and before is not None else None,
        recorded_since=since,
    )
