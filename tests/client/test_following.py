# SPDX-License-Identifier: Apache-2.0
"""Following runs with both shells: each event once and in order, whatever becomes of the line.

Each claim is made of both: the fixture `follow` drives the one or the other.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from hwci.client import AsyncClient, Client, _aio, _sync, errors
from hwci.client._protocol import SILENCE_SECONDS
from hwci.client.following import RESUMES
from tests.support.answering import Answer, answering, unused_url
from tests.support.soak import rounds
from tests.support.streaming import RUN, breaking, streaming

ORG = UUID("7b0a3c0e-1111-4222-8333-444455556666")
EVENTS, CUTS = rounds((60, 5), (150, 12))

Follow = Callable[..., list[str]]


def follow_with_client(
    url: str, count: int, pauses: list[float], place: dict[str, Any], **settings: Any
) -> list[str]:
    with Client(url, **settings) as client:
        client._sleep = pauses.append
        with client.follow(**place) as events:
            return [event.id for _, event in zip(range(count), events, strict=False)]


def follow_with_async_client(
    url: str, count: int, pauses: list[float], place: dict[str, Any], **settings: Any
) -> list[str]:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def all_of_them() -> list[str]:
        async with AsyncClient(url, **settings) as client:
            client._sleep = pause
            received: list[str] = []
            async with client.follow(**place) as events:
                while len(received) < count:
                    received.append((await anext(events)).id)
            return received

    return asyncio.run(all_of_them())


@pytest.fixture(params=[follow_with_client, follow_with_async_client], ids=["sync", "async"])
def follow(request: pytest.FixtureRequest) -> Follow:
    def with_token(url: str, count: int = 1, **given: Any) -> list[str]:
        pauses = given.pop("pauses", [])
        place = {
            name: given.pop(name) for name in ("org_id", "run_id", "last_event_id") if name in given
        }
        settings = {"token": "a.b.c", **given}
        return list(request.param(url, count, pauses, {"org_id": ORG, **place}, **settings))

    return with_token


def said(*numbers: int, before: str = "id: 0\n\n") -> Answer:
    """Answer with events, then end."""
    blocks = (f"id: {number}\nevent: run.lost\ndata: {event(number)}\n\n" for number in numbers)
    body = before + "".join(blocks)
    return Answer(200, body.encode(), {"Content-Type": "text/event-stream; charset=utf-8"})


def event(number: int) -> str:
    given = {"id": str(number), "type": "run.lost", "runId": str(RUN), "at": "2026-03-02T12:00:00Z"}
    return json.dumps(given)


def refused(status: int, **headers: str) -> Answer:
    body = {"statusCode": status, "error": "E", "message": "because"}
    return Answer(status, json.dumps(body).encode(), headers)


@pytest.mark.parametrize("bytes_max", [2_000, 250], ids=["anywhere", "in the head of the answer"])
async def test_a_line_that_breaks_loses_nothing_and_repeats_nothing(
    tmp_path: Path, follow: Follow, bytes_max: int
) -> None:
    async with (
        streaming(tmp_path) as scene,
        breaking(scene.url, CUTS, bytes_max) as wire,
        asyncio.timeout(60),
    ):
        given = {"org_id": scene.org_id, "last_event_id": "0", "retries": CUTS}
        token = scene.member["accessToken"]
        result = asyncio.to_thread(follow, wire.url, EVENTS, token=token, **given)
        following = asyncio.create_task(result)
        for _ in range(EVENTS):
            await scene.tell()
        assert await following == [str(number + 1) for number in range(EVENTS)]

    assert wire.made == CUTS


async def test_one_run_is_followed_alone(tmp_path: Path, follow: Follow) -> None:
    async with streaming(tmp_path) as scene:
        await scene.tell(run_id=ORG)
        await scene.tell(2)
        place = {"org_id": scene.org_id, "run_id": RUN, "last_event_id": "0"}
        token = scene.member["accessToken"]
        result = await asyncio.to_thread(follow, scene.url, 2, token=token, **place)

    assert result == ["2", "3"]


def test_a_stream_that_ends_is_taken_up_after_the_last_event(follow: Follow) -> None:
    with answering(said(1, 2), said(3)) as server:
        assert follow(server.url, 3) == ["1", "2", "3"]
        first, second = server.received

    assert first.target == f"/api/orgs/{ORG}/runs/stream"
    assert first.headers["accept"] == "text/event-stream"
    assert "last-event-id" not in first.headers
    assert second.headers["last-event-id"] == "2"


def test_the_place_is_kept_before_any_event_has_come(follow: Follow) -> None:
    with answering(said(before="id: 41\n\n"), said(42)) as server:
        assert follow(server.url) == ["42"]
        assert server.received[1].headers["last-event-id"] == "41"


def test_what_the_caller_names_is_where_it_begins(follow: Follow) -> None:
    with answering(said(8)) as server:
        assert follow(server.url, run_id=RUN, last_event_id="7") == ["8"]
        (request,) = server.received

    assert request.headers["last-event-id"] == "7"
    assert request.target.endswith(f"?runId={RUN}")


@pytest.mark.parametrize("place", [{"run_id": "x"}, {"last_event_id": "1\r\nX: y"}])
def test_what_is_no_id_is_not_sent(follow: Follow, place: dict[str, str]) -> None:
    with answering(said(1)) as server:
        with pytest.raises(errors.InvalidCallError):
            follow(server.url, **place)
        assert server.received == []


def test_it_comes_back_after_the_pause_that_the_stream_asks_for(follow: Follow) -> None:
    pauses: list[float] = []
    with answering(said(1, before="retry: 4000\nid: 0\n\n"), said(2)) as server:
        follow(server.url, 2, pauses=pauses)

    (pause,) = pauses
    assert 0 <= pause <= 4


@pytest.mark.parametrize("status", [429, 503])
def test_a_server_that_is_busy_is_given_the_time_it_asks_for(follow: Follow, status: int) -> None:
    pauses: list[float] = []
    with answering(refused(status, **{"Retry-After": "3"}), said(1)) as server:
        assert follow(server.url, pauses=pauses) == ["1"]

    assert len(pauses) == 1
    assert pauses[0] >= 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409])
def test_a_fault_that_waiting_does_not_fix_ends_the_following(follow: Follow, status: int) -> None:
    with answering(said(1), refused(status)) as server:
        with pytest.raises(errors.error_class(status)) as caught:
            follow(server.url, 2)
        assert len(server.received) == 2

    assert "because" in str(caught.value)


def test_a_server_that_was_never_there_is_not_waited_for_long(follow: Follow) -> None:
    pauses: list[float] = []
    with pytest.raises(errors.ConnectionFailedError):
        follow(unused_url(), pauses=pauses, retries=3)

    assert len(pauses) == 3


def test_a_server_that_is_away_for_a_while_is_waited_for(follow: Follow) -> None:
    away = [refused(503)] * 20
    with answering(said(1), *away, said(2)) as server:
        assert follow(server.url, 2, retries=1) == ["1", "2"]
    pauses: list[float] = []
    with answering(said(1), refused(503)) as server:
        with pytest.raises(errors.ServerError):
            follow(server.url, 2, pauses=pauses)
        assert len(pauses) == 1 + RESUMES


def test_a_line_that_is_silent_for_too_long_is_given_up(
    follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert SILENCE_SECONDS == 45
    for shell in (_sync, _aio):
        monkeypatch.setattr(shell, "SILENCE_SECONDS", 0.2)
    with answering(Answer(silent=True), said(1)) as server:
        assert follow(server.url) == ["1"]


def test_a_token_is_asked_for_each_time(follow: Follow) -> None:
    tokens = iter(["first.one", "second.one"])
    with answering(said(1), said(2)) as server:
        follow(server.url, 2, token=lambda: next(tokens))
        signed = [request.headers["authorization"] for request in server.received]

    assert signed == ["Bearer first.one", "Bearer second.one"]


def test_a_kind_of_event_that_is_not_known_yet_is_passed_over(follow: Follow) -> None:
    with answering(said(3, before="id: 1\n\nid: 2\nevent: box.lost\ndata: {}\n\n")) as server:
        assert follow(server.url) == ["3"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, b"<html>", {"Content-Type": "text/html"}),
        Answer(204),
        Answer(302, b"", {"Location": "http://elsewhere.example"}),
        said(before="event: run.lost\ndata: {}\n\n"),
        said(before="id: \u00fc\n\n"),
    ],
    ids=["a page", "nothing", "elsewhere", "no event", "no id"],
)
def test_an_answer_that_is_not_our_stream_is_an_error(follow: Follow, answer: Answer) -> None:
    with answering(answer) as server:
        with pytest.raises(errors.AnswerShapeError):
            follow(server.url)
        assert len(server.received) == 1


def test_without_a_token_nothing_is_asked(follow: Follow) -> None:
    with answering(said(1)) as server:
        with pytest.raises(errors.CredentialMissingError):
            follow(server.url, token=None)
        assert server.received == []
