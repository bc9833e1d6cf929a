# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Live runs, and the state of their tests."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from hwci.contract.vocabulary import Trigger
from hwci.engine.facts import Changes
from hwci.server.storage.records import LiveRun, LiveTest, RunHead, TestCounts
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.rows import Rows, latest, upsert

_LIVE_RUN = (
    "SELECT l.repo_key, l.suite, l.workflow, l.run_id, l.run_attempt, l.box_key, l.trigger,"
    " l.branch, l.sha, l.started_at, l.ci_run, l.ci_url, l.org_id, l.id, l.box_id, l.covers,"
    " l.base_sha, l.truncated, l.commits, l.heard_at, l.lost FROM live_run l"
)
_WRITTEN = (
    *("org_id", "id", "box_id", "repo_key", "suite", "workflow", "run_id", "run_attempt"),
    *("box_key", "trigger", "branch", "sha", "started_at", "covers", "base_sha", "truncated"),
    *("commits", "heard_at", "lost", "ci_run", "ci_url"),
)
_COUNTS = (
    "SELECT count(*), count(*) FILTER (WHERE outcome = 0), count(*) FILTER (WHERE outcome = 1),"
    " count(*) FILTER (WHERE attempts > 1) FROM live_test WHERE org_id = ? AND run_id = ?"
)
HEAD_COLUMNS = 12
"""How many columns `head_of` reads."""


class LiveRunRows(Rows):
    """Live runs."""

    def live_run(self, org_id: UUID, run_record_id: UUID) -> LiveRun | None:
        return self._one(
            _live_run,
            f"{_LIVE_RUN} WHERE l.org_id = ? AND l.id = ?",
            org_id.bytes,
            run_record_id.bytes,
        )

    def live_tests(self, org_id: UUID, run_record_id: UUID) -> TestCounts:
        found = self._connection.row(_COUNTS, (org_id.bytes, run_record_id.bytes))
        assert found is not None
        return TestCounts(*found)

    def lost_runs(self, seen_since: datetime) -> Sequence[LiveRun]:
        statement = f"{_LIVE_RUN} WHERE l.lost = 0 AND l.heard_at <= ? ORDER BY l.heard_at, l.id"
        rows = self._connection.rows(statement, (codec.to_micros(seen_since),))
        return [_live_run(row) for row in rows]

    def put_live_run(self, run: LiveRun) -> None:
        head, changes = run.head, run.changes
        self._connection.execute(
            upsert("live_run", _WRITTEN, "org_id, id"),
            (
                run.org_id.bytes,
                run.id.bytes,
                run.box_id.bytes,
                head.repo_key,
                head.suite,
                head.workflow,
                head.run_id,
                head.run_attempt,
                head.box_key,
                head.trigger,
                head.branch,
                head.sha,
                codec.to_micros(head.started_at),
                codec.pack_shas(run.covers_shas),
                *_changes_columns(changes),
                codec.to_micros(run.last_seen_at),
                run.lost,
                head.ci_run,
                head.ci_url,
            ),
        )

    def put_live_tests(self, org_id: UUID, run_record_id: UUID, tests: Sequence[LiveTest]) -> None:
        run = (org_id.bytes, run_record_id.bytes)
        found = self._connection.row(
            "SELECT coalesce(max(position), 0) FROM live_test WHERE org_id = ? AND run_id = ?", run
        )
        assert found is not None
        self._connection.execute_many(
            "INSERT INTO live_test (org_id, run_id, position, name, outcome, attempts)"
            " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (org_id, run_id, name)"
            " DO UPDATE SET outcome = excluded.outcome, attempts = excluded.attempts",
            [
                (*run, position, test.id, _outcome_number(test), test.attempts)
                for position, test in enumerate(tests, found[0] + 1)
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

    def _live_tests(self, org_id: UUID, run_record_id: UUID) -> list[LiveTest]:
        rows = self._connection.rows(
            "SELECT name, outcome, attempts FROM live_test WHERE org_id = ? AND run_id = ?"
            " ORDER BY position",
            (org_id.bytes, run_record_id.bytes),
        )
        return [_live_test(row) for row in rows]


def head_of(row: tuple[Any, ...]) -> RunHead:
    """Return the head of a run from the first columns of a row."""
    return RunHead(
        repo_key=row[0],
        suite=row[1],
        workflow=row[2],
        run_id=row[3],
        run_attempt=row[4],
        box_key=row[5],
        trigger=Trigger(row[6]),
        branch=row[7],
        sha=row[8],
        started_at=codec.from_micros(row[9]),
        ci_run=row[10],
        ci_url=row[11],
    )


def _live_run(row: tuple[Any, ...]) -> LiveRun:
    org_id, run, box_id, covers, base_sha, truncated, commits, seen_at, lost = row[HEAD_COLUMNS:]
    return LiveRun(
        id=UUID(bytes=run),
        org_id=UUID(bytes=org_id),
        box_id=UUID(bytes=box_id),
        head=head_of(row),
        covers_shas=codec.unpack_shas(covers),
        changes=None if commits is None else codec.unpack_changes(base_sha, truncated, commits),
        last_seen_at=codec.from_micros(seen_at),
        lost=bool(lost),
    )


def _changes_columns(changes: Changes | None) -> tuple[str | None, bool | None, bytes | None]:
    if changes is None:
        return (None, None, None)
    packed = codec.pack_commits(codec.commits_json(changes.commits))
    return (changes.base_sha, changes.truncated, packed)


def _outcome_number(test: LiveTest) -> int | None:
    return None if test.outcome is None else codec.OUTCOME_NUMBERS[test.outcome]


def _live_test(row: tuple[Any, ...]) -> LiveTest:
    name, outcome, attempts = row
    return LiveTest(name, None if outcome is None else codec.OUTCOMES[outcome], attempts)
