# SPDX-License-Identifier: Apache-2.0
"""An account that somebody registered with another person's e-mail is worth nothing once a provider
verifies whose the e-mail is (contract, "Auth"; ADR 0017).
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import pytest

from hwci.server.app import AddOwner, CreateUser, EraseUser, SetUserEnabled, Vouch
from hwci.server.settings import Registration
from hwci.wire.sso import challenge_of
from tests.server.single_sign_on import LOGIN, refreshed
from tests.server.tenants import where_it_stands
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.browsing import browsing
from tests.support.joining import accept, invite, received
from tests.support.providers import mock_provider, sso_file
from tests.support.running import PASSWORD, RunningServer, running_in_thread

VICTIM = "victim@corp.example"
PREPARED = "what the stranger chose"
PERSONS = [
    {"sub": "victim", "email": VICTIM, "email_verified": True, "name": "Vera Victim"},
    {"sub": "fass", "email": "fass@corp.example", "email_verified": True},
]
VERIFIER = "v" * 43
NOTICE = (
    "Your e-mail had an account here that nobody had proved to be yours. You have a new one: the"
    " password, the sign-ins and the keys of the former account have ended, and it has left"
    " {}. If you miss one, ask an owner or admin of it for an invitation, or the operator of this"
    " server"
)


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with mock_provider(*PERSONS) as found:
        yield found


@contextmanager
def serving(folder: Path, issuer: str, policy: Registration) -> Iterator[RunningServer]:
    file = sso_file(folder, acme=issuer)
    with running_in_thread(folder, registration=policy, sso_file=file) as server:
        yield server


@pytest.fixture
def server(issuer: str, tmp_path: Path) -> Iterator[RunningServer]:
    """A server with the default policy."""
    with serving(tmp_path, issuer, Registration.INVITE) as found:
        yield found


@dataclass(frozen=True)
class Prepared:
    """What a stranger holds who registered somebody else's e-mail by an invitation."""

    server: RunningServer
    answer: dict[str, Any]
    email: str

    def ask(self, method: str, path: str, body: Any = None) -> Reply:
        token = bearer(self.answer["accessToken"])
        return ask(self.server.url, method, path, token, json_body=body)

    def made(self, path: str, **body: Any) -> dict[str, Any]:
        reply = self.ask("POST", f"{self.server.org_url}/{path}", body)
        assert reply.status == 201, reply.body
        return dict(reply.json)

    def login(self) -> Reply:
        body = {"email": self.email, "password": PREPARED}
        return ask(self.server.url, "POST", "/api/auth/login", json_body=body)


def prepare(server: RunningServer, email: str = VICTIM, role: str = "admin") -> Prepared:
    """Register an e-mail as an admin can who invites it: the answer shows them the token."""
    token = invite(server, server.admin_token, email, role).json["inviteToken"]
    body = {"email": email, "password": PREPARED, "inviteToken": token}
    reply = ask(server.url, "POST", "/api/auth/register", json_body=body)
    assert reply.status == 201
    return Prepared(server, reply.json, email)


async def signed_in_as(server: RunningServer, subject: str) -> tuple[Any, str | None, str]:
    """Sign a person in through the provider; return who they are, their notice, and a token."""
    async with browsing(sub=subject) as browser:
        stop = await browser.open(server.url + LOGIN)
        assert stop.url == f"{server.url}/", stop.body
        notice = browser.cookies().get("hwci_notice")
        token = refreshed(server, browser).json["accessToken"]
    me = ask(server.url, "GET", "/api/auth/me", bearer(token)).json
    return me, None if notice is None else unquote(notice.value), token


def entries(server: RunningServer) -> list[dict[str, Any]]:
    path = f"{server.org_url}/audit-log?limit=100"
    return list(ask(server.url, "GET", path, bearer(server.token)).json["items"])


