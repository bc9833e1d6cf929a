# SPDX-License-Identifier: Apache-2.0
"""Whether the clock of this machine is that of the server: a bench whose clock was never set says
that its runs are of 1970 (spec, "Run report"). It compares, and sets nothing.
"""

from datetime import UTC, datetime, timedelta

from hwci.cli.options import now

APART_MAX = timedelta(minutes=5)
FIX = "Set the clock of this machine, or let it be set: timedatectl set-ntp true"


def apart(server_time: datetime | None) -> str | None:
    """Say how far the clocks are apart; None when that is near enough, or not known."""
    if server_time is None:
        return None
    if server_time.tzinfo is None:
        server_time = server_time.replace(tzinfo=UTC)
    here = now()
    if abs(here - server_time) <= APART_MAX:
        return None
    return (
        f"this machine says {here:%Y-%m-%d %H:%M} UTC, the server {server_time:%Y-%m-%d %H:%M} UTC"
    )
