# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Accounts and keys.

This module decides no policy: it keeps rows and refuses a unique value that is taken.
Secrets arrive here as digests only.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from hwci.contract.vocabulary import Role
from hwci.engine.facts import Product
from hwci.engine.history import Listing
from hwci.server.errors import ClashError
from hwci.server.storage.ports import AKey
from hwci.server.storage.records import (
    CiKey,
    Key,
    Membership,
    Organization,
    ReaderKey,
    Usage,
    User,
)
from hwci.server.storage.sql.codec import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
    uuid_of,
)
from hwci.server.storage.sql.rows import Rows, latest

OF_USER = (
    *("id", "email", "email_key", "name", "password_hash"),
    *("created_at", "disabled_at", "proved", "notice"),
)
"""The columns that `user_of` reads."""
_USER = f"SELECT {', '.join(OF_USER)} FROM user"
_ORGANIZATION = "SELECT id, name, ci_metrics_enabled, created_at FROM organization"
_MEMBERSHIP = (
    "SELECT o.id, o.name, o.ci_metrics_enabled, o.created_at, m.role, m.joined_at"
    " FROM membership m JOIN organization o ON o.id = m.org_id"
)
_USAGE = "SELECT hour, hour_bytes, all_bytes FROM usage"
_ADD_USAGE = (
    "INSERT INTO usage (org_id, hour, hour_bytes, all_bytes) VALUES (?, ?, ?, ?)"
    " ON CONFLICT (org_id) DO UPDATE SET hour = excluded.hour, hour_bytes = excluded.hour_bytes"
    " + CASE WHEN usage.hour = excluded.hour THEN usage.hour_bytes ELSE 0 END,"
    " all_bytes = usage.all_bytes + excluded.all_bytes"
)
_KEY_TABLE: Mapping[type[Key], str] = {CiKey: "ci_key", ReaderKey: "reader_key"}
_COMMON = "id, org_id, name, digest, created_at, last_used_at, revoked_at"
_KEY_COLUMNS: Mapping[type[Key], str] = {CiKey: _COMMON, ReaderKey: f"{_COMMON}, products"}
_KEY = {kind: f"SELECT {columns} FROM {_KEY_TABLE[kind]}" for kind, columns in _KEY_COLUMNS.items()}
_OF_ORGANIZATION = 4
"""How many columns `_organization` reads."""
_KEY_WITH_ORGANIZATION = {
    kind: "SELECT o.id, o.name, o.ci_metrics_enabled, o.created_at,"
    f" {', '.join(f'k.{column}' for column in columns.split(', '))}"
    f" FROM {_KEY_TABLE[kind]} k CROSS JOIN organization o ON o.id = k.org_id WHERE k.digest = ?"
    for kind, columns in _KEY_COLUMNS.items()
}

_KNOWN = 256  # keys and organizations that are kept for reuse, as long as their rows are the same
_NO_PASSWORD = ""
"""The column holds no NULL; no hash is empty."""


