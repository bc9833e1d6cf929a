# SPDX-License-Identifier: Apache-2.0
"""Invitations, the set-up token and the operator's policy (contract, "Auth", "Organizations")."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from hwci.server.app import serving
from hwci.server.services.people.invitations import new_set_up_token
from hwci.server.settings import Registration, Settings
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage
from tests.support.asking import Reply, ask, bearer
from tests.support.databases import about_a_file
from tests.support.joining import invite
from tests.support.running import (
    PASSWORD,
    Hands,
    RunningServer,
    running_in_thread,
)

UNUSABLE = (
    403,
    "The invitation is unknown, was used or withdrawn, or has expired; ask for a new one",
)
ANOTHERS = (403, "The invitation is for another e-mail; register with the one that was invited")
SET_UP_OVER = (403, "The set-up token works only while there is no user; ask for an invitation")
INVITER_GONE = (
    403,
    "Who invited you may not give this role any more; ask an owner for a new invitation",
)
NEEDED = (403, "Registration needs an invitation; ask an owner of your organization")
CLOSED = (403, "Registration is closed; ask the operator of this server for an account")


def register(url: str, email: str, **fields: Any) -> Reply:
    body = {"email": email, "password": PASSWORD, **fields}
    return ask(url, "POST", "/api/auth/register", json_body=body)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the default policy: by invitation."""
    folder: Path = tmp_path_factory.mktemp("invites")
    with running_in_thread(folder, registration=Registration.INVITE) as running:
        yield running


def test_a_person_who_is_invited_registers_once_and_is_a_member(server: RunningServer) -> None:
    made = invite(server, server.admin_token, "New@example.org", "admin").json
    assert set(made) == {"orgId", "email", "role", "inviteToken", "expiresAt"}
    assert (made["orgId"], made["email"], made["role"]) == (
        str(server.org_id),
        "New@example.org",
        "admin",
    )

    reply = register(server.url, "new@EXAMPLE.org", inviteToken=made["inviteToken"])

    assert reply.status == 201
    assert reply.json["organization"]["id"] == str(server.org_id)
    assert reply.json["organization"]["role"] == "admin"
    shown = ask(server.url, "GET", server.org_url, bearer(reply.json["accessToken"]))
    assert shown.json["role"] == "admin"
    again = register(server.url, "new@EXAMPLE.org", inviteToken=made["inviteToken"])
    assert again.error == UNUSABLE


def test_invitation_and_joining_are_in_the_audit_log_without_the_token(
    server: RunningServer,
) -> None:
    made = invite(server, server.token, "kept@example.org").json
    user = register(server.url, "kept@example.org", inviteToken=made["inviteToken"]).json["user"]
    log = ask(server.url, "GET", f"{server.org_url}/audit-log?limit=2", bearer(server.token))

    added, invited = log.json["items"]
    assert invited["action"] == "invite.created"
    assert invited["details"] == {"email": "kept@example.org", "role": "member"}
    assert (added["action"], added["target"], added["actor"]["id"]) == (
        "member.added",
        user["id"],
        user["id"],
    )
    assert added["details"] == {"email": "kept@example.org", "role": "member", "invited": True}
    assert made["inviteToken"].encode() not in log.body


def test_a_person_who_is_invited_may_found_an_organization_too_and_is_shown_the_one_that_invited(
    server: RunningServer,
) -> None:
    token = invite(server, server.token, "founder@example.org").json["inviteToken"]
    answer = register(
        server.url, "founder@example.org", inviteToken=token, organization="Mine"
    ).json

    me = ask(server.url, "GET", "/api/auth/me", bearer(answer["accessToken"])).json
    assert answer["organization"]["id"] == str(server.org_id)
    assert {(one["name"], one["role"]) for one in me["organizations"]} == {
        ("Mine", "owner"),
        (answer["organization"]["name"], "member"),
    }


def test_an_invitation_is_for_its_e_mail_alone_and_stays_good_for_it(server: RunningServer) -> None:
    token = invite(server, server.token, "meant@example.org").json["inviteToken"]

    assert register(server.url, "thief@example.org", inviteToken=token).error == ANOTHERS
    assert register(server.url, "meant@example.org", inviteToken=token).status == 201


@pytest.mark.parametrize("token", ["", "guess", "é", "x" * 4096])
def test_a_wrong_token_registers_nobody(server: RunningServer, token: str) -> None:
    assert register(server.url, "guess@example.org", inviteToken=token).error == UNUSABLE


def test_without_a_token_nobody_registers(server: RunningServer) -> None:
    assert register(server.url, "guess@example.org").error == NEEDED


