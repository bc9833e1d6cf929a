# SPDX-License-Identifier: Apache-2.0
"""The `Storage` of a PostgreSQL database, which any number of servers share.

This module decides where a transaction begins and ends, which thread runs it, and at which
isolation: a read sees one snapshot; a write takes its locks first and then sees what was committed
before it (`locks.py`).
"""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import TypeVar
from uuid import UUID, uuid4

import psycopg
from psycopg import errors

from hwci.engine.history import OutOfTimeError
from hwci.server.clock import Clock, system_clock
from hwci.server.deadline import ANSWER_SECONDS, Deadline
from hwci.server.errors import NotReadyError, OverloadedError, StorageError
from hwci.server.storage.decided import Notes
from hwci.server.storage.listening import Listener, Listeners
from hwci.server.storage.location import Location
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.postgresql.connections import Connection, milliseconds, storage_error
from hwci.server.storage.postgresql.hearing import Hearing, notify
from hwci.server.storage.postgresql.lanes import Begin, Lane
from hwci.server.storage.postgresql.locks import lock, locks_of
from hwci.server.storage.postgresql.schema import LAST_TAKEN, migrate, missing, steps
from hwci.server.storage.postgresql.sessions import require_same_database, require_session
from hwci.server.storage.reading import Reads
from hwci.server.storage.records import AuditEntry, Checked, Decided
from hwci.server.storage.sql.transaction import Transaction

LOG = logging.getLogger("hwci.server")
Result = TypeVar("Result")

_GONE = "The database does not answer; this server goes on as soon as it does"
_OLDER = (
    "The database is newer than this server, which writes nothing any more; its operator has to"
    " start the new version here"
)
READERS, WARM = 11, 4
"""Connections for short reads, and those of them that are made before there is a request. Where the
database is 5 ms away, most reads wait for the network.
"""
_BESIDE, _LONG = 3, 2
"""Connections for the first try of those with long reads, and for long reads."""
LOOK_UPS = 8
"""Connections on which callers are looked up, made when so many are looked up at once: one a round
trip on each.
"""
_WRITERS = 4
"""An organization has one write at a time, so this many organizations write at once."""
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
_TIME = """
SELECT
  set_config('statement_timeout', ?1, true),
  set_config('idle_in_transaction_session_timeout', ?1, true)
"""
"""Ends each later statement of a transaction after this time, and the transaction itself after this
time without one: a server that stands still holds no lock.
"""
_WARM_UP_SECONDS = 1.0
"""A server must not start late because its database is slow."""


class PostgresqlTransaction(Transaction):
    """A transaction that locks the audit log, which is one for all organizations, before it reads
    the log's end.
    """

    def add_audit(self, org_id: UUID, entry: AuditEntry) -> None:
        """Lock the log until the transaction ends, then append as every driver does."""
        self._connection.execute(lock("audit"))
        super().add_audit(org_id, entry)


