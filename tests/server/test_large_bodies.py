# SPDX-License-Identifier: Apache-2.0
"""Many large bodies at once wait for room, or come again; small ones pass them by."""

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hwci.server.http import large_bodies
from hwci.wire import limits
from tests.server.asking import Reply, ask, ci_key, connect, first_reply, read_reply
from tests.server.running import RunningServer, report, running_in_thread

PATH = "/api/ci/run-report"
JSON = ("Content-Type", "application/json")
BODY = json.dumps(report()).encode()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """Run a server that has room for one large body and little patience."""
    monkeypatch.setattr(large_bodies, "ROOM", 1)
    monkeypatch.setattr(large_bodies, "PATIENCE_SECONDS", 0.05)
    with running_in_thread(tmp_path) as running:
        yield running


def send_chunked(server: RunningServer) -> Reply:
    """Send a body whose size nobody knows beforehand."""
    return ask(server.url, "POST", PATH, ci_key(server.ci_key), JSON, data=iter([BODY]))


def send_large(server: RunningServer) -> Reply:
    padded = BODY + b" " * large_bodies.LARGE_BYTES
    return ask(server.url, "POST", PATH, ci_key(server.ci_key), JSON, data=padded)


def send_compressed(server: RunningServer) -> Reply:
    headers = (ci_key(server.ci_key), JSON, ("Content-Encoding", "gzip"))
    return ask(server.url, "POST", PATH, *headers, data=gzip.compress(BODY))


def send_small(server: RunningServer) -> Reply:
    return ask(server.url, "POST", PATH, ci_key(server.ci_key), JSON, data=BODY)


@contextmanager
def half_sent(server: RunningServer) -> Iterator[socket.socket]:
    """Send the head of a chunked body and its first chunk, and nothing more."""
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
        f"X-API-Key: {server.ci_key}\r\nContent-Type: application/json\r\n"
        f"Transfer-Encoding: chunked\r\n\r\n{len(BODY):x}\r\n"
    )
    with connect(server.url) as line:
        line.sendall(head.encode() + BODY + b"\r\n")
        yield line


def answer_on(line: socket.socket) -> Reply:
    raw = b""
    while chunk := line.recv(65536):
        raw += chunk
    return read_reply(raw)


def test_who_finds_no_room_is_asked_to_come_again(server: RunningServer) -> None:
    with half_sent(server) as line:
        while send_chunked(server).status != 503:
            pass  # the server has not begun to read the first one
        for send in (send_chunked, send_large, send_compressed):
            refused = send(server)
            assert refused.error == (
                503,
                "Too many large bodies arrive at once; try again in a few seconds",
            )
            assert refused.headers["retry-after"] == "5"
        assert send_small(server).status == 204

        line.sendall(b"0\r\n\r\n")
        assert answer_on(line).status == 204
    for send in (send_chunked, send_large, send_compressed):
        assert send(server).status == 204


def test_a_refused_body_gives_its_room_back(server: RunningServer) -> None:
    for _ in range(3):
        headers = (ci_key(server.ci_key), JSON)
        assert ask(server.url, "POST", PATH, *headers, data=iter([b"{"])).status == 400
    assert send_chunked(server).status == 204


def test_who_has_room_and_sends_nothing_gives_it_back(
    server: RunningServer,
) -> None:
    with pytest.MonkeyPatch.context() as patch, half_sent(server) as line:
        patch.setattr("hwci.server.http.body.ARRIVAL_SECONDS", 0.05)
        assert answer_on(line).error == (
            408,
            "The body did not arrive within 0.05 s; send it faster or smaller",
        )
    assert send_chunked(server).status == 204  # it has as long as ever


@pytest.mark.parametrize("how", ["Content-Length: 60000000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_who_has_no_key_is_answered_before_there_is_a_body(
    server: RunningServer, how: str, encoding: str
) -> None:
    """Nothing is read, let alone inflated, for who may not send it."""
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: test\r\nX-API-Key: svc_{'0' * 64}\r\n{how}\r\n"
        f"Content-Type: application/json\r\nContent-Encoding: {encoding}\r\n\r\n"
    )
    with connect(server.url) as line:
        line.sendall(head.encode())
        assert first_reply(line).error[0] == 401


def test_the_largest_report_with_usual_paths_is_taken(server: RunningServer) -> None:
    files = [f"{number:04}".ljust(60, "x") for number in range(limits.FILES_MAX)]
    commit = {"sha": "b" * 40, "subject": "s", "files": files}
    commits = [{**commit, "sha": f"{number:040x}"} for number in range(limits.COMMITS_MAX)]
    tests = [
        {"id": f"test_{number}", "outcome": "pass", "attempts": 1, "duration_s": 1}
        for number in range(limits.TESTS_MAX)
    ]
    body = report(tests=tests, changes={"base_sha": None, "commits": commits})
    data = json.dumps(body, separators=(",", ":")).encode()

    assert len(data) > 31_000_000
    assert ask(server.url, "POST", PATH, ci_key(server.ci_key), JSON, data=data).status == 204
