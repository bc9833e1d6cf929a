# SPDX-License-Identifier: Apache-2.0
"""Connections to a PostgreSQL database: how each is opened, and how it runs a statement.

This module decides which statements share a round trip, how long anything may take that a server
waits for, what is kept in a session (nothing, if a pooler is between), and what a fault of the
database is to a caller. A message names the database without its user and password.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from math import ceil
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import Any

import psycopg
from psycopg import Cursor, RawCursor, errors
from psycopg.generators import fetch_many
from psycopg.pq import TransactionStatus

from hwci.engine.history import OutOfTimeError
from hwci.server.errors import HwciServerError, StorageBusyError, StorageError, TooLongError
from hwci.server.storage.location import ADDRESS_FORM, Location
from hwci.server.storage.postgresql.dialect import adapt, native
from hwci.server.storage.sql.connection import Connection as Base
from hwci.server.storage.sql.connection import Query

_CONNECT_SECONDS = 5
_ALIVE = (
    "SELECT set_config('tcp_keepalives_idle', '15', false),"
    " set_config('tcp_keepalives_interval', '5', false),"
    " set_config('tcp_keepalives_count', '3', false)"
    " WHERE pg_backend_pid() = {process}"
)
"""The database notices as fast as a server does that the other end is gone, with its machine too:
else the locks of a server that lost its power would stay for hours. Nothing is set, and no row
comes, if another process answers than the one that took the connection: a pooler is between.
"""
_PASSWORD_REFUSED = "password authentication failed"
"""What PostgreSQL writes if a password is wrong, and if there is no such user."""
_SINGLE_STATEMENTS = "transaction blocks not allowed"
"""What PgBouncer writes to whom begins a transaction, with `pool_mode = statement`."""
_PASSWORD_FIX = "correct the address, or PGPASSWORD or ~/.pgpass if the password stands there"
_STATEMENT_TIME = "SELECT set_config('statement_timeout', ?1, true)"
_AT_ONCE = 100  # rows of a query that is asked for row by row


class Statement:
    """A statement, and its answer once it was sent. `many`: the values are those of many rows."""

    def __init__(
        self,
        connection: "Connection",
        text: bytes,
        values: Sequence[Any],
        *,
        many: bool = False,
        prepare: bool | None = None,
    ) -> None:
        self._connection = connection
        self._text = text
        self._values = values
        self._many = many
        self._prepare = prepare
        self._cursor: Cursor[tuple[Any, ...]] | None = None

    def send(self, raw: psycopg.Connection[Any]) -> None:
        """Send it. In a pipeline, the answer is there at its end."""
        self._cursor = cursor = raw.cursor(binary=True)
        if self._many:
            cursor.executemany(self._text, self._values)
        else:
            cursor.execute(self._text, self._values, prepare=self._prepare)

    @property
    def cursor(self) -> Cursor[tuple[Any, ...]]:
        """Return its answer, for which it is sent if it still waits."""
        if self._cursor is None:
            self._connection.send()
        assert self._cursor is not None
        return self._cursor

    @property
    def rowcount(self) -> int:
        """Return how many rows it changed."""
        return self.cursor.rowcount


class Connection(Base):
    """One connection to a database, used by one thread at a time.

    From `gather` on, a statement whose answer nobody reads waits, and goes with the next one whose
    answer is read, in one round trip.
    """

    def __init__(self, location: Location, answer_seconds: float | None = None) -> None:
        """Connect. `answer_seconds`: for the first answer, which a pooler may keep for minutes.
        Raises `psycopg.Error`.
        """
        super().__init__(location.shown)
        self._names = count()
        self._gathers = False
        self._waiting: list[Statement] = []
        self.answered = False
        """Whether the database has answered since `gather`, or before the first."""
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
        with _ended_after(self.raw, answer_seconds):
            alive = self.command(_ALIVE.format(process=self.raw.info.backend_pid))
        self.pooled = alive is None
        """Whether a pooler is between. The next transaction may then meet another session, so no
        statement is prepared.
        """
        if self.pooled:
            self.raw.prepare_threshold = None
        adapt(self.raw)

    def gather(self, *first: tuple[str, Sequence[object]]) -> None:
        """Send statements as late as possible until `commit` or `leave`, beginning with these."""
        self._gathers, self.answered = True, False
        self._settle()
        self._waiting = [Statement(self, native(text), values) for text, values in first]

    def send(self, *further: Statement) -> None:
        """Send what waits, and these statements, in one round trip."""
        sent, self._waiting = [*self._waiting, *further], []
        if len(sent) == 1:
            sent[0].send(self.raw)
        else:
            with self.raw.pipeline():
                for statement in sent:
                    statement.send(self.raw)
        self.answered = True

    def command(self, statements: str) -> tuple[Any, ...] | None:
        """Run statements without values in one round trip. Return a row of the last, if any."""
        self._settle()
        cursor = self.raw.execute(statements.encode())
        while cursor.nextset():
            pass
        self.answered = True
        return cursor.fetchone() if cursor.description else None

    def execute(self, statement: str, values: Sequence[object] = ()) -> Statement:
        """Run one statement."""
        self.check_time()
        return self._run(Statement(self, native(statement), values))

    def execute_many(self, statement: str, rows: Collection[Sequence[object]]) -> None:
        """Run one statement for each row of values, in one round trip."""
        self.check_time()
        if rows:
            self._run(Statement(self, native(statement), list(rows), many=True))

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return self.execute(statement, values).cursor.fetchall()

    def row(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        return self.execute(statement, values).cursor.fetchone()

    def rows_of(self, queries: Iterable[Query]) -> list[list[tuple[Any, ...]]]:
        """Return all rows of each of these queries, in one round trip."""
        self.check_time()
        statements = [Statement(self, native(text), values) for text, values in queries]
        if statements:
            self.send(*statements)
        return [statement.cursor.fetchall() for statement in statements]

    def each(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are asked for. Others may run meanwhile."""
        self.check_time()
        name = f"each_{next(self._names)}"
        begin = f"DECLARE {name} BINARY NO SCROLL CURSOR FOR ".encode() + native(statement)
        self._run(Statement(self, begin, values, prepare=False))
        fetch = f"FETCH {_AT_ONCE} FROM {name}".encode()
        try:
            more = True
            while more:
                found = self._run(Statement(self, fetch, (), prepare=False)).cursor.fetchall()
                yield from found
                self.check_time()
                more = len(found) == _AT_ONCE
        finally:
            if self.raw.info.transaction_status is TransactionStatus.INTRANS:
                self._run(Statement(self, f"CLOSE {name}".encode(), (), prepare=False))

    @contextmanager
    def share(self, of: float) -> Iterator[None]:
        """Run statements in this block only for a share of the time that is left. A statement that
        the database ends then leaves the transaction as it was before.
        """
        whole = self._deadline
        assert whole is not None
        self._mark("SAVEPOINT share", min(whole.left, whole.left_of_all * of))
        try:
            with super().share(of):
                yield
        except (errors.QueryCanceled, OutOfTimeError) as error:
            whole.check_time()
            self._mark("ROLLBACK TO share", whole.left)
            raise OutOfTimeError from error
        self._mark("RELEASE share", whole.left)

    def _mark(self, command: str, seconds: float) -> None:
        """Begin or end a share, and end each later statement after a time."""
        for text, values in ((command, ()), (_STATEMENT_TIME, (milliseconds(seconds),))):
            self._run(Statement(self, native(text), values))

    def commit(self) -> None:
        """Send what waits, and commit the transaction."""
        self._gathers = False
        self.send(Statement(self, b"COMMIT", ()))

    def leave(self) -> None:
        """End a transaction, if there is one, and keep nothing of it. Its answer is read before the
        connection is used again, so nobody waits for it.
        """
        self._gathers, self._waiting = False, []
        if self.raw.info.transaction_status is not TransactionStatus.IDLE:
            self.raw.pgconn.send_query(b"ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self.raw.close()

    def _run(self, statement: Statement) -> Statement:
        """Run a statement, or have it wait."""
        if self._gathers:
            self._waiting.append(statement)
        else:
            statement.send(self.raw)
        return statement

    def _settle(self) -> None:
        """Read the answer to what `leave` has sent."""
        if self.raw.info.transaction_status is TransactionStatus.ACTIVE:
            self.raw.wait(fetch_many(self.raw.pgconn))


@contextmanager
def _ended_after(raw: psycopg.Connection[Any], seconds: float | None) -> Iterator[None]:
    """Break a connection off if the block takes longer, if that may not be."""
    if seconds is None:
        yield
        return
    with socket(fileno=os.dup(raw.fileno())) as line:
        timer = Timer(seconds, line.shutdown, (SHUT_RDWR,))
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()


def milliseconds(seconds: float) -> str:
    """Return a time as the settings of the database have it, a little longer: our own clock says
    first that it is over, and why.
    """
    return str(ceil(seconds * 1000) + 1)


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
    if _SINGLE_STATEMENTS in str(error):
        return StorageError(
            f"{name} is behind a pooler that takes no transactions (`pool_mode = statement`)",
            "set `pool_mode = transaction` or `session` there",
        )
    why = text.partition("FATAL:")[2].partition("\n")[0].strip()
    if isinstance(error, errors.ProtocolViolation):  # a pooler's own words, such as of its limits
        why = error.diag.message_primary or ""
    return StorageBusyError(
        f"{name} does not answer{why and f': {why}'}",
        "try again in a few seconds, and correct the address if that does not help",
    )
