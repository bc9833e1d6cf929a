# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database, asked over HTTP."""

import asyncio
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

import jwt
import pytest

from hwci.server.app import RotateSecret, serving
from hwci.server.clock import system_clock
from hwci.server.security.secret_key import signing_keys
from hwci.server.storage.postgresql.store import PostgresqlStorage
from tests.support.asking import ask, bearer, ci_key
from tests.support.benches import Benches
from tests.support.databases import Server, only_where_wanted, query
from tests.support.running import (
    EMAIL,
    PASSWORD,
    Hands,
    RunningServer,
    in_thread,
    report,
    running,
    settings_of,
)
from tests.support.soak import rounds

pytestmark = only_where_wanted


@dataclass(frozen=True)
class Servers:
    """The first server, which has an organization, and the addresses of all."""

    first: RunningServer
    urls: Sequence[str]


@asynccontextmanager
async def several(folder: Path, *clocks: Callable[[], datetime]) -> AsyncIterator[Servers]:
    """Run a server for each clock on one new database."""
    limits = {"rate_limit": "off", "auth_rate_limit": "off"}
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(running(folder, clocks[0]))
        urls = [first.url]
        for clock in clocks[1:]:
            settings = settings_of(first.location, **limits)
            server = await stack.enter_async_context(serving(settings, clock=clock))
            urls.append(server.url)
        yield Servers(first, urls)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    with in_thread(several(tmp_path, *[system_clock] * 3)) as found:
        yield found


def me(url: str, token: str) -> int:
    return ask(url, "GET", "/api/auth/me", bearer(token)).status


def is_signed_by(token: str, key: bytes) -> bool:
    try:
        jwt.decode(token, key, algorithms=["HS256"], audience="hwci")
    except jwt.InvalidSignatureError:
        return False
    return True


def sign_in(url: str) -> str:
    body = {"email": EMAIL, "password": PASSWORD}
    return str(ask(url, "POST", "/api/auth/login", json_body=body).json["accessToken"])


async def test_only_one_of_two_simultaneous_set_up_tokens_makes_the_first_user(
    postgresql: Server,
) -> None:
    async def register(url: str, email: str, token: str | None) -> int:
        body = {"email": email, "password": PASSWORD, "name": "Ada", "inviteToken": token}
        path = "/api/auth/register"
        return (await asyncio.to_thread(ask, url, "POST", path, json_body=body)).status

    for _ in range(rounds(2, 40)):
        with postgresql.database() as location:
            settings = settings_of(location, rate_limit="off", auth_rate_limit="off")
            async with serving(settings) as one, serving(settings) as other:
                tokens = (one.set_up_token, other.set_up_token)
                asked = product((one.url, other.url), tokens)
                found = await asyncio.gather(
                    *(
                        register(url, f"{number}@example.org", token)
                        for number, (url, token) in enumerate(asked)
                    )
                )
        assert sorted(found) == [201, 403, 403, 403]


def test_while_the_signing_key_is_changed_each_server_takes_the_tokens_of_all(
    servers: Servers,
) -> None:
    done = threading.Event()
    seen: set[int] = set()

    def sign_in_and_ask_all() -> None:
        while not done.is_set():
            for url in servers.urls:
                token = sign_in(url)
                seen.update(me(other, token) for other in servers.urls)

    former = signing_keys(servers.first.key_file).present
    with ThreadPoolExecutor(1) as thread:
        asking = thread.submit(sign_in_and_ask_all)
        try:
            servers.first.operate(RotateSecret())
            keys = signing_keys(servers.first.key_file)
            for url in servers.urls:
                while not is_signed_by(sign_in(url), keys.present):
                    pass  # within a sweep
        finally:
            done.set()
        asking.result()
    assert seen == {200}
    assert [key.value for key in keys.former] == [former]


def ahead() -> datetime:
    return system_clock() + timedelta(minutes=5)


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Servers]:
    """Two servers, whose clocks differ by five minutes."""
    with in_thread(several(tmp_path, system_clock, ahead)) as found:
        yield found


def test_servers_whose_clocks_differ_take_each_others_tokens_once(apart: Servers) -> None:
    for url in apart.urls:
        token = sign_in(url)
        assert [me(other, token) for other in apart.urls] == [200] * 2
    body = {"email": EMAIL, "password": PASSWORD}
    held = ask(apart.urls[1], "POST", "/api/auth/login", json_body=body).json
    pairs = [held]
    for url in (*apart.urls, *apart.urls):
        pair = {"refreshToken": pairs[-1]["refreshToken"]}
        pairs.append(ask(url, "POST", "/api/auth/refresh", json_body=pair).json)
    again = {"refreshToken": pairs[1]["refreshToken"]}
    assert ask(apart.urls[0], "POST", "/api/auth/refresh", json_body=again).status == 401
    last = {"refreshToken": pairs[-1]["refreshToken"]}
    assert ask(apart.urls[1], "POST", "/api/auth/refresh", json_body=last).status == 401
    assert [me(url, pairs[-1]["accessToken"]) for url in apart.urls] == [401] * 2


def test_pages_and_events_do_not_depend_on_the_clocks_of_servers(apart: Servers) -> None:
    server, (behind, before) = apart.first, apart.urls
    benches = Benches(server, Hands())
    box = benches.installed("bench-1")
    key = ci_key(server.ci_key)
    head = benches.head(run_id=1)
    run = ask(before, "POST", "/api/box/runs", ci_key(box), json_body=head).json["id"]
    fed = {"events": [{"type": "test", "id": "boot", "outcome": "pass", "attempts": 1}]}
    path = f"/api/box/runs/{run}/events"
    assert ask(behind, "POST", path, ci_key(box), json_body=fed).status == 204
    runs = f"/api/orgs/{server.org_id}/runs"
    shown = [ask(url, "GET", runs, bearer(server.token)).json for url in apart.urls]
    assert shown[0] == shown[1]
    assert [one["status"] for one in shown[0]["items"]] == ["running"]

    body = report(run_id=1, box_key="bench-1")
    for url, ended in ((before, "first"), (behind, "last")):
        sent = ask(url, "POST", "/api/ci/run-report", key, json_body={**body, "conclusion": ended})
        assert sent.status == 204
    shown = [ask(url, "GET", runs, bearer(server.token)).json for url in apart.urls]
    assert shown[0] == shown[1]
    events = query(server.location, "SELECT number, type FROM event ORDER BY number")
    assert [number for number, _ in events] == list(range(1, len(events) + 1))
    assert [kind for _, kind in events] == [
        *("run.started", "run.test", "run.reported", "run.reported")
    ]
    (kept,) = query(server.location, "SELECT conclusion FROM report")
    assert kept == ("last",), "the later one, by a server whose clock is behind"


async def test_a_clock_that_is_far_from_the_databases_is_told(
    postgresql: Server, caplog: pytest.LogCaptureFixture
) -> None:
    with postgresql.database() as location:
        for clock in (system_clock, ahead):
            await PostgresqlStorage(location, clock).close()
    (said,) = [one.getMessage() for one in caplog.records]
    assert re.search(
        r"is (299|300) seconds ahead of that of postgresql:.* set both right \(NTP\)", said
    )


def test_a_key_that_may_have_leaked_is_refused_by_every_server(servers: Servers) -> None:
    token = servers.first.token
    servers.first.operate(RotateSecret(drop_former=True))
    for url in servers.urls:
        while me(url, token) != 401:
            pass  # within a sweep
    again = sign_in(servers.urls[1])
    assert [me(url, again) for url in servers.urls] == [200] * 3
