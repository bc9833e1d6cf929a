# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from names of this file
"""The schema of a PostgreSQL database: `schema.sql`, which makes a new one, and the steps that
bring an older one there.

This module decides which steps a database lacks, and refuses one that is not ours or newer. All
missing steps are taken in one transaction, under a lock, with all that they leave to be computed
from reports: of servers that start at once, one takes them and the others find them taken. Writes
of servers that run wait for it; after it, those that do not know the steps are refused (ADR 0007).
A step that was released is never edited: a change of `schema.sql` is a new step, which leaves the
same tables. It inserts into `underived` the organizations whose derived rows it changes.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from hwci.server.errors import StorageError
from hwci.server.storage.postgresql.connections import Connection
from hwci.server.storage.postgresql.locks import lock
from hwci.server.storage.sql.reports.ingest import rederive
from hwci.server.storage.sql.whole import UNFINISHED, unfinished

TAKEN = "hwci_schema"
"""The table of the steps that were taken."""
STEPS: Mapping[str, str] = {}
"""The statements of each step after the first, by its name, in order."""
_TABLES = """
SELECT c.relname
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
"""
LAST_TAKEN = f"SELECT max(step) FROM {TAKEN}"
"""The query that shows a server whether the database is newer than it."""


def steps() -> Sequence[str]:
    """Return the names of the steps that this program knows, in order."""
    return ("0001_schema", *STEPS)


def table_names(connection: Connection) -> set[str]:
    """Return the names of all tables."""
    return {name for (name,) in connection.rows(_TABLES)}


def missing(connection: Connection, *, may_be_unfinished: bool = False) -> Sequence[str]:
    """Return the names of the steps that a database lacks.

    Raises:
        StorageError: another program's tables are in it, a newer hwci changed it, or it is a copy
            that is not whole yet.
    """
    tables = table_names(connection)
    if UNFINISHED in tables and not may_be_unfinished:
        raise unfinished(connection.name)
    if tables and TAKEN not in tables:
        raise StorageError(
            f"{connection.name} holds tables of another program, or of hwci before 1.0",
            "name an empty database; what hwci before 1.0 kept, that version exports"
            " with hwci admin export",
        )
    taken = {step for (step,) in connection.rows(f"SELECT step FROM {TAKEN}")} if tables else set()
    if unknown := sorted(taken.difference(steps())):
        raise StorageError(
            f"A newer hwci has changed {connection.name} (step {unknown[0]})", "update hwci"
        )
    return [step for step in steps() if step not in taken]


def migrate(connection: Connection) -> None:
    """Take the missing steps. Raises as `missing`."""
    connection.command(f"BEGIN; {lock('schema')}")
    try:
        lacking = missing(connection)
        if lacking:
            connection.command(lock())  # no server writes meanwhile
        if lacking == list(steps()):
            connection.command(files(__package__).joinpath("schema.sql").read_text("utf-8"))
        else:
            for step in lacking:
                connection.command(STEPS[step])
        for step in lacking:
            connection.execute(f"INSERT INTO {TAKEN} (step) VALUES (?)", (step,))
        for (org,) in connection.rows("SELECT org_id FROM underived"):
            rederive(connection, org)
        connection.command("COMMIT")
    finally:
        connection.leave()
