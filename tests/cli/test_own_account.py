# SPDX-License-Identifier: Apache-2.0
"""The password and sessions of a person from the command line, and what the operator does with
users.
"""

import csv
import io
import json
import os
import re
from pathlib import Path
from uuid import uuid4

import pytest

from hwci.cli.session.settings import kept_sign_ins
from tests.cli.conftest import Answer, Command
from tests.support.asking import ask
from tests.support.running import PASSWORD, RunningServer

NEW = "another good password"


@pytest.fixture
def email(cli: Command, server: RunningServer) -> str:
    """The e-mail of a new account, which is signed in here."""
    address = f"{uuid4().hex}@example.org"
    arguments = ("register", "--url", server.url, "--email", address, "--password-stdin")
    assert cli(*arguments, stdin=f"{PASSWORD}\n").code == 0
    return address


def sign_in(cli: Command, server: RunningServer, email: str, password: str = PASSWORD) -> int:
    """Sign in once more, in a profile of its own."""
    arguments = ("login", "--url", server.url, "--email", email, "--password-stdin")
    return cli(*arguments, "--profile", "other", stdin=f"{password}\n").code


def reset(server: RunningServer, link: str) -> int:
    body = {"resetToken": link.partition("#")[2].strip(), "newPassword": NEW}
    return ask(server.url, "POST", "/api/auth/reset", json_body=body).status


def test_a_password_is_changed_and_this_sign_in_stays(
    cli: Command, server: RunningServer, email: str
) -> None:
    assert sign_in(cli, server, email) == 0

    done = cli("password", "change", "--password-stdin", stdin=f"{PASSWORD}\n{NEW}\n")

    assert (done.code, done.out) == (0, "")
    assert done.err == "Your password is changed. 1 other session ended; this one stays.\n"
    assert cli("whoami").code == 0
    assert cli("whoami", "--profile", "other").code == 4
    assert sign_in(cli, server, email) == 4
    assert sign_in(cli, server, email, NEW) == 0


@pytest.mark.usefixtures("email")
def test_both_passwords_come_from_files_too(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "old").write_text(f"{PASSWORD}\n")
    (tmp_path / "new").write_text(f" {NEW} \n")

    done = cli("password", "change", "--password-file", "old", HWCI_NEW_PASSWORD_FILE="new")

    assert done.code == 0
    back = cli("password", "change", "--password-stdin", stdin=f" {NEW} \n{PASSWORD}\n")
    assert back.code == 0, "blanks at the ends are a part of a password"
    half = cli("password", "change", "--password-file", "old")
    assert (half.code, half.err.splitlines()[0]) == (
        2,
        "error: One of the two passwords is missing",
    )


@pytest.mark.usefixtures("email")
def test_a_wrong_present_password_is_named_and_changes_nothing(cli: Command) -> None:
    done = cli("password", "change", "--password-stdin", stdin=f"a wrong guess\n{NEW}\n")

    assert done.code == 1
    assert "body.currentPassword: Should be the password that you have now" in done.err
    assert cli("whoami").code == 0


@pytest.mark.usefixtures("email")
def test_a_new_password_that_breaks_the_rules_is_not_sent(cli: Command) -> None:
    done = cli("password", "change", "--password-stdin", stdin=f"{PASSWORD}\ntiny\n")

    assert done.code == 2
    assert "cause: new password: " in done.err
    assert "tiny" not in done.err


@pytest.mark.usefixtures("email")
def test_without_a_terminal_no_password_is_asked_for(cli: Command) -> None:
    done = cli("password", "change")

    assert done.code == 2
    assert "--password-stdin, or --password-file with --new-password-file" in done.err


def test_sessions_are_listed_in_every_form_and_ended_one_by_one(
    cli: Command, server: RunningServer, email: str
) -> None:
    assert sign_in(cli, server, email) == 0

    listed = json.loads(cli("sessions", "list", "--json").out)
    shown = cli("sessions", "list").out
    rows = list(csv.DictReader(io.StringIO(cli("sessions", "list", "-o", "csv").out)))

    assert [one["current"] for one in listed] == [False, True]
    assert shown.count("hwci command line") == 2
    assert shown.count("this one") == 1
    assert [row["id"] for row in rows] == [one["id"] for one in listed]

    other = listed[0]["id"]
    ended = cli("sessions", "end", other[:8], "--json")
    assert (ended.code, json.loads(ended.out)) == (0, {"ended": 1})
    assert ended.err == f"Session {other} has ended.\n"
    assert cli("whoami", "--profile", "other").code == 4
    assert cli("whoami").code == 0
    again = cli("sessions", "end", other)
    assert again.code == 1
    assert again.err.splitlines()[-1] == "fix: Find its id with: hwci sessions list"


