# SPDX-License-Identifier: Apache-2.0
"""Connections to a PostgreSQL database: how each is opened, and how it runs a statement.

This module decides how long anything may take that a server waits for, and what a fault of the
database is to a caller. A message names the database without its user and password.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

import psycopg
from psycopg import Cursor, RawCursor, errors
from psycopg.pq import TransactionStatus

from hwci.engine.history import OutOfTimeError
from hwci.server.errors import HwciServerError, StorageBusyError, StorageError, TooLongError
from hwci.server.storage.audit_chain import AuditKey
from hwci.server.storage.audit_key import NEW_KEY
from hwci.server.storage.location import ADDRESS_FORM, Location
from hwci.server.storage.postgresql.dialect import adapt, native
from hwci.server.storage.sql.connection import Connection as Base

_CONNECT_SECONDS = 5
_ALIVE = (
    "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
)
"""The database notices as fast as a server does that the other end is gone, with its machine too:
else the locks of a server that lost its power would stay for hours.
"""
_PASSWORD_REFUSED = "password authentication failed"
"""What PostgreSQL writes if a password is wrong, and if there is no such user."""
_PASSWORD_FIX = "correct the address, or PGPASSWORD or ~/.pgpass if the password stands there"
_AT_ONCE = 100  # rows of a query that is asked for row by row


class Connection(Base):
    """One connection to a database, used by one thread at a time."""

    new_audit_key = f"take that of another server of this database, {NEW_KEY}"

    def __init__(self, location: Location, audit_key: AuditKey | None = None) -> None:
        """Connect. Raises `psycopg.Error`."""
        super().__init__(location.shown, location.audit_key_file)
        self.audit_key = audit_key
        self._names = count()
        self.raw = psycopg.connect(
            location.written,
            autocommit=True,  # a transaction begins and ends by statements
            cursor_factory=RawCursor,
            connect_timeout=_CONNECT_SECONDS,
            client_encoding="utf-8",
            application_name="hwci",
            keepalives_idle=15,
            keepalives_interval=5,
            keepalives_count=3,
        )
        self.command(_ALIVE)
        adapt(self.raw)

    def command(self, statements: str) -> tuple[Any, ...] | None:
        """Run statements without values in one round trip. Return a row of the last, if any."""
        cursor = self.raw.execute(statements.encode())
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None

    def execute(self, statement: str, values: Sequence[object] = ()) -> Cursor[tuple[Any, ...]]:
        """Run one statement."""
        self.check_time()
        return self.raw.cursor(binary=True).execute(native(statement), values)

    def execute_many(self, statement: str, rows: Collection[Sequence[object]]) -> None:
        """Run one statement for each row of values, in one round trip."""
        self.check_time()
        if rows:
            self.raw.cursor().executemany(native(statement), rows)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        return self.execute(statement, values).fetchone()

    def each(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are asked for. Others may run meanwhile."""
        name = f"each_{next(self._names)}"
        self.check_time()
        begin = f"DECLARE {name} BINARY NO SCROLL CURSOR FOR ".encode() + native(statement)
        self.raw.execute(begin, values, prepare=False)
        fetch = f"FETCH {_AT_ONCE} FROM {name}".encode()
        try:
            while found := self.raw.execute(fetch, prepare=False, binary=True).fetchall():
                yield from found
                self.check_time()
        finally:
            if self.raw.info.transaction_status is TransactionStatus.INTRANS:
                self.command(f"CLOSE {name}")

    @contextmanager
    def share(self, of: float) -> Iterator[None]:
        """Run statements in this block only for a share of the time that is left. A statement that
        the database ends then leaves the transaction as it was before.
        """
        whole = self._deadline
        assert whole is not None
        most = min(whole.left, whole.left_of_all * of)
        self.command(f"SAVEPOINT share; {statement_time(most)}")
        try:
            with super().share(of):
                yield
        except (errors.QueryCanceled, OutOfTimeError) as error:
            whole.check_time()
            self.command(f"ROLLBACK TO share; {statement_time(whole.left)}")
            raise OutOfTimeError from error
        self.command(f"RELEASE share; {statement_time(whole.left)}")

    def roll_back(self) -> None:
        """End a transaction, if there is one, and keep nothing of it."""
        if self.raw.info.transaction_status is not TransactionStatus.IDLE:
            self.command("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()


def statement_time(seconds: float) -> str:
    """Return the statement that ends each statement of the transaction after this time."""
    return f"SET LOCAL statement_timeout = {max(1, int(seconds * 1000))}"


def storage_error(error: psycopg.Error, name: str) -> HwciServerError:
    """Return what a fault of the database is to a caller. What a statement was refused for stays
    out of it: that may hold values.
    """
    code = error.sqlstate
    if isinstance(error, psycopg.ProgrammingError) and code is None:
        return StorageError(
            f"{name} is not an address of PostgreSQL", f"write it as {ADDRESS_FORM}"
        )
    if isinstance(error, errors.DiskFull):
        return StorageBusyError(f"{name} has no room on its disk", "give it room")
    if isinstance(error, errors.ProgramLimitExceeded):  # an OperationalError, but for good
        return TooLongError("Names are longer together than this database keeps; shorten them")
    if isinstance(error, psycopg.OperationalError | errors.IdleInTransactionSessionTimeout):
        return _not_answered(error, name)
    return StorageError(f"{name} refused a statement ({code})", "look into its log")


def _not_answered(error: psycopg.Error, name: str) -> StorageError:
    # Why a connection was refused has no code: it is in its text alone, which names no password.
    text = str(error) if error.sqlstate is None else ""
    if error.pgconn is not None and error.pgconn.needs_password:
        return StorageError(f"{name} asks for a password, and none was given", _PASSWORD_FIX)
    if _PASSWORD_REFUSED in text:
        return StorageError(f"{name} refused the user and password", _PASSWORD_FIX)
    why = text.partition("FATAL:")[2].partition("\n")[0].strip()
    return StorageBusyError(
        f"{name} does not answer{why and f': {why}'}",
        "try again in a few seconds, and correct the address if that does not help",
    )
