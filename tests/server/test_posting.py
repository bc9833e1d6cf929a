# SPDX-License-Identifier: Apache-2.0
"""Requests to webhooks reach no network of the server's own that the operator has not allowed, wait
for nobody, and read nothing.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from typing import Any

import pytest
from aiohttp import ClientTimeout, web

from hwci.server.app import posting
from hwci.server.app.posting import Posting
from hwci.server.errors import PostError
from hwci.server.services.webhooks.sending import Posted
from tests.support.receiver import Received, Receiver, receiving

OWN = "in a network of the server's own"
HEADERS = {"Webhook-Id": "1"}


@asynccontextmanager
async def posts(*allowed: str) -> AsyncIterator[Posting]:
    post = Posting([ip_network(network) for network in allowed])
    try:
        yield post
    finally:
        await post.close()


def to(address: str) -> Posted:
    return Posted(address, HEADERS, b"{}")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "0x7f.0.0.1",
        "localhost",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.169.254",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[fe80::1]",
        "[fd00::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:10.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:0:0:0:0:80ff:fffe]",
    ],
)
async def test_an_address_of_an_own_network_is_refused(host: str) -> None:
    async with posts() as post:
        with pytest.raises(PostError, match=OWN):
            await post(to(f"http://{host}:9/hook"))


@pytest.mark.parametrize("host", ["127.1", "2130706433"])
async def test_a_number_that_is_no_address_in_full_is_refused(host: str) -> None:
    async with posts() as post:
        with pytest.raises(PostError, match="InvalidUrl"):
            await post(to(f"http://{host}:9/hook"))


@pytest.mark.parametrize(
    "host", ["9.9.9.9", "2620:fe::fe", "64:ff9b::909:909", "::ffff:9.9.9.9", "2001::f6f6:f6f6"]
)
async def test_a_public_address_is_not(host: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    async with posts() as post:
        post._socket((family, socket.SOCK_STREAM, 0, "", (host, 443))).close()


async def test_the_operator_allows_networks(receiver: Receiver) -> None:
    async with posts("127.0.0.0/8") as post:
        assert await post(to(f"{receiver.url}/hook")) == 204
    async with posts("127.0.0.2/32") as post:
        with pytest.raises(PostError, match=OWN):
            await post(to(f"{receiver.url}/hook"))


async def test_an_allowed_network_is_allowed_in_whatever_form_its_address_is() -> None:
    async with posts("127.0.0.0/8") as post:
        for host in ("::ffff:127.0.0.1", "64:ff9b::7f00:1"):
            post._socket((socket.AF_INET6, socket.SOCK_STREAM, 0, "", (host, 443))).close()


async def test_a_name_that_leads_elsewhere_by_then_is_refused(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["127.0.0.2", "127.0.0.1"])

    async def close(_: web.Request, __: Received) -> web.StreamResponse:
        response = web.Response(status=204)
        response.force_close()
        return response

    async def resolve(_: str, port: int, **__: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolve)
    receiver.answer = close
    address = receiver.url.replace("127.0.0.1", "hook.example")
    async with posts("127.0.0.2/32") as post:
        assert await post(to(address)) == 204
        with pytest.raises(PostError, match=OWN):
            await post(to(address))
    assert len(receiver.received) == 1


async def test_a_redirect_into_the_network_is_not_followed(receiver: Receiver) -> None:
    async def redirect(_: web.Request, __: Received) -> web.StreamResponse:
        raise web.HTTPTemporaryRedirect(f"{receiver.url}/inside")

    receiver.answer = redirect
    async with posts("127.0.0.0/8") as post:
        assert await post(to(f"{receiver.url}/hook")) == 307
    assert [came.path for came in receiver.received] == ["/hook"]


async def test_an_answer_without_end_is_not_read(receiver: Receiver) -> None:
    sent = 0

    async def endless(request: web.Request, _: Received) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 64 * 1024)
            sent += 64 * 1024

    receiver.answer = endless
    async with posts("127.0.0.0/8") as post:
        assert await post(to(f"{receiver.url}/hook")) == 200
        await asyncio.sleep(0.2)
        before = sent
        await asyncio.sleep(0.2)
    assert sent == before < 10 * 1024 * 1024


@pytest.mark.parametrize("where", ["before the answer", "within its head"])
async def test_who_does_not_answer_is_waited_for_no_longer(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(posting, "_PATIENCE", ClientTimeout(total=0.2))

    async def slowly(request: web.Request, _: Received) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        for byte in b"HTTP/1.1 200 OK\r\nX: " + b"x" * 1000:
            await asyncio.sleep(60 if where == "before the answer" else 0.05)
            transport.write(bytes([byte]))
        return web.Response()

    receiver.answer = slowly
    async with posts("127.0.0.0/8") as post:
        with pytest.raises(PostError, match="no answer within"):
            await post(to(f"{receiver.url}/hook"))


async def test_what_fails_is_said_without_the_address(receiver: Receiver) -> None:
    secret = "/services/T0/B0/secret"
    async with posts("127.0.0.0/8") as post:
        for address in (
            receiver.url.replace("http:", "https:") + secret,
            f"http://127.0.0.1:9{secret}",
            f"http://no.such.name.invalid{secret}",
        ):
            with pytest.raises(PostError) as error:
                await post(to(address))
            assert "secret" not in str(error.value)
            assert "127.0.0.1" not in str(error.value)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as listening:
        yield listening
