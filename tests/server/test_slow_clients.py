# SPDX-License-Identifier: Apache-2.0
"""Who sends slowly, takes slowly or says half is cut; who is merely quiet on one side is served
(contract, "Everywhere": every answer is spec-shaped). The deadlines are short here, but for that of
a first byte: a machine that stands still between connecting and sending proves nothing.
"""

import asyncio
import contextlib
import select
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hwci.server.http.bodies import body
from hwci.server.http.connections import connection, unread
from hwci.server.http.connections.connection import SpecProtocol
from hwci.server.http.connections.runner import SpecRunner
from tests.support.asking import Reply, ask, connect, first_reply, read_reply
from tests.support.running import RunningServer, running_in_thread

HEAD_SECONDS = 1.0
FIRST_BYTE_SECONDS = 60.0
LATE_HEAD = (408, "The head of the request did not arrive in time")
ALIVE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


class PatientProtocol(SpecProtocol):
    """Waits longer for the first byte than for the rest."""

    first_byte_seconds = FIRST_BYTE_SECONDS

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        with pytest.MonkeyPatch.context() as patch:  # all of it runs in the thread of the server
            patch.setattr(connection, "HEAD_SECONDS", self.first_byte_seconds)
            super().connection_made(transport)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "SpecProtocol", PatientProtocol)
        patch.setattr(connection, "HEAD_SECONDS", HEAD_SECONDS)
        patch.setattr(body, "BODY_SECONDS", 2 * HEAD_SECONDS)
        with running_in_thread(tmp_path_factory.mktemp("server")) as running:
            yield running


def rest_of(line: socket.socket) -> bytes:
    """Return all that comes until the server closes."""
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := line.recv(65536):
            answer += chunk
    return answer


def drip(line: socket.socket, letter: bytes) -> Reply:
    """Send a byte each time that no answer comes, until one does. It may come, and the connection
    end, at the moment of sending.
    """
    while not select.select([line], [], [], HEAD_SECONDS / 10)[0]:
        with contextlib.suppress(ConnectionError):
            line.sendall(letter)
    return read_reply(rest_of(line))


@pytest.mark.parametrize("half", [b"G", b"GET /healthz HTTP/1.1\r\nHost: x\r\n", LAST[:-1]])
def test_half_a_head_is_a_spec_shaped_408(server: RunningServer, half: bytes) -> None:
    with connect(server.url) as line:
        line.sendall(half)
        reply = read_reply(rest_of(line))

    assert reply.error == LATE_HEAD


def test_half_a_head_on_a_kept_connection_is_408_too(server: RunningServer) -> None:
    with connect(server.url) as line:
        line.sendall(ALIVE)
        assert first_reply(line).status == 200
        line.sendall(ALIVE[:-1])

        assert read_reply(rest_of(line)).error == LATE_HEAD


def test_a_head_that_drips_is_cut_however_busily(server: RunningServer) -> None:
    with connect(server.url) as line:
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: ")

        assert drip(line, b"a").error == LATE_HEAD


def test_silence_gets_no_answer(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PatientProtocol, "first_byte_seconds", HEAD_SECONDS)
    with connect(server.url) as line:
        assert rest_of(line) == b""


def test_a_kept_connection_may_be_quiet_for_longer(server: RunningServer) -> None:
    with connect(server.url) as line:
        line.sendall(ALIVE)
        assert first_reply(line).status == 200
        time.sleep(2 * HEAD_SECONDS)
        line.sendall(LAST)

        assert read_reply(rest_of(line)).status == 200


