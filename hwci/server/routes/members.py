# SPDX-License-Identifier: Apache-2.0
"""Members of an organization (contract, "Organizations"). Invitations stand in `invitations.py`."""

from typing import NoReturn

from hwci.server.errors import NotFoundError
from hwci.server.http.route import Call, Route, Who
from hwci.wire.base import ListPage
from hwci.wire.members import MemberAnswer, RoleChange
from hwci.wire.queries import PageQuery

_BY_INVITATION = (
    "Nobody becomes a member unasked, so nothing was done; invite them, who may accept or decline:"
    " hwci members invite EMAIL, or POST /api/orgs/{orgId}/invites"
)


async def listed(call: Call) -> ListPage[MemberAnswer]:
    """List members."""
    return await call.services.members.listed(call.member, call.query(PageQuery))


async def add(call: Call) -> NoReturn:  # noqa: ARG001 - every handler takes the call
    """Refuse, whoever it is about: clients before asked it to add a member, and take 404 for an
    e-mail that has to be invited.
    """
    raise NotFoundError(_BY_INVITATION)


async def change(call: Call) -> MemberAnswer:
    """Change a member's role."""
    body = call.body(RoleChange)
    return await call.services.members.change(call.member, call.path_id("userId"), body)


async def remove(call: Call) -> None:
    """Remove a member, or leave."""
    await call.services.members.remove(call.member, call.path_id("userId"))


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
        "Refused always: nobody becomes a member unasked, so invite them",
        status=404,
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
        Who.MEMBER,
        remove,
        "Leave, or as owner or admin remove a member, at once; the last owner stays",
        status=204,
        also=(403, 409),
    ),
)
