# SPDX-License-Identifier: Apache-2.0
"""Folders and files of which nothing can be asked, as those of another user: a report goes out and
tests run all the same, and what is asked about them is told. Here their names are too long, which
holds for every user.
"""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.cli.jobs import ANNOUNCED, HEAD, junit
from tests.support.answering import unused_url
from tests.support.recorded import recorded

TOO_LONG = "x" * 300
RUN = ("report-run", *HEAD, "--box", "bench-1", "--junit", "one.xml")
JOB = [word for word in HEAD if word != "--no-changes"]
EXEC = ("exec", *JOB, "--box", "bench-1", "--junit", "two.xml", "--", "cp", "one.xml", "two.xml")
PLACES = ("HWCI_SPOOL_DIR", "HWCI_STATE_DIR", "HWCI_BOX_FILE", "XDG_STATE_HOME", "XDG_CONFIG_HOME")


@pytest.fixture(autouse=True)
def _results(tmp_path: Path) -> None:
    (tmp_path / "one.xml").write_text(junit("a"))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", [RUN, EXEC, ("merge-announce", *ANNOUNCED)])
def test_a_report_goes_out(in_ci: Command, command: tuple[str, ...], place: str) -> None:
    at = command.index("--") if "--" in command else len(command)

    assert in_ci(*command[:at], "--strict", *command[at:], **{place: TOO_LONG}).code == 0


@pytest.mark.parametrize("command", [("spool", "list"), ("spool", "flush")])
def test_a_spool_is_said_not_to_be_read(in_ci: Command, command: tuple[str, ...]) -> None:
    code, _, err = in_ci(*command, HWCI_SPOOL_DIR=TOO_LONG)

    assert code == 1
    assert err.startswith("error: The pending reports on this machine cannot be read\ncause: xxx")


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("HWCI_SPOOL_DIR", f"warn  spool: {TOO_LONG} cannot be written: "),
        ("HWCI_BOX_FILE", "fail  box key: File name too long"),
    ],
)
def test_a_doctor_says_so(in_ci: Command, place: str, line: str) -> None:
    assert line in in_ci("doctor", **{place: TOO_LONG}).out


@pytest.mark.parametrize(
    ("command", "first"),
    [
        (RUN, "error: A setting cannot be understood"),
        (("merge-announce", *ANNOUNCED), "error: A setting cannot be understood"),
        (("suite-config", "check"), "error: There is no configuration"),
    ],
)
def test_a_folder_that_cannot_be_looked_into_is_wrong_usage(
    in_ci: Command, tmp_path: Path, command: tuple[str, ...], first: str
) -> None:
    results = tmp_path / "one.xml"
    at = Path.cwd()
    for _ in range(20):  # so deep that its name as a whole is too long
        Path("x" * 250).mkdir()
        os.chdir("x" * 250)
    try:
        code, out, err = in_ci(*(str(results) if word == "one.xml" else word for word in command))
    finally:
        os.chdir(at)

    assert (code, out) == (2, "")
    what, cause, fix = err.splitlines()
    assert what == first
    assert cause.startswith(f"cause: hwci.toml cannot be looked for from {tmp_path}/xxx")
    assert cause.endswith(
        ": File name too long; call hwci in a folder that this user may look into"
    )
    assert fix.startswith("fix: ")


PIPED = "it is not a file but a pipe or a device"
KEY_FILE = "The file that HWCI_CI_KEY_FILE names cannot be read: pipe"


@pytest.mark.parametrize(
    ("command", "env", "code", "cause"),
    [
        (("report-run", "--body", "pipe"), {}, 2, PIPED),
        ((*RUN[:-3], "--hello", "failed", "--changes", "pipe"), {}, 2, PIPED),
        (RUN, {"HWCI_CI_KEY": "", "HWCI_CI_KEY_FILE": "pipe"}, 0, f"{KEY_FILE}: {PIPED}"),
        (
            ("suite-config", "check", "pipe"),
            {},
            1,
            "1 fault\n       pipe: cannot be read: " + PIPED,
        ),
        (("box", "heartbeat"), {"HWCI_BOX_FILE": "pipe"}, 2, PIPED),
        (("whoami",), {"HWCI_URL": "", "XDG_CONFIG_HOME": "config"}, 2, PIPED),
    ],
)
def test_a_pipe_in_place_of_a_file_is_an_error_and_not_waited_for(
    in_ci: Command,
    tmp_path: Path,
    command: tuple[str, ...],
    env: dict[str, str],
    code: int,
    cause: str,
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "config" / "hwci").mkdir(parents=True)
    (tmp_path / "config" / "hwci" / "credentials.json").symlink_to(tmp_path / "pipe")

    answer = in_ci(*command, **env)

    assert answer.code == code
    assert f"\ncause: {cause}" in answer.err


