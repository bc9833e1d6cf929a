# SPDX-License-Identifier: Apache-2.0
"""Short reads before long ones (ADR 0002).

Nobody says of a caller's read how long it takes: each begins among the short ones, and one that
has computed for `SHORT_SECONDS` is begun again among the long ones. A question whose read was a
long one before gets `_KNOWN_SECONDS`: enough to find that its caller has the answer. This module
does not know what is read, nor the driver.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic, thread_time
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from hwci.server.deadline import ANSWER_SECONDS, Deadline, Part, TakesLongError
from hwci.server.errors import OverloadedError
from hwci.server.memory import trim_memory
from hwci.server.storage.threads import NOT_BEGUN, Threads
from hwci.server.storage.turns import Turns

Result = TypeVar("Result")

SHORT_SECONDS = 0.1
"""Processor seconds after which a read is a long one. A page of a large history takes 0.01."""
_KNOWN_SECONDS = 0.003
"""The same, if the read of its question was a long one before."""
SHORT_WAIT_SECONDS = 1.0
"""Seconds after which it is one in any case, with what it waits for the database."""
LATELY_SECONDS = 20.0
"""So long after a long read an organization begins its reads apart from those that have none."""
_QUESTIONS_MAX = 1000
"""Questions with long reads that are known; the one that was asked for longest ago goes first."""
_FULL = "Too many of your requests are waiting; try again in a few seconds"


class Lane(Protocol):
    """Threads that read, and a connection for each."""

    threads: Threads

    def rest(self) -> None:
        """Give back memory that only makes the next read quicker."""


L = TypeVar("L", bound=Lane)


class _Time:
    """The time of a read. It begins in the thread that reads."""

    def __init__(self) -> None:
        self._begun, self._used = monotonic(), thread_time()

    def is_beyond(self, most: float) -> bool:
        """Return whether it has used more seconds of the processor, or waited for long."""
        passed = monotonic() - self._begun
        if passed < most:
            return False
        return passed > SHORT_WAIT_SECONDS or thread_time() - self._used > most


class _First(Part):
    """The time of a read among the short ones. `most`: seconds of the processor."""

    def __init__(self, whole: Deadline, most: float) -> None:
        super().__init__(whole, SHORT_WAIT_SECONDS)
        self._most, self._time = most, _Time()

    def check_time(self) -> None:
        """Raise `TakesLongError` if this takes long."""
        self._whole.check_time()
        if self._time.is_beyond(self._most):
            raise TakesLongError


class Reads(Generic[L]):
    """The reads of a database, in three lanes of threads.

    A person or key has one read at a time, so that others of the organization go ahead of what else
    it asks for. An organization that lately had a long read begins its reads in the lane `beside`:
    the lane `short` is of those that ask for nothing long.
    """

    def __init__(self, short: L, beside: L, long: L) -> None:
        self._short = short
        self._beside = beside
        self._long = long
        self._persons = Turns(_FULL)
        self._long_begun: dict[UUID, float] = {}
        self._long_questions: OrderedDict[str | None, None] = OrderedDict()

    async def run(
        self,
        read: Callable[[L, Deadline], Result],
        seconds: float,
        organization: UUID | None,
        person: UUID | None,
        question: str | None,
    ) -> Result:
        """Do a read, which is begun again if it is long. Raises as `Threads.run`."""
        deadline = Deadline(seconds)
        try:
            end_turn = await self._persons.take(person and (organization, person), deadline.left)
        except TimeoutError as error:
            raise OverloadedError(NOT_BEGUN) from error
        try:
            if seconds > ANSWER_SECONDS:  # an operator's, who knows that it is long
                return await self._take_long(read, deadline, organization, question)
            try:
                return await self._try_short(read, deadline, organization, question)
            except TakesLongError:
                return await self._take_long(read, deadline, organization, question)
        finally:
            end_turn()

    async def _try_short(
        self,
        read: Callable[[L, Deadline], Result],
        deadline: Deadline,
        organization: UUID | None,
        question: str | None,
    ) -> Result:
        """Do it in a lane for short reads. Raises `TakesLongError`: it is a long one."""
        is_known = question in self._long_questions
        most = _KNOWN_SECONDS if is_known else SHORT_SECONDS

        def job(lane: L) -> Result:
            return read(lane, _First(deadline, most))

        if organization not in self._long_begun and not is_known:
            # It may be an honest page that Python searched for cycles in the midst of: try twice.
            with suppress(TakesLongError):
                return await self._short.threads.run(
                    partial(job, self._short), deadline, organization
                )
        return await self._beside.threads.run(partial(job, self._beside), deadline, organization)

    async def _take_long(
        self,
        read: Callable[[L, Deadline], Result],
        deadline: Deadline,
        organization: UUID | None,
        question: str | None,
    ) -> Result:
        def job(lane: L) -> tuple[Result, bool]:
            time = _Time()
            return read(lane, deadline), time.is_beyond(SHORT_SECONDS)

        if organization is not None:
            self._long_begun[organization] = monotonic()
            asyncio.get_running_loop().call_later(LATELY_SECONDS, self._forget, organization)
        result, was_long = await self._long.threads.run(
            partial(job, self._long), deadline, organization
        )
        self._note(question, was_long=was_long)
        return result

    def _note(self, question: str | None, *, was_long: bool) -> None:
        """Note whether the read of a question was long."""
        self._long_questions.pop(question, None)
        if was_long and question is not None:
            self._long_questions[question] = None
            if len(self._long_questions) > _QUESTIONS_MAX:
                self._long_questions.popitem(last=False)

    def _forget(self, organization: UUID) -> None:
        begun = self._long_begun.get(organization)
        if begun is not None and monotonic() - begun >= LATELY_SECONDS:
            del self._long_begun[organization]
            if not self._long_begun:
                asyncio.get_running_loop().run_in_executor(None, self._rest)

    def _rest(self) -> None:
        """Give back what long reads took, and what they have freed between what stays."""
        for lane in (self._short, self._beside, self._long):
            lane.rest()
        trim_memory()
