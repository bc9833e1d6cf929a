# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ASYNC221, ASYNC240 - nothing else runs on the loop of these tests
"""The database file: who may open it, what is refused untouched, and what is on the disk."""

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hwci.server.errors import StorageBusyError, StorageError, StorageLockedError
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.sqlite.connections import (
    Connection,
    known_version,
    open_reader,
    open_writer,
)
from hwci.server.storage.sqlite.store import SqliteStorage
from tests.server.storage.examples import ACME, NOON, REPORT

KNOWN = known_version()


def found(writer: Writer) -> None:
    writer.add_organization(ACME)


async def made(path: Path) -> None:
    """Make a database with an organization in it and close it."""
    storage = open_storage(path)
    await storage.write(found)
    await storage.close()


async def test_every_table_is_strict_and_of_tenants_begins_with_the_organization(
    tmp_path: Path,
) -> None:
    await made(tmp_path / "hwci.db")
    with sqlite3.connect(tmp_path / "hwci.db") as database:
        tables = database.execute(
            "SELECT name, strict FROM pragma_table_list WHERE schema = 'main'"
            " AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_sqlite%' ESCAPE '\\'"
        ).fetchall()
        assert all(strict for _, strict in tables)
        of_nobody = {
            "organization",
            "user",
            "session",
            "refresh_token",
            "identity",
            "invite",
        }
        for table in {name for name, _ in tables} - of_nobody:
            unique = database.execute(
                "SELECT (SELECT name FROM pragma_index_info(l.name) WHERE seqno = 0)"
                f" FROM pragma_index_list('{table}') l WHERE l.origin <> 'c'"
            ).fetchall()
            firsts = {first for (first,) in unique}
            # The digest of a key finds its organization, so it is unique over all of them; the
            # token of a job is used once, whichever organization it is for.
            digests = {
                "ci_key": {"digest"},
                "reader_key": {"digest"},
                "job_key": {"digest", "token"},
                "box": {"install_digest", "key_digest"},
            }
            assert firsts <= {"org_id", *digests.get(table, ())}, table
    database.close()


def test_every_connection_has_its_pragmas(tmp_path: Path) -> None:
    path = tmp_path / "hwci.db"
    writer, reader = open_writer(path), open_reader(path)

    def pragma(name: str) -> tuple[object, object]:
        rows = [connection.row(f"PRAGMA {name}") for connection in (writer, reader)]
        return tuple(row[0] for row in rows if row)

    assert pragma("journal_mode") == ("wal", "wal")
    assert pragma("synchronous") == (2, 2)
    assert pragma("foreign_keys") == (1, 1)
    assert pragma("busy_timeout") == (5000, 5000)
    assert pragma("query_only") == (0, 1)
    assert pragma("wal_autocheckpoint") == (1000, 0)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM report")
    reader.close()
    writer.close()


async def test_a_closed_database_is_one_file_with_its_lock_and_its_sums(
    tmp_path: Path,
) -> None:
    await made(tmp_path / "hwci.db")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["hwci.db", "hwci.db.lock", "hwci.db.sums"]


async def test_nobody_else_may_read_the_file_or_what_stands_beside_it(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    await storage.close()

    assert "hwci.db-wal" in modes
    assert set(modes.values()) == {0o600}


async def test_what_was_written_is_there_when_the_process_dies_at_once(tmp_path: Path) -> None:
    program = """
import asyncio, os, sys
from hwci.server.storage.opening import open_storage
from tests.server.storage.examples import ACME, NOON, REPORT
async def main():
    storage = open_storage(sys.argv[1])
    await storage.write(lambda w: w.put_report(ACME.id, REPORT, NOON))
    os._exit(7)
asyncio.run(main())
"""
    path = tmp_path / "hwci.db"
    died = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=False, env=environment()
    )
    assert died.returncode == 7
    storage = open_storage(path)
    facts = await storage.read(lambda r: r.facts(ACME.id))
    await storage.close()
    assert facts.reports == (REPORT,)


def environment() -> dict[str, str]:
    root = Path(__file__).parents[3]
    return {**os.environ, "PYTHONPATH": str(root)}


