# SPDX-License-Identifier: Apache-2.0
"""Threads that run transactions, and the queue before them.

This module decides how long the queue may be, and how long a job may stand in it: a request that
would wait behind hundreds, or for too long, is better refused, and its memory freed. It does
not know what a transaction does.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from math import inf
from typing import TypeVar
from uuid import UUID

from hwci.engine.history import OutOfTimeError
from hwci.server.deadline import Deadline
from hwci.server.errors import OverloadedError, StorageError
from hwci.server.line import Line, LineClosedError
from hwci.server.storage.interpreter import interpreter
from hwci.server.storage.turns import Turns

Result = TypeVar("Result")

WAITING_MAX = 256
"""Requests that wait for the database, in each lane: look-ups, short reads, first tries of long
ones, long reads, writes.
"""
_FULL = "Too many requests are waiting for the database; try again in a few seconds"
NOT_BEGUN = (
    "The database was busy with earlier requests for too long, and nothing of this one was done;"
    " try again in a few seconds"
)
_TOO_LONG = (
    "This would take longer than a request may; try again later, and ask for less at once,"
    " such as fewer days or one product"
)


def closed(database: object) -> StorageError:
    """Return the error of a call to a closed database."""
    return StorageError(f"The database {database} is closed", "start the server")


class Threads:
    """A number of threads of one kind, for one `database`."""

    def __init__(self, name: str, database: str, count: int = 1) -> None:
        self._database = database
        self._line = Line(name, count)
        self._turns = Turns()

    async def run(
        self,
        job: Callable[[], Result],
        deadline: Deadline | None = None,
        organization: UUID | None = None,
    ) -> Result:
        """Run a job in a thread, at its organization's turn if it has one. A job whose deadline
        passes before it has begun never begins. One that has begun checks its deadline, which the
        caller ends by leaving, and stops by itself.

        Raises:
            OverloadedError: too many wait already, or the deadline has passed.
            StorageError: the threads have ended.
        """
        deadline = deadline or Deadline(inf)
        try:
            return await self._in_a_thread(job, deadline, await self._turn(deadline, organization))
        except asyncio.CancelledError:
            deadline.give_up()
            raise
        except OutOfTimeError as error:
            raise OverloadedError(_TOO_LONG) from error
        except LineClosedError as error:
            raise closed(self._database) from error

    def close(self) -> None:
        """Finish the queue, and end."""
        self._line.close()

    async def _turn(self, deadline: Deadline, organization: UUID | None) -> Callable[[], None]:
        """Wait for an organization's turn, and return what ends it."""
        try:
            return await self._turns.take(organization, deadline.left)
        except TimeoutError as error:
            raise OverloadedError(NOT_BEGUN) from error

    async def _in_a_thread(
        self, job: Callable[[], Result], deadline: Deadline, end_turn: Callable[[], None]
    ) -> Result:
        """Hand a job over, and wait until it is done, which ends the turn."""
        loop = asyncio.get_running_loop()
        try:
            handed = self._line.hand_over(partial(interpreter.compute, job), WAITING_MAX, _FULL)
        except BaseException:
            end_turn()
            raise
        done = loop.create_future()

        def end() -> None:
            end_turn()
            if not done.cancelled():  # its caller is there
                done.set_result(None)

        # Once for both, as to wake the loop from a thread takes longer than what it then does.
        handed.add_done_callback(lambda _: loop.call_soon_threadsafe(end))
        due = loop.call_later(deadline.left, handed.cancel)  # one that has begun cannot be
        try:
            await done
        finally:
            due.cancel()
            handed.cancel()  # its caller may have left
        if handed.cancelled():
            raise OverloadedError(NOT_BEGUN)
        try:
            return handed.result()
        finally:
            del handed  # an error refers to this frame, and it to the error
