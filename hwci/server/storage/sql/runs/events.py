# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Events of runs. The newest of an organization is never dropped, so numbers go on."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from hwci.server.storage.records import Event, Happening
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import column, columns_of
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.rows import Rows

_EVENT = columns_of(
    Event, happening=columns_of(Happening, body=column("body", codec.compact_json, json.loads))
)
_SELECT_EVENT = f"SELECT {_EVENT.of('e')} FROM event e WHERE e.org_id = ? AND e.number > ?"
# Of each organization this reads its oldest event and the number of its newest, which stays.
_OLD = """
SELECT o.id
FROM organization o
WHERE (SELECT e.at FROM event e WHERE e.org_id = o.id ORDER BY e.number LIMIT 1) < ?1
  AND (SELECT min(number) FROM event WHERE org_id = o.id)
    < (SELECT max(number) FROM event WHERE org_id = o.id)
LIMIT ?2
"""
# Up to the first that is not old, so that the rest has no gap.
_DROP = """
DELETE FROM event
WHERE org_id = ?1 AND number < least(
  coalesce(
    (SELECT number FROM event WHERE org_id = ?1 AND at >= ?2 ORDER BY number LIMIT 1),
    (SELECT max(number) FROM event WHERE org_id = ?1)
  ),
  (SELECT min(number) FROM event WHERE org_id = ?1) + ?3
)
"""
_EXTENT = """
SELECT
  (SELECT min(number) FROM event WHERE org_id = ?1),
  (SELECT max(number) FROM event WHERE org_id = ?1)
"""


class EventRows(Rows):
    """Events of runs. `appended_to`: the organizations that this transaction gave an event."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self.appended_to: set[UUID] = set()

    def events(
        self, org_id: UUID, after: int, limit: int, run_record_id: UUID | None = None
    ) -> Sequence[Event]:
        of_run = "" if run_record_id is None else " AND e.run_id = ?"
        run = () if run_record_id is None else (run_record_id.bytes,)
        rows = self._connection.rows(
            f"{_SELECT_EVENT}{of_run} ORDER BY e.number LIMIT ?", (org_id.bytes, after, *run, limit)
        )
        return [_EVENT.read(row) for row in rows]

    def event_extent(self, org_id: UUID) -> tuple[int, int]:
        ((first, last),) = self._connection.rows(_EXTENT, (org_id.bytes,))
        return (1, 0) if last is None else (first, last)

    def add_event(self, org_id: UUID, happening: Happening) -> None:
        self._connection.execute(
            "INSERT INTO event (org_id, number, at, type, run_id, body)"
            " VALUES (?1, (SELECT coalesce(max(number), 0) + 1 FROM event WHERE org_id = ?1),"
            " ?2, ?3, ?4, ?5)",
            (
                org_id.bytes,
                codec.to_micros(happening.at),
                happening.type,
                happening.run_id.bytes,
                codec.compact_json(happening.body),
            ),
        )
        self.appended_to.add(org_id)

    def drop_events(self, before: datetime, most: int) -> int:
        at, dropped = codec.to_micros(before), 0
        for (org,) in self._connection.rows(_OLD, (at, most)):
            dropped += self._connection.execute(_DROP, (org, at, most - dropped)).rowcount
        return dropped
