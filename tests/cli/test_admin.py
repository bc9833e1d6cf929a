# SPDX-License-Identifier: Apache-2.0
"""The operator's commands, at a server that runs and at a database that is free."""

import json
import os
import re
import sqlite3
import sys
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from hwci.cli.terminal.again import in_full
from hwci.client.store import BenchStore
from hwci.server.security.secret_key import signing_keys
from tests.cli.conftest import Command
from tests.support.asking import ask, bearer, ci_key
from tests.support.pending import keep
from tests.support.running import ORGANIZATION, RunningServer, new_organization, report

PASSWORD = "correct horse battery\n"


@pytest.fixture
def at_server(cli: Command, server: RunningServer) -> Command:
    """The command of the operator of a server that runs."""

    def run(*arguments: str, **others: Any) -> Any:
        return cli("admin", *arguments, "--database", str(server.database), **others)

    return run


@pytest.fixture
def free(tmp_path: Path) -> Path:
    """A database that no server has."""
    database = tmp_path / "free" / "hwci.db"
    new_organization(database)
    return database


def test_a_backup_is_made_by_the_server_and_its_name_is_printed(
    at_server: Command, tmp_path: Path
) -> None:
    done = at_server("backup", "copy.db")  # relative: to where the command is, not the server

    assert (done.code, done.out) == (0, f"{tmp_path / 'copy.db'}\n")
    assert done.err.startswith("The backup is whole: ")
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600

    again = at_server("backup", "copy.db")
    assert (again.code, again.out) == (1, "")
    assert again.err.splitlines() == [
        "error: No backup was made",
        f"cause: {tmp_path / 'copy.db'} exists already",
        "fix: Name a new file",
    ]


def test_a_backup_into_a_folder_that_is_not_there_is_refused_by_its_name(
    at_server: Command, tmp_path: Path
) -> None:
    done = at_server("backup", "none/copy.db")

    assert done.code == 1
    assert (
        f"cause: There is no folder {tmp_path / 'none'}\nfix: Make it, or name a file" in done.err
    )
    assert not (tmp_path / "none").exists()


def test_a_backup_is_restored_where_no_server_runs(
    cli: Command, free: Path, tmp_path: Path
) -> None:
    where = ("--database", str(free))
    assert cli("admin", "backup", "copy.db", *where).code == 0

    done = cli("admin", "restore", "copy.db", *where)

    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        f"{free} is now a copy of copy.db.",
        f"The former database is {free}.before-restore-1",
        "Next: start the server. CI keys that were revoked since the backup work again.",
    ]
    missing = cli("admin", "restore", "none.db", *where)
    assert missing.code == 1
    assert missing.err.splitlines() == [
        "error: The backup was not put back",
        f"cause: There is no backup {tmp_path / 'none.db'}",
        f"fix: Name one that `hwci admin backup --database {free}` made",
    ]


@pytest.mark.parametrize(
    "address", ["postgresql://ada:hun/ter2@127.0.0.1:1/hwci", "host=127.0.0.1 password=hun/ter2"]
)
@pytest.mark.parametrize("command", [("restore", "copy.db"), ("check",), ("migrate",)])
def test_no_command_prints_the_password_of_an_address(
    cli: Command, command: tuple[str, ...], address: str
) -> None:
    done = cli("admin", *command, "--database", address)

    assert done.code == 1
    assert "ter2" not in done.out + done.err
    assert in_full("Next: hwci admin migrate") == "Next: hwci admin migrate --database ADDRESS"
    done = cli("admin", "copy", "--from", address, "--to", address.replace("ada", "bo"))
    assert done.code == 1
    assert "ter2" not in done.out + done.err


def test_the_whole_database_is_copied_where_no_server_runs(
    cli: Command, free: Path, tmp_path: Path, server: RunningServer
) -> None:
    done = cli("admin", "copy", "--from", str(free), "--to", "new.db")

    assert (done.code, done.out) == (0, "")
    first, *others = done.err.splitlines()
    assert re.fullmatch(rf"new.db is now a copy of {free}: \d+ rows, all compared\.", first)
    assert others == ["Next: hwci serve --database new.db"]
    assert cli("admin", "check", "--database", "new.db").code == 0

    again = cli("admin", "copy", "--from", str(free), "--to", "new.db")
    assert again.code == 1
    assert "cause: " + str(tmp_path / "new.db") + " is not empty: its table " in again.err
    held = cli("admin", "copy", "--from", str(server.database), "--to", "other.db")
    assert held.code == 1
    assert "is in use by another process, most likely a running server" in held.err
    assert not (tmp_path / "other.db").exists()
    mistyped = cli("admin", "copy", "--from", "typo.db", "--to", "other.db")
    assert mistyped.code == 1
    assert "name its database: --from FILE" in mistyped.err


def test_a_database_that_a_server_has_is_not_restored(at_server: Command) -> None:
    assert at_server("backup", "copy.db").code == 0

    done = at_server("restore", "copy.db")

    assert done.code == 1
    assert "is in use by another process, most likely a running server\nfix: Stop" in done.err


