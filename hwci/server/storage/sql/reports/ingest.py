# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""The only way in which report rows change, together with what is derived from them.

This module decides the order of the steps: note the state, change rows, update what is derived
(`derive.py`). All of it is one transaction of the caller.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from uuid import UUID

from hwci.engine.derived.rows import Bench
from hwci.engine.derived.settlement import Settlement
from hwci.engine.facts import Report
from hwci.engine.rules.reports import Mention, mentions
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.codec import Stamp
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.reports import names, replaced, report_rows
from hwci.server.storage.sql.reports.derive import REVIEWED_MEMBER, DerivedRows
from hwci.server.storage.sql.reports.report_rows import KeptReport

LOG = logging.getLogger("hwci.server")

# Of the episode of a failure. A flake that gets its first review has none yet.
_COUNT_REVIEWS = f"""
UPDATE episode AS e
SET reviewed = (SELECT count(*) FROM failure f INDEXED BY failure_reviewed WHERE {REVIEWED_MEMBER})
WHERE e.org_id = ?
  AND e.number = (
    SELECT o.number
    FROM failure m
    CROSS JOIN episode o INDEXED BY episode_lane
      ON o.org_id = m.org_id AND o.product_id = m.product_id AND o.box_key = m.box_key
      AND o.branch = m.branch AND o.test = m.test AND o.flake = m.passed AND o.first_rank <= m.rank
      AND o.last_rank >= m.rank
    WHERE m.org_id = e.org_id AND m.id = ?
  )
"""
_DROP_REVIEW = """
DELETE FROM review
WHERE org_id = ? AND failure_id = ? AND NOT EXISTS (
  SELECT 1 FROM failure f WHERE f.org_id = review.org_id AND f.id = review.failure_id
)
"""


def put_report(connection: Connection, org: bytes, report: Report, at: datetime) -> None:
    """Keep a report in place of those that it replaces, and update what is derived."""
    gone = report_rows.replaced_by(connection, org, report)
    if [stored.report for stored in gone] == [report]:
        return  # it was sent again
    rows = DerivedRows(connection, org, report.repo_key)
    settlement = Settlement(rows)
    product = names.product_id(connection, org, report.repo_key, report.suite)
    _let_go(rows, settlement, gone)
    named = settlement.watch(product, report)
    for stored in gone:
        replaced.keep(connection, org, stored.report, stored.arrived_at, at)
        _delete(connection, org, stored)
    new = report_rows.keep(connection, org, product, report, at)
    _add_mentions(connection, org, new, named)
    rows.note(new)
    _count(settlement, new, named)
    settlement.settle()


def remove_reports(connection: Connection, org: bytes, gone: Sequence[KeptReport]) -> None:
    """Delete reports, with the reviews of failures that no other report has, and update what is
    derived.
    """
    by_repository = defaultdict(list)
    for stored in gone:
        by_repository[stored.report.repo_key].append(stored)
    for repo_key, of_repository in by_repository.items():
        rows = DerivedRows(connection, org, repo_key)
        settlement = Settlement(rows)
        _let_go(rows, settlement, of_repository)
        for stored in of_repository:
            _delete(connection, org, stored)
        settlement.settle()
    failures = {failure for stored in gone for failure in stored.failing.values()}
    connection.execute_many(_DROP_REVIEW, [(org, failure) for failure in failures])


def _let_go(rows: DerivedRows, settlement: Settlement, gone: Iterable[KeptReport]) -> None:
    """Note what changes when reports go, before any row does."""
    for stored in gone:
        rows.note(stored, from_all=True)
        _count(settlement, stored, settlement.watch(stored.product_id, stored.report), -1)


def _delete(connection: Connection, org: bytes, stored: KeptReport) -> None:
    _remove_mentions(connection, org, stored)
    report_rows.delete(connection, org, stored)


