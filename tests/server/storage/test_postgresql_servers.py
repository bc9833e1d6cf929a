# SPDX-License-Identifier: Apache-2.0
"""Several servers on one database, asked over HTTP."""

import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import jwt
import pytest

from hwci.server.app import RotateSecret, serving
from hwci.server.clock import system_clock
from hwci.server.security.secret_key import signing_keys
from tests.support.asking import ask, bearer
from tests.support.databases import only_where_wanted
from tests.support.running import EMAIL, PASSWORD, RunningServer, in_thread, running, settings_of

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


def test_a_key_that_may_have_leaked_is_refused_by_every_server(servers: Servers) -> None:
    token = servers.first.token
    servers.first.operate(RotateSecret(drop_former=True))
    for url in servers.urls:
        while me(url, token) != 401:
            pass  # within a sweep
    again = sign_in(servers.urls[1])
    assert [me(url, again) for url in servers.urls] == [200] * 3
