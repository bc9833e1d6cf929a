# SPDX-License-Identifier: Apache-2.0
"""What an import reads, an export or a folder of bodies as the API takes them, and what it keeps of
that (ADR 0022).

This module decides which file is sound, and that an import adds what is missing and replaces
nothing: so it can be done again, also when it was stopped in the middle. It does not know which
process has the database.
"""

import gzip
import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from io import BufferedIOBase, BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import jiter
from pydantic import ValidationError

from hwci.contract.known_failures import KnownFailure
from hwci.contract.people import Actor
from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Product, Report, StoredReview, SuiteConfig, failure_id
from hwci.server.errors import ClashError, StorageError
from hwci.server.services.runs.live_runs import end_run
from hwci.server.services.transfer import layout
from hwci.server.services.transfer.exporting import digested
from hwci.server.services.transfer.sent import (
    BODIES,
    KeptBox,
    KeptBoxNote,
    KeptKnownFailure,
    KeptReview,
    Sent,
)
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import Box, box_note
from hwci.server.storage.run_records import record_id_of
from hwci.wire import limits
from hwci.wire.base import parse_time
from hwci.wire.errors import issues_of
from hwci.wire.json_values import VALUES_MAX, has_many_values
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration

ISSUES_SHOWN = 3
PIECE_BYTES = 2 * 1024 * 1024
PIECE_ENTRIES = 500
_HEADER_BYTES = 72
_BYTES = {"announcement": limits.BODY_BYTES, "suite_config": limits.SUITE_CONFIG_BYTES}
"""The limits of the API of what is smaller than a report."""
_MARKS = {"report": "tests", "announcement": "merged_at", "suite_config": "firmware_paths"}
"""A field that only this body of CI has."""


class Found(NamedTuple):
    """An entry of what is imported: its name for people and its size, and what it holds or why it
    is refused.
    """

    name: str
    size: int
    sent: Sent | None
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """What an import reads. `organization`, `org_id`: those that an export was made of."""

    path: Path
    entries: int
    organization: str | None = None
    org_id: UUID | None = None

    def found(self) -> Iterator[Found]:
        """Yield the entries in their order. Raises `StorageError`: the export cannot be read."""
        return _in_folder(self.path) if self.org_id is None else _in_export(self.path)


def open_source(path: Path) -> Source:
    """Look at what is to be imported; an export is read whole, so that a damaged one imports
    nothing.

    Raises:
        StorageError: it is not an export or folder of bodies, newer, damaged, or was cut short.
    """
    if path.is_dir():
        entries = len(_files(path))
        if not entries:
            raise StorageError(
                f"{path} has no file *.json or *.json.gz",
                "name an export, or a folder of what `hwci spool show` prints",
            )
        return Source(path, entries)
    if not path.is_file():
        raise StorageError(f"There is no file or folder {path}", "name an export or a folder")
    return _checked(path)


def _checked(path: Path) -> Source:
    """Return an export if it is of a form that is known, and whole."""
    form = _form(path)
    if form > layout.FORM:
        raise StorageError(
            f"{path} was exported by a newer hwci (form {form}, this program knows {layout.FORM})",
            "import it with that hwci",
        )
    try:
        head = next(_read(path, "export", ("org_id", "organization", "bodies", "digest")), ())
        org_id, organization, bodies, known = head
        digest = hashlib.sha256()
        for row in _rows(path):
            digest.update(digested(row.kind, row.body))
        if digest.hexdigest() != known:
            raise ValueError
        return Source(path, bodies, organization, UUID(org_id))
    except (ValueError, TypeError) as fault:
        raise _damaged(path) from fault


def in_pieces(bodies: Iterable[Found]) -> Iterator[list[Found]]:
    """Divide entries into pieces of which each is one transaction, short enough that what CI sends
    meanwhile does not wait for long.
    """
    piece: list[Found] = []
    size = 0
    for body in bodies:
        piece.append(body)
        size += body.size
        if size >= PIECE_BYTES or len(piece) == PIECE_ENTRIES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


class _Row(NamedTuple):
    kind: str
    arrived_at: datetime | None
    body: bytes


def _form(path: Path) -> int:
    """Return the form of a file by its header, which is there even if the rest was cut off. Raises
    `StorageError`: it is not an export.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as fault:
        raise StorageError(f"Cannot read {path}: {fault.strerror}", "name an export") from fault
    form, application = (int.from_bytes(header[at : at + 4]) for at in (60, 68))
    if not header.startswith(b"SQLite format 3\0") or application != layout.APPLICATION_ID:
        raise StorageError(
            f"{path} is not an export of hwci",
            "name one that `hwci admin export` made; `hwci admin restore` puts a backup back",
        )
    return form


def _damaged(path: Path) -> StorageError:
    return StorageError(f"{path} is damaged, or was cut short", "copy or export it again")


def _read(path: Path, table: str, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table of an export, in their order. Raises `StorageError`."""
    try:
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True)) as export:
            query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid"  # noqa: S608 - constants
            yield from export.execute(query)
    except sqlite3.DatabaseError as fault:
        raise _damaged(path) from fault


def _rows(path: Path) -> Iterator[_Row]:
    """Yield what an export holds of what was sent, in order. Raises `StorageError`."""
    for kind, arrived_at, content in _read(path, "sent", ("kind", "arrived_at", "content")):
        try:
            at = None if arrived_at is None else parse_time(arrived_at)
            with gzip.open(BytesIO(content)) as opened:
                yield _Row(kind, at, _bounded(opened))
        except (OSError, EOFError, zlib.error, TypeError, ValueError) as fault:
            raise _damaged(path) from fault


