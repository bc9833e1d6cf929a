# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks: it notes what comes, and answers as a test says. Every signature is
checked by the library that receivers use.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from standardwebhooks import Webhook as Signature

Answering = Callable[[web.Request, "Received"], Awaitable[web.StreamResponse]]


@dataclass(frozen=True)
class Received:
    """A request. `body`: its JSON."""

    id: str
    path: str
    body: Any
    headers: dict[str, str]
    content: bytes

    def check(self, secret: str) -> None:
        """Raise unless the secret signed it now."""
        Signature(secret).verify(self.content, self.headers)


async def take(_: web.Request, __: Received) -> web.StreamResponse:
    return web.Response(status=204)


@dataclass
class Receiver:
    """Where it listens, what came, and how it answers."""

    url: str = ""
    received: list[Received] = field(default_factory=list)
    answer: Answering = take
    _came: asyncio.Event = field(default_factory=asyncio.Event)

    async def comes(self, count: int, seconds: float = 20) -> list[Received]:
        """Return what came, as soon as it is so much."""
        async with asyncio.timeout(seconds):
            while len(self.received) < count:
                self._came.clear()
                await self._came.wait()
        return self.received

    async def _take(self, request: web.Request) -> web.StreamResponse:
        content = await request.read()
        headers = dict(request.headers)
        arrived = Received(
            headers["Webhook-Id"], request.path, json.loads(content), headers, content
        )
        self.received.append(arrived)
        self._came.set()
        return await self.answer(request, arrived)


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """Listen while the block runs."""
    receiver = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver._take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "0.0.0.0", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    receiver.url = f"http://127.0.0.1:{port}"
    try:
        yield receiver
    finally:
        await runner.cleanup()
