# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""The audit log: entries that are only ever appended, each sealed onto the one before.

This module appends entries and reads them. Where the key is that they are sealed with, a driver
decides.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.errors import StorageError
from hwci.server.storage.audit_chain import (
    AuditKey,
    AuditPage,
    AuditRow,
    Tip,
    Written,
    entry_of,
    next_row,
    written_of,
)
from hwci.server.storage.audit_key import key_file, make_key, read_audit_key, set_aside
from hwci.server.storage.records import AuditEntry
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.rows import Rows, insert

ROW = "SELECT number, " + ", ".join(
    # As bytes: what another program wrote need not be text.
    f"CAST({name} AS BLOB)" if kind is str else name
    for name, kind in get_type_hints(Written).items()
)
_ADD = insert("audit_entry", ("number", *Written._fields, "link", "seal"))


class AuditRows(Rows):
    """The audit log."""

    def audit_log(self, org_id: UUID, offset: int, limit: int) -> Listing[AuditEntry]:
        statement = f"{ROW} FROM audit_entry WHERE org_id = ? ORDER BY at DESC, number DESC"
        return self._slice(_entry, statement, (org_id.bytes,), offset, limit)

    def last_actors(self, org_id: UUID, actions: Collection[str]) -> Mapping[UUID, UUID]:
        holes = ", ".join("?" * len(actions))
        rows = self._connection.rows(
            "SELECT target, actor_id FROM audit_entry"
            f" WHERE org_id = ? AND action IN ({holes}) ORDER BY number",
            (org_id.bytes, *actions),
        )
        return {UUID(target): UUID(bytes=actor) for target, actor in rows}

    def audit_page(self, after: int, limit: int) -> AuditPage:
        rows = self._connection.rows(
            f"{ROW}, link, seal FROM audit_entry WHERE number > ? ORDER BY number LIMIT ?",
            (after, limit),
        )
        heads = self._connection.rows("SELECT seal FROM audit_head")
        return AuditPage([_row(row) for row in rows], next((seal for (seal,) in heads), None))

    def require_audit(self) -> None:
        connection = self._connection
        if connection.audit_key is None:
            raise StorageError(
                f"The key of the audit log, {connection.audit_key_file}, is missing",
                f"put it back from beside a backup, {connection.new_audit_key}",
            )
        if not fits(connection, connection.audit_key):
            raise StorageError(
                f"The audit log of {connection.name} does not end as its key sealed it",
                "look at: hwci admin audit verify; then put the right database or key back,"
                f" {connection.new_audit_key}",
            )

    def add_audit(self, org_id: UUID, entry: AuditEntry) -> None:
        self.require_audit()
        append(self._connection, org_id, entry)


def append(connection: Connection, org_id: UUID, entry: AuditEntry) -> None:
    """Append an entry, and seal the log as it ends then."""
    key = connection.audit_key
    assert key is not None
    row = next_row(key, tip_of(connection), written_of(org_id, entry))
    connection.execute(_ADD, (row.number, *row.written, row.link, row.seal))
    seal_head(connection, key)


def open_key(connection: Connection, database: Path) -> AuditKey | None:
    """Return the key of an open database's log, made for one that was never sealed; None if the
    one that it was sealed with is missing. Raises as `read_audit_key` and `write_key`.
    """
    key = read_audit_key(key_file(database))
    if connection.row("SELECT 1 FROM audit_head WHERE seal IS NULL") is None:
        return key
    if key is None:
        key = make_key(database)
    elif connection.row("SELECT 1 FROM organization") is not None:
        return key  # a log with a key had a seal: it was removed
    seal_head(connection, key)
    return key


def restarted(
    connection: Connection, database: Path, entry_for: Callable[[UUID], AuditEntry]
) -> int | None:
    """Continue a log under a new key if the present one does not fit, with an entry about it for
    each organization. Return the number of the first row; None if the present key fits.
    """
    if fits(connection, open_key(connection, database)):
        return None
    set_aside(database)
    key = connection.audit_key = make_key(database)
    first = tip_of(connection).number + 1
    for (org,) in connection.rows("SELECT id FROM organization ORDER BY id"):
        append(connection, UUID(bytes=org), entry_for(UUID(bytes=org)))
    seal_head(connection, key)
    return first


def seal_head(connection: Connection, key: AuditKey) -> None:
    """Seal a log as it ends now."""
    connection.execute(
        "INSERT INTO audit_head (one, seal) VALUES (1, ?)"
        " ON CONFLICT (one) DO UPDATE SET seal = excluded.seal",
        (key.head_seal(tip_of(connection)),),
    )


def tip_of(connection: Connection) -> Tip:
    """Return the last entry of a log."""
    last = connection.row("SELECT number, link, seal FROM audit_entry ORDER BY number DESC LIMIT 1")
    return Tip() if last is None else Tip(*last)


def fits(connection: Connection, key: AuditKey | None) -> bool:
    """Return whether a log ends as this key sealed it."""
    heads = connection.rows("SELECT seal FROM audit_head WHERE seal IS NOT NULL")
    return key is not None and any(key.fits(seal, tip_of(connection)) for (seal,) in heads)


def written_row(values: Sequence[Any]) -> Written:
    """Return the entry of a row's columns."""
    org_id, entry_id, at, actor_id, *texts = values
    decoded = (text.decode("utf-8", "surrogateescape") for text in texts)
    return Written(org_id, entry_id, at, actor_id, *decoded)


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    _, *values = row
    return entry_of(written_row(values))


def _row(row: tuple[Any, ...]) -> AuditRow:
    number, *values, link, seal = row
    return AuditRow(number, written_row(values), link, seal)
