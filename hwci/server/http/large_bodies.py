# SPDX-License-Identifier: Apache-2.0
"""Room for large bodies: a legal report may hold 64 MiB, many at once would hold the machine.

This module decides how many large bodies are in memory together, from before they are read until
they are answered. Who finds no room waits briefly and is then asked to come again (503 with
`Retry-After`): a reporter does. It does not know what a body says.
"""

import asyncio
from types import TracebackType

from hwci.server.errors import OverloadedError

LARGE_BYTES = 1024 * 1024
"""More than this is large: it takes room."""
ROOM = 4
PATIENCE_SECONDS = 10.0
ARRIVAL_SECONDS = 120.0
"""Who has room and sends nothing gives it back."""


class Room:
    """The room of one request; none is taken until it is claimed."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free = free
        self._claimed = False

    async def claim(self) -> None:
        """Take room, once. Raises `OverloadedError` when there is none in time."""
        if self._claimed:
            return
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._free.acquire()
        except TimeoutError as fault:
            raise OverloadedError(
                "Too many large bodies arrive at once; try again in a few seconds"
            ) from fault
        self._claimed = True

    async def __aenter__(self) -> "Room":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._claimed:
            self._free.release()


class LargeBodies:
    """The room of one server."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(ROOM)

    def room(self) -> Room:
        """Give a request its claim to room."""
        return Room(self._free)
