# SPDX-License-Identifier: Apache-2.0
"""The chain of the audit log: how its entries are held together, and how a change is found.

There is one chain for the whole log. The `link` of an entry is a digest of its content and of the
entry before, so anybody can check that entries follow on each other. Its `seal` is made of the link
with a secret key, which only the server has. The seal of the head is made of the last entry, so an
end that is cut off is noticed.

This module decides what is digested and what counts as whole. It does not know where the key and
the entries are kept.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from hwci.server.storage.records import AuditEntry

GENESIS = bytes(32)
BEFORE_ALL = -(2**63)
"""A number before that of any row, even of one inserted before the first."""
FAULTS_KEPT = 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ROW, _HEAD = b"row", b"head"


class Written(NamedTuple):
    """An entry as stored. `at`: microseconds since 1970; `details`: JSON."""

    org_id: bytes
    id: bytes
    at: int
    actor_id: bytes
    actor_name: str
    action: str
    target: str
    details: str


class Tip(NamedTuple):
    """The entry that the next one follows on; this one is of an empty log."""

    number: int = 0
    link: bytes = GENESIS
    seal: bytes | None = None


class AuditRow(NamedTuple):
    """An entry in the chain."""

    number: int
    written: Written
    link: bytes
    seal: bytes

    @property
    def tip(self) -> Tip:
        """The row as the one that the next follows on."""
        return Tip(self.number, self.link, self.seal)


class AuditPage(NamedTuple):
    """Some rows in order, and the seal of the log's head at the same moment."""

    rows: list[AuditRow]
    head_seal: bytes | None


@dataclass(frozen=True, slots=True)
class AuditKey:
    """The key that entries are sealed with."""

    value: bytes = field(repr=False)

    def row_seal(self, link: bytes) -> bytes:
        """Return the seal of an entry."""
        return hmac.digest(self.value, _ROW + link, "sha256")

    def head_seal(self, tip: Tip) -> bytes:
        """Return the seal of a log that ends with this entry."""
        end = _digest(str(tip.number), tip.link, tip.seal or b"")
        return hmac.digest(self.value, _HEAD + end, "sha256")

    def fits(self, head_seal: bytes | None, tip: Tip) -> bool:
        """Return whether this key sealed a log that ends with this entry."""
        return head_seal is not None and hmac.compare_digest(head_seal, self.head_seal(tip))


def written_of(org_id: UUID, entry: AuditEntry) -> Written:
    """Return an entry as stored."""
    return Written(
        org_id.bytes,
        entry.id.bytes,
        (entry.at - _EPOCH) // timedelta(microseconds=1),
        entry.actor_id.bytes,
        entry.actor_name,
        entry.action,
        entry.target,
        json.dumps(dict(entry.details), ensure_ascii=False),
    )


def entry_of(written: Written) -> AuditEntry:
    """Return the entry of a stored one."""
    details: Mapping[str, object] = json.loads(written.details)
    return AuditEntry(
        UUID(bytes=written.id),
        _EPOCH + timedelta(microseconds=written.at),
        UUID(bytes=written.actor_id),
        written.actor_name,
        written.action,
        written.target,
        details,
    )


def next_row(key: AuditKey, before: Tip, written: Written) -> AuditRow:
    """Return an entry as the row that follows on another."""
    number = before.number + 1
    link = link_of(before, number, written)
    return AuditRow(number, written, link, key.row_seal(link))


def link_of(before: Tip, number: int, written: Written) -> bytes:
    """Return the link of an entry: a digest of its content and of the entry before."""
    parts = (value if isinstance(value, bytes) else str(value) for value in written)
    return _digest(before.link, before.seal or b"", str(number), *parts)


def _digest(*parts: str | bytes) -> bytes:
    """Digest parts, each with its length, so that their borders count. Text that is not UTF-8,
    which another program wrote, has its own bytes.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


class AuditFault(NamedTuple):
    """A row that is not as it was written, with its organization if it has one."""

    number: int
    org_id: bytes | None
    what: str


class AuditWalk:
    """Checks a log row by row. `kept`: number and link of a row, noted earlier; without a key only
    links are checked.
    """

    def __init__(self, key: AuditKey | None, noted: tuple[int, bytes] | None = None) -> None:
        self.last = Tip()
        self.rows = 0
        self.unsealed = 0
        self.faults: list[AuditFault] = []
        self.faults_total = 0
        self._key = key
        self._kept = noted
        self._sealed = False

    @property
    def after(self) -> int:
        """The number after which the next row is."""
        return self.last.number if self.rows else BEFORE_ALL

    def take(self, row: AuditRow) -> None:
        """Check the next row."""
        if row.link != link_of(self.last, row.number, row.written):
            self._add_unlinked(row)
        else:
            self._look_at_seal(row)
        if self._kept is not None and self._kept[0] == row.number and self._kept[1] != row.link:
            self._add_fault(row, "it, or a row before it, differs from the one that was noted")
        self.rows += 1
        self.last = row.tip

    def end(self, head_seal: bytes | None) -> None:
        """Check the end of the log."""
        after = self.last.number + 1
        if self._key is not None and not self._key.fits(head_seal, self.last):
            what = "the log does not end before it as it was sealed: rows were cut off or added"
            self._keep(AuditFault(after, None, f"{what}, or the key is of another log"))
        if self._kept is not None and self._kept[0] > self.last.number:
            what = f"the log reached row {self._kept[0]} when it was noted: its end is cut off"
            self._keep(AuditFault(after, None, what))

    def _add_unlinked(self, row: AuditRow) -> None:
        expected = self.last.number + 1
        if row.number > expected:
            what = f"it is missing, as are all rows up to {row.number - 1}"
            self._keep(AuditFault(expected, None, what))
        else:
            self._add_fault(
                row, "it is not as it was written, or does not follow on the row before"
            )

    def _look_at_seal(self, row: AuditRow) -> None:
        if self._key is None:
            return
        if hmac.compare_digest(row.seal, self._key.row_seal(row.link)):
            self._sealed = True
        elif self._sealed:
            self._add_fault(row, "it was not sealed with the key of the log")
        else:
            self.unsealed += 1

    def _add_fault(self, row: AuditRow, what: str) -> None:
        self._keep(AuditFault(row.number, row.written.org_id, what))

    def _keep(self, fault: AuditFault) -> None:
        self.faults_total += 1
        if len(self.faults) < FAULTS_KEPT:
            self.faults.append(fault)
