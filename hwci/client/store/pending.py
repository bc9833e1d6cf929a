# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""A pending report: from when it is built until the server has it, in memory or in the store. Its
body is compressed once, kept as it is, and sent as it is.

This module decides what is known of a report, which two are of one identity, and how the table of
reports holds them; `bench.py` decides what becomes of them.
"""

import hashlib
import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args
from zlib import crc32

from hwci.client import _call
from hwci.client._call import Call, written
from hwci.client._protocol import packed
from hwci.client.store.memory import RunFacts, begin, facts_of
from hwci.wire.endpoints.ci import ANNOUNCE_MERGE, REPORT_RUN
from hwci.wire.reports import MergeAnnouncement, RunReport

State = Literal["waiting", "refused", "superseded", "damaged"]
"""`superseded`: a later report of the same identity came."""
UNKNOWN = ""
"""The address of a report whose server is not known yet."""

_IDENTITY = re.compile("[0-9a-f]{40}")
_KINDS = {REPORT_RUN.path: "run", ANNOUNCE_MERGE.path: "merge"}
_ENDPOINTS = {endpoint.path: endpoint for endpoint in (REPORT_RUN, ANNOUNCE_MERGE)}
_IDENTITIES: Mapping[str, Sequence[str]] = {
    REPORT_RUN.path: ("repo_key", "run_id", "run_attempt", "box_key"),
    ANNOUNCE_MERGE.path: ("repo_key", "suite", "sha"),
}
"""The fields that make two reports the same one (spec, "CI report endpoints"): the later replaces.
"""

FIX = "Set HWCI_SPOOL_DIR to a folder that this user may write and that outlives the job"
_NUMBERS = "SELECT number FROM reports UNION ALL SELECT number FROM known"


class StoreError(Exception):
    """The store cannot be used, or has no room. `fix`: what a person can do."""

    def __init__(self, what: str, fix: str = FIX) -> None:
        super().__init__(what)
        self.fix = fix


def identity_of(path: str, content: Mapping[str, object]) -> str:
    """Return a key that is equal for two reports of which the later replaces the earlier."""
    names = _IDENTITIES.get(path, sorted(content))
    words = json.dumps([path, [content.get(name) for name in names]])
    return hashlib.sha256(words.encode()).hexdigest()[:40]


@dataclass(frozen=True, slots=True)
class PendingReport:
    """A report that the server does not have yet, as far as is known. `file`: where it is kept.

    `call` None: its body is in the store. `fingerprint`: of the key that it is meant for, which is
    kept nowhere. `not_before`: when the server wants to be asked again, by the clock of this
    machine. `overtaken`: the other addresses to which a later report of its identity went.
    """

    name: str
    path: str = ""
    identity: str = ""
    call: Call[None] | None = None
    facts: RunFacts | None = None
    """What the bench remembers of it; None if it does not count from it."""

    repo_key: str | None = None
    run_id: int | None = None
    run_attempt: int | None = None
    sha: str | None = None
    number: int = 0
    """Its place in the order of all reports; 0 if it is not in the store."""

    state: State = "waiting"
    address: str = UNKNOWN
    fingerprint: str = ""
    created: float = 0.0
    tries: int = 0
    reason: str = ""
    not_before: float = 0.0
    overtaken: tuple[str, ...] = ()
    file: Path = Path()
    unkept: StoreError | None = None
    supersedes: tuple["PendingReport", ...] = ()
    """Once it is kept: those of other keys that were set aside as it came."""

    @classmethod
    def of(cls, report: RunReport | MergeAnnouncement, *, remember: bool = True) -> "PendingReport":
        """Build a pending report; `remember`: the bench counts from its run."""
        if isinstance(report, MergeAnnouncement):
            call = _call.call_of(ANNOUNCE_MERGE, body=written(report))
            return cls.of_body(report.suite or report.sha, call, vars(report))
        part = report.part_of
        name = f"{report.box_key} part {part.part} of {part.parts}" if part else report.box_key
        built = cls.of_body(name, _call.call_of(REPORT_RUN, body=written(report)), vars(report))
        built = replace(built, run_id=part.run_id) if part else built
        return replace(built, facts=facts_of(report)) if remember else built

    @classmethod
    def of_body(cls, name: str, call: Call[None], content: Mapping[str, Any]) -> "PendingReport":
        """Build a pending report of a body; `content`: its JSON as a value."""
        names = ("repo_key", "run_id", "run_attempt", "sha")
        known: dict[str, Any] = {key: content.get(key) for key in names}
        return cls(name, call.path, identity_of(call.path, content), packed(call), **known)

    @classmethod
    def of_row(cls, row: sqlite3.Row, file: Path) -> "PendingReport":
        """Read what the store knows of a report."""
        if not _is_sound(row):
            number, reason = row["number"], "the disk has damaged it"
            return cls(str(row["name"]), number=number, state="damaged", reason=reason, file=file)
        known = {name: row[name] for name in _COLUMNS}
        return cls(**known, overtaken=tuple(json.loads(row["overtaken"])), file=file)

    def row(self) -> dict[str, Any]:
        """Return what the store keeps of a report in memory, without its run."""
        assert self.call is not None  # it is in memory
        body = self.call.body or b""
        known = ("tested", "tests", "product")
        return {
            **{name: getattr(self, name) for name in _COLUMNS},
            **{name: getattr(self.facts, name, None) for name in known},
            "overtaken": json.dumps(self.overtaken),
            "compressed": self.call.compressed,
            "checksum": crc32(body),
            "body": body,
        }

    @property
    def kept(self) -> bool:
        """Return whether it is on the disk."""
        return self.number > 0

    @property
    def kind(self) -> str:
        """Return `run`, `merge` or `unknown`."""
        return _KINDS.get(self.path, "unknown")

    @property
    def label(self) -> str:
        """Return the name that a person uses for it."""
        return f"{self.number:020d}" if self.kept else self.file.name


_COLUMNS: Mapping[str, tuple[type, ...]] = {
    name: types
    for types, names in (
        ((int,), "number tries"),
        ((str,), "state identity path name address fingerprint reason"),
        ((float,), "created not_before"),
        ((str, NoneType), "repo_key sha"),
        ((int, NoneType), "run_id run_attempt"),
    )
    for name in names.split()
}
LISTED = ", ".join((*_COLUMNS, "overtaken", "run", "tested", "tests", "product"))
"""The columns of a report but its body."""


def _is_sound(row: sqlite3.Row) -> bool:
    """Return whether a row is as we write it: a disk may flip any bit."""
    typed = all(isinstance(row[name], types) for name, types in _COLUMNS.items())
    try:
        overtaken = json.loads(row["overtaken"])
    except (ValueError, TypeError):
        return False
    identity = typed and _IDENTITY.fullmatch(row["identity"]) is not None
    return identity and row["state"] in get_args(State) and isinstance(overtaken, list)


# The table of reports: those that the server does not have

TABLES = (
    """CREATE TABLE IF NOT EXISTS reports (
        number INTEGER PRIMARY KEY, state TEXT NOT NULL, identity TEXT NOT NULL,
        path TEXT NOT NULL, name TEXT NOT NULL, repo_key TEXT, run_id INTEGER,
        run_attempt INTEGER, sha TEXT, address TEXT NOT NULL, fingerprint TEXT NOT NULL,
        created REAL NOT NULL, tries INTEGER NOT NULL DEFAULT 0, reason TEXT NOT NULL DEFAULT '',
        not_before REAL NOT NULL DEFAULT 0, overtaken TEXT NOT NULL DEFAULT '[]',
        run INTEGER REFERENCES runs, tested INTEGER, tests TEXT, product TEXT,
        compressed INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS reports_by_identity ON reports (identity)",
    "CREATE INDEX IF NOT EXISTS reports_by_run ON reports (run)",
)


