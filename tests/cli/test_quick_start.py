# SPDX-License-Identifier: Apache-2.0
"""One line makes all that a first report needs, or nothing (contract, "Command line")."""

import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from hwci.client.explained import ExitCode
from tests.cli.jobs import git, repository
from tests.cli.terminals import at_terminal
from tests.support.answering import unused_url
from tests.support.asking import ask
from tests.support.commands import hwci
from tests.support.running import RunningServer

PASSWORD = "correct horse battery\n"
START = ("admin", "quick-start", "--password-stdin")


@pytest.fixture
def firmware(tmp_path: Path) -> Path:
    """A repository of the firmware of acme, in which git knows bo."""
    folder = tmp_path / "firmware"
    folder.mkdir()
    repository(folder, "src/main.c", "tests/test_lamp.py")
    git(folder, "remote", "add", "origin", "git@github.com:acme/firmware.git")
    git(folder, "config", "user.email", "bo@corp.example")
    return folder


def exported(out: str) -> Mapping[str, str]:
    """Return the variables that a shell has when it evaluated this."""
    [line] = (line for line in out.splitlines() if "HWCI_URL" in line)
    return dict(word.split("=", 1) for word in shlex.split(line)[1:])


def test_the_key_of_the_shell_reports_to_an_organization_that_is_named_like_the_repositorys_owner(
    server: RunningServer, firmware: Path
) -> None:
    place = ("--url", server.url, "--database", str(server.database))
    done = hwci(firmware, *START, *place, stdin=PASSWORD)
    assert done.returncode == 0, done.stderr
    variables = exported(done.stdout)
    results = ".hwci/out.xml"
    assert f"--junit {results} -- pytest tests --junit-xml={results}" in done.stderr
    assert "--url" not in done.stderr, "the shell has HWCI_URL"
    (firmware / results).write_text('<testsuite><testcase classname="a" name="b"/></testsuite>')
    assert ".hwci" not in git(firmware, "status", "--short")

    report = ("report-run", "--box", "bench-1", "--junit", results, "--strict")
    assert hwci(firmware, *report, **variables).returncode == 0
    listed = hwci(firmware, "suite-config", "list", "-o", "csv", HWCI_URL=server.url)
    assert "acme/firmware" in listed.stdout, listed.stderr
    assert "owner of acme (" in hwci(firmware, "whoami", HWCI_URL=server.url).stdout


def test_a_project_file_that_is_there_is_sent_and_stays(
    server: RunningServer, firmware: Path
) -> None:
    project = '[[product]]\nsuite = "lamp"\nfirmware_paths = ["lamp/**"]\nharness_paths = []\n'
    (firmware / "hwci.toml").write_text(project)
    place = ("--url", server.url, "--database", str(server.database))
    done = hwci(
        firmware,
        *START,
        *place,
        "--organization",
        "Lamps",
        "--email",
        "cy@a.example",
        stdin=PASSWORD,
    )

    assert done.returncode == 0, done.stderr
    assert (firmware / "hwci.toml").read_text() == project
    assert "acme/firmware:lamp" in done.stderr
    assert "The organization is Lamps" in done.stderr


@pytest.mark.parametrize(
    ("where", "url", "said"),
    [
        (".", None, "not a git repository"),
        ("firmware", "http://127.0.0.1:9", "Nothing was begun"),
    ],
    ids=["outside-a-repository", "no-server"],
)
def test_without_a_repository_or_a_server_nothing_is_made(
    server: RunningServer, firmware: Path, where: str, url: str | None, said: str
) -> None:
    place = ("--url", url or server.url, "--database", str(server.database))
    done = hwci(firmware.parent / where, *START, *place, "--email", "a@b.example", stdin=PASSWORD)

    assert done.returncode != 0
    assert done.stdout == ""
    assert said in done.stderr
    body = {"email": "a@b.example", "password": PASSWORD.strip()}
    assert ask(server.url, "POST", "/api/auth/login", json_body=body).status == 401
    assert not (firmware / "hwci.toml").exists()


def test_a_server_where_somebody_signed_in_before_gets_no_password(
    server: RunningServer, firmware: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = ("--database", str(server.database), "--email", "ed@a.example")
    assert hwci(firmware, *START, *beside, "--url", server.url, stdin=PASSWORD).returncode == 0
    usual = unused_url()
    monkeypatch.setattr("hwci.cli.commands.admin.quick_start.DEFAULT_URL", usual)

    done = hwci(firmware, *START, *beside, stdin=PASSWORD)

    assert (done.returncode != 0, done.stdout) == (True, "")
    assert f"No answer from {usual}" in done.stderr


def test_a_project_file_that_cannot_be_read_is_named_before_anything_is_made(
    server: RunningServer, firmware: Path
) -> None:
    (firmware / "hwci.toml").write_text("[[product]")
    place = ("--url", server.url, "--database", str(server.database), "--email", "fy@a.example")
    done = hwci(firmware, *START, *place, stdin=PASSWORD)
    (firmware / "hwci.toml").unlink()

    assert done.returncode != 0
    assert done.stdout == ""
    assert "hwci.toml" in done.stderr
    assert hwci(firmware, *START, *place, stdin=PASSWORD).returncode == 0, "nothing was made"


def test_another_shell_gets_a_key_of_its_own_for_the_same_account_and_organization(
    server: RunningServer, firmware: Path
) -> None:
    place = ("--url", server.url, "--database", str(server.database))
    start = (*START, *place, "--email", "di@a.example")
    keys = [
        exported(hwci(firmware, *start, stdin=PASSWORD).stdout)["HWCI_CI_KEY"] for _ in range(2)
    ]

    assert len(set(keys)) == 2
    assert hwci(firmware, "whoami", HWCI_URL=server.url).stdout.count("owner of acme") == 1


def test_a_known_account_is_asked_for_its_password_once_and_again_if_it_is_wrong(
    server: RunningServer, firmware: Path
) -> None:
    start = ("admin", "quick-start", "--url", server.url, "--database", str(server.database))
    email = ("--email", "gil@a.example")
    password = b"correct horse battery"
    asks = {b"at least 12 characters: ": password, b"Same password again: ": password}
    new = at_terminal(firmware, *start, *email, typed=asks)
    known = at_terminal(
        firmware,
        *start,
        *email,
        typed={b"\nPassword: ": b"another", b"this password.\r\nPassword: ": password},
    )

    assert "You are signed in" in new
    assert known.count("Password: ") == 2
    assert "again" not in known
    assert "You are signed in" in known

    wrong = hwci(firmware, *start, *email, "--password-stdin", stdin="another battery\n")
    assert (wrong.returncode, wrong.stdout) == (ExitCode.SIGN_IN, "")
    assert "cause: the account of gil@a.example does not take this password" in wrong.stderr
    assert "hwci admin reset-password" in wrong.stderr
