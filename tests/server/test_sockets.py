# SPDX-License-Identifier: Apache-2.0
"""Events of runs over a WebSocket: the same events, under the same rules (contract, "Runs and
streams").
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
from aiohttp import ClientWebSocketResponse, WSMessage, WSMsgType

from hwci.server.clock import system_clock
from hwci.server.http import streams as over_http
from hwci.server.services.runs import streams
from hwci.wire import limits
from tests.support.running import EMAIL, Hands
from tests.support.streaming import (
    WAIT_SECONDS,
    Scene,
    after,
    bearer,
    breaking,
    following,
    streaming,
)

REPORTS, CUTS = 150, 20


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with streaming(tmp_path) as scene:
        yield scene


@asynccontextmanager
async def opened(
    scene: Scene, *, query: str = "", **headers: str
) -> AsyncIterator[ClientWebSocketResponse]:
    async with scene.http.ws_connect(f"{scene.runs}/ws{query}", headers=headers) as ws:
        yield ws


def sign_in(who: dict[str, Any], **others: object) -> dict[str, object]:
    return {"type": "auth", "token": who["accessToken"], **others}


async def closed(ws: ClientWebSocketResponse) -> int | None:
    """Return the code that the server closes with; nothing else comes before."""
    await closing(ws)
    return ws.close_code


async def closing(ws: ClientWebSocketResponse) -> WSMessage:
    """Return the frame that the server closes with. Its pings would restart the client's own
    timeout, without end.
    """
    async with asyncio.timeout(WAIT_SECONDS):
        message = await ws.receive()
    assert message.type in {WSMsgType.CLOSE, WSMsgType.CLOSED}, message
    return message


# What is sent


async def test_the_frames_are_the_data_of_the_other_stream(scene: Scene) -> None:
    async with (
        opened(scene, **bearer(scene.member)) as ws,
        following(scene, scene.owner) as reader,
    ):
        await scene.tell(3)
        frames = [await ws.receive_str(timeout=WAIT_SECONDS) for _ in range(3)]
        assert frames == [(await reader.event())["data"] for _ in range(3)]


async def test_a_browser_signs_in_with_the_first_frame(scene: Scene) -> None:
    await scene.tell(3)
    async with opened(scene, query=f"?runId={uuid4()}") as ws:
        await ws.send_json(sign_in(scene.member, lastEventId="1"))
        assert not ws.compress
    async with opened(scene) as ws:
        await ws.send_json(sign_in(scene.member, lastEventId="1"))
        assert [json.loads(await ws.receive_str(timeout=WAIT_SECONDS))["id"] for _ in range(2)] == [
            "2",
            "3",
        ]


async def test_a_program_names_its_place_in_the_handshake(scene: Scene) -> None:
    await scene.tell(3)
    async with opened(scene, **bearer(scene.member), **after(2)) as ws:
        assert json.loads(await ws.receive_str(timeout=WAIT_SECONDS))["id"] == "3"


async def test_what_a_reader_sends_later_is_ignored(scene: Scene) -> None:
    async with opened(scene, **bearer(scene.member)) as ws:
        for frame in ('{"type": "auth"}', "nonsense", "[" * 4000):
            await ws.send_str(frame)
        await scene.tell()
        assert json.loads(await ws.receive_str(timeout=WAIT_SECONDS))["id"] == "1"
        await ws.send_str("x" * (limits.STREAM_FRAME_BYTES + 1))
        assert await closed(ws) == 1009


async def test_nothing_is_compressed(scene: Scene) -> None:
    url = f"{scene.runs}/ws"
    async with scene.http.ws_connect(url, headers=bearer(scene.member), compress=15) as ws:
        assert ws.compress == 0


async def test_a_reader_who_does_not_answer_a_ping_is_cut(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert over_http.PING_SECONDS == 30
    monkeypatch.setattr(over_http, "PING_SECONDS", 2.0)  # half of it is there to answer
    url = f"{scene.runs}/ws"
    async with (
        opened(scene, **bearer(scene.owner)) as answers,
        scene.http.ws_connect(url, headers=bearer(scene.member), autoping=False) as ws,
    ):
        waiting = asyncio.create_task(answers.receive_str(timeout=WAIT_SECONDS))
        assert (await ws.receive(WAIT_SECONDS)).type is WSMsgType.PING
        while (await ws.receive(WAIT_SECONDS)).type is WSMsgType.PING:
            pass
        await scene.tell()
        assert json.loads(await waiting)["id"] == "1"


# Before the upgrade


REFUSED: list[tuple[int, dict[str, str]]] = [
    (401, {"Authorization": "Bearer nonsense"}),
    (401, {"Authorization": "Basic eDp5"}),
    (403, {"Origin": "https://elsewhere.example"}),
    (403, {"Origin": "null"}),
    (403, {"Origin": "http://[nonsense"}),
    (400, {"Last-Event-ID": "x"}),
    (400, {"Sec-WebSocket-Protocol": "token"}),
]


async def test_what_is_refused_is_refused_before_the_upgrade(scene: Scene) -> None:
    for status, headers in REFUSED:
        given = {**bearer(scene.member), **headers}
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await scene.http.ws_connect(f"{scene.runs}/ws", headers=given)

        assert caught.value.status == status, headers
        assert caught.value.headers is not None
        assert caught.value.headers["content-type"].startswith("application/json")
        assert caught.value.headers["x-request-id"]


async def test_a_page_of_another_site_opens_no_socket_by_its_first_frame(scene: Scene) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await scene.http.ws_connect(f"{scene.runs}/ws", origin="https://elsewhere.example")

    assert caught.value.status == 403


async def test_our_own_pages_are_let_in_by_both_of_our_addresses(tmp_path: Path) -> None:
    async with streaming(tmp_path, base_url="https://hwci.example.org") as scene:
        for origin in (scene.url, "https://hwci.example.org"):
            async with opened(scene, Origin=origin, **bearer(scene.member)) as ws:
                await scene.tell()
                await ws.receive_str(timeout=WAIT_SECONDS)


async def test_another_organization_is_not_found(scene: Scene) -> None:
    url = f"{scene.url}/api/orgs/{uuid4()}/runs/ws"
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await scene.http.ws_connect(url, headers=bearer(scene.member))
    assert caught.value.status == 404

    async with scene.http.ws_connect(url) as ws:
        await ws.send_json(sign_in(scene.member))
        assert await closed(ws) == 4404


async def test_what_is_not_a_handshake_is_400(scene: Scene) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    for method, headers in (("GET", {}), ("GET", upgrade), ("HEAD", {}), ("HEAD", upgrade)):
        given = {**bearer(scene.member), **headers}
        async with scene.http.request(method, f"{scene.runs}/ws", headers=given) as reply:
            assert reply.status == 400
            if method == "GET":
                assert (await reply.json())["issues"][0]["path"] == ["header", "Upgrade"]


async def test_credentials_are_checked_before_the_query(scene: Scene) -> None:
    for headers, status in (({"Authorization": "Bearer x"}, 401), (bearer(scene.member), 400)):
        async with scene.http.get(f"{scene.runs}/ws?runId=x", headers=headers) as reply:
            assert reply.status == status


# Signing in by the first frame


INVALID_SIGN_INS = (
    "",
    "nonsense",
    "[]",
    '{"type": "auth"}',
    '{"type": "hello", "token": "x"}',
    '{"type": "auth", "token": 1}',
    '{"type": "auth", "token": "x", "more": 1}',
    '{"type": "auth", "token": "x"}',
    '{"type": "auth", "token": "\\ud800"}',
)


async def test_a_first_frame_that_is_no_sign_in_closes_with_4401(scene: Scene) -> None:
    for frame in INVALID_SIGN_INS:
        async with opened(scene) as ws:
            await ws.send_str(frame)
            assert await closed(ws) == 4401, frame
    async with opened(scene) as ws:
        await ws.send_bytes(json.dumps(sign_in(scene.member)).encode())
        assert await closed(ws) == 4401


async def test_a_first_frame_is_read_as_strictly_as_a_body(scene: Scene) -> None:
    good = json.dumps(sign_in(scene.member))
    for frame in (
        good.replace('"token"', '"token": "x", "token"'),
        good.replace("}", ', "last_event_id": "1"}'),
        good.replace("}", ', "lastEventId": "\\u0000"}'),
    ):
        async with opened(scene) as ws:
            await ws.send_str(frame)
            assert await closed(ws) == 4401, frame


async def test_silence_closes_with_4401(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert over_http.SIGN_IN_SECONDS == 5
    monkeypatch.setattr(over_http, "SIGN_IN_SECONDS", 0.05)
    async with opened(scene) as ws:
        assert await closed(ws) == 4401


async def test_a_token_in_the_address_is_refused(scene: Scene) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
        await scene.http.ws_connect(f"{scene.runs}/ws?token={scene.member['accessToken']}")

    assert caught.value.status == 400


async def test_a_bad_last_event_id_closes_with_the_status_of_http(scene: Scene) -> None:
    for place, code, words in (
        ("x", 4400, "lastEventId: Should be the id of an event"),
        ("7", 4409, "The stream cannot resume after event 7"),
    ):
        async with opened(scene) as ws:
            await ws.send_json(sign_in(scene.member, lastEventId=place))
            frame = await closing(ws)
            assert (frame.data, words in str(frame.extra)) == (code, True), frame


async def test_an_eleventh_stream_is_refused_whichever_way_it_signs_in(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STREAMS_PER_USER", 1)
    async with following(scene):
        with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
            await scene.http.ws_connect(f"{scene.runs}/ws", headers=bearer(scene.member))
        assert caught.value.status == 429
        async with opened(scene) as ws:
            await ws.send_json(sign_in(scene.member))
            assert await closed(ws) == 4429
    async with opened(scene, **bearer(scene.member)) as ws:
        await scene.tell()
        await ws.receive_str(timeout=WAIT_SECONDS)


# The end


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHECK_SECONDS", 0.05)


@pytest.mark.usefixtures("often")
async def test_a_socket_closes_with_its_session_or_membership(scene: Scene) -> None:
    other = await scene.sign_in(EMAIL)
    async with opened(scene, **bearer(scene.member)) as ws, opened(scene, **bearer(other)) as gone:
        await scene.remove(scene.member)
        await scene.post("/api/auth/logout", {"refreshToken": other["refreshToken"]})
        assert await closed(ws) == 4404
        assert await closed(gone) == 4401


@pytest.mark.usefixtures("often")
async def test_a_socket_closes_with_its_access_token(tmp_path: Path) -> None:
    clock = Hands(system_clock().replace(microsecond=0))
    async with streaming(tmp_path, clock) as scene, opened(scene, **bearer(scene.member)) as ws:
        clock.move(minutes=15, microseconds=-1)
        await scene.tell()
        await ws.receive_str(timeout=WAIT_SECONDS)
        clock.move(microseconds=1)
        assert await closed(ws) == 4401


async def test_a_server_that_stops_closes_with_1001(tmp_path: Path) -> None:
    async with aiohttp.ClientSession() as http:
        async with streaming(tmp_path) as scene:
            ws = await http.ws_connect(f"{scene.runs}/ws", headers=bearer(scene.member))
            leaving = asyncio.create_task(closed(ws))
            await scene.tell(0)
        assert await leaving == 1001


async def test_a_reader_who_leaves_gives_the_place_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STREAMS_PER_USER", 1)
    for _ in range(5):
        async with opened(scene, **bearer(scene.member)) as ws:
            await ws.close()


# A line that breaks


async def test_a_socket_that_is_cut_and_resumed_misses_nothing_and_repeats_nothing(
    scene: Scene,
) -> None:
    async with breaking(scene.url, CUTS, bytes_max=1_000) as wire, asyncio.timeout(300):
        url = f"{wire.url}/api/orgs/{scene.org_id}/runs/ws"
        received, _ = await asyncio.gather(read_through_cuts(url, scene), send(scene))

    assert wire.made == CUTS
    assert received == [str(number + 1) for number in range(REPORTS)]


async def send(scene: Scene) -> None:
    for _ in range(REPORTS):
        await scene.tell()


async def read_through_cuts(url: str, scene: Scene) -> list[str]:
    received = ["0"]
    async with aiohttp.ClientSession() as http:
        while len(received) <= REPORTS:
            try:
                async with http.ws_connect(url) as ws:
                    await ws.send_json(sign_in(scene.member, lastEventId=received[-1]))
                    while len(received) <= REPORTS:
                        received.append(
                            json.loads(await ws.receive_str(timeout=WAIT_SECONDS))["id"]
                        )
            except (aiohttp.ClientError, aiohttp.WSMessageTypeError, ConnectionError):
                continue
    return received[1:]
