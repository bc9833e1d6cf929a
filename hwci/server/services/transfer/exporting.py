# SPDX-License-Identifier: Apache-2.0
"""An export: one SQLite file of what an organization sent, and of what the rules say of it on that
day (ADR 0022). It never holds a secret: no key, no digest of one, no sign-in, no e-mail address.

This module decides which rows an export has; `layout.py` has its tables. One report at a time is in
memory, and the failures of one product.
"""

import gzip
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, fields
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hwci.contract.known_failures import KnownFailure
from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import Label, Outcome
from hwci.engine.facts import FailureKey, Lane, Report, TestItem, failure_id
from hwci.engine.history import History, Scope
from hwci.engine.page.failures import labelled
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import Group, groups_of
from hwci.server.errors import StorageError
from hwci.server.private_file import wait_for_disk
from hwci.server.services.transfer import layout
from hwci.server.services.transfer.sent import (
    KeptBox,
    KeptBoxNote,
    KeptKnownFailure,
    KeptReview,
    body_of,
)
from hwci.server.storage.new_file import WRITE_FIX, give_name, part_beside, refuse_taken
from hwci.server.storage.ports import Reader
from hwci.server.storage.records import Organization
from hwci.version import build_version
from hwci.wire import limits

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EVER = Period(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
_PAGE = 1_000
_FAST = 1  # gzip level, as in the database
_TEST = attrgetter(
    *("id", "outcome.value", "attempts", "duration_s", "verdict.value", "message", "board"),
    "log_url",
)
"""The columns of a test, of which there are millions, from `test_id` to `log_url`."""

Row = Mapping[str, object]


def export(reader: Reader, organization: Organization, to: Path, now: datetime) -> int:
    """Write an organization to a new file. Return the number of its reports.

    Raises:
        StorageError: there is something at `to`, it cannot be written, or a report is damaged.
    """
    refuse_taken(to)
    with part_beside(to) as part:
        with closing(_File(part, to)) as file:
            reports = _Export(reader, organization.id, file).write()
            file.end(organization, now)
        wait_for_disk(part)
        give_name(part, to)
    return reports


class _File:
    """The file while it is written: without its name it needs no journal."""

    def __init__(self, part: Path, to: Path) -> None:
        self._to = to
        self._connection = sqlite3.connect(part, isolation_level=None)
        self._digest = hashlib.sha256()
        self._bodies = 0
        for statement in (
            *("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF"),
            f"PRAGMA application_id = {layout.APPLICATION_ID}",
            f"PRAGMA user_version = {layout.FORM}",
            "BEGIN",
            *layout.statements(),
        ):
            self._run(statement)

    def add(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows, in each the columns of their table in its order."""
        columns = layout.TABLES[table].split()
        self.insert(table, (tuple(_plain(row[column]) for column in columns) for row in rows))

    def insert(self, table: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Insert rows as SQLite takes them."""
        marks = ", ".join("?" * len(layout.TABLES[table].split()))
        try:
            self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - a constant
        except sqlite3.Error as fault:
            raise self._unwritten(fault) from fault

    def add_sent(self, kind: str, body: bytes, arrived_at: datetime | None) -> None:
        """Add a body that an import reads."""
        self._bodies += 1
        self._digest.update(digested(kind, body))
        content = gzip.compress(body, _FAST, mtime=0)
        row = {"kind": kind, "arrived_at": arrived_at, "content": content}
        self.add("sent", [{"number": self._bodies, **row}])

    def end(self, organization: Organization, now: datetime) -> None:
        """Add what makes the file an export: without this row it was cut short."""
        version = build_version()
        program = {"form": layout.FORM, "program": "hwci", "version": version, "exported_at": now}
        content = {"bodies": self._bodies, "digest": self._digest.hexdigest()}
        named = {"org_id": organization.id, "organization": organization.name}
        self.add("export", [{**program, **named, **content}])
        for statement in layout.index_statements():
            self._run(statement)
        self._add_views()
        self._run("COMMIT")

    def _add_views(self) -> None:
        from sqlite_utils import Database  # noqa: PLC0415 - 25 MB, which only an export takes

        tables = Database(self._connection, recursive_triggers=False, execute_plugins=False)
        try:
            for name, query in layout.VIEWS.items():
                tables.create_view(name, query)
        except sqlite3.Error as fault:
            raise self._unwritten(fault) from fault

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _run(self, statement: str) -> None:
        try:
            self._connection.execute(statement)
        except sqlite3.Error as fault:
            raise self._unwritten(fault) from fault

    def _unwritten(self, fault: sqlite3.Error) -> StorageError:
        return StorageError(f"Cannot write {self._to}: {fault}", WRITE_FIX)


def digested(kind: str, body: bytes) -> bytes:
    """Return what the digest of an export is made over, of each body in order."""
    return b"%s %d\n%s" % (kind.encode(), len(body), body)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


_json = json.JSONEncoder(ensure_ascii=False).encode
_WRITERS: dict[type, Callable[[Any], str]] = {
    datetime: _time,
    UUID: str,
    tuple: _json,
    dict: _json,
}
"""How values are written that SQLite does not take as they are."""


def _plain(value: object) -> object:
    """Return a value as its column has it."""
    write = _WRITERS.get(type(value))
    return value if write is None else write(value)


class _Export:
    """Writes what a snapshot has of one organization."""

    def __init__(self, reader: Reader, org_id: UUID, file: _File) -> None:
        self._reader = reader
        self._org_id = org_id
        self._file = file
        self._changes: dict[bytes, int] = {}
        """The numbers of the changes that were written, by a digest of each."""

    def write(self) -> int:
        """Write everything; return the number of reports."""
        history, number = self._reader.history(self._org_id), 0
        for number, (report, at) in enumerate(self._reader.reports(self._org_id), 1):
            self._add_report(number, report, at)
        for announcement, at in self._reader.announcements(self._org_id):
            self._file.add_sent(*body_of(announcement), at)
        self._file.add("announcements", _announcements(history))
        self._add_configs()
        self._add_reviews(history)
        self._add_known_failures(history.known_failures())
        self._add_boxes()
        self._file.add("events", self._events())
        for state in history.products():
            self._file.add("failures", _failures(history, Scope(*state.product)))
        return number

    def _add_report(self, number: int, report: Report, at: datetime) -> None:
        self._file.add_sent(*body_of(report), at)
        part = {} if report.part_of is None else asdict(report.part_of)
        row = _fields(report) | {
            "report": number,
            "arrived_at": at,
            "tests": len(report.tests),
            "failed": sum(test.outcome is Outcome.FAIL for test in report.tests),
            "changes": self._number_of(report.repo_key, report.changes),
            "part_run_id": part.get("run_id"),
            "part": part.get("part"),
            "parts": part.get("parts"),
        }
        self._file.add("reports", [row])
        tests = (
            (number, position, *_TEST(test), self._failure_id(report, test))
            for position, test in enumerate(report.tests)
        )
        self._file.insert("tests", tests)

    def _failure_id(self, report: Report, test: TestItem) -> str | None:
        if not report.hello_ok or test.outcome is Outcome.PASS:
            return None
        lane = Lane(report.repo_key, report.suite, test.id, report.box_key, report.branch)
        return str(failure_id(self._org_id, FailureKey(lane, report.sha)))

    def _number_of(self, repo_key: str, changes: ChangeList | None) -> int | None:
        """Return the number of changes, which are written if no earlier report has them."""
        if changes is None:
            return None
        identity = hashlib.sha256(repr((repo_key, changes)).encode()).digest()
        known = self._changes.get(identity)
        if known is not None:
            return known
        number = self._changes[identity] = len(self._changes) + 1
        numbered = {"changes": number}
        self._file.add("changes", [_fields(changes) | numbered | {"repo_key": repo_key}])
        commits = (
            _fields(commit) | numbered | {"position": position}
            for position, commit in enumerate(changes.commits)
        )
        self._file.add("commits", commits)
        return number

    def _add_configs(self) -> None:
        for config, at in self._reader.configs(self._org_id, 0, limits.INTEGER_MAX).items:
            self._file.add_sent(*body_of(config), at)
            links = None if config.links is None else asdict(config.links)
            targets = None if config.targets is None else asdict(config.targets)
            row = _fields(config) | {"links": links, "targets": targets, "updated_at": at}
            self._file.add("suite_configs", [row])

    def _add_reviews(self, history: History) -> None:
        """Add the reviews in the order in which they were written."""
        reviews = history.reviews()
        for failure in sorted(reviews, key=lambda failure: reviews[failure].number):
            body = KeptReview.of(reviews[failure])
            self._file.add_sent("review", body.model_dump_json().encode(), body.at)
            self._file.add("reviews", [dict(body) | {"failure_id": failure}])

    def _add_known_failures(self, rules: Iterable[KnownFailure]) -> None:
        for rule in rules:
            body = KeptKnownFailure.of(rule)
            self._file.add_sent("known_failure", body.model_dump_json().encode(), rule.created_at)
            self._file.add("known_failures", [dict(body)])

    def _add_boxes(self) -> None:
        for box, last in self._reader.boxes(self._org_id, 0, limits.INTEGER_MAX).items:
            body = KeptBox(box_key=box.name, created_at=box.created_at)
            self._file.add_sent("box", body.model_dump_json().encode(), None)
            seen = {"last_seen_at": box.last_seen_at, "last_started_at": last}
            self._file.add("boxes", [dict(body) | seen])
        for note in self._reader.box_notes(self._org_id, None, 0, limits.INTEGER_MAX).items:
            note_body = KeptBoxNote(
                box_key=note.box_key,
                at=note.at,
                text=note.text,
                by_id=note.by.id,
                by_name=note.by.name,
            )
            self._file.add_sent("box_note", note_body.model_dump_json().encode(), note_body.at)
            self._file.add("box_notes", [dict(note_body)])

    def _events(self) -> Iterator[Row]:
        after = 0
        while page := self._reader.events(self._org_id, after, _PAGE):
            for number, happening in ((event.number, event.happening) for event in page):
                run = {"run_record_id": happening.run_id, "body": dict(happening.body)}
                yield {"number": number, "at": happening.at, "type": happening.type, **run}
            after = page[-1].number


def _announcements(history: History) -> Iterator[Row]:
    for merge, checked in history.merges(Scope(), EVER):
        yield _fields(merge) | {"checked": checked}


def _failures(history: History, scope: Scope) -> Iterator[Row]:
    """Yield the failures of a product, as the rules label and classify them now."""
    classifier = Classifier(history)
    for group in groups_of(history, history.failures(scope, EVER)):
        decided = _decided(group, classifier)
        for failure in group.failures:
            key, row = failure.key, labelled(failure, group)
            yield (
                key.lane._asdict()
                | decided
                | _fields(failure)
                | {
                    "failure_id": failure.id,
                    "sha": key.sha,
                    "label": row.label,
                    "group_id": row.group_id,
                    "verdict": failure.first.verdict,
                    "first_started_at": failure.first.started_at,
                }
            )


def _decided(group: Group, classifier: Classifier) -> dict[str, object]:
    """Return the class of a resolved group, with its reason and its fix."""
    if group.label is not Label.RESOLVED:
        return dict.fromkeys(("class", "reason", "reason_text", "fix_sha"))
    shown = classifier.shown(group)
    reason = {"reason": shown.reason, "reason_text": shown.told.reason_text}
    return {"class": shown.failure_class, **reason, "fix_sha": group.fix}


def _fields(fact: "DataclassInstance") -> dict[str, Any]:
    """Return the fields of a fact by their names."""
    return {field.name: getattr(fact, field.name) for field in fields(fact)}
