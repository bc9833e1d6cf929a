# SPDX-License-Identifier: Apache-2.0
"""Members and their roles (contract, "Organizations"): who may change whom, at once, and what the
audit log keeps of it.
"""

import asyncio
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import pytest

from hwci.contract.vocabulary import Role
from tests.support.asking import Reply, ask, bearer
from tests.support.joining import join
from tests.support.running import (
    EMAIL,
    NAME,
    PASSWORD,
    RunningServer,
    running,
)

NO_MEMBER = (404, "Member not found")
OWNERS_ONLY = (403, "Only an owner makes or unmakes owners; you are admin")
LAST_OWNER = (409, "An organization keeps at least one owner; make another member owner first")


def members(server: RunningServer, token: str, query: str = "") -> Any:
    reply = ask(server.url, "GET", f"{server.org_url}/members{query}", bearer(token))
    assert reply.status == 200
    return reply.json


def invites(server: RunningServer, token: str) -> Reply:
    return ask(server.url, "GET", f"{server.org_url}/invites", bearer(token))


def change(server: RunningServer, token: str, user_id: str, role: str) -> Reply:
    path = f"{server.org_url}/members/{user_id}"
    return ask(server.url, "PATCH", path, bearer(token), json_body={"role": role})


def remove(server: RunningServer, token: str, user_id: str) -> Reply:
    return ask(server.url, "DELETE", f"{server.org_url}/members/{user_id}", bearer(token))


def account(server: RunningServer, email: str) -> tuple[str, str]:
    """Make an account; return its id and an access token."""
    body = {"email": email, "password": PASSWORD}
    answer = ask(server.url, "POST", "/api/auth/register", json_body=body).json
    return answer["user"]["id"], answer["accessToken"]


def joined(server: RunningServer, email: str, role: str = "member") -> tuple[str, str]:
    """Make an account that is a member."""
    user_id, token = account(server, email)
    join(server.url, str(server.org_id), server.token, token, role)
    return user_id, token


def own_id(server: RunningServer) -> str:
    return str(ask(server.url, "GET", "/api/auth/me", bearer(server.token)).json["user"]["id"])


def audit(server: RunningServer) -> Any:
    """Return the newest entry of the audit log."""
    path = f"{server.org_url}/audit-log?limit=1"
    return ask(server.url, "GET", path, bearer(server.admin_token)).json["items"][0]


def test_every_member_sees_the_members_newest_first_by_pages(server: RunningServer) -> None:
    joined(server, "listed@example.org", "admin")
    page = members(server, server.member_token)

    newest, oldest = page["items"][0], page["items"][-1]
    assert set(newest) == {"user", "role", "joinedAt"}
    assert set(newest["user"]) == {"id", "email", "name"}
    assert (newest["user"]["email"], newest["role"]) == ("listed@example.org", "admin")
    assert (oldest["user"]["email"], oldest["user"]["name"]) == (EMAIL, NAME)
    assert page["total"] == len(page["items"])
    assert members(server, server.member_token, "?limit=1&page=2")["items"] == page["items"][1:2]


def test_a_changed_role_counts_for_the_token_that_is_out_already(server: RunningServer) -> None:
    user_id, token = joined(server, "changed@example.org")
    assert invites(server, token).error[0] == 403

    reply = change(server, server.admin_token, user_id, "admin")

    assert (reply.status, reply.json["role"]) == (200, "admin")
    assert invites(server, token).status == 200
    entry = audit(server)
    assert (entry["action"], entry["target"]) == ("member.role", user_id)
    assert entry["details"] == {
        "email": "changed@example.org",
        "roleBefore": "member",
        "roleAfter": "admin",
    }
    assert change(server, server.token, user_id, "member").status == 200
    assert invites(server, token).error[0] == 403


def test_a_role_that_stays_changes_nothing_and_leaves_no_entry(server: RunningServer) -> None:
    user_id, _ = joined(server, "same@example.org")
    before = audit(server)

    assert change(server, server.token, user_id, "member").status == 200
    assert audit(server) == before


def test_a_person_who_is_removed_is_out_at_once(server: RunningServer) -> None:
    user_id, token = joined(server, "removed@example.org")

    assert remove(server, server.admin_token, user_id).status == 204

    shown = ask(server.url, "GET", server.org_url, bearer(token))
    assert shown.error == (404, "Organization not found")
    assert ask(server.url, "GET", "/api/auth/me", bearer(token)).status == 200
    entry = audit(server)
    assert (entry["action"], entry["target"]) == ("member.removed", user_id)
    assert remove(server, server.admin_token, user_id).error == NO_MEMBER


def test_only_an_owner_makes_or_unmakes_owners(server: RunningServer) -> None:
    owner_id, _ = joined(server, "second@example.org", "owner")
    member_id, _ = joined(server, "plain@example.org")
    admin = server.admin_token

    assert change(server, admin, member_id, "owner").error == OWNERS_ONLY
    for role in Role:
        assert change(server, admin, owner_id, role).error == OWNERS_ONLY
    assert remove(server, admin, owner_id).error == OWNERS_ONLY
    assert change(server, server.token, owner_id, "admin").status == 200


