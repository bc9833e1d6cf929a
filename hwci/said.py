# SPDX-License-Identifier: Apache-2.0
"""How numbers, counts, names, commits, chances, sizes, durations and days are written for people.
The dashboard writes all but sizes and days the same way.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

_SHOWN = 12
"""Digits of a commit."""
_SHORTEST = 8
"""Digits of a commit in a line that is short."""
_LONG = timedelta(days=2)
"""From here on a time is said in days."""
_WHOLE, _TENTH = Decimal(1), Decimal("0.1")


def counted(number: int, noun: str) -> str:
    """Write `1 run`, `2 runs`."""
    return f"{number:,} {noun if number == 1 else f'{noun}s'}"


def joined(names: Sequence[str]) -> str:
    """Write `A`, `A and B`, `A, B and C`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def short(sha: str) -> str:
    """Abbreviate a commit; what a program reads carries it whole."""
    return sha[:_SHOWN]


def shortest(sha: str) -> str:
    """Abbreviate a commit for a line that is short."""
    return sha[:_SHORTEST]


def day(at: datetime) -> str:
    """Write `24 Nov`."""
    return f"{at.day} {at:%b}"


def tenths(number: float) -> Decimal:
    """Return a number with one digit after the point; 81.25 is 81.3, as people round."""
    return _rounded(number, _TENTH)


def signed(number: float) -> str:
    """Write a difference with one digit after the point: `+0.3`, `-1.2`, `0.0`."""
    text = tenths(number)
    return f"{text:+}" if text else "0.0"


def percent(chance: float) -> str:
    """Write a chance as people say it; only what is certain is 0 or 100 %."""
    text = f"{_rounded(100 * chance, _WHOLE)} %"
    if chance > 0 and text == "0 %":
        return "under 1 %"
    return "over 99 %" if chance < 1 and text == "100 %" else text


def mebibytes(size: int) -> str:
    """Write a number of bytes: `1,024.0 MiB`."""
    return f"{tenths(size / 2**20):,} MiB"


def lasted(time: timedelta) -> str:
    """Write a time as exact as people need it: `12 min`, `2 h 5 min`, `3.2 days`."""
    if time >= _LONG:
        return f"{tenths(time / timedelta(days=1)):,} days"
    hours, minutes = divmod(int(_rounded(time / timedelta(minutes=1), _WHOLE)), 60)
    parts = [f"{hours} h"] * (hours > 0) + [f"{minutes} min"] * (minutes > 0 or hours == 0)
    return " ".join(parts)


def _rounded(number: float, to: Decimal) -> Decimal:
    return Decimal(str(number)).quantize(to, ROUND_HALF_UP)
