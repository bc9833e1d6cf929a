# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.support.moved SECONDS demo …` is `hwci demo …` whose clocks, that of the command
line and that of its server, are so many seconds ahead of the machine's; passwords are light.

Tests see the demonstration at `INSTANT`, whatever the day and the hour at which they run, so that
what they compare, count and weigh is the same. `tests/clocks.py` names other instants (DEMO_AT).
"""

import os
import sys
from datetime import UTC, datetime, timedelta

from hwci.cli.terminal import options
from hwci.server import clock
from hwci.server.clock import Clock, system_clock

INSTANT = datetime.fromisoformat(os.environ.get("DEMO_AT") or "2026-11-20T19:00:00+00:00")


def until_the_instant() -> timedelta:
    """Return how far a clock that shows the instant now is ahead of the machine's."""
    return INSTANT - system_clock()


def moved_clock(by: timedelta) -> Clock:
    """Return the machine's clock, so far ahead."""
    return lambda: datetime.now(UTC) + by  # noqa: TID251 - a clock of tests


def moved_command(by: timedelta, *arguments: str) -> list[str]:
    """Return the command line of `hwci` with its clocks so far ahead."""
    return [sys.executable, "-m", __name__, str(by.total_seconds()), *arguments]


if __name__ == "__main__":
    moved = moved_clock(timedelta(seconds=float(sys.argv.pop(1))))
    # Before those that take them from there are imported.
    clock.system_clock = options.now = moved
    from hwci.cli.main import main
    from hwci.server.security import passwords
    from tests.support.passwords import LIGHT

    vars(passwords).update(LIGHT)
    main()
