# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - statements are put together from constants of this room
"""The bench store: reports from before they are sent until the server has them, and what the bench
remembers of their runs, in one file (contract, "Command line"; ADR 0020).

This module decides how reports are kept, whole or not at all if a process is killed; which of
several with one identity is the latest; that only one process at a time sends a report; and what
becomes of a file that the disk damaged. It sends nothing and knows no server. The statements are in
`pending.py` and `memory.py`.

The number of a report only grows, over processes, keys and clocks. The organization of a key is
unknown here, so two keys of one server may belong to the same one: the later report counts. An
earlier one of the same key is removed, as the server would replace it. One of another key is
superseded, for a person to decide. One for another server stays pending for it, and records the
address to which it must not be sent.

The file is a SQLite database with a rollback journal: home folders may be on network file systems.
Every writer waits for the lock `.lock`. So the file can be renamed while no process has it open,
and processes do not compete for SQLite's own locks.
"""

import gzip
import hashlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from hwci.client._address import parse_address
from hwci.client._call import Call, Credential
from hwci.client._protocol import usable
from hwci.client.files import locked, state_home
from hwci.client.store import memory, pending
from hwci.client.store.memory import JobOfBuild, PastRuns, Recalled, RunSeries, facts_of
from hwci.client.store.pending import UNKNOWN, PendingReport, StoreError, identity_of
from hwci.wire.endpoints.ci import REPORT_RUN
from hwci.wire.reports import RunReport

T = TypeVar("T")

ASKED_MAX_S = 600.0
"""Seconds that a server may ask to wait, at most."""
REPORTS_MAX = 10_000
"""Reports that a store holds; further ones are refused."""
BYTES_MAX = 200_000_000
"""Bytes of the compressed reports that a store holds."""
_LOCKS = 64
NAME = "bench.sqlite3"
STEPS: Sequence[str] = ()
"""What brings the tables of an older hwci to the present ones, in order: a statement each. A file
that has taken more is a newer hwci's, and is left alone.
"""
BUSY_S = 60.0
"""Seconds to wait for another program that has the file open, such as a shell of SQLite."""
_SET_ASIDE = re.compile(rf"{NAME}\.damaged-[0-9]+")
_DAMAGE = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR}
"""`SQLITE_ERROR`: our statements are correct, so the tables must be damaged."""


def bench_store(environ: Mapping[str, str]) -> "BenchStore | None":
    """Return the store in `$HWCI_SPOOL_DIR`, else in `spool` below `$HWCI_STATE_DIR`, else below
    `$XDG_STATE_HOME/hwci`; None if this user has no home.
    """
    state = (
        Path(environ["HWCI_STATE_DIR"]) if environ.get("HWCI_STATE_DIR") else state_home(environ)
    )
    if folder := environ.get("HWCI_SPOOL_DIR"):
        return BenchStore(Path(folder))
    return None if state is None else BenchStore(state / "spool")


def no_place() -> StoreError:
    """Return why there is no store."""
    return StoreError("HOME is not set, and this user has no home folder")


def fingerprint_of(key: str) -> str:
    """Return a short digest of a key, which does not reveal it."""
    return hashlib.sha256(f"hwci-spool:{key}".encode(errors="surrogatepass")).hexdigest()[:16]


