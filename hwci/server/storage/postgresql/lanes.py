# SPDX-License-Identifier: Apache-2.0
"""Threads that run transactions on PostgreSQL, each with a connection of its own.

This module decides when a connection is made again, and what is tried again: a transaction that the
database ended for another's sake (a deadlock, a serialization failure), and one that found its
connection gone before it began. Nothing is tried again once it may have been committed.
"""

import random
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

import psycopg
from psycopg import errors

from hwci.server.deadline import Deadline
from hwci.server.storage.postgresql.connections import Connection
from hwci.server.storage.threads import Threads

Result = TypeVar("Result")
Begin = Callable[[Connection], object]
"""What begins a transaction. It may refuse to."""

_TRIES = 4
_PAUSE_SECONDS = 0.05
_FOR_ANOTHER = (errors.DeadlockDetected, errors.SerializationFailure)


class Lane:
    """Threads of one kind, and as many connections for them, made when they are needed."""

    def __init__(
        self, name: str, database: str, connect: Callable[[], Connection], count: int
    ) -> None:
        self.threads = Threads(name, database, count)
        self._connect = connect
        self._idle: SimpleQueue[Connection | None] = SimpleQueue()
        for _ in range(count):
            self._idle.put(None)

    def run(self, begin: Begin, work: Callable[[Connection], Result], deadline: Deadline) -> Result:
        """Run `work` in a transaction that `begin` begins, and commit it. The connection is kept
        for the next one if it still works.
        """
        connection = self._idle.get()
        try:
            connection = self._begun(connection, begin)
            return self._worked(connection, begin, work, deadline)
        finally:
            self._idle.put(_rested(connection))

    def _begun(self, connection: Connection | None, begin: Begin) -> Connection:
        """Begin on a connection, or on a new one if it is gone."""
        if connection is not None:
            try:
                begin(connection)
            except psycopg.OperationalError:
                if not connection.raw.closed:
                    raise
            else:
                return connection
        connection = self._connect()
        try:
            begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _worked(
        self,
        connection: Connection,
        begin: Begin,
        work: Callable[[Connection], Result],
        deadline: Deadline,
    ) -> Result:
        for left in reversed(range(_TRIES)):
            try:
                result = _once(connection, work, deadline)
            except _FOR_ANOTHER:
                if not left:
                    raise
                connection.roll_back()
                time.sleep(random.uniform(0, _PAUSE_SECONDS))  # noqa: S311 - no secret
                begin(connection)
            except Exception as fault:
                # What an interrupted read had loaded would stay as long as its traceback does.
                traceback.clear_frames(fault.__traceback__)
                raise
            else:
                return result
        raise AssertionError  # the last try returned or raised

    def close(self) -> None:
        """Finish the queue, and close the connections."""
        self.threads.close()
        with suppress(Empty):
            while True:
                if (connection := self._idle.get_nowait()) is not None:
                    connection.close()


def _once(
    connection: Connection, work: Callable[[Connection], Result], deadline: Deadline
) -> Result:
    """Run `work` in the transaction that has begun, and commit it."""
    try:
        with connection.until(deadline):
            result = work(connection)
        connection.command("COMMIT")
    except BaseException:
        connection.forget_lists()
        raise
    return result


def _rested(connection: Connection | None) -> Connection | None:
    """Return a connection without a transaction; None if it is gone."""
    if connection is None:
        return None
    with suppress(psycopg.Error):
        connection.roll_back()
    if connection.raw.closed or connection.raw.broken:
        connection.close()
        return None
    return connection
