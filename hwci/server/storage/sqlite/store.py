# SPDX-License-Identifier: Apache-2.0
"""The embedded `Storage`: one writer thread, reader threads (`reading.py`), one for look-ups, one
that copies, one that watches the file; one file, one process.

This module decides where a transaction begins and ends and which thread runs it. Writers queue
and begin with `BEGIN IMMEDIATE`; a reader works on the snapshot of its `BEGIN`.
"""

import asyncio
import logging
import sqlite3
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path
from queue import Empty, LifoQueue
from tempfile import TemporaryDirectory
from typing import TypeVar
from uuid import UUID

from hwci.server.deadline import ANSWER_SECONDS, Deadline
from hwci.server.errors import DamagedError, StorageError
from hwci.server.storage.decided import Notes
from hwci.server.storage.listening import Listener, Listeners
from hwci.server.storage.new_file import refuse_taken
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.reading import Reads
from hwci.server.storage.records import NOBODY, Checked, Decided
from hwci.server.storage.sql.reports.ingest import derive_waiting
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite.checking import check, look_over, watch
from hwci.server.storage.sqlite.condition import FAULTS, Condition, storage_error
from hwci.server.storage.sqlite.connections import (
    Connection,
    check_readable,
    known_version,
    open_reader,
    open_writer,
)
from hwci.server.storage.sqlite.copying import Stopped, back_up
from hwci.server.storage.sqlite.locking import (
    check_header,
    database_lock,
    read_header,
    refuse_second_names,
)
from hwci.server.storage.sqlite.page_sums import PageSums
from hwci.server.storage.threads import Threads

LOG = logging.getLogger("hwci.server")
Result = TypeVar("Result")

_SHORT_SECONDS = 1.0
"""How long a start waits for the check of its database; then requests are refused until its end."""
READERS = (2, 1, 2)
"""Threads for short reads, for the first try of those with long ones, and for long ones."""


class ReadLane:
    """Threads that read, and as many connections for them."""

    def __init__(self, name: str, path: Path, connections: Sequence[Connection]) -> None:
        self.threads = Threads(name, str(path), len(connections))
        # The one that rested last has in its memory what the next request reads.
        self._idle: LifoQueue[Connection] = LifoQueue()
        for connection in connections:
            self._idle.put(connection)

    def read(self, work: Callable[[Transaction], Result], deadline: Deadline) -> Result:
        """Run `work` on one snapshot; the connection comes back whatever happens."""
        connection = self._idle.get()
        try:
            connection.leave_snapshot()  # the one before could not be ended
            connection.wait_for_locks(deadline.left)
            connection.execute("BEGIN")
            with connection.until(deadline):
                return work(Transaction(connection))
        except sqlite3.OperationalError:
            deadline.check_time()  # it may have been interrupted
            raise
        except Exception as fault:
            # What an interrupted read had loaded would stay as long as its traceback does.
            traceback.clear_frames(fault.__traceback__)
            raise
        finally:
            try:
                connection.leave_snapshot()
            finally:
                self._idle.put(connection)

    def rest(self) -> None:
        """Forget the pages that idle connections have read."""
        connections = []
        with suppress(Empty):
            while True:
                connections.append(self._idle.get_nowait())
        for connection in reversed(connections):
            with suppress(sqlite3.Error):  # the database may be closed by now
                connection.raw.execute("PRAGMA shrink_memory")
            self._idle.put(connection)


def _refuse_lost(database: Path) -> None:
    """Refuse to make a database where there was one: its page sums are still there. In an empty one
    anybody could register as the first user. Raises `StorageError`.
    """
    sums = database.with_name(f"{database.name}.sums")
    if read_header(database) is None and sums.exists():
        raise StorageError(
            f"The database {database} was removed or emptied: its page sums are there",
            "restore a backup with `hwci admin restore`, or move"
            f" {sums.name} away to begin a new database",
        )


