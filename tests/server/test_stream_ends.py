# SPDX-License-Identifier: Apache-2.0
"""Who may follow runs, for how long, and how many at once (contract, "Runs and streams")."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp
import pytest
from aiohttp import web

from hwci.server.app import SetUserEnabled
from hwci.server.clock import system_clock
from hwci.server.errors import StoppingError
from hwci.server.http import refusals
from hwci.server.http import streams as over_http
from hwci.server.security.passwords import Passwords
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens
from hwci.server.services.access import Access, Member
from hwci.server.services.operator.operator import Operator, Secret
from hwci.server.services.runs import streams
from hwci.wire import limits
from tests.support.running import ADMIN_EMAIL, EMAIL, MEMBER_EMAIL, PASSWORD, Hands
from tests.support.streaming import (
    WAIT_SECONDS,
    Reader,
    Scene,
    after,
    bearer,
    following,
    refusal,
    streaming,
)


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with streaming(tmp_path) as scene:
        yield scene


# Who may follow, and for how long


async def test_a_stream_is_for_members_and_its_token_stands_in_no_address(scene: Scene) -> None:
    token = scene.member["accessToken"]
    for query in ("", f"?token={token}", f"?access_token={token}", "?runId=x"):
        status, _ = await refusal(scene, query)
        assert status == 401
    elsewhere = f"{scene.url}/api/orgs/{uuid4()}/runs/stream"
    async with scene.http.get(elsewhere, headers=bearer(scene.member)) as response:
        assert response.status == 404
    status, body = await refusal(scene, "?runId=x", **bearer(scene.member))
    assert (status, body["issues"][0]["path"]) == (400, ["query", "runId"])


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look more often whether a follower may stay."""
    assert streams.CHECK_SECONDS < 5
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.05)


@pytest.mark.usefixtures("often")
async def test_a_stream_ends_with_its_session(scene: Scene) -> None:
    other = await scene.sign_in(EMAIL)
    async with following(scene) as reader, following(scene, other) as stays:
        await scene.post("/api/auth/logout", {"refreshToken": scene.member["refreshToken"]})
        assert b"data" not in await reader.rest()
        await scene.tell()
        assert await stays.ids(1) == [1]
    assert (await refusal(scene, **bearer(scene.member)))[0] == 401


@pytest.mark.usefixtures("often")
async def test_a_stream_ends_when_a_refresh_token_comes_twice(scene: Scene) -> None:
    held = {"refreshToken": scene.member["refreshToken"]}
    async with following(scene) as reader:
        await scene.post("/api/auth/refresh", held)
        async with scene.http.post(f"{scene.url}/api/auth/refresh", json=held) as reply:
            assert reply.status == 401
        await reader.rest()


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("deed", ["one ended", "others ended", "password", "disabled"])
async def test_a_stream_ends_with_what_a_person_or_the_operator_ends(
    scene: Scene, deed: str
) -> None:
    other = bearer(await scene.sign_in(MEMBER_EMAIL))
    async with following(scene) as reader, following(scene, scene.owner) as stays:
        if deed == "one ended":
            (_, held) = (await scene.get("/api/auth/sessions", **other))["items"]
            await scene.delete(f"/api/auth/sessions/{held['id']}", **other)
        elif deed == "others ended":
            await scene.delete("/api/auth/sessions", **other)
        elif deed == "password":
            body = {"currentPassword": PASSWORD, "newPassword": "another good password"}
            await scene.post("/api/auth/password", body, **other)
        else:
            await disable(scene)
        assert b"data" not in await reader.rest()
        await scene.tell()
        assert await stays.ids(1) == [1]
    assert (await refusal(scene, **bearer(scene.member)))[0] == 401


async def disable(scene: Scene) -> None:
    """Disable the member, as the operator does."""
    passwords = Passwords()
    operator = Operator(scene.storage, system_clock, passwords, Secret(None))
    await operator.carry_out(SetUserEnabled(email=MEMBER_EMAIL, enabled=False))
    passwords.close()


@pytest.mark.usefixtures("often")
async def test_a_stream_ends_with_the_membership(scene: Scene) -> None:
    async with following(scene) as reader, following(scene, scene.owner) as stays:
        await scene.remove(scene.member)
        await reader.rest()
        await scene.tell()
        assert await stays.ids(1) == [1]
    assert (await refusal(scene, **bearer(scene.member)))[0] == 404


@pytest.mark.usefixtures("often")
async def test_a_stream_ends_with_its_access_token_and_not_before(tmp_path: Path) -> None:
    clock = Hands(system_clock().replace(microsecond=0))
    async with streaming(tmp_path, clock) as scene:
        renewed = await scene.post(
            "/api/auth/refresh", {"refreshToken": scene.member["refreshToken"]}
        )
        async with following(scene) as reader:
            clock.move(minutes=15, microseconds=-1)
            await scene.tell()
            assert await reader.ids(1) == [1]
            clock.move(microseconds=1)
            await reader.rest()
        pair = {"refreshToken": renewed["refreshToken"]}
        async with following(scene, await scene.post("/api/auth/refresh", pair), **after(0)) as on:
            assert await on.ids(1) == [1]