async def test_nothing_that_was_prepared_works_after_the_owners_first_single_sign_on(
    server: RunningServer,
) -> None:
    prepared = prepare(server)
    own = prepared.ask("POST", "/api/orgs", {"name": "Trap"}).json
    key = prepared.made("ci-keys", name="kept")["apiKey"]
    reader = prepared.made("reader-keys", name="kept")["apiKey"]
    box = prepared.made("boxes", name="kept")
    install = {"installToken": box["installToken"]}
    box_key = ask(server.url, "POST", "/api/boxes/install", json_body=install).json["apiKey"]
    waiting = prepared.made("boxes", name="waits")["installToken"]
    prepared.made("ci-trusts", system="github", repository="mallory/firmware")
    another = prepared.login().json
    page = f"{server.org_url}/ci-metrics"
    assert ask(server.url, "GET", page, ci_key(reader)).status == 200

    me, _, _ = await signed_in_as(server, "victim")

    assert me["user"]["email"] == VICTIM
    assert me["user"]["id"] != prepared.answer["user"]["id"]
    assert me["organizations"] == []
    assert prepared.login().error == (401, "Invalid e-mail or password")
    for held in (prepared.answer, another):
        token = {"refreshToken": held["refreshToken"]}
        assert ask(server.url, "POST", "/api/auth/refresh", json_body=token).status == 401
        path = "/api/auth/me"
        assert ask(server.url, "GET", path, bearer(held["accessToken"])).status == 401
    assert ask(server.url, "GET", page, ci_key(reader)).status == 401
    for value in (key, box_key):
        for path in ("/api/ci/merge-announce", "/api/box/heartbeat"):
            assert ask(server.url, "POST", path, ci_key(value)).status == 401
    trusts = ask(server.url, "GET", f"{server.org_url}/ci-trusts", bearer(server.token)).json
    assert trusts["items"] == []
    late = ask(server.url, "POST", "/api/boxes/install", json_body={"installToken": waiting})
    assert late.status == 401
    members = ask(server.url, "GET", f"{server.org_url}/members", bearer(server.token)).json
    assert VICTIM not in {one["user"]["email"] for one in members["items"]}
    assert own["id"] not in {one["id"] for one in me["organizations"]}


async def test_who_is_erased_is_so_with_what_was_prepared(server: RunningServer) -> None:
    prepared = prepare(server)
    prepared.made("boxes", name="kept")
    prepared.made("box-notes", boxKey="kept", text="new cable")
    await signed_in_as(server, "victim")

    await asyncio.to_thread(server.operate, EraseUser(email=VICTIM))

    assert where_it_stands(server, VICTIM) == set()
    notes = ask(server.url, "GET", f"{server.org_url}/box-notes", bearer(server.token)).json
    assert notes["items"][0]["by"]["name"] == "someone who was removed"


