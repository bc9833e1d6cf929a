# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ASYNC240 - nothing else runs on the loop of these tests
"""A page that is not what was written is found, and a log that lacks what was acknowledged
(ADR 0006); a file that is whole is never refused.
"""

import asyncio
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hwci.server.errors import DamagedError, NotReadyError
from hwci.server.storage.location import Location
from hwci.server.storage.opening import (
    check_storage,
    copy_storage,
    open_storage,
    restore_storage,
)
from hwci.server.storage.sqlite import checking, connections
from hwci.server.storage.sqlite.log_file import read_log
from hwci.server.storage.sqlite.page_sums import PageSums
from hwci.server.storage.sqlite.store import SqliteStorage
from tests.server.storage.filled import fill
from tests.support.soak import rounds

PAGE = 4096
FILES = ("", "-wal", ".sums")


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    path = tmp_path / "hwci.db"
    storage = open_storage(path)
    await storage.look_over()
    await fill(storage)
    await storage.close()
    return path


def flip(file: Path, at: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        (byte,) = opened.read(1)
        opened.seek(at)
        opened.write(bytes([byte ^ 1]))


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def copied(path: Path, folder: Path) -> Path:
    folder.mkdir()
    for suffix in FILES:
        shutil.copy(beside(path, suffix), folder / f"{path.name}{suffix}")
    return folder / path.name


async def crashed(path: Path, folder: Path) -> Path:
    """Return a copy of an open database with four commits in its log."""
    storage = open_storage(path)
    await fill(storage, 4, seed=2)
    copy = copied(path, folder)
    await storage.close()
    return copy


async def serves(path: Path) -> bool:
    storage = open_storage(path)
    try:
        await storage.look_over()
        await storage.ready()
    except NotReadyError:
        return False
    finally:
        await storage.close()
    return True


async def test_a_flipped_bit_of_any_page_is_found_by_a_start_and_by_a_check(path: Path) -> None:
    places = random.Random(1)
    for page in range(path.stat().st_size // PAGE):
        at = page * PAGE + places.randrange(100 if page == 0 else 0, PAGE)
        flip(path, at)
        with closing(PageSums(path)) as sums:
            assert [line.split()[:2] for line in sums.damage()] == [["Page", str(page + 1)]]
        flip(path, at)

    flip(path, 2 * PAGE + 50)
    assert any("Page 3 is not" in line for line in check_storage(path).damage)
    flip(path, 2 * PAGE + 50)
    assert check_storage(path).damage == ()
    flip(path, 2 * PAGE + 50)
    assert not await serves(path)


async def test_an_open_database_finds_a_bit_that_flips_under_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "SLICE_SECONDS", 0.001)
    storage = open_storage(path)
    await storage.look_over()
    await storage.ready()
    flip(path, 4 * PAGE + 50)
    with pytest.raises(NotReadyError, match="is damaged"):  # noqa: PT012 - until it is found
        async with asyncio.timeout(60):
            while True:
                await storage.ready()
                await asyncio.sleep(0.001)
    await storage.close()


async def test_an_open_database_finds_a_bit_that_flips_in_its_log(path: Path) -> None:
    storage = open_storage(path)
    assert isinstance(storage, SqliteStorage)
    await fill(storage, 4, seed=2)
    assert storage._sums.damage_in_log() == ()
    flip(beside(path, "-wal"), 5000)
    (damage,) = storage._sums.damage_in_log()
    assert "were acknowledged" in damage
    await storage.close()


async def test_a_log_is_read_as_sqlite_recovers_it(path: Path, tmp_path: Path) -> None:
    copy = await crashed(path, tmp_path / "crashed")
    log, draw = beside(copy, "-wal"), random.Random(3)
    whole = log.read_bytes()
    for _ in range(rounds(20, 200)):
        content = bytearray(whole)
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        log.write_bytes(content[: draw.choice((len(content), draw.randrange(len(content))))])
        with log.open("rb") as opened:
            frames = read_log(opened.fileno(), PAGE).frames
        scratch = tmp_path / "scratch.db"
        for suffix in FILES[:2]:
            shutil.copy(beside(copy, suffix), beside(scratch, suffix))
        with closing(sqlite3.connect(scratch)) as database:
            assert database.execute("PRAGMA wal_checkpoint").fetchone()[1] == frames


async def test_a_log_that_lacks_what_was_acknowledged_is_refused_until_that_is_accepted(
    path: Path, tmp_path: Path
) -> None:
    copy = await crashed(path, tmp_path / "crashed")
    flip(beside(copy, "-wal"), 5000)
    before = beside(copy, "-wal").read_bytes()

    assert "were acknowledged" in check_storage(copy).damage[0]
    beside(copy, ".lock").unlink()
    with pytest.raises(DamagedError, match=r"were acknowledged.*restore a backup, or, .* remove"):
        open_storage(copy)
    assert beside(copy, "-wal").read_bytes() == before
    beside(copy, ".sums").unlink()
    assert await serves(copy)


async def test_a_log_that_was_removed_after_a_crash_is_noticed(path: Path, tmp_path: Path) -> None:
    copy = await crashed(path, tmp_path / "crashed")
    beside(copy, "-wal").unlink()

    with pytest.raises(DamagedError, match="0 of"):
        open_storage(copy)


@pytest.mark.parametrize("seed", range(rounds(3, 40)))
async def test_a_file_is_whole_at_each_moment_though_its_sums_are_as_old_as_a_power_cut_leaves_them(
    path: Path, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was last waited for is on the disk, and any of what was written to the sums since."""
    monkeypatch.setattr(connections, "_LOG_FRAMES", 60)
    draw, synced = random.Random(seed), beside(path, ".sums").read_bytes()
    take_log = PageSums.take_log

    def take_and_keep(sums: PageSums) -> None:
        nonlocal synced
        take_log(sums)
        synced = beside(path, ".sums").read_bytes()

    monkeypatch.setattr(PageSums, "take_log", take_and_keep)
    storage = open_storage(path)
    synced = beside(path, ".sums").read_bytes()
    copies = []
    for number in range(12):
        await fill(storage, 1, seed=number)
        copy = copied(path, tmp_path / f"cut-{number}")
        if draw.random() < 0.7:
            beside(copy, ".sums").write_bytes(synced)
        copies.append(copy)
    await storage.close()
    for copy in copies:
        assert await serves(copy)
        assert check_storage(copy).damage == ()


async def test_pages_are_compared_again_after_checkpoints_beside_a_reader_that_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_LOG_FRAMES", 20)
    storage = open_storage(path)
    assert isinstance(storage, SqliteStorage)
    await storage.look_over()
    for held in (True, False, True, False):
        if held:
            reader = sqlite3.connect(path, isolation_level=None)
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM report").fetchone()
        for number in range(4):
            await fill(storage, 1, seed=number)
            assert list(storage._sums.damage()) == []
        if held:
            reader.close()
    assert storage._sums._logged == set()
    await storage.close()
    assert check_storage(path).damage == ()


def cut(path: Path, by: int) -> None:
    os.truncate(path, path.stat().st_size - by)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda sums: sums.unlink(), "are missing"),
        (lambda sums: sums.write_bytes(b""), "cannot be used"),
        (lambda sums: os.truncate(sums, 20), "cannot be used"),
        (lambda sums: flip(sums, 20), "cannot be used"),
        (lambda sums: os.truncate(sums, 100), "were cut short"),
        (lambda sums: cut(sums, 4 * 3), "were cut short"),
        (lambda sums: cut(sums, 1), "were cut short"),
    ],
)
async def test_sums_that_are_gone_or_cut_are_made_anew_with_one_line_in_the_log(
    path: Path, change: Callable[[Path], None], what: str, caplog: pytest.LogCaptureFixture
) -> None:
    change(beside(path, ".sums"))
    assert await serves(path)
    (line,) = [record.getMessage() for record in caplog.records]
    assert f"hwci.db.sums {what}, and are made anew" in line
    assert line.endswith("look at the disk, and run: hwci admin check")

    caplog.clear()
    assert await serves(path)
    assert caplog.text == ""
    flip(path, 2 * PAGE + 50)
    assert not await serves(path)


async def test_nothing_is_logged_of_the_sums_of_a_file_that_hwci_made_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "_LOG_FRAMES", 20)
    path, copy = tmp_path / "hwci.db", tmp_path / "copy.db"
    await open_storage(path).close()  # pages that nobody compared have no sum yet
    storage = open_storage(path)
    await fill(storage, 10)
    await storage.backup(tmp_path / "backup.db")
    crashed = copied(path, tmp_path / "crashed")
    await storage.close()
    restore_storage(path, tmp_path / "backup.db")
    assert await serves(path)
    copy_storage(Location(str(path)), Location(str(copy)), lambda *_: None)
    assert await serves(copy)
    assert await serves(crashed)
    assert caplog.text == ""


async def test_a_backup_takes_the_place_of_a_file_whose_sums_are_others(path: Path) -> None:
    storage = open_storage(path)
    await storage.backup(path.with_name("backup.db"))
    await fill(storage, 5, seed=3)
    await storage.close()
    restore_storage(path, path.with_name("backup.db"))

    assert await serves(path)
