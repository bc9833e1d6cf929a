# SPDX-License-Identifier: Apache-2.0
"""The commands of who runs a server."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.request import urlopen

import pytest

from hwci.cli.commands import demo
from hwci.cli.commands.serve import server_errors
from hwci.client.explained import ExplainedError
from hwci.demo import project
from hwci.server.clock import system_clock
from hwci.server.errors import HwciServerError, StorageError
from hwci.server.services.ci_metrics import ingest
from hwci.server.storage.sql.codec import from_micros
from hwci.version import build_version
from tests.cli.operating import THREE_LINES, USER
from tests.support.commands import environment, hwci, hwci_process, started
from tests.support.moved import moved_command, until_the_instant


def test_a_server_names_an_sqlite_that_may_damage_its_database(tmp_path: Path) -> None:
    with started(tmp_path, "serve", "--port", "0") as (process, _):
        assert process.stderr is not None
        process.send_signal(signal.SIGTERM)
        told = process.stderr.read()
    assert ("can damage a database" in told) is (sqlite3.sqlite_version_info < (3, 51, 3))


def test_a_server_says_its_version_and_which_steps_of_the_schema_it_took(tmp_path: Path) -> None:
    (tmp_path / "hwci.db").touch()
    serve = ("serve", "--quiet", "--port", "0", "--database", "hwci.db")
    for took in ("Took 1 step of the schema, up to 0001_schema", "There is no user yet."):
        with started(tmp_path, *serve) as (process, line):
            assert process.stderr is not None
            assert line.endswith(f"; Ctrl-C stops it. Version {build_version()}\n")
            told = next(line for line in process.stderr if not line.startswith("SQLite "))
            assert told.startswith(took)


def test_a_server_is_started_operated_used_and_stopped(tmp_path: Path) -> None:
    database = ("--database", "hwci.db")
    made = hwci(tmp_path, *USER, "--create", *database, stdin="correct horse battery\n")
    assert made.returncode == 0, made.stderr
    org_id = made.stdout.strip()

    with started(tmp_path, "serve", "--port", "0", *database) as (process, line):
        url = line.split()[2]
        assert line.startswith("hwci serves http://127.0.0.1:")
        # Over the socket: the running server holds the file.
        enabled = hwci(tmp_path, "admin", "ci-metrics", "enable", org_id, *database)
        assert (enabled.returncode, enabled.stdout) == (0, "")
        assert enabled.stderr == f"CI Metrics is on for organization {org_id}.\n"

        nobody = hwci(tmp_path, "admin", "ci-metrics", "enable", "0" * 32, *database)
        error, cause, fix = nobody.stderr.splitlines()
        assert (nobody.returncode, error) == (1, "error: CI Metrics was not switched")
        assert cause.startswith("cause: There is no organization 00000000-")
        assert fix == "fix: Check the name or id, and the --database"

        signing_in = ("login", "--url", url, "--email", "ada@example.org", "--password-stdin")
        assert hwci(tmp_path, *signing_in, stdin="correct horse battery").returncode == 0
        metrics = hwci(tmp_path, "metrics")
        assert metrics.returncode == 0
        assert "No merge was announced in this period" in metrics.stdout

        second = hwci_process(tmp_path, "serve", "--port", "0", *database)
        assert second.returncode == 1
        error, cause, fix = second.stderr.splitlines()
        assert error == "error: The server does not start"
        assert cause.endswith("hwci.db is in use by another process, most likely a running server")
        assert fix == "fix: Stop that one first, then try again"

        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize(("quiet", "lines"), [((), 1), (("--quiet",), 0)])
def test_a_server_writes_a_line_per_request_unless_it_is_quiet(
    tmp_path: Path, quiet: tuple[str, ...], lines: int
) -> None:
    serve = ("serve", "--port", "0", "--database", "hwci.db", *quiet)
    with started(tmp_path, *serve) as (process, line):
        with urlopen(f"{line.split()[2]}/api/openapi.json", timeout=60) as answer:
            answer.read()
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        rest = process.stderr.read().splitlines()

    told = [line for line in rest if not line.startswith("SQLite ")]  # where it is an old one
    _, paste, first_user, page, *requests = told
    assert paste.startswith('eval "$(')
    assert "hwci admin create-user" in first_user
    assert "/setup#" in page
    assert sum("GET /api/openapi.json " in line for line in requests) == len(requests) == lines


def test_a_free_database_is_opened_by_the_command_itself(tmp_path: Path) -> None:
    database = ("--database", str(tmp_path / "hwci.db"))
    password = tmp_path / "password.txt"
    password.write_text("correct horse battery\n")
    user = (*USER[:-1], "--password-file", str(password), "--create", "--json")
    made = hwci(tmp_path, *user, *database)
    assert made.returncode == 0
    assert '"orgId": ' in made.stdout

    again = hwci(tmp_path, *USER, *database, stdin="correct horse battery\n")
    assert again.returncode == 1
    assert again.stderr.splitlines() == [
        "error: The user was not created",
        "cause: A record with this email already exists",
        "fix: Use another --email",
    ]


@pytest.mark.parametrize(
    ("arguments", "stdin", "named"),
    [
        (USER, "short\n", "cause: password: String should have at least "),
        (
            [*USER[:2], "--email", "nobody", *USER[4:]],
            "correct horse battery\n",
            "cause: email: Should look like name@example.org\n",
        ),
        (USER[:-1], "", "--password-stdin"),
        (["admin", "ci-metrics", "maybe", "no-id"], "", "enable"),
    ],
)
def test_wrong_usage_of_an_operator_is_exit_code_2(
    tmp_path: Path, arguments: list[str], stdin: str, named: str
) -> None:
    done = hwci(tmp_path, *arguments, stdin=stdin)

    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_password_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_bytes(b"correct horse \xff battery")
    done = hwci(tmp_path, *USER[:-1], "--password-file", "password", "--database", "hwci.db")

    assert done.returncode == 2
    assert "cause: password: " in done.stderr
    assert "--password" not in done.stderr


def test_a_file_that_is_no_database_is_three_lines_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("These are notes, and no database at all. " * 50)
    before = (tmp_path / "notes.txt").read_bytes()

    for arguments in (
        ("serve", "--port", "0", "--database", "notes.txt"),
        ("admin", "ci-metrics", "enable", "0" * 32, "--database", "notes.txt"),
        ("admin", "ci-metrics", "enable", "0" * 32, "--database", "none.db"),
    ):
        done = hwci(tmp_path, *arguments)
        assert done.returncode == 1
        assert [line.split(":")[0] for line in done.stderr.splitlines()] == THREE_LINES
    assert (tmp_path / "notes.txt").read_bytes() == before
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize(
    ("fault", "cause", "fix"),
    [
        (StorageError("It is 'a; b'", "name another; or wait"), "It is 'a; b'", "Name another; or"),
        (StorageError("", ""), "", ""),
        (HwciServerError("no; "), "no; ", "Correct that, then try again"),
        (HwciServerError(), "", "Correct that, then try again"),
    ],
)
def test_an_error_of_the_server_is_shown_with_the_fix_that_it_carries(
    fault: HwciServerError, cause: str, fix: str
) -> None:
    with pytest.raises(ExplainedError) as caught, server_errors("It does not start"):
        raise fault

    failing = caught.value.message
    assert (failing.what, failing.cause) == ("It does not start", cause)
    assert failing.fix.startswith(fix)


@pytest.mark.parametrize(
    ("arguments", "variables", "what", "cause", "fix"),
    [
        (
            ("serve", "--port", "0"),
            {"HWCI_RATE_LIMIT": "fast"},
            "The server does not start",
            "HWCI_RATE_LIMIT is 'fast'",
            "It may be such as 100/minute or 20/10 seconds, or off",
        ),
        (
            ("serve", "--port", "0"),
            {"HWCI_VALKEY_URL": "redis://secret@host"},
            "The server does not start",
            "HWCI_VALKEY_URL cannot be used",
            "It may be an address such as valkey://host:6379, valkeys:// with TLS",
        ),
        (
            ("serve", "--port", "0", "--tls-cert", "none.pem", "--tls-key", "none.pem"),
            {},
            "The server does not start",
            "Cannot read none.pem for TLS: No such file or directory",
            "Name a file that can be read",
        ),
        (
            ("admin", "rebuild"),
            {"HWCI_REGISTRATION": "maybe"},
            "The organization was not rebuilt",
            "HWCI_REGISTRATION is 'maybe'",
            "It may be open, invite, closed",
        ),
    ],
)
def test_a_wrong_setting_is_wrong_usage_in_three_lines(
    tmp_path: Path,
    arguments: tuple[str, ...],
    variables: dict[str, str],
    what: str,
    cause: str,
    fix: str,
) -> None:
    done = hwci(tmp_path, *arguments, **variables)

    told = [f"error: {what}", f"cause: {cause}", f"fix: {fix}"]
    assert (done.returncode, done.stderr.splitlines()) == (2, told)


@pytest.mark.demo
def test_the_demo_fills_every_tile_and_says_how_to_go_on_while_it_serves(tmp_path: Path) -> None:
    with subprocess.Popen(
        moved_command(until_the_instant(), "demo", "--port", "0", "--dir", "kept"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(tmp_path) | {"PATH": os.defpath},
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "Serving until Ctrl-C.\n"
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate()  # with a time limit it sleeps, which fails under `faketime`

    assert process.returncode == 0
    assert out.startswith("All products · last 90 days")
    assert "0 of 0" not in out
    assert "(0)" not in out
    for text in ("Sign-in   demo@example.org, password ", "hwci login --url http://", "svc_"):
        assert text in out
    assert f'export PATH="$PATH":{Path(sys.executable).parent}' in out  # no shell would find it
    assert "ended" not in out
    assert (tmp_path / "kept" / "hwci.db").exists()


@pytest.mark.clock
@pytest.mark.demo
def test_by_the_clock_of_the_machine_the_demo_ends_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "DAYS", 5)
    before = system_clock()

    hwci(tmp_path, "demo", "--port", "0", "--exit", "--dir", "kept")

    with closing(sqlite3.connect(tmp_path / "kept" / "hwci.db")) as database:
        [(last,)] = database.execute("SELECT max(ended_at) FROM report")
    assert before - timedelta(hours=1) < from_micros(last) <= system_clock()


@pytest.mark.demo
def test_a_demo_that_does_not_serve_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "DAYS", 5)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    done = hwci(tmp_path, "demo", "--port", "0", "--exit")

    assert (done.returncode, done.stderr) == (0, "")
    out = done.stdout
    assert out.startswith("All products · last 5 days")
    assert out.endswith("nothing of it is kept. One to look around in: hwci demo\n")
    for text in ("Sign-in", "hwci login", "svc_"):
        assert text not in out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.demo
def test_a_slow_machine_has_time_for_the_history_of_the_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "DAYS", 5)
    monkeypatch.setattr(ingest, "WRITE_SECONDS", 0.0)

    done = hwci(tmp_path, "demo", "--port", "0", "--exit")

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.demo
@pytest.mark.parametrize("broken", ["fill", "furnish"])
def test_a_demo_that_breaks_off_leaves_its_folder_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "hwci.db.old").write_text("mine")
    monkeypatch.setattr(demo, "DAYS", 5)
    if broken == "fill":
        monkeypatch.setattr(ingest, "HISTORY_SECONDS", 0.0)
    else:
        monkeypatch.setattr(project, "BOXES", ["a name that is too long" * 20])

    done = hwci(tmp_path, "demo", "--port", "0", "--exit", "--dir", "kept")

    assert done.returncode != 0
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == THREE_LINES
    assert [path.name for path in folder.iterdir()] == ["hwci.db.old"]


@pytest.mark.demo
def test_the_demo_names_a_port_that_is_taken_before_it_makes_a_history(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = hwci(tmp_path, "demo", "--dir", "kept", "--port", str(taken.getsockname()[1]))

    assert done.returncode == 1
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == THREE_LINES
    assert "fix: Choose another port, such as --port " in done.stderr
    assert not (tmp_path / "kept" / "hwci.db").exists()


@pytest.mark.demo
def test_the_demo_takes_no_folder_that_has_a_database(tmp_path: Path) -> None:
    (tmp_path / "hwci.db").write_text("mine")
    done = hwci(tmp_path, "demo", "--dir", str(tmp_path))

    assert done.returncode == 1
    assert "hwci serve --database" in done.stderr
    assert (tmp_path / "hwci.db").read_text() == "mine"
