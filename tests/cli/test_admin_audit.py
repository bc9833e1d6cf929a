# SPDX-License-Identifier: Apache-2.0
"""`hwci admin audit verify`, on a server at work and on a free database, and after a restore."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hwci.server.app import Rebuild, operate
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
    """Write the database as another program, which takes the page sums away."""
    with closing(sqlite3.connect(database, isolation_level=None)) as raw:
        rows = raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for (name,) in rows:
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute(statement)
    database.with_name(f"{database.name}.sums").unlink(missing_ok=True)


def verify(cli: Command, database: Path, *more: str) -> Answer:
    return cli("admin", "audit", "verify", "--database", str(database), *more)


def test_a_whole_log_of_a_running_server_is_exit_code_0_and_its_head(
    cli: Command, server: RunningServer
) -> None:
    done = verify(cli, server.database)

    number, _, link = done.out.strip().partition(":")
    assert (done.code, len(link)) == (0, 64)
    assert done.err == f"The audit log is whole: {number} rows. It ends with:\n"
    assert verify(cli, server.database, "--head", done.out.strip()).code == 0
    result: dict[str, Any] = json.loads(verify(cli, server.database, "--json").out)
    assert (result["whole"], result["head"], result["findings"]) == (True, done.out.strip(), [])


def test_a_changed_row_is_named_with_its_organization(cli: Command, free: Path) -> None:
    changed(free, "UPDATE audit_entry SET action = 'nothing' WHERE number = 2")
    done = verify(cli, free)

    with closing(sqlite3.connect(free)) as raw:
        (org,) = raw.execute("SELECT hex(id) FROM organization").fetchone()
    assert done.code == 1
    first, cause, row, fix = done.err.splitlines()
    assert first == "error: The audit log is not whole"
    assert cause == "cause: Not all rows are as they were written; these are the first"
    assert row.strip().startswith("row 2 of organization ")
    assert org.lower() in row.replace("-", "")
    assert fix.startswith("fix: Keep a copy of the database as it is")
    assert json.loads(verify(cli, free, "--json").out)["findings"][0]["number"] == 2


def test_an_end_that_was_cut_off_is_found_by_the_head_of_before(cli: Command, free: Path) -> None:
    head = verify(cli, free).out.strip()
    changed(free, "DELETE FROM audit_entry WHERE number = 3")

    assert verify(cli, free).code == 0
    done = verify(cli, free, "--head", head)
    assert done.code == 1
    assert f"no row up to it is {head}" in done.err


def test_a_restored_log_goes_on(cli: Command, free: Path, tmp_path: Path) -> None:
    copy, elsewhere = tmp_path / "copy.db", tmp_path / "other" / "hwci.db"
    assert cli("admin", "backup", str(copy), "--database", str(free)).code == 0
    assert cli("admin", "restore", str(copy), "--database", str(elsewhere)).code == 0

    head = verify(cli, free).out.strip()
    assert verify(cli, elsewhere).out.strip() == head
    with closing(sqlite3.connect(elsewhere)) as raw:
        (org_id,) = raw.execute("SELECT hex(id) FROM organization").fetchone()
    assert cli("admin", "rebuild", org_id, "--database", str(elsewhere)).code == 0
    done = verify(cli, elsewhere, "--head", head)
    assert (done.code, done.out.partition(":")[0]) == (0, "4")
