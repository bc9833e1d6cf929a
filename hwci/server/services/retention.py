# SPDX-License-Identifier: Apache-2.0
"""Deletes old data, by the times of `hwci.wire.limits`, a part at a time, so that other writers
need not wait for all of it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from hwci.server.services import Service
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import NOBODY
from hwci.wire import limits

ROWS_AT_ONCE = 5_000
RUNS_AT_ONCE = 10
"""A run may have `limits.LIVE_TESTS_MAX` tests."""

Drop = Callable[[datetime, int], int]


class Retention(Service):
    """Deletes data that has no use any more."""

    async def sweep(self) -> None:
        """Delete everything that is too old."""
        await self._delete(lambda w: w.drop_events, limits.EVENTS_KEPT, ROWS_AT_ONCE)
        await self._delete(lambda w: w.drop_lost_runs, limits.LOST_RUNS_KEPT, RUNS_AT_ONCE)
        await self._delete(lambda w: w.drop_invites, limits.INVITES_KEPT, ROWS_AT_ONCE)
        await self._delete(lambda w: w.drop_refresh_tokens, timedelta(0), ROWS_AT_ONCE)

    async def _delete(self, drop: Callable[[Writer], Drop], kept: timedelta, most: int) -> None:
        before = self._clock() - kept

        def work(writer: Writer) -> int:
            return drop(writer)(before, most)

        while await self._storage.write(work, person=NOBODY) == most:
            pass