class TestLock:
    async def test_a_second_server_is_refused_while_the_first_runs(self, tmp_path: Path) -> None:
        path = tmp_path / "hwci.db"
        first = open_storage(path)
        with pytest.raises(StorageLockedError, match="in use by another process"):
            open_storage(path)
        await first.write(found)
        await first.close()
        await open_storage(path).close()

    async def test_a_link_to_a_database_is_the_database(self, tmp_path: Path) -> None:
        path, link, folder = tmp_path / "hwci.db", tmp_path / "link.db", tmp_path / "folder"
        link.symlink_to(path)
        folder.symlink_to(tmp_path)
        first = open_storage(link)
        for name in (path, link, folder / "hwci.db"):
            with pytest.raises(StorageLockedError):
                open_storage(name)
        await first.close()
        assert {one.name for one in tmp_path.iterdir()} == {
            "folder",
            "hwci.db",
            "hwci.db.lock",
            "hwci.db.sums",
            "link.db",
        }

    async def test_a_process_that_died_leaves_no_lock(self, tmp_path: Path) -> None:
        path = tmp_path / "hwci.db"
        program = (
            "import os, sys; from hwci.server.storage.opening import open_storage;"
            "kept = open_storage(sys.argv[1]); os._exit(0)"
        )
        subprocess.run([sys.executable, "-c", program, str(path)], check=True, env=environment())
        await open_storage(path).close()


async def made_again(path: Path) -> None:
    await open_storage(path).close()


async def text_file(path: Path) -> None:
    path.write_text("This is my shopping list, not a database. " * 9)


async def short_file(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0")


async def database_of_another_program(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE theirs (x)")
    database.close()


async def database_of_a_newer_program(path: Path) -> None:
    await made(path)
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA user_version = {known_version() + 1}")
    database.close()
    path.with_name("hwci.db.lock").unlink()


async def damaged_database(path: Path) -> None:
    await made(path)
    content = bytearray(path.read_bytes())
    content[100:4000] = b"\xff" * 3900
    path.write_bytes(content)


async def unreadable_schema(path: Path) -> None:
    """The text of a table's statement is no statement any more, and no UTF-8 either."""
    await made(path)
    content = path.read_bytes()
    assert content.count(b"CREATE TABLE organization (") == 1
    path.write_bytes(
        content.replace(b"CREATE TABLE organization (", b"CREATE T\xb1BLE organization (")
    )


async def broken_schema(path: Path) -> None:
    await made(path)
    path.write_bytes(
        path.read_bytes().replace(b"CREATE TABLE organization", b"CREATE TABEL organization")
    )


async def schema_that_is_no_text(path: Path) -> None:
    await made(path)
    path.write_bytes(
        path.read_bytes().replace(
            b"ci_metrics_enabled INTEGER NOT NULL", b"ci_metrics_enabl\xe5d INTEGER NOT NULL"
        )
    )


async def database_with_a_second_name(path: Path) -> None:
    await made(path)
    path.with_name("second.db").hardlink_to(path)


async def database_of_another_build(path: Path) -> None:
    await made(path)
    with sqlite3.connect(path) as database:
        database.execute("ALTER TABLE report ADD COLUMN colour TEXT")
    database.close()


class TestRefusal:
    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (text_file, "is not a database"),
            (short_file, "is not a database"),
            (database_of_another_program, "of another program"),
            (
                database_of_a_newer_program,
                rf"newer hwci \(schema {KNOWN + 1}, this program knows {KNOWN}\)",
            ),
            (damaged_database, "is damaged; restore it from a backup"),
            (unreadable_schema, "is damaged; restore it from a backup"),
            (broken_schema, "is damaged; restore it from a backup"),
            (schema_that_is_no_text, "is damaged; restore it from a backup"),
            (database_with_a_second_name, r"second name \(a hard link\), .*; find and remove it"),
            (database_of_another_build, "are not those of this hwci"),
        ],
    )
    async def test_a_file_that_cannot_be_used_is_left_as_it_is(
        self, tmp_path: Path, make: Callable[[Path], Awaitable[None]], message: str
    ) -> None:
        path = tmp_path / "hwci.db"
        await make(path)
        before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
        with pytest.raises(StorageError, match=message) as refused:
            open_storage(path)
        assert "\n" not in str(refused.value)
        assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before

    def test_a_folder_that_is_not_there_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(StorageError, match="check that its folder exists"):
            open_storage(tmp_path / "missing" / "hwci.db")

    def test_a_folder_is_no_database(self, tmp_path: Path) -> None:
        with pytest.raises(StorageError, match="Is a directory"):
            open_storage(tmp_path)

    def test_an_unknown_kind_of_database_is_named(self) -> None:
        with pytest.raises(
            StorageError,
            match=r"of kind mysql; name a file, or an address of PostgreSQL: postgresql://USER",
        ):
            open_storage("mysql://user:password@host/hwci")

    async def test_an_empty_file_becomes_a_database(self, tmp_path: Path) -> None:
        path = tmp_path / "hwci.db"
        path.touch()
        await made(path)
        assert path.stat().st_size > 0

    async def test_a_name_that_a_cut_off_restore_left_is_no_second_name(
        self, tmp_path: Path
    ) -> None:
        path, former = tmp_path / "hwci.db", tmp_path / "hwci.db.before-restore-1"
        await made(path)
        former.hardlink_to(path)
        await made_again(path)
        with pytest.raises(StorageError, match="second name"):
            open_storage(former)

    def test_a_file_that_may_not_be_written_is_one_line(self) -> None:
        """In a process of a user who is not root, whom no file refuses."""
        program = """
import asyncio, os, tempfile
from pathlib import Path
from hwci.server.errors import StorageError
from hwci.server.storage.opening import open_storage
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "hwci.db")
    asyncio.run(open_storage(path).close())
    path.chmod(0o444)
    if os.geteuid() == 0:
        for one in (path, *path.parent.glob("hwci.db.*"), folder):
            os.chown(one, 65534, 65534)
        os.setuid(65534)
    try:
        open_storage(path)
    except StorageError as fault:
        print(str(fault).replace(str(path), "PATH"))
"""
        result = subprocess.run(
            [sys.executable, "-c", program],
            check=True,
            capture_output=True,
            text=True,
            env=environment(),
        )
        assert result.stderr == ""
        assert result.stdout == (
            "Cannot write the database PATH: Permission denied; give its owner the right to\n"
        )


