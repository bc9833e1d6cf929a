# SPDX-License-Identifier: Apache-2.0
"""Both shells against a real socket, whose server misbehaves.

Each test runs with both: the fixture `send` selects the shell.
"""

import asyncio
import base64
import gzip
import json
import socket
import threading
import traceback
from collections.abc import Callable
from typing import Any, Literal

import pytest

from hwci.client import AsyncClient, Call, Client, calls, errors
from hwci.wire.reports import SuiteConfiguration
from tests.support.answering import Answer, answering, unused_url

CONFIG = calls.put_suite_config(
    SuiteConfiguration(
        repo_key="firmware",
        suite="hil",
        firmware_paths=["src/**"],
        harness_paths=["tests/**"],
        merge_trigger=True,
    )
)
LARGE = calls.put_suite_config(
    SuiteConfiguration(
        repo_key="firmware",
        suite="hil",
        firmware_paths=[f"{index}/" + "x" * 1_000 for index in range(200)],
        harness_paths=[],
        merge_trigger=True,
    )
)
OK = Answer(200, b'{"status": "ok"}')
BUSY = Answer(503, b"{}")

Sending = Callable[..., Any]


def send_with_client(url: str, *sent: Call[Any], pauses: list[float], **settings: Any) -> list[Any]:
    with Client(url, **settings) as client:
        client._sleep = pauses.append
        return [client.send(call) for call in sent]


def send_with_async_client(
    url: str, *sent: Call[Any], pauses: list[float], **settings: Any
) -> list[Any]:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def all_of_them() -> list[Any]:
        async with AsyncClient(url, **settings) as client:
            client._sleep = pause
            return [await client.send(call) for call in sent]

    return asyncio.run(all_of_them())


@pytest.fixture(params=[send_with_client, send_with_async_client], ids=["sync", "async"])
def send(request: pytest.FixtureRequest) -> Sending:
    def with_key(url: str, *sent: Call[Any], **settings: Any) -> list[Any]:
        settings.setdefault("pauses", [])
        settings.setdefault("ci_key", "svc_key")
        settings.setdefault("token", "a.b.c")
        return list(request.param(url, *sent, **settings))

    return with_key


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_call_arrives_as_it_was_written(send: Sending) -> None:
    with answering(OK) as server:
        (answer,) = send(server.url, calls.health())
        (request,) = server.received

    assert answer.status == "ok"
    assert (request.method, request.target) == ("GET", "/healthz")
    assert request.headers["user-agent"].startswith("hwci/")
    assert request.headers["host"] == server.url.removeprefix("http://")


def test_a_body_arrives_whole(send: Sending) -> None:
    with answering() as server:
        send(server.url, CONFIG)
        (request,) = server.received

    assert request.method == "PUT"
    assert request.headers["x-api-key"] == "svc_key"
    assert request.headers["content-type"] == "application/json"
    assert json.loads(request.body)["firmware_paths"] == ["src/**"]


def test_a_large_ci_body_arrives_gzipped(send: Sending) -> None:
    with answering() as server:
        send(server.url, LARGE)
        (request,) = server.received

    assert request.headers["content-encoding"] == "gzip"
    assert gzip.decompress(request.body) == LARGE.body


def test_a_post_without_body_has_content_length_0(send: Sending) -> None:
    with answering(Answer(409, b'{"statusCode": 409, "error": "E", "message": "M"}')) as server:
        with pytest.raises(errors.ConflictError):
            send(server.url, calls.confirm_failure("o", "f"))
        (request,) = server.received

    assert request.headers["content-length"] == "0"
    assert request.target == "/api/orgs/o/ci-failures/f/confirm"


def test_a_server_below_a_path_is_found_there(send: Sending) -> None:
    with answering(OK) as server:
        send(f"{server.url}/hwci/", calls.health())

        assert server.received[0].target == "/hwci/healthz"


def test_an_id_stays_one_step_of_the_path(send: Sending) -> None:
    with answering(Answer(404, b"{}")) as server:
        for org_id in ("../x", "..", "a?b#c", "ü"):
            with pytest.raises(errors.NotFoundError):
                send(server.url, calls.get_org(org_id))

        assert [request.target for request in server.received] == [
            "/api/orgs/..%2Fx",
            "/api/orgs/..",
            "/api/orgs/a%3Fb%23c",
            "/api/orgs/%C3%BC",
        ]


def test_a_busy_server_is_asked_again_with_one_request_id(send: Sending) -> None:
    pauses: list[float] = []
    with answering(BUSY, BUSY, Answer(204)) as server:
        send(server.url, CONFIG, pauses=pauses)

        assert len(server.received) == 3
        assert len({request.headers["x-request-id"] for request in server.received}) == 1
    assert len(pauses) == 2