async def test_the_person_is_told_once_and_it_stands_in_the_audit_log(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    prepared = prepare(server)
    org = prepared.ask("POST", "/api/orgs", {"name": "Trap"}).json["id"]
    prepared.made("ci-keys", name="kept")
    prepared.made("boxes", name="kept")

    with caplog.at_level(logging.WARNING, "hwci.server"):
        _, first, _ = await signed_in_as(server, "victim")
    _, second, _ = await signed_in_as(server, "victim")

    assert first == NOTICE.format("2 organizations")
    assert second is None
    log = [one for one in entries(server) if one["actor"]["id"] == prepared.answer["user"]["id"]]
    assert [one["action"] for one in log[:3]] == [
        *("member.unproved", "box.key_ended", "ci_key.revoked"),
    ]
    assert log[0]["details"] == {"email": VICTIM, "role": "admin"}
    assert f"organization {org} has no owner any more" in caplog.text


async def test_an_invitation_that_waits_is_the_owners_to_accept_without_a_token(
    server: RunningServer,
) -> None:
    prepared = prepare(server)
    path = f"{server.org_url}/members/{prepared.answer['user']['id']}"
    assert prepared.ask("DELETE", path).status == 204
    invite(server, server.token, VICTIM)

    me, _, token = await signed_in_as(server, "victim")

    assert me["invitations"] == 1
    (waiting,) = received(server.url, token)
    assert waiting["needsToken"] is False
    assert accept(server.url, token, waiting["id"], None).status == 200


async def test_the_command_line_is_told_too(server: RunningServer) -> None:
    prepare(server)
    query = f"?port=40404&challenge={challenge_of(VERIFIER)}&machine=pc"
    async with browsing(sub="victim") as browser:
        stop = await browser.open(server.url + LOGIN + query, until=":40404/")
    code = parse_qs(urlsplit(stop.url).query)["code"][0]
    body = {"code": code, "verifier": VERIFIER}
    answer = ask(server.url, "POST", "/api/auth/sso/token", json_body=body).json

    assert answer["notice"] == NOTICE.format("1 organization")
    assert answer["organization"] is None


async def test_an_account_that_is_proved_keeps_its_password_and_all_else(
    server: RunningServer,
) -> None:
    made = await asyncio.to_thread(
        server.operate, CreateUser(email=VICTIM, password=PASSWORD, organization="Corp")
    )
    me, notice, _ = await signed_in_as(server, "victim")

    assert notice is None
    assert me["user"]["id"] == str(made.user_id)
    assert [one["name"] for one in me["organizations"]] == ["Corp"]
    body = {"email": VICTIM, "password": PASSWORD}
    assert ask(server.url, "POST", "/api/auth/login", json_body=body).status == 200


async def test_an_account_that_the_operator_vouches_for_stays(server: RunningServer) -> None:
    prepared = prepare(server)
    for _ in range(2):
        await asyncio.to_thread(server.operate, Vouch(email=VICTIM))

    me, notice, _ = await signed_in_as(server, "victim")

    assert (me["user"]["id"], notice) == (prepared.answer["user"]["id"], None)
    assert len(me["organizations"]) == 1
    assert [one["action"] for one in entries(server)].count("user.vouched") == 1


async def test_an_account_that_is_disabled_stays_so_and_is_not_linked(
    server: RunningServer,
) -> None:
    prepared = prepare(server)
    off, on = (SetUserEnabled(email=VICTIM, enabled=enabled) for enabled in (False, True))
    await asyncio.to_thread(server.operate, off)
    async with browsing(sub="victim") as browser:
        stop = await browser.open(server.url + LOGIN)
    await asyncio.to_thread(server.operate, on)
    me, _, _ = await signed_in_as(server, "victim")

    assert stop.message == (403, "This account is disabled; ask the operator of this server")
    assert me["user"]["id"] != prepared.answer["user"]["id"]
    assert prepared.login().status == 401


async def test_an_e_mail_that_only_folds_into_anothers_does_not_shut_its_owner_out(
    server: RunningServer,
) -> None:
    prepare(server, "faß@corp.example")
    me, notice, _ = await signed_in_as(server, "fass")

    assert me["user"]["email"] == "fass@corp.example"
    assert notice is not None


async def test_who_registered_openly_proved_nothing_either(issuer: str, tmp_path: Path) -> None:
    with serving(tmp_path, issuer, Registration.OPEN) as server:
        body = {"email": VICTIM, "password": PREPARED, "organization": "Trap"}
        prepared = ask(server.url, "POST", "/api/auth/register", json_body=body).json
        me, notice, _ = await signed_in_as(server, "victim")

    assert me["user"]["id"] != prepared["user"]["id"]
    assert notice == NOTICE.format("1 organization")


async def test_an_organization_without_an_owner_gets_one_from_the_operator(
    server: RunningServer,
) -> None:
    prepared = prepare(server)
    org = prepared.ask("POST", "/api/orgs", {"name": "Real"}).json["id"]
    await signed_in_as(server, "victim")
    for _ in range(2):
        await asyncio.to_thread(server.operate, AddOwner(org_id=UUID(org), email=VICTIM))
    me, _, token = await signed_in_as(server, "victim")

    assert [(one["id"], one["role"]) for one in me["organizations"]] == [(org, "owner")]
    log = ask(server.url, "GET", f"/api/orgs/{org}/audit-log", bearer(token)).json["items"]
    assert log[0]["actor"]["name"] == "operator"
    assert log[0]["details"] == {"email": VICTIM, "role": "owner"}
