# SPDX-License-Identifier: Apache-2.0
"""Who gives way when all places for streams are taken (contract, "Runs and streams"): neither one
organization nor one address keeps the others out.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.server.clock import system_clock
from hwci.server.errors import ConflictError, RateLimitedError
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens
from hwci.server.services.access import Access, Member
from hwci.server.services.runs import streams
from hwci.server.storage.opening import open_storage
from hwci.wire import limits
from tests.support.running import ADMIN_EMAIL
from tests.support.streaming import WAIT_SECONDS, Scene, bearer, following, refusal, streaming

PLACES = 6
HERE, THERE = "192.0.2.1", "192.0.2.2"
ORGS = [UUID(int=number) for number in range(1, 9)]


def member(org: UUID, user: UUID | None = None) -> Member:
    claims = SimpleNamespace(ends_at=system_clock() + timedelta(minutes=15))
    return cast("Member", SimpleNamespace(org_id=org, id=user or uuid4(), claims=claims))


class Followers:
    """All who follow, with the places of one server."""

    def __init__(self, held: AsyncExitStack, all_streams: streams.Streams) -> None:
        self._held, self._streams = held, all_streams
        self.streams: list[streams.Stream] = []

    async def come(self, org: UUID, address: str, after: int | None = None) -> bool:
        """Follow; return whether there was a place."""
        wish = streams.Subscription(None, after, lambda: True, address)
        try:
            stream = self._streams.following(member(org), wish)
            self.streams.append(await self._held.enter_async_context(stream))
        except RateLimitedError:
            return False
        return True

    def of(self, org: UUID) -> int:
        return sum(one.viewer.org_id == org for one in self.streams if one.holds)


@pytest.fixture
async def followers(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Followers]:
    monkeypatch.setattr(limits, "STREAMS_PER_SERVER", PLACES)
    storage = open_storage("memory:")
    signer = Signer(b"k" * 32, system_clock)
    access = Access(storage, system_clock, AccessTokens(signer))
    async with AsyncExitStack() as held:
        yield Followers(held, streams.Streams(storage, system_clock, access))
    await storage.close()


async def test_many_accounts_of_one_organization_leave_others_their_share(
    followers: Followers,
) -> None:
    for number in range(PLACES):
        assert await followers.come(ORGS[0], f"198.51.100.{number}")

    came = [await followers.come(ORGS[1], HERE) for _ in range(PLACES)]

    assert came == [True] * 3 + [False] * 3
    assert (followers.of(ORGS[0]), followers.of(ORGS[1])) == (3, 3)
    assert [one.displaced for one in followers.streams[:PLACES]] == [False] * 3 + [True] * 3


async def test_a_stream_that_cannot_start_displaces_none(followers: Followers) -> None:
    for _ in range(PLACES):
        assert await followers.come(ORGS[0], THERE)

    with pytest.raises(ConflictError):
        await followers.come(ORGS[1], HERE, after=10**6)

    assert followers.of(ORGS[0]) == PLACES


async def test_many_organizations_of_one_address_leave_others_their_share(
    followers: Followers,
) -> None:
    for org in ORGS[:PLACES]:
        assert await followers.come(org, HERE)

    assert await followers.come(ORGS[6], THERE)
    assert not await followers.come(ORGS[7], HERE)


async def test_a_client_that_gave_way_does_not_get_the_place_back(followers: Followers) -> None:
    for _ in range(PLACES):
        await followers.come(ORGS[0], HERE)
    while await followers.come(ORGS[1], THERE):
        pass

    assert not await followers.come(ORGS[0], HERE)
    assert not await followers.come(ORGS[0], THERE)


async def test_a_client_that_gives_way_gets_an_error(followers: Followers) -> None:
    for _ in range(PLACES):
        await followers.come(ORGS[0], HERE)
    await followers.come(ORGS[1], THERE)

    with pytest.raises(RateLimitedError, match="try again in 15 seconds") as caught:
        await followers.streams[PLACES - 1].next()
    assert len(str(caught.value)) <= 123, "it is the reason that a WebSocket is closed with"


@given(st.lists(st.tuples(st.sampled_from(ORGS[:4]), st.sampled_from([HERE, THERE])), min_size=9))
def test_places_come_and_go_only_toward_equal_shares(wishes: list[tuple[UUID, str]]) -> None:
    """However they come, each organization ends with what it wanted, or with all but one of what
    any other holds.
    """
    held: list[tuple[UUID, str]] = []
    wanted: dict[UUID, int] = {}
    for org, address in wishes:
        wanted[org] = wanted.get(org, 0) + 1
        if len(held) == PLACES:
            found = [cast("streams.Stream", SimpleNamespace(holders=one)) for one in held]
            displaced = streams._whose_place(found, (org, address))
            if displaced is None:
                continue
            held.pop(next(i for i, one in enumerate(found) if one is displaced))
        held.append((org, address))
    counts = {org: sum(one[0] == org for one in held) for org in wanted}

    assert len(held) == min(PLACES, len(wishes))
    last = wishes[-1][0]
    assert counts[last] == wanted[last] or counts[last] >= max(counts.values()) - 1


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    async with streaming(tmp_path) as scene:
        yield scene


async def elsewhere(scene: Scene) -> tuple[str, dict[str, Any]]:
    """Make another organization; give where its runs are followed, and by whom."""
    admin = await scene.sign_in(ADMIN_EMAIL)
    made = await scene.post("/api/orgs", {"name": "Elsewhere"}, **bearer(admin))
    return f"{scene.url}/api/orgs/{made['id']}/runs/stream", admin


async def test_streams_that_are_displaced_end_and_must_wait_to_come_back(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STREAMS_PER_SERVER", 2)
    url, admin = await elsewhere(scene)
    async with following(scene) as stays, following(scene, scene.owner) as ends:
        newcomer = await scene.http.get(url, headers=bearer(admin))
        assert newcomer.status == 200
        assert b"data" not in await ends.rest()
        status, body = await refusal(scene, **bearer(scene.owner))
        await scene.tell()
        assert await stays.ids(1) == [1]
        newcomer.close()

    assert (status, "try again in 15 seconds" in body["message"]) == (429, True)


async def test_a_web_socket_that_gives_way_is_closed_with_the_reason(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "STREAMS_PER_SERVER", 2)
    url, admin = await elsewhere(scene)
    signed = bearer(scene.owner)
    async with following(scene), scene.http.ws_connect(f"{scene.runs}/ws", headers=signed) as ws:
        newcomer = await scene.http.get(url, headers=bearer(admin))
        assert newcomer.status == 200
        frame = await ws.receive(WAIT_SECONDS)
        newcomer.close()

    assert frame.type is aiohttp.WSMsgType.CLOSE
    assert frame.data == 4429
    assert "your organization holds the most; try again in 15 seconds" in str(frame.extra)