def test_only_an_owner_invites_owners_and_members_invite_nobody(server: RunningServer) -> None:
    owners_only = (403, "Only an owner makes or unmakes owners; you are admin")
    refused = invite(server, server.admin_token, "boss@example.org", "owner")
    assert refused.error == owners_only
    assert invite(server, server.member_token, "x@example.org").error[0] == 403
    token = invite(server, server.token, "boss@example.org", "owner").json["inviteToken"]
    answer = register(server.url, "boss@example.org", inviteToken=token).json
    assert answer["organization"]["role"] == "owner"


@pytest.mark.parametrize("given", ["admin", "member"])
def test_a_removed_inviter_does_not_come_back_by_their_invitation(
    server: RunningServer, given: str
) -> None:
    """An owner invites an owner and is made less; what they may still give stays good."""
    inviter = joined(server, f"was-owner-{given}@example.org", "owner")
    owner, email = f"heir-of-{given}@example.org", f"one-of-{given}@example.org"
    token = invite(server, inviter["accessToken"], owner, "owner").json["inviteToken"]
    other = invite(server, inviter["accessToken"], email, "member").json["inviteToken"]
    path = f"{server.org_url}/members/{inviter['user']['id']}"
    ask(server.url, "PATCH", path, bearer(server.token), json_body={"role": given})

    assert register(server.url, owner, inviteToken=token).error == INVITER_GONE
    expected = 201 if given == "admin" else 403
    assert register(server.url, email, inviteToken=other).status == expected

    ask(server.url, "PATCH", path, bearer(server.token), json_body={"role": "owner"})
    answer = register(server.url, owner, inviteToken=token).json
    assert answer["organization"]["role"] == "owner", "a refusal does not use an invitation up"


def test_invitations_of_who_was_removed_open_nothing(server: RunningServer) -> None:
    inviter = joined(server, "removed-admin@example.org", "admin")
    email = "left-over@example.org"
    token = invite(server, inviter["accessToken"], email).json["inviteToken"]
    path = f"{server.org_url}/members/{inviter['user']['id']}"
    assert ask(server.url, "DELETE", path, bearer(server.token)).status == 204

    assert register(server.url, email, inviteToken=token).error == INVITER_GONE


def joined(server: RunningServer, email: str, role: str) -> Any:
    """Have someone join by invitation; return the answer to their registration."""
    token = invite(server, server.token, email, role).json["inviteToken"]
    return register(server.url, email, inviteToken=token).json


def test_one_of_many_simultaneous_uses_of_an_invitation_registers(server: RunningServer) -> None:
    token = invite(server, server.token, "race@example.org").json["inviteToken"]

    async def all_at_once() -> list[Reply]:
        tries = (
            asyncio.to_thread(register, server.url, "race@example.org", inviteToken=token)
            for _ in range(8)
        )
        return await asyncio.gather(*tries)

    assert sorted(reply.status for reply in asyncio.run(all_at_once())) == [201] + 7 * [403]


def test_an_invitation_works_for_seven_days_and_no_longer(tmp_path: Path) -> None:
    clock = Hands()
    with running_in_thread(tmp_path, clock=clock, registration=Registration.INVITE) as server:
        early, late = (
            invite(server, server.token, f"{name}@example.org").json["inviteToken"]
            for name in ("early", "late")
        )
        clock.move(days=7, microseconds=-1)
        assert register(server.url, "early@example.org", inviteToken=early).status == 201
        clock.move(microseconds=1)
        assert register(server.url, "late@example.org", inviteToken=late).error == UNUSABLE


def test_a_token_must_be_valid_even_where_anyone_may_register(tmp_path: Path) -> None:
    with running_in_thread(tmp_path, registration=Registration.OPEN) as server:
        token = invite(server, server.token, "asked@example.org").json["inviteToken"]

        assert register(server.url, "a@example.org", inviteToken="guess").error == UNUSABLE
        assert register(server.url, "a@example.org").status == 201
        answer = register(server.url, "asked@example.org", inviteToken=token).json
        assert answer["organization"]["id"] == str(server.org_id)


def test_an_invitation_does_not_work_while_registration_is_closed(tmp_path: Path) -> None:
    with running_in_thread(tmp_path, registration=Registration.CLOSED) as server:
        token = invite(server, server.token, "asked@example.org").json["inviteToken"]

        assert register(server.url, "asked@example.org", inviteToken=token).error == CLOSED
        assert register(server.url, "asked@example.org").error == CLOSED


@asynccontextmanager
async def empty(
    database: str, policy: Registration, clock: Hands
) -> AsyncIterator[tuple[str, Storage]]:
    """Run a server whose database has no user."""
    storage = open_storage(database)
    settings = Settings(database=database, port=0, registration=policy, rate_limit="off")
    async with serving(settings, clock=clock, storage=storage) as server:
        yield server.url, storage
    await storage.close()


