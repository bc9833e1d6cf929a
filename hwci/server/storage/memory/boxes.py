# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""Boxes in memory."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.history import Listing
from hwci.server.errors import ClashError
from hwci.server.storage.memory.lists import first, newest, slice_of
from hwci.server.storage.memory.state import Sent, State
from hwci.server.storage.records import Box


class MemoryBoxes:
    """Boxes of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def boxes(self, org_id: UUID, offset: int, limit: int) -> Listing[tuple[Box, datetime | None]]:
        latest = self._latest(org_id)
        found = newest(self._boxes_of(org_id), lambda one: one.created_at)
        return slice_of([(box, latest.get(box.name)) for box in found], offset, limit)

    def reported_boxes(
        self, org_id: UUID, offset: int, limit: int
    ) -> Listing[tuple[str, datetime]]:
        created = {box.name for box in self._boxes_of(org_id)}
        found = sorted(one for one in self._latest(org_id).items() if one[0] not in created)
        found.sort(key=lambda one: one[1], reverse=True)
        return slice_of(found, offset, limit)

    def box(self, org_id: UUID, box_id: UUID) -> Box | None:
        return self._state.boxes.get((org_id, box_id))

    def box_by_key(self, digest: bytes) -> Box | None:
        return first(box for box in self._state.boxes.values() if box.key_digest == digest)

    def box_by_install(self, digest: bytes) -> Box | None:
        return first(box for box in self._state.boxes.values() if box.install_digest == digest)

    def add_box(self, box: Box) -> None:
        self._refuse_taken(box)
        self._state.boxes[box.org_id, box.id] = box

    def rename_box(self, org_id: UUID, box_id: UUID, name: str) -> None:
        renamed = replace(self._state.boxes[org_id, box_id], name=name)
        self._refuse_taken(renamed)
        self._state.boxes[org_id, box_id] = renamed

    def remove_box(self, org_id: UUID, box_id: UUID) -> None:
        del self._state.boxes[org_id, box_id]

    def set_install(self, org_id: UUID, box_id: UUID, digest: bytes, expires_at: datetime) -> bool:
        box = self.box(org_id, box_id)
        if box is None:
            return False
        self._state.boxes[org_id, box_id] = replace(
            box, install_digest=digest, install_expires_at=expires_at
        )
        return True

    def install_box(
        self, org_id: UUID, box_id: UUID, install_digest: bytes, key_digest: bytes, at: datetime
    ) -> bool:
        box = self.box(org_id, box_id)
        if box is None or box.install_digest != install_digest or not _open(box, at):
            return False
        self._state.boxes[org_id, box_id] = replace(
            box,
            install_digest=None,
            install_expires_at=None,
            key_digest=key_digest,
            last_seen_at=_later(box.last_seen_at, at),
        )
        return True

    def touch_box(self, org_id: UUID, box_id: UUID, at: datetime) -> None:
        box = self.box(org_id, box_id)
        if box is None:
            return
        self._state.boxes[org_id, box_id] = replace(box, last_seen_at=_later(box.last_seen_at, at))
        for key, run in list(self._state.live_runs.items()):
            if (run.org_id, run.box_id) == (org_id, box_id) and not run.lost:
                self._state.live_runs[key] = replace(run, last_seen_at=max(run.last_seen_at, at))

    def _latest(self, org_id: UUID) -> dict[str, datetime]:
        latest: dict[str, datetime] = {}
        for report in self._state.sent.get(org_id, Sent()).reports.values():
            before = latest.get(report.box_key, report.started_at)
            latest[report.box_key] = max(before, report.started_at)
        return latest

    def _refuse_taken(self, box: Box) -> None:
        if any(one.name == box.name and one.id != box.id for one in self._boxes_of(box.org_id)):
            raise ClashError("name")

    def _boxes_of(self, org_id: UUID) -> list[Box]:
        return [box for box in self._state.boxes.values() if box.org_id == org_id]


def _open(box: Box, at: datetime) -> bool:
    return box.install_expires_at is not None and box.install_expires_at > at


def _later(seen: datetime | None, at: datetime) -> datetime:
    return at if seen is None else max(seen, at)
