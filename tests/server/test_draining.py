# SPDX-License-Identifier: Apache-2.0
"""A server that is asked to stop: it is not ready at once, answers what it has taken, ends its
streams, cuts what does not come to an end, and is gone within ten seconds.

Taken is a request whose head has arrived on a connection that the server has accepted.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from aiohttp import web

from hwci.server.app import serving
from hwci.server.http.connections import connection
from hwci.server.http.connections.runner import SpecRunner
from hwci.server.settings import Settings
from tests.support.asking import Reply, ask, read_reply

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n"

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Line:
    """A connection to a runner, as bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def reply(self) -> Reply:
        head = await self.reader.readuntil(b"\r\n\r\n")
        found = read_reply(head)
        body = await self.reader.readexactly(int(found.headers.get("content-length", "0")))
        return Reply(found.status, found.headers, body)

    async def ended(self) -> bool:
        async with asyncio.timeout(60):
            return await self.reader.read() == b""


@asynccontextmanager
async def site(
    answer: Answer, *, shut_down: asyncio.Event | None = None
) -> AsyncIterator[SpecRunner]:
    """Run a server with one answer; `shut_down` is set when its streams are asked to end."""

    async def note_end(_: web.Application) -> None:
        if shut_down:
            shut_down.set()

    app = web.Application()
    app.router.add_route("*", "/", answer)
    app.on_shutdown.append(note_end)
    runner = SpecRunner(app)
    await runner.setup()
    await runner.listen("127.0.0.1", 0)
    try:
        yield runner
    finally:
        await runner.cleanup()


@asynccontextmanager
async def line_to(runner: SpecRunner) -> AsyncIterator[Line]:
    line = Line(*await asyncio.open_connection(*runner.addresses[0][:2]))
    yield line
    line.writer.transport.abort()


async def at_once(_: web.Request) -> web.Response:
    return web.Response()


async def whole_body(request: web.Request) -> web.Response:
    return web.Response(body=await request.read())


