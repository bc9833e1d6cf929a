# SPDX-License-Identifier: Apache-2.0
"""How people come into an organization over HTTP: somebody invites them, and they accept."""

from typing import Any

from tests.support.asking import Reply, ask, bearer
from tests.support.running import RunningServer


def invite(server: RunningServer, token: str, email: str, role: str = "member") -> Reply:
    """Invite an e-mail to the organization that every server of these tests has."""
    path, body = f"{server.org_url}/invites", {"email": email, "role": role}
    return ask(server.url, "POST", path, bearer(token), json_body=body)


def received(url: str, token: str) -> Any:
    """Return the invitations that wait for who has this access token."""
    return ask(url, "GET", "/api/invites?limit=100", bearer(token)).json["items"]


def accept(url: str, token: str, invite_id: str, invite_token: str | None) -> Reply:
    path, body = f"/api/invites/{invite_id}/accept", {"inviteToken": invite_token}
    return ask(url, "POST", path, bearer(token), json_body=body)


def decline(url: str, token: str, invite_id: str) -> Reply:
    return ask(url, "POST", f"/api/invites/{invite_id}/decline", bearer(token))


def join(url: str, org_id: str, inviter: str, person: str, role: str = "member") -> None:
    """Have a person invited, who accepts; both are named by access tokens."""
    email = ask(url, "GET", "/api/auth/me", bearer(person)).json["user"]["email"]
    path, body = f"/api/orgs/{org_id}/invites", {"email": email, "role": role}
    made = ask(url, "POST", path, bearer(inviter), json_body=body)
    assert made.status == 201, made.body
    (waiting,) = [one["id"] for one in received(url, person) if one["organization"]["id"] == org_id]
    joined = accept(url, person, waiting, made.json["inviteToken"])
    assert joined.status == 200, joined.body
