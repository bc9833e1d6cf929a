# SPDX-License-Identifier: Apache-2.0
"""The commands that the program prints as the next step work as printed."""

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

import hwci
from tests.cli.conftest import Answer, Command
from tests.cli.every_command import COMMANDS
from tests.cli.jobs import repository
from tests.cli.kept import body
from tests.support.answering import Answer as Canned
from tests.support.answering import answering, unused_url
from tests.support.running import RunningServer, new_organization

WRONG_KEY = "svc_" + "0" * 64
NOT_FOUND = b'{"statusCode": 404, "error": "Not Found", "message": "No"}'
NEXT = re.compile(r"(?:: |^  |\(|`)(hwci [^`;,)\n]+)", re.MULTILINE)
USER = ["admin", "create-user", "--email", "a@example.org", "--organization", "Acme & Co"]


def pasted(
    cli: Command, printed: Answer, *answers: str, only: str = "", stdin: str = "", **env: str
) -> list[Answer]:
    """Run the printed commands. `answers`: flags instead of answers at a terminal."""
    named = (line for line in NEXT.findall(printed.err) if only in line)
    commands = [shlex.split(line)[1:] for line in named]
    assert commands, printed.err
    return [cli(*command, *answers, stdin=stdin, **env) for command in commands]


def test_after_a_user_is_created_ci_metrics_is_enabled_in_the_same_database(
    cli: Command, tmp_path: Path
) -> None:
    database = str(tmp_path / "of us" / "hwci.db")
    (tmp_path / "of us").mkdir()
    user = [*USER, "--password-stdin", "--database", database, "--create"]
    done = cli(*user, stdin="correct horse battery\n")

    assert [one.code for one in pasted(cli, done)] == [0]


def test_ci_metrics_is_enabled_by_the_name_of_an_organization(cli: Command, tmp_path: Path) -> None:
    database = tmp_path / "hwci.db"
    new_organization(database, ci_metrics=False)
    switch = ["admin", "ci-metrics", "enable"]

    assert cli(*switch, "Acme Firmware", "--database", str(database)).code == 0
    unknown = cli(*switch, "Acme", "--database", str(database))
    assert (unknown.code, "No organizations are named 'Acme'" in unknown.err) == (1, True)
    new_organization(database, "b@example.org", ci_metrics=False)
    twice = cli(*switch, "Acme Firmware", "--database", str(database))
    assert (twice.code, "2 organizations are named 'Acme Firmware'" in twice.err) == (1, True)


def test_a_new_project_file_is_checked_next(cli: Command, tmp_path: Path) -> None:
    repository(tmp_path, "src/a.c", "tests/test_a.py")

    assert [one.code for one in pasted(cli, cli("init"), only="check")] == [0]


def test_a_403_because_ci_metrics_is_off_names_the_command(
    cli: Command, server: RunningServer
) -> None:
    word = ("--email", "off@example.org", "--password-stdin")
    cli("register", "--url", server.url, *word, stdin=f"{server.password}\n")
    operator = {"HWCI_DATABASE": str(server.database)}
    made = cli("orgs", "create", "Off")
    off = cli("metrics")
    assert off.code == 4

    assert [one.code for one in pasted(cli, off, **operator)] == [0]
    assert cli("metrics").code == 0
    cli("admin", "ci-metrics", "disable", made.out.strip(), **operator)
    assert [one.code for one in pasted(cli, made, **operator)] == [0]
    assert cli("metrics").code == 0


def test_a_named_command_repeats_the_flags_for_server_and_profile_but_one_that_says_nothing_new(
    cli: Command, server: RunningServer
) -> None:
    where = ("--url", server.url, "--profile", "of us")
    word = ("--email", server.email, "--password-stdin")
    first = cli("runs", "list", *where, "--org", "Acme Firmware")
    assert first.code == 4

    [signed_in] = pasted(cli, first, *word, stdin=f"{server.password}\n")
    assert signed_in.code == 0
    none = cli("boxes", "list", *where, "--org", "Acme Firmware")
    assert none.code == 0
    # Where the profile leads is no flag's to say again.
    assert NEXT.findall(none.err) == [
        "hwci boxes create --org 'Acme Firmware' --profile 'of us' NAME"
    ]
    assert [one.code for one in pasted(cli, none)] == [0]


