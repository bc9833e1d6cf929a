# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from names of the schema
"""A PostgreSQL database as a side of a whole copy (`sql/whole.py`), while nothing else uses it or
as of one moment.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial

import psycopg

from hwci.server.errors import StorageError, StorageLockedError
from hwci.server.storage.location import Location
from hwci.server.storage.postgresql.connections import Connection, storage_error
from hwci.server.storage.postgresql.locks import hold
from hwci.server.storage.postgresql.schema import TAKEN, migrate, missing, table_names
from hwci.server.storage.postgresql.sessions import require_session
from hwci.server.storage.sql.whole import UNFINISHED, Side, Table, require_fit

_ENDING_SECONDS = 2.0
"""A connection whose program has ended is listed for a moment."""
_LOOK_SECONDS = 0.1
_OTHERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND application_name = 'hwci' AND pid <> pg_backend_pid()"
)
_COLUMNS = (
    "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND is_generated = 'NEVER'"
    " ORDER BY table_name, ordinal_position"
)
_KEYS = (
    "SELECT table_name, column_name FROM information_schema.table_constraints"
    " JOIN information_schema.key_column_usage"
    " USING (table_schema, table_name, constraint_schema, constraint_name)"
    " WHERE table_schema = current_schema() AND constraint_type = 'PRIMARY KEY'"
    " ORDER BY table_name, ordinal_position"
)
_NUMBERED = (
    "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = current_schema() AND is_identity = 'YES'"
)


@contextmanager
def source_in(location: Location) -> Iterator[Side]:
    """Yield a database that is copied.

    Raises:
        StorageLockedError: a server uses it.
        StorageError: it is not ours, not at the present schema, or not a whole copy.
    """
    with _alone(location) as connection:
        _require_present(location, connection)
        yield _side(location, connection)


@contextmanager
def moment_of(location: Location) -> Iterator[Side]:
    """Yield a database as of one moment, to be read while servers go on. Raises as `source_in`."""
    with _guarded(location), closing(Connection(location)) as connection:
        connection.command("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        _require_present(location, connection)
        yield _side(location, connection)


@contextmanager
def target_in(location: Location, of: str) -> Iterator[Side]:
    """Yield the database of a copy `of` something.

    Raises:
        StorageLockedError: a server uses it.
        StorageError: there is something else in it, or it cannot be written.
    """
    with _alone(location) as connection:
        missing(connection, may_be_unfinished=True)  # another program's is refused
        tables = table_names(connection) - {TAKEN}
        require_fit(connection, tables, of)
        if UNFINISHED not in tables:
            migrate(connection)
        yield _side(location, connection)


def _require_present(location: Location, connection: Connection) -> None:
    if missing(connection):
        raise StorageError(
            f"{location.shown} lacks steps of the schema",
            "make a backup, then: hwci admin migrate",
        )


@contextmanager
def _alone(location: Location) -> Iterator[Connection]:
    """Yield a connection while no other part of hwci uses the database, or begins to. It is one to
    the address with sessions, if there is one.
    """
    location = location.session
    with _guarded(location), closing(Connection(location)) as connection:
        require_session(connection, location, "name an address of PostgreSQL itself")
        until = time.monotonic() + _ENDING_SECONDS
        while connection.row(_OTHERS) != (0,) or connection.row(hold()) != (True,):
            if time.monotonic() > until:
                raise StorageLockedError(
                    f"{location.shown} is in use, most likely by a server",
                    "stop all servers of it first, then try again; a pooler (PgBouncer) has to"
                    " close its idle connections, too",
                )
            time.sleep(_LOOK_SECONDS)
        yield connection


def _side(location: Location, connection: Connection) -> Side:
    complete = partial(_complete, connection)
    return Side(connection, _tables(connection), partial(_guarded, location), complete)


def _tables(connection: Connection) -> Mapping[str, Table]:
    columns, keys = connection.rows(_COLUMNS), connection.rows(_KEYS)
    return {
        table: Table(*([name for of, name in rows if of == table] for rows in (columns, keys)))
        for table in table_names(connection) - {TAKEN}
    }


def _complete(connection: Connection) -> None:
    """Let the database number on behind the highest, and plan for what is there now."""
    for table, column in connection.rows(_NUMBERED):
        connection.execute(
            f"SELECT setval(pg_get_serial_sequence('\"{table}\"', '{column}'),"
            f" coalesce(max({column}), 0) + 1, false) FROM {table}"
        )
    connection.command("ANALYZE")


@contextmanager
def _guarded(location: Location) -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise storage_error(error, location.shown) from error
