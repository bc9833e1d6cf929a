# SPDX-License-Identifier: Apache-2.0
"""Connections to the database file: how each is set up, and the one place that migrates.

This module decides pragmas. The writer alone checkpoints the log; readers refuse to write. Every
commit is on the disk before it is reported (`synchronous=FULL`). A connection also keeps the bit
masks of test lists, which never change once committed.
"""

import os
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache
from math import ceil
from pathlib import Path
from sqlite3 import Cursor
from typing import Any, TypeVar

from hwci.engine.history import OutOfTimeError
from hwci.server.deadline import TakesLongError
from hwci.server.errors import StorageError
from hwci.server.storage.location import Location
from hwci.server.storage.sql.connection import Connection as Base
from hwci.server.storage.sql.whole import UNFINISHED, unfinished
from hwci.server.storage.sqlite.locking import check_header, read_header, refuse_newer
from hwci.server.storage.sqlite.page_sums import PageSums, forget_sums
from hwci.server.storage.sqlite.schema import APPLICATION_ID, schema, steps, take_steps

Found = TypeVar("Found")

_BUSY_MS = 5000
_CACHE_KIB = 8 * 1024
_READER_CACHE_KIB = 4 * 1024  # there are six, and each fills its own
_LOG_LIMIT_BYTES = 64 * 1024 * 1024
_LOG_FRAMES = 4000  # when it is written into the file, of 16 MiB: pages are often written again
_STATEMENTS = 256
_STEPS_BETWEEN_LOOKS = 50_000  # of SQLite's machine, a few milliseconds
_SOUND = (3, 51, 3)
_SCHEMA = "SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"


class Connection(Base):
    """One SQLite connection, used by one thread at a time."""

    def __init__(self, path: Path, mode: str = "mode=rw") -> None:
        location = Location(str(path))
        super().__init__(location.shown)
        self.path = path
        self.sums: PageSums | None = None
        self._patience: int | None = None
        self.raw = sqlite3.connect(
            f"{path.absolute().as_uri()}?{mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_STATEMENTS,
        )
        for name, function in (("greatest", max), ("least", min)):
            self.raw.create_function(name, 2, function, deterministic=True)
        for pragma in (
            f"busy_timeout = {_BUSY_MS}",
            "synchronous = FULL",
            "foreign_keys = ON",
            f"cache_size = -{_CACHE_KIB}",
            f"journal_size_limit = {_LOG_LIMIT_BYTES}",
        ):
            self.raw.execute(f"PRAGMA {pragma}")

    def interrupt_late_statements(self) -> None:
        """Interrupt running statements when the time is over."""
        self.raw.set_progress_handler(self._is_late, _STEPS_BETWEEN_LOOKS)

    def wait_for_locks(self, seconds: float) -> None:
        """Set how long the next statements wait while another process holds the file: whole
        seconds, so that it rarely changes.
        """
        if ceil(seconds) != self._patience:
            self._patience = ceil(seconds)
            self.raw.execute(f"PRAGMA busy_timeout = {self._patience * 1000}")

    def execute(self, statement: str, values: Sequence[object] = ()) -> Cursor:
        """Run one statement."""
        self.check_time()
        return self.raw.execute(statement, values)

    def execute_many(self, statement: str, rows: Collection[Sequence[object]]) -> None:
        """Run one statement for each row of values."""
        if rows:
            self.raw.executemany(statement, rows)

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        rows: list[tuple[Any, ...]] = self._fetched(Cursor.fetchall, statement, values)
        return rows

    def each(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are asked for."""
        return self.execute(statement, values)

    def row(self, statement: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
        """Return the first row of a query, or None."""
        row: tuple[Any, ...] | None = self._fetched(Cursor.fetchone, statement, values)
        return row

    def added(self, statement: str, values: Sequence[object]) -> int:
        """Add a row; return its `id`. To have it returned takes SQLite a table of its own."""
        number = self.execute(statement, values).lastrowid
        assert number is not None
        return number

    def _fetched(
        self, fetch: Callable[[Cursor], Found], statement: str, values: Sequence[object]
    ) -> Found:
        try:
            return fetch(self.execute(statement, values))
        except sqlite3.OperationalError:
            self.check_time()  # it may have been interrupted
            raise

    def _is_late(self) -> bool:
        try:
            self.check_time()
        except (OutOfTimeError, TakesLongError):
            return True
        return False

    def commit(self) -> None:
        """Commit what was written, and note that. Write the log into the file when it is long."""
        self.execute("COMMIT")
        if self.sums is not None and self.sums.acknowledge() >= _LOG_FRAMES:
            # What was committed is kept whatever happens here; the next commit tries again.
            with suppress(OSError, sqlite3.Error):
                self.sums.take_log()
                (_, frames, written) = self.rows("PRAGMA wal_checkpoint")[0]
                if frames == written:
                    self.sums.checkpointed()

    def roll_back(self) -> None:
        """Undo a transaction that wrote, and forget the test lists that it may have made."""
        self.forget_lists()
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")

    def leave_snapshot(self) -> None:
        """End a transaction that only read, if there is one."""
        if self.raw.in_transaction:
            self.raw.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection. The last one of a file writes the log into it."""
        if self.sums is None:
            self.raw.close()
            return
        try:
            self.sums.take_log()
        except OSError:
            forget_sums(self.path)
        self.raw.close()
        self.sums.closed()


def check_readable(path: Path) -> None:
    """Read a file's schema without leaving a trace beside it, as an open database would.

    A file with a log beside it is left to the writer: it was not closed, and must be recovered.
    """
    if not path.exists() or path.with_name(path.name + "-wal").exists():
        return
    probe = sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True)
    try:
        probe.execute("SELECT count(*) FROM sqlite_schema")
    finally:
        probe.close()


