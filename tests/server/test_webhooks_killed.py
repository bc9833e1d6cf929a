# SPDX-License-Identifier: Apache-2.0
"""Servers that are killed, and a receiver that fails, hangs and dies: each event arrives at least
once, none is invented, and those of one failure arrive in order (contract, "Webhooks").
"""

import asyncio
import json
import os
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
from aiohttp import web

from tests.server.telling import CONFIGURATION, bug
from tests.support.databases import query
from tests.support.receiver import Received, Receiver, receiving
from tests.support.running import RunningServer, running, sign_in
from tests.support.soak import rounds

KILLS, BUGS, TESTS, REVIEWED = rounds(3, 50), rounds(5, 50), rounds(40, 200), 5
SEED = 20261130
SERVE = """
from datetime import timedelta
from aiohttp import ClientTimeout
from hwci.cli.main import main
from hwci.server.app import posting, sweeping
from hwci.server.services.webhooks import sending
posting._PATIENCE = ClientTimeout(total=0.5)
sending.PAUSES = (timedelta(seconds=0.1),) * 10_000
sending.TAKEN_FOR = timedelta(seconds=2)
sweeping.SEND_SECONDS = 0.05
sweeping.INCIDENTS_SECONDS = 0.1
main()
"""
"""A server that waits for nobody as long as others do, and never gives up."""


@asynccontextmanager
async def serving(server: RunningServer) -> AsyncIterator[str]:
    """Start a server process and return its address; it is killed."""
    key = server.location.secret_key_file
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVE, "serve", "--quiet", "--port", "0"),
        env={
            **os.environ,
            "HWCI_DATABASE": server.location.written,
            "HWCI_RATE_LIMIT": "off",
            "HWCI_AUTH_RATE_LIMIT": "off",
            "HWCI_WEBHOOK_NETWORKS": "127.0.0.0/8",
            **({} if key is None else {"HWCI_SECRET_KEY_FILE": str(key)}),
        },
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        address, lines = None, list[str]()
        while address is None:  # a server that was killed may warn first
            lines.append((await process.stderr.readline()).decode())
            assert lines[-1], lines
            address = re.search(r"http://127\.0\.0\.1:\d+", lines[-1])
        yield address[0]
    finally:
        process.kill()
        await process.wait()


class Crooked:
    """A receiver that takes some, and fails, drops or hangs with the others. `taken`: the ids of
    what it took, in their order.
    """

    def __init__(self) -> None:
        self._chance = random.Random(SEED)
        self.taken: list[str] = []

    async def answer(self, request: web.Request, came: Received) -> web.StreamResponse:
        way = self._chance.random()
        if way < 0.1:
            return web.Response(status=500)
        if 0.2 <= way < 0.21:
            await asyncio.sleep(0.7)  # longer than a server waits
        if way >= 0.2:
            self.taken.append(came.id)
        if way < 0.3 and request.transport is not None:  # of what it took, nobody hears
            request.transport.abort()
        return web.Response(status=204)


async def work(server: RunningServer, url: str, left: list[Any]) -> None:
    """Send what is left, until there is no answer."""
    timeout = aiohttp.ClientTimeout(total=30)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as http:
            token = await sign_in(url, server.email)
            headers = {"X-API-Key": server.ci_key, "Authorization": f"Bearer {token}"}
            while left:
                method, path, body = left[0]
                address = f"{url}{path.format(org=server.org_id)}"
                async with http.request(method, address, json=body, headers=headers) as answer:
                    # 409: it was done, and the server was killed before it said so.
                    assert answer.status in {200, 204, 409}, await answer.text()
                left.pop(0)
    except (aiohttp.ClientError, TimeoutError):
        return


def reports() -> list[Any]:
    bodies = [
        body
        for number in range(BUGS)
        for body in bug(number, [f"t{number}-{test}" for test in range(TESTS)])
    ]
    return [("POST", "/api/ci/run-report", body) for body in bodies]


