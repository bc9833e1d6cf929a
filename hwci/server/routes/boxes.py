# SPDX-License-Identifier: Apache-2.0
"""Boxes as people manage them (contract, "Boxes")."""

from hwci.server.http.route import Call, Route, Who
from hwci.wire.base import ListPage
from hwci.wire.boxes import BoxAnswer, BoxInstallAnswer, NewBox
from hwci.wire.queries import PageQuery


async def listed(call: Call) -> ListPage[BoxAnswer]:
    """List boxes."""
    return await call.services.boxes.listed(call.member, call.query(PageQuery))


async def create(call: Call) -> BoxInstallAnswer:
    """Create a box."""
    return await call.services.boxes.create(call.member, call.body(NewBox))


async def install_token(call: Call) -> BoxInstallAnswer:
    """Make an install token for a box that there is."""
    return await call.services.boxes.install_token(call.member, call.path_id("boxId"))


ROUTES = (
    Route(
        "GET",
        "/api/orgs/{orgId}/boxes",
        Who.MEMBER,
        listed,
        "List the boxes of an organization",
        query=PageQuery,
        answer=ListPage[BoxAnswer],
    ),
    Route(
        "POST",
        "/api/orgs/{orgId}/boxes",
        Who.ADMIN,
        create,
        "Create a box; the token that installs it once is in this answer and nowhere else",
        body=NewBox,
        answer=BoxInstallAnswer,
        status=201,
        also=(409,),
    ),
    Route(
        "POST",
        "/api/orgs/{orgId}/boxes/{boxId}/install-token",
        Who.ADMIN,
        install_token,
        "Make a token for a new install of a box; its key works until then",
        answer=BoxInstallAnswer,
        status=201,
    ),
)