@contextmanager
def settling_review(connection: Connection, org: bytes, failure_id: bytes) -> Iterator[None]:
    """Update what is derived after this block has written a review of a failure or deleted it."""
    failure = connection.row(
        "SELECT p.repo_key, f.product_id, f.box_key, f.sha FROM failure f"
        " JOIN product p ON p.org_id = f.org_id AND p.id = f.product_id"
        " WHERE f.org_id = ? AND f.id = ?",
        (org, failure_id),
    )
    if failure is None:  # it has no row until its report is there
        yield
        return
    repo_key, product, box_key, sha = failure
    settlement = Settlement(DerivedRows(connection, org, repo_key))
    settlement.watch_results(Bench(product, box_key), sha)
    yield
    connection.execute(
        "UPDATE failure SET reviewed = (SELECT count(*) FROM review"
        " WHERE org_id = ?1 AND failure_id = ?2) WHERE org_id = ?1 AND id = ?2",
        (org, failure_id),
    )
    connection.execute(_COUNT_REVIEWS, (org, failure_id))
    settlement.settle()


def rederive(connection: Connection, org: bytes) -> None:
    """Delete everything derived of an organization and compute it from the kept reports: whole
    tables, and the derived columns of reports and items.
    """
    of_reports = (
        "mention",
        "place",
        "run_changes",
        "changes_commit",
        "failure",
        "episode",
        "walk_commit",
        "day_run",
        "day_result",
    )
    for table in (*of_reports, "underived"):
        connection.execute(f"DELETE FROM {table} WHERE org_id = ?", (org,))
    connection.execute("UPDATE announcement SET checks = 0 WHERE org_id = ?", (org,))
    # The loop below asks for it before it reaches a report, and it may be what is damaged.
    connection.execute("UPDATE report SET fails = NULL WHERE org_id = ?", (org,))
    for number, repo_key in connection.rows(
        "SELECT id, repo_key FROM changes WHERE org_id = ?", (org,)
    ):
        changes = report_rows.load_changes(connection, org, number)
        names.index_changes(connection, org, repo_key, number, changes)
    settlements: dict[str, tuple[DerivedRows, Settlement]] = {}
    for stored in report_rows.rederived(connection, org):
        repo_key = stored.report.repo_key
        if repo_key not in settlements:
            rows = DerivedRows(connection, org, repo_key)
            settlements[repo_key] = rows, Settlement(rows)
        rows, settlement = settlements[repo_key]
        rows.note(stored, from_all=True)
        named = settlement.watch(stored.product_id, stored.report)
        _count(settlement, stored, named)
        _add_mentions(connection, org, stored, named)
    for _, settlement in settlements.values():
        settlement.settle()


def derive_waiting(connection: Connection) -> None:
    """Compute what is derived where the steps of the schema left that to be done."""
    for (org,) in connection.rows("SELECT org_id FROM underived"):
        LOG.info("Organization %s: computing what is derived from its reports", UUID(bytes=org))
        connection.execute("BEGIN IMMEDIATE")
        rederive(connection, org)
        connection.execute("COMMIT")


def _count(
    settlement: Settlement, stored: KeptReport, named: Iterable[Mention], times: int = 1
) -> None:
    """Count a report that comes, or goes, in the sums of its day."""
    settlement.count(
        stored.product_id, stored.report, stored.test_set, stored.notable, named, times
    )


def _add_mentions(
    connection: Connection, org: bytes, stored: KeptReport, named: Iterable[Mention]
) -> None:
    """Keep which commits a report mentions, and how."""
    connection.execute_many(
        "INSERT INTO mention (org_id, repo_key, sha, branch, started_at, way, position, report_id,"
        " tested) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*_mention_key(org, stored, codec.to_stamp(mention.place)), mention.tested)
            for mention in named
        ],
    )


def _remove_mentions(connection: Connection, org: bytes, stored: KeptReport) -> None:
    """Delete the mentions of a report."""
    connection.execute_many(
        "DELETE FROM mention WHERE org_id = ? AND repo_key = ? AND sha = ? AND branch = ?"
        " AND started_at = ? AND way = ? AND position = ? AND report_id = ?",
        [
            _mention_key(org, stored, codec.to_stamp(mention.place))
            for mention in mentions(stored.report)
        ],
    )


def _mention_key(org: bytes, stored: KeptReport, stamp: Stamp) -> tuple[object, ...]:
    at, way, position, sha = stamp
    return (org, stored.report.repo_key, sha, stored.report.branch, at, way, position, stored.id)
