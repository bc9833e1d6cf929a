# SPDX-License-Identifier: Apache-2.0
"""Server-sent events of runs: in order, each once, for as long as one may (contract, "Runs and
streams").
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest

from hwci.contract.runs.runs import RunEvent
from hwci.server.clock import system_clock
from hwci.server.errors import ConflictError
from hwci.server.services.runs import event_buffer, streams
from hwci.server.storage.ports import Reader as StorageReader
from hwci.wire.codec import from_json
from tests.support.running import report
from tests.support.soak import rounds
from tests.support.streaming import (
    RUN,
    Reader,
    Scene,
    after,
    bearer,
    breaking,
    ci_key,
    following,
    many,
    refusal,
    streaming,
)

REPORTS, CUTS = rounds((200, 10), (1_000, 50))
FOLLOWERS, SOME = 20, 50


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with streaming(tmp_path) as scene:
        yield scene


# What is sent


async def test_a_stream_says_what_it_is_and_that_nobody_may_keep_it(scene: Scene) -> None:
    async with following(scene) as reader:
        headers = reader.response.headers

        assert headers["content-type"] == "text/event-stream"
        assert headers["cache-control"] == "no-store"
        assert headers["x-accel-buffering"] == "no"
        assert headers["x-request-id"]


async def test_an_event_is_one_line_of_json_under_its_number_and_kind(scene: Scene) -> None:
    async with following(scene) as reader:
        await scene.tell(name="line\r\nbreak\u2028")
        event = await reader.event()
    said = json.loads(event["data"])

    assert set(event) == {"id", "event", "data"}
    assert (event["id"], event["event"]) == (said["id"], said["type"]) == ("1", "run.test")
    assert said["runId"] == str(RUN)
    assert said["test"] == {"id": "line\r\nbreak\u2028-0", "outcome": None, "attempts": None}
    assert set(said) == {"id", "type", "runId", "at", "test"}, "what an event has not is left out"
    from_json(RunEvent, event["data"])


async def test_a_live_run_has_events_from_its_start_to_its_report(scene: Scene) -> None:
    box = await scene.post(
        f"/api/orgs/{scene.org_id}/boxes", {"name": "bench-1"}, **bearer(scene.owner)
    )
    token = {"installToken": box["installToken"]}
    key = {"X-API-Key": (await scene.post("/api/boxes/install", token))["apiKey"]}
    body = report()
    head = {name: body[name] for name in body if name not in NO_HEAD}
    async with following(scene) as reader:
        run = await scene.post("/api/box/runs", head, **key)
        ended = {"type": "test", "id": "boot", "outcome": "pass", "attempts": 2}
        await scene.post(f"/api/box/runs/{run['id']}/events", {"events": [ended]}, **key)
        await scene.post("/api/ci/run-report", body, **await ci_key(scene))
        result = [from_json(RunEvent, (await reader.event())["data"]) for _ in range(3)]

    assert [event.type for event in result] == ["run.started", "run.test", "run.reported"]
    assert {str(event.run_id) for event in result} == {run["id"]}
    started, test, reported = result
    assert started.run is not None
    assert (started.run.status, started.run.ended_at) == ("running", None)
    assert test.test is not None
    assert (test.test.id, test.test.outcome, test.test.attempts) == ("boot", "pass", 2)
    assert reported.run is not None
    assert (reported.run.status, reported.run.tests.passed) == ("reported", 1)


NO_HEAD = {"box_key", "tests", "ended_at", "conclusion", "hello_ok"}


async def test_silence_is_broken_by_comments(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert streams.SILENCE_SECONDS == 15
    monkeypatch.setattr(streams, "SILENCE_SECONDS", 0.05)
    async with following(scene) as reader:
        assert [await reader.block() for _ in range(3)] == [[":"]] * 3


async def test_a_follower_is_woken_and_does_not_look_from_time_to_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for period in ("SILENCE_SECONDS", "CHECK_SECONDS"):
        monkeypatch.setattr(streams, period, 10_000)
    async with following(scene) as reader:
        for number in range(1, 4):
            await scene.tell()
            assert await reader.ids(1) == [number]


async def test_head_says_the_same_and_ends(scene: Scene) -> None:
    async with scene.http.head(f"{scene.runs}/stream", headers=bearer(scene.member)) as response:
        assert response.status == 200
        assert response.content_type == "text/event-stream"
    async with scene.http.head(f"{scene.runs}/stream") as response:
        assert response.status == 401


# Where it begins


async def test_a_stream_begins_with_what_happens_from_now_on(scene: Scene) -> None:
    await scene.tell(3)
    async with following(scene) as reader:
        await scene.tell(2)
        assert await reader.ids(2) == [4, 5]


async def test_a_stream_goes_on_after_the_event_that_is_named(scene: Scene) -> None:
    await scene.tell(5)
    for number in (0, 3):
        async with following(scene, **after(number)) as reader:
            assert await reader.ids(5 - number) == list(range(number + 1, 6))
    async with following(scene, **after(5)) as reader:
        await scene.tell()
        assert await reader.ids(1) == [6]


async def test_the_place_is_given_before_the_first_event(scene: Scene) -> None:
    await scene.tell(4)
    headers = bearer(scene.member)
    async with scene.http.get(f"{scene.runs}/stream", headers=headers) as response:
        assert "id: 4" in await Reader(response).block()


async def test_one_run_can_be_followed_alone(scene: Scene) -> None:
    other = uuid4()
    async with following(scene, query=f"?runId={RUN}") as reader:
        await scene.tell(2)
        await scene.tell(event_buffer.LENGTH + 1, other)
        await scene.tell()
        assert await reader.ids(3) == [1, 2, event_buffer.LENGTH + 4]
    async with following(scene, query=f"?runId={RUN}", **after(1)) as reader:
        assert await reader.ids(2) == [2, event_buffer.LENGTH + 4]


async def test_events_long_past_are_sent_in_order_while_more_happens(scene: Scene) -> None:
    past, more = 3 * event_buffer.LENGTH, event_buffer.LENGTH
    await scene.tell(past)
    async with following(scene, **after(0)) as reader, following(scene) as fresh:
        await scene.tell(more)
        assert await reader.ids(past + more) == list(range(1, past + more + 1))
        assert await fresh.ids(more) == list(range(past + 1, past + more + 1))


async def test_what_is_new_is_read_once_however_many_follow(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, read = event_buffer.EventBuffer._read_new, []

    def counted(
        tail: event_buffer.EventBuffer, reader: StorageReader
    ) -> Sequence[event_buffer.StreamEvent]:
        read.append(tail)
        return new(tail, reader)

    async with many(scene, 5) as readers:
        await scene.tell()
        for reader in readers:
            await reader.ids(1)
        monkeypatch.setattr(event_buffer.EventBuffer, "_read_new", counted)
        await scene.tell()
        for reader in readers:
            await reader.ids(1)
        assert len(read) == 1


async def test_what_is_no_event_id_is_400(scene: Scene) -> None:
    for given in ("x", "", "-1", "1.0", "\uff11", "9" * 19):
        status, body = await refusal(scene, **bearer(scene.member), **after(given))

        assert (status, body["issues"][0]["path"]) == (400, ["header", "Last-Event-ID"]), given


async def test_an_event_that_is_not_there_yet_or_no_more_is_409_and_says_what_to_do(
    scene: Scene,
) -> None:
    await scene.tell(3)
    status, body = await refusal(scene, **bearer(scene.member), **after(4))
    assert (status, "List the runs" in body["message"]) == (409, True)

    now = system_clock() + timedelta(days=1)
    await scene.storage.write(lambda writer: writer.drop_events(now, 999))
    for number, expected in ((0, 409), (1, 409), (2, 200), (3, 200)):
        headers = {**bearer(scene.member), **after(number)}
        async with scene.http.get(f"{scene.runs}/stream", headers=headers) as response:
            assert response.status == expected


async def test_nobody_goes_on_over_a_gap(scene: Scene) -> None:
    await scene.tell(2 * event_buffer.LENGTH)
    buffer = event_buffer.EventBuffer(scene.storage, scene.org_id)
    assert (await buffer.after(9, None)).events[0].number == 10

    now = system_clock() + timedelta(days=1)
    await scene.storage.write(lambda writer: writer.drop_events(now, 999))
    with pytest.raises(ConflictError):
        await buffer.after(10, None)


# A line that breaks


async def test_a_stream_that_is_cut_and_resumed_misses_nothing_and_repeats_nothing(
    scene: Scene,
) -> None:
    key = await ci_key(scene)
    async with (
        breaking(scene.url, CUTS, bytes_max=15_000) as wire,
        following(scene) as uncut,
        asyncio.timeout(300),
    ):
        url = f"{wire.url}/api/orgs/{scene.org_id}/runs/stream"
        cut, whole, _ = await asyncio.gather(
            read_through_cuts(url, scene, REPORTS),
            read_events(uncut, REPORTS),
            send_reports(scene, key, REPORTS),
        )

    assert wire.made == CUTS
    assert [event["id"] for event in cut] == [str(number + 1) for number in range(REPORTS)]
    assert [json.loads(event["data"])["run"]["runId"] for event in cut] == list(range(REPORTS))
    assert cut == whole


async def test_many_who_follow_at_once_get_the_same(scene: Scene) -> None:
    key = await ci_key(scene)
    async with many(scene, FOLLOWERS) as readers, asyncio.timeout(300):
        first, *others, _ = await asyncio.gather(
            *(read_events(reader, SOME) for reader in readers), send_reports(scene, key, SOME)
        )

    assert [event["id"] for event in first or ()] == [str(number + 1) for number in range(SOME)]
    assert all(other == first for other in others)


async def send_reports(scene: Scene, key: dict[str, str], count: int) -> None:
    for number in range(count):
        await scene.post("/api/ci/run-report", report(run_id=number), **key)


async def read_events(reader: Reader, count: int) -> list[dict[str, str]]:
    return [await reader.event() for _ in range(count)]


async def read_through_cuts(url: str, scene: Scene, count: int) -> list[dict[str, str]]:
    """Read as a browser would: a block counts when it is whole, and its id is where to go on."""
    received: list[dict[str, str]] = []
    place = "0"
    while len(received) < count:
        headers = {**bearer(scene.member), "Last-Event-ID": place}
        try:
            async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as response:
                assert response.status == 200
                reader = Reader(response)
                await reader.block()
                while len(received) < count:
                    received.append(await reader.event())
                    place = received[-1]["id"]
        except (aiohttp.ClientError, ConnectionError, asyncio.IncompleteReadError):
            continue
    return received
