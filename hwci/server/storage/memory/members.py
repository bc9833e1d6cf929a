# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""Members, invitations, and ids of users at providers, in memory."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.history import Listing
from hwci.engine.vocabulary import Role
from hwci.server.errors import ClashError
from hwci.server.storage.memory.lists import first, newest, slice_of
from hwci.server.storage.memory.state import State
from hwci.server.storage.records import Identity, Invite, Offer, OrganizationMember, User


class MemoryMembers:
    """Members, invitations and identities of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def members(self, org_id: UUID, offset: int, limit: int) -> Listing[OrganizationMember]:
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

    def has_identity(self, user_id: UUID) -> bool:
        return any(one.user_id == user_id for one in self._state.identities.values())

    def add_identity(self, identity: Identity) -> None:
        if (identity.issuer, identity.subject) in self._state.identities:
            raise ClashError("identity")
        self._state.identities[identity.issuer, identity.subject] = identity

    def invite(self, digest: bytes) -> Invite | None:
        return self._state.invites.get(digest)

    def invite_by_id(self, invite_id: UUID) -> Invite | None:
        return next((one for one in self._state.invites.values() if one.id == invite_id), None)

    def open_invite(self, org_id: UUID, email_key: str, now: datetime) -> Invite | None:
        found = self._open(lambda one: (one.org_id, one.email_key) == (org_id, email_key), now)
        return first(found)

    def open_invites(
        self, email_key: str, now: datetime, offset: int, limit: int
    ) -> Listing[Invite]:
        found = self._open(lambda one: one.email_key == email_key, now)
        return slice_of(found, offset, limit)

    def invites_of(self, org_id: UUID, now: datetime, offset: int, limit: int) -> Listing[Invite]:
        return slice_of(self._open(lambda one: one.org_id == org_id, now), offset, limit)

    def add_invite(self, invite: Invite) -> None:
        if invite.offer is None:
            for earlier in list(self._state.invites.values()):
                if earlier.offer is None:
                    del self._state.invites[earlier.digest]
        self._state.invites[invite.digest] = invite

    def use_invite(self, digest: bytes, at: datetime) -> bool:
        invite = self._state.invites.get(digest)
        if invite is None or not _is_open(invite, at):
            return False
        self._state.invites[digest] = replace(invite, used_at=at)
        return True

    def withdraw_invites(self, org_id: UUID, email_key: str) -> None:
        for one in list(self._state.invites.values()):
            if one.used_at is None and _is_to(one.offer, org_id, email_key):
                del self._state.invites[one.digest]

    def drop_invites(self, before: datetime, most: int) -> int:
        invites = self._state.invites.values()
        ended = [one.digest for one in invites if (one.used_at or one.expires_at) <= before]
        for digest in ended[:most]:
            del self._state.invites[digest]
        return len(ended[:most])

    def _open(self, wanted: Callable[[Offer], bool], now: datetime) -> Sequence[Invite]:
        found = [
            one
            for one in self._state.invites.values()
            if one.offer is not None and wanted(one.offer) and _is_open(one, now)
        ]
        return newest(found, lambda one: one.created_at)


def _is_to(offer: Offer | None, org_id: UUID, email_key: str) -> bool:
    return offer is not None and (offer.org_id, offer.email_key) == (org_id, email_key)


def _is_open(invite: Invite, at: datetime) -> bool:
    return invite.used_at is None and invite.expires_at > at
