# SPDX-License-Identifier: Apache-2.0
"""Turns: each organization has one piece of work done at a time, first come, first served.

Waiting for a turn holds no thread, so other organizations go ahead. This module decides how many
may wait; it does not know the work.
"""

import asyncio
from collections.abc import Callable
from uuid import UUID
from weakref import WeakValueDictionary

from hwci.server.errors import OverloadedError

WAITING_OF_ONE_MAX = 64
"""Reads of one organization that wait for their turn, and as many reports."""
FULL = "Too many requests of this organization are waiting; try again in a few seconds"


class _Turn:
    """The turn of one organization. It exists as long as work has it or waits for it."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._waiting = 0

    async def take(self, seconds: float) -> None:
        if not self._waiting and not self._lock.locked():
            await self._lock.acquire()  # at once
            return
        if self._waiting >= WAITING_OF_ONE_MAX:
            raise OverloadedError(FULL)
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._lock.acquire()
        finally:
            self._waiting -= 1

    def end(self) -> None:
        self._lock.release()


class Turns:
    """The turns of all organizations."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[UUID, _Turn] = WeakValueDictionary()

    async def take(self, organization: UUID | None, seconds: float) -> Callable[[], None]:
        """Wait for an organization's turn, and return what ends it; None needs no turn.

        Raises:
            OverloadedError: too many of the organization wait already.
            TimeoutError: the turn did not come in time.
        """
        if organization is None:
            return _need_none
        turn = self._turns.get(organization)
        if turn is None:
            turn = self._turns[organization] = _Turn()
        await turn.take(seconds)
        return turn.end


def _need_none() -> None:
    """End no turn."""
