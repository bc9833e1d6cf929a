# SPDX-License-Identifier: Apache-2.0
"""Trends: how the tiles changed against the period before (ADR 0009).

This module decides which period is the one before and whether it can be compared with. What a tile
counts is a rule (`engine/page`).
"""

from datetime import UTC, datetime, timedelta
from math import hypot
from typing import NamedTuple

from hwci.analysis.certainty import ATTEMPTS_NEEDED, Tally, share_of_cases, wilson
from hwci.contract.page.metrics import Tiles
from hwci.contract.periods.trends import ShareChange, TileFigure, TileName, TileTrend, Trends
from hwci.engine.history import History, Scope
from hwci.engine.page.over_time import Dates
from hwci.engine.page.overview import read_tiles
from hwci.engine.periods import Period

_EARLIEST = datetime.min.replace(tzinfo=UTC)
_NEXT = timedelta(microseconds=1)


def share_change(now: Tally, then: Tally) -> ShareChange | None:
    """Return the change of a share, with Newcombe's interval, made of Wilson's of both; None where
    one is a share of too little for an interval.
    """
    if min(now.total, then.total) < ATTEMPTS_NEEDED:
        return None
    after, before = now.part / now.total, then.part / then.total
    (low, high), (early_low, early_high) = wilson(after, now.total), wilson(before, then.total)
    change = after - before
    below = hypot(after - low, early_high - before)
    above = hypot(high - after, before - early_low)
    return ShareChange(change=change, low=change - below, high=change + above)


def period_before(period: Period) -> Period | None:
    """Return as much time up to a period, which both ends belong to. None: there is no earlier
    time.
    """
    if period.start == _EARLIEST:
        return None
    end, length = period.start - _NEXT, period.end - period.start
    return Period(end - min(length, end - _EARLIEST), end, period.days)


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


def trends(history: History, scope: Scope, period: Period, dates: Dates | None = None) -> Trends:
    """Return the tiles of a period beside those of the period before. `dates`: those of the period,
    if they are read.
    """
    before = before_of(history, scope, period)
    now = _counts(read_tiles(history, scope, period)) if dates is None else _dated(dates)
    then = None if before.whole is None else _counts(read_tiles(history, scope, before.whole))
    return Trends(
        period=period,
        before=before.period,
        product=scope.product,
        tiles=tuple(
            _trend(tile, count, None if then is None else then[tile]) for tile, count in now.items()
        ),
        missing="nothing_before" if then is None else None,
        recorded_since=before.recorded_since,
    )


def _counts(tiles: Tiles) -> dict[TileName, int | Tally]:
    return {
        "mergesChecked": Tally(tiles.merges_checked.checked, tiles.merges_checked.announced),
        "realFwBugs": tiles.real_fw_bugs.real,
        "flakyFailures": tiles.flaky_failures.count,
        "infraRuns": Tally(tiles.infra_runs.infra, tiles.infra_runs.total),
    }


def _dated(dates: Dates) -> dict[TileName, int | Tally]:
    counts = {what: len(times) for what, times in dates.items()}
    return {
        "mergesChecked": Tally(counts["merges_checked"], counts["merges_announced"]),
        "realFwBugs": counts["real_fw_bugs"],
        "flakyFailures": counts["flaky_failures"],
        "infraRuns": Tally(counts["infra_runs"], counts["runs"]),
    }


def _trend(tile: TileName, now: int | Tally, before: int | Tally | None) -> TileTrend:
    figure, earlier = _figure(now), None if before is None else _figure(before)
    change = None
    if isinstance(now, Tally) and isinstance(before, Tally):
        change = share_change(now, before)
    return TileTrend(
        tile=tile,
        now=figure,
        before=earlier,
        change=None if earlier is None else figure.part - earlier.part,
        share_change=change,
    )


def _figure(count: int | Tally) -> TileFigure:
    if not isinstance(count, Tally):
        return TileFigure(part=count)
    share = share_of_cases(*count)
    low, high = (None, None) if share is None else (share.low, share.high)
    return TileFigure(part=count.part, total=count.total, low=low, high=high)
