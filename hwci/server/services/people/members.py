# SPDX-License-Identifier: Apache-2.0
"""Who belongs to an organization (contract, "Organizations").

This module decides who may change or remove whom: "only an owner makes or unmakes owners; the last
owner stays". Roles are read and written in one transaction, the caller's own too, so that of two
owners who demote each other only one succeeds.
"""

from dataclasses import replace
from uuid import UUID

from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import Role
from hwci.server.errors import ConflictError, NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import ADMINS, MEMBERS, Member, require_may_give, role_now
from hwci.server.services.audit import entry_of
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import OrganizationMember
from hwci.wire import accounts as wire
from hwci.wire.queries import PageQuery

_LAST_OWNER = "An organization keeps at least one owner; make another member owner first"
_NO_MEMBER = "Member not found"


class Members(Service):
    """The members of organizations."""

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.MemberAnswer]:
        """List the organization's members."""

        def work(reader: Reader) -> ListPage[wire.MemberAnswer]:
            rows = reader.members(member.org_id, query.offset, query.limit)
            return query.page_of(rows, wire.MemberAnswer.model_validate)

        return await self._storage.read(work)

    async def change(
        self, member: Member, user_id: UUID | None, body: wire.RoleChange
    ) -> wire.MemberAnswer:
        """Change a member's role, with effect at once.

        Raises:
            ForbiddenError: only an owner makes or unmakes owners.
            NotFoundError: there is no such member.
            ConflictError: it is the last owner.
        """
        now = self._clock()

        def work(writer: Writer) -> wire.MemberAnswer:
            own = role_now(writer, member, ADMINS)
            require_may_give(own, body.role)
            membership = _member(writer, member.org_id, user_id)
            require_may_give(own, membership.role)
            if membership.role is not body.role:
                _keep_an_owner(writer, member.org_id, membership.role)
                writer.set_role(member.org_id, membership.user.id, body.role)
                entry = entry_of(
                    member.user,
                    now,
                    "member.role",
                    membership.user.id,
                    roleBefore=membership.role,
                    roleAfter=body.role,
                )
                writer.add_audit(member.org_id, entry)
            return wire.MemberAnswer.model_validate(replace(membership, role=body.role))

        return await self._storage.write(work, organization=member.org_id)

    async def remove(self, member: Member, user_id: UUID | None) -> None:
        """Remove a member, at once: owners and admins others, everyone themselves. Their open
        invitations are withdrawn. Raises as `change`.
        """
        now, leaves = self._clock(), user_id == member.user.id

        def work(writer: Writer) -> None:
            own = role_now(writer, member, MEMBERS if leaves else ADMINS)
            membership = _member(writer, member.org_id, user_id)
            user = membership.user
            if not leaves:
                require_may_give(own, membership.role)
            _keep_an_owner(writer, member.org_id, membership.role)
            writer.remove_membership(member.org_id, user.id)
            writer.withdraw_invites(member.org_id, user.email_key, now)
            action = "member.left" if leaves else "member.removed"
            entry = entry_of(member.user, now, action, user.id, role=membership.role)
            writer.add_audit(member.org_id, entry)

        await self._storage.write(work, organization=member.org_id)


def _member(reader: Reader, org_id: UUID, user_id: UUID | None) -> OrganizationMember:
    user = None if user_id is None else reader.user(user_id)
    membership = None if user is None else reader.membership(org_id, user.id)
    if user is None or membership is None:
        raise NotFoundError(_NO_MEMBER)
    return OrganizationMember(user, membership.role, membership.joined_at)


def _keep_an_owner(reader: Reader, org_id: UUID, leaving: Role) -> None:
    if leaving is Role.OWNER and reader.owners(org_id) == 1:
        raise ConflictError(_LAST_OWNER)
