# SPDX-License-Identifier: Apache-2.0
"""CI key management (spec, "Endpoints")."""

from hwci.server.http.route import Call, Route, Who
from hwci.wire.accounts import CiKeyAnswer, CreatedCiKey, NewCiKey
from hwci.wire.base import ListPage
from hwci.wire.queries import PageQuery


async def create(call: Call) -> CreatedCiKey:
    """Create a key."""
    return await call.services.ci_keys.create(call.member, call.body(NewCiKey))


async def listed(call: Call) -> ListPage[CiKeyAnswer]:
    """List keys."""
    return await call.services.ci_keys.listed(call.member, call.query(PageQuery))


async def revoke(call: Call) -> None:
    """Revoke a key."""
    await call.services.ci_keys.revoke(call.member, call.path_id("keyId"))


ROUTES = (
    Route(
        "POST",
        "/api/orgs/{orgId}/ci-keys",
        Who.ADMIN,
        create,
        "Create a CI key; its value is in this answer and nowhere else",
        body=NewCiKey,
        answer=CreatedCiKey,
        status=201,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/ci-keys",
        Who.MEMBER,
        listed,
        "List CI keys, never their value",
        query=PageQuery,
        answer=ListPage[CiKeyAnswer],
    ),
    Route(
        "DELETE",
        "/api/orgs/{orgId}/ci-keys/{keyId}",
        Who.ADMIN,
        revoke,
        "Revoke a CI key at once",
        status=204,
    ),
)
