# SPDX-License-Identifier: Apache-2.0
"""Organizations, their members, invitations, keys and audit log."""

from hwci.contract.shape import ListPage
from hwci.wire.accounts import (
    Acceptance,
    AuditEntryAnswer,
    CiKeyAnswer,
    CreatedCiKey,
    CreatedReaderKey,
    InviteAnswer,
    MemberAnswer,
    NewCiKey,
    NewInvite,
    NewOrganization,
    NewReaderKey,
    OrganizationAnswer,
    OrganizationChange,
    OwnReaderKey,
    ReaderKeyAnswer,
    ReceivedInvite,
    RoleChange,
    SentInvite,
)
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.queries import PageQuery, Query
from hwci.wire.trusts import NewTrust, TrustAnswer

# fmt: off
LIST_ORGS = Endpoint(
    "orgs.list", "GET", "/api/orgs", Who.USER, "List my organizations", query=PageQuery,
    answer=ListPage[OrganizationAnswer]
)
CREATE_ORG = Endpoint(
    "orgs.create", "POST", "/api/orgs", Who.USER, "Create an organization; the caller owns it",
    body=NewOrganization, answer=OrganizationAnswer, status=201, also=(409,), repeatable=False
)
GET_ORG = Endpoint(
    "orgs.get", "GET", "/api/orgs/{orgId}", Who.MEMBER, "Show an organization", query=Query,
    answer=OrganizationAnswer, deleted=True
)
CHANGE_ORG = Endpoint(
    "orgs.change", "PATCH", "/api/orgs/{orgId}", Who.ADMIN,
    "Set for how many days an organization keeps what it was sent", body=OrganizationChange,
    answer=OrganizationAnswer
)
DELETE_ORG = Endpoint(
    "orgs.delete", "DELETE", "/api/orgs/{orgId}", Who.OWNER,
    "Delete an organization: it closes at once, and all of it goes 7 days later",
    answer=OrganizationAnswer, repeatable=False
)
UNDELETE_ORG = Endpoint(
    "orgs.undelete", "POST", "/api/orgs/{orgId}/undelete", Who.OWNER,
    "Undo the deletion of an organization", answer=OrganizationAnswer, also=(409,), deleted=True,
    repeatable=False
)
AUDIT_LOG = Endpoint(
    "orgs.audit_log", "GET", "/api/orgs/{orgId}/audit-log", Who.ADMIN,
    "List the audit log: who did what, newest first", query=PageQuery,
    answer=ListPage[AuditEntryAnswer]
)
LIST_MEMBERS = Endpoint(
    "members.list", "GET", "/api/orgs/{orgId}/members", Who.MEMBER,
    "List the members of an organization", query=PageQuery, answer=ListPage[MemberAnswer]
)
CHANGE_MEMBER = Endpoint(
    "members.change", "PATCH", "/api/orgs/{orgId}/members/{userId}", Who.ADMIN,
    "Change a member's role; only an owner makes or unmakes owners, the last owner stays",
    body=RoleChange, answer=MemberAnswer, also=(409,)
)
REMOVE_MEMBER = Endpoint(
    "members.remove", "DELETE", "/api/orgs/{orgId}/members/{userId}", Who.MEMBER,
    "Leave, or as owner or admin remove a member, at once; the last owner stays", status=204,
    also=(403, 409), repeatable=False
)
INVITE = Endpoint(
    "invites.send", "POST", "/api/orgs/{orgId}/invites", Who.ADMIN,
    "Invite someone, with an account or without; the token is only in this answer", body=NewInvite,
    answer=InviteAnswer, status=201, also=(409,), repeatable=False
)
LIST_SENT_INVITES = Endpoint(
    "invites.sent", "GET", "/api/orgs/{orgId}/invites", Who.ADMIN,
    "List the open invitations of an organization", query=PageQuery, answer=ListPage[SentInvite]
)
WITHDRAW_INVITE = Endpoint(
    "invites.withdraw", "DELETE", "/api/orgs/{orgId}/invites/{inviteId}", Who.ADMIN,
    "Withdraw an open invitation", status=204, repeatable=False
)
LIST_INVITES = Endpoint(
    "invites.received", "GET", "/api/invites", Who.USER, "List the open invitations of my e-mail",
    query=PageQuery, answer=ListPage[ReceivedInvite]
)
ACCEPT_INVITE = Endpoint(
    "invites.accept", "POST", "/api/invites/{inviteId}/accept", Who.USER,
    "Accept an invitation: with its token, or after single sign-on", body=Acceptance,
    answer=OrganizationAnswer, also=(403, 404), repeatable=False
)
DECLINE_INVITE = Endpoint(
    "invites.decline", "POST", "/api/invites/{inviteId}/decline", Who.USER, "Decline an invitation",
    status=204, also=(404,), repeatable=False
)
CREATE_CI_KEY = Endpoint(
    "ci_keys.create", "POST", "/api/orgs/{orgId}/ci-keys", Who.ADMIN,
    "Create a CI key; its value is only in this answer", body=NewCiKey, answer=CreatedCiKey,
    status=201, repeatable=False
)
LIST_CI_KEYS = Endpoint(
    "ci_keys.list", "GET", "/api/orgs/{orgId}/ci-keys", Who.MEMBER,
    "List CI keys, never their value", query=PageQuery, answer=ListPage[CiKeyAnswer]
)
REVOKE_CI_KEY = Endpoint(
    "ci_keys.revoke", "DELETE", "/api/orgs/{orgId}/ci-keys/{keyId}", Who.ADMIN,
    "Revoke a CI key at once", status=204
)
CREATE_READER_KEY = Endpoint(
    "reader_keys.create", "POST", "/api/orgs/{orgId}/reader-keys", Who.ADMIN,
    "Create a reader key; its value is only in this answer", body=NewReaderKey,
    answer=CreatedReaderKey, status=201, repeatable=False
)
LIST_READER_KEYS = Endpoint(
    "reader_keys.list", "GET", "/api/orgs/{orgId}/reader-keys", Who.MEMBER,
    "List reader keys, never their value", query=PageQuery, answer=ListPage[ReaderKeyAnswer]
)
OWN_READER_KEY = Endpoint(
    "reader_keys.own", "GET", "/api/reader-key", Who.READER_KEY,
    "Show what the reader key of the request reads", query=Query, answer=OwnReaderKey
)
REVOKE_READER_KEY = Endpoint(
    "reader_keys.revoke", "DELETE", "/api/orgs/{orgId}/reader-keys/{keyId}", Who.ADMIN,
    "Revoke a reader key at once", status=204
)
LIST_TRUSTS = Endpoint(
    "trusts.list", "GET", "/api/orgs/{orgId}/ci-trusts", Who.MEMBER,
    "List the repositories whose CI jobs may sign in", query=PageQuery, answer=ListPage[TrustAnswer]
)
CREATE_TRUST = Endpoint(
    "trusts.create", "POST", "/api/orgs/{orgId}/ci-trusts", Who.ADMIN,
    "Let the CI jobs of a repository sign in without a secret", body=NewTrust, answer=TrustAnswer,
    status=201, also=(409,), repeatable=False
)
REMOVE_TRUST = Endpoint(
    "trusts.remove", "DELETE", "/api/orgs/{orgId}/ci-trusts/{trustId}", Who.ADMIN,
    "Let them sign in no more; the keys of their jobs end at once", status=204
)
# fmt: on
