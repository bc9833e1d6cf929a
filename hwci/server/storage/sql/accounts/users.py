# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Accounts and keys.

This module decides no policy: it keeps rows and refuses a unique value that is taken.
Secrets arrive here as digests only.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, cast
from uuid import UUID

from hwci.contract.vocabulary import Role
from hwci.engine.facts import Product
from hwci.engine.history import Listing
from hwci.server.errors import ClashError
from hwci.server.storage.ports import AKey
from hwci.server.storage.records import (
    CiKey,
    KeepDays,
    Kept,
    Key,
    Membership,
    Organization,
    ReaderKey,
    Usage,
    User,
)
from hwci.server.storage.sql.codec import to_micros, to_micros_or_none, uuid_of
from hwci.server.storage.sql.columns import Columns, column, columns_of
from hwci.server.storage.sql.rows import Rows, insert, latest

_NO_PASSWORD = ""
"""The column holds no NULL; no hash is empty."""
_APART = "apart "
"""With it begins the key of who was set apart. No e-mail has it: of one without "@" nobody can
register.
"""
USER = columns_of(
    User,
    password_hash=column(
        "password_hash",
        lambda password: password or _NO_PASSWORD,
        lambda password: password or None,
    ),
)
ORGANIZATION = columns_of(
    Organization,
    keep_days=columns_of(KeepDays).called(*(f"keep_{kind}_days" for kind in Kept)),
)
MEMBERSHIP = columns_of(Membership)
OF_MEMBERSHIP = f"{ORGANIZATION.of('o')}, m.role, m.joined_at"
"""The columns that `MEMBERSHIP` reads."""
_USAGE = columns_of(Usage)
_KEYS: Mapping[type[Key], Columns[Key]] = {
    CiKey: columns_of(CiKey),
    ReaderKey: columns_of(
        ReaderKey,
        products=column(
            "products",
            json.dumps,
            lambda text: tuple([Product(*product) for product in json.loads(text)]),
        ),
    ),
}
_KEY_TABLES: Mapping[type[Key], str] = {CiKey: "ci_key", ReaderKey: "reader_key"}

_SELECT_USER = f"SELECT {USER.of('u')} FROM user u"
_SELECT_MEMBERSHIP = f"""
SELECT {OF_MEMBERSHIP}
FROM membership m
JOIN organization o ON o.id = m.org_id
"""
_ADD_USAGE = """
INSERT INTO usage (org_id, hour, hour_bytes, all_bytes) VALUES (?, ?, ?, ?)
ON CONFLICT (org_id) DO UPDATE SET
  hour = excluded.hour,
  hour_bytes = excluded.hour_bytes
    + CASE WHEN usage.hour = excluded.hour THEN usage.hour_bytes ELSE 0 END,
  all_bytes = usage.all_bytes + excluded.all_bytes
"""
_SELECT_KEY = {
    kind: f"SELECT {columns.of('k')} FROM {_KEY_TABLES[kind]} k" for kind, columns in _KEYS.items()
}
_KEY_WITH_ORGANIZATION = {
    kind: f"""
    SELECT {ORGANIZATION.of("o")}, {columns.of("k")}
    FROM {_KEY_TABLES[kind]} k
    CROSS JOIN organization o ON o.id = k.org_id
    WHERE k.digest = ?
    """
    for kind, columns in _KEYS.items()
}

_KNOWN = 256  # keys and organizations that are kept for reuse, as long as their rows are the same


