# SPDX-License-Identifier: Apache-2.0
"""Organizations: the creator owns one; CI Metrics is off until the operator enables it (spec, rule
1). An owner or admin sets for how many days it keeps what it was sent. An owner deletes one: it
closes at once, and stays as it is for `limits.ORGANIZATION_GRACE`.
"""

from dataclasses import asdict, replace
from datetime import datetime
from uuid import UUID, uuid4

from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Role
from hwci.server.clock import Clock
from hwci.server.errors import ConflictError, NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, OWNERS, Member, role_now
from hwci.server.services.audit import entry_of
from hwci.server.services.keeping import kept_days
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import KeepDays, Membership, Organization, User
from hwci.wire import accounts as wire
from hwci.wire import limits
from hwci.wire.queries import PageQuery

_TOO_MANY = (
    f"You own {limits.ORGANIZATIONS_MAX} organizations, and nobody makes more; give one to another"
    " owner and leave it, or ask the operator of this server"
)


class Organizations(Service):
    """Organizations, for their users. `most`: the operator's bounds of days."""

    def __init__(self, storage: Storage, clock: Clock, most: KeepDays) -> None:
        super().__init__(storage, clock)
        self._most = most

    async def of(self, user: User, query: PageQuery) -> ListPage[wire.OrganizationAnswer]:
        """List a user's organizations."""

        def work(reader: Reader) -> ListPage[wire.OrganizationAnswer]:
            rows = reader.memberships(user.id, query.offset, query.limit)
            return query.page_of(rows, self._answer)

        return await self._storage.read(work)

    async def create(self, user: User, body: wire.NewOrganization) -> wire.OrganizationAnswer:
        """Create an organization; the user owns it. Raises `ConflictError`: they own too many."""
        now = self._clock()

        def work(writer: Writer) -> Membership:
            if writer.owned(user.id) >= limits.ORGANIZATIONS_MAX:
                raise ConflictError(_TOO_MANY)
            return add_organization(writer, body.name, user.id, now)

        return self._answer(await self._storage.write(work, person=user.id))

    async def show(self, member: Member) -> wire.OrganizationAnswer:
        """Show the organization of a member."""
        return self._answer(member.membership)

    async def change(
        self, member: Member, body: wire.OrganizationChange
    ) -> wire.OrganizationAnswer:
        """Set for how many days an organization keeps something; what is left out stays."""
        now = self._clock()
        changes = body.keep_days.model_dump(exclude_unset=True, by_alias=False)

        def work(writer: Writer) -> wire.OrganizationAnswer:
            role = role_now(writer, member, ADMINS)
            organization = writer.organization(member.org_id)
            assert organization is not None, "it has a member"
            after = replace(organization, keep_days=replace(organization.keep_days, **changes))
            writer.set_keep_days(member.org_id, after.keep_days)
            action = "organization.keep_days"
            entry = entry_of(member.user, now, action, member.org_id, **asdict(after.keep_days))
            writer.add_audit(member.org_id, entry)
            return self._answer(Membership(after, role, member.membership.joined_at))

        return await self._storage.write(work, organization=member.org_id)

    async def delete(self, member: Member) -> wire.OrganizationAnswer:
        """Close an organization, which goes after the grace. Raises as `role_now`."""
        now = self._clock()
        return await self._set_erase_at(member, "deleted", now, now + limits.ORGANIZATION_GRACE)

    async def undelete(self, member: Member) -> wire.OrganizationAnswer:
        """Open a deleted organization again.

        Raises:
            NotFoundError: its time is over.
            ConflictError: it is not deleted.
        """
        return await self._set_erase_at(member, "undeleted", self._clock(), None)

    async def _set_erase_at(
        self, member: Member, deed: str, now: datetime, erase_at: datetime | None
    ) -> wire.OrganizationAnswer:
        def work(writer: Writer) -> wire.OrganizationAnswer:
            role = role_now(writer, member, OWNERS, deleted=erase_at is None)
            organization = writer.organization(member.org_id)
            assert organization is not None, "it has a member"
            if erase_at is None and organization.erase_at is None:
                raise ConflictError("The organization is not deleted; there is nothing to undo")
            if organization.erase_at is not None and organization.erase_at <= now:
                raise NotFoundError("Organization not found")
            writer.set_erase_at(member.org_id, erase_at)
            entry = entry_of(member.user, now, f"organization.{deed}", member.org_id)
            writer.add_audit(member.org_id, entry)
            after = replace(organization, erase_at=erase_at)
            return self._answer(Membership(after, role, member.membership.joined_at))

        return await self._storage.write(work, organization=member.org_id)

    def _answer(self, membership: Membership) -> wire.OrganizationAnswer:
        return organization_answer(membership, self._most)


def add_organization(writer: Writer, name: str, owner_id: UUID, now: datetime) -> Membership:
    """Add a new organization with its owner."""
    organization = Organization(uuid4(), name, ci_metrics_enabled=False, created_at=now)
    writer.add_organization(organization)
    writer.add_membership(organization.id, owner_id, Role.OWNER, now)
    return Membership(organization, Role.OWNER, now)


def organization_answer(membership: Membership, most: KeepDays) -> wire.OrganizationAnswer:
    """Return an organization as its member sees it. `most`: the operator's bounds of days."""
    organization = membership.organization
    kept = asdict(kept_days(organization.keep_days, most))
    return wire.OrganizationAnswer(**asdict(organization), kept_days=kept, role=membership.role)
