# SPDX-License-Identifier: Apache-2.0
"""Members of an organization and invitations (contract, "Organizations")."""

from hwci.server.http.route import Call, Route, Who
from hwci.wire.base import ListPage
from hwci.wire.members import InviteAnswer, MemberAnswer, NewInvite, NewMember, RoleChange
from hwci.wire.queries import PageQuery


async def listed(call: Call) -> ListPage[MemberAnswer]:
    """List members."""
    return await call.services.members.listed(call.member, call.query(PageQuery))


async def add(call: Call) -> MemberAnswer:
    """Add a member."""
    return await call.services.members.add(call.member, call.body(NewMember))


async def change(call: Call) -> MemberAnswer:
    """Change a member's role."""
    body = call.body(RoleChange)
    return await call.services.members.change(call.member, call.path_id("userId"), body)


async def remove(call: Call) -> None:
    """Remove a member."""
    await call.services.members.remove(call.member, call.path_id("userId"))


async def invite(call: Call) -> InviteAnswer:
    """Invite someone."""
    return await call.services.members.invite(call.member, call.body(NewInvite))


ROUTES = (
    Route(
        "GET",
        "/api/orgs/{orgId}/members",
        Who.MEMBER,
        listed,
        "List the members of an organization",
        query=PageQuery,
        answer=ListPage[MemberAnswer],
    ),
    Route(
        "POST",
        "/api/orgs/{orgId}/members",
        Who.ADMIN,
        add,
        "Make someone who has an account a member",
        body=NewMember,
        answer=MemberAnswer,
        status=201,
        also=(409,),
    ),
    Route(
        "PATCH",
        "/api/orgs/{orgId}/members/{userId}",
        Who.ADMIN,
        change,
        "Change a member's role; only an owner makes or unmakes owners, the last owner stays",
        body=RoleChange,
        answer=MemberAnswer,
        also=(409,),
    ),
    Route(
        "DELETE",
        "/api/orgs/{orgId}/members/{userId}",
        Who.ADMIN,
        remove,
        "Remove a member, at once; the last owner stays",
        status=204,
        also=(409,),
    ),
    Route(
        "POST",
        "/api/orgs/{orgId}/invites",
        Who.ADMIN,
        invite,
        "Invite someone who has no account; the token is in this answer and nowhere else",
        body=NewInvite,
        answer=InviteAnswer,
        status=201,
        also=(409,),
    ),
)
