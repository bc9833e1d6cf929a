# SPDX-License-Identifier: Apache-2.0

"""The rows of failures: one per test, box, branch and commit with a failing item that counts.

This module decides how a row is counted from its items (semantics, 4.1) and how next passes are
written. Which rows need it is decided in `derive.py`. A row holds its place and the place of its
next pass; all comparisons here are comparisons of places.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from hwci.server.storage.sqlite import codec
from hwci.server.storage.sqlite.codec import NEVER, Stamp
from hwci.server.storage.sqlite.connections import Connection
from hwci.server.storage.sqlite.passes import Bench, Track, Waiting


class Natural(NamedTuple):
    """What a failure is, by numbers: its test, box, branch and commit."""

    bench: Bench
    test: int
    branch: str
    sha: str


# The order of semantics 4.1: the first row is the first failing run.
_ITEMS = (
    "SELECT r.started_at, r.run_id, r.run_attempt, r.workflow, i.verdict, r.ci_run_id"
    " FROM item i INDEXED BY item_failure"
    " CROSS JOIN report r ON r.org_id = i.org_id AND r.id = i.report_id"
    " WHERE i.org_id = ? AND i.failure_id = ?"
    " ORDER BY r.started_at, r.run_id, r.run_attempt"
)

_WAITING = (
    "SELECT branch, place_at, place_way, place_position, sha, test, id FROM failure INDEXED BY"
)

# `+org_id`: the row is found by its number, not by an index of the whole organization.
_FIX_EARLIER = (
    "UPDATE failure SET next_at = ?, next_way = ?, next_position = ?, next_pass = ?"
    " WHERE +org_id = ? AND rowid IN ("
    " SELECT f.rowid FROM json_each(?) j CROSS JOIN failure f INDEXED BY failure_fix"
    " ON f.org_id = ? AND f.product_id = ? AND f.box_key = ? AND f.branch = ? AND f.test = j.value"
    " AND (f.next_at, f.next_way, f.next_position, f.next_pass) > (?, ?, ?, ?)"
    " WHERE (f.place_at, f.place_way, f.place_position, f.sha) < (?, ?, ?, ?))"
)


class FailureTable:
    """Failures of one organization."""

    def __init__(self, connection: Connection, org: bytes) -> None:
        self._connection = connection
        self._org = org

    def recount(self, failure_id: bytes, natural: Natural, place: Stamp) -> bool:
        """Count a failure from its items. Return whether it is new and has no next pass yet."""
        items = self._connection.rows(_ITEMS, (self._org, failure_id))
        if not items:
            self.drop(failure_id)
            return False
        counted = (len(items), *items[0], items[-1][0])
        changed = self._connection.execute(
            "UPDATE failure SET items = ?, first_started_at = ?, first_run_id = ?,"
            " first_run_attempt = ?, first_workflow = ?, first_verdict = ?, first_ci_run_id = ?,"
            " last_started_at = ? WHERE org_id = ? AND id = ?",
            (*counted, self._org, failure_id),
        )
        if changed.rowcount:
            return False
        bench, test, branch, sha = natural
        identity = (self._org, failure_id, *bench, branch, sha)
        self._connection.execute(
            "INSERT INTO failure (org_id, id, product_id, box_key, branch, sha, test,"
            " items, first_started_at, first_run_id, first_run_attempt, first_workflow,"
            " first_verdict, first_ci_run_id, last_started_at, place_at, place_way,"
            " place_position, passed, next_at, next_way, next_position, next_pass)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)",
            (*identity, test, *counted, *place[:3], *NEVER),
        )
        return True

    def drop(self, failure_id: bytes) -> None:
        """Delete a failure without items."""
        self._connection.execute(
            "DELETE FROM failure WHERE org_id = ? AND id = ?", (self._org, failure_id)
        )

    def set_passed(self, bench: Bench, sha: str, passed: int) -> None:
        """Write which failures at a commit have a pass there, on any branch."""
        rows = self._connection.rows(
            "SELECT rowid, test, passed FROM failure INDEXED BY failure_at"
            " WHERE org_id = ? AND product_id = ? AND box_key = ? AND sha = ?",
            (self._org, *bench, sha),
        )
        self._connection.execute_many(
            "UPDATE failure SET passed = ? WHERE +org_id = ? AND rowid = ?",
            [
                (now, self._org, row)
                for row, test, was in rows
                if (now := passed >> test & 1) != was
            ],
        )

    def restamp(self, bench: Bench, branch: str, place: Stamp) -> None:
        """Write the new place of a commit into the failures at it and into those it fixed."""
        key = (self._org, *bench, place[3], branch)
        self._connection.execute(
            "UPDATE failure INDEXED BY failure_at"
            " SET place_at = ?, place_way = ?, place_position = ?"
            " WHERE org_id = ? AND product_id = ? AND box_key = ? AND sha = ? AND branch = ?",
            (*place[:3], *key),
        )
        self._connection.execute(
            "UPDATE failure INDEXED BY failure_next"
            " SET next_at = ?, next_way = ?, next_position = ?"
            " WHERE org_id = ? AND product_id = ? AND box_key = ? AND next_pass = ?"
            " AND next_pass <> '' AND branch = ?",
            (*place[:3], *key),
        )

    def at(self, bench: Bench, sha: str, branch: str) -> list[tuple[Bench, str, Waiting]]:
        """Return the failures at a commit of a branch."""
        rows = self._connection.rows(
            f"{_WAITING} failure_at"
            " WHERE org_id = ? AND product_id = ? AND box_key = ? AND sha = ? AND branch = ?",
            (self._org, *bench, sha, branch),
        )
        return [(bench, row[0], _waiting(row)) for row in rows]

    def fixed_by(
        self, bench: Bench, sha: str, *, branch: str | None = None, tests: int | None = None
    ) -> list[tuple[Bench, str, Waiting]]:
        """Return the failures whose next pass is a commit: on one branch or all, of these tests."""
        rows = self._connection.rows(
            f"{_WAITING} failure_next"
            " WHERE org_id = ? AND product_id = ? AND box_key = ? AND next_pass = ?"
            " AND next_pass <> '' AND branch = coalesce(?, branch)",
            (self._org, *bench, sha, branch),
        )
        return [
            (bench, row[0], _waiting(row)) for row in rows if tests is None or tests >> row[5] & 1
        ]

    def set_next(self, found: Mapping[bytes, Stamp]) -> None:
        """Write the next pass of failures."""
        self._connection.execute_many(
            "UPDATE failure SET next_at = ?, next_way = ?, next_position = ?, next_pass = ?"
            " WHERE org_id = ? AND id = ?",
            [(*place, self._org, failure_id) for failure_id, place in found.items()],
        )

    def fix_earlier(self, track: Track, place: Stamp, passed: int) -> None:
        """Make a commit the next pass of the failures before it that have none, or a later one.

        One query a test, so that failures of tests that never ran again cost nothing.
        """
        key = (self._org, *track.bench, track.branch)
        any_failure = self._connection.row(
            "SELECT 1 FROM failure INDEXED BY failure_fix"
            " WHERE org_id = ? AND product_id = ? AND box_key = ? AND branch = ?",
            key,
        )
        if any_failure is not None:
            tests = codec.json_list(codec.members(passed))
            values = (*place, self._org, tests, *key, *place, *place)
            self._connection.execute(_FIX_EARLIER, values)


def _waiting(row: tuple[Any, ...]) -> Waiting:
    """Turn a row of `_WAITING` into a failure to search for."""
    _, at, way, position, sha, test, failure_id = row
    return Waiting((at, way, position, sha), test, failure_id)
