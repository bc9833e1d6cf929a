# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Boxes, and notes of what was done to them. Keys and install tokens arrive here as digests and are
never anything else.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from hwci.contract.boxes.boxes import BoxNote
from hwci.contract.people import Actor
from hwci.engine.history import ANYWHERE, EVERYTHING, Listing, Scope, Where
from hwci.engine.periods import Period
from hwci.server.errors import ClashError
from hwci.server.storage.records import Box, Organization
from hwci.server.storage.sql.accounts.users import ORGANIZATION
from hwci.server.storage.sql.codec import from_micros, from_micros_or_none, to_micros
from hwci.server.storage.sql.columns import columns_of
from hwci.server.storage.sql.connection import Query
from hwci.server.storage.sql.reports.narrowed import of_reports
from hwci.server.storage.sql.rows import Rows, insert, latest

# One step in the index for each box, where DISTINCT would read every report.
REPORTED_NAMES = """
WITH RECURSIVE name (key) AS (
  SELECT min(box_key)
  FROM report
  WHERE org_id = ?
  UNION ALL
  SELECT (SELECT min(r.box_key) FROM report r WHERE r.org_id = ? AND r.box_key > name.key)
  FROM name
  WHERE name.key IS NOT NULL
)
SELECT key
FROM name
WHERE key IS NOT NULL
"""
_BOX = columns_of(Box)
_NOTE = columns_of(BoxNote, by=columns_of(Actor).called("by_id", "by_name"))

_SELECT_BOX = f"SELECT {_BOX.of('b')} FROM box b"
_BOX_WITH_ORGANIZATION = f"""
SELECT {_BOX.of("b")}, {ORGANIZATION.of("o")}
FROM box b
CROSS JOIN organization o ON o.id = b.org_id
WHERE b.key_digest = ?
"""
_SELECT_LISTED = f"""
SELECT {_BOX.of("b")}, (
  SELECT max(r.started_at) FROM report r WHERE r.org_id = b.org_id AND r.box_key = b.name
)
FROM box b
"""
_SELECT_UNCREATED = f"""
SELECT n.key, (
  SELECT max(r.started_at) FROM report r WHERE r.org_id = ? AND r.box_key = n.key
) AS latest
FROM ({REPORTED_NAMES}) n
WHERE n.key NOT IN (SELECT name FROM box WHERE org_id = ?)
"""
_SELECT_SEEN = "SELECT name, last_seen_at FROM box WHERE org_id = ? AND last_seen_at IS NOT NULL"
_SELECT_NOTE = f"SELECT {_NOTE.of('n')} FROM box_note n"


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
            f"{_SELECT_LISTED} WHERE b.org_id = ?{named.statement}"
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
        statement = f"{_SELECT_UNCREATED}{named.statement} ORDER BY latest DESC, n.key"
        values = (*(org_id.bytes,) * 4, *named.values)
        return self._slice(_reported, statement, values, offset, limit)

    def boxes_seen(self, org_id: UUID) -> Mapping[str, datetime]:
        rows = self._connection.rows(_SELECT_SEEN, (org_id.bytes,))
        return {name: from_micros(at) for name, at in rows}

    def box(self, org_id: UUID, box_id: UUID) -> Box | None:
        return self._first(
            _BOX.read, f"{_SELECT_BOX} WHERE b.org_id = ? AND b.id = ?", org_id.bytes, box_id.bytes
        )

    def box_by_key(self, digest: bytes) -> tuple[Box, Organization] | None:
        return self._first(_with_organization, _BOX_WITH_ORGANIZATION, digest)

    def box_by_install(self, digest: bytes) -> Box | None:
        return self._first(_BOX.read, f"{_SELECT_BOX} WHERE b.install_digest = ?", digest)

    def add_box(self, box: Box) -> None:
        self._refuse_taken(box.org_id, box.id, box.name)
        self._connection.execute(insert("box", _BOX.names), _BOX.row(box))

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
        statement = f"{_SELECT_NOTE} WHERE n.org_id = ?{of_box} ORDER BY n.at DESC, n.id"
        return self._slice(_NOTE.read, statement, values, offset, limit)

    def box_notes_of(self, org_id: UUID, period: Period) -> Sequence[BoxNote]:
        rows = self._connection.rows(
            f"{_SELECT_NOTE} WHERE n.org_id = ? AND n.at BETWEEN ? AND ? ORDER BY n.at, n.id",
            (org_id.bytes, to_micros(period.start), to_micros(period.end)),
        )
        return [*map(_NOTE.read, rows)]

    def add_box_note(self, org_id: UUID, note: BoxNote) -> None:
        added = self._connection.execute(
            f"{insert('box_note', ('org_id', *_NOTE.names))} ON CONFLICT (org_id, id) DO NOTHING",
            (org_id.bytes, *_NOTE.row(note)),
        )
        if not added.rowcount:
            raise ClashError("text")

    def rename_noter(self, org_id: UUID, by: Actor) -> int:
        return self._connection.execute(
            "UPDATE box_note SET by_name = ? WHERE org_id = ? AND by_id = ?",
            (by.name, org_id.bytes, by.id.bytes),
        ).rowcount

    def remove_box_note(self, org_id: UUID, note_id: UUID) -> BoxNote | None:
        key = (org_id.bytes, note_id.bytes)
        note = self._first(_NOTE.read, f"{_SELECT_NOTE} WHERE n.org_id = ? AND n.id = ?", *key)
        self._connection.execute("DELETE FROM box_note WHERE org_id = ? AND id = ?", key)
        return note

    def _refuse_taken(self, org_id: UUID, box_id: UUID, name: str) -> None:
        statement = f"{_SELECT_BOX} WHERE b.org_id = ? AND b.name = ? AND b.id <> ?"
        if self._first(_BOX.read, statement, org_id.bytes, name, box_id.bytes) is not None:
            raise ClashError("name")


def _with_organization(row: tuple[Any, ...]) -> tuple[Box, Organization]:
    columns = iter(row)
    return _BOX.read(columns), ORGANIZATION.read(columns)


def _listed(row: tuple[Any, ...]) -> tuple[Box, datetime | None]:
    *box, last_started_at = row
    return _BOX.read(box), from_micros_or_none(last_started_at)


def _reported(row: tuple[str, int]) -> tuple[str, datetime]:
    name, last_started_at = row
    return name, from_micros(last_started_at)
