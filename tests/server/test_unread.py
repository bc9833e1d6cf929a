# SPDX-License-Identifier: Apache-2.0
"""Answers that callers do not take: they are freed when the caller leaves, and bounded until then
(contract, "Limits").
"""

import asyncio
import gc
import socket
import struct
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from hwci.server.http.connections.runner import SpecRunner

LARGE = 32 * 1024 * 1024
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LINGER_NONE = struct.pack("ii", 1, 0)


@dataclass
class Serving:
    """A server whose answers are large. `bodies`: of those that it has given."""

    runner: SpecRunner
    bodies: list[weakref.ref[web.Response]] = field(default_factory=list)

    @property
    def connections(self) -> int:
        assert self.runner.server is not None
        return len(self.runner.server.connections)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.runner.addresses[0][:2])


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    app = web.Application()
    runner = SpecRunner(app)
    found = Serving(runner)

    async def large(_: web.Request) -> web.Response:
        answer = web.Response(body=bytes(LARGE))
        found.bodies.append(weakref.ref(answer))
        return answer

    app.router.add_get("/", large)
    await runner.setup()
    await runner.listen("127.0.0.1", 0)
    yield found
    await runner.cleanup()


@pytest.fixture
def no_collector() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not done():  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("reset", [True, False])
@pytest.mark.parametrize("taken", [0, LARGE // 4])
async def test_an_answer_whose_caller_left_is_freed_without_a_collector(
    serving: Serving, *, reset: bool, taken: int
) -> None:
    with serving.connect() as line:
        line.sendall(GET)
        await until(lambda: bool(serving.bodies))
        await asyncio.to_thread(line.recv, taken + 1, socket.MSG_WAITALL)
        if reset:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NONE)
    await until(lambda: not serving.connections)
    await asyncio.sleep(0.1)

    assert [body() for body in serving.bodies] == [None]
