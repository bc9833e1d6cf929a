# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""Which run records hold a test, those in which it took a retry, and what it gave in each.

A test that passed at its first attempt has no row: the test list of its report holds it, and most
reports share one. So each test list of the runs that match the other conditions is read once, and
selects the runs of the lists that hold the test.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from hwci.contract.runs.runs import TestResult
from hwci.server.storage.records import RunFilter
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.connection import Connection, Query
from hwci.server.storage.sql.reports import names

_OF_RECORD = "q.org_id = r.org_id AND q.record_id = r.record_id"
_LISTED = "template_id IN (SELECT j.value FROM json_each(?) j)"
# First the report that its record is read from: mostly it is the only one.
_RAN = f" AND (r.{_LISTED} OR EXISTS (SELECT 1 FROM report q WHERE {_OF_RECORD} AND q.{_LISTED}))"
_ITEM = f"""
EXISTS (
  SELECT 1
  FROM report q
  CROSS JOIN test t ON t.org_id = q.org_id AND t.product_id = q.product_id AND t.name = ?
  CROSS JOIN item i ON i.org_id = q.org_id AND i.report_id = q.id AND i.test = t.number
  WHERE {_OF_RECORD} AND {{}}
)
"""
# Parts that contradict each other may have the test twice: the worst comes last.
_RESULTS = """
SELECT h.record_id, i.outcome, i.attempts, i.verdict, NULL
FROM json_each(?) j
CROSS JOIN report h ON h.org_id = ? AND h.id = j.value
CROSS JOIN report q ON q.org_id = h.org_id AND q.record_id = h.record_id
CROSS JOIN test t ON t.org_id = q.org_id AND t.product_id = q.product_id AND t.name = ?
CROSS JOIN item i ON i.org_id = q.org_id AND i.report_id = q.id AND i.test = t.number
ORDER BY i.outcome, i.attempts
"""
_RETRY_PASS = _ITEM.format("i.outcome = 0 AND i.attempts > 1")
_FAILED_ATTEMPT = _ITEM.format("(i.outcome = 1 OR i.attempts > 1)")


def of_test(connection: Connection, org: bytes, query: Query, wanted: RunFilter) -> Query | None:
    """Narrow a query for the keys of reports, `r`, to those whose test fits the filter; None if
    none can.
    """
    if wanted.test_id is None:
        return query
    statement, values = query
    templates = _templates(connection, org, query, wanted.test_id)
    if not templates:
        return None
    listed = codec.numbers(templates)
    statement, values = f"{statement}{_RAN}", (*values, listed, listed)
    for condition, flag in (
        (_RETRY_PASS, wanted.retry_pass),
        (_FAILED_ATTEMPT, wanted.failed_attempt),
    ):
        if flag is not None:
            statement = f"{statement} AND {'' if flag else 'NOT '}{condition}"
            values = (*values, wanted.test_id)
    return Query(statement, values)


def results(
    connection: Connection, org: bytes, reports: Sequence[int], test_id: str
) -> dict[UUID, TestResult]:
    """Return what a test gave in the records that are read from these reports, where it has a row;
    elsewhere it is `PLAIN`.
    """
    rows = connection.rows(_RESULTS, (codec.numbers(reports), org, test_id))
    return {UUID(bytes=record_id): _result(columns) for record_id, *columns in rows}


def _result(columns: Sequence[Any] | None) -> TestResult:
    item = codec.unpack_item(columns)
    return TestResult(outcome=item.outcome, attempts=item.attempts, verdict=item.verdict)


PLAIN = _result(None)
"""What a test without a row gave: it passed at its first attempt."""


def _templates(connection: Connection, org: bytes, query: Query, test_id: str) -> list[int]:
    """Return the test lists that hold a test, of those of the records that a query finds."""
    listed = connection.rows(
        "SELECT DISTINCT q.product_id, q.template_id"
        f" FROM ({query.statement}) k CROSS JOIN report q"
        " ON q.org_id = ? AND q.record_id = k.record_id",
        (*query.values, org),
    )
    number_of = {
        product: names.of_names(connection, org, product, [test_id]).get(test_id)
        for product in {product for product, _ in listed}
    }
    return [
        template
        for product, template in listed
        if (number := number_of[product]) is not None
        and connection.mask(org, template) >> number & 1
    ]
