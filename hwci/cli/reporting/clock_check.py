# SPDX-License-Identifier: Apache-2.0
"""Whether clocks were right: that of this machine beside the server's, and those that the times of
a report came from. A bench whose clock was never set says that its runs are of 1970, and no page
shows them (spec, "Metrics page (dashboard)"). It compares, and sets nothing.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hwci.cli.terminal.options import now

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

APART_MAX = timedelta(minutes=5)
EARLIEST = datetime(2015, 1, 1, tzinfo=UTC)
"""What says that it is older was most likely timed by a clock that nobody set."""
FIX = "Set the clock of this machine, or let it be set: timedatectl set-ntp true"


def apart(server_time: datetime | None) -> str | None:
    """Say how far the clocks are apart; None when that is near enough, or not known."""
    if server_time is None:
        return None
    server_time = _aware(server_time)
    here = now()
    if abs(here - server_time) <= APART_MAX:
        return None
    return f"this machine says {_minute(here)}, the server {_minute(server_time)}"


def doubtful(times: Mapping[str, datetime], server_time: datetime | None) -> Iterator[str]:
    """Say which times can hardly be, by the server's clock or, where no server said its time, by
    this machine's. `times`: by the names of their fields.
    """
    present = now() if server_time is None else _aware(server_time)
    whose = "this machine" if server_time is None else "the server"
    for name, time in times.items():
        if time > present + APART_MAX:
            yield f"{name} is {_minute(time)}, and it is {_minute(present)} by the clock of {whose}"
        elif time < EARLIEST:
            yield f"{name} is {_minute(time)}, as of a clock that was never set"


def _aware(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _minute(time: datetime) -> str:
    return f"{time.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
