# SPDX-License-Identifier: Apache-2.0
"""Twenty accounts, each with an organization, open all the streams of a server, and reconnect."""

import asyncio

import aiohttp

from hwci.wire import limits
from tests.attack.scene import Attack, Scene

ACCOUNTS = limits.STREAMS_PER_SERVER // limits.STREAMS_PER_USER
FOLLOWS = 10
NO_LIMIT = aiohttp.ClientTimeout(total=None)


async def _fill(scene: Scene) -> None:
    async with scene.attacker.asking(scene.url, timeout=NO_LIMIT) as http:
        signed = [await _account(http, number) for number in range(ACCOUNTS)]
        opened = asyncio.Semaphore(0)

        async def follow(path: str, headers: dict[str, str]) -> None:
            while True:
                async with http.get(path, headers=headers) as stream:
                    opened.release()
                    await stream.read()
                await asyncio.sleep(0.5)

        follows = [
            asyncio.create_task(follow(path, headers))
            for path, headers in signed
            for _ in range(limits.STREAMS_PER_USER)
        ]
        try:
            for _ in follows:
                await opened.acquire()
            await _follow_as_the_victim(scene)
        finally:
            for task in follows:
                task.cancel()
            await asyncio.gather(*follows, return_exceptions=True)


async def _account(http: aiohttp.ClientSession, number: int) -> tuple[str, dict[str, str]]:
    """Register and make an organization; return the path of its stream, and who may follow it."""
    person = {"email": f"a{number}@example.org", "password": f"one of many {number}", "name": "A"}
    async with http.post("/api/auth/register", json=person) as reply:
        assert reply.status == 201, await reply.text()
        signed = {"Authorization": f"Bearer {(await reply.json())['accessToken']}"}
    async with http.post("/api/orgs", json={"name": "A"}, headers=signed) as reply:
        assert reply.status == 201, await reply.text()
        return f"/api/orgs/{(await reply.json())['id']}/runs/stream", signed


async def _follow_as_the_victim(scene: Scene) -> None:
    victim = scene.victim
    async with victim.asking(scene.url, timeout=NO_LIMIT) as http:
        path = victim.path("runs/stream")
        streams = [await http.get(path, headers=victim.bearer) for _ in range(FOLLOWS)]
        await asyncio.sleep(5)
        statuses = [stream.status for stream in streams]
        ended = sum(stream.content.at_eof() for stream in streams)
        for stream in streams:
            stream.close()
    assert statuses == [200] * FOLLOWS, f"the victim's streams were answered {statuses}"
    assert not ended, f"{ended} of the victim's streams were ended"


ATTACK = Attack(_fill, environment={"HWCI_REGISTRATION": "open"})
