# SPDX-License-Identifier: Apache-2.0
"""`hwci serve` speaks TLS when it is given a certificate and its key, and its answers say so."""

import asyncio
import hashlib
import os
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import pytest
from aiohttp import web

from hwci.server.app import serving
from hwci.server.app.tls import tls_context
from hwci.server.errors import SettingsError
from hwci.server.http.connections import connection
from hwci.server.http.connections.runner import SpecRunner
from hwci.server.settings import Settings, read_settings
from tests.support.asking import ask
from tests.support.certificates import Pair, make_pair

YEAR = "max-age=31536000"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(tmp_path_factory.mktemp("tls"))


async def headers_of(url: str, pair: Pair) -> Mapping[str, str]:
    async with aiohttp.ClientSession() as http, http.get(url, ssl=pair.trusting) as response:
        return response.headers


async def test_a_server_with_a_certificate_speaks_tls_and_says_so(pair: Pair) -> None:
    async with serving(pair.settings) as server:
        assert server.url.startswith("https://127.0.0.1:")
        for path in ("/healthz", "/api/auth/me", "/nothing"):
            headers = await headers_of(server.url + path, pair)
            assert headers["strict-transport-security"] == YEAR
            assert headers["x-request-id"]


@pytest.mark.parametrize(
    ("base_url", "message"), [("https://hwci.example.org", YEAR), (None, None)]
)
async def test_behind_an_https_address_browsers_get_the_header_too(
    base_url: str | None, message: str | None
) -> None:
    async with serving(Settings(database="memory:", port=0, base_url=base_url)) as server:
        for path in ("/healthz", "/api/auth/me", "/nothing"):
            reply = await asyncio.to_thread(ask, server.url, "GET", path)
            assert reply.headers.get("strict-transport-security") == message


async def test_a_wheel_comes_whole_over_tls_and_its_connection_goes_on(pair: Pair) -> None:
    async with serving(pair.settings) as server, aiohttp.ClientSession(server.url) as http:
        async with http.get("/api/wheel", ssl=pair.trusting) as response:
            wheel = await response.json()
        for _ in range(2):
            async with http.get(wheel["path"], ssl=pair.trusting) as response:
                assert hashlib.sha256(await response.read()).hexdigest() == wheel["sha256"]


async def test_a_long_answer_that_nobody_reads_over_tls_is_counted_and_comes_whole(
    pair: Pair,
) -> None:
    """The bytes that wait lie in the encryption, not in the connection below it."""
    length = 16 * 1024 * 1024

    async def large(_: web.Request) -> web.Response:
        return web.Response(body=bytes(length))

    app = web.Application()
    app.router.add_get("/", large)
    runner = SpecRunner(app)
    await runner.setup()
    url = await runner.listen("127.0.0.1", 0, tls=tls_context(pair.settings))
    assert runner.server is not None
    async with (
        aiohttp.ClientSession(read_bufsize=1024) as http,
        http.get(url, ssl=pair.trusting) as response,
    ):
        while runner.server.unread.held < length:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        assert len(await response.read()) == length
    assert runner.server.unread.held == 0
    await runner.cleanup()


def test_versions_before_tls_1_2_are_not_spoken(pair: Pair) -> None:
    context = tls_context(pair.settings)

    assert context is not None
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


async def test_plain_http_on_a_tls_port_gets_no_answer_and_stops_nobody(pair: Pair) -> None:
    async with serving(pair.settings) as server:
        address = urlsplit(server.url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"HTTP" not in await reader.read()
        writer.close()

        assert (await headers_of(server.url + "/healthz", pair))["x-request-id"]


async def test_a_handshake_that_does_not_come_is_not_waited_for(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.2)
    async with serving(pair.settings) as server:
        address = urlsplit(server.url)
        with socket.create_connection((address.hostname, address.port), timeout=60) as line:
            assert await asyncio.to_thread(line.recv, 1) == b""


async def test_a_kept_tls_connection_does_not_hold_up_the_end(pair: Pair) -> None:
    async with aiohttp.ClientSession() as http:
        async with (
            serving(pair.settings) as server,
            http.get(server.url + "/healthz", ssl=pair.trusting) as response,
        ):
            assert await response.read()
        with pytest.raises(aiohttp.ClientConnectorError):
            await http.get(server.url + "/healthz", ssl=pair.trusting)


def test_the_command_takes_the_files_as_flags_or_variables(pair: Pair, tmp_path: Path) -> None:
    flags = ("--tls-cert", str(pair.certificate))
    environ = {**os.environ, "HWCI_TLS_KEY": str(pair.key), "HWCI_DATABASE": str(tmp_path / "db")}
    with subprocess.Popen(
        [sys.executable, "-m", "hwci", "serve", "--port", "0", *flags],
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert "hwci serves https://127.0.0.1:" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        process.communicate()

    assert process.returncode == 0
    assert read_settings({"HWCI_TLS_CERT": "c", "HWCI_TLS_KEY": "k"}) == Settings(
        tls_cert=Path("c"), tls_key=Path("k")
    )


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("certificate alone", "needs both"),
        ("key alone", "needs both"),
        ("of two pairs", "not a certificate and its key"),
        ("the wrong way round", "not a certificate and its key"),
        ("not there", "Cannot read"),
        ("encrypted key", "is encrypted"),
    ],
)
async def test_files_that_are_no_pair_are_one_clear_line(
    pair: Pair, tmp_path: Path, case: str, words: str
) -> None:
    other = make_pair(tmp_path / "other")
    encrypted = make_pair(tmp_path / "encrypted", password=b"secret")
    files = {
        "certificate alone": (pair.certificate, None),
        "key alone": (None, pair.key),
        "of two pairs": (pair.certificate, other.key),
        "the wrong way round": (pair.key, pair.certificate),
        "not there": (pair.certificate, tmp_path / "nothing"),
        "encrypted key": (encrypted.certificate, encrypted.key),
    }
    certificate, key = files[case]
    settings = Settings(database="memory:", port=0, tls_cert=certificate, tls_key=key)

    with pytest.raises(SettingsError, match=words) as raised:
        async with serving(settings):
            pass
    assert "\n" not in str(raised.value)
