# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Boxes, and notes of what was done to them. Keys and install tokens arrive here as digests and are
never anything else.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from hwci.engine.history import ANYWHERE, EVERYTHING, Listing, Scope, Where
from hwci.engine.periods import Period
from hwci.server.errors import ClashError
from hwci.server.storage.records import Box, BoxNote
from hwci.server.storage.sql.codec import (
    from_micros,
    from_micros_or_none,
    to_micros,
    to_micros_or_none,
)
from hwci.server.storage.sql.connection import Query
from hwci.server.storage.sql.reports.narrowed import of_reports
from hwci.server.storage.sql.rows import Rows, latest

# One step in the index for each box, where DISTINCT would read every report.
REPORTED_NAMES = (
    "WITH RECURSIVE name (key) AS (SELECT min(box_key) FROM report WHERE org_id = ? UNION ALL"
    " SELECT (SELECT min(r.box_key) FROM report r WHERE r.org_id = ? AND r.box_key > name.key)"
    " FROM name WHERE name.key IS NOT NULL) SELECT key FROM name WHERE key IS NOT NULL"
)
_COLUMNS = (
    "b.id, b.org_id, b.name, b.created_at,"
    " b.install_digest, b.install_expires_at, b.key_digest, b.last_seen_at"
)
_BOX = f"SELECT {_COLUMNS} FROM box b"
_LISTED = (
    f"SELECT {_COLUMNS}, (SELECT max(r.started_at) FROM report r"
    " WHERE r.org_id = b.org_id AND r.box_key = b.name) FROM box b"
)

_UNCREATED = (
    "SELECT n.key, (SELECT max(r.started_at) FROM report r"
    " WHERE r.org_id = ? AND r.box_key = n.key) AS latest"
    f" FROM ({REPORTED_NAMES}) n WHERE n.key NOT IN (SELECT name FROM box WHERE org_id = ?)"
)


_SEEN = "SELECT name, last_seen_at FROM box WHERE org_id = ? AND last_seen_at IS NOT NULL"
_NOTE = "SELECT n.org_id, n.box_key, n.at, n.text, n.by_id, n.by_name FROM box_note n"


def _named(column: str, org: bytes, scope: Scope, where: Where) -> Query:
    """Return the condition that a box has this name, and that a report of this scope, branch and
    commit names it.
    """
    name = "" if where.box_key is None else f" AND {column} = ?"
    values: tuple[object, ...] = () if where.box_key is None else (where.box_key,)
    reports = of_reports(org, scope, where)
    if (scope, where.branch, where.sha) == (EVERYTHING, None, None):
        return Query(name, values)
    ran = f"SELECT r.box_key FROM report r WHERE r.org_id = ?{reports.statement}"
    return Query(f"{name} AND {column} IN ({ran})", (*values, org, *reports.values))