def test_steps_that_are_missing_are_a_failure_of_the_check_and_then_taken(
    cli: Command, tmp_path: Path
) -> None:
    (tmp_path / "empty.db").touch()
    where = ("--database", "empty.db")

    checked = cli("admin", "migrate", "--check", *where)
    taken = cli("admin", "migrate", *where)
    after = cli("admin", "migrate", "--check", *where)

    assert (checked.code, checked.out) == (1, "")
    error, cause, fix = checked.err.splitlines()
    assert error == "error: empty.db lacks steps of the schema"
    assert cause == f"cause: {', '.join(taken.out.split())}"
    assert fix == "fix: Make a backup, then: hwci admin migrate --database empty.db"
    assert (taken.code, taken.out.split()[0]) == (0, "0001_schema")
    assert (after.code, after.out, after.err) == (
        0,
        "",
        "empty.db is at the present schema.\n",
    )


def test_all_organizations_are_rebuilt_one_by_one(
    at_server: Command, server: RunningServer
) -> None:
    second = new_organization(server.location, "second@example.org")

    every = at_server("rebuild")
    one = at_server("rebuild", str(second))
    none = at_server("rebuild", str(uuid4()))

    assert (every.code, every.out) == (0, "")
    assert sorted(line.split(":")[0] for line in every.err.splitlines()) == ["1 of 2", "2 of 2"]
    for org_id in (server.org_id, second):
        assert f"organization {org_id} is rebuilt." in every.err
    assert one.err == f"1 of 1: organization {second} is rebuilt.\n"
    assert none.code == 1
    assert none.err.splitlines()[0] == "error: The organization was not rebuilt"


def test_what_was_replaced_is_counted_and_deleted_when_it_is_meant(
    at_server: Command, server: RunningServer
) -> None:
    key = ci_key(server.ci_key)
    for conclusion in ("failure", "success"):
        body = report(run_id=5150, conclusion=conclusion)
        sent = ask(server.url, "POST", "/api/ci/run-report", key, json_body=body)
        assert sent.status == HTTPStatus.NO_CONTENT
    what = ["purge", "--days", "0"]

    assert at_server(*what).err.splitlines() == [
        "This would delete, and nothing can bring it back: 1 report.",
        f"To delete it: hwci admin purge --database {server.database} --days 0 --yes",
    ]
    assert at_server("purge", "--days", "1", "--yes").err == (
        "Nothing was replaced more than 1 day ago.\n"
    )
    assert at_server(*what, "--yes").err == "Deleted: 1 report.\n"
    assert at_server(*what).err == "Nothing was replaced more than 0 days ago.\n"
    log = ask(server.url, "GET", f"/api/orgs/{server.org_id}/audit-log", bearer(server.token))
    assert log.json["items"][0]["action"] == "records.purged"


def test_a_service_without_organizations_has_nothing_to_compute(
    cli: Command, tmp_path: Path
) -> None:
    (tmp_path / "empty.db").touch()

    done = cli("admin", "rebuild", "--database", "empty.db")

    assert (done.code, done.err) == (0, "There is no organization yet.\n")


def test_the_signing_key_is_changed_while_the_server_runs(
    at_server: Command, server: RunningServer
) -> None:
    def known() -> int:
        return ask(server.url, "GET", "/api/auth/me", bearer(server.token)).status

    changed = at_server("rotate-secret")
    assert (changed.code, changed.out) == (0, "")
    assert "are accepted until they end, 15 minutes at most" in changed.err
    assert known() == 200

    now = at_server("rotate-secret", "--now")
    assert now.err == "A new key signs access tokens; those of the former ended.\n"
    assert known() == 401


