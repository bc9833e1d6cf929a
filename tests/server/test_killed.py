# SPDX-License-Identifier: Apache-2.0
"""A server that is killed keeps what it acknowledged, whole (spec, "CI report endpoints")."""

import asyncio
import random
from itertools import count
from pathlib import Path

import aiohttp

from hwci.server.storage.opening import open_storage
from tests.server.processes import service
from tests.support.running import RunningServer, report, running
from tests.support.soak import rounds

KILLS, SENDERS = rounds(2, 4), 4
TESTS = 40
SEED = 20261122


async def _send(server: RunningServer, port: int, numbers: "count[int]", kept: set[int]) -> None:
    """Send reports one after the other until there is no answer."""
    headers = {"X-API-Key": server.ci_key}
    tests = [
        {"id": f"t{n}", "outcome": "pass", "attempts": 1, "duration_s": 1} for n in range(TESTS)
    ]
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as http:
        while True:
            number = next(numbers)
            body = report(run_id=number, tests=tests)
            try:
                async with http.post("/api/ci/run-report", json=body) as answer:
                    if answer.status == 204:
                        kept.add(number)
            except aiohttp.ClientError:
                return


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    chance, numbers, kept = random.Random(SEED), count(1), set[int]()
    async with running(tmp_path) as server:
        pass
    for _ in range(KILLS):
        async with service(server.database) as killed:
            sending = [
                asyncio.create_task(_send(server, killed.port, numbers, kept))
                for _ in range(SENDERS)
            ]
            await asyncio.sleep(chance.uniform(0.5, 1.5))
            killed.process.kill()
            await asyncio.gather(*sending)

    storage = open_storage(server.database)
    facts = await storage.read(lambda reader: reader.facts(server.org_id))
    found = await storage.check()
    await storage.close()
    assert kept <= {one.run_id for one in facts.reports}
    assert len(kept) > KILLS
    assert {len(one.tests) for one in facts.reports} == {TESTS}
    assert not found.damage
