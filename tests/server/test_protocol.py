# SPDX-License-Identifier: Apache-2.0
"""Every answer has the spec's shape, whoever gives it (spec, "Errors"; contract, "Everywhere")."""

import asyncio
import socket
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from hwci.server.http.connections.connection import SpecServer
from tests.support.asking import ask, bearer, read_reply, say
from tests.support.running import RunningServer
from tests.support.spec_client import SpecClient

HOST = b"Host: x\r\n"
HEAD = b"GET /healthz HTTP/1.1\r\n" + HOST
END = b"\r\n\r\n"
UPGRADE = (
    b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


@pytest.mark.parametrize(
    "raw",
    [
        b"nonsense\r\n\r\n",
        b"GET /healthz HTTP/9.9\r\n" + HOST + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + b"\r\n",
        b"GET /healthz HTTP/1.1\n" + HOST + b"\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X : 1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n",
        b"GET healthz HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET /healthz?\xff HTTP/1.1\r\n" + HOST + b"\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: +1\r\n\r\na",
        b"POST /healthz HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunky\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: x\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /healthz HTTP/1.1\r\n"
        + HOST
        + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"X\x00Y: 1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
    ids=[
        "no request line",
        "unknown version",
        "no host",
        "two hosts",
        "bare line feed",
        "folded header",
        "space before the colon",
        "NUL in a value",
        "target of no form",
        "target not in ASCII",
        "tunnel",
        "negative length",
        "length with a sign",
        "unknown transfer encoding",
        "length no number",
        "two lengths",
        "length and chunks",
        "NUL in a header",
        "TLS",
    ],
)
def test_malformed_http_is_a_spec_shaped_400_with_a_request_id(
    server: RunningServer, raw: bytes
) -> None:
    reply = read_reply(say(server.url, raw))

    assert reply.error == (400, "The request is not valid HTTP")
    assert reply.json["error"] == "Bad Request"


@pytest.mark.parametrize(
    ("raw", "status", "phrase"),
    [
        (b"GET /" + b"a" * 8_190 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "URI Too Long"),
        (b"GET /?" + b"a" * 9_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414, "URI Too Long"),
        (HEAD + b"X: " + b"a" * 9_000 + END, 431, "Request Header Fields Too Large"),
        (HEAD + b"X" * 9_000 + b": 1" + END, 431, "Request Header Fields Too Large"),
        (HEAD + b"X: 1\r\n" * 200 + END, 431, "Request Header Fields Too Large"),
    ],
    ids=["path", "query", "value", "name", "many"],
)
def test_a_head_that_is_too_long_is_spec_shaped_and_says_what_is(
    server: RunningServer, raw: bytes, status: int, phrase: str
) -> None:
    reply = read_reply(say(server.url, raw))

    assert reply.error[0] == reply.status == status
    assert reply.json["error"] == phrase
    assert b"aaaa" not in reply.body


def test_a_head_of_the_greatest_length_is_taken(server: RunningServer) -> None:
    path = b"/healthz?" + b"a" * (8_190 - len("/healthz?"))
    raw = b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 8_191

    assert read_reply(say(server.url, raw + b"\r\nConnection: close" + END)).status == 200


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/api/orgs/{org}/runs/stream", b"", 401),
        ("GET", "/api/orgs/{org}/runs/ws", b"Authorization: Bearer x\r\n" + UPGRADE, 401),
        ("GET", "/healthz", UPGRADE, 200),
        ("GET", "/healthz", b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n", 200),
        ("POST", "/api/auth/login", b"Content-Encoding: br\r\nContent-Length: 0\r\n", 415),
        ("HEAD", "/api/auth/me", b"", 401),
        ("HEAD", "/nothing", b"", 404),
        ("GET", "http://x/nothing", b"", 404),
        ("OPTIONS", "*", b"", 404),
    ],
)
def test_answers_beside_the_beaten_path_are_spec_shaped(
    server: RunningServer, method: str, path: str, headers: bytes, status: int
) -> None:
    target = path.format(org=server.org_id)
    head = f"{method} {target} HTTP/1.1\r\n".encode() + HOST + headers

    reply = read_reply(say(server.url, head + b"Connection: close" + END))

    assert reply.status == status
    assert reply.headers["x-request-id"]
    if method == "HEAD":
        assert reply.body == b""
    elif status != 200:
        assert reply.error[0] == status


@pytest.mark.parametrize("value", [b"%ff", b"%C3%28", b"%ed%a0%80", b"a%FFb", b"a%C3"])
def test_a_query_that_is_no_utf8_is_400_at_its_parameter(
    server: RunningServer, value: bytes
) -> None:
    head = f"GET /api/orgs/{server.org_id}/runs?page=1&branch=".encode() + value + b" HTTP/1.1\r\n"
    rest = f"Authorization: Bearer {server.token}\r\nConnection: close\r\n\r\n".encode()

    assert read_reply(say(server.url, head + HOST + rest)).issue_paths == [["query", "branch"]]


def test_a_parameter_whose_name_is_no_utf8_is_400(server: RunningServer) -> None:
    path = f"/api/orgs/{server.org_id}/runs?%ff=1"

    assert ask(server.url, "GET", path, bearer(server.token)).issue_paths == [["query", "\ufffd"]]


def test_an_unknown_expectation_is_a_spec_shaped_417(server: RunningServer) -> None:
    raw = b"GET /healthz HTTP/1.1\r\n" + HOST + b"Expect: tea\r\nConnection: close\r\n\r\n"

    assert read_reply(say(server.url, raw)).error == (
        417,
        "Only the expectation 100-continue can be met",
    )


@pytest.mark.parametrize(
    "path", ["/nothing", "/api", "/api/", "/api/nothing", "/api/orgs/", "/%00", "//"]
)
def test_an_unknown_address_is_a_spec_shaped_404(server: RunningServer, path: str) -> None:
    reply = ask(server.url, "GET", path, bearer(server.token))

    assert reply.error == (404, "There is nothing at this address")
    assert reply.json["error"] == "Not Found"


@pytest.mark.parametrize("method", ["POST", "PUT", "OPTIONS", "TRACE", "PATCH"])
def test_a_method_that_is_not_allowed_is_405_and_says_which_are(
    server: RunningServer, method: str
) -> None:
    reply = ask(server.url, method, "/api/auth/me")

    assert reply.error == (405, "This method is not allowed here")
    assert reply.headers["allow"] == "GET,HEAD"


def test_head_is_get_without_a_body(server: RunningServer) -> None:
    reply = ask(server.url, "HEAD", "/healthz")

    assert (reply.status, reply.body) == (200, b"")


@pytest.mark.parametrize("own", ["abc", "A.b-c_9", "x" * 64])
def test_a_callers_request_id_comes_back(server: RunningServer, own: str) -> None:
    for path in ("/healthz", "/api/auth/me", "/nothing"):
        assert ask(server.url, "GET", path, ("x-request-id", own)).headers["x-request-id"] == own


@pytest.mark.parametrize("own", ["", "x" * 65, "a b", "a;b", "é"])
def test_a_callers_malformed_request_id_is_replaced(server: RunningServer, own: str) -> None:
    first = ask(server.url, "GET", "/healthz", ("x-request-id", own)).headers["x-request-id"]
    second = ask(server.url, "GET", "/healthz", ("x-request-id", own)).headers["x-request-id"]

    assert own not in {first, second}
    assert first != second


def test_answers_name_no_version_and_let_a_browser_do_nothing(server: RunningServer) -> None:
    token = bearer(server.token)
    answers = [
        ask(server.url, "GET", "/api/auth/me", token),
        ask(server.url, "GET", "/api/nothing"),
        ask(server.url, "DELETE", "/api/auth/me", token),
        ask(server.url, "GET", "/healthz"),
        read_reply(say(server.url, b"nonsense" + END)),
    ]

    for reply in answers:
        assert reply.headers["server"] == "hwci"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cross-origin-opener-policy"] == "same-origin"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert reply.headers["content-security-policy"] == (
            "default-src 'none'; frame-ancestors 'none'"
        )
        assert "strict-transport-security" not in reply.headers
    assert [reply.headers.get("cache-control") for reply in answers[:3]] == ["no-store"] * 3


def test_a_caller_who_leaves_in_the_middle_of_a_body_harms_nobody(server: RunningServer) -> None:
    address = urlsplit(server.url)
    head = (
        "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        "Content-Length: 100\r\n\r\n{"
    )
    with socket.create_connection((address.hostname, address.port)) as line:
        line.sendall(head.encode())

    assert ask(server.url, "GET", "/healthz").status == 200


async def test_an_unknown_setting_of_the_server_fails_at_once() -> None:
    async def handle(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response()

    broken = SpecServer(handle, auto_decompres=False)

    with pytest.raises(TypeError):
        broken()


async def test_a_fault_of_ours_leaks_nothing_and_is_logged_with_its_request_id(
    spec_client: SpecClient, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(_: web.Request) -> web.StreamResponse:
        raise ValueError("secret of the house")

    app = web.Application()
    app.router.add_get("/", broken)
    client = await spec_client(app)
    reply = await asyncio.to_thread(ask, str(client.make_url("/")), "GET", "/")

    assert reply.error[0] == 500
    assert b"secret" not in reply.body
    assert f"request {reply.headers['x-request-id']} failed" in caplog.text