def test_the_pause_that_the_server_asks_for_is_kept(send: Sending) -> None:
    pauses: list[float] = []
    with answering(Answer(429, b"{}", {"Retry-After": "3"}), Answer(204)) as server:
        send(server.url, CONFIG, pauses=pauses)

    assert len(pauses) == 1
    assert 3 <= pauses[0] < 3.5


def test_tries_end_with_the_last_refusal(send: Sending) -> None:
    with answering(BUSY) as server:
        with pytest.raises(errors.ServerError):
            send(server.url, CONFIG, retries=2)

        assert len(server.received) == 3


def test_a_broken_connection_is_made_again(send: Sending) -> None:
    with answering(Answer(reset=True), Answer(204)) as server:
        send(server.url, CONFIG)

        assert len(server.received) == 2


def test_a_call_that_is_not_idempotent_is_sent_once_even_when_the_answer_is_lost(
    send: Sending,
) -> None:
    with answering(Answer(reset=True)) as server:
        with pytest.raises(errors.ConnectionFailedError) as caught:
            send(server.url, calls.create_ci_key("o", "ci"))

        assert len(server.received) == 1
    assert caught.value.sent


def test_a_call_that_is_not_idempotent_uses_a_fresh_connection(send: Sending) -> None:
    refused = Answer(403, b"{}")
    with answering(OK, OK, refused) as server:
        with pytest.raises(errors.ForbiddenError):
            send(server.url, calls.health(), calls.health(), calls.create_org("o"))
        first, second, third = (request.connection for request in server.received)

    assert first == second != third


def test_a_kept_connection_that_the_server_closed_is_replaced_without_a_try(send: Sending) -> None:
    pauses: list[float] = []
    with answering(Answer(200, OK.body, close=True), OK) as server:
        send(server.url, calls.health(), calls.health(), retries=0, pauses=pauses)

        assert len({request.connection for request in server.received}) == 2
    assert pauses == []


def test_a_silent_server_times_out(send: Sending) -> None:
    with (
        answering(Answer(silent=True)) as server,
        pytest.raises(errors.TimedOutError) as caught,
    ):
        send(server.url, CONFIG, timeout=1, retries=0)

    assert caught.value.sent
    assert server.url in str(caught.value)


@pytest.mark.parametrize("drip", ["head", "body"])
@pytest.mark.parametrize("kept", [False, True])
def test_an_answer_that_comes_byte_by_byte_is_given_up_in_time(
    drip: Literal["head", "body"], kept: bool
) -> None:
    answers = [Answer(204)] * kept + [Answer(200, drip=drip)]
    with answering(*answers) as server, Client(server.url, ci_key="svc_key", retries=0) as client:
        if kept:
            client.send(CONFIG)
        with pytest.raises(errors.TimedOutError):
            client.send(CONFIG, within=1)

        assert not server.dripped_out.is_set()


def test_a_proxy_that_drips_is_given_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(Answer(200, drip="head")) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url)
        client = Client("https://hwci.invalid", ci_key="svc_key", retries=0)
        with client, pytest.raises(errors.TimedOutError) as caught:
            client.send(CONFIG, within=1)

        assert not proxy.dripped_out.is_set()
    assert not caught.value.sent


def test_a_client_whose_call_was_cut_off_opens_again() -> None:
    with (
        answering(Answer(200, drip="head")) as server,
        Client(server.url, ci_key="svc_key", retries=0) as client,
    ):
        with pytest.raises(errors.TimedOutError):
            client.send(CONFIG, within=1)
        server.answers = [Answer(204)]
        client.send(CONFIG, within=60)
        client.send(CONFIG)


def test_an_unreachable_server_is_named_in_the_error(send: Sending) -> None:
    url, pauses = unused_url(), list[float]()

    with pytest.raises(errors.ConnectionFailedError) as caught:
        send(url, calls.login("a@example.org", "x"), pauses=pauses)

    assert not caught.value.sent
    assert url in str(caught.value)
    assert len(pauses) == 4, "nothing was sent, so even a login is tried again"


def test_an_answer_that_is_not_json_is_an_error(send: Sending) -> None:
    with (
        answering(Answer(200, b"<html>hello")) as server,
        pytest.raises(errors.AnswerShapeError),
    ):
        send(server.url, calls.health())


def test_a_redirect_is_an_error_and_not_followed(send: Sending) -> None:
    with answering(Answer(302, b"", {"Location": "/elsewhere"}), OK) as server:
        with pytest.raises(errors.AnswerShapeError, match="redirects to '/elsewhere'"):
            send(server.url, calls.me())

        assert len(server.received) == 1


def test_a_plain_proxy_is_given_the_whole_address(
    send: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(OK) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("://", "://me:secret@"))
        send("http://hwci.invalid/below", calls.health())
        (request,) = proxy.received

    assert request.target == "http://hwci.invalid/below/healthz"
    assert request.headers["host"] == "hwci.invalid"
    assert request.headers["proxy-authorization"] == "Basic bWU6c2VjcmV0"


