# SPDX-License-Identifier: Apache-2.0
"""How the tiles changed against the period before (contract, "Answers beside the rules")."""

from datetime import datetime
from typing import Literal

from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import shape

TileName = Literal["mergesChecked", "realFwBugs", "flakyFailures", "infraRuns"]


@shape
class TileFigure:
    """The number of a tile. `total`: of what it is a part, null if it is a plain count; `low` and
    `high`: the interval of Wilson that holds the true share with 95 %, between 0 and 1, null of no
    share or of too little for an interval.
    """

    part: int
    total: int | None = None
    low: float | None = None
    high: float | None = None


@shape
class ShareChange:
    """How much a share changed, between -1 and 1, and the interval of Newcombe that holds the true
    change with 95 %: of merges and runs as if each were by itself.
    """

    change: float
    low: float
    high: float


@shape
class TileTrend:
    """A tile in a period and in the one before; null there where `missing` says why. `shareChange`:
    of a tile that is a share, where there is enough for its interval in both.
    """

    tile: TileName | str
    now: TileFigure
    before: TileFigure | None
    change: int | None
    share_change: ShareChange | None = None


@shape
class Trends:
    """The tiles of a period beside those of as many days before it. `before`: null where there are
    no earlier days. `missing`: nothing was recorded before that period began, so that there is
    nothing to compare with. `recordedSince`: the first run or merge; null if there is none.
    """

    period: PeriodOfDays
    before: PeriodOfDays | None
    product: ProductKey | None
    tiles: tuple[TileTrend, ...]
    missing: Literal["nothing_before"] | None
    recorded_since: datetime | None
