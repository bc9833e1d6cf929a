# SPDX-License-Identifier: Apache-2.0
"""How the shares of each product and box changed against the period before (ADR 0074).

This module decides which rows there are, when there is enough data for a change, and how it is
said. What is counted is in `benches/shares.py`, how sure that is in `benches/by_parts.py`. It does
not know why a share changed: a box may have run other tests than before.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hwci.analysis.benches.by_parts import SureShare, sure_shares
from hwci.analysis.benches.shares import Tallies, tallies, together
from hwci.analysis.certainty import ATTEMPTS_NEEDED
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.analysis.periods.days import share
from hwci.analysis.periods.trends import ShareChange, before_of, change_between
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.engine.page.reading import Tally
from hwci.engine.periods import Period
from hwci.said import signed, tenths


@dataclass(frozen=True, slots=True)
class ShareTrend:
    """A share of a period and of the one before; None: that was not all recorded."""

    now: SureShare
    before: SureShare | None

    @property
    def change(self) -> ShareChange | None:
        """How much the share changed, with the interval; None: not enough data."""
        if self.before is None or self.now.within is None or self.before.within is None:
            return None
        return change_between(
            self.now.share, self.now.within, self.before.share, self.before.within
        )

    @property
    def says(self) -> str:
        """The change, the share, and that of before in words."""
        if self.before is None:
            return _written(self.now, is_sure=True)
        if self.change is None:
            return f"{_written(self.now)}, before: not enough data"
        change, low, high = (signed(100 * one) for one in self.change)
        points = f"{change} points (95 % sure: {low} to {high})"
        return f"{points}: {_written(self.now)}, before {_written(self.before)}"


class BoxTrend(NamedTuple):
    """What a product did on one of its boxes; on all where `box_key` is None. Its shares are made
    when asked for: of many boxes few are shown.
    """

    product: Product
    box_key: str | None
    now: Tallies
    before: Tallies | None

    @property
    def reached(self) -> ShareTrend:
        """Runs that reached the hardware, each by itself as in the tile (`periods/trends.py`)."""
        counted = [one.reached for one in self._both]
        return self._trend([*map(_of_runs, counted)], [one.total for one in counted])

    @property
    def blamed(self) -> ShareTrend:
        """Results that failed, and whose harness blamed the bench."""
        return self._of_results(sure_shares(*(one.blamed for one in self._both)))

    @property
    def flaky(self) -> ShareTrend:
        """Failed attempts, of all."""
        return self._of_results(sure_shares(*(one.flaky for one in self._both)))

    @property
    def _both(self) -> list[Tallies]:
        return [self.now] if self.before is None else [self.now, self.before]

    def _of_results(self, shares: Sequence[SureShare]) -> ShareTrend:
        return self._trend(shares, [one.reached.part for one in self._both])

    @staticmethod
    def _trend(shares: Sequence[SureShare], runs: Sequence[int]) -> ShareTrend:
        """Leave out the intervals of too few runs."""
        now, *before = (
            one if number >= ATTEMPTS_NEEDED else one._replace(within=None)
            for one, number in zip(shares, runs, strict=True)
        )
        return ShareTrend(now, before[0] if before else None)


def box_trends(history: RecordedRuns, scope: Scope, period: Period) -> list[BoxTrend]:
    """Return the shares of each product with a run in a period, then of its boxes, those with
    most runs first. A product with one box has the row of that alone.
    """
    before = before_of(history, scope, period).whole
    start = period.start if before is None else before.start
    found: list[BoxTrend] = []
    for one in history.outcomes(scope, Period(start, period.end)):
        history.check_time()
        found += _of_product(one, period, before)
    return found


def _of_product(
    found: ProductOutcomes, period: Period, before: Period | None
) -> Iterator[BoxTrend]:
    now = _by_box([run for run in found.runs if run.started_at >= period.start])
    then = None
    if before is not None:
        then = _by_box([run for run in found.runs if run.started_at < period.start])
    if not now:
        return
    if len({*now, *(then or ())}) > 1:
        was = None if then is None else together(then.values())
        yield BoxTrend(found.product, None, together(now.values()), was)
    none = together([])
    for box in sorted(now, key=lambda box: (-now[box].reached.total, box)):
        yield BoxTrend(found.product, box, now[box], None if then is None else then.get(box, none))


def _by_box(runs: Sequence[RunOutcomes]) -> Mapping[str, Tallies]:
    """Count the runs of a period, which are in the order of their starts, on each box."""
    if not runs:
        return {}
    ran = Period(runs[0].started_at, runs[-1].started_at)
    by_box: dict[str, list[RunOutcomes]] = defaultdict(list)
    for run in runs:
        by_box[run.box_key].append(run)
    return {box: tallies(some, ran) for box, some in by_box.items()}


def _of_runs(counted: Tally) -> SureShare:
    found = share(*counted)
    return SureShare(*counted, None if found is None else (found.low, found.high))


def _written(one: SureShare, *, is_sure: bool = False) -> str:
    if not one.total:
        return "none"
    counts = f"{one.part:,} of {one.total:,}"
    if is_sure and one.within is not None:
        low, high = (tenths(100 * end) for end in one.within)
        counts = f"{counts}; 95 % sure: {low} to {high} %"
    return f"{tenths(100 * one.share)} % ({counts})"
