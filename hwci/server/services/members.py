# SPDX-License-Identifier: Apache-2.0
"""Who belongs to an organization, and who is invited (contract, "Organizations")."""

from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.services.access import Member
from hwci.server.storage.ports import Storage
from hwci.wire import members as wire
from hwci.wire.base import ListPage
from hwci.wire.queries import PageQuery


class Members:
    """What owners and admins do with members, and what every member may see."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def listed(self, member: Member, query: PageQuery) -> ListPage[wire.MemberAnswer]:
        """List the organization's members."""
        raise NotImplementedError

    async def add(self, member: Member, body: wire.NewMember) -> wire.MemberAnswer:
        """Make someone who has an account a member."""
        raise NotImplementedError

    async def change(
        self, member: Member, user_id: UUID | None, body: wire.RoleChange
    ) -> wire.MemberAnswer:
        """Change a member's role."""
        raise NotImplementedError

    async def remove(self, member: Member, user_id: UUID | None) -> None:
        """Remove a member."""
        raise NotImplementedError

    async def invite(self, member: Member, body: wire.NewInvite) -> wire.InviteAnswer:
        """Invite someone who has no account."""
        raise NotImplementedError
