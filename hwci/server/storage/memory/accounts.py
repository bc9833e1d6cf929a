# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""People and organizations in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.history import Listing
from hwci.engine.vocabulary import Role
from hwci.server.errors import ClashError
from hwci.server.storage.memory.lists import first, newest, slice_of
from hwci.server.storage.memory.state import State
from hwci.server.storage.records import (
    Membership,
    Organization,
    User,
)


class MemoryAccounts:
    """People and organizations of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def user(self, user_id: UUID) -> User | None:
        return self._state.users.get(user_id)

    def user_by_email(self, email_key: str) -> User | None:
        return first(user for user in self._state.users.values() if user.email_key == email_key)

    def user_by_reset(self, digest: bytes, now: datetime) -> User | None:
        return first(
            self._state.users[user_id]
            for user_id, (kept, expires_at) in self._state.resets.items()
            if kept == digest and expires_at > now
        )

    def organization(self, org_id: UUID) -> Organization | None:
        return self._state.organizations.get(org_id)

    def membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        found = self._state.memberships.get((org_id, user_id))
        return None if found is None else Membership(self._state.organizations[org_id], *found)

    def memberships(self, user_id: UUID, offset: int, limit: int) -> Listing[Membership]:
        found = [
            Membership(self._state.organizations[org_id], *rest)
            for (org_id, member), rest in self._state.memberships.items()
            if member == user_id
        ]
        return slice_of(newest(found, lambda one: one.joined_at), offset, limit)

    def any_user(self) -> bool:
        return bool(self._state.users)

    def organization_ids(self) -> Sequence[UUID]:
        return list(self._state.organizations)

    def add_user(self, user: User) -> None:
        if self.user_by_email(user.email_key) is not None:
            raise ClashError("email")
        self._state.users[user.id] = user

    def set_password(self, user_id: UUID, password_hash: str) -> None:
        self._state.resets.pop(user_id, None)
        user = self._state.users[user_id]
        self._state.users[user_id] = replace(user, password_hash=password_hash)

    def set_reset(self, user_id: UUID, digest: bytes, expires_at: datetime) -> None:
        self._state.resets[user_id] = (digest, expires_at)

    def set_disabled(self, user_id: UUID, at: datetime | None) -> None:
        self._state.resets.pop(user_id, None)
        self._state.users[user_id] = replace(self._state.users[user_id], disabled_at=at)

    def add_organization(self, organization: Organization) -> None:
        self._state.organizations[organization.id] = organization

    def add_membership(self, org_id: UUID, user_id: UUID, role: Role, joined_at: datetime) -> None:
        if (org_id, user_id) in self._state.memberships:
            raise ClashError("user")
        self._state.memberships[org_id, user_id] = (role, joined_at)

    def set_ci_metrics(self, org_id: UUID, *, enabled: bool) -> bool:
        organization = self._state.organizations.get(org_id)
        if organization is None:
            return False
        self._state.organizations[org_id] = replace(organization, ci_metrics_enabled=enabled)
        return True
