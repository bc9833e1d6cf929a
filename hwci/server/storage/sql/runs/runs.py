# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Run records: the list, the counts of their tests, and one record whole.

A list is made in two steps, so that only the records of one page are counted: numbers of rows in
their order, by index; then what stands in these rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from hwci.contract.runs.runs import RerunOf, Run, RunDetail, TestCounts
from hwci.contract.vocabulary import SUCCESS_WORDS, RunEnding, RunStatus
from hwci.engine.history import Listing
from hwci.server.storage import run_records
from hwci.server.storage.records import RunEnd, RunFilter, RunHead
from hwci.server.storage.run_records import run_of
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import column, columns_of
from hwci.server.storage.sql.connection import Query
from hwci.server.storage.sql.reports import report_rows
from hwci.server.storage.sql.reports.narrowed import after_all_that_begin, of_suite
from hwci.server.storage.sql.runs.live_runs import HEAD, LiveRunRows
from hwci.server.storage.sql.runs.run_tests import PLAIN, of_test, results

# A record is read from one row (`run_records.py`): the report that is not in parts, else the
# first part; if odd senders gave two runs the same first part, the one with the smaller run.
_STANDS_FOR_ITS_RECORD = """
(
  r.part IS NULL OR r.part = 1 AND NOT EXISTS (
    SELECT 1
    FROM report o
    WHERE o.org_id = r.org_id AND o.record_id = r.record_id
      AND (o.part IS NULL OR o.part = 1 AND o.run_id < r.run_id)
  )
)
"""
_REPORTED_KEYS = f"""
SELECT r.started_at, r.record_id, r.id, 1
FROM report r
WHERE r.org_id = ? AND {_STANDS_FOR_ITS_RECORD}
"""
# Four digits of a commit leave fewer runs than any other condition does.
_REPORTED_KEYS_BY_SHA = _REPORTED_KEYS.replace(
    "FROM report r", "FROM report r INDEXED BY report_commit"
)
_FAILED = """
(
  NOT lower(r.conclusion) IN (SELECT j.value FROM json_each(?) j)
  OR EXISTS (
    SELECT 1
    FROM report q
    CROSS JOIN item i ON i.org_id = q.org_id AND i.report_id = q.id
    WHERE q.org_id = r.org_id AND q.record_id = r.record_id AND i.outcome = 1
  )
)
"""
_LIVE_KEYS = "SELECT l.started_at, l.id, l.rowid, 0 FROM live_run l WHERE l.org_id = ?"
_LOST = "(l.lost = 1 OR l.heard_at <= ?)"

_OF_RECORD = "report r WHERE r.org_id = h.org_id AND r.record_id = h.record_id"
_ITEMS_OF_RECORD = """
report r
CROSS JOIN item i ON i.org_id = r.org_id AND i.report_id = r.id
WHERE r.org_id = h.org_id AND r.record_id = h.record_id
"""
_HEAD = columns_of(RunHead, elsewhere=("suite",), run_id=column("ci_run_id"))
"""What the report of a run has of its head: the suite is that of its product."""
_END = columns_of(RunEnd)
_REPORTED = f"""
SELECT
  h.record_id, p.suite, {_HEAD.of("h")}, {_END.of("h")},
  (SELECT sum(r.tests) FROM {_OF_RECORD}),
  (SELECT count(*) FROM {_ITEMS_OF_RECORD} AND i.outcome = 1),
  (SELECT count(*) FROM {_ITEMS_OF_RECORD} AND i.attempts > 1)
FROM json_each(?) j
CROSS JOIN report h ON h.org_id = ? AND h.id = j.value
CROSS JOIN product p ON p.org_id = h.org_id AND p.id = h.product_id
"""
_RERUN_OF = """
SELECT r.record_id
FROM (
  SELECT id
  FROM report
  WHERE org_id = ?1 AND repo_key = ?2 AND run_id = ?3
  UNION ALL
  SELECT id
  FROM report
  WHERE org_id = ?1 AND coalesce(ci_run, ci_run_id) = ?3
) o
CROSS JOIN report r ON r.org_id = ?1 AND r.id = o.id
CROSS JOIN product p ON p.org_id = r.org_id AND p.id = r.product_id
WHERE r.repo_key = ?2 AND p.suite = ?4 AND (r.part IS NULL OR r.part = 1)
ORDER BY r.box_key = ?5 DESC, r.run_attempt DESC, r.box_key LIMIT 1
"""
_TESTS = "live_test t WHERE t.org_id = l.org_id AND t.run_id = l.id"
_LIVE = f"""
SELECT
  l.id, {_LOST}, {HEAD.of("l")},
  (SELECT count(*) FROM {_TESTS}),
  (SELECT count(*) FROM {_TESTS} AND t.outcome = 0),
  (SELECT count(*) FROM {_TESTS} AND t.outcome = 1),
  (SELECT count(*) FROM {_TESTS} AND t.attempts > 1)
FROM json_each(?) j
CROSS JOIN live_run l ON l.org_id = ? AND l.rowid = j.value
"""