def open_writer(
    path: Path, sums: PageSums | None = None, *, may_be_unfinished: bool = False
) -> Connection:
    """Open the connection that writes, and bring the file to the present schema.

    A file that is made here is its owner's alone, and so are the log and index beside it. `sums`:
    its page sums, which are kept up; it has none otherwise.

    Raises:
        DamagedError: the log lacks what was acknowledged.
        StorageError: a newer program migrated the file, its tables are not ours, it is a copy that
            is not whole yet, or it cannot be written.
    """
    try:
        if sums is None:
            forget_sums(path)
        else:
            sums.begin(anew=bool(steps_after(path)))
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as fault:
        raise StorageError(
            f"Cannot write the database {path}: {fault.strerror}", "give its owner the right to"
        ) from fault
    connection = Connection(path)
    try:
        if sums is not None:
            connection.sums = sums
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        _migrate(connection, path)
        with closing(new_database()) as new:
            _refuse_another_schema(connection, new, may_be_unfinished=may_be_unfinished)
        connection.execute("PRAGMA journal_mode = WAL")  # a copy by another tool may have left it
        if sums is not None:
            sums.page_bytes = connection.rows("PRAGMA page_size")[0][0]
            sums.cover()
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: Path, mode: str = "mode=rw") -> Connection:
    """Open a connection that can only read and never checkpoints. `mode`: "immutable=1" for a
    file that no process writes, so that no trace is left beside it.
    """
    connection = Connection(path, mode)
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{_READER_CACHE_KIB}")
    connection.interrupt_late_statements()
    return connection


def driver_doubt() -> str | None:
    """Return a warning about the present SQLite, in one line; None if it is new enough."""
    if sqlite3.sqlite_version_info >= _SOUND:
        return None
    return (
        f"SQLite {sqlite3.sqlite_version} is older than {'.'.join(map(str, _SOUND))}: when two "
        "connections write or checkpoint at once, it can damage a database (the WAL-reset bug). "
        "hwci writes from one connection alone (`hwci admin` asks the server): let no other program"
        " write the file, and update SQLite"
    )


def known_version() -> int:
    """Return the number of steps that this program knows."""
    return len(steps())


def steps_after(path: Path) -> Sequence[str]:
    """Name the steps that a file lacks, by its header. Raises as `check_header`."""
    check_header(path, known_version())
    header = read_header(path)
    return steps()[header.user_version if header else 0 :]


def _migrate(connection: Connection, path: Path) -> None:
    """Take the steps that are due; the header is brought up to date before anyone else reads it."""
    ((taken,),) = connection.rows("PRAGMA user_version")
    refuse_newer(path, taken, known_version())
    if taken == known_version():
        return
    if not connection.rows(_SCHEMA):
        with closing(new_database()) as made:
            made.backup(connection.raw)
        return
    if not taken:  # a damaged header has no number
        with closing(new_database()) as made:
            _refuse_another_schema(connection, made, may_be_unfinished=True)
        connection.execute(f"PRAGMA user_version = {known_version()}")
    else:
        take_steps(connection.raw, taken)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _refuse_another_schema(
    connection: Connection, new: sqlite3.Connection, *, may_be_unfinished: bool
) -> None:
    """Refuse tables that our steps did not make, before a request finds out (`/readyz` trusts it).

    Raises:
        StorageError: a build between two releases made them, someone changed them by hand, or it is
            a copy that is not whole yet.
    """
    layout = _layout(connection.raw)
    if layout.pop(UNFINISHED, None) and not may_be_unfinished:
        raise unfinished(str(connection.path))
    made = _layout(new)
    for guard in {name for name, sql in made.items() if "TRIGGER" in sql} - {*layout}:
        del made[guard]  # the chain shows what was done without it
    if layout != made:
        raise StorageError(
            f"The tables of {connection.path} are not those of this hwci",
            "open it with the build that made it",
        )


def _layout(database: sqlite3.Connection) -> dict[str, str]:
    """Return what makes each table, index and trigger, without the blanks, which a step may set
    otherwise.
    """
    return {name: "".join(sql.split()) for name, sql in database.execute(_SCHEMA).fetchall()}


def new_database() -> sqlite3.Connection:
    """Return an empty database in memory, at the present schema."""
    database = sqlite3.connect(":memory:")
    database.deserialize(_made_by(schema(), known_version()))
    return database


@cache
def _made_by(statements: str, version: int) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(statements)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {version}")
        return database.serialize()
