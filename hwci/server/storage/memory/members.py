# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port says what each method promises
"""Members, invitations and providers' names of users in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.vocabulary import Role
from hwci.server.errors import ClashError
from hwci.server.storage.memory.lists import newest, slice_of
from hwci.server.storage.memory.state import State
from hwci.server.storage.records import Identity, Invite, OrganizationMember, Slice, User


class MemoryMembers:
    """Members, invitations and identities of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def members(self, org_id: UUID, offset: int, limit: int) -> Slice[OrganizationMember]:
        found = [
            OrganizationMember(self._state.users[user_id], *rest)
            for (organization, user_id), rest in self._state.memberships.items()
            if organization == org_id
        ]
        return slice_of(newest(found, lambda one: one.joined_at), offset, limit)

    def owners(self, org_id: UUID) -> int:
        return sum(
            organization == org_id and role is Role.OWNER
            for (organization, _), (role, _) in self._state.memberships.items()
        )

    def set_role(self, org_id: UUID, user_id: UUID, role: Role) -> bool:
        found = self._state.memberships.get((org_id, user_id))
        if found is None:
            return False
        self._state.memberships[org_id, user_id] = (role, found[1])
        return True

    def remove_membership(self, org_id: UUID, user_id: UUID) -> bool:
        return self._state.memberships.pop((org_id, user_id), None) is not None

    def user_by_identity(self, issuer: str, subject: str) -> User | None:
        found = self._state.identities.get((issuer, subject))
        return None if found is None else self._state.users[found.user_id]

    def add_identity(self, identity: Identity) -> None:
        if (identity.issuer, identity.subject) in self._state.identities:
            raise ClashError("identity")
        self._state.identities[identity.issuer, identity.subject] = identity

    def invite(self, digest: bytes) -> Invite | None:
        return self._state.invites.get(digest)

    def open_invites(self, email_key: str, now: datetime) -> Sequence[Invite]:
        found = [
            invite
            for invite in self._state.invites.values()
            if invite.email_key == email_key and _is_open(invite, now)
        ]
        return sorted(found, key=lambda one: one.created_at)

    def add_invite(self, invite: Invite) -> None:
        if invite.org_id is None:
            for earlier in list(self._state.invites.values()):
                if earlier.org_id is None:
                    del self._state.invites[earlier.digest]
        self._state.invites[invite.digest] = invite

    def use_invite(self, digest: bytes, at: datetime) -> bool:
        invite = self._state.invites.get(digest)
        if invite is None or not _is_open(invite, at):
            return False
        self._state.invites[digest] = replace(invite, used_at=at)
        return True

    def drop_invites(self, before: datetime, most: int) -> int:
        invites = self._state.invites.values()
        ended = [one.digest for one in invites if (one.used_at or one.expires_at) <= before]
        for digest in ended[:most]:
            del self._state.invites[digest]
        return len(ended[:most])


def _is_open(invite: Invite, at: datetime) -> bool:
    return invite.used_at is None and invite.expires_at > at
