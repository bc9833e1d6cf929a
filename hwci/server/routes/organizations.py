# SPDX-License-Identifier: Apache-2.0
"""Organizations and their audit log (contract, "Organizations"). Who belongs to them stands in
`members.py`.
"""

from hwci.server.http.route import Call, Route, Who
from hwci.wire.accounts import AuditEntryAnswer, NewOrganization, OrganizationAnswer
from hwci.wire.base import ListPage
from hwci.wire.queries import PageQuery


async def listed(call: Call) -> ListPage[OrganizationAnswer]:
    """List the caller's organizations."""
    return await call.services.organizations.of(call.user, call.query(PageQuery))


async def create(call: Call) -> OrganizationAnswer:
    """Create an organization."""
    return await call.services.organizations.create(call.user, call.body(NewOrganization))


async def show(call: Call) -> OrganizationAnswer:
    """Show an organization."""
    return await call.services.organizations.show(call.member)


async def audit_log(call: Call) -> ListPage[AuditEntryAnswer]:
    """List what was recorded."""
    return await call.services.audit.listed(call.member, call.query(PageQuery))


ROUTES = (
    Route(
        "GET",
        "/api/orgs",
        Who.USER,
        listed,
        "List my organizations",
        query=PageQuery,
        answer=ListPage[OrganizationAnswer],
    ),
    Route(
        "POST",
        "/api/orgs",
        Who.USER,
        create,
        "Create an organization; the caller owns it",
        body=NewOrganization,
        answer=OrganizationAnswer,
        status=201,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}",
        Who.MEMBER,
        show,
        "Show an organization",
        answer=OrganizationAnswer,
    ),
    Route(
        "GET",
        "/api/orgs/{orgId}/audit-log",
        Who.ADMIN,
        audit_log,
        "List the audit log: who did what, newest first",
        query=PageQuery,
        answer=ListPage[AuditEntryAnswer],
    ),
)
