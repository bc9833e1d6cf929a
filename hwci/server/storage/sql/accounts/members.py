# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Members, invitations, and ids of users at providers.

This module decides no policy: it keeps rows, and an invitation is used up by one statement.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from hwci.contract.vocabulary import Role
from hwci.engine.history import Listing
from hwci.server.errors import ClashError
from hwci.server.storage.records import Identity, Invite, Offer, OrganizationMember, User
from hwci.server.storage.sql.accounts.users import OF_USER, user_of
from hwci.server.storage.sql.codec import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)
from hwci.server.storage.sql.rows import Rows

_OF_USER = ", ".join(f"u.{column}" for column in OF_USER)
_MEMBER = (
    f"SELECT {_OF_USER}, m.role, m.joined_at FROM membership m JOIN user u ON u.id = m.user_id"
)
_IDENTIFIED = f"SELECT {_OF_USER} FROM identity i JOIN user u ON u.id = i.user_id"
_INVITE = (
    "SELECT id, digest, org_id, email_key, role, inviter_id, created_at, expires_at, used_at"
    " FROM invite"
)
_OPEN = "used_at IS NULL AND expires_at > ? ORDER BY created_at DESC, rowid DESC"


class MemberRows(Rows):
    """Who is a member, and what they may do."""

    def members(self, org_id: UUID, offset: int, limit: int) -> Listing[OrganizationMember]:
        statement = f"{_MEMBER} WHERE m.org_id = ? ORDER BY m.joined_at DESC, m.rowid DESC"
        return self._slice(_member, statement, (org_id.bytes,), offset, limit)

    def owners(self, org_id: UUID) -> int:
        statement = "SELECT count(*) FROM membership WHERE org_id = ? AND role = ?"
        found = self._connection.row(statement, (org_id.bytes, Role.OWNER))
        assert found is not None
        return int(found[0])

    def owned(self, user_id: UUID) -> int:
        statement = "SELECT count(*) FROM membership WHERE user_id = ? AND role = ?"
        found = self._connection.row(statement, (user_id.bytes, Role.OWNER))
        assert found is not None
        return int(found[0])

    def set_role(self, org_id: UUID, user_id: UUID, role: Role) -> bool:
        changed = self._connection.execute(
            "UPDATE membership SET role = ? WHERE org_id = ? AND user_id = ?",
            (role, org_id.bytes, user_id.bytes),
        )
        return changed.rowcount == 1

    def remove_membership(self, org_id: UUID, user_id: UUID) -> bool:
        removed = self._connection.execute(
            "DELETE FROM membership WHERE org_id = ? AND user_id = ?",
            (org_id.bytes, user_id.bytes),
        )
        return removed.rowcount == 1


class IdentityRows(Rows):
    """Ids of users at providers of single sign-on."""

    def user_by_identity(self, issuer: str, subject: str) -> User | None:
        statement = f"{_IDENTIFIED} WHERE i.issuer = ? AND i.subject = ?"
        return self._one(user_of, statement, issuer, subject)

    def has_identity(self, user_id: UUID) -> bool:
        statement = "SELECT 1 FROM identity WHERE user_id = ? LIMIT 1"
        return self._connection.row(statement, (user_id.bytes,)) is not None

    def add_identity(self, identity: Identity) -> None:
        if self.user_by_identity(identity.issuer, identity.subject) is not None:
            raise ClashError("identity")
        self._connection.execute(
            "INSERT INTO identity (issuer, subject, user_id, created_at) VALUES (?, ?, ?, ?)",
            (
                identity.issuer,
                identity.subject,
                identity.user_id.bytes,
                to_micros(identity.created_at),
            ),
        )


class InviteRows(Rows):
    """Invitations, and the set-up token."""

    def invite(self, digest: bytes) -> Invite | None:
        return self._one(_invite, f"{_INVITE} WHERE digest = ?", digest)

    def invite_by_id(self, invite_id: UUID) -> Invite | None:
        return self._one(_invite, f"{_INVITE} WHERE id = ?", invite_id.bytes)

    def open_invite(self, org_id: UUID, email_key: str, now: datetime) -> Invite | None:
        statement = f"{_INVITE} WHERE org_id = ? AND email_key = ? AND {_OPEN} LIMIT 1"
        return self._one(_invite, statement, org_id.bytes, email_key, to_micros(now))

    def open_invites(
        self, email_key: str, now: datetime, offset: int, limit: int
    ) -> Listing[Invite]:
        statement = f"{_INVITE} WHERE email_key = ? AND {_OPEN}"
        return self._slice(_invite, statement, (email_key, to_micros(now)), offset, limit)

    def invites_of(self, org_id: UUID, now: datetime, offset: int, limit: int) -> Listing[Invite]:
        statement = f"{_INVITE} WHERE org_id = ? AND {_OPEN}"
        return self._slice(_invite, statement, (org_id.bytes, to_micros(now)), offset, limit)

    def add_invite(self, invite: Invite) -> None:
        if invite.offer is None:
            self._connection.execute("DELETE FROM invite WHERE org_id IS NULL")
        self._connection.execute(
            "INSERT INTO invite"
            " (id, digest, org_id, email_key, role, inviter_id, created_at, expires_at, used_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                invite.id.bytes,
                invite.digest,
                *_offer_row(invite.offer),
                to_micros(invite.created_at),
                to_micros(invite.expires_at),
                to_micros_or_none(invite.used_at),
            ),
        )

    def use_invite(self, digest: bytes, at: datetime) -> bool:
        # In one statement, as for refresh tokens.
        used = self._connection.execute(
            "UPDATE invite SET used_at = ?1"
            " WHERE digest = ?2 AND used_at IS NULL AND expires_at > ?1",
            (to_micros(at), digest),
        )
        return used.rowcount == 1

    def withdraw_invites(self, org_id: UUID, email_key: str, at: datetime) -> None:
        # Kept for a while as a used one: the audit log looks its e-mail up.
        self._connection.execute(
            "UPDATE invite SET used_at = ? WHERE org_id = ? AND email_key = ? AND used_at IS NULL",
            (to_micros(at), org_id.bytes, email_key),
        )

    def drop_invites(self, before: datetime, most: int) -> int:
        dropped = self._connection.execute(
            "DELETE FROM invite WHERE digest IN (SELECT digest FROM invite"
            " WHERE coalesce(used_at, expires_at) <= ? LIMIT ?)",
            (to_micros(before), most),
        )
        return dropped.rowcount


def _member(row: tuple[Any, ...]) -> OrganizationMember:
    *user, role, joined_at = row
    return OrganizationMember(user_of(tuple(user)), Role(role), from_micros(joined_at))


def _offer_row(offer: Offer | None) -> tuple[object, ...]:
    if offer is None:
        return (None,) * 4
    return offer.org_id.bytes, offer.email_key, offer.role, offer.inviter_id.bytes


def _invite(row: tuple[Any, ...]) -> Invite:
    invite_id, digest, org_id, email_key, role, inviter_id, created_at, expires_at, used_at = row
    return Invite(
        UUID(bytes=invite_id),
        digest,
        None
        if org_id is None
        else Offer(UUID(bytes=org_id), email_key, Role(role), UUID(bytes=inviter_id)),
        from_micros(created_at),
        from_micros(expires_at),
        from_micros_or_none(used_at),
    )
