# SPDX-License-Identifier: Apache-2.0
"""Turns: each organization, or each person, has one piece of work done at a time, first come, first
served.

Waiting for a turn holds no thread, so others go ahead. This module decides how many may wait; it
does not know the work.
"""

import asyncio
from collections.abc import Callable, Hashable
from weakref import WeakValueDictionary

from hwci.server.errors import OverloadedError

WAITING_OF_ONE_MAX = 64
"""Short reads of one organization that wait for their turn, and as many long ones, reads of one
person or key, and reports.
"""
FULL = "Too many requests of this organization are waiting; try again in a few seconds"


class _Turn:
    """The turn of one of them. It exists as long as work has it or waits for it. `full`: what those
    are told who find too many waiting.
    """

    def __init__(self, full: str) -> None:
        self._full = full
        self._lock = asyncio.Lock()
        self._waiting = 0

    async def take(self, seconds: float) -> None:
        if not self._waiting and not self._lock.locked():
            await self._lock.acquire()  # at once
            return
        if self._waiting >= WAITING_OF_ONE_MAX:
            raise OverloadedError(self._full)
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):
                await self._lock.acquire()
        finally:
            self._waiting -= 1

    def end(self) -> None:
        self._lock.release()


class Turns:
    """The turns of all organizations, or of all persons."""

    def __init__(self, full: str = FULL) -> None:
        self._full = full
        self._turns: WeakValueDictionary[Hashable, _Turn] = WeakValueDictionary()

    async def take(self, whose: Hashable | None, seconds: float) -> Callable[[], None]:
        """Wait for the turn of those whose work it is, and return what ends it; None needs no turn.

        Raises:
            OverloadedError: too much of theirs waits already.
            TimeoutError: the turn did not come in time.
        """
        if whose is None:
            return _need_none
        turn = self._turns.get(whose)
        if turn is None:
            turn = self._turns[whose] = _Turn(self._full)
        await turn.take(seconds)
        return turn.end


def _need_none() -> None:
    """End no turn."""
