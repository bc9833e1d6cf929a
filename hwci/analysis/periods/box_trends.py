# SPDX-License-Identifier: Apache-2.0
"""How the shares of each product and box changed against the period before (ADR 0074).

This module decides which rows there are, when there is enough data for a change, and how it is
said. What is counted is in `benches/shares.py`. It does not know why a share changed: a box may
have run other tests than before.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hwci.analysis.benches.shares import Tallies, tallies, together
from hwci.analysis.certainty import ATTEMPTS_NEEDED
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns, RunOutcomes
from hwci.analysis.periods.trends import ShareChange, before_of, share_change
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.engine.page.reading import Tally
from hwci.engine.periods import Period


@dataclass(frozen=True, slots=True)
class ShareTrend:
    """A share of a period and of the one before; None: that was not all recorded. `is_enough`: each
    has as many runs as a change needs. `by_run`: a share of runs, whose change has an interval.
    Results of one run fail together, so that an interval by their number would be far too narrow.
    """

    now: Tally
    before: Tally | None
    is_enough: bool
    by_run: bool

    @property
    def change(self) -> float | None:
        """How much the share changed; None: not enough data."""
        if self.before is None or not self.is_enough or not self.now.total or not self.before.total:
            return None
        return self.now.part / self.now.total - self.before.part / self.before.total

    @property
    def within(self) -> ShareChange | None:
        """The change of a share of runs, with its interval."""
        if not self.by_run or self.before is None or self.change is None:
            return None
        return share_change(self.now, self.before)

    @property
    def says(self) -> str:
        """The change, the share, and that of before in words."""
        if self.before is None:
            return _written(self.now)
        if self.change is None:
            return f"{_written(self.now)}, before: not enough data"
        points = f"{_points(self.change)} points"
        if self.within is not None:
            low, high = _points(self.within.low), _points(self.within.high)
            points = f"{points} (95 % sure: {low} to {high})"
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
        """Runs that reached the hardware."""
        return self._trend(lambda one: one.reached, lambda one: one.reached.total, by_run=True)

    @property
    def blamed(self) -> ShareTrend:
        """Results that failed, and whose harness blamed the bench."""
        return self._trend(lambda one: one.blamed, lambda one: one.reached.part, by_run=False)

    @property
    def flaky(self) -> ShareTrend:
        """Failed attempts, of all."""
        return self._trend(lambda one: one.flaky, lambda one: one.reached.part, by_run=False)

    def _trend(
        self, share: Callable[[Tallies], Tally], runs: Callable[[Tallies], int], *, by_run: bool
    ) -> ShareTrend:
        both = [one for one in (self.now, self.before) if one is not None]
        return ShareTrend(
            now=share(self.now),
            before=None if self.before is None else share(self.before),
            is_enough=min(map(runs, both)) >= ATTEMPTS_NEEDED,
            by_run=by_run,
        )


def box_trends(history: RecordedRuns, scope: Scope, days: int, period: Period) -> list[BoxTrend]:
    """Return the shares of each product with a run in a period, which are the last `days`, then of
    its boxes, those with most runs first. A product with one box has the row of that alone.
    """
    before = before_of(history, scope, days, period).whole
    start = period.start if before is None else before.start
    found: list[BoxTrend] = []
    for one in history.outcomes(scope, Period(start, period.end)):
        history.check_time()
        found += _of_product(one, period, before is not None)
    return found


def _of_product(found: ProductOutcomes, period: Period, compared: bool) -> Iterator[BoxTrend]:
    now = _by_box(run for run in found.runs if run.started_at >= period.start)
    then = _by_box(run for run in found.runs if run.started_at < period.start)
    if not now:
        return
    none = together([])
    if len({*now, *then}) > 1:
        of_all = [together(some.values()) for some in (now, then)]
        yield BoxTrend(found.product, None, of_all[0], of_all[1] if compared else None)
    for box in sorted(now, key=lambda box: (-now[box].reached.total, box)):
        yield BoxTrend(found.product, box, now[box], then.get(box, none) if compared else None)


def _by_box(runs: Iterator[RunOutcomes]) -> Mapping[str, Tallies]:
    by_box: dict[str, list[RunOutcomes]] = defaultdict(list)
    for run in runs:
        by_box[run.box_key].append(run)
    return {box: tallies(some) for box, some in by_box.items()}


def _written(tally: Tally) -> str:
    part, total = tally
    return f"{100 * part / total:.1f} % ({part:,} of {total:,})" if total else "none"


def _points(change: float) -> str:
    points = round(100 * change, 1)
    return f"{points:+.1f}" if points else "0.0"
