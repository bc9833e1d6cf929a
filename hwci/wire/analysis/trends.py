# SPDX-License-Identifier: Apache-2.0
"""How the tiles changed against the period before (contract, "Answers beside the rules"). No figure
is computed here but differences.
"""

from collections.abc import Sequence
from typing import Literal, Self

from hwci.analysis.periods.days import share
from hwci.analysis.periods.trends import ShareChange, Trends, share_change
from hwci.engine.page.reading import Tally, Tiles
from hwci.engine.periods import Period
from hwci.wire.base import Answer, Time
from hwci.wire.metrics import PeriodAnswer, ProductKey
from hwci.wire.queries import PeriodQuery

TileName = Literal["mergesChecked", "realFwBugs", "flakyFailures", "infraRuns"]


class CountAnswer(Answer):
    """The number of a tile, and of what it is a part, if it is a part. `low` and `high`: the
    interval in percent that holds the true share with 95 % (Wilson); null of no share, or of too
    little for an interval.
    """

    part: int
    total: int | None
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, figure: int | Tally) -> Self:
        """Make the number."""
        if not isinstance(figure, Tally):
            return cls(part=figure, total=None)
        part, total = figure
        found = share(part, total)
        if found is None or found.shown_interval is None:
            return cls(part=part, total=total)
        low, high = found.shown_interval
        return cls(part=part, total=total, low=100 * low, high=100 * high)


class ShareChangeAnswer(Answer):
    """How many percentage points a share changed by, and the interval that holds the true change
    with 95 %: of merges and runs as if each were by itself.
    """

    points: float
    low: float
    high: float

    @classmethod
    def of(cls, found: ShareChange) -> Self:
        """Make the change."""
        return cls(points=100 * found.change, low=100 * found.low, high=100 * found.high)


class TileTrend(Answer):
    """A tile in a period and in the one before; null there where `missing` says why. `shareChange`:
    of a tile that is a share, where there is enough for its interval in both.
    """

    tile: TileName
    now: CountAnswer
    before: CountAnswer | None
    change: int | None
    share_change: ShareChangeAnswer | None = None

    @classmethod
    def of(cls, tile: TileName, now: int | Tally, before: int | Tally | None) -> Self:
        """Make one tile."""
        count, then = CountAnswer.of(now), None if before is None else CountAnswer.of(before)
        changed = None
        if isinstance(now, Tally) and isinstance(before, Tally):
            changed = share_change(now, before)
        return cls(
            tile=tile,
            now=count,
            before=then,
            change=None if then is None else count.part - then.part,
            share_change=None if changed is None else ShareChangeAnswer.of(changed),
        )


class TrendsAnswer(Answer):
    """The tiles of a period beside those of as many days before it. `before` is null where there
    are no earlier days. `missing`: nothing was recorded before that period began, so that there is
    nothing to compare with. `recorded_since`: the first run or merge.
    """

    period: PeriodAnswer
    before: PeriodAnswer | None
    product: ProductKey | None
    tiles: Sequence[TileTrend]
    missing: Literal["nothing_before"] | None
    recorded_since: Time | None

    @classmethod
    def of(cls, found: Trends, query: PeriodQuery, period: Period) -> Self:
        """Make the trends that were asked for. `period`: the days of `query`."""
        now, then = _figures(found.now), {} if found.then is None else _figures(found.then)
        return cls(
            period=PeriodAnswer.of(query.days, period),
            before=None if found.before is None else PeriodAnswer.of(query.days, found.before),
            product=ProductKey.of(query),
            tiles=[TileTrend.of(tile, figure, then.get(tile)) for tile, figure in now.items()],
            missing="nothing_before" if found.then is None else None,
            recorded_since=found.recorded_since,
        )


def _figures(tiles: Tiles) -> dict[TileName, int | Tally]:
    return {
        "mergesChecked": tiles.merges_checked,
        "realFwBugs": tiles.real_fw_bugs.real,
        "flakyFailures": tiles.flaky_failures,
        "infraRuns": tiles.infra_runs,
    }