def reviews(failures: Iterable[UUID]) -> list[Any]:
    """Return reviews of these failures: each is dismissed and confirmed three times."""
    paths = [f"/api/orgs/{{org}}/ci-failures/{failure}" for failure in failures]
    deeds = [deed for _ in range(3) for deed in ("dismiss", "confirm")]
    return [("POST", f"{path}/{deed}", {}) for deed in deeds for path in paths]


async def drive(server: RunningServer, left: list[Any], kills: int) -> int:
    """Do all that is left, with servers that are killed on the way; return how many were."""
    chance, killed = random.Random(SEED), 0
    while left or killed < kills:
        async with serving(server) as url:
            working = asyncio.create_task(work(server, url, left))
            await asyncio.sleep(chance.uniform(0.7, 2.0))
            killed += 1
        await working
    return killed


async def settle(server: RunningServer, statement: str) -> list[Any]:
    """Serve until nothing waits any more, and return the rows of a query. It is asked beside the
    server: without one it would end the log of a file, which only a server may.
    """
    waiting = "SELECT count(*) FROM delivery WHERE due_at IS NOT NULL"
    undecided = "SELECT count(*) FROM episode WHERE decision IS NULL"
    async with serving(server), asyncio.timeout(rounds(120, 1200)):
        for count in (undecided, waiting):
            while query(server.location, count)[0][0]:  # noqa: ASYNC110 - it tells nobody
                await asyncio.sleep(0.5)
        return query(server.location, statement)


async def test_each_event_arrives_and_in_order_whatever_dies(tmp_path: Path) -> None:
    crooked, half = Crooked(), (KILLS + 1) // 2
    async with receiving() as receiver:
        receiver.answer = crooked.answer
        async with running(tmp_path, webhook_networks=()) as server:
            await prepare(server, receiver)
        await drive(server, reports(), half)
        rows = await settle(server, "SELECT id FROM failure ORDER BY id LIMIT 5")
        await drive(server, reviews(UUID(bytes=bytes(row[0])) for row in rows), KILLS - half)
        deliveries = await settle(
            server, "SELECT id, event, about, status, data FROM delivery ORDER BY number"
        )

    ids = [str(UUID(bytes=bytes(row[0]))) for row in deliveries]
    assert {row[3] for row in deliveries} == {"delivered"}
    assert set(crooked.taken) == set(ids)
    real = [row for row in deliveries if row[1] == "failure.real_bug"]
    by_rules = Counter('"by":"rules"' in row[4] for row in real)
    assert by_rules == {True: BUGS * TESTS, False: REVIEWED * 3}
    first: dict[str, int] = {}
    for place, event in enumerate(crooked.taken):
        first.setdefault(event, place)
    places = defaultdict(list)
    for event, row in zip(ids, deliveries, strict=True):
        places[row[2]].append(first[event])
    assert all(those == sorted(those) for those in places.values())
    assert sorted(map(len, places.values()))[-REVIEWED:] == [4] * REVIEWED
    check_incidents([(event, json.loads(data)) for _, event, _, _, data in deliveries])


def check_incidents(events: Sequence[tuple[str, Any]]) -> None:
    """Check that each incident opened once and was over once after that. Of a bug that is fixed
    before anybody looks nothing is told, which a short run may do to all of them.
    """
    told: dict[str, list[str]] = defaultdict(list)
    for event, data in events:
        if event.startswith("incident."):
            told[data["incidentId"]].append(event)
    assert rounds(0, 1) <= len(told) <= BUGS
    assert all(those == ["incident.opened", "incident.resolved"] for those in told.values())


async def prepare(server: RunningServer, receiver: Receiver) -> None:
    async with aiohttp.ClientSession(raise_for_status=True) as http:
        owner = {"Authorization": f"Bearer {server.token}"}
        for events in (["failure.real_bug"], ["incident.opened", "incident.resolved"]):
            body = {"address": receiver.url, "events": events}
            await http.post(f"{server.org_url}/webhooks", json=body, headers=owner)
        key = {"X-API-Key": server.ci_key}
        url = f"{server.url}/api/ci/suite-config"
        await http.put(url, json=CONFIGURATION, headers=key)
