# SPDX-License-Identifier: Apache-2.0
"""What an organization keeps no longer: whole reports with merges, or messages or log addresses
alone. It goes when both its run began and it arrived before a time: a bench whose clock is wrong
loses nothing that it has just sent.

This module decides which reports come next and what of them goes. It does not know the days.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from hwci.engine.facts import TestItem
from hwci.server.storage.records import Kept
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.reports import ingest, report_rows

_NEXT = {
    Kept.REPORTS: """
    SELECT r.id FROM report r INDEXED BY report_started
    WHERE r.org_id = ?1 AND r.started_at < ?2 AND r.arrived_at < ?2
    ORDER BY r.started_at LIMIT ?3
    """,
    Kept.MESSAGES: """
    SELECT DISTINCT r.id FROM item i INDEXED BY item_message
    CROSS JOIN report r ON r.org_id = i.org_id AND r.id = i.report_id AND r.arrived_at < ?2
    WHERE i.org_id = ?1 AND i.started_at < ?2 AND i.message IS NOT NULL
    LIMIT ?3
    """,
    Kept.LOGS: """
    SELECT r.id FROM report r INDEXED BY report_logs
    WHERE r.org_id = ?1 AND r.started_at < ?2 AND r.arrived_at < ?2 AND r.log_urls IS NOT NULL
    LIMIT ?3
    """,
}
"""The reports that have something to delete."""
_LESS: Mapping[Kept, Callable[[TestItem], TestItem]] = {
    Kept.MESSAGES: lambda test: replace(test, message=None),
    Kept.LOGS: lambda test: replace(test, log_url=None),
}
"""What is left of an item of a report that stays."""
# Those that gave way are whole reports in one value each: they go as soon as anything of them does.
_DROP_REPLACED = """
DELETE FROM replaced
WHERE org_id = ?1 AND number IN (
  SELECT p.number FROM replaced p INDEXED BY replaced_arrival
  WHERE p.org_id = ?1 AND p.arrived_at < ?2 AND p.kind <> 'configuration'
  LIMIT ?3
)
"""
_DROP_MERGES = """
DELETE FROM announcement
WHERE org_id = ?1 AND number IN (
  SELECT a.number FROM announcement a INDEXED BY announcement_time
  WHERE a.org_id = ?1 AND a.merged_at < ?2 AND a.arrived_at < ?2
  LIMIT ?3
)
"""
_KEPT_SINCE = """
UPDATE organization SET kept_since = greatest(coalesce(kept_since, ?2), ?2) WHERE id = ?1
"""


def drop(connection: Connection, org: bytes, kind: Kept, before: int, most: int) -> int:
    """Delete up to `most` of each thing that an organization had before a time, and return how many
    there were.
    """
    values = (org, before, most)
    reports = [
        report_rows.load(connection, org, number)
        for (number,) in connection.rows(_NEXT[kind], values)
    ]
    gone = len(reports)
    if kind is Kept.REPORTS:
        ingest.remove_reports(connection, org, reports)
        gone += connection.execute(_DROP_MERGES, values).rowcount
        if gone:
            connection.execute(_KEPT_SINCE, (org, before))
    else:
        for stored in reports:
            report_rows.keep_less(connection, org, stored, [*map(_LESS[kind], stored.report.tests)])
    return gone + connection.execute(_DROP_REPLACED, values).rowcount
