# SPDX-License-Identifier: Apache-2.0
"""Clients that drop a stream without closing it delay no others (contract, "Runs and streams")."""

import http.client
import logging
import socket
import struct
import time
from urllib.parse import urlsplit

import pytest

from tests.support.running import RunningServer

HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}
RESET = struct.pack("ii", 1, 0)
"""A linger option: the socket is closed with a reset instead of an orderly end."""


def answer(server: RunningServer, path: str, headers: dict[str, str], *, reset: bool) -> int:
    """Return the status of an answer, and disconnect."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        if reset:
            assert connection.sock is not None
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize("stream", ["ws", "stream"])
def test_a_client_that_drops_a_stream_delays_no_other(
    server: RunningServer, stream: str, reset: bool
) -> None:
    path = f"/api/orgs/{server.org_id}/runs/{stream}"
    headers = {"Authorization": f"Bearer {server.token}", **(HANDSHAKE if stream == "ws" else {})}
    for _ in range(5):
        assert answer(server, path, headers, reset=reset) in {101, 200}
        assert answer(server, "/healthz", {}, reset=False) == 200


@pytest.mark.parametrize("stream", ["ws", "stream"])
def test_a_dropped_stream_is_logged_with_the_status_that_was_sent(
    server: RunningServer, stream: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = f"/api/orgs/{server.org_id}/runs/{stream}"
    headers = {"Authorization": f"Bearer {server.token}", **(HANDSHAKE if stream == "ws" else {})}
    with caplog.at_level(logging.INFO, "aiohttp.access"):
        sent = answer(server, path, headers, reset=False)
        deadline = time.monotonic() + 30
        while not (lines := [one for one in caplog.messages if path in one]):
            assert time.monotonic() < deadline
            time.sleep(0.02)

    assert f" GET {path} {sent} " in lines[0]
