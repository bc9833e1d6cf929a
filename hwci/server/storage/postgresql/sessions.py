# SPDX-License-Identifier: Apache-2.0
"""Whether a connection has a session for itself: a process of the database that answers nobody else
until the connection ends.

Transactions need none, so a pooler may lend a connection for each. LISTEN needs one, and so does a
lock that is held as long as its connection. A pooler is told by what it does, not by its name: it
shows in no message which it is, or in which mode.
"""

import secrets
from contextlib import closing

import psycopg

from hwci.server.errors import StorageError
from hwci.server.storage.location import Location
from hwci.server.storage.postgresql.connections import Connection
from hwci.server.storage.postgresql.locks import hold, try_lock

_LOOKS = 3
_SECOND_SECONDS = 5.0
_PROCESS = "SELECT pg_backend_pid()"
_FIX = (
    "set HWCI_DATABASE_SESSION to an address of PostgreSQL itself, or of a pool with `pool_mode ="
    " session`; all else goes through HWCI_DATABASE as it is"
)


def require_session(connection: Connection, location: Location, fix: str = _FIX) -> None:
    """Raise `StorageError` if a pooler lends this connection to `location` for a transaction only.

    Such a pooler lets one process answer two connections, or two processes answer one. That shows
    at the first look where nobody else asks, and soon where others do.
    """
    if not connection.pooled:
        return
    with closing(_second(location)) as other:
        own, its = set[int](), set[int]()
        for _ in range(_LOOKS):
            own |= {_process(connection), _process(connection)}
            its.add(_process(other))
    if len(own) > 1 or len(its) > 1 or own & its:
        raise StorageError(
            f"{location.shown} is behind a pooler that lends a connection for one transaction"
            " (`pool_mode = transaction`): nothing is heard over it, and no lock is held",
            fix,
        )


def _second(location: Location) -> Connection:
    """Return a connection beside another. Raises `StorageError` if a pooler lends none: with a
    session for each, each keeps one of its connections.
    """
    try:
        return Connection(location, answer_seconds=_SECOND_SECONDS)
    except psycopg.OperationalError as error:
        raise StorageError(
            f"The pooler at {location.shown} lends no second connection to a server within"
            f" {_SECOND_SECONDS:g} seconds",
            "give its pool 30 connections for each server (`default_pool_size` of PgBouncer), and"
            " look at its log if it has them",
        ) from error


def require_same_database(session: Connection, other: Connection) -> None:
    """Raise `StorageError` if a lock that is held over `session` is not held over `other`."""
    name = secrets.token_hex()
    session.rows(hold(name))
    if other.row(try_lock(name)) != (False,):
        raise StorageError(
            f"HWCI_DATABASE_SESSION ({session.name}) is not the database of HWCI_DATABASE"
            f" ({other.name})",
            "name the same database twice",
        )


def _process(connection: Connection) -> int:
    ((process,),) = connection.rows(_PROCESS)
    return int(process)