async def register_in_thread(url: str, email: str, **fields: Any) -> Reply:
    return await asyncio.to_thread(register, url, email, **fields)


@pytest.mark.parametrize("policy", list(Registration))
async def test_the_set_up_token_registers_the_first_user_under_every_policy(
    policy: Registration,
) -> None:
    async with empty("memory:", policy, Hands()) as (url, storage):
        clock = Hands()
        stale = await new_set_up_token(storage, clock)
        token = await new_set_up_token(storage, clock)

        refused = await register_in_thread(url, "first@example.org", inviteToken=stale)
        assert refused.error == UNUSABLE, "a newer token takes the place of the earlier"
        first = await register_in_thread(
            url, "first@example.org", inviteToken=token, organization="First"
        )
        assert (first.status, first.json["organization"]["role"]) == (201, "owner")
        user = await storage.read(lambda reader: reader.user_by_email("first@example.org"))
        assert user is not None
        assert user.proved, "only the operator sees this token"
        again = await register_in_thread(url, "second@example.org", inviteToken=token)
        assert again.error == UNUSABLE
        assert await new_set_up_token(storage, clock) is None


async def test_the_set_up_token_works_for_a_day_and_while_there_is_no_user() -> None:
    clock = Hands()
    async with empty("memory:", Registration.OPEN, clock) as (url, storage):
        token = await new_set_up_token(storage, clock)
        clock.move(hours=24)
        late = await register_in_thread(url, "late@example.org", inviteToken=token)
        assert late.error == UNUSABLE
        token = await new_set_up_token(storage, clock)
        assert (await register_in_thread(url, "first@example.org")).status == 201
        second = await register_in_thread(url, "second@example.org", inviteToken=token)
        assert second.error == SET_UP_OVER


@about_a_file
def test_a_server_without_users_says_how_the_first_registers(tmp_path: Path) -> None:
    serve = [sys.executable, "-m", "hwci", "serve", "--port", "0", "--database"]
    database = str(tmp_path / "hwci.db")

    with announced([*serve, database]) as lines:
        url, stale = link(lines)
        assert url == lines[0].split()[2]
        assert lines[2] == (
            f'eval "$({sys.executable} -m hwci admin quick-start --url {url}'
            f' --database {database})"'
        )
        made = lines[3].partition("Or create the first user alone: ")[2]
        assert made == (
            f"hwci admin create-user --email EMAIL --organization NAME --database {database}"
        )
    with announced([*serve, database]) as lines:
        url, token = link(lines)
        assert register(url, "first@example.org", inviteToken=stale).error == UNUSABLE
        assert register(url, "first@example.org", inviteToken=token).status == 201
    with announced([*serve, database], 3) as lines:
        assert lines[1].startswith("In another shell, this signs you in")
        assert lines[2].startswith(f'eval "$({sys.executable} -m hwci admin quick-start --url ')


@about_a_file
@pytest.mark.parametrize(("every", "own"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]")])
def test_a_server_on_every_address_names_one_that_can_be_reached(
    tmp_path: Path, every: str, own: str
) -> None:
    serve = [sys.executable, "-m", "hwci", "serve", "--port", "0", "--database"]
    host = ["--host", every]

    with announced([*serve, str(tmp_path / "hwci.db"), *host], 6) as lines:
        url, token = link(lines)
        assert url == f"http://{own}:{lines[0].split()[2].rpartition(':')[2]}"
        assert lines[1].startswith(f"{url} works on this machine only;")
        assert "HWCI_BASE_URL" in lines[1]
        assert register(url, "first@example.org", inviteToken=token).status == 201


@about_a_file
def test_the_address_that_people_use_is_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HWCI_BASE_URL", "https://hwci.example.org")
    serve = [sys.executable, "-m", "hwci", "serve", "--port", "0", "--host", "0.0.0.0"]

    with announced([*serve, "--database", str(tmp_path / "hwci.db")]) as lines:
        assert link(lines)[0] == "https://hwci.example.org"


def link(lines: list[str]) -> tuple[str, str]:
    """Return address and token of the link by which a browser registers the first user."""
    found = re.fullmatch(r"or in a browser, within 24 hours: (\S+)/setup#([\w-]{43})", lines[-1])
    assert found is not None, lines
    return found[1], found[2]


@contextmanager
def announced(command: list[str], lines: int = 5) -> Iterator[list[str]]:
    """Run a server, quietly; return what it says, but of an old SQLite, and see that the last line
    is one of these.
    """
    with subprocess.Popen([*command, "--quiet"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            told = (line for line in process.stderr if not line.startswith("SQLite "))
            yield [next(told).rstrip("\n") for _ in range(lines)]
        finally:
            process.send_signal(signal.SIGTERM)
            rest = process.stderr.read()
            assert rest == ""