def test_a_command_named_to_an_operator_uses_the_same_database(
    cli: Command, tmp_path: Path
) -> None:
    database = tmp_path / "of us.db"
    new_organization(database)
    where = ("--database", str(database))
    person = ("--email", "owner@example.org")
    cli("admin", "disable-user", *person, *where)
    refused = cli("admin", "reset-password", *person, *where)

    assert refused.code == 1
    assert [one.code for one in pasted(cli, refused)] == [0]
    assert cli("admin", "reset-password", *person, *where).code == 0


@pytest.mark.parametrize(
    ("before", "printer", "there"),
    [
        ({"HWCI_CI_KEY": WRONG_KEY}, "report", True),
        ({"HWCI_CI_KEY": WRONG_KEY}, "flush", True),
        ({"HWCI_CI_KEY": WRONG_KEY}, "next report", True),
        ({}, "flush", False),
    ],
)
def test_the_named_command_sends_pending_reports(
    cli: Command, server: RunningServer, before: dict[str, str], printer: str, there: bool
) -> None:
    key = {"HWCI_CI_KEY": server.ci_key}
    first = server.url if there else unused_url()
    one = ("report-run", "--body", "-", "--url")
    printed = cli(*one, first, stdin=body(1), **{**key, **before})
    if printer == "flush":
        printed = cli("spool", "flush", "--url", server.url, **key)
    elif printer == "next report":
        printed = cli(*one, server.url, stdin=body(2), **key)

    done = pasted(cli, printed, only="spool flush", **key)
    assert {one.code for one in done} == {0}
    assert cli("spool", "list", "--json").out == "[]\n"


def test_the_named_commands_send_refused_and_superseded_reports(
    in_ci: Command,
) -> None:
    taken, away = Canned(204), Canned(503)
    with answering(Canned(404, NOT_FOUND), taken, away, taken) as server:
        to = {"HWCI_URL": server.url}
        refused = in_ci("report-run", "--body", "-", stdin=body(1), **to)
        assert [one.code for one in pasted(in_ci, refused, **to)] == [0]
        in_ci("report-run", "--body", "-", stdin=body(2), **to)
        kept = in_ci("report-run", "--body", "-", stdin=body(2), **to, HWCI_CI_KEY=WRONG_KEY)
        assert [one.code for one in pasted(in_ci, kept, **to)] == [0]
    assert in_ci("spool", "list", "--json").out == "[]\n"


def test_the_named_commands_install_a_box_and_keep_it_online(
    cli: Command, signed_in: Command
) -> None:
    made = signed_in("boxes", "create", "bench-7")
    [installed] = pasted(cli, made, "--token-stdin", stdin=made.out)

    assert installed.code == 0
    assert [one.code for one in pasted(cli, installed, "--once")] == [0]


def test_an_invited_person_joins_by_either_named_command(
    cli: Command, signed_in: Command, server: RunningServer
) -> None:
    made = signed_in("members", "invite", "new@example.org")
    register, accept = NEXT.findall(made.err)
    person = ("--email", "new@example.org", "--password-stdin")
    words = f"{server.password}\n{made.out}"

    assert cli(*shlex.split(register)[1:], *person, stdin=words).code == 0
    again = signed_in("members", "invite", "next@example.org")
    cli("register", "--url", server.url, "--email", "next@example.org", *person[2:], stdin=words)
    assert cli(*shlex.split(accept)[1:], stdin=again.out).code == 0


def test_a_reader_key_works_with_the_named_commands(cli: Command, signed_in: Command) -> None:
    made = signed_in("keys", "create", "--reader", "Wall display")
    [export] = re.findall(r"^  export (.*) HWCI_READER_KEY=", made.err, re.MULTILINE)
    url = dict(one.split("=", 1) for one in shlex.split(export))

    done = pasted(cli, made, **url, HWCI_READER_KEY=made.out.strip())
    assert [one.code for one in done] == [0]


def test_a_taken_port_is_answered_with_a_free_one(
    cli: Command, server: RunningServer, tmp_path: Path
) -> None:
    port = int(server.url.rpartition(":")[2])
    done = cli("serve", "--port", str(port), "--database", str(tmp_path / "hwci.db"))

    assert done.code == 1
    assert f"--port {port + 1}" in done.err


