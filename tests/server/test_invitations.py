# SPDX-License-Identifier: Apache-2.0
"""Membership takes consent (contract, "Organizations"): the invited person accepts or
declines, and an invitation does not reveal who has an account.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from tests.support.asking import Reply, ask, bearer
from tests.support.joining import accept, decline, invite, join, received
from tests.support.running import (
    EMAIL,
    MEMBER_EMAIL,
    NAME,
    ORGANIZATION,
    PASSWORD,
    Hands,
    RunningServer,
    running_in_thread,
)

NOT_OPEN = (
    404,
    (
        "Invitation not found: it was accepted, declined or withdrawn, has expired, or is for"
        " another e-mail; ask for a new one"
    ),
)
TOKEN_NEEDED = (
    403,
    (
        "This needs the token of the invitation, as nothing else shows that its e-mail is yours;"
        " ask who invited you for the link"
    ),
)
OTHER_TOKEN = (
    403,
    "The token is of another invitation; use the link that was sent for this one",
)
INVITER_GONE = (
    403,
    "Who invited you may not give this role any more; ask an owner for a new invitation",
)
OWNERS_ONLY = (403, "Only an owner makes or unmakes owners; you are admin")
MEMBER_ALREADY = (409, "A member with this email already exists; change their role instead")


def account(server: RunningServer, email: str, **fields: str) -> str:
    """Register; return an access token."""
    body = {"email": email, "password": PASSWORD, **fields}
    made = ask(server.url, "POST", "/api/auth/register", json_body=body)
    assert made.status == 201, made.body
    return str(made.json["accessToken"])


def invited(server: RunningServer, email: str, role: str = "member") -> tuple[str, str, str]:
    """Invite a new account; return its access token, and id and token of the invitation."""
    person = account(server, email)
    made = invite(server, server.token, email, role).json
    return person, received(server.url, person)[0]["id"], made["inviteToken"]


def organizations(server: RunningServer, person: str) -> dict[str, str]:
    """Return the roles of a person by the names of their organizations."""
    me = ask(server.url, "GET", "/api/auth/me", bearer(person)).json
    return {one["name"]: one["role"] for one in me["organizations"]}


def sent(server: RunningServer) -> Any:
    path = f"{server.org_url}/invites?limit=100"
    return ask(server.url, "GET", path, bearer(server.admin_token)).json["items"]


def withdraw(server: RunningServer, token: str, invite_id: str) -> Reply:
    return ask(server.url, "DELETE", f"{server.org_url}/invites/{invite_id}", bearer(token))


def audit(server: RunningServer) -> Any:
    """Return the newest entry of the audit log."""
    path = f"{server.org_url}/audit-log?limit=1"
    return ask(server.url, "GET", path, bearer(server.token)).json["items"][0]


def test_the_answer_to_an_invitation_is_the_same_for_every_e_mail(
    server: RunningServer,
) -> None:
    account(server, "known@example.org")
    replies = [
        invite(server, server.token, email) for email in ("known@example.org", "none@example.org")
    ]

    assert [reply.status for reply in replies] == [201, 201]
    known, unknown = (reply.json for reply in replies)
    assert list(known) == list(unknown)
    varying = {"email", "inviteToken", "expiresAt"}
    assert {name: known[name] for name in known.keys() - varying} == {
        name: unknown[name] for name in unknown.keys() - varying
    }
    assert len(known["inviteToken"]) == len(unknown["inviteToken"])
    listed = {one["email"]: set(one) for one in sent(server)}
    assert listed["known@example.org"] == listed["none@example.org"]


def test_an_invited_person_sees_the_invitation_and_is_not_a_member_yet(
    server: RunningServer,
) -> None:
    person = account(server, "Seeing@example.org", organization="Mine")
    invite(server, server.token, "seeing@EXAMPLE.org", "admin")

    (one,) = received(server.url, person)
    assert one["organization"] == {"id": str(server.org_id), "name": ORGANIZATION}
    assert (one["role"], one["needsToken"]) == ("admin", True)
    assert (one["invitedBy"]["email"], one["invitedBy"]["name"]) == (EMAIL, NAME)
    me = ask(server.url, "GET", "/api/auth/me", bearer(person)).json
    assert me["invitations"] == 1
    assert organizations(server, person) == {"Mine": "owner"}
    body = {"email": "seeing@example.org", "password": PASSWORD}
    signed_in = ask(server.url, "POST", "/api/auth/login", json_body=body).json
    assert signed_in["organization"]["name"] == "Mine", "nobody else's comes first"


def test_accepting_with_the_token_makes_a_member_at_once(server: RunningServer) -> None:
    person, invite_id, token = invited(server, "joining@example.org", "admin")

    reply = accept(server.url, person, invite_id, token)

    assert (reply.status, reply.json["id"]) == (200, str(server.org_id))
    assert (reply.json["name"], reply.json["role"]) == (ORGANIZATION, "admin")
    assert organizations(server, person) == {ORGANIZATION: "admin"}
    assert received(server.url, person) == []
    entry = audit(server)
    assert (entry["action"], entry["actor"]["id"]) == ("member.added", entry["target"])
    assert entry["details"] == {"email": "joining@example.org", "role": "admin", "invited": True}


def test_the_e_mail_alone_is_no_proof_where_anyone_may_have_registered_it(
    server: RunningServer,
) -> None:
    squatter, invite_id, _ = invited(server, "squatted@example.org", "admin")
    _, _, wrong = invited(server, "somebody@example.org")

    assert accept(server.url, squatter, invite_id, None).error == TOKEN_NEEDED
    for guess in ("", "guess", wrong, "é", "x" * 4096):
        assert accept(server.url, squatter, invite_id, guess).error == OTHER_TOKEN
    assert organizations(server, squatter) == {}
    assert len(received(server.url, squatter)) == 1


def test_an_invitation_is_for_its_e_mail_alone_and_stays_good_for_it(server: RunningServer) -> None:
    person, invite_id, token = invited(server, "rightful@example.org")
    thief = account(server, "thief@example.org")

    assert accept(server.url, thief, invite_id, token).error == NOT_OPEN
    assert decline(server.url, thief, invite_id).error == NOT_OPEN
    assert received(server.url, thief) == []
    assert accept(server.url, person, invite_id, token).status == 200


def test_declining_makes_no_member_and_voids_the_token(server: RunningServer) -> None:
    person, invite_id, token = invited(server, "declining@example.org")

    assert decline(server.url, person, invite_id).status == 204

    entry = audit(server)
    assert (entry["action"], entry["target"]) == ("invite.declined", invite_id)
    assert entry["actor"]["name"] == "declining@example.org"
    assert entry["details"] == {"email": "declining@example.org", "role": "member"}
    assert accept(server.url, person, invite_id, token).error == NOT_OPEN
    assert decline(server.url, person, invite_id).error == NOT_OPEN
    assert organizations(server, person) == {}


def test_a_withdrawn_invitation_does_not_work_with_or_without_an_account(
    server: RunningServer,
) -> None:
    person, invite_id, token = invited(server, "withdrawn@example.org")
    unknown = invite(server, server.token, "unregistered@example.org").json["inviteToken"]
    ids = {one["email"]: one["id"] for one in sent(server)}

    for email in ("withdrawn@example.org", "unregistered@example.org"):
        assert withdraw(server, server.admin_token, ids[email]).status == 204
        entry = audit(server)
        assert (entry["action"], entry["details"]["email"]) == ("invite.withdrawn", email)
        assert withdraw(server, server.admin_token, ids[email]).error == NOT_OPEN

    assert accept(server.url, person, invite_id, token).error == NOT_OPEN
    body = {"email": "unregistered@example.org", "password": PASSWORD, "inviteToken": unknown}
    refused = ask(server.url, "POST", "/api/auth/register", json_body=body)
    assert refused.error == (
        403,
        "The invitation is unknown, was used or withdrawn, or has expired; ask for a new one",
    )
    login = ask(server.url, "POST", "/api/auth/login", json_body={**body, "inviteToken": None})
    assert login.status in {400, 401}, "nothing half done: there is no account"


def test_an_invitation_that_is_accepted_twice_makes_one_member(server: RunningServer) -> None:
    person, invite_id, token = invited(server, "twice@example.org")

    assert accept(server.url, person, invite_id, token).status == 200
    before = audit(server)
    assert accept(server.url, person, invite_id, token).error == NOT_OPEN
    assert audit(server) == before


@pytest.mark.parametrize("invite_id", [str(UUID(int=7)), "nothing"])
def test_an_invitation_that_is_not_there_is_404(server: RunningServer, invite_id: str) -> None:
    assert accept(server.url, server.token, invite_id, None).error == NOT_OPEN
    assert decline(server.url, server.token, invite_id).error == NOT_OPEN
    assert withdraw(server, server.token, invite_id).error == NOT_OPEN


def test_a_new_invitation_takes_the_place_of_the_earlier(server: RunningServer) -> None:
    person, invite_id, token = invited(server, "again@example.org")
    newer = invite(server, server.admin_token, "again@example.org", "admin").json["inviteToken"]

    assert accept(server.url, person, invite_id, token).error == NOT_OPEN
    (one,) = received(server.url, person)
    assert (one["role"], one["id"] == invite_id) == ("admin", False)
    assert accept(server.url, person, one["id"], token).error == OTHER_TOKEN
    assert accept(server.url, person, one["id"], newer).status == 200


def test_only_an_owner_withdraws_the_invitation_of_an_owner(server: RunningServer) -> None:
    person, invite_id, token = invited(server, "boss@example.org", "owner")

    assert withdraw(server, server.admin_token, invite_id).error == OWNERS_ONLY
    assert invite(server, server.admin_token, "boss@example.org").error == OWNERS_ONLY
    assert withdraw(server, server.member_token, invite_id).error[0] == 403
    assert accept(server.url, person, invite_id, token).json["role"] == "owner"


def test_a_member_cannot_be_invited(server: RunningServer) -> None:
    assert invite(server, server.token, MEMBER_EMAIL.upper()).error == MEMBER_ALREADY


@pytest.mark.parametrize("leaves", [True, False])
def test_an_earlier_invitation_does_not_bring_back_a_former_member(
    tmp_path: Path, leaves: bool
) -> None:
    with running_in_thread(tmp_path) as server:
        person, invite_id, token = invited(server, "back@example.org")
        user_id = ask(server.url, "GET", "/api/auth/me", bearer(person)).json["user"]["id"]
        assert accept(server.url, person, invite_id, token).status == 200
        path = f"{server.org_url}/members/{user_id}"
        by = person if leaves else server.token
        assert ask(server.url, "DELETE", path, bearer(by)).status == 204

        assert received(server.url, person) == []
        assert accept(server.url, person, invite_id, token).error == NOT_OPEN
        join(server.url, str(server.org_id), server.token, person)
        assert organizations(server, person) == {ORGANIZATION: "member"}


@pytest.mark.parametrize("gone", ["removed", "demoted"])
def test_an_invitation_stays_unused_if_its_sender_lost_the_role_for_it(
    server: RunningServer, gone: str
) -> None:
    inviter = account(server, f"inviter-{gone}@example.org")
    join(server.url, str(server.org_id), server.token, inviter, "admin")
    user_id = ask(server.url, "GET", "/api/auth/me", bearer(inviter)).json["user"]["id"]
    email = f"left-over-{gone}@example.org"
    person, token = account(server, email), invite(server, inviter, email).json["inviteToken"]
    (one,) = received(server.url, person)
    path = f"{server.org_url}/members/{user_id}"
    if gone == "removed":
        ask(server.url, "DELETE", path, bearer(server.token))
    else:
        ask(server.url, "PATCH", path, bearer(server.token), json_body={"role": "member"})

    assert accept(server.url, person, one["id"], token).error == INVITER_GONE
    assert organizations(server, person) == {}
    if gone == "demoted":
        ask(server.url, "PATCH", path, bearer(server.token), json_body={"role": "admin"})
        assert accept(server.url, person, one["id"], token).status == 200


def test_an_invitation_that_has_expired_is_neither_shown_nor_accepted(tmp_path: Path) -> None:
    clock = Hands()
    with running_in_thread(tmp_path, clock=clock) as server:
        person, invite_id, token = invited(server, "late@example.org")
        clock.move(days=6, hours=23, minutes=59)
        body = {"email": "late@example.org", "password": PASSWORD}
        person = ask(server.url, "POST", "/api/auth/login", json_body=body).json["accessToken"]
        assert len(received(server.url, person)) == 1
        clock.move(minutes=1)

        assert received(server.url, person) == []
        assert accept(server.url, person, invite_id, token).error == NOT_OPEN


def at_once(*deeds: Callable[[], Reply]) -> list[int]:
    """Do all at the same time; return their statuses."""

    async def all_of_them() -> list[Reply]:
        return await asyncio.gather(*(asyncio.to_thread(deed) for deed in deeds))

    return [reply.status for reply in asyncio.run(all_of_them())]


def test_one_of_many_simultaneous_accepts_succeeds(server: RunningServer) -> None:
    person, invite_id, token = invited(server, "racing@example.org")
    tries = [lambda: accept(server.url, person, invite_id, token)] * 8

    assert sorted(at_once(*tries)) == [200] + 7 * [404]


@pytest.mark.parametrize("number", range(6))
def test_accepted_while_it_is_withdrawn_and_declined_one_of_them_counts(
    server: RunningServer, number: int
) -> None:
    person, invite_id, token = invited(server, f"contested-{number}@example.org")
    joined, *ended = at_once(
        lambda: accept(server.url, person, invite_id, token),
        lambda: withdraw(server, server.token, invite_id),
        lambda: decline(server.url, person, invite_id),
    )

    assert sorted([joined, *ended]) in ([200, 404, 404], [204, 404, 404])
    assert organizations(server, person) == ({ORGANIZATION: "member"} if joined == 200 else {})


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"email": "x@example.org", "role": "boss"}, "role"),
        ({"email": "x@example.org"}, "role"),
        ({"email": "nobody", "role": "member"}, "email"),
        ({"email": "x@example.org", "role": "member", "id": 1}, "id"),
    ],
)
def test_an_invitation_that_breaks_the_rules_is_400(
    server: RunningServer, body: dict[str, Any], path: str
) -> None:
    url = f"{server.org_url}/invites"
    reply = ask(server.url, "POST", url, bearer(server.token), json_body=body)
    assert reply.issue_paths == [["body", path]]
