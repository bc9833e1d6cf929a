# SPDX-License-Identifier: Apache-2.0
"""Guessing passwords reveals nothing, stops no reports and locks no one out (contract, "Auth",
"Everywhere").
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from hwci.server.app import serving
from hwci.server.security import passwords
from hwci.server.settings import Settings
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage
from tests.support.asking import Reply, ask
from tests.support.running import (
    EMAIL,
    PASSWORD,
    Hands,
    RunningServer,
    new_organization,
    report,
    running,
)

LOOPBACK = (ip_network("127.0.0.0/8"),)
ATTACKER, VICTIM, BENCH = "203.0.113.66", "198.51.100.1", "198.51.100.2"
LOGIN = "/api/auth/login"
PASSWORDLESS = "through-a-provider@example.org"


@asynccontextmanager
async def asking(server: RunningServer, address: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Ask as someone at an address, which a proxy names to the server."""
    headers = {"X-Forwarded-For": address}
    lines = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(server.url, headers=headers, connector=lines) as http:
        yield http


async def login(
    http: aiohttp.ClientSession, email: str = EMAIL, password: str = "wrong password"
) -> tuple[int, Any]:
    body = {"email": email, "password": password}
    async with http.post(LOGIN, json=body) as answer:
        return answer.status, await answer.json()


async def add_passwordless(storage: Storage) -> None:
    """Add someone who signs in through a provider only."""
    owner = await storage.read(lambda reader: reader.user_by_email(EMAIL))
    assert owner is not None
    person = replace(
        owner, id=uuid4(), email=PASSWORDLESS, email_key=PASSWORDLESS, password_hash=None
    )
    await storage.write(lambda writer: writer.add_user(person))


class Watched:
    """Checks passwords as ever, and notes the cost of each check."""

    def __init__(self) -> None:
        self.costs: list[str] = []

    def verify(self, password: str, kept: str) -> bool:
        self.costs.append(kept[: kept.index("$", len("$argon2id$v=19$"))])
        return bool(REAL.verify(password, kept))

    def hash(self, password: str) -> str:
        return str(REAL.hash(password))


REAL = passwords._ARGON2
pytestmark = pytest.mark.usefixtures("real_passwords")


async def test_no_answer_and_no_work_reveals_who_has_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "hwci.db"
    await asyncio.to_thread(new_organization, database)
    watched = Watched()
    monkeypatch.setattr(passwords, "_ARGON2", watched)
    storage = open_storage(str(database))
    try:
        await add_passwordless(storage)
        async with serving(Settings(database=str(database), port=0), storage=storage) as server:
            answers = [
                await asyncio.to_thread(ask, server.url, "POST", LOGIN, json_body=body)
                for email in (EMAIL, PASSWORDLESS, "nobody@example.org", EMAIL.upper())
                for body in [{"email": email, "password": "wrong password"}]
            ]
    finally:
        await storage.close()

    assert {reply.error for reply in answers} == {(401, "Invalid e-mail or password")}
    assert len({reply.body for reply in answers}) == 1
    assert len({frozenset(without_id(reply).items()) for reply in answers}) == 1
    assert watched.costs == ["$argon2id$v=19$m=19456,t=2,p=1"] * 4


def without_id(reply: Reply) -> dict[str, str]:
    passing = {"x-request-id", "date"}
    return {name: value for name, value in reply.headers.items() if name not in passing}


@pytest.mark.parametrize("rate_limit", ["off", "100/minute"])
async def test_a_flood_of_sign_ins_stops_no_report(tmp_path: Path, rate_limit: str) -> None:
    limits: dict[str, Any] = {
        "rate_limit": rate_limit,
        "auth_rate_limit": "off" if rate_limit == "off" else None,
    }
    async with (
        running(tmp_path, trusted_proxies=LOOPBACK, **limits) as server,
        asking(server, ATTACKER) as attacker,
        asking(server, BENCH) as bench,
    ):
        flood = asyncio.gather(*(login(attacker) for _ in range(200)))
        reports = []
        key = {"X-API-Key": server.ci_key}
        for number in range(40):
            async with bench.post(
                "/api/ci/run-report", json=report(run_id=number), headers=key
            ) as answer:
                reports.append(answer.status)
        statuses = [status for status, _ in await flood]

    assert reports == [204] * 40
    assert set(statuses) == ({401, 503} if rate_limit == "off" else {401, 429})
    if rate_limit != "off":
        assert statuses.count(401) == 10


async def test_an_attacker_who_guesses_is_stopped_and_the_owner_signs_in(
    tmp_path: Path,
) -> None:
    hands = Hands()
    async with (
        running(
            tmp_path,
            hands,
            rate_limit="100/minute",
            auth_rate_limit=None,
            trusted_proxies=LOOPBACK,
        ) as server,
        asking(server, ATTACKER) as attacker,
        asking(server, VICTIM) as victim,
    ):
        guesses = []
        for _ in range(120):
            guesses.append((await login(attacker))[0])
            hands.move(seconds=1)

        # Not even the right password helps who guessed too often, and no other caller is held up.
        assert guesses.count(401) == 10
        assert set(guesses) == {401, 429}
        hands.move(minutes=1)
        assert (await login(attacker, EMAIL, PASSWORD))[0] == 429
        assert (await login(victim, EMAIL, PASSWORD))[0] == 200
