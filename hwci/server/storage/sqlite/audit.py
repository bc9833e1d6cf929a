# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method; statements are constants
"""The audit log in SQLite: entries that are only ever appended, each sealed onto the one before."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.errors import StorageError
from hwci.server.storage.audit_chain import (
    AuditPage,
    AuditRow,
    entry_of,
    next_row,
    written_of,
)
from hwci.server.storage.records import AuditEntry
from hwci.server.storage.sqlite import audit_key
from hwci.server.storage.sqlite.audit_tables import ROW, written_row
from hwci.server.storage.sqlite.condition import storage_error
from hwci.server.storage.sqlite.connections import Connection, open_writer
from hwci.server.storage.sqlite.rows import Rows

_ADD = (
    "INSERT INTO audit_entry (number, org_id, id, at, actor_id, actor_name, action, target,"
    " details, link, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


class AuditRows(Rows):
    """The audit log."""

    def audit_log(self, org_id: UUID, offset: int, limit: int) -> Listing[AuditEntry]:
        statement = f"{ROW} FROM audit_entry WHERE org_id = ? ORDER BY at DESC, number DESC"
        return self._slice(_entry, statement, (org_id.bytes,), offset, limit)

    def audit_page(self, after: int, limit: int) -> AuditPage:
        rows = self._connection.rows(
            f"{ROW}, link, seal FROM audit_entry WHERE number > ? ORDER BY number LIMIT ?",
            (after, limit),
        )
        head = self._connection.row("SELECT seal FROM audit_head")
        return AuditPage([_row(row) for row in rows], None if head is None else head[0])

    def require_audit(self) -> None:
        connection = self._connection
        file, key = audit_key.key_file(connection.path), connection.audit_key
        if key is None:
            raise StorageError(
                f"The key of the audit log, {file}, is missing",
                f"put it back from beside a backup, {audit_key.NEW_KEY}",
            )
        if not audit_key.fits(connection.raw, key):
            raise StorageError(
                f"The audit log of {connection.path} does not end as its key sealed it",
                "look at: hwci admin audit verify; then put the right database or key back,"
                f" {audit_key.NEW_KEY}",
            )

    def add_audit(self, org_id: UUID, entry: AuditEntry) -> None:
        self.require_audit()
        _append(self._connection, org_id, entry)


def restart(database: Path, entry_for: Callable[[UUID], AuditEntry]) -> int | None:
    """Continue under a new key if the present one does not fit, with an entry about it for each
    organization. Return the number of the first row; None if the present key fits. The lock of the
    database must be held.
    """
    try:
        with closing(open_writer(database)) as connection:
            connection.audit_key = audit_key.open_key(connection.raw, database)
            return _restart(connection, entry_for)
    except sqlite3.Error as error:
        raise storage_error(error, database) from error


def _restart(connection: Connection, entry_for: Callable[[UUID], AuditEntry]) -> int | None:
    raw = connection.raw
    if audit_key.fits(raw, connection.audit_key):
        return None
    audit_key.set_aside(connection.path)
    key = connection.audit_key = audit_key.make_key(connection.path)
    first = audit_key.tip_of(raw).number + 1
    raw.execute("BEGIN IMMEDIATE")
    for (org,) in connection.rows("SELECT id FROM organization ORDER BY id"):
        _append(connection, UUID(bytes=org), entry_for(UUID(bytes=org)))
    audit_key.seal_head(raw, key)
    raw.execute("COMMIT")
    return first


def _append(connection: Connection, org_id: UUID, entry: AuditEntry) -> None:
    raw, key = connection.raw, connection.audit_key
    assert key is not None
    row = next_row(key, audit_key.tip_of(raw), written_of(org_id, entry))
    connection.execute(_ADD, (row.number, *row.written, row.link, row.seal))
    audit_key.seal_head(raw, key)


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    return entry_of(written_row(row[1:]))


def _row(row: tuple[Any, ...]) -> AuditRow:
    number, *values, link, seal = row
    return AuditRow(number, written_row(values), link or b"", seal)
