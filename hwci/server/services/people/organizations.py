# SPDX-License-Identifier: Apache-2.0
"""Organizations: the creator owns one; CI Metrics is off until the operator enables it (spec, rule
1).
"""

from dataclasses import asdict
from datetime import datetime
from uuid import UUID, uuid4

from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Role
from hwci.server.errors import ConflictError
from hwci.server.services import Service
from hwci.server.services.access import Member
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import Membership, Organization, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.queries import PageQuery

_TOO_MANY = (
    f"You own {limits.ORGANIZATIONS_MAX} organizations, and nobody makes more; give one to another"
    " owner and leave it, or ask the operator of this server"
)


class Organizations(Service):
    """Organizations, for their users."""

    async def of(self, user: User, query: PageQuery) -> ListPage[wire.OrganizationAnswer]:
        """List a user's organizations."""

        def work(reader: Reader) -> ListPage[wire.OrganizationAnswer]:
            rows = reader.memberships(user.id, query.offset, query.limit)
            return query.page_of(rows, organization_answer)

        return await self._storage.read(work)

    async def create(self, user: User, body: wire.NewOrganization) -> wire.OrganizationAnswer:
        """Create an organization; the user owns it. Raises `ConflictError`: they own too many."""
        now = self._clock()

        def work(writer: Writer) -> Membership:
            if writer.owned(user.id) >= limits.ORGANIZATIONS_MAX:
                raise ConflictError(_TOO_MANY)
            return add_organization(writer, body.name, user.id, now)

        return organization_answer(await self._storage.write(work, person=user.id))

    async def show(self, member: Member) -> wire.OrganizationAnswer:
        """Show the organization of a member."""
        return organization_answer(member.membership)


def add_organization(writer: Writer, name: str, owner_id: UUID, now: datetime) -> Membership:
    """Add a new organization with its owner."""
    organization = Organization(uuid4(), name, ci_metrics_enabled=False, created_at=now)
    writer.add_organization(organization)
    writer.add_membership(organization.id, owner_id, Role.OWNER, now)
    return Membership(organization, Role.OWNER, now)


def organization_answer(membership: Membership) -> wire.OrganizationAnswer:
    """Return an organization as its member sees it."""
    return wire.OrganizationAnswer(**asdict(membership.organization), role=membership.role)
