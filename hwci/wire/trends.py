# SPDX-License-Identifier: Apache-2.0
"""How the tiles changed against the period before (contract, "Answers beside the rules"). No figure
is computed here but differences.
"""

from collections.abc import Sequence
from typing import Literal, Self

from hwci.analysis.trends import ShareChange, Trends, share_change
from hwci.engine.page.reading import Tally, Tiles
from hwci.engine.periods import Period
from hwci.wire.base import Answer, Time
from hwci.wire.metrics import PeriodAnswer, ProductKey
from hwci.wire.queries import PeriodQuery

TileName = Literal["mergesChecked", "realFwBugs", "flakyFailures", "infraRuns"]


class CountAnswer(Answer):
    """The number of a tile, and of what it is a part, if it is a part."""

    part: int
    total: int | None


class ShareChangeAnswer(Answer):
    """How many percentage points a share changed by, and the interval that holds the true change
    with 95 %, as if each merge or run were by itself.
    """

    points: float
    low: float
    high: float

    @classmethod
    def of(cls, found: ShareChange | None) -> Self | None:
        """Make the change; None where a share is of nothing."""
        if found is None:
            return None
        return cls(points=100 * found.change, low=100 * found.low, high=100 * found.high)


class TileTrend(Answer):
    """A tile in a period and in the one before; null there where `missing` says why. `shareChange`:
    of a tile that is a share, where there is one in both.
    """

    tile: TileName
    now: CountAnswer
    before: CountAnswer | None
    change: int | None
    share_change: ShareChangeAnswer | None = None

    @classmethod
    def of(cls, tile: TileName, now: CountAnswer, before: CountAnswer | None) -> Self:
        """Make one tile."""
        change = None if before is None else now.part - before.part
        shares = [Tally(one.part, one.total) for one in (now, before) if one and one.total]
        both = share_change(*shares) if len(shares) == 2 else None  # noqa: PLR2004 - now and before
        share = ShareChangeAnswer.of(both)
        return cls(tile=tile, now=now, before=before, change=change, share_change=share)


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
        now, then = _counts(found.now), {} if found.then is None else _counts(found.then)
        return cls(
            period=PeriodAnswer.of(query.days, period),
            before=None if found.before is None else PeriodAnswer.of(query.days, found.before),
            product=ProductKey.of(query),
            tiles=[TileTrend.of(tile, count, then.get(tile)) for tile, count in now.items()],
            missing="nothing_before" if found.then is None else None,
            recorded_since=found.recorded_since,
        )


def _counts(tiles: Tiles) -> dict[TileName, CountAnswer]:
    return {
        "mergesChecked": _tally(tiles.merges_checked),
        "realFwBugs": CountAnswer(part=tiles.real_fw_bugs.real, total=None),
        "flakyFailures": CountAnswer(part=tiles.flaky_failures, total=None),
        "infraRuns": _tally(tiles.infra_runs),
    }


def _tally(tally: Tally) -> CountAnswer:
    return CountAnswer(part=tally.part, total=tally.total)