class RunRows(LiveRunRows):
    """Run records, reported and live."""

    def runs(
        self, org_id: UUID, wanted: RunFilter, seen_since: datetime, offset: int, limit: int
    ) -> Listing[Run]:
        queries = self._keys(org_id.bytes, wanted, codec.to_micros(seen_since))
        if not queries:
            return Listing([], 0)
        statement = " UNION ALL ".join(query.statement for query in queries)
        values = tuple(value for query in queries for value in query.values)
        keys = self._slice(_key, f"{statement} ORDER BY 1 DESC, 2", values, offset, limit)
        by_id = self._records(org_id, keys.items, seen_since)
        records = [by_id[key.record_id] for key in keys.items]
        if wanted.test_id is not None:
            numbers = [key.number for key in keys.items]
            by_record = results(self._connection, org_id.bytes, numbers, wanted.test_id)
            records = [
                replace(record, result=by_record.get(record.id, PLAIN)) for record in records
            ]
        return Listing(records, keys.total)

    def run_record(self, org_id: UUID, run_record_id: UUID, seen_since: datetime) -> Run | None:
        record = (org_id.bytes, run_record_id.bytes)
        rows = self._connection.rows(
            f"{_REPORTED_KEYS} AND r.record_id = ? UNION ALL {_LIVE_KEYS} AND l.id = ?",
            record + record,
        )
        by_id = self._records(org_id, [_key(row) for row in rows[:1]], seen_since)
        return by_id.get(run_record_id)

    def run(self, org_id: UUID, run_record_id: UUID, seen_since: datetime) -> RunDetail | None:
        parts = report_rows.load_record(self._connection, org_id.bytes, run_record_id.bytes)
        run = run_records.reported_in_full(run_record_id, parts)
        if run is not None:
            return replace(run, rerun_of=self._rerun_of(org_id, run))
        live = self.live_run(org_id, run_record_id)
        if live is None:
            return None
        return run_records.live(live, self._live_tests(org_id, run_record_id), seen_since)

    def _rerun_of(self, org_id: UUID, run: RunDetail) -> RerunOf | None:
        """Return the run that a run repeats with its record: its last attempt, on the same box if
        there is one.
        """
        if run.rerun_of is None:
            return None
        values = (org_id.bytes, run.repo_key, run.rerun_of.run_id, run.suite, run.box_key)
        return replace(run.rerun_of, run_record_id=self._first(_record_id, _RERUN_OF, *values))

    def _keys(self, org: bytes, wanted: RunFilter, seen_since: int) -> Sequence[Query]:
        """Return the queries for the keys of all records that match."""
        queries = []
        if wanted.status in {None, RunStatus.REPORTED}:
            keys = _REPORTED_KEYS if wanted.sha_start is None else _REPORTED_KEYS_BY_SHA
            query = _where("r", keys, org, _tests(wanted) | {"hello_ok =": wanted.hello_ok})
            query = _of_ending(of_suite(query, org, wanted.suite), wanted.ending)
            query = _of_ci_run(query, "coalesce(r.ci_run, r.ci_run_id)", wanted.ci_run)
            narrowed = of_test(self._connection, org, query, wanted)
            if narrowed is not None:
                queries.append(narrowed)
        # A live run has not reported yet whether it reached its hardware, nor how its tests end.
        of_reports = (wanted.hello_ok, wanted.ending, wanted.test_id) != (None, None, None)
        if wanted.status is not RunStatus.REPORTED and not of_reports:
            query = _where("l", _LIVE_KEYS, org, _tests(wanted) | {"suite =": wanted.suite})
            query = _of_ci_run(query, "coalesce(l.ci_run, l.run_id)", wanted.ci_run)
            queries.append(_of_status(query, wanted.status, seen_since))
        return queries

    def _records(
        self, org_id: UUID, keys: Sequence["_Key"], seen_since: datetime
    ) -> dict[UUID, Run]:
        """Return the records of a few rows, by id."""
        reported = codec.numbers(key.number for key in keys if key.reported)
        live = codec.numbers(key.number for key in keys if not key.reported)
        since = codec.to_micros(seen_since)
        rows = self._connection.rows(_REPORTED, (reported, org_id.bytes))
        records = [_reported(row) for row in rows]
        records += map(_live, self._connection.rows(_LIVE, (since, live, org_id.bytes)))
        return {record.id: record for record in records}


