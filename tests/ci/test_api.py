# SPDX-License-Identifier: Apache-2.0
"""An API that answers slowly, byte after byte, holds up no report."""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress

import pytest

from hwci.ci.systems import api as asking
from hwci.ci.systems.api import ApiError, for_one_report, get_json

PAUSE_S = 0.05
ANSWER = b"HTTP/1.1 200 OK\r\nX-Slow: " + b"." * 600 + b"\r\nContent-Length: 2\r\n\r\n[]"
"""All of it lasts half a minute: a reader that waits as long as bytes come, gets it whole."""


@pytest.fixture
def dripping() -> Iterator[str]:
    """A server that gives a byte of its answer at a time."""
    over = threading.Event()

    def drip(there: socket.socket) -> None:
        with there, suppress(OSError):
            for byte in ANSWER:
                if over.wait(PAUSE_S):
                    return
                there.sendall(bytes([byte]))

    def serve() -> None:
        with suppress(OSError):
            while not over.is_set():
                there, _ = listening.accept()
                threading.Thread(target=drip, args=(there,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        over.set()
        listening.shutdown(socket.SHUT_RDWR)


def test_an_answer_that_comes_byte_after_byte_is_not_waited_for(
    dripping: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "SECONDS", 0.5)

    with pytest.raises(ApiError, match=r"/runs gives no answer within 0\.5 seconds"):
        get_json(f"{dripping}/runs?page=1", {})


def test_all_questions_of_a_report_have_one_time_together() -> None:
    now = 100.0
    asked: list[str] = []

    def slow(address: str, _: Mapping[str, str]) -> None:
        nonlocal now
        now += 9.0
        asked.append(address)

    once = for_one_report(slow, 20.0, lambda: now)
    now += 50.0  # what went before the first question does not count
    for address in "abc":
        once(address, {})
    with pytest.raises(ApiError, match="20 seconds were not enough"):
        once("d", {})
    assert asked == ["a", "b", "c"]
