# SPDX-License-Identifier: Apache-2.0
"""The libraries that the server's safety rests on are no older than the versions that are safe, and
their settings that make it safe are really in effect.
"""

import asyncio
import gzip
from importlib import metadata

import pytest
from aiohttp import web, web_protocol
from aiohttp.http import HttpRequestParser
from aiohttp.http_parser import HttpRequestParserPy

from hwci.server.http.connections import runner as protocol
from hwci.server.http.connections.connection import SpecProtocol
from hwci.server.http.connections.runner import HARDENING, SpecRunner, require_hardened
from tests.support.asking import ask

FLOORS = {
    "aiohttp": (3, 14, 4),  # concatenated gzip members, smuggling
    "PyJWT": (2, 13),  # `crit` ignored, algorithms confused
    "argon2-cffi": (25, 1),
    "libpass": (1, 9, 4),
}


@pytest.mark.parametrize("name", FLOORS)
def test_a_library_is_no_older_than_is_safe(name: str) -> None:
    found = tuple(int(part) for part in metadata.version(name).split(".")[:3] if part.isdigit())

    assert found >= FLOORS[name]


def test_the_abandoned_passlib_is_not_installed_beside_its_successor() -> None:
    assert set(metadata.packages_distributions()["passlib"]) == {"libpass"}


def test_requests_are_parsed_in_c() -> None:
    require_hardened()
    assert HttpRequestParser is not HttpRequestParserPy


def test_the_lenient_parser_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HttpRequestParser", HttpRequestParserPy)

    with pytest.raises(RuntimeError, match="without its C parser"):
        require_hardened()


def test_a_framework_without_what_we_use_of_its_inside_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(web_protocol, "_ErrInfo")
    monkeypatch.delattr(web.RequestHandler, "_waiter")

    lacking = r"aiohttp [\d.]+ lacks RequestHandler\._waiter, aiohttp\.web_protocol\._ErrInfo, "
    with pytest.raises(RuntimeError, match=lacking):
        require_hardened()


async def test_a_connection_has_every_setting() -> None:
    runner = SpecRunner(web.Application())
    await runner.setup()
    try:
        assert runner.server is not None
        connection = runner.server()

        assert type(connection) is SpecProtocol
        assert connection.max_headers == HARDENING["max_headers"]
        assert connection.max_line_size == HARDENING["max_line_size"]
        assert connection.max_field_size == HARDENING["max_field_size"]
        assert connection.keepalive_timeout == HARDENING["keepalive_timeout"]
        assert connection._lingering_time == HARDENING["lingering_time"]
    finally:
        await runner.cleanup()


async def test_the_framework_inflates_nothing() -> None:
    """Inflation is bounded, and comes after authentication: `body.py`."""
    data = gzip.compress(b"0" * 1_000_000)

    async def size(request: web.Request) -> web.Response:
        return web.Response(text=str(len(await request.read())))

    app = web.Application()
    app.router.add_post("/", size)
    runner = SpecRunner(app)
    await runner.setup()
    try:
        await runner.listen("127.0.0.1", 0)
        host, port = runner.addresses[0][:2]
        encoding = ("Content-Encoding", "gzip")
        url = f"http://{host}:{port}"
        reply = await asyncio.to_thread(ask, url, "POST", "/", encoding, data=data)
    finally:
        await runner.cleanup()

    assert reply.body == str(len(data)).encode()