class Held:
    """An answer that waits until it is let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = asyncio.Event(), asyncio.Event()

    async def answer(self, _: web.Request) -> web.Response:
        self.asked.set()
        await self.let_go.wait()
        return web.Response()


async def test_what_was_taken_is_answered_and_its_connection_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "GRACE_SECONDS", 0.05)
    held = Held()
    async with site(held.answer) as runner, line_to(runner) as line:
        line.writer.write(ASK)
        await held.asked.wait()
        leaving = asyncio.create_task(runner.cleanup())
        await asyncio.sleep(0.2)  # longer than idle connections are kept
        held.let_go.set()

        assert (await line.reply()).headers["connection"] == "close"
        assert await line.ended()
        await leaving


async def test_what_is_under_way_to_a_kept_connection_is_answered_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "GRACE_SECONDS", 60.0)
    async with site(at_once) as runner, line_to(runner) as line:
        line.writer.write(ASK)
        assert "connection" not in (await line.reply()).headers
        leaving = asyncio.create_task(runner.cleanup())
        async with asyncio.timeout(60):
            while runner.addresses:  # noqa: ASYNC110 - it has no event
                await asyncio.sleep(0.01)
        line.writer.write(ASK)

        assert (await line.reply()).headers["connection"] == "close"
        assert await line.ended()
        await leaving


async def test_requests_sent_in_one_go_are_all_answered_before_the_close() -> None:
    held = Held()
    async with site(held.answer) as runner, line_to(runner) as line:
        line.writer.write(ASK * 3)
        await held.asked.wait()
        leaving = asyncio.create_task(runner.cleanup())
        held.let_go.set()

        closing = [(await line.reply()).headers.get("connection") for _ in range(3)]
        assert closing == [None, None, "close"]
        await leaving


@pytest.mark.parametrize("said", [b"", ASK[:-1]], ids=["nothing", "half a head"])
async def test_a_client_that_has_not_asked_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(connection, "LEAVE_SECONDS", 600.0)
    async with site(at_once) as runner, line_to(runner) as line:
        line.writer.write(said)
        async with asyncio.timeout(60):
            await runner.cleanup()

        assert await line.ended()


@pytest.mark.parametrize("answer", ["a handler that does not end", "a body that never comes"])
async def test_what_does_not_end_is_cut(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr(connection, "GRACE_SECONDS", 0.05)
    monkeypatch.setattr(connection, "LEAVE_SECONDS", 0.1)
    endless = Held()
    async with (
        site(endless.answer if "handler" in answer else whole_body) as runner,
        line_to(runner) as line,
    ):
        line.writer.write(POST + b"{")
        assert runner.server is not None
        while not runner.server.requests_count:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)
        async with asyncio.timeout(60):
            await runner.cleanup()

        assert await line.ended()


async def test_a_body_that_is_on_its_way_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "GRACE_SECONDS", 0.05)
    async with site(whole_body) as runner, line_to(runner) as line:
        line.writer.write(POST + b"{")
        assert runner.server is not None
        while not runner.server.requests_count:  # noqa: ASYNC110 - it has no event
            await asyncio.sleep(0.01)
        leaving = asyncio.create_task(runner.cleanup())
        await asyncio.sleep(0.2)
        line.writer.write(b"}")

        assert (await line.reply()).body == b"{}"
        await leaving


async def test_streams_are_asked_to_end_before_they_are_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "LEAVE_SECONDS", 600.0)
    shut_down = asyncio.Event()

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await shut_down.wait()
        await response.write_eof(b"bye")
        return response

    async with site(stream, shut_down=shut_down) as runner, line_to(runner) as line:
        line.writer.write(ASK)
        await line.reader.readuntil(b"\r\n\r\n")
        async with asyncio.timeout(60):
            await runner.cleanup()

        assert await line.reader.read() == b"3\r\nbye\r\n0\r\n\r\n"


async def test_a_server_that_leaves_is_not_ready_and_listens_until_others_have_seen_it() -> None:
    async def serve(url: asyncio.Future[str], leave: asyncio.Event) -> None:
        async with serving(Settings(database="memory:", port=0, drain_seconds=600)) as server:
            url.set_result(server.url)
            await leave.wait()

    found, leave = asyncio.get_running_loop().create_future(), asyncio.Event()
    serving_on = asyncio.create_task(serve(found, leave))
    url = await found
    before = await asyncio.to_thread(ask, url, "GET", "/readyz")
    leave.set()
    await asyncio.sleep(0)
    after = await asyncio.to_thread(ask, url, "GET", "/readyz")
    alive = await asyncio.to_thread(ask, url, "GET", "/healthz")

    assert not serving_on.done()
    assert (before.status, "connection" in before.headers) == (200, False)
    assert after.error == (
        503,
        "The server is stopping; ask another one, or again in a few seconds",
    )
    assert after.headers["retry-after"] == "5"
    assert (alive.status, alive.headers["connection"]) == (200, "close")
    serving_on.cancel()
    with suppress(asyncio.CancelledError):
        await serving_on


async def test_a_server_that_has_listened_for_as_long_as_it_should_ends() -> None:
    async with serving(Settings(database="memory:", port=0, drain_seconds=0.1)) as server:
        pass
    with pytest.raises(ConnectionRefusedError):
        await asyncio.to_thread(ask, server.url, "GET", "/healthz")


PROCESS = """
import asyncio, sys, time
from hwci.server.app import process, run
from hwci.server.settings import Settings
process.STOP_SECONDS = float(sys.argv[2])
def announce(line):
    if "serves" in line:
        if sys.argv[3] == "stuck":
            asyncio.get_running_loop().run_in_executor(None, time.sleep, 60)
        print(line, flush=True)
run(Settings(database="memory:", port=0, drain_seconds=float(sys.argv[1])), announce)
"""


def process(drain: float, stop: float, work: str = "none") -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(drain), str(stop), work],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_process_at_once(number: signal.Signals) -> None:
    with process(drain=60, stop=60) as running:
        assert running.stdout is not None
        url = running.stdout.readline().split()[2]
        running.send_signal(signal.SIGTERM)
        while ask(url, "GET", "/readyz").status != 503:
            pass
        running.send_signal(number)

        assert running.wait(60) == -number


def test_a_thread_that_does_not_end_is_not_waited_for() -> None:
    with process(drain=0, stop=1, work="stuck") as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.send_signal(signal.SIGTERM)

        assert running.wait(60) == 0
        assert running.stderr is not None
        assert "some work has not ended" in running.stderr.read()


@pytest.mark.parametrize("kind", ["file", "name"])
def test_systemd_learns_when_the_server_is_ready_and_when_it_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = str(tmp_path / "n") if kind == "file" else f"@{tmp_path.name}-{os.getpid()}"
    monkeypatch.setenv("NOTIFY_SOCKET", path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(path.replace("@", "\0"))
        systemd.settimeout(60)
        with process(drain=0, stop=60) as running:
            assert systemd.recv(100) == b"READY=1"
            running.send_signal(signal.SIGTERM)
            assert systemd.recv(100) == b"STOPPING=1"
            assert running.wait(60) == 0
