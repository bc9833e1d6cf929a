# SPDX-License-Identifier: Apache-2.0
"""What pages decided about episodes, until it is kept (`Metrics.keep_decisions`).

A page only reads, so what it had to decide is noted here, and soon written for the next page. This
module decides no class.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import NamedTuple
from uuid import UUID

from hwci.engine.history import Decision, Episode


class Decided(NamedTuple):
    """What was decided about episodes of this version of a history."""

    org_id: UUID
    version: int
    decisions: Sequence[tuple[Episode, Decision]]


class Notes:
    """What was decided and is not kept yet, shared by the threads of all readers."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._decided: dict[UUID, Decided] = {}

    @contextmanager
    def of(self, org_id: UUID, version: int) -> Iterator[list[tuple[Episode, Decision]]]:
        """Yield the list to which a page of this version adds what it decides. It is noted also
        when the time runs out, so that the next page has less to decide.
        """
        decided: list[tuple[Episode, Decision]] = []
        try:
            yield decided
        finally:
            if decided:
                self._note(Decided(org_id, version, decided))

    def take(self) -> Sequence[Decided]:
        """Return what was decided since the last call, of the latest version of each history."""
        with self._lock:
            decided = [*self._decided.values()]
            self._decided.clear()
        return decided

    def _note(self, new: Decided) -> None:
        with self._lock:
            before = self._decided.get(new.org_id)
            same = before.decisions if before and before.version == new.version else ()
            self._decided[new.org_id] = new._replace(decisions=[*same, *new.decisions])
