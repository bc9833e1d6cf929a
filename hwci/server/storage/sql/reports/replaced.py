# SPDX-License-Identifier: Apache-2.0

"""What CI sent and something later took the place of, as it came (semantics, 1.5).

This module decides how it is kept, counted and deleted. No rule and no page reads it; the rows that
they read are in other tables.
"""

from collections.abc import Mapping
from datetime import datetime

from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Report, SuiteConfig
from hwci.server.storage.records import SentKind
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.reports import digests
from hwci.server.storage.sql.rows import insert

COLUMNS = ("org_id", "kind", "repo_key", "suite", "arrived_at", "replaced_at", "body")
"""What a row's digest is made over."""

_KINDS = {
    Report: SentKind.REPORT,
    SuiteConfig: SentKind.CONFIGURATION,
    Merge: SentKind.ANNOUNCEMENT,
}
_BEFORE = "FROM replaced WHERE org_id = ? AND replaced_at < ?"


def keep(
    connection: Connection,
    org: bytes,
    sent: Report | SuiteConfig | Merge,
    arrived_at: datetime,
    at: datetime,
) -> None:
    """Keep what was sent, with the time of its arrival and when it gave way."""
    row = (
        *(org, _KINDS[type(sent)], sent.repo_key, sent.suite or ""),
        *(codec.to_micros(arrived_at), codec.to_micros(at), codec.pack_fact(sent)),
    )
    statement = insert("replaced", (*COLUMNS, "digest"))
    connection.execute(statement, (*row, digests.of_values(*row)))


def counts(connection: Connection, org: bytes, before: datetime) -> Mapping[SentKind, int]:
    """Count what gave way before a time, by kind."""
    values = (org, codec.to_micros(before))
    rows = connection.rows(f"SELECT kind, count(*) {_BEFORE} GROUP BY kind", values)
    return {SentKind(kind): count for kind, count in rows}


def drop(connection: Connection, org: bytes, before: datetime) -> None:
    """Delete what gave way before a time."""
    connection.execute(f"DELETE {_BEFORE}", (org, codec.to_micros(before)))