def test_the_last_owner_stays(server: RunningServer) -> None:
    own = own_id(server)

    assert change(server, server.token, own, "admin").error == LAST_OWNER
    assert remove(server, server.token, own).error == LAST_OWNER
    assert change(server, server.token, own, "owner").status == 200
    second, token = joined(server, "another@example.org", "owner")
    assert remove(server, token, second).status == 204, "who is not the last may go"


@pytest.mark.parametrize("user_id", [str(UUID(int=7)), "nobody", "0" * 32])
def test_nobody_else_can_be_changed_or_removed(server: RunningServer, user_id: str) -> None:
    assert change(server, server.token, user_id, "member").error == NO_MEMBER
    assert remove(server, server.token, user_id).error == NO_MEMBER


def test_an_account_that_is_no_member_is_none_to_this_organization(server: RunningServer) -> None:
    user_id, _ = account(server, "stranger@example.org")

    assert change(server, server.token, user_id, "member").error == NO_MEMBER
    assert remove(server, server.token, user_id).error == NO_MEMBER


def test_members_change_nothing(server: RunningServer) -> None:
    own, token = joined(server, "powerless@example.org")
    other, _ = joined(server, "other@example.org")
    needs = (403, "This needs the role owner or admin; you are member")

    assert invites(server, token).error == needs
    assert change(server, token, own, "admin").error == needs
    for user_id in (other, str(UUID(int=7)), "nobody"):
        assert remove(server, token, user_id).error == needs


@pytest.mark.parametrize("role", list(Role))
def test_everyone_leaves_at_once_by_themselves(server: RunningServer, role: Role) -> None:
    email = f"leaving-{role}@example.org"
    user_id, token = joined(server, email, role)

    assert remove(server, token, user_id).status == 204

    assert ask(server.url, "GET", server.org_url, bearer(token)).status == 404
    assert ask(server.url, "GET", "/api/auth/me", bearer(token)).json["organizations"] == []
    entry = audit(server)
    assert (entry["action"], entry["target"]) == ("member.left", user_id)
    assert (entry["actor"]["id"], entry["details"]) == (user_id, {"email": email, "role": role})
    assert remove(server, token, user_id).error == (404, "Organization not found")


def test_keys_that_come_and_go_are_in_the_audit_log_without_their_value(
    server: RunningServer,
) -> None:
    path = f"{server.org_url}/ci-keys"
    made = ask(server.url, "POST", path, bearer(server.token), json_body={"name": "nightly"}).json
    created = audit(server)
    for _ in range(2):
        ask(server.url, "DELETE", f"{path}/{made['id']}", bearer(server.admin_token))
    revoked, before = ask(
        server.url, "GET", f"{server.org_url}/audit-log?limit=2", bearer(server.token)
    ).json["items"]

    assert (created["action"], created["target"]) == ("ci_key.created", made["id"])
    assert created["details"] == {"name": "nightly"}
    assert (revoked["action"], revoked["target"]) == ("ci_key.revoked", made["id"])
    assert before == created, "a second revocation changes nothing"
    assert made["apiKey"] not in str([created, revoked])


async def test_one_of_two_owners_who_remove_each_other_together_stays(tmp_path: Path) -> None:
    async with running(tmp_path) as server, aiohttp.ClientSession(server.url) as http:
        tokens, ids = await two_owners(server, http)
        for _ in range(20):
            async with asyncio.TaskGroup() as group:
                tries = [
                    group.create_task(demote(server, http, token, other))
                    for token, other in zip(tokens, reversed(ids), strict=True)
                ]
            assert sorted(one.result() for one in tries) == [200, 403]
            loser = next(i for i, one in enumerate(tries) if one.result() == 403)
            winner_token = tokens[1 - loser]
            assert await demote(server, http, winner_token, ids[loser], "owner") == 200


async def two_owners(
    server: RunningServer, http: aiohttp.ClientSession
) -> tuple[list[str], list[str]]:
    """Make the admin an owner too; give tokens and ids of both."""
    tokens, ids = [server.token, server.admin_token], []
    for token in tokens:
        async with http.get("/api/auth/me", headers=dict([bearer(token)])) as response:
            ids.append((await response.json())["user"]["id"])
    assert await demote(server, http, server.token, ids[1], "owner") == 200
    return tokens, [str(UUID(one)) for one in ids]


async def demote(
    server: RunningServer,
    http: aiohttp.ClientSession,
    token: str,
    user_id: str,
    role: str = "admin",
) -> int:
    async with http.patch(
        f"{server.org_url}/members/{user_id}",
        json={"role": role},
        headers=dict([bearer(token)]),
    ) as response:
        return response.status