class AccountRows(Rows):
    """People and organizations."""

    def user(self, user_id: UUID) -> User | None:
        return self._first(USER.read, f"{_SELECT_USER} WHERE u.id = ?", user_id.bytes)

    def user_by_email(self, email_key: str) -> User | None:
        return self._first(USER.read, f"{_SELECT_USER} WHERE u.email_key = ?", email_key)

    def user_by_reset(self, digest: bytes, now: datetime) -> User | None:
        statement = f"{_SELECT_USER} WHERE u.reset_digest = ? AND u.reset_expires_at > ?"
        return self._first(USER.read, statement, digest, to_micros(now))

    def users_apart(self) -> Sequence[User]:
        rows = self._connection.rows(f"{_SELECT_USER} WHERE u.email_key LIKE ?", (f"{_APART}%",))
        return [USER.read(row) for row in rows]

    def organization(self, org_id: UUID) -> Organization | None:
        statement = f"SELECT {ORGANIZATION.of('o')} FROM organization o WHERE o.id = ?"
        return self._first(ORGANIZATION.read, statement, org_id.bytes)

    def membership(self, org_id: UUID, user_id: UUID) -> Membership | None:
        statement = f"{_SELECT_MEMBERSHIP} WHERE m.org_id = ? AND m.user_id = ?"
        return self._first(MEMBERSHIP.read, statement, org_id.bytes, user_id.bytes)

    def memberships(self, user_id: UUID, offset: int, limit: int) -> Listing[Membership]:
        statement = (
            f"{_SELECT_MEMBERSHIP} WHERE m.user_id = ? ORDER BY m.joined_at DESC, m.rowid DESC"
        )
        return self._slice(MEMBERSHIP.read, statement, (user_id.bytes,), offset, limit)

    def any_user(self) -> bool:
        return self._connection.row("SELECT 1 FROM user LIMIT 1") is not None

    def organization_ids(self) -> Sequence[UUID]:
        rows = self._connection.rows("SELECT id FROM organization")
        return [uuid_of(org_id) for (org_id,) in rows]

    def usage(self, org_id: UUID) -> Usage | None:
        statement = f"SELECT {_USAGE.of('u')} FROM usage u WHERE u.org_id = ?"
        return self._first(_USAGE.read, statement, org_id.bytes)

    def add_usage(self, org_id: UUID, hour: int, size: int) -> Usage:
        self._connection.execute(_ADD_USAGE, (org_id.bytes, hour, size, size))
        usage = self.usage(org_id)
        assert usage is not None
        return usage

    def add_user(self, user: User) -> None:
        # In one statement, as two people may register the same e-mail on two servers at once.
        added = self._connection.execute(
            f"{insert('user', USER.names)} ON CONFLICT (email_key) DO NOTHING", USER.row(user)
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
        self._connection.execute(
            "UPDATE user SET email_key = ?, password_hash = ?, disabled_at = ?,"
            " reset_digest = NULL, reset_expires_at = NULL WHERE id = ?",
            (f"{_APART}{user_id}", _NO_PASSWORD, to_micros(at), user_id.bytes),
        )

    def erase_user(self, user: User) -> None:
        for table in ("refresh_token", "session", "identity"):
            self._connection.execute(f"DELETE FROM {table} WHERE user_id = ?", (user.id.bytes,))
        self._connection.execute(
            "DELETE FROM invite WHERE inviter_id = ? OR email_key = ?",
            (user.id.bytes, user.email_key),
        )
        self._connection.execute("DELETE FROM user WHERE id = ?", (user.id.bytes,))

    def add_organization(self, organization: Organization) -> None:
        statement = insert("organization", ORGANIZATION.names)
        self._connection.execute(statement, ORGANIZATION.row(organization))

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
        key, organization = _key_with_organization(_KEYS[kind], row)
        assert isinstance(key, kind)
        return key, organization

    def keys(self, kind: type[AKey], org_id: UUID, offset: int, limit: int) -> Listing[AKey]:
        statement = (
            f"{_SELECT_KEY[kind]} WHERE k.org_id = ? ORDER BY k.created_at DESC, k.rowid DESC"
        )
        return self._slice(_reader(kind), statement, (org_id.bytes,), offset, limit)

    def add_key(self, key: Key) -> None:
        columns = _KEYS[type(key)]
        statement = insert(_KEY_TABLES[type(key)], columns.names)
        self._connection.execute(statement, columns.row(key))

    def revoke_key(self, kind: type[AKey], org_id: UUID, key_id: UUID, at: datetime) -> AKey | None:
        self._connection.execute(
            f"UPDATE {_KEY_TABLES[kind]} SET revoked_at = ?"
            " WHERE org_id = ? AND id = ? AND revoked_at IS NULL",
            (to_micros(at), org_id.bytes, key_id.bytes),
        )
        statement = f"{_SELECT_KEY[kind]} WHERE k.org_id = ? AND k.id = ?"
        return self._first(_reader(kind), statement, org_id.bytes, key_id.bytes)

    def touch_key(self, key: Key, at: datetime) -> None:
        self._connection.execute(
            f"UPDATE {_KEY_TABLES[type(key)]}"
            f" SET last_used_at = {latest('last_used_at')}"
            " WHERE org_id = ?2 AND id = ?3",
            (to_micros(at), key.org_id.bytes, key.id.bytes),
        )


def _reader(kind: type[AKey]) -> Callable[[tuple[Any, ...]], AKey]:
    return cast("Columns[AKey]", _KEYS[kind]).read


@lru_cache(maxsize=_KNOWN)  # a report looks its key up twice
def _key_with_organization(of_key: Columns[Key], row: tuple[Any, ...]) -> tuple[Key, Organization]:
    columns = iter(row)
    organization = ORGANIZATION.read(columns)
    return of_key.read(columns), organization
