# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""Keys of CI and of readers in memory."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.memory.lists import first, newest, slice_of
from hwci.server.storage.memory.state import State
from hwci.server.storage.ports import AKey
from hwci.server.storage.records import Key


class MemoryKeys:
    """Keys of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def key_by_digest(self, kind: type[AKey], digest: bytes) -> AKey | None:
        return first(key for key in self._of(kind) if key.digest == digest)

    def keys(self, kind: type[AKey], org_id: UUID, offset: int, limit: int) -> Listing[AKey]:
        found = (key for key in self._of(kind) if key.org_id == org_id)
        return slice_of(newest(found, lambda one: one.created_at), offset, limit)

    def add_key(self, key: Key) -> None:
        self._state.keys[key.org_id, key.id] = key

    def revoke_key(self, kind: type[AKey], org_id: UUID, key_id: UUID, at: datetime) -> AKey | None:
        key = self._state.keys.get((org_id, key_id))
        if not isinstance(key, kind):
            return None
        if key.revoked_at is None:
            key = replace(key, revoked_at=at)
            self.add_key(key)
        return key

    def touch_key(self, key: Key, at: datetime) -> None:
        kept = self._state.keys.get((key.org_id, key.id))
        if kept is not None:
            latest = at if kept.last_used_at is None else max(kept.last_used_at, at)
            self.add_key(replace(kept, last_used_at=latest))

    def _of(self, kind: type[AKey]) -> Iterator[AKey]:
        return (key for key in self._state.keys.values() if isinstance(key, kind))