class BenchStore:
    """The store in a folder. A method raises StoreError if the store cannot be read or written,
    unless it says otherwise.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.time,
        reports_max: int = REPORTS_MAX,
        bytes_max: int = BYTES_MAX,
    ) -> None:
        self.folder = folder
        self.file = folder / NAME
        self.damaged: list[str] = []
        """What was damaged and set aside, as a text for people."""
        self._clock = clock
        self._reports_max = reports_max
        self._bytes_max = bytes_max

    # Keeping

    def keep(
        self, reports: Sequence[PendingReport], address: str | None, key: str
    ) -> list[PendingReport]:
        """Put reports on the disk, each as the latest of its identity, and remember their runs, all
        in one transaction. `address` None: the server is not known yet. What could not be kept
        comes back with the reason as `unkept`.

        Raises:
            HwciError: they could never be sent: the address or the key is invalid.
        """
        fingerprint = fingerprint_of(usable(key, Credential.CI_KEY))
        server = UNKNOWN if address is None else str(parse_address(address))
        meant = [
            replace(report, address=server, fingerprint=fingerprint, created=self._clock())
            for report in reports
        ]
        try:
            return self._change(lambda db: [self._keep(db, report) for report in meant])
        except StoreError as fault:
            return [replace(report, unkept=fault) for report in meant]

    def _keep(self, db: sqlite3.Connection, report: PendingReport) -> PendingReport:
        same = (report.identity, report.address, report.fingerprint)
        [count, held, replaced] = db.execute(
            "SELECT count(*), coalesce(sum(length(body)), 0), coalesce(sum(state = 'waiting' AND "
            "identity = ? AND address = ? AND fingerprint = ?), 0) FROM reports",
            same,
        ).fetchone()
        size = len(report.row()["body"])
        if count - replaced >= self._reports_max or held + size > self._bytes_max:
            full = StoreError(
                f"{self.folder} is full: it holds {count:,} reports, {held:,} bytes",
                "Send pending reports (hwci spool flush) and refused ones (hwci spool flush "
                "--refused), or remove those set aside: hwci spool remove NAME",
            )
            return replace(report, unkept=full)
        numbered = replace(report, number=pending.next_number(db, report.created), file=self.file)
        pending.put(db, numbered)
        pending.overtake(db, numbered)
        which = "state = 'superseded' AND identity = ? AND fingerprint != ?"
        aside = pending.rows(db, which, numbered.identity, numbered.fingerprint)
        return replace(numbered, supersedes=tuple(self._report(row) for row in aside))

    def overtake(self, report: PendingReport, address: str) -> None:
        """Supersede what is earlier than a report that could not be kept."""
        self._change(
            lambda db: db.execute(
                "UPDATE reports SET state = 'superseded' WHERE identity = ? AND address = ? AND "
                "state IN ('waiting', 'refused')",
                (report.identity, address),
            )
        )

    # Looking: it changes nothing

    def reports(self) -> list[PendingReport]:
        """Return all reports, in their order."""
        stored = self._read(self._stored) or []
        aside = [
            PendingReport(
                path.name,
                state="damaged",
                reason="the file is damaged",
                file=path,
                created=path.stat().st_mtime,
            )
            for path in (self.folder / name for name in sorted(self._listed()))
            if _SET_ASIDE.fullmatch(path.name)
        ]
        return [*stored, *aside]

    def _stored(self, db: sqlite3.Connection) -> list[PendingReport]:
        return [self._report(row) for row in pending.rows(db, "TRUE")]

    def _report(self, row: sqlite3.Row) -> PendingReport:
        return PendingReport.of_row(row, self.file)

    def waiting_for(self, address: str, fingerprint: str | None) -> list[PendingReport]:
        """Return what is to be sent to a server, or to one that is not known yet, with a key, or
        with any key. What failed more often comes later, so that what a proxy never lets pass
        delays no other. Nothing if the store cannot be read.
        """
        return sorted(
            (
                report
                for report in self._known(self._stored) or ()
                if report.state == "waiting"
                and report.address in {address, UNKNOWN}
                and fingerprint in {None, report.fingerprint}
            ),
            key=lambda report: report.tries,
        )

    def others_waiting(self, address: str, fingerprint: str) -> int:
        """Count pending reports for a server, but for another key than this."""
        return sum(report.fingerprint != fingerprint for report in self.waiting_for(address, None))

    def elsewhere(self, address: str) -> int:
        """Count pending reports for other servers than this."""
        waiting = (report for report in self.reports() if report.state == "waiting")
        return sum(report.address not in {address, UNKNOWN} for report in waiting)

    def not_before(self, address: str, fingerprint: str | None) -> float:
        """Return the seconds that a server asked to wait, if that was noted."""
        return max(map(self._pause, self.waiting_for(address, fingerprint)), default=0.0)

    def _pause(self, report: PendingReport) -> float:
        left = max(0.0, report.not_before - self._clock())
        return left if left <= ASKED_MAX_S else 0.0  # else the clock of the bench was set back

    def found(self, report: PendingReport) -> PendingReport | None:
        """Return a report as it is now, or the later one that waits in its place."""
        later = "number > ? AND identity = ? AND address = ? AND state = 'waiting'"
        which = (f"number = ? OR ({later})", report.number, report.number)
        rows = self._read(lambda db: pending.rows(db, *which, report.identity, report.address))
        return self._report(rows[0]) if rows else None

    def body(self, report: PendingReport) -> bytes:
        """Return the body of a report, as JSON."""
        if report.call is None:
            call = self._read(lambda db: pending.call_of(db, report.number))
        else:
            call = report.call
        if call is None:
            raise StoreError(
                f"{report.label}: {report.reason or 'it is damaged'}",
                "Name another: hwci spool list",
            )
        body = call.body or b""
        return gzip.decompress(body) if call.compressed else body

    # What is remembered of runs: nothing, where the store cannot be read

    def recall(
        self, series: RunSeries | None, job: JobOfBuild | None = None, *, claim: bool = False
    ) -> Recalled:
        """Return what this bench knows now of a series of runs, and the run id of a job: its own if
        another job has the number of its build on one of its boxes. `claim`: it is remembered.
        """
        if claim:
            with suppress(StoreError):
                return self._change(lambda db: memory.recall(db, series, job, claim=True))
        known = self._known(lambda db: memory.recall(db, series, job, claim=False))
        return known or Recalled(PastRuns(series), None if job is None else job.number)

    def keeps(self) -> bool:
        """Return whether the store can be written."""
        try:
            self._change(lambda _: None)
        except StoreError:
            return False
        return True

    def first_run(self, run_id: int) -> tuple[str, str] | None:
        """Return the series (its digest) and the commit of the first run that has a number."""
        return self._known(lambda db: memory.first_run(db, run_id))

    def replaced(self, report: RunReport, *, results: bool = False) -> str | None:
        """Return what else a report would replace: other tests, product or start; with `results`,
        also the same ones that ended otherwise, which may be the same run corrected.
        """
        identity, facts = identity_of(REPORT_RUN.path, vars(report)), facts_of(report)
        return self._known(lambda db: memory.replaced(db, identity, facts, results=results))

    # Sending

    @contextmanager
    def taken(self, report: PendingReport) -> Iterator[Call[None] | None]:
        """Yield the call that sends a report, and lock it for other processes meanwhile. None if it
        is not pending any more, another process sends one of its identity right now, or the server
        asked for a pause, which another process may have noted.
        """
        with ExitStack() as held:
            try:
                mine = held.enter_context(self._sending(report.identity))
            except OSError as fault:
                raise StoreError(f"{self.folder} cannot be written: {fault.strerror}") from fault
            yield self._to_send(report) if mine else None

    def sent(self, report: PendingReport) -> None:
        """Delete a report that the server has, and remember its run."""

        def settle(db: sqlite3.Connection) -> None:
            if not report.kept and report.facts is not None:
                number = pending.next_number(db, self._clock())
                facts = report.facts
                memory.settle(db, memory.begin(db, facts), tested=facts.tested)
                memory.know(db, report.identity, number, facts.tests, facts.product)
            for row in pending.rows(db, "number = ? AND run IS NOT NULL", report.number):
                memory.settle(db, row["run"], tested=row["tested"])
                memory.know(db, row["identity"], row["number"], row["tests"], row["product"])
            db.execute("DELETE FROM reports WHERE number = ?", (report.number,))

        self._change(settle)

    def put_off(self, report: PendingReport, reason: str, asked_s: float = 0.0) -> None:
        """Note why a report is still pending, and how long the server asked to wait."""
        until = self._clock() + asked_s if asked_s else 0.0
        self._tried(report, reason=reason, not_before=until)

    def refuse(self, report: PendingReport, reason: str) -> None:
        """Set aside a report that the server refused, with the reason. Its run no longer counts."""
        self._tried(report, state="refused", reason=reason)

    def _tried(self, report: PendingReport, **now: object) -> None:
        def change(db: sqlite3.Connection) -> None:
            for row in pending.rows(db, "number = ? AND state = 'waiting'", report.number):
                pending.update(db, report.number, tries=row["tries"] + 1, **now)

        self._change(change)

    def readdress(self, address: str, fingerprint: str | None, *, any_server: bool = False) -> None:
        """Make what is pending for an unknown server, or for `any_server`, pending for this one,
        unless a later report of its identity went there. What another process sends right now stays
        as it is.
        """

        def change(db: sqlite3.Connection) -> None:
            for report in self._stored(db):
                elsewhere = report.address == UNKNOWN or (any_server and report.address != address)
                if (
                    report.state == "waiting"
                    and elsewhere
                    and fingerprint in {None, report.fingerprint}
                ):
                    with suppress(OSError), self._sending(report.identity) as mine:
                        if mine:
                            self._readdress(db, report, address)

        self._change(change)

    def _readdress(self, db: sqlite3.Connection, report: PendingReport, address: str) -> None:
        if address in report.overtaken:
            pending.update(db, report.number, state="superseded")
        else:
            pending.update(db, report.number, address=address, not_before=0.0)
            pending.overtake(db, replace(report, address=address))

    @contextmanager
    def _sending(self, identity: str) -> Iterator[bool]:
        folder = self.folder / ".sending"
        folder.mkdir(mode=0o700, exist_ok=True)
        with locked(folder / f"{int(identity[-8:], 16) % _LOCKS}", wait=False) as mine:
            yield mine

    def _to_send(self, report: PendingReport) -> Call[None] | None:
        before = len(self.damaged)
        which = ("number = ? AND state = 'waiting'", report.number)
        rows, call = self._change(  # it sets the file aside if that is damaged
            lambda db: (pending.rows(db, *which), report.call or pending.call_of(db, report.number))
        )
        if not rows and len(self.damaged) > before:
            raise StoreError(f"{self.file} was damaged")
        if not rows or self._pause(self._report(rows[0])):
            return None
        if call is None:
            reason = "the disk has damaged it"
            self._change(
                lambda db: pending.update(db, report.number, state="damaged", reason=reason)
            )
            self.damaged.append(f"report {report.label} in {self.file}")
        return call

    # By a person

    def find(self, name: str) -> list[PendingReport]:
        """Return the reports that a name means: a number, how it begins, or a listed file."""
        begins = Path(name).name
        return [report for report in self.reports() if begins and report.label.startswith(begins)]

    def put_back(self) -> int:
        """Make refused reports pending again, in their order. Return how many."""

        def change(db: sqlite3.Connection) -> int:
            rows = pending.rows(db, "state = 'refused'")
            for row in rows:
                pending.update(db, row["number"], state="waiting", reason="", not_before=0.0)
                pending.overtake(db, self._report(row))
            return len(rows)

        return self._change(change)

    def keep_again(self, report: PendingReport, address: str, key: str) -> PendingReport:
        """Make a report that a person names pending as the latest of its identity, for this server
        and this key, whatever its state and destination were.
        """
        self.body(report)
        server = str(parse_address(address))
        fingerprint = fingerprint_of(usable(key, Credential.CI_KEY))

        def change(db: sqlite3.Connection) -> PendingReport:
            now = self._clock()
            number = pending.next_number(db, now)
            pending.update(
                db,
                report.number,
                number=number,
                state="waiting",
                address=server,
                fingerprint=fingerprint,
                created=now,
                tries=0,
                reason="",
                not_before=0.0,
                overtaken="[]",
            )
            [row] = pending.rows(db, "number = ?", number)
            kept = self._report(row)
            pending.overtake(db, kept)
            return kept

        return self._change(change)

    def remove(self, report: PendingReport) -> None:
        """Delete a report."""
        self._change(
            lambda db: db.execute("DELETE FROM reports WHERE number = ?", (report.number,))
        )

    # The file, which any number of processes may share

    def _known(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `work`, which changes nothing; None if there is no store, or it cannot be read."""
        with suppress(StoreError):
            return self._read(work)
        return None

    def _change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one transaction, in a new file if this one is damaged.

        Raises:
            StoreError: nothing was changed.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.folder / ".lock", wait=True):
                try:
                    return self._transact(work)
                except sqlite3.DatabaseError as fault:
                    if getattr(fault, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE:
                        raise
                    self._set_aside()
                    return self._transact(work)
        except (OSError, sqlite3.Error) as fault:
            place = self.folder if isinstance(fault, OSError) else self.file
            raise StoreError(f"{place} cannot be written: {_why(fault)}") from fault

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Run `work`, which changes nothing; None if there is no file. One of an older hwci takes
        the steps that it lacks first.

        Raises:
            StoreError: the file cannot be read.
        """
        try:
            if NAME not in self._listed():
                return None
            with closing(self._open()) as db:
                if not _due(db):
                    return work(db)
            return self._change(work)
        except OSError as fault:
            fix = "Set HWCI_SPOOL_DIR to the folder of the reports, or let this user read it"
            raise StoreError(f"{self.folder} cannot be read: {_why(fault)}", fix) from fault
        except sqlite3.Error as fault:
            fix = "Check the disk; the next report sets the file aside, and goes on without it"
            raise StoreError(f"{self.file} cannot be read: {_why(fault)}", fix) from fault

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
            if due := _due(db):
                for statement in due:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {_version()}")
            return work(db)

    def _open(self) -> sqlite3.Connection:
        if hasattr(os, "geteuid") and self.file.stat().st_uid != os.geteuid():
            raise StoreError(f"{self.file} belongs to another user")
        name = quote(os.fsencode(self.file.absolute()))
        db = sqlite3.connect(f"file:{name}?mode=rw", uri=True, timeout=BUSY_S, isolation_level=None)
        try:
            db.row_factory = sqlite3.Row
            db.text_factory = lambda text: text.decode(errors="replace")
            if (version := _taken(db)) > _version():
                raise StoreError(
                    f"{self.file} was written by a newer hwci (version {version}; this one knows "
                    f"{_version()})",
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


def _version() -> int:
    """Return the number of the last step, after the first, which makes the tables."""
    return 1 + len(STEPS)


def _taken(db: sqlite3.Connection) -> int:
    [version] = db.execute("PRAGMA user_version").fetchone()
    return int(version)


def _due(db: sqlite3.Connection) -> Sequence[str]:
    """Return the statements that a file lacks: all tables, if it is new."""
    taken = _taken(db)
    return STEPS[taken - 1 :] if taken else (*memory.TABLES, *pending.TABLES)


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
                    for (rowid,) in db.execute(f"SELECT rowid FROM {table} ORDER BY rowid {way}"):
                        ids.add(rowid)
            for rowid in sorted(ids):
                with suppress(sqlite3.Error):
                    select = f"SELECT rowid, * FROM {table} WHERE rowid = ?"
                    rows += [(table, row) for row in db.execute(select, (rowid,))]
    return rows


def _put(db: sqlite3.Connection, rows: Sequence[tuple[str, sqlite3.Row]]) -> None:
    """Insert the rows of a damaged file that fit the tables."""
    for table, row in rows:
        names = row.keys()[1:]
        into = f"{table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        with suppress(sqlite3.Error):
            db.execute(f"INSERT OR IGNORE INTO {into}", tuple(row)[1:])