class SqliteStorage(Storage):
    """Storage in the file at `path`, made when it is not there. The path is the file's own, not a
    link: two processes that named it differently would each hold a lock of their own.

    Raises:
        StorageLockedError: another process has it open.
        StorageError: the file is not ours, newer than the program, or cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = ExitStack()
        self._listeners = Listeners()
        self._notes = Notes()
        try:
            self._open()
        except BaseException as error:
            self._held.close()
            if isinstance(error, FAULTS):
                raise storage_error(error, path) from error
            raise
        self._writing = Threads("hwci-writer", str(path))
        self._copying = Threads("hwci-copier", str(path))
        self._closing = threading.Event()
        about = (self._sums, self._condition, self._closing)
        self._watching = threading.Thread(target=watch, name="hwci-watcher", args=about)

    def _open(self) -> None:
        check_header(self._path, known_version())
        _refuse_lost(self._path)
        note = self._held.enter_context(database_lock(self._path))
        refuse_second_names(self._path)
        self._condition = Condition(self._path, note)
        check_readable(self._path)
        self._sums = self._held.enter_context(closing(PageSums(self._path)))
        self._held.callback(self._condition.closed)
        # The writer is closed last: it then empties the log and leaves one file.
        self._writer = open_writer(self._path, self._sums)
        self._held.callback(self._writer.close)
        derive_waiting(self._writer)
        self._short = self._lane("hwci-look-up", 1)
        names = ("hwci-reader", "hwci-reader-beside", "hwci-long-reader")
        self._lanes = [self._lane(name, count) for name, count in zip(names, READERS, strict=True)]
        self._reads = Reads(*self._lanes)
        self._condition.opened()

    def _lane(self, name: str, count: int) -> ReadLane:
        return ReadLane(name, self._path, [self._reader() for _ in range(count)])

    def _reader(self) -> Connection:
        reader = open_reader(self._path)
        self._held.callback(reader.close)
        return reader

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
        """Run `work` on one consistent snapshot, in a reader's thread."""

        def read(lane: ReadLane, deadline: Deadline) -> Result:
            return self._in_usable_file(partial(lane.read, noted, deadline))

        noted = partial(self._notes.run, work)
        if not short:
            return await self._reads.run(read, seconds, organization, person, question)
        deadline = Deadline(seconds)
        return await self._short.threads.run(partial(read, self._short, deadline), deadline)

    def take_decided(self) -> Sequence[Decided]:
        """Return what reads decided since the last call."""
        return self._notes.take()

    async def warm_up(self, work: Callable[[Reader], object]) -> None:
        """Do nothing: the first page of a file takes a few milliseconds more than the next."""

    async def write(
        self,
        work: Callable[[Writer], Result],
        *,
        organization: UUID | None = None,
        person: UUID | None = None,  # noqa: ARG002 - a file has one write at a time
        seconds: float = ANSWER_SECONDS,
        begin_by: Deadline | None = None,
    ) -> Result:
        """Run `work` in one transaction, committed to disk before this returns."""
        deadline = begin_by or Deadline(min(seconds, ANSWER_SECONDS))
        job = partial(self._write, work, deadline, seconds)
        return await self._run(self._writing, job, deadline, organization)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each commit that appended events. No other process writes here."""
        return self._listeners.listen(listener)

    def leads(self) -> bool:
        """Return True: one server has the file."""
        return True

    async def backup(self, to: Path) -> None:
        """Write a whole copy of the database to a new file, in a thread of its own. It stops if its
        caller stops waiting.
        """
        stopped = threading.Event()
        try:
            await self._run(self._copying, lambda: self._back_up(to, stopped.is_set))
        except asyncio.CancelledError:
            stopped.set()
            raise

    async def look_over(self) -> None:
        """Begin to check the file, and go on for as long as it is open. Nothing is read or written
        during the first check; this waits for a short one.
        """
        self._condition.refuse_until_checked()
        stopped = self._closing.is_set
        look = partial(look_over, self._path, self._sums, self._condition, stopped)
        self._looking_over = asyncio.ensure_future(self._copying.run(look))
        self._looking_over.add_done_callback(self._looked_over)
        await asyncio.wait([self._looking_over], timeout=_SHORT_SECONDS)

    def _looked_over(self, looking: "asyncio.Future[None]") -> None:
        """Watch the file from now on. Allow use after a check that failed by a bug, as after one
        that ran out of time.
        """
        if not self._closing.is_set():
            self._watching.start()
        if not looking.cancelled() and (fault := looking.exception()) is not None:
            LOG.error("The database %s was not looked over", self._path, exc_info=fault)
            self._condition.checked()

    async def check(self) -> Checked:
        """Look for damage in a copy, in the thread that copies. It stops if its caller stops
        waiting.
        """
        stopped = threading.Event()
        try:
            checked = await self._copying.run(lambda: check(self._path, stopped.is_set, self._sums))
        except asyncio.CancelledError:
            stopped.set()
            raise
        if checked.damage:
            self._condition.damaged(checked.damage[0])
        return checked

    async def ready(self) -> None:
        """Return if the database answers. This does not use the writer's connection."""
        self._condition.require_usable()
        self._condition.require_there()
        self._condition.require_room()
        await self.read(lambda reader: reader.organization(NOBODY), short=True)

    async def close(self) -> None:
        """Finish what was begun, then close the file and release its lock."""
        await asyncio.to_thread(self._close)

    async def _run(
        self,
        threads: Threads,
        job: Callable[[], Result],
        deadline: Deadline | None = None,
        organization: UUID | None = None,
    ) -> Result:
        return await threads.run(lambda: self._in_usable_file(job), deadline, organization)

    def _in_usable_file(self, job: Callable[[], Result]) -> Result:
        """Run a job in its thread, unless the file must not be used, and note its faults."""
        self._condition.require_usable()
        try:
            return job()
        except DamagedError as error:
            self._condition.damaged(error.cause)
            raise
        except FAULTS as error:
            raise self._condition.take_fault(error) from error

    def _back_up(self, to: Path, stopped: Stopped) -> None:
        refuse_taken(to)
        back_up(self._path, to, stopped)

    def _write(self, work: Callable[[Writer], Result], waited: Deadline, seconds: float) -> Result:
        """Write. Once begun it has its own time, and is kept whole or not at all."""
        self._condition.require_there()
        self._writer.wait_for_locks(min(waited.left, ANSWER_SECONDS))
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            transaction = Transaction(self._writer)
            with self._writer.until(Deadline(seconds)):
                result = work(transaction)
            self._writer.commit()
            self._condition.note_room()
        except BaseException:
            self._writer.roll_back()
            raise
        self._listeners.notify(transaction.appended_to)
        return result

    def _close(self) -> None:
        self._closing.set()
        if self._watching.is_alive():
            self._watching.join()
        self._copying.close()
        self._short.threads.close()
        for lane in self._lanes:
            lane.threads.close()
        self._writing.close()
        self._held.close()


class TemporaryStorage(SqliteStorage):
    """Storage in a folder of its own, which is removed when it is closed (`memory:`)."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="hwci-")
        super().__init__(Path(self._folder.name).resolve() / "hwci.db")

    async def close(self) -> None:
        """Close the file, and remove it."""
        await super().close()
        self._folder.cleanup()
