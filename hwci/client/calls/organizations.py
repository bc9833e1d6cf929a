# SPDX-License-Identifier: Apache-2.0
"""Organizations, their members, invitations, CI keys and audit log."""

from hwci.client._call import Call
from hwci.client.calls._writing import Id, body_of, listing, org_path, segment
from hwci.engine.vocabulary import Role
from hwci.wire import accounts, limits, members
from hwci.wire.base import ListPage


def list_orgs(
    page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.OrganizationAnswer]]:
    """List the caller's organizations."""
    return listing("/api/orgs", ListPage[accounts.OrganizationAnswer], page, limit)


def create_org(name: str) -> Call[accounts.OrganizationAnswer]:
    """Create an organization that the caller owns."""
    body = body_of(accounts.NewOrganization, name=name)
    return Call("POST", "/api/orgs", accounts.OrganizationAnswer, 201, body=body, repeatable=False)


def get_org(org_id: Id) -> Call[accounts.OrganizationAnswer]:
    """Ask for one organization."""
    return Call("GET", org_path(org_id), accounts.OrganizationAnswer, 200)


def create_ci_key(org_id: Id, name: str) -> Call[accounts.CreatedCiKey]:
    """Create a CI key: the answer is the only one that ever holds it."""
    body = body_of(accounts.NewCiKey, name=name)
    path = f"{org_path(org_id)}/ci-keys"
    return Call("POST", path, accounts.CreatedCiKey, 201, body=body, repeatable=False)


def list_ci_keys(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.CiKeyAnswer]]:
    """List the CI keys, never their values."""
    return listing(f"{org_path(org_id)}/ci-keys", ListPage[accounts.CiKeyAnswer], page, limit)


def revoke_ci_key(org_id: Id, key_id: Id) -> Call[None]:
    """Revoke a CI key, at once; again changes nothing."""
    return Call("DELETE", f"{org_path(org_id)}/ci-keys/{segment(key_id)}", None, 204)


def audit_log(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[accounts.AuditEntryAnswer]]:
    """List who did what, newest first."""
    path = f"{org_path(org_id)}/audit-log"
    return listing(path, ListPage[accounts.AuditEntryAnswer], page, limit)


_RECEIVED = "/api/invites"


def list_members(
    org_id: Id, page: int = 1, limit: int = limits.PAGE_LIMIT_DEFAULT
) -> Call[ListPage[members.MemberAnswer]]:
    """List the members."""
    return listing(_members(org_id), ListPage[members.MemberAnswer], page, limit)


def change_member(org_id: Id, user_id: Id, role: Role) -> Call[members.MemberAnswer]:
    """Change a member's role."""
    body = body_of(members.RoleChange, role=role)
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("PATCH", path, members.MemberAnswer, 200, body=body)


def remove_member(org_id: Id, user_id: Id) -> Call[None]:
    """Remove a member, or leave oneself."""
    path = f"{_members(org_id)}/{segment(user_id)}"
    return Call("DELETE", path, None, 204, repeatable=False)


def invite(org_id: Id, email: str, role: Role) -> Call[members.InviteAnswer]:
    """Invite someone: the answer is the only one that ever holds the token."""
    body = body_of(members.NewInvite, email=email, role=role)
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
    body = body_of(members.Acceptance, invite_token=invite_token)
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
