# SPDX-License-Identifier: Apache-2.0
"""Members of an organization and invitations."""

from hwci.client._call import Call
from hwci.client.calls._writing import Id, checked, listing, org_path, segment, written
from hwci.engine.vocabulary import Role
from hwci.wire import limits, members
from hwci.wire.base import ListPage


def list_members(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[members.MemberAnswer]]:
    """List the members."""
    return listing(_members(org_id), ListPage[members.MemberAnswer], page, limit)


def add_member(org_id: Id, email: str, role: Role) -> Call[members.MemberAnswer]:
    """Make someone who has an account a member."""
    body = written(checked(members.NewMember, "body", email=email, role=role))
    return Call("POST", _members(org_id), members.MemberAnswer, 201, body=body, repeatable=False)


def change_member(org_id: Id, user_id: Id, role: Role) -> Call[members.MemberAnswer]:
    """Change a member's role."""
    body = written(checked(members.RoleChange, "body", role=role))
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("PATCH", path, members.MemberAnswer, 200, body=body)


def remove_member(org_id: Id, user_id: Id) -> Call[None]:
    """Remove a member."""
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("DELETE", path, None, 204, repeatable=False)


def invite(org_id: Id, email: str, role: Role) -> Call[members.InviteAnswer]:
    """Invite someone who has no account: the answer is the only one that ever holds the token."""
    body = written(checked(members.NewInvite, "body", email=email, role=role))
    path = f"{org_path(org_id)}/invites"
    return Call("POST", path, members.InviteAnswer, 201, body=body, repeatable=False)


def _members(org_id: Id) -> str:
    return f"{org_path(org_id)}/members"