def announcing(server: RunningServer, length: int) -> bytes:
    return (
        f"POST /api/ci/merge-announce HTTP/1.1\r\nHost: x\r\nX-API-Key: {server.ci_key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def test_a_body_may_take_longer_than_a_head(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "BODY_SECONDS", 60.0)
    with connect(server.url) as line:
        line.sendall(announcing(server, 2) + b"{")
        time.sleep(1.5 * HEAD_SECONDS)
        line.sendall(b"}")

        assert first_reply(line).error == (400, "Validation failed")


def test_a_body_that_drips_is_a_spec_shaped_408_and_the_connection_ends(
    server: RunningServer,
) -> None:
    with connect(server.url) as line:
        line.sendall(announcing(server, 60_000) + b"{")
        reply = drip(line, b" ")

    assert reply.error == (408, "The body did not arrive within 2 s; send it faster or smaller")
    assert reply.headers["connection"] == "close"


def test_a_body_that_began_fast_may_not_drip_on(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "PACE_SECONDS", HEAD_SECONDS)
    monkeypatch.setattr(body, "BODY_SECONDS", 60.0)
    with connect(server.url) as line:
        line.sendall(announcing(server, 60_000) + b" " * body.PACE_BYTES)
        reply = drip(line, b" ")

    assert reply.error[1].startswith("Less than 10240 bytes of the body came in 1 s")


def open_files() -> int:
    """Count what this process has open: of the test and of its server."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_hundreds_of_half_heads_stop_nobody_and_leave_nothing(server: RunningServer) -> None:
    before = open_files()
    with ExitStack() as open_lines:
        lines = []
        for half in (*[ALIVE[:-2]] * 400, *[announcing(server, 100) + b"{"] * 100):
            lines.append(open_lines.enter_context(connect(server.url)))
            lines[-1].sendall(half)
        for _ in range(20):
            assert ask(server.url, "GET", "/healthz").status == 200

        assert {read_reply(rest_of(line)).status for line in lines} == {408}

    assert abs(open_files() - before) <= 5


@pytest.mark.parametrize("asked", [[LAST], [ALIVE], [ALIVE, ALIVE]], ids=["last", "kept", "two"])
def test_a_client_that_has_sent_all_and_still_listens_is_answered(
    server: RunningServer, asked: list[bytes]
) -> None:
    with connect(server.url) as line:
        line.sendall(b"".join(asked))
        line.shutdown(socket.SHUT_WR)

        assert rest_of(line).count(b"HTTP/1.1 200") == len(asked)


def test_a_client_that_has_sent_a_whole_body_and_still_listens_is_answered(
    server: RunningServer,
) -> None:
    with connect(server.url) as line:
        line.sendall(announcing(server, 2) + b"{}")
        line.shutdown(socket.SHUT_WR)

        assert read_reply(rest_of(line)).error == (400, "Validation failed")


def test_a_client_that_ends_at_the_moment_of_being_answered_is_let_go(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish = SpecProtocol.finish_response

    async def finish_late(protocol: SpecProtocol, *given: Any) -> tuple[web.StreamResponse, bool]:
        finished = await finish(protocol, *given)
        while protocol._ended_at is None:  # noqa: ASYNC110 - what sets it tells nobody
            await asyncio.sleep(0.001)
        return finished

    monkeypatch.setattr(SpecProtocol, "finish_response", finish_late)
    with connect(server.url) as line:
        line.sendall(ALIVE)
        assert line.recv(12) == b"HTTP/1.1 200"
        line.shutdown(socket.SHUT_WR)

        assert rest_of(line).endswith(b"}")


def test_a_client_that_ends_within_a_body_is_not_waited_for(server: RunningServer) -> None:
    with connect(server.url) as line:
        line.sendall(announcing(server, 2) + b"{")
        line.shutdown(socket.SHUT_WR)

        assert rest_of(line) == b""


def test_a_client_that_ends_before_saying_anything_is_closed(server: RunningServer) -> None:
    with connect(server.url) as line:
        line.shutdown(socket.SHUT_WR)

        assert rest_of(line) == b""


LARGE = 32 * 1024 * 1024


@pytest.fixture
async def large_answers() -> AsyncIterator[SpecRunner]:
    """Run a server whose answers do not fit into what the system keeps for a connection."""

    async def large(_: web.Request) -> web.Response:
        return web.Response(body=bytes(LARGE))

    app = web.Application()
    app.router.add_get("/", large)
    runner = SpecRunner(app)
    await runner.setup()
    await runner.listen("127.0.0.1", 0)
    yield runner
    await runner.cleanup()


async def test_a_client_that_takes_nothing_of_an_answer_is_cut(
    large_answers: SpecRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread, "PACE_SECONDS", 0.3)
    server = large_answers.server
    assert server is not None
    with socket.create_connection(large_answers.addresses[0][:2]) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(60):
            while not server.requests_count or server.connections:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.01)


async def test_a_client_that_takes_an_answer_slowly_has_it_whole(large_answers: SpecRunner) -> None:
    """Each time that a piece of it was taken, the time for the next one begins."""
    reader, writer = await asyncio.open_connection(*large_answers.addresses[0][:2])
    writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    assert large_answers.server is not None
    (sending,) = large_answers.server.connections
    assert isinstance(sending, connection.SpecProtocol)
    renewed = 0
    for _ in range(8):
        due = sending.unread._due
        await reader.readexactly(LARGE // 8)
        while due is not None and not due.cancelled():  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0)
        renewed += due is not None
    assert await reader.read() == b""
    assert renewed > 2
    writer.close()
    await writer.wait_closed()
