# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are built from constants of this room
"""The one file in which a bench keeps what it reported (ADR 0033). This module opens it, changes it
in transactions, and sets it aside if the disk damaged it. `bench.py` and `memory.py` decide what
its tables mean.

It is a SQLite database with a rollback journal: home folders may be on network file systems. Every
writer waits for the lock `.lock`, as an older hwci does. So the file can be renamed while no
process has it open, and processes do not compete for SQLite's own locks.
"""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from hwci.client.files import locked
from hwci.client.store.pending import StoreError

T = TypeVar("T")

NAME = "bench.sqlite3"
VERSION = 1
"""Increase it if an older hwci cannot use the file: an older one leaves a newer file alone."""
BUSY_S = 60.0
"""Seconds to wait for another program that has the file open, such as a shell of SQLite."""
_SET_ASIDE = re.compile(rf"{NAME}\.damaged-[0-9]+")
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
"""`SQLITE_ERROR`: our statements are correct, so the tables must be damaged."""

SCHEMA = (
    """CREATE TABLE IF NOT EXISTS runs (
        id INTEGER PRIMARY KEY, series TEXT NOT NULL, run_id INTEGER NOT NULL, sha TEXT NOT NULL,
        tested INTEGER, changes TEXT, UNIQUE (series, run_id, sha))""",
    """CREATE TABLE IF NOT EXISTS known (
        identity TEXT PRIMARY KEY, number INTEGER NOT NULL, tests TEXT NOT NULL,
        product TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS jobs (
        number INTEGER PRIMARY KEY, build TEXT NOT NULL, job TEXT NOT NULL,
        run_id INTEGER NOT NULL, UNIQUE (build, job))""",
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
"""`runs`: the runs of this bench, in their order; `tested` null: no report of it was sent yet.
`known`: what was sent under an identity. `jobs`: the run ids of jobs that share a number, in the
order in which they came. `reports`: those that the server does not have.
"""


class StoreFile:
    """The file in a folder, which any number of processes may share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / NAME
        self.damaged: list[str] = []
        """What was damaged and set aside, as a text for people."""

    def write(
        self, work: Callable[[sqlite3.Connection], T], then: Callable[[T], None] | None = None
    ) -> T:
        """Run `work` in one transaction, in a new file if this one is damaged. `then` runs once the
        result is on the disk, before any other process can write.

        Raises:
            StoreError: nothing was changed.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.folder / ".lock", wait=True):
                try:
                    done = self._transact(work)
                except sqlite3.DatabaseError as fault:
                    if getattr(fault, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                        raise
                    self._set_aside()
                    done = self._transact(work)
                if then is not None:
                    then(done)
                return done
        except (OSError, sqlite3.Error) as fault:
            place = self.folder if isinstance(fault, OSError) else self.file
            raise StoreError(f"{place} cannot be written: {_why(fault)}") from fault

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `work`, which changes nothing; None if there is no file.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            if NAME not in self._listed():
                return None
            with closing(self._open()) as db:
                return work(db)
        except OSError as fault:
            fix = "Set HWCI_SPOOL_DIR to the folder of the reports, or let this user read it"
            raise StoreError(f"{self.folder} cannot be read: {_why(fault)}", fix) from fault
        except sqlite3.Error as fault:
            fix = "Check the disk; the next report sets the file aside, and goes on without it"
            raise StoreError(f"{self.file} cannot be read: {_why(fault)}", fix) from fault

    def set_aside(self) -> list[Path]:
        """Return the damaged files that were set aside in the folder."""
        names = sorted(self._listed())
        return [self.folder / name for name in names if _SET_ASIDE.fullmatch(name)]

    def _listed(self) -> list[str]:
        try:
            return [path.name for path in self.folder.iterdir()]
        except FileNotFoundError:
            if os.path.lexists(self.folder):
                raise
            return []  # nothing was ever kept

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        os.close(os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600))
        with closing(self._open()) as db, db:
            if self.file.stat().st_size == 0:  # sent reports free their space
                db.execute("PRAGMA auto_vacuum = FULL")
            db.execute("PRAGMA journal_mode = TRUNCATE")  # no WAL: see above
            db.execute("PRAGMA synchronous = FULL")
            db.execute("BEGIN IMMEDIATE")
            for statement in SCHEMA:
                db.execute(statement)
            if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                db.execute(f"PRAGMA user_version = {VERSION}")
            return work(db)

    def _open(self) -> sqlite3.Connection:
        if hasattr(os, "geteuid") and self.file.stat().st_uid != os.geteuid():
            raise StoreError(f"{self.file} belongs to another user")
        name = quote(os.fsencode(self.file.absolute()))
        db = sqlite3.connect(f"file:{name}?mode=rw", uri=True, timeout=BUSY_S, isolation_level=None)
        try:
            db.row_factory = sqlite3.Row
            db.text_factory = lambda text: text.decode(errors="replace")
            [version] = db.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise StoreError(
                    f"{self.file} was written by a newer hwci (version {version}; this one knows "
                    f"{VERSION})",
                    "Use the newer hwci on this bench, or set HWCI_SPOOL_DIR to another folder",
                )
        except BaseException:
            db.close()
            raise
        return db

    def _set_aside(self) -> None:
        """Rename the damaged file, and copy what can be read of it into a new one."""
        aside = self.folder / f"{NAME}.damaged-{time.time_ns()}"
        with suppress(FileNotFoundError):  # it must not be applied to the new file
            self.file.with_name(f"{NAME}-journal").rename(f"{aside}-journal")
        self.file.rename(aside)
        rows = _readable_rows(aside)
        self._transact(lambda db: _put(db, rows))
        many = sum(table == "reports" for table, _ in rows)
        self.damaged.append(f"{aside} ({many:,} of its reports could be read, and are kept)")


def _why(fault: Exception) -> str:
    return (fault.strerror if isinstance(fault, OSError) else None) or str(fault)


def _readable_rows(file: Path) -> list[tuple[str, sqlite3.Row]]:
    """Read a damaged file row by row, from both ends of each table."""
    rows = []
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
        db.row_factory = sqlite3.Row
        for table in ("runs", "known", "jobs", "reports"):
            ids: set[int] = set()
            for way in ("ASC", "DESC"):
                with suppress(sqlite3.Error):
                    for row in db.execute(f"SELECT rowid FROM {table} ORDER BY rowid {way}"):
                        ids.add(row[0])
            for one in sorted(ids):
                with suppress(sqlite3.Error):
                    select = f"SELECT rowid, * FROM {table} WHERE rowid = ?"
                    rows += [(table, row) for row in db.execute(select, (one,))]
    return rows


def _put(db: sqlite3.Connection, rows: Sequence[tuple[str, sqlite3.Row]]) -> None:
    """Insert the rows of a damaged file that fit the tables."""
    for table, row in rows:
        names = row.keys()[1:]
        into = f"{table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        with suppress(sqlite3.Error):
            db.execute(f"INSERT OR IGNORE INTO {into}", tuple(row)[1:])
