# SPDX-License-Identifier: Apache-2.0
"""Renewal of sign-ins: rotation, expiry, and what a second use of a token does (contract,
"Auth").
"""

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hwci.server.app import sweeping
from tests.support.asking import PATIENCE_SECONDS, Reply, ask, bearer
from tests.support.databases import query
from tests.support.running import (
    ADMIN_EMAIL,
    EMAIL,
    MEMBER_EMAIL,
    PASSWORD,
    Hands,
    RunningServer,
    running,
    running_in_thread,
)
from tests.support.soak import rounds

REFUSED = (401, "The refresh token is unknown, has expired or was used before; sign in again")
ENDED = (401, "The session has ended; sign in again")
ROUNDS, AT_ONCE = rounds(20, 200), 16

Pair = dict[str, Any]


def login(server: RunningServer, email: str = EMAIL) -> Pair:
    body = {"email": email, "password": PASSWORD}
    return dict(ask(server.url, "POST", "/api/auth/login", json_body=body).json)


def refresh(server: RunningServer, pair: Pair) -> Reply:
    body = {"refreshToken": pair["refreshToken"]}
    return ask(server.url, "POST", "/api/auth/refresh", json_body=body)


def logout(server: RunningServer, pair: Pair) -> None:
    body = {"refreshToken": pair["refreshToken"]}
    assert ask(server.url, "POST", "/api/auth/logout", json_body=body).status == 204


def me(server: RunningServer, pair: Pair) -> Reply:
    return ask(server.url, "GET", "/api/auth/me", bearer(pair["accessToken"]))


def is_in(server: RunningServer, pair: Pair) -> bool:
    return me(server, pair).status == 200


@pytest.fixture
def moved(tmp_path: Path, clock: Hands) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path, clock=clock) as server:
        yield server


def test_a_refresh_answers_with_a_new_pair_of_the_same_person(server: RunningServer) -> None:
    first = login(server)
    reply = refresh(server, first)

    assert reply.status == 200
    assert set(reply.json) == {"accessToken", "refreshToken", "tokenType", "expiresIn"}
    assert (reply.json["tokenType"], reply.json["expiresIn"]) == ("Bearer", 900)
    assert reply.json["refreshToken"] != first["refreshToken"]
    assert me(server, reply.json).json["user"] == first["user"]


def test_a_sign_in_is_renewed_again_and_again_and_its_access_tokens_live_on(
    server: RunningServer,
) -> None:
    pairs = [login(server)]
    for _ in range(5):
        pairs.append(refresh(server, pairs[-1]).json)

    assert len({pair["refreshToken"] for pair in pairs}) == 6
    assert all(is_in(server, pair) for pair in pairs)


def test_a_second_use_ends_every_session_of_that_user_and_of_nobody_else(
    server: RunningServer,
) -> None:
    first, other_sign_in = login(server, MEMBER_EMAIL), login(server, MEMBER_EMAIL)
    somebody_else = login(server, ADMIN_EMAIL)
    second = refresh(server, first).json
    third = refresh(server, second).json

    assert refresh(server, first).error == REFUSED
    for pair in (first, second, third, other_sign_in):
        assert me(server, pair).error == ENDED
    for pair in (third, other_sign_in):
        assert refresh(server, pair).error == REFUSED
    assert is_in(server, somebody_else)
    assert refresh(server, somebody_else).status == 200
    assert is_in(server, login(server, MEMBER_EMAIL))