def test_a_key_file_of_the_settings_is_the_one_that_is_changed(
    cli: Command, free: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.key"
    kept.touch(0o600)
    kept.write_text("k" * 64)
    where = ("--database", str(free))

    assert cli("admin", "rotate-secret", *where, HWCI_SECRET_KEY_FILE=str(kept)).code == 0
    assert signing_keys(kept).present != b"k" * 64

    kept.chmod(0o400)
    done = cli("admin", "rotate-secret", *where, HWCI_SECRET_KEY_FILE=str(kept))
    error, cause, fix = done.err.splitlines()
    assert (done.code, error) == (1, "error: The signing key was not changed")
    assert "openssl rand -hex 32" in cause
    assert fix == "fix: Change the file as described above"


def test_a_mistyped_database_makes_none_and_a_new_one_is_made_when_it_is_meant(
    cli: Command, tmp_path: Path
) -> None:
    user = ("admin", "create-user", "--email", "ada@example.org", "--password-stdin")

    typo = cli(*user, "--database", "typo.db", stdin=PASSWORD)
    assert typo.code == 1
    assert "There is no database" in typo.err
    assert "--create" in typo.err
    assert not (tmp_path / "typo.db").exists()

    variable = cli(*user, stdin=PASSWORD, HWCI_DATABASE="typo.db")
    assert variable.code == 1

    assert cli(*user, "--database", "new.db", "--create", stdin=PASSWORD).code == 0
    assert (tmp_path / "new.db").exists()
    elsewhere = cli(*user, stdin=PASSWORD)
    assert elsewhere.code == 1
    assert f"There is no database {tmp_path / 'hwci-data' / 'hwci.db'}" in elsewhere.err
    assert not (tmp_path / "hwci-data").exists()
    assert cli(*user, "--create", stdin=PASSWORD).code == 0
    assert (tmp_path / "hwci-data" / "hwci.db").exists()


@pytest.mark.parametrize("command", ["rebuild", "rotate-secret", "migrate", "backup"])
def test_no_command_makes_a_database(cli: Command, tmp_path: Path, command: str) -> None:
    to = ("copy.db",) if command == "backup" else ()
    done = cli("admin", command, *to, "--database", "typo.db")

    assert done.code == 1
    missing = f"cause: There is no database {tmp_path / 'typo.db'}\nfix: Call this in the folder of"
    assert missing in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_person_at_a_terminal_sees_how_far_a_copy_is(free: Path, tmp_path: Path) -> None:
    import pty
    import subprocess

    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "hwci", "admin", "backup", "copy.db", "--database", str(free)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm"},
        timeout=60,
        check=True,
    )
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)

    assert done.stdout.decode() == f"{tmp_path / 'copy.db'}\n"
    assert "Copying: " in shown
    assert "The backup is whole: " in shown


def test_an_organization_is_exported_by_the_server_that_runs(
    at_server: Command, server: RunningServer, tmp_path: Path
) -> None:
    org = str(server.org_id)
    done = at_server("export", org, "acme.db")  # relative: to where the command is

    assert (done.code, done.out) == (0, f"{tmp_path / 'acme.db'}\n")
    assert done.err.startswith("Exported ")
    with closing(sqlite3.connect(tmp_path / "acme.db")) as export:
        assert export.execute("SELECT organization FROM export").fetchall() == [(ORGANIZATION,)]

    again = at_server("export", org, "acme.db")
    assert (again.code, again.out) == (1, "")
    assert again.err.splitlines() == [
        "error: Nothing was exported",
        f"cause: {tmp_path / 'acme.db'} exists already",
        "fix: Name a new file",
    ]
    nobody = at_server("export", "Acme firmwear", "new.db")
    assert (nobody.code, nobody.err.splitlines()) == (
        1,
        [
            "error: Nothing was exported",
            "cause: No organizations are named 'Acme firmwear'; did you mean Acme Firmware?",
            "fix: Check the name or id, and the --database",
        ],
    )
    assert not (tmp_path / "new.db").exists()


def test_an_export_and_a_folder_are_imported_by_the_server_that_runs(
    at_server: Command, server: RunningServer, tmp_path: Path
) -> None:
    org, kept = str(server.org_id), tmp_path / "kept"
    kept.mkdir()
    (kept / "good.json").write_text(json.dumps(report(run_id=77)))
    (kept / "less.json").write_text('{"tests": [], "sha": 7}')

    some = at_server("import", "kept", "--organization", org)
    assert some.code == 1
    assert some.out.startswith("refused: less.json: repo_key: Field required; workflow: Field ")
    assert some.err.splitlines() == [
        f"Added to organization {org} ({org}): 1 report.",
        "1 of 2 were refused: see above.",
    ]
    assert at_server("export", org, "acme.db").code == 0
    again = at_server("import", "acme.db", "--organization", org)
    assert (again.code, again.out) == (0, "")
    assert again.err.splitlines()[0] == f"Added to organization {org} ({org}): nothing new."
    made = at_server("import", "acme.db", "--organization", "New", "--owner", server.email)
    assert made.code == 0
    assert made.err.startswith("Added to organization New (")
    unnamed = at_server("import", "kept")
    assert (unnamed.code, unnamed.err.splitlines()[1:]) == (
        2,
        ["cause: A folder names no organization", "fix: Name one by --organization"],
    )


def test_what_a_bench_kept_is_imported_as_it_shows_it(
    cli: Command, at_server: Command, server: RunningServer, tmp_path: Path
) -> None:
    spool, folder = tmp_path / "spool", tmp_path / "kept-reports"
    folder.mkdir()
    keep(BenchStore(spool), run_id=501)
    [one] = json.loads(cli("spool", "list", "--json", HWCI_SPOOL_DIR=str(spool)).out)
    shown = cli("spool", "show", one["number"], HWCI_SPOOL_DIR=str(spool))
    (folder / f"{one['number']}.json").write_text(shown.out)

    done = at_server("import", "kept-reports", "--organization", str(server.org_id))

    assert (done.code, done.err.split("): ")[1]) == (0, "1 report.\n")
