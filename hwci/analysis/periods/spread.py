# SPDX-License-Identifier: Apache-2.0
"""The median and quartiles of times, some of which have not ended (Kaplan and Meier).

This module decides when there is enough data for them. It does not know what was measured.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta

from hwci.contract.periods.times_to_fix import Spread
from hwci.said import lasted

FEWEST = 6
"""Of fewer, the shortest and the longest do not hold the true median between them with 95 %."""
_LEFT = (0.75, 0.5, 0.25)
_ROUNDING = 1e-9


def spread(ended: Sequence[timedelta], lasting: Sequence[timedelta] = ()) -> Spread:
    """Return the spread of times. `lasting`: how long others have lasted that have not ended; they
    count among those that take longer, as far as they were seen.
    """
    known = len(ended)
    if known < FEWEST:
        few = "not enough data"
        return _spread(known, [None, None, None], few, f"{few} ({known} known, {FEWEST} needed)")
    quarter, median, three_quarters = times = _reached(sorted(ended), sorted(lasting))
    if quarter is None:
        longer = "more than three quarters have not ended"
        return _spread(known, times, longer, longer)
    half = "more than half have not ended" if median is None else lasted(median)
    ends = f"a quarter: up to {lasted(quarter)}"
    if median is not None and three_quarters is not None:
        ends = f"half took {lasted(quarter)} to {lasted(three_quarters)}"
    return _spread(known, times, half, f"{half} ({ends})")


def _spread(known: int, times: Iterable[timedelta | None], half: str, says: str) -> Spread:
    quarter, median, three_quarters = (
        None if time is None else time.total_seconds() for time in times
    )
    return Spread(
        known=known,
        quarter_s=quarter,
        median_s=median,
        three_quarters_s=three_quarters,
        missing="few" if known < FEWEST else None,
        half=half,
        says=says,
    )


def _reached(ended: Sequence[timedelta], lasting: Sequence[timedelta]) -> list[timedelta | None]:
    """Return when no more than each of `_LEFT` had not ended."""
    times: list[timedelta | None] = []
    left, gone = 1.0, 0
    total = len(ended) + len(lasting)
    for at, time in enumerate(ended):
        while gone < len(lasting) and lasting[gone] < time:
            gone += 1
        left *= 1 - 1 / (total - at - gone)
        while len(times) < len(_LEFT) and left <= _LEFT[len(times)] + _ROUNDING:
            times.append(time)
    return [*times, *[None] * (len(_LEFT) - len(times))]
