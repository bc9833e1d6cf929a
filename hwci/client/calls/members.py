# SPDX-License-Identifier: Apache-2.0
"""Members of an organization and invitations."""

from hwci.client._call import Call
from hwci.client.calls._writing import Id, checked, listing, org_path, segment, written
from hwci.engine.vocabulary import Role
from hwci.wire import accounts, limits, members
from hwci.wire.base import ListPage

_RECEIVED = "/api/invites"


def list_members(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[members.MemberAnswer]]:
    """List the members."""
    return listing(_members(org_id), ListPage[members.MemberAnswer], page, limit)


def change_member(org_id: Id, user_id: Id, role: Role) -> Call[members.MemberAnswer]:
    """Change a member's role."""
    body = written(checked(members.RoleChange, "body", role=role))
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("PATCH", path, members.MemberAnswer, 200, body=body)


def remove_member(org_id: Id, user_id: Id) -> Call[None]:
    """Remove a member, or leave oneself."""
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("DELETE", path, None, 204, repeatable=False)


def invite(org_id: Id, email: str, role: Role) -> Call[members.InviteAnswer]:
    """Invite someone: the answer is the only one that ever holds the token."""
    body = written(checked(members.NewInvite, "body", email=email, role=role))
    return Call("POST", _sent(org_id), members.InviteAnswer, 201, body=body, repeatable=False)


def list_sent_invites(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[members.SentInvite]]:
    """List the open invitations of an organization."""
    return listing(_sent(org_id), ListPage[members.SentInvite], page, limit)


def withdraw_invite(org_id: Id, invite_id: Id) -> Call[None]:
    """Withdraw an open invitation."""
    path = f"{_sent(org_id)}/{segment(invite_id)}"
    return Call("DELETE", path, None, 204, repeatable=False)


def list_invites(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[members.ReceivedInvite]]:
    """List one's own open invitations."""
    return listing(_RECEIVED, ListPage[members.ReceivedInvite], page, limit)


def accept_invite(
    invite_id: Id, invite_token: str | None = None
) -> Call[accounts.OrganizationAnswer]:
    """Accept an invitation. Without its token this works after single sign-on only."""
    body = written(checked(members.Acceptance, "body", invite_token=invite_token))
    path = f"{_RECEIVED}/{segment(invite_id)}/accept"
    return Call("POST", path, accounts.OrganizationAnswer, 200, body=body, repeatable=False)


def decline_invite(invite_id: Id) -> Call[None]:
    """Decline an invitation."""
    path = f"{_RECEIVED}/{segment(invite_id)}/decline"
    return Call("POST", path, None, 204, repeatable=False)


def _sent(org_id: Id) -> str:
    return f"{org_path(org_id)}/invites"


def _members(org_id: Id) -> str:
    return f"{org_path(org_id)}/members"