class AccountRows(Rows):
    """People and organizations."""

    def user(self, user_id: UUID) -> User | None:
        return self._one(user_of, f"{_USER} WHERE id = ?", user_id.bytes)

    def user_by_email(self, email_key: str) -> User | None:
        return self._one(user_of, f"{_USER} WHERE email_key = ?", email_key)

    def user_by_reset(self, digest: bytes, now: datetime) -> User | None:
        statement = f"{_USER} WHERE reset_digest = ? AND reset_expires_at > ?"
        return self._one(user_of, statement, digest, to_micros(now))

    def organization(self, org_id: UUID) -> Organization | None:
        return self._one(_organization, f"{_ORGANIZATION} WHERE id = ?", org_id.bytes)

    def membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        statement = f"{_MEMBERSHIP} WHERE m.org_id = ? AND m.user_id = ?"
        return self._one(membership_of, statement, org_id.bytes, user_id.bytes)

    def memberships(self, user_id: UUID, offset: int, limit: int) -> Listing[Membership]:
        statement = f"{_MEMBERSHIP} WHERE m.user_id = ? ORDER BY m.joined_at DESC, m.rowid DESC"
        return self._slice(membership_of, statement, (user_id.bytes,), offset, limit)

    def any_user(self) -> bool:
        return self._connection.row("SELECT 1 FROM user LIMIT 1") is not None

    def organization_ids(self) -> Sequence[UUID]:
        rows = self._connection.rows("SELECT id FROM organization")
        return [uuid_of(org_id) for (org_id,) in rows]

    def usage(self, org_id: UUID) -> Usage | None:
        return self._one(lambda row: Usage(*row), f"{_USAGE} WHERE org_id = ?", org_id.bytes)

    def add_usage(self, org_id: UUID, hour: int, size: int) -> Usage:
        self._connection.execute(_ADD_USAGE, (org_id.bytes, hour, size, size))
        usage = self.usage(org_id)
        assert usage is not None
        return usage

    def add_user(self, user: User) -> None:
        # In one statement, as two people may register the same e-mail on two servers at once.
        added = self._connection.execute(
            f"INSERT INTO user ({', '.join(OF_USER)}) VALUES ({', '.join('?' * len(OF_USER))})"
            " ON CONFLICT (email_key) DO NOTHING",
            (
                user.id.bytes,
                user.email,
                user.email_key,
                user.name,
                user.password_hash or _NO_PASSWORD,
                to_micros(user.created_at),
                to_micros_or_none(user.disabled_at),
                user.proved,
                user.notice,
            ),
        )
        if added.rowcount == 0:
            raise ClashError("email")

    def set_password(self, user_id: UUID, password_hash: str) -> None:
        self._connection.execute(
            "UPDATE user SET password_hash = ?, reset_digest = NULL, reset_expires_at = NULL"
            " WHERE id = ?",
            (password_hash, user_id.bytes),
        )

    def set_reset(self, user_id: UUID, digest: bytes, expires_at: datetime) -> None:
        self._connection.execute(
            "UPDATE user SET reset_digest = ?, reset_expires_at = ? WHERE id = ?",
            (digest, to_micros(expires_at), user_id.bytes),
        )

    def set_disabled(self, user_id: UUID, at: datetime | None) -> None:
        self._connection.execute(
            "UPDATE user SET disabled_at = ?, reset_digest = NULL, reset_expires_at = NULL"
            " WHERE id = ?",
            (to_micros_or_none(at), user_id.bytes),
        )

    def vouch(self, user_id: UUID) -> None:
        self._connection.execute("UPDATE user SET proved = 1 WHERE id = ?", (user_id.bytes,))

    def told(self, user_id: UUID) -> None:
        self._connection.execute("UPDATE user SET notice = NULL WHERE id = ?", (user_id.bytes,))

    def set_apart(self, user_id: UUID, at: datetime) -> None:
        # No e-mail has this key: of one without "@" nobody can register.
        self._connection.execute(
            "UPDATE user SET email_key = ?, password_hash = ?, disabled_at = ?,"
            " reset_digest = NULL, reset_expires_at = NULL WHERE id = ?",
            (f"apart {user_id}", _NO_PASSWORD, to_micros(at), user_id.bytes),
        )

    def add_organization(self, organization: Organization) -> None:
        self._connection.execute(
            "INSERT INTO organization (id, name, ci_metrics_enabled, created_at)"
            " VALUES (?, ?, ?, ?)",
            (
                organization.id.bytes,
                organization.name,
                organization.ci_metrics_enabled,
                to_micros(organization.created_at),
            ),
        )

    def add_membership(self, org_id: UUID, user_id: UUID, role: Role, joined_at: datetime) -> None:
        if self.membership(org_id, user_id) is not None:
            raise ClashError("user")
        self._connection.execute(
            "INSERT INTO membership (org_id, user_id, role, joined_at) VALUES (?, ?, ?, ?)",
            (org_id.bytes, user_id.bytes, role, to_micros(joined_at)),
        )

    def set_ci_metrics(self, org_id: UUID, *, enabled: bool) -> bool:
        changed = self._connection.execute(
            "UPDATE organization SET ci_metrics_enabled = ? WHERE id = ?", (enabled, org_id.bytes)
        )
        return changed.rowcount == 1