def test_a_second_use_is_in_the_log_and_in_the_audit_log_once(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    first, _ = login(server, ADMIN_EMAIL), login(server, ADMIN_EMAIL)
    second = refresh(server, first).json
    for _ in range(3):
        assert refresh(server, first).error == REFUSED

    user_id = first["user"]["id"]
    result = [one for one in caplog.records if "used twice" in one.getMessage()]
    assert [one.levelname for one in result] == ["WARNING"]
    assert user_id in result[0].getMessage()
    owner = bearer(login(server)["accessToken"])  # other tests end all of the owner's sign-ins
    log = ask(server.url, "GET", f"{server.org_url}/audit-log", owner)
    of_user = [one for one in log.json["items"] if one["actor"]["id"] == user_id]
    (entry,) = [one for one in of_user if one["action"] == "session.reuse"]
    assert entry["target"] == user_id
    assert entry["details"]["sessions"] >= 2
    for token in (first["refreshToken"], second["refreshToken"], first["accessToken"]):
        assert token not in caplog.text
        assert token.encode() not in log.body


def test_a_used_token_ends_the_sign_ins_before_its_second_use_and_no_later_one(
    server: RunningServer,
) -> None:
    first = login(server)
    second = refresh(server, first).json
    third = refresh(server, second).json
    assert refresh(server, first).error == REFUSED
    assert me(server, third).error == ENDED

    later = login(server)
    for pair in (first, second, third, first):
        assert refresh(server, pair).error == REFUSED
        assert is_in(server, later)
    assert refresh(server, later).status == 200


def test_a_token_that_was_never_given_ends_nothing(server: RunningServer) -> None:
    pair = login(server)

    for text in ("", "x", "é", pair["refreshToken"][:-1], pair["refreshToken"] + "A"):
        assert refresh(server, {"refreshToken": text}).error == REFUSED
    assert is_in(server, pair)
    assert refresh(server, pair).status == 200


def test_neither_token_stands_for_the_other(server: RunningServer) -> None:
    pair = login(server)

    assert me(server, {"accessToken": pair["refreshToken"]}).status == 401
    assert refresh(server, {"refreshToken": pair["accessToken"]}).error == REFUSED
    assert is_in(server, pair)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, []),
        ({"refreshToken": None}, []),
        ({"refreshToken": "x", "session": "cookie"}, []),
        ({"refreshToken": "x" * 4097}, ["refreshToken"]),
        ({"refreshToken": 1}, ["refreshToken"]),
        ({"refreshToken": "x", "session": "none"}, ["session"]),
    ],
)
def test_a_body_that_does_not_name_one_sign_in_is_400(
    server: RunningServer, body: Pair, path: list[str]
) -> None:
    reply = ask(server.url, "POST", "/api/auth/refresh", json_body=body)

    assert reply.issue_paths == [["body", *path]]


def test_a_person_who_logged_out_cannot_come_back_and_ends_nothing_else(
    server: RunningServer,
) -> None:
    kept, first = login(server), login(server)
    renewed = refresh(server, first).json
    logout(server, renewed)

    assert refresh(server, renewed).error == REFUSED
    assert me(server, renewed).error == me(server, first).error == ENDED
    assert is_in(server, kept)


def test_a_used_token_is_a_used_token_after_a_logout_too(server: RunningServer) -> None:
    kept, first = login(server), login(server)
    logout(server, refresh(server, first).json)

    assert is_in(server, kept)
    assert refresh(server, first).error == REFUSED
    assert me(server, kept).error == ENDED


def test_a_refresh_token_lives_seven_days_and_no_longer(moved: RunningServer, clock: Hands) -> None:
    used, late = login(moved), login(moved)

    clock.move(days=7, microseconds=-1)
    renewed = refresh(moved, used)
    assert renewed.status == 200
    clock.move(microseconds=1)
    assert refresh(moved, late).error == REFUSED
    assert is_in(moved, renewed.json), "one that has only expired ends nothing"


def test_a_renewed_sign_in_has_its_fifteen_minutes_and_seven_days_from_then(
    moved: RunningServer, clock: Hands
) -> None:
    first = login(moved)
    clock.move(days=6)
    second = refresh(moved, first).json

    clock.move(minutes=15, seconds=-1)
    assert me(moved, second).status == 200
    clock.move(seconds=1)
    assert me(moved, second).status == 401
    clock.move(days=7, minutes=-15, seconds=-1)
    third = refresh(moved, second)
    assert third.status == 200
    clock.move(days=7)
    assert refresh(moved, third.json).error == REFUSED


@pytest.mark.parametrize("early", [True, False], ids=["just before", "at the end"])
def test_a_used_token_is_known_until_its_own_seven_days_end(
    moved: RunningServer, clock: Hands, early: bool
) -> None:
    first = login(moved)
    clock.move(days=1)
    second = refresh(moved, first).json
    clock.move(days=6, seconds=-1)
    third = refresh(moved, second).json
    clock.move(seconds=1, microseconds=-1 if early else 0)

    assert refresh(moved, first).error == REFUSED
    assert is_in(moved, third) is not early