class _Key(NamedTuple):
    """A record of a list: its id, and the number of the row that it is read from."""

    record_id: UUID
    number: int
    reported: bool


def _tests(wanted: RunFilter) -> dict[str, object]:
    """Return the conditions on the columns of both tables; None: nothing can match."""
    sha, start, end = wanted.sha_start, wanted.start, wanted.end
    return {
        "repo_key =": wanted.repo_key,
        "branch =": wanted.branch,
        "box_key =": wanted.box_key,
        "sha >=": sha,
        "sha <": None if sha is None else after_all_that_begin(sha),
        "started_at >=": None if start is None else codec.to_micros(start),
        "started_at <=": None if end is None else codec.to_micros(end),
    }


def _where(name: str, keys: str, org: bytes, tests: dict[str, object]) -> Query:
    bound = {test: value for test, value in tests.items() if value is not None}
    conditions = "".join(f" AND {name}.{test} ?" for test in bound)
    return Query(keys + conditions, (org, *bound.values()))


def _of_ci_run(query: Query, shown: str, ci_run: int | None) -> Query:
    if ci_run is None:
        return query
    return Query(f"{query.statement} AND {shown} = ?", (*query.values, ci_run))


def _of_ending(query: Query, ending: RunEnding | None) -> Query:
    """Narrow to reports that ended so, as `Run.ending` says it."""
    if ending is None:
        return query
    reached = ending is not RunEnding.NEVER_REACHED
    query = Query(f"{query.statement} AND r.hello_ok = ?", (*query.values, int(reached)))
    if not reached:
        return query
    condition = _FAILED if ending is RunEnding.FAILED else f"NOT {_FAILED}"
    words = codec.texts(SUCCESS_WORDS)
    return Query(f"{query.statement} AND {condition}", (*query.values, words))


def _of_status(query: Query, status: RunStatus | None, seen_since: int) -> Query:
    if status is None:
        return query
    condition = _LOST if status is RunStatus.LOST else f"NOT {_LOST}"
    return Query(f"{query.statement} AND {condition}", (*query.values, seen_since))


def _record_id(row: tuple[bytes]) -> UUID:
    (record_id,) = row
    return UUID(bytes=record_id)


def _key(row: tuple[Any, ...]) -> _Key:
    _, record_id, number, reported = row
    return _Key(UUID(bytes=record_id), number, bool(reported))


def _reported(row: tuple[Any, ...]) -> Run:
    columns = iter(row)
    record_id, suite = islice(columns, 2)
    head, end = _HEAD.read(columns, suite=suite), _END.read(columns)
    total, failed, retried = columns
    counts = TestCounts(total=total, passed=total - failed, failed=failed, retried=retried)
    return run_of(UUID(bytes=record_id), head, RunStatus.REPORTED, counts, end)


def _live(row: tuple[Any, ...]) -> Run:
    columns = iter(row)
    record_id, lost = islice(columns, 2)
    status = RunStatus.LOST if lost else RunStatus.RUNNING
    head = HEAD.read(columns)
    total, passed, failed, retried = columns
    counts = TestCounts(total=total, passed=passed, failed=failed, retried=retried)
    return run_of(UUID(bytes=record_id), head, status, counts)
