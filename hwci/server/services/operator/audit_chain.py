# SPDX-License-Identifier: Apache-2.0
"""The check of the audit log's chain: what counts as whole (contract, "The audit log")."""

from collections.abc import Sequence
from uuid import UUID

from hwci.server.storage.audit_chain import BEFORE_ALL, AuditRow, link_of
from hwci.server.storage.ports import Reader, Storage
from hwci.wire.base import Answer

PAGE = 2_000
_FINDINGS = 20
_UUID_BYTES = 16


class AuditFinding(Answer):
    """What is wrong with a row; its organization, if known."""

    number: int
    org_id: str | None
    what: str


class AuditReport(Answer):
    """Whether a log is whole, and the first rows that are not as they were written."""

    whole: bool
    rows: int
    head: str
    findings: Sequence[AuditFinding]


async def verify(storage: Storage, noted: str | None) -> AuditReport:
    """Check the log page by page. `noted`: the head as it was printed earlier."""
    walk = _Walk(noted)
    while await storage.read(walk.take_page) == PAGE and len(walk.findings) < _FINDINGS:
        pass
    if walk.noted is not None:
        walk.add(walk.number, None, f"no row up to it is {noted}: one was changed, or cut off")
    whole, findings = not walk.findings, walk.findings[:_FINDINGS]
    return AuditReport(whole=whole, rows=walk.rows, head=walk.head, findings=findings)


class _Walk:
    """Checks a log row by row. `noted` is None once it was seen."""

    def __init__(self, noted: str | None) -> None:
        self.noted = noted
        self.number, self.link, self.rows = 0, b"", 0
        self.findings: list[AuditFinding] = []

    @property
    def head(self) -> str:
        return f"{self.number}:{self.link.hex()}"

    def take_page(self, reader: Reader) -> int:
        rows = reader.audit_page(self.number if self.rows else BEFORE_ALL, PAGE)
        for row in rows:
            self._take(row)
        return len(rows)

    def _take(self, row: AuditRow) -> None:
        expected, org_id = self.number + 1, row.content[0]
        if row.number > expected:
            self.add(expected, None, f"it is missing, as are all rows up to {row.number - 1}")
        elif row.number < expected or row.link != link_of(self.link, row.number, row.content):
            what = "it is not as it was written, or does not follow on the row before"
            self.add(row.number, org_id if isinstance(org_id, bytes) else None, what)
        self.number, self.link, self.rows = row.number, row.link, self.rows + 1
        self.noted = None if self.noted == self.head else self.noted

    def add(self, number: int, org_id: bytes | None, what: str) -> None:
        known = str(UUID(bytes=org_id)) if org_id and len(org_id) == _UUID_BYTES else None
        self.findings.append(AuditFinding(number=number, org_id=known, what=what))
