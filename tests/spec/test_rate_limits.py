# SPDX-License-Identifier: Apache-2.0
"""How often one address may ask (spec, "Limits" and "Errors")."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from hwci.server.app import serving
from hwci.server.clock import system_clock
from hwci.server.settings import Settings
from tests.spec.quoting import shows
from tests.spec.service import ANNOUNCE
from tests.support.asking import Reply, ask
from tests.support.held_port import valkey_server
from tests.support.running import Hands

GLOBAL = (
    "| Global rate | 100 requests per minute per IP | all endpoints; applied across all replicas of"
    " the service |"
)
AUTH = (
    "| Auth endpoints | stricter per-route limits on top of the global cap | `/api/auth/login`,"
    " `/api/auth/register`, `/api/auth/refresh` |"
)
EXCEEDED = "| 429 | Rate limit exceeded; response carries `Retry-After` header |"

Send = Callable[[tuple[str, str]], Awaitable[Reply]]
LOGIN = ("POST", "/api/auth/login")
ANY = (ANNOUNCE, ("GET", "/api/auth/me"), ("GET", "/api/openapi.json"), ("DELETE", "/api/nothing"))


@asynccontextmanager
async def replica(clock: Callable[[], Any] = system_clock, **settings: Any) -> AsyncIterator[Send]:
    """Run a server with the limits that it has when nobody sets any."""
    own = Settings(database="memory:", port=0, **settings)
    async with serving(own, clock=clock) as server:

        async def send(endpoint: tuple[str, str]) -> Reply:
            return await asyncio.to_thread(ask, server.url, *endpoint)

        yield send


@shows(GLOBAL)
async def test_all_replicas_together_let_100_requests_a_minute_pass() -> None:
    with valkey_server() as valkey:
        shared = f"valkey://127.0.0.1:{valkey.port}"
        async with replica(valkey_url=shared) as one, replica(valkey_url=shared) as other:
            answers = [await send(endpoint) for endpoint in ANY * 16 for send in (one, other)]
    statuses = [reply.status for reply in answers]
    assert len(statuses) == 128
    assert 429 not in statuses[:100]
    assert set(statuses[100:]) == {429}


@shows(GLOBAL)
async def test_after_a_minute_there_is_room_again() -> None:
    hands = Hands()
    async with replica(hands) as send:
        for _ in range(2):
            statuses = [(await send(ANY[1])).status for _ in range(101)]
            assert statuses == [401] * 100 + [429]
            hands.move(seconds=60)


@shows(AUTH)
@pytest.mark.parametrize(("name", "limit"), [("login", 10), ("register", 5), ("refresh", 30)])
async def test_routes_of_auth_have_stricter_limits_on_top(name: str, limit: int) -> None:
    async with replica(Hands()) as send:
        route = ("POST", f"/api/auth/{name}")
        statuses = [(await send(route)).status for _ in range(limit + 1)]

        assert (429 in statuses[:limit], statuses[limit]) == (False, 429)
        # What the stricter limit refuses does not count against the global one.
        others = [(await send(ANY[1])).status for _ in range(101 - limit)]
        assert others == [401] * (100 - limit) + [429]


@shows(EXCEEDED)
async def test_a_refusal_says_when_to_come_back() -> None:
    hands = Hands()
    async with replica(hands) as send:
        for _ in range(10):
            await send(LOGIN)
        hands.move(seconds=42.5)
        reply = await send(LOGIN)

        assert reply.error == (429, "Rate limit exceeded, retry in 18 seconds")
        assert reply.json["error"] == "Too Many Requests"
        assert reply.headers["retry-after"] == "18"
        hands.move(seconds=18)
        assert (await send(LOGIN)).status != 429