@pytest.fixture
def forgetful(
    tmp_path: Path, clock: Hands, monkeypatch: pytest.MonkeyPatch
) -> Iterator[RunningServer]:
    """A server that deletes what is old all the time, and believes its clock at once."""
    monkeypatch.setattr(sweeping, "FORGET_SECONDS", 0.01)
    monkeypatch.setattr("hwci.server.clock.EVEN_FOR", timedelta(0))
    with running_in_thread(tmp_path, clock=clock) as server:
        yield server


def wait_for_rows(server: RunningServer, table: str, rows: int) -> None:
    """Wait until a table has so many rows of the person who signs in."""
    statement = f"SELECT count(*) FROM {table} t JOIN user u ON u.id = t.user_id WHERE email = ?"
    until = time.monotonic() + PATIENCE_SECONDS
    while query(server.location, statement, (EMAIL,)) != [(rows,)]:
        assert time.monotonic() < until, query(server.location, statement, (EMAIL,))
        time.sleep(0.05)


def test_what_has_expired_is_forgotten(forgetful: RunningServer, clock: Hands) -> None:
    pair = login(forgetful)
    for _ in range(30):
        clock.move(days=1)
        pair = refresh(forgetful, pair).json

    wait_for_rows(forgetful, "refresh_token", 7)


def test_a_sign_in_is_forgotten_when_nothing_of_it_works_any_more(
    forgetful: RunningServer, clock: Hands
) -> None:
    renewed = login(forgetful)
    for _ in range(30):
        clock.move(days=1)
        login(forgetful)
        renewed = refresh(forgetful, renewed).json

    # Those of the last seven days, and the one that was renewed.
    wait_for_rows(forgetful, "session", 8)
    assert is_in(forgetful, renewed)


async def test_one_of_many_simultaneous_uses_wins_and_then_the_user_is_out_everywhere(
    tmp_path: Path,
) -> None:
    async with (
        running(tmp_path) as server,
        aiohttp.ClientSession(server.url, connector=aiohttp.TCPConnector(limit=AT_ONCE)) as http,
    ):
        _, somebody_else = await post(http, "login", {"email": MEMBER_EMAIL, "password": PASSWORD})
        for _ in range(ROUNDS):
            somebody_else = await one_round(http, somebody_else)
        assert await opens(http, server.token) == 401, "a sign-in from before the first round"
        assert await opens(http, server.member_token) == 200, "one of somebody else"


async def one_round(http: aiohttp.ClientSession, somebody_else: Pair) -> Pair:
    """Use one token many times at once, and see who is out; give somebody else's next pair."""
    body = {"email": EMAIL, "password": PASSWORD}
    _, pair = await post(http, "login", body)
    _, other_sign_in = await post(http, "login", body)
    held = {"refreshToken": pair["refreshToken"]}
    replies = await asyncio.gather(*(post(http, "refresh", held) for _ in range(AT_ONCE)))

    won = [answer for status, answer in replies if status == 200]
    assert len(won) == 1
    assert [status for status, _ in replies].count(401) == AT_ONCE - 1
    for answer in (pair, other_sign_in, *won):
        assert await opens(http, answer["accessToken"]) == 401
    for answer in (other_sign_in, *won):
        status, _ = await post(http, "refresh", {"refreshToken": answer["refreshToken"]})
        assert status == 401
    assert await opens(http, somebody_else["accessToken"]) == 200
    status, renewed = await post(http, "refresh", {"refreshToken": somebody_else["refreshToken"]})
    assert status == 200
    return renewed


async def post(http: aiohttp.ClientSession, what: str, body: Pair) -> tuple[int, Pair]:
    async with http.post(f"/api/auth/{what}", json=body) as response:
        return response.status, await response.json()


async def opens(http: aiohttp.ClientSession, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    async with http.get("/api/auth/me", headers=headers) as response:
        return response.status
