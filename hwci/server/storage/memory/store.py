# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""Storage in memory: the same promises as on disk, except that nothing survives the process.

This room decides the identities of semantics 1.5 in the plainest way, and derives nothing: its
history is the engine's definition over all facts. A transaction works on a copy that takes the
place of the state when it ends well, so one that raises leaves no trace and readers see no partial
change.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from hwci.server.deadline import ANSWER_SECONDS, Deadline
from hwci.server.errors import StorageError
from hwci.server.storage.listening import Listener, Listeners
from hwci.server.storage.location import MEMORY
from hwci.server.storage.memory.accounts import MemoryAccounts
from hwci.server.storage.memory.audit import MemoryAudit
from hwci.server.storage.memory.boxes import MemoryBoxes
from hwci.server.storage.memory.events import MemoryEvents, appended
from hwci.server.storage.memory.keys import MemoryKeys
from hwci.server.storage.memory.members import MemoryMembers
from hwci.server.storage.memory.records import MemoryRecords
from hwci.server.storage.memory.runs import MemoryRuns
from hwci.server.storage.memory.sessions import MemorySessions
from hwci.server.storage.memory.state import State
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import NOBODY, Checked
from hwci.server.storage.threads import Threads

Result = TypeVar("Result")


class MemoryTransaction(
    MemoryAccounts,
    MemorySessions,
    MemoryMembers,
    MemoryKeys,
    MemoryBoxes,
    MemoryRuns,
    MemoryEvents,
    MemoryRecords,
    MemoryAudit,
):
    """A `Writer` over one state."""

    def __init__(self, state: State, check_time: Callable[[], None] = lambda: None) -> None:
        super().__init__(state)
        self._check_time = check_time


class MemoryStorage(Storage):
    """Storage in this process's memory: one writer at a time, readers on the last state."""

    def __init__(self) -> None:
        self._state = State()
        self._listeners = Listeners()
        self._writing = Threads("hwci-writer", MEMORY)
        self._reading = Threads("hwci-reader", MEMORY)
        self._looking_up = Threads("hwci-look-up", MEMORY)

    async def read(
        self,
        work: Callable[[Reader], Result],
        *,
        short: bool = False,
        organization: UUID | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Result:
        threads, deadline = self._looking_up if short else self._reading, Deadline(seconds)
        return await threads.run(
            lambda: work(MemoryTransaction(self._state, deadline.check_time)),
            deadline,
            organization,
        )

    async def write(
        self,
        work: Callable[[Writer], Result],
        *,
        organization: UUID | None = None,
        seconds: float = ANSWER_SECONDS,
    ) -> Result:
        deadline = Deadline(min(seconds, ANSWER_SECONDS))
        return await self._writing.run(lambda: self._write(work), deadline, organization)

    def listen(self, listener: Listener) -> Callable[[], None]:
        return self._listeners.listen(listener)

    async def backup(self, to: Path) -> None:
        raise StorageError(f"{MEMORY} is not kept, so no copy of it goes to {to}", "use a file")

    async def look_over(self) -> None:
        pass

    async def check(self) -> Checked:
        return Checked()

    async def ready(self) -> None:
        await self.read(lambda reader: reader.organization(NOBODY), short=True)

    async def close(self) -> None:
        for threads in (self._looking_up, self._reading, self._writing):
            await asyncio.to_thread(threads.close)

    def _write(self, work: Callable[[Writer], Result]) -> Result:
        state = self._state.copy()
        result = work(MemoryTransaction(state))
        before, self._state = self._state, state
        self._listeners.notify(appended(before, state))
        return result
