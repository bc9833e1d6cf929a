# SPDX-License-Identifier: Apache-2.0
"""Writes of one organization that wait at the same time share a transaction (ADR 0002).

This module decides which writes are done together, and what becomes of them when one fails: then
none of the transaction is kept, and each is done again in one of its own. A write that nobody waits
with is done at once. It does not know what is written, nor the driver.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from functools import partial
from threading import Lock
from time import monotonic
from uuid import UUID

from hwci.server.deadline import ANSWER_SECONDS, Deadline
from hwci.server.errors import OverloadedError
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.threads import NOT_BEGUN
from hwci.server.storage.turns import FULL, WAITING_OF_ONE_MAX

Work = Callable[[Writer], None]
"""What is written. It may be done again after a transaction that was not kept."""
Do = Callable[[Work], Awaitable[None]]

_TAKING_SECONDS = 0.03
"""A transaction takes no further write once it has run for this long: others wait for the disk."""


class _Fate(Enum):
    """What becomes of a write that waited."""

    KEPT = auto()  # another one's transaction kept it
    LEADS = auto()  # it begins the next transaction
    ALONE = auto()  # it is done in a transaction of its own


class _Waiting:
    """A write that waits until one of its organization is done."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.begin_by = Deadline(ANSWER_SECONDS)
        self.fate: asyncio.Future[_Fate] = asyncio.get_running_loop().create_future()
        self.leads = False

    def decide(self, fate: _Fate) -> None:
        self.leads = fate is _Fate.LEADS
        if not self.fate.done():  # else its caller has left
            self.fate.set_result(fate)

    def refuse(self) -> None:
        if not self.fate.done():
            self.fate.set_exception(OverloadedError(NOT_BEGUN))


class _Line:
    """The writes of an organization that wait. The event loop adds to it, the thread that writes
    takes from it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: deque[_Waiting] = deque()

    def add(self, one: _Waiting) -> None:
        if len(self._waiting) >= WAITING_OF_ONE_MAX:
            raise OverloadedError(FULL)
        self._waiting.append(one)

    def take(self) -> _Waiting | None:
        with self._lock:
            return self._waiting.popleft() if self._waiting else None

    def leave(self, one: _Waiting) -> bool:
        """Return whether it still waited."""
        with self._lock:
            waited = one in self._waiting
            if waited:
                self._waiting.remove(one)
            return waited


class _Transaction:
    """A write, and those that wait with it when it runs."""

    def __init__(self, work: Work, line: _Line) -> None:
        self._work = work
        self._line = line
        self.others: list[_Waiting] = []

    def run(self, writer: Writer) -> None:
        until = monotonic() + _TAKING_SECONDS
        self._work(writer)
        for other in self.others:  # of a try before this one, which another transaction ended
            other.work(writer)
        while monotonic() < until and (following := self._line.take()) is not None:
            self.others.append(following)
            following.work(writer)


class Together:
    """Does the writes of each organization in transactions that they share."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lines: dict[UUID, _Line] = {}  # of organizations that have a write begun

    async def write(self, work: Work, organization: UUID, seconds: float) -> None:
        """Do a write as `Storage.write` does. Raises as that."""
        line = self._lines.get(organization)
        begin_by = None
        if line is None:
            line = self._lines[organization] = _Line()
            fate = _Fate.LEADS
        else:
            one = _Waiting(work)
            begin_by, fate = one.begin_by, await self._fate(one, line, organization)
        do = partial(
            self._storage.write, organization=organization, seconds=seconds, begin_by=begin_by
        )
        if fate is _Fate.LEADS:
            fate = await self._lead(do, _Transaction(work, line), organization)
        if fate is _Fate.ALONE:
            await do(work)

    async def _fate(self, one: _Waiting, line: _Line, organization: UUID) -> _Fate:
        """Wait until another write has kept this one, or it leads."""

        def refuse() -> None:
            if line.leave(one):
                one.refuse()

        line.add(one)
        due = asyncio.get_running_loop().call_later(one.begin_by.left, refuse)
        try:
            return await one.fate
        except asyncio.CancelledError:
            line.leave(one)
            if one.leads:
                self._pass_on(organization)
            raise
        finally:
            due.cancel()

    async def _lead(self, do: Do, transaction: _Transaction, organization: UUID) -> _Fate:
        """Write, with all that wait. Return `ALONE` if that failed, perhaps by another one."""
        fate = _Fate.ALONE
        try:
            await do(transaction.run)
            fate = _Fate.KEPT
        except Exception:
            if not transaction.others:
                raise
        finally:
            for one in transaction.others:
                # If this caller has left, they may be kept: then they are written again, as if CI
                # had sent them again.
                one.decide(fate)
            self._pass_on(organization)
        return fate

    def _pass_on(self, organization: UUID) -> None:
        """Have the next one lead that waits."""
        following = self._lines[organization].take()
        if following is None:
            del self._lines[organization]
        else:
            following.decide(_Fate.LEADS)