async def test_a_database_that_fails_ends_a_stream_without_a_second_answer(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.05)
    async with following(scene) as reader:
        await scene.storage.close()
        assert b"HTTP/" not in await reader.rest()


# How many


async def test_a_person_follows_ten_streams_and_no_eleventh(scene: Scene) -> None:
    async with (
        aiohttp.ClientSession() as http,
        following(scene, await scene.sign_in(ADMIN_EMAIL)),
    ):
        signed = bearer(scene.member)
        opened = [
            await http.get(f"{scene.runs}/stream", headers=signed)
            for _ in range(limits.STREAMS_PER_USER)
        ]
        async with http.get(f"{scene.runs}/stream", headers=signed) as response:
            assert response.status == 429
            assert response.headers["Retry-After"] == "15"
            assert "You follow 10 streams" in (await response.json())["message"]
        async with following(scene, scene.owner):
            pass
        opened[0].close()
        await until_one_may_follow(scene, scene.member)
        assert [response.status for response in opened] == [200] * 10
        for response in opened:
            response.close()


async def until_one_may_follow(scene: Scene, who: dict[str, Any]) -> None:
    """Return once a place is free."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            async with scene.http.head(f"{scene.runs}/stream", headers=bearer(who)) as response:
                if response.status == 200:
                    return
            await asyncio.sleep(0.02)


async def test_places_are_counted_exactly_when_many_come_at_once(scene: Scene) -> None:
    many, statuses, all_are_here = 30, [], asyncio.Event()

    async def come(http: aiohttp.ClientSession) -> None:
        async with http.get(f"{scene.runs}/stream", headers=bearer(scene.member)) as response:
            statuses.append(response.status)
            if len(statuses) == many:
                all_are_here.set()
            await all_are_here.wait()

    async with aiohttp.ClientSession() as http, asyncio.timeout(120):
        await asyncio.gather(*(come(http) for _ in range(many)))

    assert (statuses.count(200), statuses.count(429)) == (10, 20)


async def test_a_server_has_so_many_places(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.STREAMS_PER_SERVER == 200
    monkeypatch.setattr(limits, "STREAMS_PER_SERVER", 2)
    async with following(scene), following(scene, scene.owner):
        status, body = await refusal(scene, **bearer(await scene.sign_in(ADMIN_EMAIL)))
        assert (status, "this server" in body["message"]) == (429, True)


async def test_a_reader_who_does_not_read_is_cut_and_the_others_hear_all(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert over_http.DRAIN_SECONDS <= 10
    monkeypatch.setattr(over_http, "_taken", impatient_with_the_deaf)
    monkeypatch.setattr(limits, "STREAMS_PER_SERVER", 2)
    deaf, count = await asyncio.to_thread(deaf_reader, scene), 3_000
    async with following(scene, scene.owner) as reader:
        assert (await refusal(scene, **bearer(scene.owner)))[0] == 429
        await scene.tell(count, name="t" * 480)
        assert await reader.ids(count) == list(range(1, count + 1))
        await until_one_may_follow(scene, scene.owner)
    heard = await asyncio.to_thread(hear_until_the_end, deaf)
    assert len(heard) < 1024 * 1024
    assert not heard.endswith(b"0\r\n\r\n"), "it is cut, and not ended"


async def impatient_with_the_deaf(
    request: web.Request, sending: Awaitable[object], seconds: float
) -> None:
    """Wait as long as ever for who reads: a busy machine does not always read at once."""
    await TAKEN(request, sending, 0.2 if DEAF in request.headers else seconds)


TAKEN = over_http._taken
DEAF = "X-Deaf"


def deaf_reader(scene: Scene) -> socket.socket:
    """Ask for a stream and read nothing of it."""
    address = urlsplit(scene.runs)
    line = socket.create_connection((address.hostname, address.port), timeout=WAIT_SECONDS)
    token = scene.member["accessToken"]
    signed = f"Host: x\r\n{DEAF}: yes\r\nAuthorization: Bearer {token}\r\n"
    line.sendall(f"GET {address.path}/stream HTTP/1.1\r\n{signed}\r\n".encode())
    assert line.recv(12) == b"HTTP/1.1 200"
    return line


def hear_until_the_end(line: socket.socket) -> bytes:
    """Return what can be read until the connection breaks."""
    heard = b""
    with line, suppress(ConnectionError):
        while chunk := line.recv(65536):
            heard += chunk
    return heard


# The end of the server


async def test_a_server_that_stops_ends_its_streams_properly(tmp_path: Path) -> None:
    async with streaming(tmp_path) as scene:
        http = aiohttp.ClientSession()
        response = await http.get(f"{scene.runs}/stream", headers=bearer(scene.member))
        await Reader(response).block()
    async with http:
        assert await Reader(response).rest() == b": closing\n\n"


async def test_a_server_that_stops_takes_no_stream(scene: Scene) -> None:
    signer = Signer(b"k" * 32, system_clock)
    stopped = streams.Streams(
        scene.storage, system_clock, Access(scene.storage, system_clock, AccessTokens(signer))
    )
    stopped.close()
    nobody = streams.Subscription(None, None, lambda: True, "192.0.2.1")

    with pytest.raises(StoppingError) as caught:
        async with stopped.following(cast("Member", None), nobody):
            pass
    assert refusals.status_of(caught.value) == 503
