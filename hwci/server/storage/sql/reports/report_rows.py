# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""Run reports as rows, whole: what was put comes back, field by field.

This module decides how a report is split into rows and rebuilt, and raises an error if it differs
from the report that was sent. A test that passed at its first attempt leaves no row of its own: the
report's test list holds it. It derives nothing (`derive.py`).
"""

import struct
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import Outcome
from hwci.engine.facts import FailureKey, Lane, Part, Report, TestItem, failure_id
from hwci.engine.rules.flakiness import has_failed_attempt
from hwci.engine.rules.reports import carried_changes, replaced_parts
from hwci.engine.test_sets import mask_of
from hwci.server.errors import DamagedError
from hwci.server.storage.run_records import record_id_of
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import column, columns_of, optional
from hwci.server.storage.sql.connection import Connection
from hwci.server.storage.sql.reports import digests, names
from hwci.server.storage.sql.rows import insert

REPORT = columns_of(
    Report,
    elsewhere=("suite", "tests", "changes"),
    covers_shas=column("covers", codec.pack_shas, codec.unpack_shas),
    part_of=optional(columns_of(Part, run_id=column("part_run_id"))),
)
"""What a row of `report` has of a report."""


class _Row(NamedTuple):
    """A row of `report`, with the product that it is of. `sent`: what `REPORT` reads."""

    id: int
    product_id: int
    repo_key: str
    suite: str
    template_id: int
    durations: bytes
    boards: bytes | None
    log_urls: bytes | None
    changes_id: int | None
    digest: bytes
    arrived_at: int
    sent: dict[str, Any]

    @property
    def arrived(self) -> datetime:
        """Return when the report arrived."""
        return codec.from_micros(self.arrived_at)


_SELECT = f"""
SELECT
  r.id, r.product_id, p.repo_key, p.suite, r.template_id, r.durations, r.boards, r.log_urls,
  r.changes_id, r.digest, r.arrived_at, {REPORT.of("r")}