def test_what_holds_more_than_a_server_takes_is_not_read_to_its_end(
    in_ci: Command, tmp_path: Path
) -> None:
    for name in ("body.json", "hwci.toml", "key"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**40)  # a hole, which takes no room

    body = in_ci("report-run", "--body", "body.json")
    piped = in_ci("report-run", "--body", "-", stdin=b" " * (64 * 2**20 + 1))
    project = in_ci("suite-config", "check")
    key = in_ci("keys", "list", HWCI_TOKEN_FILE="key")

    assert (body.code, piped.code, project.code, key.code) == (2, 2, 1, 2)
    assert "error: stdin cannot be read\ncause: it holds more than 64 MiB\nfix: Name " in piped.err
    assert "body.json cannot be read\ncause: it holds more than 64 MiB\nfix: Name an" in body.err
    assert "hwci.toml: cannot be read: it holds more than 4 MiB\n" in project.err
    assert "cause: key: it holds more than 64 KiB\n" in key.err


def test_an_event_that_cannot_be_read_is_a_warning(in_ci: Command) -> None:
    there = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "/dev/zero"}

    reported = in_ci(*RUN, **there)

    why = "The event of this run cannot be read (GITHUB_EVENT_PATH): /dev/zero: " + PIPED
    assert reported.code == 0
    assert f"warning: {why}. It goes on without it.\n" in reported.err
    assert f"warn  ci: {why}" in in_ci("doctor", **there).out
    assert why in in_ci("env", **there).err


def test_a_note_explains_that_nothing_is_announced_without_an_event(in_ci: Command) -> None:
    """The event names the branch that is merged into."""
    there = recorded("github-push") | {"GITHUB_REF_NAME": "trunk", "GITHUB_EVENT_PATH": "/dev/zero"}

    code, out, err = in_ci("merge-announce", "--dry-run", **there)

    assert (code, out) == (0, "")
    warning, nothing = err.splitlines()
    assert warning.startswith("warning: The event of this run cannot be read (GITHUB_EVENT_PATH)")
    assert nothing.startswith("Nothing is announced: ")


def test_where_nothing_is_announced_for_its_branch_no_commit_is_missed(in_ci: Command) -> None:
    there = recorded("github-push") | {"GITHUB_REF_NAME": "trunk", "HWCI_BEFORE_SHA": "none"}

    code, _, err = in_ci("merge-announce", "--merge-branches=main", "--dry-run", **there)

    assert code == 0
    assert err.startswith("Nothing is announced: ")
    assert err.count("\n") == 1


def test_a_command_whose_name_is_too_long_is_none(in_ci: Command) -> None:
    assert in_ci(*EXEC[:-3], f"./{TOO_LONG}").code == 127


@pytest.mark.parametrize("deadline", ["nan", "-1", "soon"])
def test_a_deadline_that_is_no_time_is_wrong_usage(in_ci: Command, deadline: str) -> None:
    assert in_ci(*RUN, HWCI_DEADLINE=deadline).code == 2


def test_a_deadline_may_never_come(in_ci: Command) -> None:
    assert in_ci(*RUN, "--strict", HWCI_DEADLINE="inf").code == 0


def test_an_address_whose_host_holds_blanks_is_wrong_usage(in_ci: Command) -> None:
    code, _, err = in_ci(*RUN, HWCI_URL="http://a b")

    assert code == 2
    assert "cause: 'http://a b' is not a server address: its host holds blanks. " in err


def test_a_key_of_impossible_letters_hides_nothing_that_waits(in_ci: Command) -> None:
    in_ci(*RUN, HWCI_URL=unused_url())

    code, out, _ = in_ci("spool", "list", HWCI_CI_KEY="\udcff")

    assert code == 0
    assert "bench-1" in out
