# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ASYNC110 - nothing else runs on the loop of these tests
"""A check finds what is damaged and what is out of date, and changes nothing; what was once seen
damaged is served no more.
"""

import asyncio
import re
import shutil
import sqlite3
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from hwci.engine.history import Scope
from hwci.server.errors import DamagedError, NotReadyError, StorageError
from hwci.server.storage.location import part_of
from hwci.server.storage.opening import check_storage, open_storage, restore_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.sqlite import checking, condition, store
from hwci.server.storage.sqlite.store import SqliteStorage
from tests.server.storage.filled import fill
from tests.server.storage.histories import EVER, ORG
from tests.support.reading import noted, read_period


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    path = tmp_path / "hwci.db"
    storage = open_storage(path)
    await fill(storage)
    await storage.close()
    return path


def alter(path: Path, statement: str) -> None:
    """Alter rows as a fault of hwci would, which has the sums of what it wrote."""
    path.with_name("hwci.db.sums").unlink()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        assert database.execute(statement).rowcount > 0


def everything_in(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder without lock and log index, which hold nothing kept."""
    passing = {".lock", ".db-shm"}
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix not in passing}


class TestCheck:
    async def test_a_whole_database_is_reported_whole_and_left_as_it_was(self, path: Path) -> None:
        before = everything_in(path.parent)
        found = check_storage(path)

        assert (found.damage, found.stale) == ((), ())
        assert found.reports > 20
        assert everything_in(path.parent) == before

    async def test_a_server_that_crashed_is_checked_with_its_log_and_left_as_it_was(
        self, path: Path, tmp_path: Path
    ) -> None:
        crashed = await crashed_copy(path, tmp_path)
        before = everything_in(crashed.parent)

        assert check_storage(crashed).reports == check_storage(path).reports
        assert everything_in(crashed.parent) == before

    @pytest.mark.parametrize(
        ("statement", "stale"),
        [
            ("UPDATE episode SET first_sha = first_sha WHERE decision IS NOT NULL", []),
            ("UPDATE episode SET decision = 'dismissed' WHERE decision IS NOT NULL", ["episode"]),
            ("DELETE FROM walk_commit", ["episode"]),
            ("UPDATE episode SET decision = 'of another version'", []),
            ("UPDATE episode SET verdict = 7", ["episode"]),
            ("DELETE FROM failure", ["failure"]),
            ("UPDATE day_run SET runs = runs + 1", ["day_run"]),
            ("UPDATE day_result SET flakes = flakes + 1", ["day_result"]),
            ("UPDATE day_result SET results = '[[0],[9],[9],[9],[0]]'", ["day_result"]),
            ("UPDATE announcement SET checks = checks + 1", ["announcement"]),
            ("DELETE FROM place", ["place", "failure", "episode"]),
        ],
    )
    async def test_a_decision_that_is_kept_is_made_again_and_compared(
        self, path: Path, statement: str, stale: list[str]
    ) -> None:
        storage = open_storage(path)

        def decide(writer: Writer) -> None:
            found = read_period(writer.history(ORG), Scope(), EVER).decided
            assert any(decision.rests_on for _, decision in found)
            writer.keep_decisions(noted(ORG, writer.version(ORG), found))

        await storage.write(decide)
        await storage.close()
        alter(path, statement)

        found = check_storage(path)
        assert (found.damage, {line.split()[0] for line in found.stale}) == ((), {*stale})

    @pytest.mark.parametrize(
        ("statement", "message"),
        [
            ("UPDATE report SET conclusion = 'x'", r"Report \d+ .* is not what was sent"),
            ("UPDATE test SET name = 'x' WHERE number = 1", "is not what was sent"),
            ("UPDATE announcement SET merged_at = merged_at + 1", "table announcement"),
            ("UPDATE suite_config SET body = '{}'", "table suite_config"),
            ("UPDATE review SET by_name = 'Eve'", "table review"),
            ("UPDATE replaced SET arrived_at = 1", "table replaced"),
            ("DELETE FROM template", "is not what was sent"),
            ("DELETE FROM product", "is not what was sent"),
            (
                (
                    "INSERT INTO session (id, user_id, created_at, client)"
                    " VALUES (x'00', x'00', 1, '')"
                ),
                "belongs to no user",
            ),
        ],
    )
    async def test_what_is_not_as_it_was_sent_is_named(
        self, path: Path, statement: str, message: str
    ) -> None:
        alter(path, statement)
        found = check_storage(path)

        assert any(re.search(message, line) for line in found.damage)
        assert all("\n" not in line for line in found.damage)
        with pytest.raises(DamagedError, match="was found damaged: "):
            open_storage(path)

    @pytest.mark.parametrize(
        ("table", "statement"),
        [
            ("mention", "DELETE FROM mention"),
            ("place", "UPDATE place SET position = position + 1"),
            ("run_changes", "DELETE FROM run_changes"),
            (
                "changes_commit",
                "DELETE FROM changes_commit WHERE changes_id IN (SELECT max(id) FROM changes)",
            ),
            ("failure", "UPDATE failure SET items = 99"),
            ("report", "UPDATE report SET carried = 2"),
            ("report", "UPDATE report SET fails = x'00'"),
            ("item", "UPDATE item SET counted = 2"),
        ],
    )
    async def test_outdated_derived_rows_are_found_and_a_rebuild_repairs_them(
        self, path: Path, table: str, statement: str
    ) -> None:
        alter(path, statement)

        found = check_storage(path)
        assert found.damage == ()
        assert f"{table} of organization {ORG}" in found.stale
        storage = open_storage(path)
        await storage.write(lambda writer: writer.rebuild(ORG))
        await storage.close()
        assert check_storage(path).stale == ()

    async def test_a_check_during_writes_sees_one_moment_and_delays_nobody(
        self, path: Path
    ) -> None:
        storage = open_storage(path)
        checking_now = asyncio.ensure_future(storage.check())
        while not checking_now.done():
            await fill(storage, 1)
            await storage.ready()
        await storage.close()

        assert (await checking_now).damage == ()
        assert (await checking_now).stale == ()

    async def test_an_abandoned_check_leaves_nothing(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(checking, "STEPS_PER_LOOK", 1)
        before = {one.name for one in path.parent.iterdir()}
        storage = open_storage(path)
        one = asyncio.ensure_future(storage.check())
        while not part_of(path).exists():
            await asyncio.sleep(0)
        one.cancel()
        await asyncio.gather(one, return_exceptions=True)
        await storage.close()

        assert {one.name for one in path.parent.iterdir()} == before


async def crashed_copy(path: Path, folder: Path) -> Path:
    """Copy a database and its log while it is open, as a crash would leave them."""
    crashed = folder / "crashed"
    crashed.mkdir()
    storage = open_storage(path)
    await fill(storage, 5, seed=2)
    for one in path.parent.glob("hwci.db*"):
        if not one.name.endswith("-shm"):
            shutil.copy(one, crashed / one.name)
    await storage.close()
    return crashed / "hwci.db"


async def settled(storage: Storage) -> None:
    """Wait until a file was looked over."""
    assert isinstance(storage, SqliteStorage)
    await storage._looking_over


def damage_page(path: Path, table: str) -> None:
    """Overwrite the first page of a table, which nothing reads while the file is opened."""
    with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as database:
        find = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
        (page,) = database.execute(find, (table,)).fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)


class TestAfterAStopThatWasNotClean:
    async def test_nobody_reads_or_writes_until_the_file_was_looked_over(
        self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go_on, look_over = threading.Event(), checking.look_over
        monkeypatch.setattr(store, "look_over", lambda *given: go_on.wait(60) and look_over(*given))
        storage = open_storage(await crashed_copy(path, tmp_path))
        await storage.look_over()
        for use in (storage.ready(), fill(storage), storage.read(lambda r: r.version(ORG))):
            with pytest.raises(NotReadyError, match="is checking its database"):
                await use
        go_on.set()
        await settled(storage)
        await storage.ready()
        await fill(storage)
        await storage.close()

        again = open_storage(tmp_path / "crashed" / "hwci.db")
        await again.look_over()
        await again.ready()
        await again.close()

    async def test_found_damage_closes_the_database_for_good(
        self, path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        crashed = await crashed_copy(path, tmp_path)
        damage_page(crashed, "box")
        storage = open_storage(crashed)
        await storage.look_over()
        await settled(storage)
        for use in (storage.ready(), fill(storage)):
            with pytest.raises(NotReadyError, match="is damaged; its operator"):
                await use
        await storage.close()

        result = [record for record in caplog.records if record.levelname == "CRITICAL"]
        assert len(result) == 1
        assert "hwci admin restore" in result[0].getMessage()
        with pytest.raises(DamagedError, match=r"was found damaged: .*; run `hwci admin check`"):
            open_storage(crashed)

    async def test_a_check_that_fails_by_our_fault_locks_no_one_out(
        self,
        path: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def fail(*_: object) -> None:
            raise MemoryError

        monkeypatch.setattr(store, "look_over", fail)
        storage = open_storage(await crashed_copy(path, tmp_path))
        await storage.look_over()
        with pytest.raises(MemoryError):
            await settled(storage)
        await storage.ready()
        await storage.close()

        assert "was not looked over" in caplog.text

    async def test_a_file_that_takes_too_long_is_served_and_the_log_says_so(
        self,
        path: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setattr(checking, "LOOK_SECONDS", 0.0)
        monkeypatch.setattr(checking, "STEPS_PER_LOOK", 1)
        storage = open_storage(await crashed_copy(path, tmp_path))
        await storage.look_over()
        await settled(storage)
        await storage.ready()
        await storage.close()

        assert "not looked over to its end" in caplog.text

    async def test_a_command_in_between_does_not_make_it_forgotten(
        self, path: Path, tmp_path: Path
    ) -> None:
        crashed = await crashed_copy(path, tmp_path)
        await open_storage(crashed).close()
        assert not crashed.with_name("hwci.db-wal").exists()
        damage_page(crashed, "box")
        crashed.with_name("hwci.db.sums").unlink()

        storage = open_storage(crashed)
        await storage.look_over()
        with pytest.raises(NotReadyError):
            await storage.ready()
        await storage.close()


async def corrupt(path: Path) -> None:
    damage_page(path, "report")


async def altered(path: Path) -> None:
    alter(path, "UPDATE report SET conclusion = 'x'")


async def no_text(path: Path) -> None:
    alter(path, "UPDATE report SET conclusion = CAST(x'ff' AS TEXT)")


async def not_inflated(path: Path) -> None:
    alter(path, "UPDATE template SET tests = x'00'")


@pytest.mark.parametrize("damage", [corrupt, altered, no_text, not_inflated])
async def test_after_damage_that_a_reader_met_nothing_is_served_until_a_restore(
    path: Path, damage: Callable[[Path], Awaitable[None]], caplog: pytest.LogCaptureFixture
) -> None:
    storage = open_storage(path)
    await storage.backup(path.with_name("backup.db"))
    await storage.close()
    await damage(path)
    storage = open_storage(path)
    await storage.ready()

    with pytest.raises(DamagedError) as met:
        await storage.read(lambda reader: reader.facts(ORG))
    assert "\n" not in str(met.value)
    for use in (storage.ready(), fill(storage), storage.read(lambda r: r.version(ORG))):
        with pytest.raises(NotReadyError, match="is damaged"):
            await use
    await storage.close()
    assert len([one for one in caplog.records if one.levelname == "CRITICAL"]) == 1

    with pytest.raises(DamagedError):
        open_storage(path)
    restore_storage(path, path.with_name("backup.db"))
    storage = open_storage(path)
    await storage.ready()
    await storage.close()


async def test_a_write_that_waited_behind_the_damage_is_not_acknowledged(path: Path) -> None:
    storage = open_storage(path)

    def meet(_: Writer) -> None:
        raise DamagedError("Report 1 is not what was sent")

    met = asyncio.ensure_future(storage.write(meet))
    behind = [asyncio.ensure_future(fill(storage, 1)) for _ in range(5)]
    results = await asyncio.gather(met, *behind, return_exceptions=True)
    await storage.close()

    assert [type(result) for result in results] == [DamagedError, *[NotReadyError] * 5]


async def test_a_check_that_finds_it_whole_takes_the_note_of_damage_back(path: Path) -> None:
    path.with_name("hwci.db.lock").write_text("damaged: a disk that is no more")
    with pytest.raises(DamagedError, match="found damaged: a disk that is no more"):
        open_storage(path)

    assert check_storage(path).damage == ()
    await open_storage(path).close()


async def test_a_disk_that_is_nearly_full_is_not_ready_until_there_is_room(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = open_storage(path)
    await storage.ready()
    monkeypatch.setattr(condition, "ROOM_BYTES", 2**62)
    with pytest.raises(NotReadyError, match="disk of the database is full"):
        await storage.ready()
    await fill(storage, 1)  # what fits is taken all the same
    monkeypatch.undo()
    await storage.ready()
    await storage.close()


async def test_a_write_that_found_no_room_is_not_ready_for_a_while_or_until_one_does(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = open_storage(path)
    assert isinstance(storage, SqliteStorage)
    storage._writer.execute("PRAGMA max_page_count = 1")
    with pytest.raises(StorageError, match="full; make room"):
        await fill(storage, 200)
    with pytest.raises(NotReadyError, match="disk of the database is full"):
        await storage.ready()
    monkeypatch.setattr(condition, "FULL_SECONDS", 0.0)
    await storage.ready()
    monkeypatch.undo()
    storage._writer.execute("PRAGMA max_page_count = 1000000")
    await fill(storage, 1)
    await storage.ready()
    await storage.close()
