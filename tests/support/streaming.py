# SPDX-License-Identifier: Apache-2.0
"""A server whose streams are followed, its storage at hand so that a test can make events; and a
wire between a reader and a server that breaks.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import aiohttp

from hwci.contract.vocabulary import RunEventType
from hwci.server.app import serving
from hwci.server.clock import system_clock
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Happening
from tests.support.databases import new_location
from tests.support.running import (
    EMAIL,
    MEMBER_EMAIL,
    PASSWORD,
    add_members,
    new_organization,
    settings_of,
)

RUN = UUID("11111111-2222-4333-8444-555555555555")
WAIT_SECONDS = 60
"""What should come comes within this; how soon is not a claim of these tests."""


@dataclass(frozen=True)
class Scene:
    """A server, one organization, and the tokens of its owner and a member."""

    url: str
    org_id: UUID
    storage: Storage
    http: aiohttp.ClientSession
    owner: dict[str, Any]
    member: dict[str, Any]

    @property
    def runs(self) -> str:
        return f"{self.url}/api/orgs/{self.org_id}/runs"

    async def tell(self, count: int = 1, run_id: UUID = RUN, name: str = "boot") -> None:
        """Append events, each of which tells of a test whose name ends in its place among them."""
        happenings = [
            Happening(
                system_clock(),
                RunEventType.TEST,
                run_id,
                {"test": {"id": f"{name}-{number}", "outcome": None, "attempts": None}},
            )
            for number in range(count)
        ]

        def work(writer: Writer) -> None:
            for happening in happenings:
                writer.add_event(self.org_id, happening)

        await self.storage.write(work, seconds=WAIT_SECONDS)

    async def remove(self, who: dict[str, Any]) -> None:
        """End a membership."""
        user_id = UUID(who["user"]["id"])
        await self.storage.write(lambda writer: writer.remove_membership(self.org_id, user_id))

    async def post(self, path: str, body: Any, **headers: str) -> dict[str, Any]:
        async with self.http.post(f"{self.url}{path}", json=body, headers=headers) as reply:
            assert reply.status < 300, await reply.text()
            text = await reply.text()
            return dict(json.loads(text)) if text else {}

    async def get(self, path: str, **headers: str) -> dict[str, Any]:
        async with self.http.get(f"{self.url}{path}", headers=headers) as reply:
            return dict(await reply.json())

    async def delete(self, path: str, **headers: str) -> None:
        async with self.http.delete(f"{self.url}{path}", headers=headers) as reply:
            assert reply.status < 300, await reply.text()

    async def sign_in(self, email: str) -> dict[str, Any]:
        return await self.post("/api/auth/login", {"email": email, "password": PASSWORD})


@asynccontextmanager
async def streaming(
    folder: Path, clock: Callable[[], datetime] = system_clock, **others: Any
) -> AsyncIterator[Scene]:
    """Run such a server; `others`: of its settings."""
    patience = aiohttp.ClientTimeout(total=None, sock_read=WAIT_SECONDS)
    with new_location(folder) as location:
        org_id = await asyncio.to_thread(new_organization, location)
        await add_members(location, org_id, clock())
        settings = settings_of(location, rate_limit="off", auth_rate_limit="off", **others)
        storage = open_storage(location)
        try:
            async with (
                aiohttp.ClientSession(timeout=patience) as http,
                serving(settings, clock=clock, storage=storage) as server,
            ):
                scene = Scene(server.url, org_id, storage, http, {}, {})
                scene.owner.update(await scene.sign_in(EMAIL))
                scene.member.update(await scene.sign_in(MEMBER_EMAIL))
                yield scene
        finally:
            await storage.close()


def bearer(who: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {who['accessToken']}"}


class Reader:
    """Reads a stream in the plainest way: blocks up to an empty line."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.response = response

    async def block(self) -> list[str]:
        text = (await self.response.content.readuntil(b"\n\n")).decode()
        return text.removesuffix("\n\n").split("\n")

    async def event(self) -> dict[str, str]:
        async with asyncio.timeout(WAIT_SECONDS):
            while True:
                fields = dict(line.split(": ", 1) for line in await self.block() if line[0] != ":")
                if "data" in fields:
                    return fields

    async def ids(self, count: int) -> list[int]:
        return [int((await self.event())["id"]) for _ in range(count)]

    async def rest(self) -> bytes:
        """Return what comes until the end, which must be a proper one."""
        async with asyncio.timeout(WAIT_SECONDS):
            return await self.response.content.read()


@asynccontextmanager
async def following(
    scene: Scene, who: dict[str, Any] | None = None, query: str = "", **headers: str
) -> AsyncIterator[Reader]:
    signed = {**bearer(who or scene.member), **headers}
    async with scene.http.get(f"{scene.runs}/stream{query}", headers=signed) as response:
        assert response.status == 200, await response.text()
        reader = Reader(response)
        assert (await reader.block())[0].startswith(":"), "something comes at once"
        yield reader


async def refusal(scene: Scene, query: str = "", **headers: str) -> tuple[int, dict[str, Any]]:
    async with scene.http.get(f"{scene.runs}/stream{query}", headers=headers) as response:
        assert response.content_type == "application/json"
        assert response.headers["x-request-id"]
        return response.status, await response.json()


def after(number: int | str) -> dict[str, Any]:
    return {"Last-Event-ID": str(number)}


@asynccontextmanager
async def many(scene: Scene, count: int) -> AsyncIterator[list[Reader]]:
    """Follow so many times, as two people: one alone may not."""
    async with AsyncExitStack() as held:
        people = (scene.owner, scene.member)
        yield [
            await held.enter_async_context(following(scene, people[number % 2]))
            for number in range(count)
        ]


async def ci_key(scene: Scene) -> dict[str, str]:
    made = await scene.post(
        f"/api/orgs/{scene.org_id}/ci-keys", {"name": "t"}, **bearer(scene.owner)
    )
    return {"X-API-Key": made["apiKey"]}


@dataclass
class Wire:
    """A way to a server that breaks after so many bytes, as often as is wished."""

    server: str
    chance: random.Random
    cuts: int
    bytes_max: int
    made: int = 0
    url: str = ""

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = urlsplit(self.server)
        upward, downward = await asyncio.open_connection(address.hostname, address.port)
        asked = asyncio.create_task(_pass(reader, downward))
        try:
            left = self.chance.randint(1, self.bytes_max)
            while data := await upward.read(65536):
                cut = self.made < self.cuts and len(data) >= left
                writer.write(data[:left] if cut else data)
                await writer.drain()
                if cut:
                    self.made += 1
                    break
                left -= len(data)
        except ConnectionError:
            pass
        finally:
            asked.cancel()
            downward.transport.abort()
            writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def breaking(server: str, cuts: int, bytes_max: int) -> AsyncIterator[Wire]:
    """Lay such a wire. Where it breaks is told by the seed, which a failing test shows."""
    seed = uuid4().int
    wire = Wire(server, random.Random(seed), cuts, bytes_max)
    print(f"the wire breaks by seed {seed}")  # noqa: T201 - shown when the test fails
    listening = await asyncio.start_server(wire.carry, "127.0.0.1", 0)
    async with listening:
        wire.url = "http://{}:{}".format(*listening.sockets[0].getsockname())
        yield wire
