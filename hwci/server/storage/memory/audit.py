# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""The audit log in memory: the same chain, with a key that ends with the process."""

import secrets
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.storage.audit_chain import (
    AuditKey,
    AuditPage,
    Tip,
    entry_of,
    next_row,
    written_of,
)
from hwci.server.storage.memory.lists import newest, slice_of
from hwci.server.storage.memory.state import State
from hwci.server.storage.records import AuditEntry

KEY = AuditKey(secrets.token_bytes(32))


class MemoryAudit:
    """The audit log of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def audit_log(self, org_id: UUID, offset: int, limit: int) -> Listing[AuditEntry]:
        rows = [row.written for row in self._state.audit]
        entries = [entry_of(written) for written in rows if written.org_id == org_id.bytes]
        return slice_of(newest(entries, lambda one: one.at), offset, limit)

    def audit_page(self, after: int, limit: int) -> AuditPage:
        rows = [row for row in self._state.audit if row.number > after]
        return AuditPage(rows[:limit], KEY.head_seal(self._tip()))

    def require_audit(self) -> None:
        """The key is always there."""

    def add_audit(self, org_id: UUID, entry: AuditEntry) -> None:
        self._state.audit.append(next_row(KEY, self._tip(), written_of(org_id, entry)))

    def _tip(self) -> Tip:
        return self._state.audit[-1].tip if self._state.audit else Tip()