def rows(db: sqlite3.Connection, which: str, *values: object) -> list[sqlite3.Row]:
    """Read what is known of reports, without their bodies, in their order."""
    select = f"SELECT {LISTED} FROM reports WHERE {which} ORDER BY number"
    return db.execute(select, values).fetchall()


def update(db: sqlite3.Connection, report: int, **now: object) -> None:
    """Change fields of the report with a number."""
    fields = ", ".join(f"{name} = ?" for name in now)
    db.execute(f"UPDATE reports SET {fields} WHERE number = ?", (*now.values(), report))


def put(db: sqlite3.Connection, report: PendingReport) -> None:
    """Insert a report, and the run that the bench remembers of it."""
    row = report.row()
    row["run"] = None if report.facts is None else begin(db, report.facts)
    marks = ", ".join(f":{name}" for name in row)
    db.execute(f"INSERT INTO reports ({', '.join(row)}) VALUES ({marks})", row)


def overtake(db: sqlite3.Connection, newer: PendingReport) -> None:
    """Keep earlier reports of the same identity from being sent after this one."""
    earlier = "identity = ? AND number < ? AND state IN ('waiting', 'refused')"
    for row in rows(db, earlier, newer.identity, newer.number):
        if row["address"] != newer.address:
            overtaken = {*json.loads(row["overtaken"]), newer.address}
            update(db, row["number"], overtaken=json.dumps(sorted(overtaken)))
        elif row["state"] == "waiting" and row["fingerprint"] == newer.fingerprint:
            db.execute("DELETE FROM reports WHERE number = ?", (row["number"],))
        else:
            update(db, row["number"], state="superseded")


def next_number(db: sqlite3.Connection, created: float) -> int:
    """Return a number above all that are stored, whatever the clock."""
    [last] = db.execute(f"SELECT max(number) FROM ({_NUMBERS})").fetchone()
    return max(int(created * 1e6), 1 + (last or 0))


def call_of(db: sqlite3.Connection, number: int) -> Call[None] | None:
    """Return the call that sends a report; None if it is gone or damaged."""
    select = "SELECT path, body, compressed, checksum FROM reports WHERE number = ?"
    for path, body, compressed, expected in db.execute(select, (number,)):
        if isinstance(body, bytes) and crc32(body) == expected:
            return _call.call_of(_ENDPOINTS[path], body=body, compressed=bool(compressed))
    return None
