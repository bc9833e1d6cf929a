# SPDX-License-Identifier: Apache-2.0
"""The only place where the server reads the time. Services get a `Clock`."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the present time, aware, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - this is the place
