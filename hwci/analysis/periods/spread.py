# SPDX-License-Identifier: Apache-2.0
"""The median and quartiles of times, some of which have not ended (Kaplan and Meier).

This module decides when there is enough data for them. It does not know what was measured.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from hwci.said import lasted

FEWEST = 6
"""Of fewer, the shortest and the longest do not hold the true median between them with 95 %."""
_LEFT = (0.75, 0.5, 0.25)
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Spread:
    """How long it took, of `known` times that ended. Each of the three is a time within which a
    quarter, half or three quarters of all ended; None if too few are known, or if so many have not
    ended yet.
    """

    known: int
    quarter: timedelta | None = None
    median: timedelta | None = None
    three_quarters: timedelta | None = None

    @property
    def is_enough(self) -> bool:
        """Whether as many are known as a median needs."""
        return self.known >= FEWEST

    @property
    def half(self) -> str:
        """Within which time half of all ended, in words."""
        if not self.is_enough:
            return "not enough data"
        if self.quarter is None:
            return "more than three quarters have not ended"
        return "more than half have not ended" if self.median is None else lasted(self.median)

    @property
    def says(self) -> str:
        """The spread in words."""
        if not self.is_enough:
            return f"{self.half} ({self.known} known, {FEWEST} needed)"
        if self.quarter is None:
            return self.half
        if self.median is None or self.three_quarters is None:
            return f"{self.half} (a quarter: up to {lasted(self.quarter)})"
        return f"{self.half} (half took {lasted(self.quarter)} to {lasted(self.three_quarters)})"


def spread(ended: Sequence[timedelta], lasting: Sequence[timedelta] = ()) -> Spread:
    """Return the spread of times. `lasting`: how long others have lasted that have not ended; they
    count among those that take longer, as far as they were seen.
    """
    if len(ended) < FEWEST:
        return Spread(len(ended))
    return Spread(len(ended), *_reached(sorted(ended), sorted(lasting)))


def _reached(ended: Sequence[timedelta], lasting: Sequence[timedelta]) -> list[timedelta | None]:
    """Return when no more than each of `_LEFT` had not ended."""
    found: list[timedelta | None] = []
    left, gone = 1.0, 0
    total = len(ended) + len(lasting)
    for at, time in enumerate(ended):
        while gone < len(lasting) and lasting[gone] < time:
            gone += 1
        left *= 1 - 1 / (total - at - gone)
        while len(found) < len(_LEFT) and left <= _LEFT[len(found)] + _ROUNDING:
            found.append(time)
    return [*found, *[None] * (len(_LEFT) - len(found))]
