# SPDX-License-Identifier: Apache-2.0
"""An answer is made once for all who may see the same (ADR 0004)."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hwci.server.errors import OverloadedError
from hwci.server.http import answering
from hwci.server.http.responses import metrics_bytes
from hwci.server.services.shared_answers import HELD_SECONDS, SharedAnswers
from tests.server.few_runs import run, send
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, running_in_thread

PATH = "ci-analysis/boxes?days=3650"


class Made:
    """Counts the answers that are made and written, and holds that up while `go` is not set."""

    def __init__(self) -> None:
        self.times = 0
        self.begun = threading.Semaphore(0)
        self.go = threading.Event()
        self.go.set()
        self.fault: Exception | None = None

    def __call__(self, *answer: Any, compressed: bool) -> bytes:
        self.times += 1
        self.begun.release()
        assert self.go.wait(20)
        fault, self.fault = self.fault, None
        if fault is not None:
            raise fault
        return metrics_bytes(*answer, compressed=compressed)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    made = Made()
    monkeypatch.setattr(answering, "metrics_bytes", made)
    return made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path) as server:
        send(server, run("b", 1, "fail"))
        yield server


def get(server: RunningServer, token: str, path: str = PATH, *headers: tuple[str, str]) -> Reply:
    reply = ask(server.url, "GET", f"/api/orgs/{server.org_id}/{path}", bearer(token), *headers)
    assert reply.status == 200, reply
    return reply


def test_the_next_person_gets_the_same_bytes(server: RunningServer, made: Made) -> None:
    first, second = get(server, server.token), get(server, server.member_token)

    assert (first.body, first.headers["etag"]) == (second.body, second.headers["etag"])
    assert made.times == 1


def test_a_report_another_question_and_another_form_are_made_anew(
    server: RunningServer, made: Made
) -> None:
    get(server, server.token)
    get(server, server.token, "ci-analysis/boxes?days=3649")
    packed = get(server, server.token, PATH, ("Accept-Encoding", "gzip"))
    assert packed.headers["content-encoding"] == "gzip"
    send(server, run("c", 2, "pass"))
    after = get(server, server.token)

    assert made.times == 4
    assert after.json["boxes"][0]["lastRunAt"] == "2026-01-10T02:00:00Z"


def test_many_who_ask_at_once_have_it_made_once(server: RunningServer, made: Made) -> None:
    made.go.clear()
    with ThreadPoolExecutor() as pool:
        tokens = (server.token, server.admin_token, server.member_token)
        replies = [pool.submit(get, server, token) for token in tokens]
        assert made.begun.acquire(timeout=20)
        made.go.set()
        bodies = {reply.result().body for reply in replies}

    assert (len(bodies), made.times) == (1, 1)


def test_what_nobody_made_is_made_by_the_next(server: RunningServer, made: Made) -> None:
    made.fault = OverloadedError("Try again")
    path = f"/api/orgs/{server.org_id}/{PATH}"

    assert ask(server.url, "GET", path, bearer(server.token)).status == 503
    assert get(server, server.token).status == 200
    assert made.times == 2


def test_a_key_of_one_product_gets_no_answer_of_a_member(server: RunningServer, made: Made) -> None:
    body = {"name": "one", "products": [{"repoKey": "acme/firmware", "suite": "hardware"}]}
    home = f"/api/orgs/{server.org_id}"
    created = ask(
        server.url, "POST", f"{home}/reader-keys", bearer(server.token), json_body=body
    ).json
    path = f"{home}/{PATH}&repoKey=acme/firmware&suite=hardware"
    get(server, server.token, f"{PATH}&repoKey=acme/firmware&suite=hardware")

    assert ask(server.url, "GET", path, ci_key(created["apiKey"])).status == 200
    assert ask(server.url, "GET", path, ci_key(created["apiKey"])).status == 200
    assert made.times == 2


def test_who_waits_gets_the_answer_or_that_there_is_none() -> None:
    shared = SharedAnswers()
    assert shared.take("a") is None
    waiting = shared.take("a")
    assert isinstance(waiting, Future)
    shared.give_up("a")
    assert waiting.result() is None

    assert shared.take("a") is None
    waiting = shared.take("a")
    assert isinstance(waiting, Future)
    shared.put("a", b"x")
    assert waiting.result() == shared.take("a") == b"x"


def test_an_answer_is_held_for_a_time_and_within_the_bytes() -> None:
    now = 0.0
    shared = SharedAnswers(80, lambda: now)
    for key in "abcdefgh":
        shared.put(key, bytes(10))
    assert shared.take("a") == bytes(10)
    shared.put("i", bytes(10))  # in place of b, which was asked for longest ago
    shared.put("long", bytes(11))

    assert shared.held_bytes == 80
    assert shared.take("b") is None
    assert shared.take("long") is None
    assert shared.take("a") == bytes(10)
    now = HELD_SECONDS
    assert shared.take("a") is None
