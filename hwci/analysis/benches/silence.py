# SPDX-License-Identifier: Apache-2.0
"""How long a box was silent: it had no run for longer than is usual for it (semantics, 12).

This module decides which gaps between runs are longer than usual, and says it in words. It does not
know why nothing ran, but shows whether other boxes ran meanwhile. It does not know heartbeats.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from hwci.said import counted, day, lasted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from hwci.analysis.benches.trials import Trials
    from hwci.engine.periods import Period

WEEK = timedelta(days=7)
WEEKS_NEEDED = 3
"""So many weeks with a gap tell what is usual: of three, one that was bad does not decide."""
LONGER = 2
"""A gap is longer than usual if it is so many times the longest gap of a usual week. A long weekend
is not twice a weekend; four working days without a run are.
"""


class Gap(NamedTuple):
    """A time without a run of the box. `end` None: it lasts at the end of the period. `others`: how
    many runs of its products began on other boxes meanwhile; None: no other box ran them.
    """

    start: datetime
    end: datetime | None
    length: timedelta
    others: int | None


@dataclass(frozen=True, slots=True)
class Silence:
    """The silence of a box in a period. `now`: since its last run ended. `usual`: the longest gap
    of a usual week; None: there are too few weeks, `weeks`, to tell. `longer`: the gaps that were
    longer than usual, the latest first.
    """

    last_end: datetime
    now: timedelta
    weeks: int
    usual: timedelta | None
    longer: Sequence[Gap]

    @property
    def total(self) -> timedelta:
        """How long all these gaps were together."""
        return sum((one.length for one in self.longer), timedelta())

    @property
    def says(self) -> str:
        """The silence in a sentence."""
        if self.usual is None:
            weeks = counted(self.weeks, "week")
            return (
                f"no run for {lasted(self.now)}; not enough data to say what is usual: {weeks} with"
                f" a gap between runs, {WEEKS_NEEDED} are needed"
            )
        usual = f"in a usual week its longest gap is {lasted(self.usual)}"
        if not self.longer:
            return f"no gap that is longer than usual; {usual}"
        last, *earlier = self.longer
        said = f"silent for {lasted(last.length)} now"
        if last.end is not None:
            said = f"was silent for {lasted(last.length)} until {day(last.end)}"
        more = ""
        if earlier:
            length = sum((one.length for one in earlier), timedelta())
            more = f"; before that {counted(len(earlier), 'time')}, {lasted(length)} in all"
        return f"{said}{_meanwhile(last)}{more}; {usual}"


def _meanwhile(gap: Gap) -> str:
    if gap.others is None:
        return ""
    if not gap.others:
        return ", while no other box ran its tests"
    return f", while other boxes ran its tests {counted(gap.others, 'time')}"


def silence_of(places: Sequence[tuple[Trials, int]], period: Period) -> Silence:
    """Return how long the box of these runs was silent."""
    runs = [product.found.runs[number] for product, number in places]
    gaps, last_end = _gaps(sorted((run.started_at, run.ended_at) for run in runs))
    now = max(period.end - last_end, timedelta())
    usual, weeks = _usual(gaps, period)
    shared = [one for one in {id(of): of for of, _ in places}.values() if one.is_shared]
    every = [*gaps, (last_end, last_end + now)]
    longer = [
        Gap(
            start=start,
            end=None if number == len(gaps) else end,
            length=end - start,
            others=sum(one.runs_between(start, end) for one in shared) if shared else None,
        )
        for number, (start, end) in enumerate(every)
        if usual is not None and end - start > LONGER * usual
    ]
    return Silence(last_end, now, weeks, usual, longer[::-1])


def _gaps(
    spans: Sequence[tuple[datetime, datetime]],
) -> tuple[list[tuple[datetime, datetime]], datetime]:
    """Return the times between runs, and when the last of them ended. Runs may overlap."""
    ends = [spans[0][1]]
    for _, end in spans[1:]:
        ends.append(max(ends[-1], end))
    between = [(end, after) for end, (after, _) in zip(ends, spans[1:], strict=False)]
    return [(start, end) for start, end in between if end > start], ends[-1]


def _usual(
    gaps: Sequence[tuple[datetime, datetime]], period: Period
) -> tuple[timedelta | None, int]:
    """Return the middle of the longest gaps of the weeks, counted back from the end of the period,
    and how many weeks have a gap. The first is None if these are too few.
    """
    longest: dict[int, timedelta] = defaultdict(timedelta)
    for start, end in gaps:
        week = (period.end - start) // WEEK
        if (week + 1) * WEEK <= period.end - period.start:
            longest[week] = max(longest[week], end - start)
    if len(longest) < WEEKS_NEEDED:
        return None, len(longest)
    middle = median(one.total_seconds() for one in longest.values())
    return timedelta(seconds=middle), len(longest)
