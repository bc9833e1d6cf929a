# SPDX-License-Identifier: Apache-2.0
"""`hwci serve` is told to stop at any moment of a busy day: it ends with success within ten
seconds, by its own clock, what it acknowledged is in the database, and what it took is answered.
"""

import asyncio
import json
import math
import random
import re
import signal
import sqlite3
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from hwci.server.app import process as stopping
from hwci.server.http.connections import connection, listener
from hwci.server.http.connections import runner as protocol
from tests.server.processes import service
from tests.support.running import RunningServer, report, running
from tests.support.soak import rounds

ROUNDS = rounds(2, 10)
REPORTERS = 6
READERS = 2
FOLLOWERS = 10
CALLERS = 8
SEED = 20261120


@dataclass
class Tally:
    """What clients have seen: reports acknowledged, and requests sent whole but not answered."""

    acknowledged: set[int] = field(default_factory=set)
    unanswered: list[str] = field(default_factory=list)
    streams_cut: int = 0
    read: int = 0
    called: int = 0


def request(method: str, path: str, header: str, body: bytes = b"") -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


async def answer(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """Read an answer: its status, and whether its connection ends."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = re.search(r"content-length: (\d+)", head)
    await reader.readexactly(int(length[1]) if length else 0)
    return int(head.split()[1]), "connection: close" in head


class Day:
    """Clients of one server, over kept connections until it closes them, or new ones. `busy`: each
    of those with kept ones has had an answer; `told_at`: when the server was told to stop.
    """

    def __init__(self, server: RunningServer, port: int, run_ids: "count[int]") -> None:
        self._server, self._port, self._run_ids = server, port, run_ids
        self.tally = Tally()
        self.busy = asyncio.Event()
        self.told_at = math.inf
        self._begun = set[object]()

    def _begin(self) -> None:
        self._begun.add(asyncio.current_task())
        if len(self._begun) == FOLLOWERS + REPORTERS + READERS:
            self.busy.set()

    def _miss(self, what: str, fault: Exception, sent_at: float) -> None:
        """Note a request without an answer, unless it was sent to a server that had long been told
        to stop: that waits only so long for what is under way.
        """
        if sent_at < self.told_at + connection.GRACE_SECONDS / 2:
            self.tally.unanswered.append(f"{what}: {fault!r}")

    async def report(self) -> None:
        key = f"X-API-Key: {self._server.ci_key}"
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        ends = False
        while not ends:
            run_id = next(self._run_ids)
            body = json.dumps(report(run_id=run_id)).encode()
            writer.write(request("POST", "/api/ci/run-report", key, body))
            sent_at = time.monotonic()
            try:
                status, ends = await answer(reader)
            except (asyncio.IncompleteReadError, ConnectionError) as fault:
                self._miss(f"report {run_id}", fault, sent_at)
                break
            assert status == 204
            self.tally.acknowledged.add(run_id)
            self._begin()
        writer.close()

    async def read(self) -> None:
        token = f"Authorization: Bearer {self._server.token}"
        path = f"/api/orgs/{self._server.org_id}/ci-metrics?days=30"
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        ends = False
        while not ends:
            writer.write(request("GET", path, token))
            sent_at = time.monotonic()
            try:
                status, ends = await answer(reader)
            except (asyncio.IncompleteReadError, ConnectionError) as fault:
                self._miss("page", fault, sent_at)
                break
            assert status == 200
            self.tally.read += 1
            self._begin()
        writer.close()

    async def call(self) -> None:
        """Ask over a new connection each time, until none is taken."""
        while True:
            sent_at = time.monotonic()
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
                writer.write(request("GET", "/readyz", "Connection: close"))
                await answer(reader)
                writer.close()
            except ConnectionRefusedError:
                return
            except (asyncio.IncompleteReadError, ConnectionError) as fault:
                self._miss("call", fault, sent_at)
            self.tally.called += 1

    async def follow(self) -> None:
        token = f"Authorization: Bearer {self._server.token}"
        path = f"/api/orgs/{self._server.org_id}/runs/stream"
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(request("GET", path, token))
        await reader.readuntil(b"\r\n\r\n")
        self._begin()
        if not (await reader.read()).endswith(b"0\r\n\r\n"):
            self.tally.streams_cut += 1
        writer.close()


async def one_day(server: RunningServer, run_ids: "count[int]", seconds: float) -> Tally:
    async with service(server.database) as served:
        day = Day(server, served.port, run_ids)
        clients = [
            *(day.follow() for _ in range(FOLLOWERS)),
            *(day.report() for _ in range(REPORTERS)),
            *(day.read() for _ in range(READERS)),
            *(day.call() for _ in range(CALLERS)),
        ]
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(client)
            await day.busy.wait()
            await asyncio.sleep(seconds)
            day.told_at = time.monotonic()
            served.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(60):
                assert await served.process.wait() == 0
    return day.tally


def test_a_server_ends_itself_before_ten_seconds_have_passed() -> None:
    arriving = listener.ARRIVE_SECONDS + connection.GRACE_SECONDS
    leaving = connection.GRACE_SECONDS + connection.LEAVE_SECONDS + 2 * protocol.CUT_SECONDS
    assert arriving + leaving < stopping.STOP_SECONDS < 10


async def test_a_stop_under_load_loses_nothing_that_was_taken(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        pass  # an organization, its key and its tokens
    moments, run_ids = random.Random(SEED), count(1)
    tallies = [await one_day(server, run_ids, moments.uniform(0, 0.5)) for _ in range(ROUNDS)]

    with sqlite3.connect(server.database) as database:
        kept = {run_id for (run_id,) in database.execute("SELECT run_id FROM report")}
    database.close()
    acknowledged = set[int]().union(*(tally.acknowledged for tally in tallies))
    assert acknowledged <= kept
    assert len(acknowledged) > ROUNDS
    assert [tally.unanswered for tally in tallies] == [[]] * ROUNDS
    assert [tally.streams_cut for tally in tallies] == [0] * ROUNDS
    assert all(tally.read for tally in tallies)
    assert all(tally.called for tally in tallies)
