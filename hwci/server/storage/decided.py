# SPDX-License-Identifier: Apache-2.0
"""What reads decided about episodes, until somebody takes it to keep it.

A read writes nothing, so what it had to decide is noted here, also when its time runs out. This
module decides no class, and does not know the driver.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeVar
from uuid import UUID

from hwci.server.storage.ports import Reader
from hwci.server.storage.records import Decided
from hwci.server.storage.sql.transaction import Transaction

Result = TypeVar("Result")


class Notes:
    """What was decided and is not kept yet, shared by the threads of all readers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._decided: dict[UUID, Decided] = {}

    def run(self, work: Callable[[Reader], Result], transaction: Transaction) -> Result:
        """Run `work`, and note what it decided."""
        try:
            return work(transaction)
        finally:
            for decided in transaction.decided:
                self._note(decided)

    def take(self) -> Sequence[Decided]:
        """Return what was decided since the last call, of the latest version of each history."""
        with self._lock:
            decided = [*self._decided.values()]
            self._decided.clear()
        return decided

    def _note(self, new: Decided) -> None:
        with self._lock:
            before = self._decided.setdefault(new.org_id, new)
            if before.version == new.version:
                before.update(new)
            else:
                self._decided[new.org_id] = new
