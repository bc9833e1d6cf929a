# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from names of this file
"""The schema of a PostgreSQL database, as the steps that make it: the files of `steps`, in order.

This module decides which steps a database lacks, and refuses one that is not ours or newer. All
missing steps are taken in one transaction, under a lock, with all that they leave to be computed
from reports: of servers that start at once, one takes them and the others find them taken. Writes
of servers that run wait for it; after it, those that do not know the steps are refused (ADR 0067).
"""

from collections.abc import Sequence
from importlib.resources import files

from hwci.server.errors import StorageError
from hwci.server.storage.postgresql.connections import Connection
from hwci.server.storage.postgresql.locks import lock
from hwci.server.storage.sql.reports.ingest import rederive
from hwci.server.storage.sql.whole import UNFINISHED, unfinished

STEPS = "hwci_step"
"""The table of the steps that were taken."""
_MADE = (
    f"CREATE TABLE IF NOT EXISTS {STEPS} ("
    "name TEXT PRIMARY KEY, taken_at TIMESTAMPTZ NOT NULL DEFAULT now())"
)
_TABLES = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')"
    " AND NOT c.relispartition"
)


LAST_TAKEN = f"SELECT max(name) FROM {STEPS}"
"""The query that shows a server whether the database is newer than it."""


def steps() -> dict[str, str]:
    """Return the statements of each step that this program knows, by name, in order."""
    found = files(__package__).joinpath("steps").iterdir()
    named = {one.name.removesuffix(".sql"): one.read_text("utf-8") for one in found}
    return dict(sorted(named.items()))


def last_known() -> str:
    """Return the name of the last step that this program knows."""
    return max(steps())


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
    if tables and STEPS not in tables:
        raise StorageError(
            f"{connection.name} holds tables of another program", "name an empty database"
        )
    known = steps()
    taken = {name for (name,) in connection.rows(f"SELECT name FROM {STEPS}")} if tables else set()
    if unknown := sorted(taken - known.keys()):
        raise StorageError(
            f"A newer hwci has changed {connection.name} (step {unknown[0]})", "update hwci"
        )
    return [name for name in known if name not in taken]


def migrate(connection: Connection) -> None:
    """Take the missing steps. Raises as `missing`."""
    connection.command(f"BEGIN; {lock('schema')}")
    try:
        lacking = missing(connection)
        if lacking:
            connection.command(f"{lock()}; {_MADE}")  # no server writes meanwhile
        for name in lacking:
            connection.command(steps()[name])
            connection.execute(f"INSERT INTO {STEPS} (name) VALUES (?)", (name,))
        for (org,) in connection.rows("SELECT org_id FROM underived"):
            rederive(connection, org)
        connection.command("COMMIT")
    finally:
        connection.leave()
