# SPDX-License-Identifier: Apache-2.0
"""`hwci admin audit`, and what becomes of the log's key in backups and without it."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hwci.server.app import Rebuild, operate, serving
from hwci.server.errors import SettingsError, StorageError
from hwci.server.settings import Settings
from hwci.server.storage.opening import open_storage
from tests.cli.conftest import Answer, Command
from tests.support.running import RunningServer, new_organization


@pytest.fixture
def free(tmp_path: Path) -> Path:
    """A database that no server has, with three entries in its log."""
    database = tmp_path / "free" / "hwci.db"
    org_id = new_organization(database)
    for _ in range(2):
        operate(str(database), Rebuild(org_id=org_id))
    return database


def changed(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        rows = raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for (name,) in rows:
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute(statement)


def verify(cli: Command, database: Path, *more: str) -> Answer:
    return cli("admin", "audit", "verify", "--database", str(database), *more)


async def start(database: Path) -> None:
    async with serving(Settings(database=str(database), port=0)):
        pass


def log_of(database: Path) -> list[tuple[str, str]]:
    """Return actor and action of the entries, newest first."""

    async def read() -> list[tuple[str, str]]:
        storage = open_storage(database)
        try:
            ids = await storage.read(lambda reader: reader.organization_ids())
            found = await storage.read(lambda reader: reader.audit_log(ids[0], 0, 99))
            return [(entry.actor_name, entry.action) for entry in found.items]
        finally:
            await storage.close()

    return asyncio.run(read())


def test_a_whole_log_of_a_running_server_is_exit_code_0_and_its_head(
    cli: Command, server: RunningServer
) -> None:
    done = verify(cli, server.database)

    number, _, link = done.out.strip().partition(":")
    assert (done.code, len(link)) == (0, 64)
    assert done.err == f"The audit log is whole: {number} rows. It ends with:\n"
    result: dict[str, Any] = json.loads(verify(cli, server.database, "--json").out)
    assert (result["whole"], result["head"], result["findings"]) == (True, done.out.strip(), [])


def test_an_export_of_a_running_server_is_looked_at_later(
    cli: Command, server: RunningServer, tmp_path: Path
) -> None:
    head = verify(cli, server.database).out.strip()
    done = cli("admin", "audit", "export", "--database", str(server.database))
    lines = done.out.splitlines()
    assert done.code == 0
    assert done.err.endswith(f" {head}\n")
    assert [json.loads(line)["number"] for line in lines[:-1]] == list(range(1, len(lines)))

    file, cut = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    file.write_text(done.out)
    cut.write_text("\n".join(lines[:-2]))
    assert verify(cli, server.database, "--export", str(file), "--head", head).code == 0
    assert verify(cli, server.database, "--export", str(cut)).code == 1
    key = ("--key", f"{server.database}.audit-key")
    assert cli("admin", "audit", "verify", "--export", str(file), *key).code == 0


def test_a_changed_row_is_named_with_its_organization(cli: Command, free: Path) -> None:
    changed(free, "UPDATE audit_entry SET action = 'nothing' WHERE number = 2")
    done = verify(cli, free)

    with closing(sqlite3.connect(free)) as raw:
        (org,) = raw.execute("SELECT hex(id) FROM organization").fetchone()
    assert done.code == 1
    first, cause, row, fix = done.err.splitlines()
    assert first == "error: The audit log is not whole"
    assert cause.startswith("cause: 1 of ")
    assert row.strip().startswith("row 2 of organization ")
    assert org.lower() in row.replace("-", "")
    assert fix.startswith("fix: Put the key back if it is missing")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--head", "57"), "is not the head of an audit log: write NUMBER:LINK"),
        (("--export", "none.jsonl"), "Cannot read none.jsonl"),
        (("--export", "bad.jsonl"), "Line 1 is not a line of an audit log export"),
        (("--export", "bad.jsonl", "--key", "none"), "There is no key none"),
    ],
)
def test_an_unreadable_log_is_one_clear_line(
    cli: Command, free: Path, tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    (tmp_path / "bad.jsonl").write_text('{"number": 1}\n')
    done = verify(cli, free, *more)

    assert done.code == 1
    assert said in done.err.splitlines()[1]
    assert len(done.err.splitlines()) == 3


def test_without_its_key_a_log_goes_on_only_where_the_operator_says_so(
    cli: Command, free: Path
) -> None:
    key = free.with_name("hwci.db.audit-key")
    key.rename(free.with_name("elsewhere"))

    with pytest.raises(StorageError, match=r"audit-key, is missing; put it back .*audit new-key$"):
        asyncio.run(start(free))
    assert not key.exists()
    assert verify(cli, free).code == 1

    before = log_of(free)
    done = cli("admin", "audit", "new-key", "--database", str(free))
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("The audit log goes on under a new key from row 4 on.")
    assert log_of(free) == [("operator", "audit_log.new_key"), *before]
    asyncio.run(start(free))
    done = verify(cli, free)
    assert done.code == 0
    assert "4 rows, 3 of them from before its present key" in done.err
    again = cli("admin", "audit", "new-key", "--database", str(free))
    assert again.code == 1
    assert "is there and fits" in again.err


def test_rows_of_a_lost_key_are_held_together_still(cli: Command, free: Path) -> None:
    free.with_name("hwci.db.audit-key").unlink()
    cli("admin", "audit", "new-key", "--database", str(free))
    changed(free, "UPDATE audit_entry SET actor_name = 'eve' WHERE number = 2")

    assert "row 2 of organization " in verify(cli, free).err


def test_another_logs_key_is_kept_aside_by_a_new_one(cli: Command, free: Path) -> None:
    key = free.with_name("hwci.db.audit-key")
    key.write_text("another" * 9)
    with pytest.raises(StorageError, match="does not end as its key sealed it"):
        asyncio.run(start(free))

    assert cli("admin", "audit", "new-key", "--database", str(free)).code == 0
    assert key.with_name("hwci.db.audit-key.former-1").read_text() == "another" * 9
    asyncio.run(start(free))


def test_a_server_has_its_key_and_needs_no_new_one(cli: Command, server: RunningServer) -> None:
    done = cli("admin", "audit", "new-key", "--database", str(server.database))

    assert done.code == 1
    assert "is in use by another process" in done.err


def test_a_key_that_others_may_read_is_refused(free: Path) -> None:
    key = free.with_name("hwci.db.audit-key")
    assert key.stat().st_mode & 0o777 == 0o600
    key.chmod(0o640)

    with pytest.raises(SettingsError, match=f"key of the audit log in {key}; run: chmod 600"):
        asyncio.run(start(free))


class TestBackup:
    """A backup and its key."""

    def backup(self, cli: Command, free: Path, tmp_path: Path) -> Path:
        copy = tmp_path / "copy.db"
        done = cli("admin", "backup", "copy.db", "--database", str(free))
        assert done.code == 0
        assert f"The key of its audit log is {copy}.audit-key" in done.err
        return copy

    def test_a_backup_is_restored_with_its_key(
        self, cli: Command, free: Path, tmp_path: Path
    ) -> None:
        copy = self.backup(cli, free, tmp_path)
        elsewhere = tmp_path / "other" / "hwci.db"
        done = cli("admin", "restore", str(copy), "--database", str(elsewhere))

        assert done.code == 0
        assert "new key" not in done.err
        assert verify(cli, elsewhere).out == verify(cli, free).out
        assert elsewhere.with_name("hwci.db.audit-key").stat().st_mode & 0o777 == 0o600
        asyncio.run(start(elsewhere))

    def test_the_former_key_stays_with_the_former_database(
        self, cli: Command, free: Path, tmp_path: Path
    ) -> None:
        copy = self.backup(cli, free, tmp_path)
        there = tmp_path / "other" / "hwci.db"
        new_organization(there)
        former = there.with_name("hwci.db.audit-key").read_text()
        cli("admin", "restore", str(copy), "--database", str(there))

        kept = there.with_name("hwci.db.before-restore-1")
        assert kept.with_name(f"{kept.name}.audit-key").read_text() == former
        assert verify(cli, there).code == 0
        cli("admin", "restore", str(kept), "--database", str(there))
        assert verify(cli, there).code == 0

    def test_a_backup_without_its_key_takes_the_place_where_its_key_still_is(
        self, cli: Command, free: Path, tmp_path: Path
    ) -> None:
        copy = self.backup(cli, free, tmp_path)
        copy.with_name("copy.db.audit-key").unlink()
        done = cli("admin", "restore", str(copy), "--database", str(free))

        assert "new key" not in done.err
        assert verify(cli, free).code == 0

    def test_a_backup_without_its_key_goes_on_under_a_new_one_and_says_so(
        self, cli: Command, free: Path, tmp_path: Path
    ) -> None:
        copy = self.backup(cli, free, tmp_path)
        copy.with_name("copy.db.audit-key").unlink()
        there = tmp_path / "other" / "hwci.db"
        done = cli("admin", "restore", str(copy), "--database", str(there))

        assert done.code == 0
        (result,) = [line for line in done.err.splitlines() if "audit log" in line]
        assert "goes on under a new key from row 4 on" in result
        assert log_of(there)[0] == ("operator", "audit_log.new_key")
        asyncio.run(start(there))

    def test_an_export_needs_the_name_of_the_key_where_no_folder_has_it(
        self, cli: Command, tmp_path: Path
    ) -> None:
        (tmp_path / "audit.jsonl").touch()
        where = ("--export", "audit.jsonl", "--database", "postgresql://host/hwci")
        done = cli("admin", "audit", "verify", *where)

        assert done.code == 1
        assert "HWCI_SECRET_KEY_FILE is not set\nfix: Name the key of the log by --key" in done.err

    def test_a_key_that_cannot_be_used_leaves_everything_as_it_was(
        self, cli: Command, free: Path, tmp_path: Path
    ) -> None:
        copy = self.backup(cli, free, tmp_path)
        copy.with_name("copy.db.audit-key").write_text("no key")
        before = sorted(path.name for path in free.parent.iterdir())
        done = cli("admin", "restore", str(copy), "--database", str(free))

        assert done.code == 2
        assert "holds no key of an audit log" in done.err
        assert sorted(path.name for path in free.parent.iterdir()) == before

    def test_a_key_in_a_backups_place_is_not_overwritten(
        self, cli: Command, free: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "copy.db.audit-key").write_text("kept")
        done = cli("admin", "backup", "copy.db", "--database", str(free))

        assert done.code == 1
        assert " exists already" in done.err
        assert not (tmp_path / "copy.db").exists()