def _in_export(path: Path) -> Iterator[Found]:
    for number, (kind, at, body) in enumerate(_rows(path), 1):
        name = f"{kind} {number}"
        try:
            _parsed(body)
        except ValueError as fault:
            yield Found(name, len(body), None, " ".join(str(fault).split()))
            continue
        yield _found(name, kind, body, at)


def _files(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.iterdir()
        if file.name.endswith((".json", ".json.gz")) and file.is_file()
    )


def _in_folder(folder: Path) -> Iterator[Found]:
    """Yield each body of CI in a folder, by the name of its file."""
    for file in _files(folder):
        try:
            body = _content(file)
            value = _parsed(body)
        except (OSError, EOFError, zlib.error, ValueError) as fault:
            yield Found(file.name, 0, None, " ".join(str(fault).split()))
            continue
        fields = value if isinstance(value, dict) else {}
        kind = next((kind for kind, mark in _MARKS.items() if mark in fields), None)
        if kind is not None and len(body) > _BYTES.get(kind, limits.RUN_REPORT_BYTES):
            yield Found(file.name, len(body), None, f"is larger than {_BYTES[kind]:,} bytes")
        elif kind is None:
            what = "is not a run report, announcement or suite configuration"
            yield Found(file.name, len(body), None, what)
        else:
            yield _found(file.name, kind, body, None)


def _content(file: Path) -> bytes:
    """Return the content of a file. Raises `ValueError`: it is larger than a report may be."""
    with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as opened:
        return _bounded(opened)


def _bounded(opened: BufferedIOBase) -> bytes:
    most = limits.RUN_REPORT_BYTES
    content = opened.read(most + 1)
    if len(content) > most:
        raise ValueError(f"is larger than a report may be ({most:,} bytes)")
    return content


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the value of a body, by the rules of the API. Raises `ValueError`."""
    if has_many_values(body):
        raise ValueError(f"holds more than {VALUES_MAX:,} values and names")
    return jiter.from_json(body, catch_duplicate_keys=True)


def _found(name: str, kind: str, body: bytes, at: datetime | None) -> Found:
    try:
        read: Any = {kind: BODIES[kind].model_validate_json(body)}
        return Found(name, len(body), Sent(arrived_at=at, **read))
    except KeyError:
        return Found(name, len(body), None, "is of a kind that this hwci does not know")
    except ValidationError as fault:
        issues = issues_of(fault, "")
        shown = [f"{'.'.join(map(str, issue.path[1:]))}: {issue.message}" for issue in issues]
        more = len(shown) - ISSUES_SHOWN
        also = [f"and {more} more"] if more > 0 else []
        return Found(name, len(body), None, "; ".join([*shown[:ISSUES_SHOWN], *also]))


def keep(writer: Writer, org_id: UUID, sent: Sent, now: datetime) -> bool:
    """Keep what was sent if the organization has nothing of its identity. Return whether it did."""
    at = sent.arrived_at or now
    match sent.body:
        case RunReport() as body:
            return _keep_report(writer, org_id, body.fact(), sent.arrived_at, now)
        case MergeAnnouncement() as body:
            return _keep_announcement(writer, org_id, body.fact(), at)
        case SuiteConfiguration() as body:
            return _keep_config(writer, org_id, body.fact(), at)
        case KeptReview() as body:
            return _keep_review(writer, org_id, body.fact())
        case KeptBox() as body:
            return _keep_box(writer, Box(uuid4(), org_id, body.box_key, body.created_at))
        case KeptBoxNote() as body:
            return _keep_box_note(writer, org_id, body)
        case KeptKnownFailure() as body:
            return _keep_known_failure(writer, org_id, body.fact(org_id))
        case _:
            return False


def _keep_report(
    writer: Writer, org_id: UUID, report: Report, arrived_at: datetime | None, now: datetime
) -> bool:
    """Keep a report. Only the end of a run that is live is an event: nobody follows old ones."""
    if writer.holds(org_id, report, arrived_at):
        return False
    writer.put_report(org_id, report, arrived_at or now)
    if writer.live_run(org_id, record_id_of(org_id, report)) is not None:
        end_run(writer, org_id, report, now)
    return True


def _keep_announcement(writer: Writer, org_id: UUID, announcement: Merge, at: datetime) -> bool:
    if writer.holds(org_id, announcement, at):
        return False
    writer.announce(org_id, announcement, at)
    return True


def _keep_config(writer: Writer, org_id: UUID, config: SuiteConfig, at: datetime) -> bool:
    if writer.history(org_id).config(Product(config.repo_key, config.suite)) is not None:
        return False
    writer.put_config(org_id, config, at)
    return True


def _keep_review(writer: Writer, org_id: UUID, review: StoredReview) -> bool:
    failure = failure_id(org_id, review.key)
    if writer.history(org_id).reviews([failure]):
        return False
    writer.put_review(org_id, failure, review)
    return True


def _keep_box(writer: Writer, box: Box) -> bool:
    try:
        writer.add_box(box)
    except ClashError:
        return False
    return True


def _keep_box_note(writer: Writer, org_id: UUID, body: KeptBoxNote) -> bool:
    by = Actor(body.by_id, body.by_name)
    try:
        writer.add_box_note(org_id, box_note(org_id, body.box_key, body.at, body.text, by))
    except ClashError:
        return False
    return True


def _keep_known_failure(writer: Writer, org_id: UUID, rule: KnownFailure) -> bool:
    if len(writer.history(org_id).known_failures()) >= limits.KNOWN_FAILURES_MAX:
        return False
    try:
        writer.add_known_failure(org_id, rule)
    except ClashError:
        return False
    return True
