# SPDX-License-Identifier: Apache-2.0
"""The command as a process behind a terminal, and behind one that shows ASCII only."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.terminals import at_terminal
from tests.support.commands import HWCI, ROOT, environment, hwci
from tests.support.running import EMAIL, PASSWORD, RunningServer

AGAIN = b"it has %d characters.\r\nPassword of at least 12 characters: "
"""What a person reads who typed a password that is too short."""

pytestmark = pytest.mark.usefixtures("busy_server")


def test_a_person_is_asked_and_the_password_is_not_shown(
    tmp_path: Path, server: RunningServer
) -> None:
    typed = {b"E-mail: ": EMAIL.encode(), b"Password: ": PASSWORD.encode()}

    shown = at_terminal(tmp_path, "login", "--url", server.url, typed=typed)

    assert f"Signed in at {server.url} as {EMAIL}." in shown
    assert PASSWORD not in shown


def test_a_new_password_is_asked_for_twice(tmp_path: Path) -> None:
    first = b"Password of at least 12 characters: "
    typed = {first: PASSWORD.encode(), b"Same password again: ": PASSWORD.encode()}
    user = ("admin", "create-user", "--email", "new@example.org", "--database", "new.db")

    shown = at_terminal(tmp_path, *user, "--create", typed=typed)

    assert "new@example.org may sign in." in shown
    assert PASSWORD not in shown


def test_a_new_password_that_is_too_short_is_asked_for_again(tmp_path: Path) -> None:
    typed = {
        b"Password of at least 12 characters: ": b"short",
        AGAIN % 5: PASSWORD.encode(),
        b"Same password again: ": PASSWORD.encode(),
    }
    user = ("admin", "create-user", "--email", "new@example.org", "--database", "new.db")

    shown = at_terminal(tmp_path, *user, "--create", typed=typed)

    assert "The password is too short: it has 5 characters." in shown
    assert "new@example.org may sign in." in shown


def test_a_new_password_is_asked_for_three_times_at_most(tmp_path: Path) -> None:
    typed = {
        b"Password of at least 12 characters: ": b"short",
        AGAIN % 5: b"short6",
        AGAIN % 6: b"short67",
    }
    user = ("admin", "create-user", "--email", "new@example.org", "--create")

    shown = at_terminal(tmp_path, *user, typed=typed, code=2)

    assert "error: The password is too short" in shown
    assert "Same password again" not in shown


def test_a_mistyped_email_is_asked_for_again(tmp_path: Path, server: RunningServer) -> None:
    typed = {
        b"E-mail: ": b"ada.example.org",
        b"'ada.example.org' should look like name@example.org.": b"ada@example",
        b"'ada@example' should look like name@example.org.": b"ada@terminal.example.org",
        b"Password of at least 12 characters: ": PASSWORD.encode(),
        b"Same password again: ": PASSWORD.encode(),
    }

    shown = at_terminal(tmp_path, "register", "--url", server.url, typed=typed)

    assert "as ada@terminal.example.org; you are signed in." in " ".join(shown.split())


@pytest.mark.parametrize("wrong", ["ada", "ada@example", "ada b@example.org", "a@b@example.org"])
def test_a_mistyped_email_of_a_flag_is_refused(
    tmp_path: Path, server: RunningServer, wrong: str
) -> None:
    words = ("register", "--url", server.url, "--email", wrong, "--password-stdin")
    done = hwci(tmp_path, *words, stdin=PASSWORD)

    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: This is no e-mail",
        f"cause: {wrong!r} should look like name@example.org",
        "fix: Correct --email",
    ]


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_gets_no_escape_of_the_data(
    tmp_path: Path, server: RunningServer, no_color: str
) -> None:
    access = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token}
    looks = {"COLUMNS": "160", "TERM": "xterm", "NO_COLOR": no_color}
    shown = at_terminal(tmp_path, "metrics", typed={}, env=access | looks)

    assert "[red]can\\x1b[31m\\u202e|x" in shown
    assert "\x1b[31m" not in shown  # no colour is used at all, so each would be the data's
    assert "\u202e" not in shown


def test_a_terminal_of_ascii_is_shown_all_of_it(tmp_path: Path, server: RunningServer) -> None:
    access = {"HWCI_URL": server.url, "HWCI_TOKEN": server.token, "PYTHONIOENCODING": "ascii"}

    def run(*arguments: str) -> str:
        env = environment(tmp_path) | access | {"COLUMNS": "160"}
        done = subprocess.run(
            [*HWCI, *arguments], capture_output=True, check=True, cwd=ROOT, env=env
        )
        return done.stdout.decode("ascii")

    assert "+----" in run("metrics")
    failure = run("failures", "list", "--label", "resolved", "-o", "csv").splitlines()[1]
    shown = run("failures", "show", failure.split(",")[0])
    assert "P F" in shown
    assert "^" in shown