class PostgresqlStorage(Storage):
    """Storage in the database at an address, whose schema is brought up to date. `hears`: of the
    events of other servers, and leads where no other does.

    Raises:
        StorageError: it cannot be reached or used, or it is not ours.
        SettingsError: there is no place for the key that signs.
    """

    def __init__(
        self, location: Location, clock: Clock = system_clock, *, hears: bool = True
    ) -> None:
        self._location = location
        self._name = location.shown
        self._listeners = Listeners()
        self._notes = Notes()
        self._me = uuid4()
        self._known = steps()[-1]
        self._open(hears=hears)
        connect = partial(Connection, location)
        self._short = Lane("hwci-look-up", self._name, connect, LOOK_UPS)
        names = ("hwci-reader", "hwci-reader-beside", "hwci-long-reader")
        counts = (READERS, _BESIDE, _LONG)
        self._lanes = [
            Lane(name, self._name, connect, count)
            for name, count in zip(names, counts, strict=True)
        ]
        self._reads = Reads(*self._lanes)
        self._writing = Lane("hwci-writer", self._name, connect, _WRITERS)
        self._alone = Lane("hwci-lone-writer", self._name, connect, 1)
        self._hearing = (
            Hearing(location.session, self._me, self._listeners, self._known, clock)
            if hears
            else None
        )

    def _open(self, *, hears: bool) -> None:
        self._location.require_place_of_key()
        with _connected(self._location) as connection:
            connection.command("BEGIN")  # a pooler may take no transactions
            connection.command("ROLLBACK")
            if hears:
                self._require_session(connection)
            migrate(connection)

    def _require_session(self, connection: Connection) -> None:
        """Raise `StorageError` if events would not be heard, before anything is written."""
        if self._location.session_address is None:
            require_session(connection, self._location)
            return
        with _connected(self._location.session) as session:
            require_session(session, self._location.session)
            require_same_database(session, connection)

    async def read(
        self,
        work: Callable[[Reader], Result],
        *,
        short: bool = False,
        organization: UUID | None = None,
        person: UUID | None = None,
        question: str | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Result:
        """Run `work` on one consistent snapshot."""

        def look(connection: Connection) -> Result:
            return self._notes.run(work, PostgresqlTransaction(connection))

        if short:
            return await self._look_up(look, Deadline(seconds))
        read = partial(self._look, look)
        return await self._reads.run(read, seconds, organization, person, question)

    def take_decided(self) -> Sequence[Decided]:
        """Return what reads decided since the last call."""
        return self._notes.take()

    async def look_up(self, work: Callable[[Reader], Result]) -> Result:
        """Run `work`, which asks one question: it needs no transaction to see one snapshot."""
        deadline = Deadline(ANSWER_SECONDS)

        def begin(connection: Connection) -> None:
            connection.gather((_TIME, (milliseconds(deadline.left),)))

        def look(connection: Connection) -> Result:
            return work(PostgresqlTransaction(connection))

        job = partial(self._run, self._short, begin, look, deadline)
        return await self._short.threads.run(job, deadline)

    async def warm_up(self, work: Callable[[Reader], object]) -> None:
        """Run `work` on a few connections that read, all at once: the database learns of the tables
        anew for each new one.
        """
        begun, deadline = Barrier(WARM, timeout=_WARM_UP_SECONDS), Deadline(_WARM_UP_SECONDS)
        lane = self._lanes[0]

        def together(connection: Connection) -> None:
            begun.wait()  # a connection that rests would be used again
            work(PostgresqlTransaction(connection))

        job = partial(self._look, together, lane, deadline)
        each = [lane.threads.run(job, deadline) for _ in range(WARM)]
        try:
            await asyncio.gather(*each)
        except (StorageError, OverloadedError, BrokenBarrierError) as error:
            LOG.info("Did not warm up: %s", str(error) or "the database is slow")

    async def _look_up(self, look: Callable[[Connection], Result], deadline: Deadline) -> Result:
        job = partial(self._look, look, self._short, deadline)
        return await self._short.threads.run(job, deadline)

    def _look(self, look: Callable[[Connection], Result], lane: Lane, deadline: Deadline) -> Result:
        def begin(connection: Connection) -> None:
            connection.gather((_READ, ()), (_TIME, (milliseconds(deadline.left),)))

        return self._run(lane, begin, look, deadline)

    async def write(
        self,
        work: Callable[[Writer], Result],
        *,
        organization: UUID | None = None,
        person: UUID | None = None,
        seconds: float = ANSWER_SECONDS,
        begin_by: Deadline | None = None,
    ) -> Result:
        """Run `work` in one transaction, committed to disk before this returns."""
        whose = organization or person
        lane = self._alone if whose is None else self._writing
        waited = begin_by or Deadline(min(seconds, ANSWER_SECONDS))
        most = f"'{milliseconds(seconds)}'"
        what = f"{_WRITE}; {_TIME.replace('?1', most)}; {locks_of(whose)}"

        def begin(connection: Connection) -> None:
            connection.gather()
            # Behind the lock: no step is taken from now on until the transaction ends.
            self._require_known(connection.command(f"{what}; {LAST_TAKEN}"))

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
        result = work(transaction)
        notify(connection, self._me, transaction.appended_to)
        connection.commit()
        return transaction.appended_to, result

    def _require_known(self, taken: Sequence[str] | None) -> None:
        """Raise `NotReadyError` if the last step that was taken is a newer hwci's."""
        assert taken is not None
        if taken[0] > self._known:
            raise NotReadyError(_OLDER)

    def _run(
        self, lane: Lane, begin: Begin, work: Callable[[Connection], Result], deadline: Deadline
    ) -> Result:
        try:
            return lane.run(begin, work, deadline)
        except errors.QueryCanceled as error:
            deadline.check_time()  # a part of its time may be over
            raise OutOfTimeError from error
        except psycopg.Error as error:
            raise storage_error(error, self._name) from error

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each commit that appended events, of any server."""
        return self._listeners.listen(listener)

    def leads(self) -> bool:
        """Return whether this server holds the lock of the one that leads."""
        return self._hearing is not None and self._hearing.leads

    async def backup(self, to: Path) -> None:
        """Refuse: PostgreSQL has tools of its own for that."""
        raise StorageError(
            f"{self._name} is not copied to the file {to}", "use PostgreSQL's own `pg_dump`"
        )

    async def look_over(self) -> None:
        """Leave it to the database, which recovers by itself."""

    async def check(self) -> Checked:
        """Refuse: a check copies everything, and is for a process of its own."""
        raise StorageError(f"{self._name} is not checked by a server", "run: hwci admin check")

    async def ready(self) -> None:
        """Return if the database answers, and is not newer than this server."""

        def look(connection: Connection) -> None:
            self._require_known(connection.row(LAST_TAKEN))

        try:
            await self._look_up(look, Deadline(ANSWER_SECONDS))
        except StorageError as error:
            raise NotReadyError(_GONE) from error

    async def close(self) -> None:
        """Finish what was begun, then close the connections."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        for lane in (self._short, *self._lanes, self._writing, self._alone):
            lane.close()
        if self._hearing is not None:
            self._hearing.close()


def steps_after(location: Location) -> Sequence[str]:
    """Return the steps that a database lacks. Raises `StorageError`."""
    with _connected(location) as connection:
        return missing(connection)


@contextmanager
def _connected(location: Location) -> Iterator[Connection]:
    """Yield a connection while nothing is asked yet. Raises `StorageError`."""
    try:
        with closing(Connection(location)) as connection:
            yield connection
    except psycopg.Error as error:
        raise storage_error(error, location.shown) from None  # it may hold the password
