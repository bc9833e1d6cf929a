# SPDX-License-Identifier: Apache-2.0
"""The chain of the audit log for the operator: its check and its export (contract, "The audit
log"). What counts as whole is decided in `storage/audit_chain.py`.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from hwci.server.errors import ConflictError
from hwci.server.storage.audit_chain import (
    BEFORE_ALL,
    GENESIS,
    AuditKey,
    AuditRow,
    AuditWalk,
    Tip,
    Written,
)
from hwci.server.storage.ports import Reader, Storage
from hwci.wire.base import Answer

PAGE = 2_000
_UUID_BYTES, _UUID_LETTERS = 16, 36


class AuditHead(Answer):
    """Where a log ends: the number and the link of its last row, and the seal of the head."""

    number: int
    link: str
    head_seal: str | None


class AuditLine(Answer):
    """A row of the log. `at`: microseconds since 1970; `details`: the JSON that is kept."""

    number: int
    org_id: str
    id: str
    at: int
    actor_id: str
    actor_name: str
    action: str
    target: str
    details: str
    link: str
    seal: str


class AuditLines(Answer):
    """Lines in order; `head`: the end of the log, with the last lines only."""

    lines: Sequence[AuditLine]
    head: AuditHead | None = None


class AuditFinding(Answer):
    """A row that is not as it was written, with its organization if known."""

    number: int
    org_id: str | None
    what: str


class AuditReport(Answer):
    """Whether a log is whole. `unsealed`: rows from before its key."""

    whole: bool
    rows: int
    unsealed: int
    head: str
    findings: Sequence[AuditFinding]
    findings_total: int


class AuditChain:
    """Reads the log of a storage page by page, never all of it at once."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def lines(self, after: int) -> AuditLines:
        """Return the lines after a number."""

        def work(reader: Reader) -> AuditLines:
            page = reader.audit_page(after, PAGE)
            lines = [_line(row) for row in page.rows]
            if len(lines) == PAGE:
                return AuditLines(lines=lines)
            last = page.rows[-1].tip if page.rows else _tip_at(reader, after)
            seal = None if page.head_seal is None else page.head_seal.hex()
            head = AuditHead(number=last.number, link=last.link.hex(), head_seal=seal)
            return AuditLines(lines=lines, head=head)

        return await self._storage.read(work)

    async def verify(self, key: AuditKey | None, noted: str | None) -> AuditReport:
        """Check every row. Raises `ConflictError`: `noted`, an earlier head, is malformed."""
        walk = AuditWalk(key, _read_head(noted))

        def work(reader: Reader) -> bool:
            page = reader.audit_page(walk.after, PAGE)
            for row in page.rows:
                walk.take(row)
            if len(page.rows) < PAGE:
                walk.end(page.head_seal)
            return len(page.rows) < PAGE

        while not await self._storage.read(work):
            pass
        return _report(walk, key)


def verify_export(lines: Iterable[str], key: AuditKey, noted: str | None) -> AuditReport:
    """Check every line of an export. Raises `ConflictError`: a line or `noted` is malformed."""
    walk, head, seal = AuditWalk(key, _read_head(noted)), None, None
    for number, line in enumerate(lines, 1):
        try:
            if head is not None:
                raise ValueError
            if '"headSeal"' in line:
                head = AuditHead.model_validate_json(line)
                seal = None if head.head_seal is None else bytes.fromhex(head.head_seal)
            else:
                walk.take(_row(AuditLine.model_validate_json(line)))
        except (ValidationError, ValueError):
            raise ConflictError(f"Line {number} is not a line of an audit log export") from None
    walk.end(seal)
    return _report(walk, key)


def _report(walk: AuditWalk, key: AuditKey | None) -> AuditReport:
    findings = [
        AuditFinding(
            number=fault.number,
            org_id=None if fault.org_id is None else _id_text(fault.org_id),
            what=fault.what,
        )
        for fault in walk.faults
    ]
    total = walk.faults_total
    if key is None:
        missing = "the key of the log is missing: its seals cannot be checked"
        findings.append(AuditFinding(number=walk.last.number, org_id=None, what=missing))
        total += 1
    return AuditReport(
        whole=not total,
        rows=walk.rows,
        unsealed=walk.unsealed,
        head=f"{walk.last.number}:{walk.last.link.hex()}",
        findings=findings,
        findings_total=total,
    )


def _read_head(noted: str | None) -> tuple[int, bytes] | None:
    if noted is None:
        return None
    number, _, link = noted.partition(":")
    try:
        if len(link) != 2 * len(GENESIS):
            raise ValueError
        return int(number), bytes.fromhex(link)
    except ValueError:
        raise ConflictError(
            f"{noted!r} is not the head of an audit log: write NUMBER:LINK, as `verify` prints it"
        ) from None


def _tip_at(reader: Reader, number: int) -> Tip:
    """Return the row with a number, for a page that has none after it."""
    rows = [] if number == BEFORE_ALL else reader.audit_page(number - 1, 1).rows
    return rows[0].tip if rows else Tip()


def _line(row: AuditRow) -> AuditLine:
    shown: dict[str, Any] = {name: _shown(value) for name, value in row.written._asdict().items()}
    return AuditLine(**shown, number=row.number, link=row.link.hex(), seal=row.seal.hex())


def _row(line: AuditLine) -> AuditRow:
    values = {name: getattr(line, name) for name in Written._fields}
    values |= {name: _id_bytes(values[name]) for name in ("org_id", "id", "actor_id")}
    written = Written(**values)
    return AuditRow(line.number, written, bytes.fromhex(line.link), bytes.fromhex(line.seal))


def _shown(value: bytes | str | int) -> str | int:
    """Return a value for a line; another program may have written bytes that are not UTF-8."""
    if isinstance(value, bytes):
        return _id_text(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return value


def _id_text(value: bytes) -> str:
    return str(UUID(bytes=value)) if len(value) == _UUID_BYTES else value.hex()


def _id_bytes(text: str) -> bytes:
    return UUID(text).bytes if len(text) == _UUID_LETTERS else bytes.fromhex(text)
