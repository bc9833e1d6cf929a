# SPDX-License-Identifier: Apache-2.0
"""Answers that callers do not take: they are freed when the caller leaves, and bounded until then
(contract, "Limits").
"""

import asyncio
import gc
import logging
import socket
import struct
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from aiohttp import web

from hwci.server.errors import OverloadedError
from hwci.server.http.connections import unread
from hwci.server.http.connections.connection import unread_by
from hwci.server.http.connections.runner import SpecRunner
from hwci.server.http.connections.unread import UnreadAnswers

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

    @property
    def unread(self) -> UnreadAnswers:
        assert self.runner.server is not None
        return self.runner.server.unread

    def connect(self) -> socket.socket:
        return socket.create_connection(self.runner.addresses[0][:2])

    def held_by(self, who: str) -> int:
        share = self.unread.shares.get(who)
        return 0 if share is None else share.held

    async def asked(self, lines: ExitStack, who: str) -> socket.socket:
        """Ask as somebody, and read nothing; return once all that waits is counted."""
        before = self.held_by(who)
        line = lines.enter_context(self.connect())
        line.sendall(GET.replace(b"/ ", f"/?who={who} ".encode(), 1))
        await until(lambda: self.held_by(who) > before)
        return line


@asynccontextmanager
async def serving_large() -> AsyncIterator[Serving]:
    app = web.Application()
    runner = SpecRunner(app)
    found = Serving(runner)

    async def large(_: web.Request) -> web.Response:
        answer = web.Response(body=bytes(LARGE))
        found.bodies.append(weakref.ref(answer))
        return answer

    async def bounded(request: web.Request) -> web.Response:
        who = request.query.get("who", "anybody")
        try:
            unread_by(request).count_for(who, "key")
        except OverloadedError as error:
            return web.Response(status=503, text=str(error))
        return await large(request)

    app.router.add_get("/", bounded)
    await runner.setup()
    await runner.listen("127.0.0.1", 0)
    yield found
    await runner.cleanup()


@pytest.fixture
async def serving() -> AsyncIterator[Serving]:
    async with serving_large() as found:
        yield found


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
    await until(lambda: [body() for body in serving.bodies] == [None])


@pytest.fixture
def room_for_three(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unread, "UNREAD_BYTES", 3 * LARGE + LARGE // 2)
    monkeypatch.setattr(unread, "UNREAD_OF_ONE_BYTES", LARGE + LARGE // 2)


@pytest.mark.usefixtures("room_for_three")
async def test_where_there_is_no_room_who_holds_the_most_is_cut_off_and_the_log_says_it_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The room is made with the server, so the server is made here."""
    with caplog.at_level(logging.WARNING, "hwci.server"), ExitStack() as lines:
        async with serving_large() as server:
            for who in ("greedy", "greedy", "modest", "newcomer"):
                await server.asked(lines, who)
            await until(lambda: server.connections == len(["greedy", "modest", "newcomer"]))
            held = {name for name in server.unread.shares if isinstance(name, str)}

    assert held == {"greedy", "modest", "newcomer"}
    assert len([one for one in caplog.records if "Answers that nobody reads" in one.message]) == 1


async def test_who_has_much_to_read_is_refused_until_it_is_read(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "UNREAD_OF_ONE_BYTES", LARGE // 2)
    with ExitStack() as lines:
        first = await serving.asked(lines, "somebody")
        second = lines.enter_context(serving.connect())
        second.sendall(GET.replace(b"/ ", b"/?who=somebody ", 1))
        refused = await asyncio.to_thread(second.recv, 12)
        await serving.asked(lines, "another")
        taking = asyncio.to_thread(first.recv, LARGE, socket.MSG_WAITALL)
        await taking
        await until(lambda: "somebody" not in serving.unread.shares)
        again = await serving.asked(lines, "somebody")

        assert refused == b"HTTP/1.1 503"
        assert await asyncio.to_thread(again.recv, 12) == b"HTTP/1.1 200"


async def test_nothing_is_counted_once_an_answer_is_taken_or_its_caller_has_left(
    serving: Serving,
) -> None:
    with ExitStack() as lines:
        for who in ("somebody", "another"):
            await serving.asked(lines, who)
        assert serving.unread.held > LARGE
    await until(lambda: not serving.connections)

    room = serving.unread
    assert (room.held, room.shares, room.movable) == (0, {}, set())
