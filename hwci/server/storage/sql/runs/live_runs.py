# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Live runs, and the state of their tests."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from uuid import UUID

from hwci.contract.runs.commits import ChangeList
from hwci.contract.runs.runs import RunTest, TestCounts
from hwci.server.storage.records import LiveRun, RunHead
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import Columns, column, columns_of, optional
from hwci.server.storage.sql.rows import Rows, insert, latest, upsert


def _changes_row(changes: ChangeList | None) -> tuple[object, ...]:
    if changes is None:
        return (None, None, None)
    packed = codec.pack_commits(codec.commits_json(changes.commits))
    return (changes.base_sha, changes.truncated, packed)


def _read_changes(columns: Iterator[Any]) -> ChangeList | None:
    base_sha, truncated, commits = islice(columns, 3)
    return None if commits is None else codec.unpack_changes(base_sha, truncated, commits)


HEAD = columns_of(RunHead)
"""What is known of a live run from its start."""
_CHANGES = Columns(("base_sha", "truncated", "commits"), _changes_row, _read_changes)
_LIVE_RUN = columns_of(
    LiveRun,
    covers_shas=column("covers", codec.pack_shas, codec.unpack_shas),
    changes=_CHANGES,
    last_seen_at=column("heard_at", codec.to_micros, codec.from_micros),
)
_OUTCOME = column("outcome", codec.OUTCOME_NUMBERS.__getitem__, codec.OUTCOMES.__getitem__)
_LIVE_TEST = columns_of(RunTest, id=column("name"), outcome=optional(_OUTCOME))

_SELECT_RUN = f"SELECT {_LIVE_RUN.of('l')} FROM live_run l"
_SELECT_TESTS = f"""
SELECT {_LIVE_TEST.of("t")} FROM live_test t WHERE t.org_id = ? AND t.run_id = ? ORDER BY t.position
"""
_SELECT_COUNTS = """
SELECT
  count(*),
  count(*) FILTER (WHERE outcome = 0),
  count(*) FILTER (WHERE outcome = 1),
  count(*) FILTER (WHERE attempts > 1)
FROM live_test
WHERE org_id = ? AND run_id = ?
"""
_PUT_TEST = f"""
{insert("live_test", ("org_id", "run_id", "position", *_LIVE_TEST.names))}
ON CONFLICT (org_id, run_id, name) DO UPDATE SET
  outcome = excluded.outcome,
  attempts = excluded.attempts
"""


class LiveRunRows(Rows):
    """Live runs."""

    def live_run(self, org_id: UUID, run_record_id: UUID) -> LiveRun | None:
        statement = f"{_SELECT_RUN} WHERE l.org_id = ? AND l.id = ?"
        return self._first(_LIVE_RUN.read, statement, org_id.bytes, run_record_id.bytes)

    def live_tests(self, org_id: UUID, run_record_id: UUID) -> TestCounts:
        counts = self._connection.row(_SELECT_COUNTS, (org_id.bytes, run_record_id.bytes))
        assert counts is not None
        total, passed, failed, retried = counts
        return TestCounts(total=total, passed=passed, failed=failed, retried=retried)

    def lost_runs(self, seen_since: datetime) -> Sequence[LiveRun]:
        statement = f"{_SELECT_RUN} WHERE l.lost = 0 AND l.heard_at <= ? ORDER BY l.heard_at, l.id"
        rows = self._connection.rows(statement, (codec.to_micros(seen_since),))
        return [_LIVE_RUN.read(row) for row in rows]

    def put_live_run(self, run: LiveRun) -> None:
        statement = upsert("live_run", _LIVE_RUN.names, "org_id, id")
        self._connection.execute(statement, _LIVE_RUN.row(run))

    def put_live_tests(self, org_id: UUID, run_record_id: UUID, tests: Sequence[RunTest]) -> None:
        run = (org_id.bytes, run_record_id.bytes)
        last = self._count(
            "SELECT coalesce(max(position), 0) FROM live_test WHERE org_id = ? AND run_id = ?", *run
        )
        self._connection.execute_many(
            _PUT_TEST,
            [
                (*run, position, *_LIVE_TEST.row(test))
                for position, test in enumerate(tests, last + 1)
            ],
        )

    def hear_run(self, org_id: UUID, run_record_id: UUID, at: datetime) -> None:
        self._connection.execute(
            f"UPDATE live_run SET heard_at = {latest('heard_at')}, lost = 0"
            " WHERE org_id = ?2 AND id = ?3",
            (codec.to_micros(at), org_id.bytes, run_record_id.bytes),
        )

    def mark_lost(self, org_id: UUID, run_record_id: UUID, seen_since: datetime) -> bool:
        marked = self._connection.execute(
            "UPDATE live_run SET lost = 1"
            " WHERE org_id = ? AND id = ? AND lost = 0 AND heard_at <= ?",
            (org_id.bytes, run_record_id.bytes, codec.to_micros(seen_since)),
        )
        return marked.rowcount == 1

    def drop_live_run(self, org_id: UUID, run_record_id: UUID) -> None:
        self._drop(org_id.bytes, run_record_id.bytes)

    def drop_lost_runs(self, before: datetime, most: int) -> int:
        since = codec.to_micros(before)
        lost = self._connection.rows(
            "SELECT l.org_id, l.id FROM live_run l WHERE l.lost = 1 AND l.heard_at <= ? LIMIT ?",
            (since, most),
        )
        # Asked again, as another transaction may have heard of one since.
        return sum(self._drop(*run, "AND lost = 1 AND heard_at <= ?", since) for run in lost)

    def _drop(self, org: bytes, run: bytes, condition: str = "", *values: object) -> int:
        """Delete a live run with its tests if the condition holds; return how many that was."""
        gone = self._connection.execute(
            f"DELETE FROM live_run WHERE org_id = ? AND id = ? {condition}", (org, run, *values)
        )
        if gone.rowcount:
            self._connection.execute(
                "DELETE FROM live_test WHERE org_id = ? AND run_id = ?", (org, run)
            )
        return gone.rowcount

    def _live_tests(self, org_id: UUID, run_record_id: UUID) -> list[RunTest]:
        rows = self._connection.rows(_SELECT_TESTS, (org_id.bytes, run_record_id.bytes))
        return [_LIVE_TEST.read(row) for row in rows]
