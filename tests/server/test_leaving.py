# SPDX-License-Identifier: Apache-2.0
"""A read ends soon after its caller has left; what keeps something is never broken off."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from json import dumps
from typing import NoReturn

import pytest

from hwci.engine.history import History
from hwci.engine.page import tables
from hwci.server.http.connections import connection
from hwci.server.services.ci_metrics import metrics as metrics_service
from hwci.server.services.ci_metrics.ingest import Ingest
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import CiKey
from tests.support.asking import ask, bearer, connect, read_reply
from tests.support.running import RunningServer, report, running_in_thread

SOON = 5.0
"""Half of what a read has when no caller hangs up."""
CONFIG = {
    "repo_key": "acme/firmware",
    "suite": "hardware",
    "firmware_paths": [],
    "harness_paths": [],
    "merge_trigger": False,
}


class Endless:
    """What takes the place of work on a history: it goes on as long as it is let."""

    def __init__(self) -> None:
        self.begun, self.ended = threading.Event(), threading.Event()

    def __call__(self, history: History, *_: object) -> NoReturn:
        self.begun.set()
        try:
            while True:
                history.check_time()
        finally:
            self.ended.set()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("leaving")) as running:
        yield running


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> Endless:
    work = Endless()
    monkeypatch.setattr(tables, "read_newest_failures", work)
    monkeypatch.setattr(metrics_service, "read_page", work)
    monkeypatch.setattr(metrics_service, "plan", work)
    return work


def asking(method: str, path: str, header: str, body: object) -> bytes:
    data = b"" if body is None else dumps(body).encode()
    kind = "" if body is None else f"Content-Type: application/json\r\nContent-Length: {len(data)}"
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\n{header}\r\n{kind}"
    return f"{head.rstrip()}\r\n\r\n".encode() + data


READS = {
    "page": ("GET", "ci-metrics", None),
    "table": ("GET", "ci-failures", None),
    "plan": ("POST", "suite-configs/plan", CONFIG),
}


def to_read(server: RunningServer, name: str) -> bytes:
    method, path, body = READS[name]
    header = f"Authorization: Bearer {server.member_token}"
    return asking(method, f"/api/orgs/{server.org_id}/{path}", header, body)


@pytest.mark.parametrize("name", READS)
def test_a_read_ends_when_its_caller_closes_the_connection(
    server: RunningServer, endless: Endless, name: str
) -> None:
    with closing(connect(server.url)) as line:
        line.sendall(to_read(server, name))
        assert endless.begun.wait(30)

    assert endless.ended.wait(SOON)


def test_a_read_ends_when_the_connection_breaks(server: RunningServer, endless: Endless) -> None:
    line = connect(server.url)
    line.sendall(to_read(server, "page"))
    assert endless.begun.wait(30)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    line.close()

    assert endless.ended.wait(SOON)


def test_a_client_that_closes_one_side_and_listens_has_a_little_more_time_and_an_answer(
    server: RunningServer, endless: Endless, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LISTEN_SECONDS", 0.1)
    with connect(server.url) as line:
        line.sendall(to_read(server, "page"))
        assert endless.begun.wait(30)
        line.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: line.recv(65536), b""))

    reply = read_reply(answer)
    assert reply.status == 503
    assert reply.error[1].startswith("You closed the connection")
    assert endless.ended.wait(SOON)


def test_a_client_that_waits_for_the_turn_of_the_organization_leaves_it(
    server: RunningServer, endless: Endless
) -> None:
    with connect(server.url) as first:
        first.sendall(to_read(server, "page"))
        assert endless.begun.wait(30)
        for _ in range(10):
            with connect(server.url) as line:
                line.sendall(to_read(server, "plan"))
    products = f"/api/orgs/{server.org_id}/products"

    # It waits for its turn, and would be refused if only one of the others stayed.
    assert ask(server.url, "GET", products, bearer(server.token)).status == 200


def test_a_report_whose_sender_leaves_is_kept(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, kept = threading.Event(), threading.Event(), threading.Event()
    keep = Ingest._keep

    async def kept_late(self: Ingest, key: CiKey, put: Callable[[Writer], None]) -> None:
        def held(writer: Writer) -> None:
            begun.set()
            go_on.wait(30)
            put(writer)

        await keep(self, key, held)
        kept.set()

    monkeypatch.setattr(Ingest, "_keep", kept_late)
    header = f"X-API-Key: {server.ci_key}"
    body = report(run_id=77)
    with closing(connect(server.url)) as line:
        line.sendall(asking("POST", "/api/ci/run-report", header, body))
        assert begun.wait(30)
    go_on.set()

    assert kept.wait(30)
    runs = ask(server.url, "GET", f"/api/orgs/{server.org_id}/runs", bearer(server.token))
    assert [one["runId"] for one in runs.json["items"]] == [77]
