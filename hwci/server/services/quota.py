# SPDX-License-Identifier: Apache-2.0
"""The bytes that an organization may send, in an hour and in all, so that none fills the disk of
the others (contract, "Limits"). This module decides what is refused; it does not know what is sent.

Bytes are counted in memory, and a sweep keeps the sums: no report waits for a write more. Of
several servers each knows what the others counted as soon as its own sweep has run.
"""

import logging
from datetime import datetime
from uuid import UUID

from hwci.said import mebibytes
from hwci.server.clock import Clock
from hwci.server.errors import RateLimitedError
from hwci.server.services import Service
from hwci.server.settings import Settings, bytes_of
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import NOBODY, Usage

LOG = logging.getLogger("hwci.server")

_HOUR_SECONDS = 3_600
_PER_HOUR = (
    "This organization has sent {} this hour, and may send {}; send this again in {} seconds, or"
    " ask the operator of the server for more (HWCI_QUOTA_HOUR)"
)
_IN_ALL = (
    "This organization has sent {} in all, and may send {}; ask the operator of the server for more"
    " (HWCI_QUOTA_ALL)"
)


class Quota(Service):
    """What organizations have sent, and whether they may send more."""

    def __init__(self, storage: Storage, clock: Clock, settings: Settings) -> None:
        super().__init__(storage, clock)
        self._per_hour = bytes_of(settings.quota_hour)
        self._in_all = bytes_of(settings.quota_all)
        self._unkept: dict[UUID, int] = {}
        self._kept: dict[UUID, Usage] = {}
        self._logged: dict[UUID, int] = {}

    def require_room(self, org_id: UUID) -> None:
        """Raise `RateLimitedError` if an organization has sent all that it may."""
        now = self._clock()
        usage = self._usage(org_id, now)
        if self._in_all is not None and usage.all_bytes >= self._in_all:
            message = _IN_ALL.format(mebibytes(usage.all_bytes), mebibytes(self._in_all))
            self._refuse(org_id, usage, message, _HOUR_SECONDS)
        if self._per_hour is not None and usage.hour_bytes >= self._per_hour:
            wait = _HOUR_SECONDS - int(now.timestamp()) % _HOUR_SECONDS
            message = _PER_HOUR.format(
                *(mebibytes(usage.hour_bytes), mebibytes(self._per_hour), wait)
            )
            self._refuse(org_id, usage, message, wait)

    def add(self, org_id: UUID, size: int) -> None:
        """Count bytes that were taken."""
        self._unkept[org_id] = self._unkept.get(org_id, 0) + size

    async def record(self) -> None:
        """Keep what was counted since the last time."""
        unkept, hour = dict(self._unkept), hour_of(self._clock())

        def work(writer: Writer) -> dict[UUID, Usage]:
            # In one order, as another server may do the same.
            return {each: writer.add_usage(each, hour, unkept[each]) for each in sorted(unkept)}

        if unkept:
            self._kept |= await self._storage.write(work, person=NOBODY)
            for org_id, size in unkept.items():
                self._unkept[org_id] -= size
            self._unkept = {each: size for each, size in self._unkept.items() if size}

    def _usage(self, org_id: UUID, now: datetime) -> Usage:
        hour, unkept = hour_of(now), self._unkept.get(org_id, 0)
        usage = self._kept.get(org_id, Usage(hour, 0, 0))
        of_hour = usage.hour_bytes if usage.hour == hour else 0
        return Usage(hour, of_hour + unkept, usage.all_bytes + unkept)

    def _refuse(self, org_id: UUID, usage: Usage, message: str, seconds: int) -> None:
        if self._logged.get(org_id) != usage.hour:
            self._logged[org_id] = usage.hour
            LOG.warning(
                "organization %s is refused: %s",
                org_id,
                message,
            )
        raise RateLimitedError(message, seconds)


def hour_of(at: datetime) -> int:
    """Return the number of an hour since 1970."""
    return int(at.timestamp()) // _HOUR_SECONDS
