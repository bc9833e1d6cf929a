# SPDX-License-Identifier: Apache-2.0
"""The schema of the SQLite file: the steps that make it, in `steps`, which sqlite-utils applies and
records.

This module decides tables and indexes and knows no rule. A step that was released is never edited:
a change is a new step. `tests/server/storage/schema.sql` shows what all steps together give.

Every table of a tenant, and every index that finds its rows, begins with `org_id`. Times are
microseconds since 1970 in UTC. Three kinds of tables stand here: accounts; what CI and people sent,
kept whole (and apart, in `replaced`, what something later took the place of); and what is derived
from it (`mention`, `place`, `run_changes`, `changes_commit`, `failure`, `episode`, `day_run`,
`day_item`), which `derive.py` maintains and can recompute; `report_rows.py` does so for the few
derived columns that stand beside facts for an index. A period is counted from its whole days, and
at its two ends by index from `report` and `item`, exact to the microsecond.

Records refer to each other by number without foreign keys: `ingest.py` alone writes them, and each
key would cost an index of its own.
"""

from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from sqlite3 import complete_statement
from uuid import UUID

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

from hwci.engine.facts import run_record_id
from hwci.server.storage.sqlite.audit_guards import add_guards, link_old_rows

APPLICATION_ID = 0x68776369  # "hwci"

MIGRATIONS = Migrations("hwci")

_STEPS = files(__package__).joinpath("steps")


def _name_run_records(database: Database) -> None:
    rows = database.execute(
        "SELECT id, org_id, repo_key, ci_run_id, run_attempt, box_key FROM report"
    ).fetchall()
    for number, org, *identity in rows:
        database.execute(
            "UPDATE report SET record_id = ? WHERE id = ?",
            (run_record_id(UUID(bytes=org), *identity).bytes, number),
        )


def _guard_audit_log(database: Database) -> None:
    link_old_rows(database.conn)
    add_guards(database.conn)


_THEN: Mapping[str, Callable[[Database], None]] = {
    "0002_platform": _name_run_records,
    "0008_audit_chain": _guard_audit_log,
}
"""What a step does after its statements."""


def _take(step: str, database: Database) -> None:
    """Run the statements of a step one by one: a script would commit in between."""
    statement = ""
    for line in _STEPS.joinpath(f"{step}.sql").read_text("utf-8").splitlines(keepends=True):
        statement += line
        if complete_statement(statement):
            database.execute(statement)
            statement = ""
    if step in _THEN:
        _THEN[step](database)


for _step in sorted(one.name.removesuffix(".sql") for one in _STEPS.iterdir()):
    MIGRATIONS(name=_step)(partial(_take, _step))  # type: ignore[type-var] # it needs no name
