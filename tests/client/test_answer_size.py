# SPDX-License-Identifier: Apache-2.0
"""What a stranger at the server's address may send: an answer that no memory holds."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from hwci.client import AsyncClient, Client, _aio, _sync, calls, errors
from hwci.wire.base import HealthAnswer

LIMIT = 1_000
OK = b'{"status": "ok"}'


def asked(url: str) -> HealthAnswer:
    with Client(url, retries=0) as client:
        return client.send(calls.health())


def asked_asynchronously(url: str) -> HealthAnswer:
    async def ask() -> HealthAnswer:
        async with AsyncClient(url, retries=0) as client:
            return await client.send(calls.health())

    return asyncio.run(ask())


both = pytest.mark.parametrize("ask", [asked, asked_asynchronously], ids=["sync", "async"])


@contextmanager
def saying(answer: bytes) -> Iterator[str]:
    """Run a server that answers every request with these bytes, and closes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_say, args=(listening, answer))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            with suppress(OSError):  # one that waits for a caller has none to wait for any more
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def _say(listening: socket.socket, answer: bytes) -> None:
    with suppress(OSError):
        while True:
            line, _ = listening.accept()
            with line, suppress(OSError):
                head = b""
                while not head.endswith(b"\r\n\r\n") and (more := line.recv(4096)):
                    head += more
                line.sendall(answer)


@pytest.fixture(autouse=True)
def _low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setattr(_sync, "ANSWER_BYTES_MAX", LIMIT)
    monkeypatch.setattr(_aio, "ANSWER_BYTES_MAX", LIMIT)


@both
@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 1001\r\n\r\n",
        b"Content-Length: 1000000000000000\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nfffffffffff\r\n",
        b"\r\n",
    ],
    ids=["announced", "beyond any memory", "one chunk without end", "until it closes"],
)
def test_an_answer_without_end_is_given_up(ask: Callable[[str], HealthAnswer], head: bytes) -> None:
    endless = b"HTTP/1.1 200 OK\r\n" + head + b"x" * (LIMIT + 1)
    with saying(endless) as url, pytest.raises(errors.ConnectionFailedError) as caught:
        ask(url)

    assert f"more than {LIMIT} bytes" in str(caught.value)


@both
@pytest.mark.parametrize(
    "head",
    [b"Content-Length: 1000\r\n\r\n", b"\r\n"],
    ids=["announced", "until it closes"],
)
def test_the_longest_answer_is_read_whole(ask: Callable[[str], HealthAnswer], head: bytes) -> None:
    with saying(b"HTTP/1.1 200 OK\r\n" + head + OK.ljust(LIMIT)) as url:
        assert ask(url).status == "ok"


@both
def test_an_answer_that_breaks_off_is_none(ask: Callable[[str], HealthAnswer]) -> None:
    broken = b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n" + OK
    with saying(broken) as url, pytest.raises(errors.ConnectionFailedError):
        ask(url)
