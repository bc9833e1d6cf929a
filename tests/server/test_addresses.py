# SPDX-License-Identifier: Apache-2.0
"""Where a request comes from: only trusted proxies are believed (contract, "Everywhere")."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_network

import pytest
from aiohttp import web

from hwci.server.app import serving
from hwci.server.errors import SettingsError
from hwci.server.http.addresses import address_of, note_origin, scheme_of
from hwci.server.http.connections.runner import AROUND, Handle, SpecRunner
from hwci.server.settings import Network, Settings, read_settings
from tests.support.asking import Header, ask

INSIDE = (ip_network("127.0.0.0/8"), ip_network("10.0.0.0/8"), ip_network("::1/128"))
DOCUMENT = "/api/openapi.json"


def by(*addresses: str) -> tuple[Header, ...]:
    return tuple(("X-Forwarded-For", address) for address in addresses)


@dataclass(frozen=True)
class Listening:
    url: str

    async def origin(self, *headers: Header) -> str:
        return (await asyncio.to_thread(ask, self.url, "GET", "/", *headers)).body.decode()


@asynccontextmanager
async def listening(
    trusted: tuple[Network, ...] = INSIDE, host: str = "127.0.0.1"
) -> AsyncIterator[Listening]:
    """Run a server that says where it takes a request to come from."""

    async def say(request: web.Request) -> web.Response:
        return web.Response(text=f"{scheme_of(request)} {address_of(request)}")

    def around(handle: Handle) -> Handle:
        async def noted(request: web.BaseRequest) -> web.StreamResponse:
            note_origin(request, trusted)
            return await handle(request)

        return noted

    app = web.Application()
    app[AROUND] = around
    app.router.add_get("/", say)
    runner = SpecRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, 0).start()
        port = runner.addresses[0][1]
        yield Listening(f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    finally:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("headers", "address"),
    [
        ((), "127.0.0.1"),
        (by("203.0.113.7"), "203.0.113.7"),
        (by("203.0.113.7:4711"), "203.0.113.7"),
        (by(" 203.0.113.7 ,,10.1.2.3, "), "203.0.113.7"),
        # What stands left of the first who is not trusted, he may have written himself.
        (by("192.0.2.1, 203.0.113.7, 10.1.2.3"), "203.0.113.7"),
        (by("192.0.2.1", "203.0.113.7", "10.1.2.3"), "203.0.113.7"),
        (by("10.9.9.9, 203.0.113.7"), "203.0.113.7"),
        (by("127.0.0.1, ::1, 203.0.113.7"), "203.0.113.7"),
        (by("garbage, 203.0.113.7"), "203.0.113.7"),
        # From one inside to another.
        (by("10.1.1.1, 10.1.2.3"), "10.1.1.1"),
        # No address: it counts as the last proxy that has one.
        (by("unknown"), "127.0.0.1"),
        (by("203.0.113.7, garbage"), "127.0.0.1"),
        (by("203.0.113.7, 999.1.1.1, 10.1.2.3"), "10.1.2.3"),
        (by("203.0.113.7, 10.0.0.1/8"), "127.0.0.1"),
        (by("x" * 4_000), "127.0.0.1"),
        # IPv6 counts by the network of a subscriber, IPv4 in IPv6 as what it is.
        (by("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64"),
        (by("[2001:db8:1:2::9]:4711"), "2001:db8:1:2::/64"),
        (by("[2001:db8:1:2::9]"), "2001:db8:1:2::/64"),
        (by("::ffff:203.0.113.7"), "203.0.113.7"),
        (by("::FFFF:CB00:7107"), "203.0.113.7"),
        (by("203.0.113.7, ::ffff:10.1.2.3"), "203.0.113.7"),
        # Others' words do not count, even a trusted proxy may only have passed them on.
        ((("X-Real-IP", "203.0.113.7"),), "127.0.0.1"),
        ((("Forwarded", "for=203.0.113.7;proto=https"),), "127.0.0.1"),
    ],
)
async def test_the_nearest_address_that_is_no_trusted_proxy_counts(
    headers: tuple[Header, ...], address: str
) -> None:
    async with listening() as server:
        assert await server.origin(*headers) == f"http {address}"


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [
        ((("X-Forwarded-Proto", "https"),), "https"),
        ((("X-Forwarded-Proto", "HTTPS"), *by("203.0.113.7")), "https"),
        ((("X-Forwarded-Proto", "http"), *by("203.0.113.7")), "http"),
        # The outer proxy was spoken to by https, and speaks http to the inner one.
        ((("X-Forwarded-Proto", "https, http"), *by("203.0.113.7, 10.1.2.3")), "https"),
        # The caller has put his own word in front.
        ((("X-Forwarded-Proto", "https, http"), *by("192.0.2.1, 203.0.113.7")), "http"),
        ((("X-Forwarded-Proto", "gopher"),), "http"),
        ((("X-Forwarded-Proto", ""),), "http"),
    ],
)
async def test_a_trusted_proxy_says_by_which_scheme_the_caller_came(
    headers: tuple[Header, ...], scheme: str
) -> None:
    async with listening() as server:
        assert (await server.origin(*headers)).split()[0] == scheme


async def test_only_trusted_proxies_are_believed() -> None:
    said = (*by("203.0.113.7"), ("X-Forwarded-Proto", "https"), ("X-Real-IP", "203.0.113.8"))
    for trusted in ((), (ip_network("192.0.2.0/24"),), (ip_network("::/0"),)):
        async with listening(trusted) as server:
            assert await server.origin(*said) == "http 127.0.0.1"


async def test_a_proxy_may_speak_ipv6() -> None:
    async with listening(host="::1") as server:
        assert await server.origin() == "http ::/64"
        assert await server.origin(*by("203.0.113.7")) == "http 203.0.113.7"


# What follows for the limits


async def passed(settings: Settings, headers: list[tuple[Header, ...]]) -> int:
    async with serving(settings) as server:
        answers = await asyncio.gather(
            *(asyncio.to_thread(ask, server.url, "GET", DOCUMENT, *one) for one in headers)
        )
    return [reply.status for reply in answers].count(200)


LIMITED = Settings(database="memory:", port=0, rate_limit="20/hour")
BEHIND = Settings(database="memory:", port=0, rate_limit="20/hour", trusted_proxies=INSIDE)


async def test_invented_addresses_give_no_more_requests() -> None:
    chance = random.Random(3)

    def invented() -> str:
        return ".".join(str(chance.randrange(256)) for _ in range(4))

    kinds = ("X-Forwarded-For", "X-Real-IP", "True-Client-IP", "CF-Connecting-IP")
    headers = [
        (*((kind, invented()) for kind in kinds), ("Forwarded", f"for={invented()}"))
        for _ in range(100)
    ]
    assert await passed(LIMITED, headers) == 20


async def test_behind_a_proxy_addresses_invented_before_the_true_one_give_no_more() -> None:
    headers = [by(f"198.51.100.{number}, 203.0.113.7") for number in range(100)]
    assert await passed(BEHIND, headers) == 20


async def test_all_addresses_of_one_ipv6_subscriber_count_together() -> None:
    chance, network = random.Random(5), int(IPv6Address("2001:db8:7::"))
    headers = [by(str(IPv6Address(network + chance.getrandbits(64)))) for _ in range(100)]
    assert await passed(BEHIND, headers) == 20


async def test_behind_a_proxy_everybody_has_a_limit_of_his_own() -> None:
    headers = [by(f"203.0.113.{number}") for number in range(100)]
    assert await passed(BEHIND, headers) == 100


@pytest.mark.parametrize("text", ["proxy.example.org", "10.0.0.1/8", "10.0.0.0/8;::1"])
def test_proxies_are_named_by_address_or_network(text: str) -> None:
    with pytest.raises(SettingsError, match="HWCI_TRUSTED_PROXIES"):
        read_settings({"HWCI_TRUSTED_PROXIES": text})
    found = read_settings({"HWCI_TRUSTED_PROXIES": "127.0.0.0/8, 10.0.0.0/8,::1"})
    assert found.trusted_proxies == INSIDE