class TestFaultsWhileRunning:
    async def test_a_full_disk_is_busy_and_nothing_of_the_write_is_kept(
        self, tmp_path: Path
    ) -> None:
        storage = open_storage(tmp_path / "hwci.db")
        assert isinstance(storage, SqliteStorage)
        pages = storage._writer.row("PRAGMA page_count")
        assert pages is not None
        storage._writer.execute(f"PRAGMA max_page_count = {pages[0]}")

        def fill(writer: Writer) -> None:
            for number in range(500):
                writer.put_report(ACME.id, replace(REPORT, run_id=number), NOON)

        with pytest.raises(StorageBusyError, match="full; make room"):
            await storage.write(fill, seconds=60.0)
        storage._writer.execute("PRAGMA max_page_count = 1000000")
        assert (await storage.read(lambda r: r.facts(ACME.id))).reports == ()
        await storage.write(fill, seconds=60.0)
        assert len((await storage.read(lambda r: r.facts(ACME.id))).reports) == 500
        await storage.close()

    async def test_a_lock_held_too_long_by_a_foreign_tool_is_busy(self, tmp_path: Path) -> None:
        path = tmp_path / "hwci.db"
        storage = open_storage(path)
        assert isinstance(storage, SqliteStorage)
        tool = sqlite3.connect(path, isolation_level=None)
        tool.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusyError, match="busy; try again"):
            await storage.write(found, seconds=0.1)
        await storage.ready()
        tool.execute("ROLLBACK")
        tool.close()
        await storage.write(found)
        await storage.close()

    async def test_a_snapshot_that_cannot_be_left_does_not_cost_a_reader(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        storage = open_storage(tmp_path / "hwci.db")

        def fail(_: Connection) -> None:
            raise sqlite3.OperationalError("disk I/O error")

        def look(_: Reader) -> None:
            monkeypatch.setattr(Connection, "leave_snapshot", fail)

        leave = Connection.leave_snapshot
        for read in (storage.read, storage.look_up):
            for _ in range(3):
                with pytest.raises(StorageError):
                    await read(look)
                monkeypatch.setattr(Connection, "leave_snapshot", leave)
            assert await read(lambda r: r.organization(ACME.id)) is None
        await storage.close()

    async def test_a_fault_of_the_program_is_logged_without_the_values(
        self, tmp_path: Path
    ) -> None:
        storage = open_storage(tmp_path / "hwci.db")
        await storage.write(found)
        with pytest.raises(StorageError) as fault:
            await storage.write(found)
        assert not re.search(ACME.name, str(fault.value))
        await storage.close()
