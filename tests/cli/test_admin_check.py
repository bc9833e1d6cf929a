# SPDX-License-Identifier: Apache-2.0
"""`hwci admin check` says whether a database is whole, and every command refuses in three lines one
that cannot be read.
"""

import json
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from hwci.server.storage.sqlite.page_sums import begin_sums
from tests.cli.operating import THREE_LINES, USER
from tests.support.asking import ask, ci_key
from tests.support.commands import hwci, started
from tests.support.running import report, running_in_thread

DATABASE = ("--database", "hwci.db")
NOWHERE = "7d0e0f6e-2c6b-4f55-8a35-0a3f6e1f3c52"
COMMANDS = {
    "serve": ("serve", "--port", "0"),
    "backup": ("admin", "backup", "copy.db"),
    "check": ("admin", "check"),
    "ci-metrics": ("admin", "ci-metrics", "enable", NOWHERE),
    "create-user": USER,
    "rebuild": ("admin", "rebuild"),
    "rotate-secret": ("admin", "rotate-secret"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a database that has a report."""
    with running_in_thread(tmp_path) as server:
        by = ci_key(server.ci_key)
        assert ask(server.url, "POST", "/api/ci/run-report", by, json_body=report()).status == 204
    return tmp_path


def alter(folder: Path, statement: str) -> None:
    """Alter rows as a fault of hwci would, which has the sums of what it wrote."""
    with closing(sqlite3.connect(folder / "hwci.db", isolation_level=None)) as database:
        assert database.execute(statement).rowcount > 0
    begin_sums(folder / "hwci.db")


def test_a_whole_database_is_reported_whole(folder: Path) -> None:
    result = hwci(folder, "admin", "check", *DATABASE)
    assert (result.returncode, result.stdout) == (0, "")
    assert "hwci.db is whole: 1 report." in result.stderr

    result = hwci(folder, "admin", "check", "--json", *DATABASE)
    assert (result.returncode, json.loads(result.stdout)) == (
        0,
        {"whole": True, "reports": 1, "damage": [], "stale": []},
    )


def test_damage_is_named_with_what_to_do_next_also_by_a_server_that_runs(folder: Path) -> None:
    alter(folder, "UPDATE report SET branch = 'mayn'")
    for _ in ("found", "found again"):
        result = hwci(folder, "admin", "check", *DATABASE)
        assert result.returncode == 1
        assert result.stdout.startswith("damaged: Report 1 (run 1 attempt 1 of acme/firmware on ")
        assert (
            "Next: stop the server, then: hwci admin restore --database hwci.db BACKUP"
            in result.stderr
        )
    refused = hwci(folder, *COMMANDS["serve"], *DATABASE)
    assert refused.returncode == 1
    assert "was found damaged: Report 1" in refused.stderr

    alter(folder, "UPDATE report SET branch = 'main'")
    assert hwci(folder, "admin", "check", *DATABASE).returncode == 0
    with started(folder, *COMMANDS["serve"], *DATABASE) as (_, line):
        assert line.startswith("hwci serves")
        alter(folder, "UPDATE report SET branch = 'mayn'")
        result = hwci(folder, "admin", "check", "--json", *DATABASE)
        assert result.returncode == 1
        assert len(json.loads(result.stdout)["damage"]) == 1


def test_the_fix_of_what_is_only_out_of_date_is_a_rebuild(folder: Path) -> None:
    alter(folder, "DELETE FROM mention")
    result = hwci(folder, "admin", "check", *DATABASE)
    assert result.returncode == 1
    assert result.stdout.startswith("out of date: mention of organization ")
    assert "Next: hwci admin rebuild" in result.stderr

    assert hwci(folder, "admin", "rebuild", *DATABASE).returncode == 0
    assert hwci(folder, "admin", "check", *DATABASE).returncode == 0


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_schema_that_is_no_schema_is_three_lines_of_every_command(
    folder: Path, command: tuple[str, ...]
) -> None:
    path = folder / "hwci.db"
    (folder / "hwci.db.sums").unlink()
    path.write_bytes(
        path.read_bytes().replace(b"CREATE TABLE report (", b"CREATE TABLE repo\xb1t (\n")
    )
    result = hwci(folder, *command, *DATABASE, stdin="correct horse battery\n")

    assert result.returncode == 1
    if command == COMMANDS["check"]:
        assert result.stdout.endswith("hwci.db is damaged\n")
    else:
        assert [line.partition(":")[0] for line in result.stderr.splitlines()] == THREE_LINES
    assert "Traceback" not in result.stderr


def test_a_second_name_of_the_file_is_three_lines(folder: Path) -> None:
    (folder / "second.db").hardlink_to(folder / "hwci.db")
    for command, name in product(("serve", "check"), ("hwci.db", "second.db")):
        result = hwci(folder, *COMMANDS[command], "--database", name)
        assert result.returncode == 1
        assert [line.partition(":")[0] for line in result.stderr.splitlines()] == THREE_LINES
        assert "a second name (a hard link)" in result.stderr
