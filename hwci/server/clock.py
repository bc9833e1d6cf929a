# SPDX-License-Identifier: Apache-2.0
"""The only place where the server reads the time, and where it is judged whether the clock may be
wrong. Services get a `Clock`.
"""

import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

LOG = logging.getLogger("hwci.server")

EVEN_FOR = timedelta(hours=1)
"""What is too old is deleted once the clock has run evenly for this time."""
_JUMP = timedelta(minutes=1)

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the present time, aware, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - this is the place


def counted_seconds() -> float:
    """Return the seconds of a counter that nobody sets. It counts on while the machine sleeps,
    where the system has one that does (Linux): else each waking would look like a jump.
    """
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class Evenness:
    """Tells whether a clock has run evenly for a while, which it must before anything is deleted by
    it. It is compared with the seconds of a counter that nobody sets. A clock may be wrong when the
    server starts, too: a machine without a battery learns the time later.
    """

    def __init__(self, clock: Clock, counter: Callable[[], float] = counted_seconds) -> None:
        self._clock = clock
        self._counter = counter
        self._begun = self._looked = counter()
        self._shown = clock()

    def look(self) -> datetime | None:
        """Return the time if the clock has run evenly for `EVEN_FOR`. Log a jump, once."""
        shown, counted = self._clock(), self._counter()
        jump = shown - self._shown - timedelta(seconds=counted - self._looked)
        self._shown, self._looked = shown, counted
        if abs(jump) > _JUMP:
            self._begun = counted
            LOG.warning(
                "The clock of this machine jumped by %.0f seconds to %s: nothing old is deleted"
                " until it has run evenly for %s hours; look at it if that is not the time",
                *(jump.total_seconds(), f"{shown:%Y-%m-%d %H:%M:%S} UTC"),
                f"{EVEN_FOR.total_seconds() / 3600:g}",
            )
        return shown if timedelta(seconds=counted - self._begun) >= EVEN_FOR else None
