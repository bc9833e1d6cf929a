# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Members, invitations, and ids of users at providers.

This module decides no policy: it keeps rows, and an invitation is used up by one statement.
"""

from datetime import datetime
from uuid import UUID

from hwci.contract.vocabulary import Role
from hwci.engine.history import Listing
from hwci.server.errors import ClashError
from hwci.server.storage.records import Identity, Invite, OrganizationMember, User
from hwci.server.storage.sql.accounts.users import USER
from hwci.server.storage.sql.codec import to_micros
from hwci.server.storage.sql.columns import columns_of
from hwci.server.storage.sql.rows import Rows, insert

_MEMBER = columns_of(OrganizationMember, user=USER)
_IDENTITY = columns_of(Identity)
_INVITE = columns_of(Invite)

_SELECT_MEMBER = f"""
SELECT {USER.of("u")}, m.role, m.joined_at
FROM membership m
JOIN user u ON u.id = m.user_id
"""
_SELECT_IDENTIFIED = f"SELECT {USER.of('u')} FROM identity i JOIN user u ON u.id = i.user_id"
_SELECT_INVITE = f"SELECT {_INVITE.of('i')} FROM invite i"
_OPEN = "i.used_at IS NULL AND i.expires_at > ? ORDER BY i.created_at DESC, i.rowid DESC"


class MemberRows(Rows):
    """Who is a member, and what they may do."""

    def members(self, org_id: UUID, offset: int, limit: int) -> Listing[OrganizationMember]:
        statement = f"{_SELECT_MEMBER} WHERE m.org_id = ? ORDER BY m.joined_at DESC, m.rowid DESC"
        return self._slice(_MEMBER.read, statement, (org_id.bytes,), offset, limit)

    def owners(self, org_id: UUID) -> int:
        statement = "SELECT count(*) FROM membership WHERE org_id = ? AND role = ?"
        return self._count(statement, org_id.bytes, Role.OWNER)

    def owned(self, user_id: UUID) -> int:
        statement = "SELECT count(*) FROM membership WHERE user_id = ? AND role = ?"
        return self._count(statement, user_id.bytes, Role.OWNER)

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
        statement = f"{_SELECT_IDENTIFIED} WHERE i.issuer = ? AND i.subject = ?"
        return self._first(USER.read, statement, issuer, subject)

    def has_identity(self, user_id: UUID) -> bool:
        statement = "SELECT 1 FROM identity WHERE user_id = ? LIMIT 1"
        return self._connection.row(statement, (user_id.bytes,)) is not None

    def add_identity(self, identity: Identity) -> None:
        if self.user_by_identity(identity.issuer, identity.subject) is not None:
            raise ClashError("identity")
        self._connection.execute(insert("identity", _IDENTITY.names), _IDENTITY.row(identity))


class InviteRows(Rows):
    """Invitations, and the set-up token."""

    def invite(self, digest: bytes) -> Invite | None:
        return self._first(_INVITE.read, f"{_SELECT_INVITE} WHERE i.digest = ?", digest)

    def invite_by_id(self, invite_id: UUID) -> Invite | None:
        return self._first(_INVITE.read, f"{_SELECT_INVITE} WHERE i.id = ?", invite_id.bytes)

    def open_invite(self, org_id: UUID, email_key: str, now: datetime) -> Invite | None:
        statement = f"{_SELECT_INVITE} WHERE i.org_id = ? AND i.email_key = ? AND {_OPEN} LIMIT 1"
        return self._first(_INVITE.read, statement, org_id.bytes, email_key, to_micros(now))

    def open_invites(
        self, email_key: str, now: datetime, offset: int, limit: int
    ) -> Listing[Invite]:
        statement = f"{_SELECT_INVITE} WHERE i.email_key = ? AND {_OPEN}"
        return self._slice(_INVITE.read, statement, (email_key, to_micros(now)), offset, limit)

    def invites_of(self, org_id: UUID, now: datetime, offset: int, limit: int) -> Listing[Invite]:
        statement = f"{_SELECT_INVITE} WHERE i.org_id = ? AND {_OPEN}"
        return self._slice(_INVITE.read, statement, (org_id.bytes, to_micros(now)), offset, limit)

    def add_invite(self, invite: Invite) -> None:
        if invite.offer is None:
            self._connection.execute("DELETE FROM invite WHERE org_id IS NULL")
        self._connection.execute(insert("invite", _INVITE.names), _INVITE.row(invite))

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
