# SPDX-License-Identifier: Apache-2.0
"""The tables and views of an export (ADR 0022), as data: what each holds, and of which type a
column is. A column's name decides its type, in every table; the names are the specification's, and
a fact has a column for each of its fields.

This module decides the form of an export and its version. It knows neither the database that an
export is made of, nor how it is written.
"""

from dataclasses import fields
from typing import TYPE_CHECKING

from hwci.contract.runs.commits import Commit
from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Report

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

APPLICATION_ID = 0x68776578  # "hwex"
FORM = 1
"""Raised when an older hwci could not import the file."""

_WIDER = {"tests": "tests failed", "part_of": "part_run_id part parts"}
"""The fields of facts that are several columns."""


def _fields(fact: "type[DataclassInstance]") -> str:
    return " ".join(_WIDER.get(field.name, field.name) for field in fields(fact))


TABLES = {
    "export": "form program version org_id organization exported_at bodies digest",
    "reports": f"report arrived_at {_fields(Report)}",
    "tests": "report position test_id outcome attempts duration_s verdict message board log_url "
    "failure_id",
    "changes": "changes repo_key base_sha truncated",
    "commits": f"changes position {_fields(Commit)}",
    "announcements": f"{_fields(Merge)} checked",
    "suite_configs": "repo_key suite firmware_paths harness_paths trigger_paths merge_trigger"
    " links targets updated_at",
    "reviews": "failure_id repo_key suite test_id box_key branch sha action by_id by_name at note"
    " issue",
    "known_failures": "test_id message box_key ticket until created_at by_id by_name",
    "failures": "failure_id repo_key suite test_id box_key branch sha label group_id class reason"
    " reason_text verdict items first_started_at last_started_at fix_sha",
    "boxes": "box_key created_at last_seen_at last_started_at",
    "box_notes": "box_key at text by_id by_name",
    "events": "number at type run_record_id body",
    "sent": "number kind arrived_at content",
}
"""The columns of each table. `tests` of a report counts them. `changes` numbers a list of commits
that reports share. `sent` has what an import reads: the body of each report, announcement and
configuration as the API takes it, and of each review, known failure, box and note of a box,
compressed by gzip.
"""

_TYPES = {
    "INTEGER": "form bodies report run_id run_attempt tests failed changes part_run_id part parts"
    " ci_run rerun_of position attempts items number"
    " reports infra boxes run_reports failed_attempts retry_passes flaky_failures",
    "REAL": "duration_s flake_rate mean_duration_s max_duration_s",
    "BOOLEAN": "hello_ok truncated files_truncated checked merge_trigger",
    "TIMESTAMP": "exported_at arrived_at started_at ended_at committed_at merged_at updated_at at"
    " first_started_at last_started_at created_at last_seen_at until",
    "BLOB": "content",
}
TYPES = {column: kind for kind, columns in _TYPES.items() for column in columns.split()}
"""The type of each column that is not TEXT. Lists and objects are JSON. A time is in UTC, to the
microsecond, so that its text orders as it does.
"""

INDEXES = (
    "tests (report)",
    "tests (failure_id) WHERE failure_id IS NOT NULL",
    "commits (changes)",
    "commits (sha)",
    "reports (started_at)",
)

VIEWS = {
    "tests_per_day": """
        SELECT substr(started_at, 1, 10) AS day, repo_key, suite, box_key,
               count(DISTINCT report) AS reports, count(report) AS tests,
               sum(outcome = 'fail') AS failed,
               sum(outcome = 'pass' AND attempts > 1) AS retry_passes
        FROM reports JOIN tests AS item USING (report) WHERE hello_ok
        GROUP BY day, repo_key, suite, box_key
        ORDER BY day DESC, repo_key, suite, box_key""",
    "runs_per_day": """
        SELECT substr(started_at, 1, 10) AS day, repo_key, suite, count(report) AS reports,
               sum(NOT hello_ok) AS infra
        FROM reports WHERE coalesce(part, 1) = 1
        GROUP BY day, repo_key, suite ORDER BY day DESC, repo_key, suite""",
    "flakiest_tests": """
        SELECT repo_key, suite, test_id, count(DISTINCT box_key) AS boxes,
               count(report) AS run_reports, sum(attempts) AS attempts,
               sum(attempts - (outcome = 'pass')) AS failed_attempts,
               sum(outcome = 'pass' AND attempts > 1) AS retry_passes,
               count(flake) AS flaky_failures,
               100.0 * sum(attempts - (outcome = 'pass')) / sum(attempts) AS flake_rate
        FROM reports JOIN tests AS item USING (report)
        LEFT JOIN (SELECT failure_id, 1 AS flake FROM failures WHERE label = 'flake')
        USING (failure_id) WHERE hello_ok
        GROUP BY repo_key, suite, test_id HAVING failed_attempts > 0
        ORDER BY flake_rate DESC, failed_attempts DESC, repo_key, suite, test_id""",
    "real_fw_bugs": """
        SELECT * FROM failures WHERE failure_id = group_id AND class = 'real_fw_bug'
        ORDER BY first_started_at DESC""",
    "other_failures": """
        SELECT * FROM failures WHERE failure_id = group_id AND class <> 'real_fw_bug'
        ORDER BY first_started_at DESC""",
    "unchecked_merges": """
        SELECT repo_key, suite, branch, sha, merged_at, ci_url
        FROM announcements WHERE NOT checked ORDER BY merged_at DESC, repo_key, suite, sha""",
    "slowest_tests": """
        SELECT repo_key, suite, test_id, count(report) AS run_reports,
               avg(duration_s) AS mean_duration_s, max(duration_s) AS max_duration_s
        FROM reports JOIN tests AS item USING (report) WHERE hello_ok
        GROUP BY repo_key, suite, test_id ORDER BY mean_duration_s DESC""",
}
"""What people ask first, over all of an export. DuckDB rewrites a view before SQLite gets it, so
none has `count(*)` or `IN (SELECT …)`, which it writes in another way.
"""


def statements() -> list[str]:
    """Return what makes the empty tables."""
    return [
        f"CREATE TABLE {table} ({', '.join(map(_defined, columns.split()))})"
        for table, columns in TABLES.items()
    ]


def index_statements() -> list[str]:
    """Return what makes the indexes, once the tables are full."""
    return [
        f"CREATE INDEX {columns.split(' WHERE')[0].translate(_NAME)} ON {columns}"
        for columns in INDEXES
    ]


_NAME = str.maketrans({" ": "_", "(": None, ")": None})


def _defined(column: str) -> str:
    return f'"{column}" {TYPES.get(column, "TEXT")}'