# Every command in a message of the program.

VALUE = "\0"
"""Stands for a value that the program puts into a message."""
SAMPLES = ("7", "7d0e0f6e-2c6b-4f55-8a35-0a3f6e1f3c52")
NAMED = {"ROLE": "admin", "SYSTEM": "github"}
COMMAND = re.compile(r"(?P<before>^  |: |\()hwci (?P<rest>[^`\n;,)]+)", re.MULTILINE)
PART = re.compile(rf"--[a-z-]+|[A-Z]+|{VALUE}|enable|owner|pending|gitlab")
"""What belongs to a command within a sentence: flags, names of values, values, choices."""


class NamedCommand(NamedTuple):
    """A command in a message: the file, the text, the command's name, and its arguments."""

    file: str
    words: str
    name: str
    arguments: list[str]


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module but for help texts, with `VALUE` for inserted values."""
    formats = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    parts = {id(part) for one in formats for part in one.values}
    for one in formats:
        yield "".join(
            str(part.value) if isinstance(part, ast.Constant) else VALUE for part in one.values
        )
    plain = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = (str(one.value) for one in plain if id(one) not in parts)
    yield from (text for text in texts if "For example:" not in text)


def named_commands() -> Iterator[NamedCommand]:
    """Yield the commands in messages: on a line of their own, or after a colon or a bracket."""
    for path in sorted(Path(hwci.__file__).parent.rglob("*.py")):
        for message in messages(ast.parse(path.read_text())):
            for found in COMMAND.finditer(message):
                words = re.sub(rf"(?<=\S){VALUE}+", "", found["rest"]).split()
                length = max((n for n in (1, 2, 3) if " ".join(words[:n]) in COMMANDS), default=0)
                arguments = words[length:]
                if found["before"] != "  ":
                    arguments = list(takewhile(PART.fullmatch, arguments))
                yield NamedCommand(path.name, found[0], " ".join(words[:length]), arguments)


def is_accepted(one: NamedCommand) -> bool:
    """Return whether the command exists and takes its arguments."""
    if one.arguments == ["--help"]:
        return one.name in COMMANDS
    for sample in SAMPLES:
        arguments = [sample if word == VALUE else NAMED.get(word, word) for word in one.arguments]
        try:
            COMMANDS[one.name].make_context(one.name, arguments)
        except (KeyError, typer.TyperException):
            continue
        return True
    return False


def test_every_command_in_a_message_exists_and_takes_its_arguments() -> None:
    found = list(named_commands())

    assert len(found) > 50
    assert [one for one in found if not is_accepted(one)] == []


@pytest.mark.parametrize("label", ["resolved", "pending", "flake"])
def test_a_shown_failure_ends_with_the_next_commands(
    signed_in: Command, busy_server: RunningServer, label: str
) -> None:
    org = {"HWCI_ORG": str(busy_server.org_id)}
    listed = signed_in("failures", "list", "--label", label, "-o", "csv", **org).out
    failures = [line.partition(",")[0] for line in listed.splitlines()[1:]]

    for failure in failures:
        step = signed_in("failures", "show", failure, **org).err.splitlines()[-1]
        commands = [shlex.split(part) for part in step.partition(": ")[2].split("; ")]
        assert {command[0] for command in commands} == {"hwci"}
        assert [signed_in(*command[1:], **org).code for command in commands[:1]] == [0]
    assert failures


def test_a_run_with_failures_ends_with_the_command_that_lists_them(
    signed_in: Command, busy_server: RunningServer
) -> None:
    org = {"HWCI_ORG": str(busy_server.org_id)}
    listed = signed_in("runs", "list", "-o", "csv", **org).out.splitlines()[1:]
    shown = [signed_in("runs", "show", line.partition(",")[0], **org) for line in listed]
    steps = [one.err.splitlines()[-1] for one in shown if "Failures of this product" in one.err]

    assert len(steps) == sum(", 0 failed;" not in one.out for one in shown) > 0
    command = shlex.split(steps[0].partition(": ")[2])
    assert signed_in(*command[1:], **org).code == 0
