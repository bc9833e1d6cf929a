# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""The only way in which report rows change, together with what is derived from them.

This module decides the order of the steps: note the state, change rows, update what is derived
(`derive.py`). All of it is one transaction of the caller.
"""

from hwci.engine.facts import Report
from hwci.engine.rules.reports import mentions
from hwci.server.storage.sqlite import codec, names, reports
from hwci.server.storage.sqlite.codec import Stamp
from hwci.server.storage.sqlite.connections import Connection
from hwci.server.storage.sqlite.derive import Derivation
from hwci.server.storage.sqlite.reports import KeptReport


def put_report(connection: Connection, org: bytes, report: Report) -> None:
    """Keep a report in place of those that it replaces, and update what is derived."""
    gone = reports.replaced_by(connection, org, report)
    derivation = Derivation(connection, org, report.repo_key)
    for kept in gone:
        derivation.note(kept)
    product = names.product_id(connection, org, report.repo_key, report.suite)
    derivation.watch(product, report)
    for kept in gone:
        _remove_mentions(connection, org, kept)
        reports.delete(connection, org, kept)
    new = reports.insert(connection, org, product, report)
    _add_mentions(connection, org, new)
    derivation.note(new)
    derivation.settle()


def rederive(connection: Connection, org: bytes) -> None:
    """Delete everything derived of an organization and compute it from the kept reports: whole
    tables, and the derived columns of reports and items.
    """
    for table in ("mention", "place", "run_changes", "changes_commit", "failure"):
        connection.execute(f"DELETE FROM {table} WHERE org_id = ?", (org,))
    # The loop below asks for it before it reaches a report, and it may be what is damaged.
    connection.execute("UPDATE report SET fails = NULL WHERE org_id = ?", (org,))
    for number, repo_key in connection.rows(
        "SELECT id, repo_key FROM changes WHERE org_id = ?", (org,)
    ):
        changes = reports.load_changes(connection, org, number)
        names.index_changes(connection, org, repo_key, number, changes)
    derivations: dict[str, Derivation] = {}
    for kept in reports.rederived(connection, org):
        repo_key = kept.report.repo_key
        if repo_key not in derivations:
            derivations[repo_key] = Derivation(connection, org, repo_key)
        derivations[repo_key].note(kept)
        _add_mentions(connection, org, kept)
    for derivation in derivations.values():
        derivation.settle()


def _add_mentions(connection: Connection, org: bytes, kept: KeptReport) -> None:
    """Keep which commits a report mentions, and how."""
    connection.execute_many(
        "INSERT INTO mention (org_id, repo_key, sha, branch, started_at, way, position, report_id,"
        " tested) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (*_mention_key(org, kept, codec.to_stamp(mention.place)), mention.tested)
            for mention in mentions(kept.report)
        ],
    )


def _remove_mentions(connection: Connection, org: bytes, kept: KeptReport) -> None:
    """Delete the mentions of a report."""
    connection.execute_many(
        "DELETE FROM mention WHERE org_id = ? AND repo_key = ? AND sha = ? AND branch = ?"
        " AND started_at = ? AND way = ? AND position = ? AND report_id = ?",
        [
            _mention_key(org, kept, codec.to_stamp(mention.place))
            for mention in mentions(kept.report)
        ],
    )


def _mention_key(org: bytes, kept: KeptReport, stamp: Stamp) -> tuple[object, ...]:
    at, way, position, sha = stamp
    return (org, kept.report.repo_key, sha, kept.report.branch, at, way, position, kept.id)
