# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""The audit log: entries that are only ever appended, and hold the ids of people, no names."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.audit_chain import AuditRow, link_of
from hwci.server.storage.records import AuditEntry
from hwci.server.storage.sql.codec import from_micros, to_micros
from hwci.server.storage.sql.rows import Rows

COLUMNS = "org_id, id, at, actor_id, action, target, details"
ROW = "SELECT number, org_id, id, at, actor_id, " + ", ".join(
    f"CAST({name} AS BLOB)" for name in ("action", "target", "details")
)
_ADD = f"INSERT INTO audit_entry (number, {COLUMNS}, link) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


class AuditRows(Rows):
    """The audit log."""

    def audit_log(self, org_id: UUID, offset: int, limit: int) -> Listing[AuditEntry]:
        statement = f"{ROW} FROM audit_entry WHERE org_id = ? ORDER BY at DESC, number DESC"
        return self._slice(_entry, statement, (org_id.bytes,), offset, limit)

    def people(self, ids: Collection[UUID]) -> Mapping[UUID, tuple[str, str]]:
        values, holes = [key.bytes for key in ids], ", ".join("?" * len(ids)) or "NULL"
        rows = self._connection.rows(
            f"SELECT id, name, email FROM user WHERE id IN ({holes})"
            f" UNION ALL SELECT id, '', email_key FROM invite WHERE id IN ({holes})",
            (*values, *values),
        )
        return {UUID(bytes=key): (name, email) for key, name, email in rows}

    def last_actors(self, org_id: UUID, actions: Collection[str]) -> Mapping[UUID, UUID]:
        holes = ", ".join("?" * len(actions))
        rows = self._connection.rows(
            "SELECT target, actor_id FROM audit_entry"
            f" WHERE org_id = ? AND action IN ({holes}) ORDER BY number",
            (org_id.bytes, *actions),
        )
        return {UUID(target): UUID(bytes=actor) for target, actor in rows}

    def audit_page(self, after: int, limit: int) -> Sequence[AuditRow]:
        rows = self._connection.rows(
            f"{ROW}, link FROM audit_entry WHERE number > ? ORDER BY number LIMIT ?",
            (after, limit),
        )
        return [AuditRow(number, content, link) for number, *content, link in rows]

    def add_audit(self, org_id: UUID, entry: AuditEntry) -> None:
        ids = org_id.bytes, entry.id.bytes, to_micros(entry.at), entry.actor_id.bytes
        details = json.dumps(dict(entry.details), ensure_ascii=False)
        content = *ids, entry.action, entry.target, details
        last = "SELECT number, link FROM audit_entry ORDER BY number DESC LIMIT 1"
        number, before = self._connection.row(last) or (0, b"")
        link = link_of(before, number + 1, content)
        self._connection.execute(_ADD, (number + 1, *content, link))


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    _, _, key, at, actor_id, *texts = row
    action, target, details = (text.decode() for text in texts)
    ids = UUID(bytes=key), from_micros(at), UUID(bytes=actor_id)
    return AuditEntry(*ids, action, target, json.loads(details))
