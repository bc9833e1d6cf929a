# SPDX-License-Identifier: Apache-2.0
"""The `Storage` of a PostgreSQL database, which any number of servers share.

This module decides where a transaction begins and ends, which thread runs it, and at which
isolation: a read sees one snapshot; a write takes its locks first and then sees what was committed
before it (`locks.py`).
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

import psycopg
from psycopg import errors

from hwci.engine.history import OutOfTimeError
from hwci.server.deadline import ANSWER_SECONDS, Deadline
from hwci.server.errors import NotReadyError, StorageError
from hwci.server.storage.listening import Listener, Listeners
from hwci.server.storage.location import Location
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.postgresql.connections import Connection, storage_error
from hwci.server.storage.postgresql.hearing import Hearing, notify
from hwci.server.storage.postgresql.lanes import Lane
from hwci.server.storage.postgresql.locks import lock, locks_of
from hwci.server.storage.postgresql.schema import migrate, missing
from hwci.server.storage.records import NOBODY, Checked
from hwci.server.storage.sql.accounts.audit import open_key
from hwci.server.storage.sql.transaction import Transaction

Result = TypeVar("Result")

_GONE = "The database does not answer; this server goes on as soon as it does"
_READERS = 4
_WRITERS = 4
"""An organization has one write at a time, so this many organizations write at once."""


class PostgresqlTransaction(Transaction):
    """A transaction that locks the audit log, which is one for all organizations, before it reads
    the log's end.
    """

    def require_audit(self) -> None:
        """Lock the log until the transaction ends, then require it as every driver does."""
        self._connection.execute(lock("audit"))
        super().require_audit()


class PostgresqlStorage(Storage):
    """Storage in the database at an address, whose schema is brought up to date.

    Raises:
        StorageError: it cannot be reached or used, or it is not ours.
        SettingsError: there is no place for the key of the audit log.
    """

    def __init__(self, location: Location) -> None:
        self._location = location
        self._name = location.shown
        self._listeners = Listeners()
        self._me = uuid4()
        try:
            self._open()
        except psycopg.Error as error:
            raise storage_error(error, self._name) from None  # it may hold the password
        connect = partial(Connection, location)
        self._short = Lane("hwci-look-up", self._name, connect, 1)
        self._long = Lane("hwci-reader", self._name, connect, _READERS)
        connect = partial(Connection, location, self._audit_key)
        self._writing = Lane("hwci-writer", self._name, connect, _WRITERS)
        self._alone = Lane("hwci-lone-writer", self._name, connect, 1)
        self._hearing = Hearing(location, self._me, self._listeners)

    def _open(self) -> None:
        beside = self._location.require_place_of_keys()
        connection = Connection(self._location)
        try:
            migrate(connection)
            connection.command(f"BEGIN; {locks_of(NOBODY)}; {lock('audit')}")
            self._audit_key = open_key(connection, beside)
            connection.command("COMMIT")
        finally:
            connection.close()

    async def read(
        self,
        work: Callable[[Reader], Result],
        *,
        short: bool = False,
        organization: UUID | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Result:
        """Run `work` on one consistent snapshot."""
        lane, deadline = self._short if short else self._long, Deadline(seconds)

        def job() -> Result:
            begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_time(deadline.left)}"
            return self._run(lane, begin, lambda c: work(PostgresqlTransaction(c)), deadline)

        return await lane.threads.run(job, deadline, organization)

    async def write(
        self,
        work: Callable[[Writer], Result],
        *,
        organization: UUID | None = None,
        person: UUID | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Result:
        """Run `work` in one transaction, committed to disk before this returns."""
        whose = organization or person
        lane = self._alone if whose is None else self._writing
        waited = Deadline(min(seconds, ANSWER_SECONDS))
        begin = f"BEGIN ISOLATION LEVEL READ COMMITTED; {_time(seconds)}; {locks_of(whose)}"

        def job() -> Result:
            appended_to, result = self._run(
                lane, begin, partial(self._written, work), Deadline(seconds)
            )
            self._listeners.notify(appended_to)
            return result

        return await lane.threads.run(job, waited, whose)

    def _written(
        self, work: Callable[[Writer], Result], connection: Connection
    ) -> tuple[set[UUID], Result]:
        transaction = PostgresqlTransaction(connection)
        try:
            result = work(transaction)
        except BaseException:
            connection.mask.cache_clear()  # of test lists that are not kept now
            raise
        notify(connection, self._me, transaction.appended_to)
        return transaction.appended_to, result

    def _run(
        self, lane: Lane, begin: str, work: Callable[[Connection], Result], deadline: Deadline
    ) -> Result:
        try:
            return lane.run(begin, work, deadline)
        except errors.QueryCanceled as error:
            raise OutOfTimeError from error
        except psycopg.Error as error:
            raise storage_error(error, self._name) from error

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each commit that appended events, of any server."""
        return self._listeners.listen(listener)

    def leads(self) -> bool:
        """Return whether this server holds the lock of the one that leads."""
        return self._hearing.leads

    async def backup(self, to: Path) -> None:
        """Refuse: PostgreSQL has tools of its own for that."""
        raise StorageError(
            f"{self._name} is not copied to the file {to}", "use PostgreSQL's own `pg_dump`"
        )

    async def look_over(self) -> None:
        """Leave it to the database, which recovers by itself."""

    async def check(self) -> Checked:
        """Refuse: it is not possible yet."""
        raise StorageError(
            f"{self._name} cannot be checked by this hwci yet", "use PostgreSQL's `pg_amcheck`"
        )

    async def ready(self) -> None:
        """Return if the database answers."""
        try:
            await self.read(lambda reader: reader.organization(NOBODY), short=True)
        except StorageError as error:
            raise NotReadyError(_GONE) from error

    async def close(self) -> None:
        """Finish what was begun, then close the connections."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        for lane in (self._short, self._long, self._writing, self._alone):
            lane.close()
        self._hearing.close()


def _time(seconds: float) -> str:
    """Return the statements that end each statement of a transaction after this time, and the
    transaction itself after this time without one: a server that stands still holds no lock.
    """
    most = max(1, int(seconds * 1000))
    idle = "idle_in_transaction_session_timeout"
    return f"SET LOCAL statement_timeout = {most}; SET LOCAL {idle} = {most}"


def steps_after(location: Location) -> Sequence[str]:
    """Return the steps that a database lacks. Raises `StorageError`."""
    try:
        with closing(Connection(location)) as connection:
            return missing(connection)
    except psycopg.Error as error:
        raise storage_error(error, location.shown) from None
