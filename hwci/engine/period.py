# SPDX-License-Identifier: Apache-2.0
"""The window of a page: the last N days (semantics, 10). It does not know what is dated by what."""

from datetime import UTC, datetime, timedelta

from hwci.engine.history import Period

_EARLIEST = datetime.min.replace(tzinfo=UTC)


def last_days(days: int, as_of: datetime) -> Period:
    """Give `asOf - N x 24 h <= t <= asOf`; no recorded time lies before year 1."""
    length = timedelta(days=days)
    start = as_of - length if as_of - _EARLIEST > length else _EARLIEST
    return Period(start, as_of)