def test_a_proxy_that_is_away_is_named_without_its_password(
    send: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user would else check the server, which is up."""
    proxy = unused_url()
    monkeypatch.setenv("http_proxy", proxy.replace("://", "://me:secret@"))

    with pytest.raises(errors.ConnectionFailedError) as caught:
        send("http://hwci.invalid", calls.health())

    assert f"(through the proxy {proxy})" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_proxys_password_may_hold_any_letter(
    send: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(OK) as proxy:
        for written in ("a/b://?@ü", "a%2Fb%3A%2F%2F%3F%40%C3%BC"):
            monkeypatch.setenv("http_proxy", proxy.url.replace("://", f"://me:{written}@"))
            send("http://hwci.invalid", calls.health())

        for request in proxy.received:
            pair = request.headers["proxy-authorization"].removeprefix("Basic ")
            assert base64.b64decode(pair).decode() == "me:a/b://?@ü"


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("https://me:secret@proxy.example:3128", "http:// only"),
        ("socks5://me:secret@proxy.example", "http:// only"),
        ("http://me:secret@proxy.example:port", "[Pp]ort"),
        ("http://me:secret@[proxy", "IPv6"),
        ("me:secret://1@", "names no host"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_named_without_its_password(
    send: Sending, monkeypatch: pytest.MonkeyPatch, named: str, message: str
) -> None:
    monkeypatch.setenv("http_proxy", named)

    with pytest.raises(errors.ProxyAddressError, match=message) as caught:
        send("http://hwci.invalid", calls.health())

    assert str(caught.value).startswith("HTTP_PROXY names")
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_a_proxy_that_refuses_to_connect_is_named_without_its_password(
    send: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    with answering(Answer(407, b"", {"Proxy-Authenticate": "Basic"})) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("://", "://me:secret@"))
        with pytest.raises(errors.ConnectionFailedError, match="failed: 407 Proxy") as caught:
            send("https://hwci.invalid", calls.create_org("o"), retries=0)

        assert [request.method for request in proxy.received] == ["CONNECT"]
    assert not caught.value.sent
    assert "secret" not in "".join(traceback.format_exception(caught.value))


def test_a_server_that_no_proxy_names_is_reached_directly(
    send: Sending, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", unused_url())
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with answering(OK) as server:
        send(server.url, calls.health())

        assert server.received[0].target == "/healthz"


def test_a_client_shows_its_server_and_no_secret() -> None:
    for shell in (Client, AsyncClient):
        shown = repr(shell("https://h.example", ci_key="svc_secret", token="tok"))

        assert shown == f"{shell.__name__}('https://h.example', Credentials(ci_key=…, token=…))"


def test_threads_share_a_client_and_no_connection() -> None:
    from concurrent.futures import ThreadPoolExecutor

    with answering(OK) as server, Client(server.url) as client:
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _: client.send(calls.health()), range(40)))

        assert len(answers) == 40
        assert 1 <= len({request.connection for request in server.received}) <= 4


def test_a_thread_that_ends_leaves_no_open_connection() -> None:
    opened: list[socket.socket] = []

    with answering(OK) as server, Client(server.url) as client:

        def ask() -> None:
            client.send(calls.health())
            connection, kept = client._connections.open(fresh=False)
            assert kept
            opened.append(connection.sock)

        for _ in range(3):
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()

        assert [line.fileno() for line in opened] == [-1, -1, -1]


def test_a_client_that_was_closed_opens_again() -> None:
    with answering(OK) as server:
        client = Client(server.url)
        client.send(calls.health())
        client.close()
        client.send(calls.health())
        client.close()

        assert len({request.connection for request in server.received}) == 2


PAGES = [
    Answer(
        200,
        json.dumps(
            {
                "items": [
                    {
                        "id": str(number) * 8 + "-1111-4111-8111-111111111111",
                        "name": "n",
                        "createdAt": "2026-01-01T00:00:00Z",
                        "lastUsedAt": None,
                        "revokedAt": None,
                    }
                ],
                "total": 3,
                "page": number,
                "limit": 1,
            }
        ).encode(),
    )
    for number in (1, 2, 3)
]


def test_items_go_from_page_to_page() -> None:
    with answering(*PAGES) as server, Client(server.url, token="t") as client:
        keys = list(client.items(calls.list_ci_keys("o", limit=1)))

        assert [str(key.id)[0] for key in keys] == ["1", "2", "3"]
        assert [request.target.partition("?")[2] for request in server.received] == [
            "limit=1",
            "limit=1&page=2",
            "limit=1&page=3",
        ]


async def test_items_go_from_page_to_page_asynchronously() -> None:
    with answering(*PAGES) as server:
        async with AsyncClient(server.url, token="t") as client:
            keys = [key async for key in client.items(calls.list_ci_keys("o", limit=1))]

    assert [str(key.id)[0] for key in keys] == ["1", "2", "3"]
