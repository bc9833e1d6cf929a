# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""CI keys in memory."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.memory.lists import first, newest, slice_of
from hwci.server.storage.memory.state import State
from hwci.server.storage.records import CiKey


class MemoryKeys:
    """CI keys of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def ci_key_by_digest(self, digest: bytes) -> CiKey | None:
        return first(key for key in self._state.ci_keys.values() if key.digest == digest)

    def ci_keys(self, org_id: UUID, offset: int, limit: int) -> Listing[CiKey]:
        found = [key for key in self._state.ci_keys.values() if key.org_id == org_id]
        return slice_of(newest(found, lambda one: one.created_at), offset, limit)

    def add_ci_key(self, key: CiKey) -> None:
        self._state.ci_keys[key.org_id, key.id] = key

    def revoke_ci_key(self, org_id: UUID, key_id: UUID, at: datetime) -> CiKey | None:
        key = self._state.ci_keys.get((org_id, key_id))
        if key is not None and key.revoked_at is None:
            key = replace(key, revoked_at=at)
            self._state.ci_keys[org_id, key_id] = key
        return key

    def touch_ci_key(self, org_id: UUID, key_id: UUID, at: datetime) -> None:
        key = self._state.ci_keys.get((org_id, key_id))
        if key is not None:
            latest = at if key.last_used_at is None else max(key.last_used_at, at)
            self._state.ci_keys[org_id, key_id] = replace(key, last_used_at=latest)