def test_all_other_sessions_are_ended_at_once(
    cli: Command, server: RunningServer, email: str
) -> None:
    assert sign_in(cli, server, email) == 0

    ended = cli("sessions", "end", "--others", "--json")

    assert (ended.code, json.loads(ended.out)) == (0, {"ended": 1})
    assert ended.err == "1 other session ended; this one stays.\n"
    assert cli("whoami", "--profile", "other").code == 4
    none = cli("sessions", "end", "--others")
    assert (none.code, none.err) == (0, "There was no other session; this one stays.\n")


@pytest.mark.usefixtures("email")
@pytest.mark.parametrize("given", [(), ("1f6d2c3a", "--others")])
def test_it_must_be_clear_which_session_is_meant(cli: Command, given: tuple[str, ...]) -> None:
    done = cli("sessions", "end", *given)

    assert (done.code, done.err.splitlines()[0]) == (
        2,
        "error: It is not clear which session is meant",
    )


def test_no_password_is_kept_by_the_command_line(cli: Command, email: str) -> None:
    cli("password", "change", "--password-stdin", stdin=f"{PASSWORD}\n{NEW}\n")

    kept = kept_sign_ins(os.environ).path.read_text()
    assert email in kept
    assert NEW not in kept
    assert PASSWORD not in kept


# The operator


def admin(cli: Command, server: RunningServer, *arguments: str) -> Answer:
    """Run a command of the operator beside a running server."""
    return cli("admin", *arguments, "--database", str(server.database))


def test_a_reset_link_is_printed_alone_on_stdout_and_works_once(
    cli: Command, server: RunningServer, email: str
) -> None:
    made = admin(cli, server, "reset-password", "--email", email)

    assert made.code == 0
    assert re.fullmatch(r"http://127\.0\.0\.1:8080/reset#[\w-]{43}\n", made.out)
    assert "HWCI_BASE_URL" in made.err
    assert made.out.partition("#")[2].strip() not in made.err
    assert reset(server, made.out) == 204
    assert reset(server, made.out) == 403
    assert cli("whoami").code == 4
    assert sign_in(cli, server, email, NEW) == 0


def test_a_reset_link_has_the_address_that_people_use(cli: Command) -> None:
    where = ("--email", "ada@example.org", "--database", "free.db")
    made = cli("admin", "create-user", *where, "--password-stdin", "--create", stdin=PASSWORD)
    assert made.code == 0

    link = cli("admin", "reset-password", *where, HWCI_BASE_URL="https://hwci.example.org")

    assert link.out.startswith("https://hwci.example.org/reset#")
    assert "HWCI_BASE_URL" not in link.err


def test_a_user_is_disabled_and_enabled_again(
    cli: Command, server: RunningServer, email: str
) -> None:
    done = admin(cli, server, "disable-user", "--email", email)

    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        f"{email} is disabled; 1 session ended.",
        "CI keys and boxes that they made go on working: `hwci keys revoke` ends a key.",
    ]
    assert cli("whoami").code == 4
    assert sign_in(cli, server, email) == 4
    refused = admin(cli, server, "reset-password", "--email", email)
    assert refused.code == 1
    assert refused.err.splitlines()[1] == (
        f"cause: {email} is disabled; enable them first:"
        f" hwci admin enable-user --database {server.database} --email {email}"
    )
    enabled = admin(cli, server, "enable-user", "--email", email)
    assert enabled.err == f"{email} may sign in.\n"
    assert sign_in(cli, server, email) == 0


def test_a_user_is_erased_after_it_was_shown_what_goes(
    cli: Command, server: RunningServer, email: str
) -> None:
    shown = admin(cli, server, "erase-user", "--email", email)
    assert (shown.code, shown.out) == (0, "")
    assert f"This would erase {email}, and nothing can bring them back" in shown.err
    assert sign_in(cli, server, email) == 0

    done = admin(cli, server, "erase-user", "--email", email, "--yes")
    assert done.code == 0
    assert done.err.splitlines()[0] == (
        f"{email} is erased; 0 reviews and 0 notes stay, without the name."
    )
    assert sign_in(cli, server, email) == 4
    for again in ((), ("--yes",)):
        unknown = admin(cli, server, "erase-user", "--email", email, *again)
        assert unknown.code == 1
        assert f"cause: There is no user with the e-mail {email}" in unknown.err


@pytest.mark.parametrize("command", ["reset-password", "disable-user", "enable-user"])
def test_an_unknown_user_is_one_clear_error(
    cli: Command, server: RunningServer, command: str
) -> None:
    unknown = admin(cli, server, command, "--email", "nobody@example.org")
    unlike = admin(cli, server, command, "--email", "nobody")

    assert unknown.code == 1
    assert unknown.err.splitlines()[1:] == [
        "cause: There is no user with the e-mail nobody@example.org",
        "fix: Check --email, and the --database",
    ]
    assert unlike.code == 2
    assert "email: Should look like name@example.org" in unlike.err
