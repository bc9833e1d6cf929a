# SPDX-License-Identifier: Apache-2.0
"""The schema of the SQLite file: the steps that make it, in `steps`, and the record of those taken.

This module decides tables and indexes and knows no rule. A step that was released is never edited:
a change is a new step. `tests/server/storage/schema.sql` shows what all steps together give.

Every table of a tenant, and every index that finds its rows, begins with `org_id`. Times are
microseconds since 1970 in UTC. There are three kinds of tables: accounts; what CI and people sent,
kept whole (and apart, in `replaced`, what something later took the place of); and what is derived
from it (`mention`, `place`, `run_changes`, `changes_commit`, `failure`, `episode`, `day_run`,
`day_result`), which `derive.py` maintains and can recompute; `report_rows.py` does so for the few
derived columns that stand beside facts for an index. A period is counted from its whole days, and
at its two ends by index from `report` and `item`, exact to the microsecond.

Records refer to each other by number without foreign keys: `ingest.py` alone writes them, and each
key would cost an index of its own.
"""

import sqlite3
from collections.abc import Callable, Mapping
from importlib.resources import files
from uuid import UUID

from hwci.engine.facts import run_record_id
from hwci.server.storage.sqlite.audit_guards import add_guards, link_old_rows

APPLICATION_ID = 0x68776369  # "hwci"

_FILES = files(__package__).joinpath("steps")

STEPS = tuple(sorted(one.name.removesuffix(".sql") for one in _FILES.iterdir()))
"""The steps that this program knows, in order."""

# As sqlite-utils wrote it, which took the steps of earlier versions.
_RECORD = (
    """CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
)""",
    """CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name")""",
)


def _name_run_records(database: sqlite3.Connection) -> None:
    rows = database.execute(
        "SELECT id, org_id, repo_key, ci_run_id, run_attempt, box_key FROM report"
    ).fetchall()
    for number, org, *identity in rows:
        database.execute(
            "UPDATE report SET record_id = ? WHERE id = ?",
            (run_record_id(UUID(bytes=org), *identity).bytes, number),
        )


def _guard_audit_log(database: sqlite3.Connection) -> None:
    link_old_rows(database)
    add_guards(database)


_THEN: Mapping[str, Callable[[sqlite3.Connection], None]] = {
    "0002_platform": _name_run_records,
    "0008_audit_chain": _guard_audit_log,
}
"""What a step does after its statements."""


def take_steps(database: sqlite3.Connection, *, before: str | None = None) -> None:
    """Take the steps that a database lacks, each with its record in a transaction of its own.
    `before`: the step that is not taken any more. The connection begins no transaction by itself.
    """
    if not database.execute("PRAGMA table_info(_sqlite_migrations)").fetchall():
        for statement in _RECORD:
            database.execute(statement)
    taken = {name for (name,) in database.execute("SELECT name FROM _sqlite_migrations")}
    for step in STEPS:
        if step == before:
            return
        if step not in taken:
            with database:
                database.execute("BEGIN IMMEDIATE")
                _take(step, database)


def _take(step: str, database: sqlite3.Connection) -> None:
    """Run the statements of a step one by one: a script would commit in between."""
    statement = ""
    for line in _FILES.joinpath(f"{step}.sql").read_text("utf-8").splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            database.execute(statement)
            statement = ""
    if step in _THEN:
        _THEN[step](database)
    database.execute(
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
        " VALUES ('hwci', ?, strftime('%Y-%m-%d %H:%M:%f+00:00'))",
        (step,),
    )
