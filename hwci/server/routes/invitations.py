# SPDX-License-Identifier: Apache-2.0
"""Invitations, for those who send and those who get them (contract, "Organizations")."""

from hwci.server.http.route import Call, Route, Who
from hwci.wire.accounts import OrganizationAnswer
from hwci.wire.base import ListPage
from hwci.wire.members import Acceptance, InviteAnswer, NewInvite, ReceivedInvite, SentInvite
from hwci.wire.queries import PageQuery


async def invite(call: Call) -> InviteAnswer:
    """Invite someone."""
    return await call.services.invitations.invite(call.member, call.body(NewInvite))


async def sent(call: Call) -> ListPage[SentInvite]:
    """List the open invitations of an organization."""
    return await call.services.invitations.sent(call.member, call.query(PageQuery))


async def withdraw(call: Call) -> None:
    """Withdraw an invitation."""
    await call.services.invitations.withdraw(call.member, call.path_id("inviteId"))


async def received(call: Call) -> ListPage[ReceivedInvite]:
    """List the caller's open invitations."""
    return await call.services.invitations.received(call.user, call.query(PageQuery))


async def accept(call: Call) -> OrganizationAnswer:
    """Accept an invitation."""
    invite_id, body = call.path_id("inviteId"), call.body(Acceptance)
    return await call.services.invitations.accept(call.user, invite_id, body)


async def decline(call: Call) -> None:
    """Decline an invitation."""
    await call.services.invitations.decline(call.user, call.path_id("inviteId"))


ROUTES = (
    Route(
        "POST",
        "/api/orgs/{orgId}/invites",
        Who.ADMIN,
        invite,
        "Invite someone, with an account or without; the token is in this answer and nowhere else",
        body=NewInvite,
        answer=InviteAnswer,
        status=201,
        also=(409,),
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/invites",
        Who.ADMIN,
        sent,
        "List the open invitations of an organization",
        query=PageQuery,
        answer=ListPage[SentInvite],
    ),
    Route(
        "DELETE",
        "/api/orgs/{orgId}/invites/{inviteId}",
        Who.ADMIN,
        withdraw,
        "Withdraw an open invitation",
        status=204,
    ),
    Route(
        "GET",
        "/api/invites",
        Who.USER,
        received,
        "List the open invitations of my e-mail",
        query=PageQuery,
        answer=ListPage[ReceivedInvite],
    ),
    Route(
        "POST",
        "/api/invites/{inviteId}/accept",
        Who.USER,
        accept,
        "Accept an invitation: with its token, or after single sign-on",
        body=Acceptance,
        answer=OrganizationAnswer,
        also=(403, 404),
    ),
    Route(
        "POST",
        "/api/invites/{inviteId}/decline",
        Who.USER,
        decline,
        "Decline an invitation",
        status=204,
        also=(404,),
    ),
)
