# SPDX-License-Identifier: Apache-2.0
"""Threads that run transactions on PostgreSQL, each with a connection of its own.

This module decides when a connection is made again, and what is tried again: a transaction that the
database ended for another's sake (a deadlock, a serialization failure), and one that found its
connection gone before the database answered. Nothing is tried again once it may have been
committed.
"""

import random
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, LifoQueue
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
    """Threads of one kind, and as many connections for them, made when they are needed: the one
    that rested last is used first, so there are only as many as were used at once.
    """

    def __init__(
        self, name: str, database: str, connect: Callable[[], Connection], count: int
    ) -> None:
        self.threads = Threads(name, database, count)
        self._connect = connect
        self._idle: LifoQueue[Connection | None] = LifoQueue()
        for _ in range(count):
            self._idle.put(None)

    def run(self, begin: Begin, work: Callable[[Connection], Result], deadline: Deadline) -> Result:
        """Run `work` in a transaction that `begin` begins, and which `work` commits if it wrote.
        The connection is kept for the next one if it still works.
        """
        connection = self._idle.get()
        try:
            if connection is not None:
                try:
                    return self._worked(connection, begin, work, deadline)
                except psycopg.OperationalError:
                    if connection.answered or not connection.raw.closed:
                        raise
            connection = self._connect()
            return self._worked(connection, begin, work, deadline)
        finally:
            self._idle.put(_rested(connection))

    def _worked(
        self,
        connection: Connection,
        begin: Begin,
        work: Callable[[Connection], Result],
        deadline: Deadline,
    ) -> Result:
        for left in reversed(range(_TRIES)):
            try:
                begin(connection)
                with connection.until(deadline):
                    return work(connection)
            except Exception as fault:
                connection.forget_lists()
                # What an interrupted read had loaded would stay as long as its traceback does.
                traceback.clear_frames(fault.__traceback__)
                if not left or not isinstance(fault, _FOR_ANOTHER):
                    raise
                connection.leave()
                time.sleep(random.uniform(0, _PAUSE_SECONDS))  # noqa: S311 - no secret
        raise AssertionError  # the last try returned or raised

    def rest(self) -> None:
        """Do nothing: pages are in the memory of the database."""

    def close(self) -> None:
        """Finish the queue, and close the connections."""
        self.threads.close()
        with suppress(Empty):
            while True:
                if (connection := self._idle.get_nowait()) is not None:
                    connection.close()


def _rested(connection: Connection | None) -> Connection | None:
    """Return a connection without a transaction; None if it is gone."""
    if connection is None:
        return None
    with suppress(psycopg.Error):
        connection.leave()
    if connection.raw.closed or connection.raw.broken:
        connection.close()
        return None
    return connection