class KeyRows(Rows):
    """Keys of CI and of readers, each kind in a table of its own."""

    def key_by_digest(self, kind: type[AKey], digest: bytes) -> tuple[AKey, Organization] | None:
        row = self._connection.row(_KEY_WITH_ORGANIZATION[kind], (digest,))
        if row is None:
            return None
        return _key(kind, row[_OF_ORGANIZATION:]), _organization(row[:_OF_ORGANIZATION])

    def keys(self, kind: type[AKey], org_id: UUID, offset: int, limit: int) -> Listing[AKey]:
        statement = f"{_KEY[kind]} WHERE org_id = ? ORDER BY created_at DESC, rowid DESC"
        return self._slice(partial(_key, kind), statement, (org_id.bytes,), offset, limit)

    def add_key(self, key: Key) -> None:
        values = [
            key.id.bytes,
            key.org_id.bytes,
            key.name,
            key.digest,
            to_micros(key.created_at),
            to_micros_or_none(key.last_used_at),
            to_micros_or_none(key.revoked_at),
        ]
        if isinstance(key, ReaderKey):
            values.append(json.dumps(key.products))
        holes = ", ".join("?" * len(values))
        columns = _KEY_COLUMNS[type(key)]
        self._connection.execute(
            f"INSERT INTO {_KEY_TABLE[type(key)]} ({columns}) VALUES ({holes})", values
        )

    def revoke_key(self, kind: type[AKey], org_id: UUID, key_id: UUID, at: datetime) -> AKey | None:
        self._connection.execute(
            f"UPDATE {_KEY_TABLE[kind]} SET revoked_at = ?"
            " WHERE org_id = ? AND id = ? AND revoked_at IS NULL",
            (to_micros(at), org_id.bytes, key_id.bytes),
        )
        statement = f"{_KEY[kind]} WHERE org_id = ? AND id = ?"
        return self._one(partial(_key, kind), statement, org_id.bytes, key_id.bytes)

    def touch_key(self, key: Key, at: datetime) -> None:
        self._connection.execute(
            f"UPDATE {_KEY_TABLE[type(key)]}"
            f" SET last_used_at = {latest('last_used_at')}"
            " WHERE org_id = ?2 AND id = ?3",
            (to_micros(at), key.org_id.bytes, key.id.bytes),
        )


def user_of(row: tuple[Any, ...]) -> User:
    """Return the user of a row, its columns in the table's order."""
    user_id, email, email_key, name, password_hash, created_at, disabled_at, proved, notice = row
    return User(
        uuid_of(user_id),
        email,
        email_key,
        name,
        password_hash or None,
        from_micros(created_at),
        from_micros_or_none(disabled_at),
        bool(proved),
        notice,
    )


@lru_cache(maxsize=_KNOWN)
def _organization(row: tuple[Any, ...]) -> Organization:
    return Organization(uuid_of(row[0]), row[1], bool(row[2]), from_micros(row[3]))


def membership_of(row: tuple[Any, ...]) -> Membership:
    """Return the membership of a row: the columns of its organization, the role, and since when."""
    return Membership(_organization(row), Role(row[4]), from_micros(row[5]))


def _key(kind: type[AKey], row: tuple[Any, ...]) -> AKey:
    return kind(*_of_key(row))


@lru_cache(maxsize=_KNOWN)  # a report looks its key up twice
def _of_key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    key_id, org_id, name, digest, created_at, last_used_at, revoked_at, *products = row
    return (
        uuid_of(key_id),
        uuid_of(org_id),
        name,
        digest,
        from_micros(created_at),
        from_micros_or_none(last_used_at),
        from_micros_or_none(revoked_at),
        *(tuple(Product(*load) for load in json.loads(text)) for text in products),
    )