FROM report r
LEFT JOIN product p ON p.org_id = r.org_id AND p.id = r.product_id
"""
_ADD_ITEM = insert(
    "item",
    (
        *("org_id", "report_id", "test", *codec.ItemResult._fields),
        *("product_id", "started_at", "counted", "failure_id"),
    ),
)
_SELECT_ITEMS = f"""
SELECT test, {", ".join(codec.ItemResult._fields)} FROM item WHERE org_id = ? AND report_id = ?
"""
_FAIL = Outcome.FAIL  # to find it by its name takes longer than to compare it
_UNREADABLE = (
    *(ArithmeticError, AssertionError, LookupError, TypeError, ValueError),
    *(struct.error, zlib.error),
)
"""What rows raise that another program wrote."""
_SAME_RUN = "r.org_id = ? AND r.repo_key = ? AND r.run_attempt = ? AND r.box_key = ?"
_SAME_IDENTITY = f"SELECT r.id FROM report r WHERE {_SAME_RUN} AND r.run_id = ?"
_LATER_PARTS = f"""
SELECT r.id
FROM report r INDEXED BY report_part
WHERE {_SAME_RUN} AND r.part_run_id = ? AND r.part > ? AND r.run_id <> ?
"""


@dataclass(frozen=True, slots=True)
class KeptReport:
    """A report with its numbers in the database. `passed`: a mask of the tests that passed on the
    hardware; `failing`: its counted failures by test; `notable`: its counted items with a failed
    attempt.
    """

    id: int
    product_id: int
    report: Report
    test_set: int
    passed: int
    failing: dict[int, bytes]
    notable: dict[int, TestItem]
    changes_id: int | None
    arrived_at: datetime


def keep(
    connection: Connection, org: bytes, product: int, report: Report, at: datetime
) -> KeptReport:
    """Insert a report whose identity is new."""
    listed = names.test_list(connection, org, product, tuple([t.id for t in report.tests]))
    tests = listed.tests
    fails = _fails(report, tests)
    changes_id, changed = (
        names.changes_id(connection, org, report.repo_key, report.changes)
        if report.changes is not None
        else (None, None)
    )
    values = {
        "org_id": org,
        "product_id": product,
        "template_id": listed.number,
        "durations": codec.pack_durations([t.duration_s for t in report.tests]),
        "boards": codec.pack_texts([t.board for t in report.tests]),
        "log_urls": codec.pack_texts([t.log_url for t in report.tests]),
        "changes_id": changes_id,
        "digest": digests.of_report(org, report, listed.digest, changed),
        "arrived_at": codec.to_micros(at),
        **REPORT.named(report),
        **_derived(org, report, fails),
    }
    number = connection.added(insert("report", [*values]), tuple(values.values()))
    failing, notable = _insert_items(connection, org, product, number, report, tests)
    passed = _passed(connection, org, report, listed.number, fails)
    return KeptReport(
        number, product, report, listed.test_set, passed, failing, notable, changes_id, at
    )


def _fails(report: Report, tests: Sequence[int]) -> int:
    """Return the tests that failed, as a mask. `tests`: the numbers of all, in order."""
    items = zip(tests, report.tests, strict=True)
    return mask_of([number for number, item in items if item.outcome is _FAIL])


def _passed(connection: Connection, org: bytes, report: Report, template: int, fails: int) -> int:
    """Return the tests that passed on the hardware, as a mask."""
    return connection.mask(org, template) & ~fails if report.hello_ok else 0


def _derived(org: bytes, report: Report, fails: int) -> dict[str, object]:
    """Return the derived columns of a report, which searches use."""
    return {
        "tests": len(report.tests),
        "fails": codec.pack_mask(fails),
        "carried": carried_changes(report) is not None,
        "ci_run_id": report.ci_run_id,
        "record_id": record_id_of(codec.uuid_of(org), report).bytes,
    }


def _insert_items(
    connection: Connection,
    org: bytes,
    product: int,
    report_id: int,
    report: Report,
    tests: Sequence[int],
) -> tuple[dict[int, bytes], dict[int, TestItem]]:
    """Keep the items that need a row. Return of those that count the failures, and all with a
    failed attempt.
    """
    rows = []
    failing: dict[int, bytes] = {}
    notable: dict[int, TestItem] = {}
    started_at = codec.to_micros(report.started_at)
    for number, item in zip(tests, report.tests, strict=True):
        columns = codec.pack_item(item)
        if columns is None:
            continue
        if report.hello_ok and has_failed_attempt(item):
            notable[number] = item
            if item.outcome is _FAIL:
                failing[number] = _failure_id(org, report, item.id)
        derived = (product, started_at, report.hello_ok, failing.get(number))
        rows.append((org, report_id, number, *columns, *derived))
    connection.execute_many(_ADD_ITEM, rows)
    return failing, notable


def _failure_id(org: bytes, report: Report, test_id: str) -> bytes:
    lane = Lane(report.repo_key, report.suite, test_id, report.box_key, report.branch)
    return failure_id(codec.uuid_of(org), FailureKey(lane, report.sha)).bytes


def replaced_by(connection: Connection, org: bytes, report: Report) -> list[KeptReport]:
    """Return the stored reports that this one replaces (semantics, 1.5 and 1.9).

    These are the one with its identity, and the parts that it removes.
    """
    same_run = (org, report.repo_key, report.run_attempt, report.box_key)
    statement = _SAME_IDENTITY
    values: tuple[object, ...] = (*same_run, report.run_id)
    ended = replaced_parts(report)
    if ended is not None:
        statement += f" UNION ALL {_LATER_PARTS}"
        values += (*same_run, *ended, report.run_id)
    # Most reports replace nothing, and an index alone tells so.
    return [load(connection, org, number) for (number,) in connection.rows(statement, values)]


def load(connection: Connection, org: bytes, number: int) -> KeptReport:
    """Return a stored report. Raises `DamagedError`: it is not what was sent."""
    columns = connection.row(f"{_SELECT} WHERE r.org_id = ? AND r.id = ?", (org, number))
    assert columns is not None
    return _kept(connection, org, _row(columns))


def keep_less(
    connection: Connection, org: bytes, stored: KeptReport, tests: Sequence[TestItem]
) -> None:
    """Keep a stored report with these items, which lack a message or a log address of theirs."""
    report = replace(stored.report, tests=tuple(tests))
    listed = names.test_list(connection, org, stored.product_id, tuple([t.id for t in tests]))
    connection.execute(
        "UPDATE report SET log_urls = ?, digest = ? WHERE +org_id = ? AND id = ?",
        (
            codec.pack_texts([test.log_url for test in tests]),
            digests.of_whole(org, report),
            *(org, stored.id),
        ),
    )
    connection.execute("DELETE FROM item WHERE org_id = ? AND report_id = ?", (org, stored.id))
    _insert_items(connection, org, stored.product_id, stored.id, report, listed.tests)


def delete(connection: Connection, org: bytes, stored: KeptReport) -> None:
    """Delete a report, with its items and with changes that no other report carries."""
    connection.execute("DELETE FROM item WHERE org_id = ? AND report_id = ?", (org, stored.id))
    connection.execute("DELETE FROM report WHERE org_id = ? AND id = ?", (org, stored.id))
    changes = stored.report.changes
    if stored.changes_id is not None and changes is not None:
        names.drop_unused_changes(
            connection, org, stored.report.repo_key, stored.changes_id, changes
        )


def rederived(connection: Connection, org: bytes) -> Iterator[KeptReport]:
    """Rewrite the derived columns and the items of each report; yield each, in order of arrival."""
    test_names = _test_names(connection, org)
    ids = connection.rows("SELECT id FROM report WHERE org_id = ? ORDER BY id", (org,))
    for (number,) in ids:
        columns = connection.row(f"{_SELECT} WHERE r.org_id = ? AND r.id = ?", (org, number))
        assert columns is not None
        row = _row(columns)
        report = _whole(connection, org, row, test_names)
        listed = _listed(connection, org, row, report)
        fails = _fails(report, listed.tests)
        derived = _derived(org, report, fails)
        connection.execute(
            f"UPDATE report SET {' = ?, '.join(derived)} = ? WHERE +org_id = ? AND id = ?",
            (*derived.values(), org, number),
        )
        connection.execute("DELETE FROM item WHERE org_id = ? AND report_id = ?", (org, number))
        items = _insert_items(connection, org, row.product_id, number, report, listed.tests)
        passed = _passed(connection, org, report, listed.number, fails)
        yield KeptReport(
            *(number, row.product_id, report, listed.test_set, passed, *items),
            *(row.changes_id, row.arrived),
        )


def verdicts(connection: Connection, org: bytes) -> Iterator[DamagedError | None]:
    """Yield for each report what is wrong with it, or None."""
    test_names = _test_names(connection, org)
    for columns in connection.each(f"{_SELECT} WHERE r.org_id = ? ORDER BY r.id", (org,)):
        try:
            _whole(connection, org, _row(columns), test_names)
            yield None
        except DamagedError as fault:
            yield fault


def _kept(connection: Connection, org: bytes, row: _Row) -> KeptReport:
    """Rebuild a stored report. Raises `DamagedError`: it is not what was sent."""
    items = connection.rows(
        "SELECT test, failure_id FROM item WHERE org_id = ? AND report_id = ?", (org, row.id)
    )
    failing = {test: failure_id for test, failure_id in items if failure_id is not None}
    report = _whole(connection, org, row)
    listed = _listed(connection, org, row, report)
    notable = {
        number: item
        for number, item in zip(listed.tests, report.tests, strict=True)
        if report.hello_ok and has_failed_attempt(item)
    }
    passed = _passed(connection, org, report, listed.number, _fails(report, listed.tests))
    return KeptReport(
        *(row.id, row.product_id, report, listed.test_set, passed, failing, notable),
        *(row.changes_id, row.arrived),
    )


def _listed(connection: Connection, org: bytes, row: _Row, report: Report) -> names.Listed:
    test_ids = tuple([test.id for test in report.tests])
    return names.test_list(connection, org, row.product_id, test_ids)


def load_changes(connection: Connection, org: bytes, number: int) -> ChangeList:
    """Return a `changes` object by its number."""
    row = connection.row(
        "SELECT base_sha, truncated, body FROM changes WHERE org_id = ? AND id = ?", (org, number)
    )
    assert row is not None
    return codec.unpack_changes(*row)


def load_many_changes(
    connection: Connection, org: bytes, numbers: Iterable[int]
) -> dict[int, ChangeList]:
    """Return `changes` objects by their numbers."""
    rows = connection.rows(
        "SELECT c.id, c.base_sha, c.truncated, c.body FROM json_each(?) j"
        " CROSS JOIN changes c ON c.org_id = ? AND c.id = j.value",
        (codec.numbers(numbers), org),
    )
    return {number: codec.unpack_changes(*whole) for number, *whole in rows}


def load_all(connection: Connection, org: bytes) -> tuple[Report, ...]:
    """Return every report of an organization, whole, in order of arrival."""
    test_names = _test_names(connection, org)
    rows = connection.rows(f"{_SELECT} WHERE r.org_id = ? ORDER BY r.id", (org,))
    return tuple(_whole(connection, org, _row(columns), test_names) for columns in rows)


def load_each(connection: Connection, org: bytes) -> Iterator[tuple[Report, datetime]]:
    """Yield every report of an organization, whole, in order of arrival, with its time."""
    test_names = _test_names(connection, org)
    for columns in connection.each(f"{_SELECT} WHERE r.org_id = ? ORDER BY r.id", (org,)):
        row = _row(columns)
        yield _whole(connection, org, row, test_names), row.arrived


def load_record(connection: Connection, org: bytes, record_id: bytes) -> tuple[Report, ...]:
    """Return the reports of one run record, whole."""
    rows = connection.rows(f"{_SELECT} WHERE r.org_id = ? AND r.record_id = ?", (org, record_id))
    return tuple(_whole(connection, org, _row(columns)) for columns in rows)


def _row(columns: tuple[Any, ...]) -> _Row:
    """Return a row of `_SELECT`, whose last columns are those of `REPORT`."""
    values = iter(columns)
    before = islice(values, len(_Row._fields) - 1)
    return _Row._make((*before, dict(zip(REPORT.names, values, strict=True))))


_TestNames = Mapping[int, Mapping[int, str]]  # by product and number


def _test_names(connection: Connection, org: bytes) -> _TestNames:
    rows = connection.rows("SELECT product_id, number, name FROM test WHERE org_id = ?", (org,))
    test_names: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for product, number, name in rows:
        test_names[product][number] = name
    return test_names


def _whole(
    connection: Connection, org: bytes, row: _Row, test_names: _TestNames | None = None
) -> Report:
    """Rebuild a stored report; `test_names`: those of all its organization, if they are loaded.
    Raises `DamagedError`: it is not what was sent.
    """
    sent = row.sent
    try:
        tests = _tests(connection, org, row, test_names)
        changes = None if row.changes_id is None else load_changes(connection, org, row.changes_id)
        report = REPORT.read(sent.values(), suite=row.suite, tests=tests, changes=changes)
        if row.digest == digests.of_whole(org, report) and row.repo_key == report.repo_key:
            return report
    except _UNREADABLE:
        pass  # the message is the same
    raise DamagedError(
        f"Report {row.id} (run {sent['run_id']} attempt {sent['run_attempt']} of"
        f" {sent['repo_key']} on {sent['box_key']}) is not what was sent"
    )


def _tests(
    connection: Connection, org: bytes, row: _Row, test_names: _TestNames | None
) -> tuple[TestItem, ...]:
    """Rebuild the items of a report from its test list, its items and what it has of each."""
    notable: dict[int, Sequence[Any]] = {
        test: columns for test, *columns in connection.rows(_SELECT_ITEMS, (org, row.id))
    }
    ((tests,),) = connection.rows(
        "SELECT tests FROM template WHERE org_id = ? AND id = ?", (org, row.template_id)
    )
    numbers, durations = codec.unpack_numbers(tests), codec.unpack_durations(row.durations)
    named = (
        names.of_tests(connection, org, {row.product_id: numbers})[row.product_id]
        if test_names is None
        else test_names[row.product_id]
    )
    items = []
    texts = (codec.unpack_texts(packed, len(numbers)) for packed in (row.boards, row.log_urls))
    for number, seconds, *more in zip(numbers, durations, *texts, strict=True):
        outcome, attempts, verdict, message = codec.unpack_item(notable.get(number))
        items.append(TestItem(named[number], outcome, attempts, seconds, verdict, message, *more))
    return tuple(items)
