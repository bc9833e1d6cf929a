# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ASYNC110, ASYNC240 - nothing else runs on the loop of these tests
"""Copies of a database: whole, of one moment, never in the place of something else."""

import asyncio
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from hwci.server.errors import StorageError, StorageLockedError
from hwci.server.storage.location import part_of
from hwci.server.storage.new_file import give_name, part_beside
from hwci.server.storage.opening import open_storage, restore_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.sql.transaction import Transaction
from hwci.server.storage.sqlite import copying
from hwci.server.storage.sqlite.connections import open_writer
from tests.server.storage.examples import ACME, NOON, REPORT


async def fill(storage: Storage, numbers: range) -> None:
    def work(writer: Writer) -> None:
        for number in numbers:
            writer.put_report(ACME.id, replace(REPORT, run_id=number), NOON)

    await storage.write(work)


async def run_ids(path: Path) -> set[int]:
    storage = open_storage(path)
    try:
        facts = await storage.read(lambda r: r.facts(ACME.id))
    finally:
        await storage.close()
    return {report.run_id for report in facts.reports}


def integrity(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        return str(database.execute("PRAGMA integrity_check").fetchone()[0])


async def test_copies_during_full_ingest_are_whole_and_lack_nothing_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    acknowledged = 0
    going_on = True

    async def ingest() -> None:
        nonlocal acknowledged
        while going_on:
            await fill(storage, range(acknowledged, acknowledged + 5))
            acknowledged += 5

    busy = asyncio.ensure_future(ingest())
    before = []
    for number in range(5):
        while acknowledged < 50 * (number + 1):
            await asyncio.sleep(0.01)
        before.append(acknowledged)
        await storage.backup(tmp_path / f"copy-{number}.db")
    going_on = False
    await busy
    await storage.close()

    for number, told in enumerate(before):
        copy = tmp_path / f"copy-{number}.db"
        assert integrity(copy) == "ok"
        found = await run_ids(copy)
        assert found == set(range(len(found))), "a copy is of one moment"
        assert len(found) >= told
        assert len(found) % 5 == 0, "no transaction is half in it"


def test_a_writer_does_not_make_a_copy_begin_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_PAGES_PER_STEP", 1)
    writer = open_writer(tmp_path / "hwci.db")
    looks = 0

    def write(number: int) -> None:
        writer.execute("BEGIN IMMEDIATE")
        Transaction(writer).put_report(ACME.id, replace(REPORT, run_id=number), NOON)
        writer.execute("COMMIT")

    def write_and_go_on() -> bool:
        nonlocal looks
        looks += 1
        write(looks)
        return looks > 10 * int(pages)

    write(0)
    ((pages,),) = writer.rows("PRAGMA page_count")
    copying.back_up(tmp_path / "hwci.db", tmp_path / "copy.db", write_and_go_on)
    writer.close()

    assert asyncio.run(run_ids(tmp_path / "copy.db")) == {0}


async def test_a_copy_is_one_file_that_its_owner_alone_can_read(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    await storage.backup(tmp_path / "copies.db")
    await storage.close()

    assert stat.S_IMODE((tmp_path / "copies.db").stat().st_mode) == 0o600
    assert names(tmp_path) == {*OWN, "copies.db"}


def test_a_file_that_is_being_written_is_written_by_nobody_else(tmp_path: Path) -> None:
    to = tmp_path / "copy.db"
    part_of(to).write_text("left by a crash")

    with part_beside(to) as part:
        assert part.read_text() == ""
        part.write_text("first")
        with pytest.raises(StorageError, match=rf"^Another process is writing {to} at this moment"):
            part_beside(to).__enter__()
        give_name(part, to)
        with part_beside(to) as second, pytest.raises(StorageError, match="exists already"):
            give_name(second, to)
        part.write_text("of a third")  # it has that name now
    assert (to.read_text(), part_of(to).read_text()) == ("first", "of a third")


async def test_a_copy_takes_the_place_of_nothing(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for taken in ("mine", "link", "hwci.db"):
        with pytest.raises(StorageError, match=r"exists already.* name a new file"):
            await storage.backup(tmp_path / taken)
    with pytest.raises(StorageError, match=r"There is no folder .*/missing; make it"):
        await storage.backup(tmp_path / "missing" / "copy.db")
    await storage.close()

    assert (tmp_path / "mine").read_text() == "mine"
    assert not part_of(tmp_path / "mine").exists()


@pytest.mark.parametrize("held", ["open_reader", "_require_whole", "wait_for_disk"])
async def test_an_abandoned_copy_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    go_on = threading.Event()
    real = getattr(copying, held)
    monkeypatch.setattr(copying, held, lambda *given: go_on.wait(30) and real(*given))
    monkeypatch.setattr(copying, "STEPS_PER_LOOK", 1)
    storage = open_storage(tmp_path / "hwci.db")
    copy = asyncio.ensure_future(storage.backup(tmp_path / "copy.db"))
    while not part_of(tmp_path / "copy.db").exists():
        await asyncio.sleep(0)
    copy.cancel()
    await asyncio.gather(copy, return_exceptions=True)
    go_on.set()
    await storage.close()

    assert copy.cancelled()
    assert names(tmp_path) == OWN


async def test_a_damaged_database_gives_no_copy(tmp_path: Path) -> None:
    path = tmp_path / "hwci.db"
    storage = open_storage(path)
    await fill(storage, range(300))
    await storage.close()
    damage(path)
    storage = open_storage(path)
    with pytest.raises(StorageError, match="is damaged: "):
        await storage.backup(tmp_path / "copy.db")
    await storage.close()

    assert not (tmp_path / "copy.db").exists()


OWN = {"hwci.db", "hwci.db.lock", "hwci.db.sums"}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def damage(path: Path) -> None:
    """Overwrite a page of the reports, which nothing reads while the file is opened."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as database:
        find = "SELECT rootpage FROM sqlite_schema WHERE name = 'report'"
        (page,) = database.execute(find).fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(content)


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what `backed_up` copies."""
    folder = tmp_path_factory.mktemp("backed-up")

    async def make() -> None:
        storage = open_storage(folder / "hwci.db")
        await fill(storage, range(300))
        await storage.backup(folder / "copy.db")
        await fill(storage, range(300, 301))
        await storage.close()

    asyncio.run(make())
    return folder


@pytest.fixture
def backed_up(made_once: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A database that went on for a report after its backup, and the backup."""
    shutil.copytree(made_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "hwci.db", tmp_path / "copy.db"


async def test_a_restored_database_is_as_it_was_and_the_former_is_kept(
    tmp_path: Path, backed_up: tuple[Path, Path]
) -> None:
    path, copy = backed_up

    kept = restore_storage(path, copy)
    again = restore_storage(path, copy)

    assert (kept, again) == (
        tmp_path / "hwci.db.before-restore-1",
        tmp_path / "hwci.db.before-restore-2",
    )
    assert await run_ids(path) == set(range(300))
    assert kept is not None
    assert await run_ids(kept) == set(range(301))
    assert copy.exists()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
async def test_a_file_that_root_restores_belongs_to_the_owner_of_the_folder(
    tmp_path: Path, backed_up: tuple[Path, Path]
) -> None:
    _, copy = backed_up
    folder = tmp_path / "of-a-service"
    folder.mkdir()
    os.chown(folder, 12345, 54321)
    restore_storage(folder / "hwci.db", copy)
    restored = (folder / "hwci.db").stat()

    assert (restored.st_uid, restored.st_gid) == (12345, 54321)


async def test_what_was_only_in_the_log_of_a_crashed_server_is_kept_with_its_file(
    tmp_path: Path,
    backed_up: tuple[Path, Path],
) -> None:
    path, copy = backed_up
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    storage = open_storage(path)
    await fill(storage, range(301, 302))
    for name in ("hwci.db", "hwci.db-wal", "hwci.db-shm"):
        (crashed / name).write_bytes((tmp_path / name).read_bytes())
    await storage.close()

    kept = restore_storage(crashed / "hwci.db", copy)

    assert kept is not None
    assert await run_ids(crashed / "hwci.db") == set(range(300))
    assert await run_ids(kept) == set(range(302))


@pytest.mark.parametrize("links", [True, False])
async def test_a_restore_that_is_cut_off_before_its_last_step_leaves_the_former_database(
    tmp_path: Path, backed_up: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    path, copy = backed_up
    rename = Path.rename

    def cut_off(self: Path, target: Path) -> Path:
        if target == path:
            raise KeyboardInterrupt
        return rename(self, target)

    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "rename", cut_off)
    if not links:
        monkeypatch.setattr(Path, "hardlink_to", no_links)
    with pytest.raises(KeyboardInterrupt):
        restore_storage(path, copy)
    monkeypatch.setattr(Path, "rename", rename)

    assert await run_ids(path) == set(range(301))
    kept = restore_storage(path, copy)
    # A second name goes on being that; a copy, on a file system without links, is one more.
    assert kept == tmp_path / f"hwci.db.before-restore-{1 if links else 2}"
    assert await run_ids(path) == set(range(300))
    assert await run_ids(kept) == set(range(301))


async def test_a_backup_makes_a_database_where_there_was_none(
    tmp_path: Path, backed_up: tuple[Path, Path]
) -> None:
    _, copy = backed_up
    (tmp_path / "new").mkdir()

    assert restore_storage(tmp_path / "new" / "hwci.db", copy) is None
    assert await run_ids(tmp_path / "new" / "hwci.db") == set(range(300))


async def test_nothing_is_restored_while_a_server_has_the_database(
    backed_up: tuple[Path, Path],
) -> None:
    path, copy = backed_up
    server = open_storage(path)
    with pytest.raises(StorageLockedError, match="stop that one first"):
        restore_storage(path, copy)
    await server.close()

    assert await run_ids(path) == set(range(301))


async def newer(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as database:
        database.execute("PRAGMA user_version = 1000")


async def damaged(copy: Path) -> None:
    damage(copy)


async def altered(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as database:
        database.execute("UPDATE report SET branch = 'mayn' WHERE id = 7")
        database.commit()


async def no_text(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as database:
        database.execute("UPDATE report SET branch = CAST(x'ff' AS TEXT) WHERE id = 7")
        database.commit()


async def cut_short(copy: Path) -> None:
    copy.write_bytes(copy.read_bytes()[:-8192])


async def text(copy: Path) -> None:
    copy.write_text("notes " * 100)


async def nothing(copy: Path) -> None:
    copy.unlink()


async def in_use(copy: Path) -> None:
    copy.with_name(copy.name + "-wal").write_bytes(b"something")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (newer, "newer hwci"),
        (damaged, "copy.db is damaged: "),
        (cut_short, "copy.db is damaged: "),
        (no_text, "copy.db is damaged: a value in it cannot be read"),
        (altered, r"copy.db is damaged: Report 7 .* is not what was sent; take an earlier"),
        (text, "is not a database"),
        (nothing, "There is no backup"),
        (in_use, "in use or was not closed"),
    ],
)
async def test_an_incomplete_backup_replaces_nothing(
    tmp_path: Path,
    backed_up: tuple[Path, Path],
    spoil: Callable[[Path], Awaitable[object]],
    message: str,
) -> None:
    path, copy = backed_up
    await spoil(copy)
    before = path.read_bytes()

    with pytest.raises(StorageError, match=message) as refused:
        restore_storage(path, copy)

    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before
    assert not list(tmp_path.glob("*before-restore*"))
    assert not part_of(path).exists()


async def test_a_database_is_no_backup_of_itself(backed_up: tuple[Path, Path]) -> None:
    path, _ = backed_up

    with pytest.raises(StorageError, match="is the database itself"):
        restore_storage(path, path)


async def test_a_copy_that_another_tool_made_gets_its_log_back(
    tmp_path: Path, backed_up: tuple[Path, Path]
) -> None:
    path, _ = backed_up
    with closing(sqlite3.connect(path)) as tool:
        tool.execute("VACUUM INTO ?", (str(tmp_path / "vacuumed.db"),))
    restore_storage(path, tmp_path / "vacuumed.db")
    await run_ids(path)

    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)
