# SPDX-License-Identifier: Apache-2.0
"""The embedded `Storage`: one writer thread, two reader threads, one file, one process.

This module decides where a transaction begins and ends and which thread runs it. Writers wait in
line and begin with `BEGIN IMMEDIATE`; a reader works on the snapshot of its `BEGIN`. A caller that
stops waiting does not stop a transaction that has begun.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

from hwci.server.errors import StorageError
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.sqlite.connections import (
    Connection,
    check_readable,
    known_version,
    open_reader,
    open_writer,
    storage_error,
)
from hwci.server.storage.sqlite.locking import check_header, database_lock
from hwci.server.storage.sqlite.transaction import Transaction

Result = TypeVar("Result")

_READERS = 2


class SqliteStorage(Storage):
    """Storage in the file at `path`, made when it is not there.

    Raises:
        StorageLockedError: another process has it open.
        StorageError: the file is not ours, newer than the program, or cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._held = ExitStack()
        self._idle: SimpleQueue[Connection] = SimpleQueue()
        try:
            self._open()
        except BaseException as error:
            self._held.close()
            if isinstance(error, sqlite3.Error):
                raise storage_error(error, path) from error
            raise
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="hwci-writer")
        self._reading = ThreadPoolExecutor(_READERS, thread_name_prefix="hwci-reader")

    def _open(self) -> None:
        check_header(self._path, known_version())
        self._held.enter_context(database_lock(self._path))
        check_readable(self._path)
        # The writer is closed last: it then empties the log and leaves one file.
        self._writer = open_writer(self._path)
        self._held.callback(self._writer.close)
        for _ in range(_READERS):
            reader = open_reader(self._path)
            self._held.callback(reader.close)
            self._idle.put(reader)

    async def read(self, work: Callable[[Reader], Result]) -> Result:
        """Run `work` on one consistent snapshot, in a reader's thread."""
        return await self._run(self._reading, lambda: self._read(work))

    async def write(self, work: Callable[[Writer], Result]) -> Result:
        """Run `work` in one transaction, committed to disk before this returns."""
        return await self._run(self._writing, lambda: self._write(work))

    async def ready(self) -> None:
        """Return when both sides of the database answer."""
        await self.read(lambda reader: reader.organizations(0, 1))
        await self.write(lambda writer: writer.organizations(0, 1))

    async def close(self) -> None:
        """Finish what was begun, then close the file and let go of its lock."""
        await asyncio.to_thread(self._close)

    async def _run(self, threads: ThreadPoolExecutor, job: Callable[[], Result]) -> Result:
        try:
            waiting = asyncio.get_running_loop().run_in_executor(threads, job)
        except RuntimeError as error:  # the only fault of handing a job over: no threads any more
            raise StorageError(f"The database {self._path} is closed; start the server") from error
        try:
            return await waiting
        except sqlite3.Error as error:
            raise storage_error(error, self._path) from error

    def _read(self, work: Callable[[Reader], Result]) -> Result:
        connection = self._idle.get()
        try:
            connection.execute("BEGIN")
            return work(Transaction(connection))
        finally:
            if connection.raw.in_transaction:
                connection.execute("ROLLBACK")
            self._idle.put(connection)

    def _write(self, work: Callable[[Writer], Result]) -> Result:
        self._writer.execute("BEGIN IMMEDIATE")
        try:
            result = work(Transaction(self._writer))
            self._writer.execute("COMMIT")
        except BaseException:
            self._writer.roll_back()
            raise
        return result

    def _close(self) -> None:
        self._reading.shutdown()
        self._writing.shutdown()
        self._held.close()