class BoxRows(Rows):
    """Boxes, and notes about them."""

    def boxes(
        self,
        org_id: UUID,
        offset: int,
        limit: int,
        scope: Scope = EVERYTHING,
        where: Where = ANYWHERE,
    ) -> Listing[tuple[Box, datetime | None]]:
        named = _named("b.name", org_id.bytes, scope, where)
        statement = (
            f"{_LISTED} WHERE b.org_id = ?{named.statement}"
            " ORDER BY b.created_at DESC, b.rowid DESC"
        )
        return self._slice(_listed, statement, (org_id.bytes, *named.values), offset, limit)

    def reported_boxes(
        self,
        org_id: UUID,
        offset: int,
        limit: int,
        scope: Scope = EVERYTHING,
        where: Where = ANYWHERE,
    ) -> Listing[tuple[str, datetime]]:
        named = _named("n.key", org_id.bytes, scope, where)
        statement = f"{_UNCREATED}{named.statement} ORDER BY latest DESC, n.key"
        values = (*(org_id.bytes,) * 4, *named.values)
        return self._slice(_reported, statement, values, offset, limit)

    def boxes_seen(self, org_id: UUID) -> Mapping[str, datetime]:
        rows = self._connection.rows(_SEEN, (org_id.bytes,))
        return {name: from_micros(at) for name, at in rows}

    def box(self, org_id: UUID, box_id: UUID) -> Box | None:
        return self._one(
            _box, f"{_BOX} WHERE b.org_id = ? AND b.id = ?", org_id.bytes, box_id.bytes
        )

    def box_by_key(self, digest: bytes) -> Box | None:
        return self._one(_box, f"{_BOX} WHERE b.key_digest = ?", digest)

    def box_by_install(self, digest: bytes) -> Box | None:
        return self._one(_box, f"{_BOX} WHERE b.install_digest = ?", digest)

    def add_box(self, box: Box) -> None:
        self._refuse_taken(box.org_id, box.id, box.name)
        self._connection.execute(
            "INSERT INTO box (id, org_id, name, created_at,"
            " install_digest, install_expires_at, key_digest, last_seen_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                box.id.bytes,
                box.org_id.bytes,
                box.name,
                to_micros(box.created_at),
                box.install_digest,
                to_micros_or_none(box.install_expires_at),
                box.key_digest,
                to_micros_or_none(box.last_seen_at),
            ),
        )

    def rename_box(self, org_id: UUID, box_id: UUID, name: str) -> None:
        self._refuse_taken(org_id, box_id, name)
        self._connection.execute(
            "UPDATE box SET name = ? WHERE org_id = ? AND id = ?",
            (name, org_id.bytes, box_id.bytes),
        )

    def remove_box(self, org_id: UUID, box_id: UUID) -> None:
        self._connection.execute(
            "DELETE FROM box WHERE org_id = ? AND id = ?", (org_id.bytes, box_id.bytes)
        )

    def set_install(self, org_id: UUID, box_id: UUID, digest: bytes, expires_at: datetime) -> bool:
        changed = self._connection.execute(
            "UPDATE box SET install_digest = ?, install_expires_at = ? WHERE org_id = ? AND id = ?",
            (digest, to_micros(expires_at), org_id.bytes, box_id.bytes),
        )
        return changed.rowcount == 1

    def install_box(
        self, org_id: UUID, box_id: UUID, install_digest: bytes, key_digest: bytes, at: datetime
    ) -> bool:
        # In one statement: what was read before may have changed.
        installed = self._connection.execute(
            "UPDATE box SET install_digest = NULL, install_expires_at = NULL, key_digest = ?2,"
            f" last_seen_at = {latest('last_seen_at')}"
            " WHERE org_id = ?3 AND id = ?4 AND install_digest = ?5 AND install_expires_at > ?1",
            (to_micros(at), key_digest, org_id.bytes, box_id.bytes, install_digest),
        )
        return installed.rowcount == 1

    def end_box_key(self, org_id: UUID, box_id: UUID) -> Box | None:
        box = self.box(org_id, box_id)
        self._connection.execute(
            "UPDATE box SET install_digest = NULL, install_expires_at = NULL, key_digest = NULL"
            " WHERE org_id = ? AND id = ?",
            (org_id.bytes, box_id.bytes),
        )
        return box

    def touch_box(self, org_id: UUID, box_id: UUID, at: datetime) -> None:
        seen = (to_micros(at), org_id.bytes, box_id.bytes)
        self._connection.execute(
            f"UPDATE box SET last_seen_at = {latest('last_seen_at')} WHERE org_id = ?2 AND id = ?3",
            seen,
        )
        self._connection.execute(
            f"UPDATE live_run SET heard_at = {latest('heard_at')}"
            " WHERE org_id = ?2 AND box_id = ?3 AND lost = 0",
            seen,
        )

    def box_notes(
        self, org_id: UUID, box_key: str | None, offset: int, limit: int
    ) -> Listing[BoxNote]:
        of_box = "" if box_key is None else " AND n.box_key = ?"
        values = (org_id.bytes,) if box_key is None else (org_id.bytes, box_key)
        statement = f"{_NOTE} WHERE n.org_id = ?{of_box} ORDER BY n.at DESC, n.id"
        return self._slice(_note, statement, values, offset, limit)

    def latest_box_notes(self, org_id: UUID, period: Period) -> Mapping[str, BoxNote]:
        rows = self._connection.rows(
            f"{_NOTE} WHERE n.org_id = ? AND n.at BETWEEN ? AND ? ORDER BY n.at, n.id",
            (org_id.bytes, to_micros(period.start), to_micros(period.end)),
        )
        return {note.box_key: note for note in map(_note, rows)}

    def add_box_note(self, note: BoxNote) -> None:
        added = self._connection.execute(
            "INSERT INTO box_note (org_id, id, box_key, at, text, by_id, by_name)"
            " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (org_id, id) DO NOTHING",
            (
                note.org_id.bytes,
                note.id.bytes,
                note.box_key,
                to_micros(note.at),
                note.text,
                note.by_id.bytes,
                note.by_name,
            ),
        )
        if not added.rowcount:
            raise ClashError("text")

    def remove_box_note(self, org_id: UUID, note_id: UUID) -> BoxNote | None:
        one = (org_id.bytes, note_id.bytes)
        note = self._one(_note, f"{_NOTE} WHERE n.org_id = ? AND n.id = ?", *one)
        self._connection.execute("DELETE FROM box_note WHERE org_id = ? AND id = ?", one)
        return note

    def _refuse_taken(self, org_id: UUID, box_id: UUID, name: str) -> None:
        statement = f"{_BOX} WHERE b.org_id = ? AND b.name = ? AND b.id <> ?"
        if self._one(_box, statement, org_id.bytes, name, box_id.bytes) is not None:
            raise ClashError("name")


def _box(row: tuple[Any, ...]) -> Box:
    box_id, org_id, name, created_at, install_digest, install_expires_at, key_digest, seen = row
    return Box(
        UUID(bytes=box_id),
        UUID(bytes=org_id),
        name,
        from_micros(created_at),
        install_digest,
        from_micros_or_none(install_expires_at),
        key_digest,
        from_micros_or_none(seen),
    )


def _listed(row: tuple[Any, ...]) -> tuple[Box, datetime | None]:
    return _box(row[:-1]), from_micros_or_none(row[-1])


def _reported(row: tuple[str, int]) -> tuple[str, datetime]:
    return row[0], from_micros(row[1])


def _note(row: tuple[Any, ...]) -> BoxNote:
    org_id, box_key, at, text, by_id, by_name = row
    return BoxNote(UUID(bytes=org_id), box_key, from_micros(at), text, UUID(bytes=by_id), by_name)
