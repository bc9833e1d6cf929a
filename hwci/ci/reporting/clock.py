# SPDX-License-Identifier: Apache-2.0
"""Whether clocks were right: that of this machine beside the server's, and those that the times of
a report came from. A bench whose clock was never set reports its runs as of 1970, and no page
shows them (spec, "Metrics page (dashboard)"). It compares, and sets nothing.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from hwci.client.explained import ErrorMessage

APART_MAX = timedelta(minutes=5)
EARLIEST = datetime(2015, 1, 1, tzinfo=UTC)
"""An earlier time most likely comes from a clock that was not set."""
FIX = "Set the clock of this machine, or let it be set: timedatectl set-ntp true"


def apart(server_time: datetime | None, here: datetime) -> str | None:
    """Return how far the clocks are apart; None when that is near enough, or not known."""
    if server_time is None or abs(here - _aware(server_time)) <= APART_MAX:
        return None
    return f"it is {_minute(here)} here, and at the server {_minute(_aware(server_time))}"


def warning(server_time: datetime | None, here: datetime) -> Iterator[str]:
    """Return the lines of the warning that the clock of this machine is wrong."""
    if (cause := apart(server_time, here)) is not None:
        yield from ErrorMessage("The clock of this machine is wrong", cause, FIX).lines("warning")


def doubtful(
    times: Mapping[str, datetime], server_time: datetime | None, here: datetime
) -> Iterator[str]:
    """Return the doubts about times, by the server's clock or, where it is not known, by that of
    this machine. `times`: by the names of their fields.
    """
    present = here if server_time is None else _aware(server_time)
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
