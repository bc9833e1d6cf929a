# SPDX-License-Identifier: Apache-2.0
"""Following on aiohttp: an asynchronous iterator over events, on a connection of its own."""

import random
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import aiohttp

from hwci.client._protocol import NoAnswer, Response
from hwci.client.following import Follower
from hwci.wire.runs import RunEvent


class AsyncFollowing:
    """Events of runs, as they come, for as long as the caller may follow. As the subject of an
    `async with` it has begun when the block does: no event of the block's own time is missed.

    Raises:
        HwciError: see `hwci.client.errors`. `UnauthorizedError`: the token has ended and the client
            was given no other. `ConflictError`: the events to go on from are not kept any more;
            list the runs, then follow anew.
    """

    def __init__(
        self,
        follower: Follower,
        dial: Callable[[Follower], Awaitable[aiohttp.ClientResponse | Response | NoAnswer]],
        retries: int,
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._follower = follower
        self._dial = dial
        self._retries = retries
        self._sleep = sleep
        self._line: aiohttp.ClientResponse | None = None

    async def __aenter__(self) -> Self:
        while not self._follower.placed:
            await self._go_on()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> RunEvent:
        while not self._follower.events:
            await self._go_on()
        return self._follower.events.popleft()

    def close(self) -> None:
        """Close the connection."""
        if self._line is not None:
            self._line.close()
            self._line = None

    async def _go_on(self) -> None:
        try:
            await self._listen(self._line or await self._begin())
        except BaseException:
            self.close()
            raise

    async def _listen(self, line: aiohttp.ClientResponse) -> None:
        try:
            chunk = await line.content.readany()
        except (aiohttp.ClientError, OSError):
            chunk = b""
        if chunk:
            self._follower.take(chunk)
        else:
            self.close()
            await self._sleep(self._follower.pause_after_end(_chance()))

    async def _begin(self) -> aiohttp.ClientResponse:
        while not isinstance(outcome := await self._dial(self._follower), aiohttp.ClientResponse):
            await self._sleep(self._follower.pause_after(outcome, self._retries, _chance()))
        self._line = outcome
        self._follower.begin({name.lower(): value for name, value in outcome.headers.items()})
        return outcome


def _chance() -> float:
    return random.random()  # noqa: S311 - it spreads retries, it guards nothing
