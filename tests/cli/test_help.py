# SPDX-License-Identifier: Apache-2.0
"""What `--help` says of each command and flag, and what is said of wrong usage."""

import re
import shlex
from typing import Any

import pytest

from hwci.version import build_version
from tests.cli.conftest import Command
from tests.cli.every_command import COMMANDS, ROOT, imported

GROUPS = (
    "boxes", "failures", "invitations", "keys", "members", "orgs", "password", "profiles", "runs",
    "sessions", "spool",
)  # fmt: skip
"""Groups whose help lists their commands."""
CONTRACT = {
    "init",
    "mcp",
    "serve",
    "demo",
    "admin ci-metrics",
    "admin create-user",
    "admin reset-password",
    "admin disable-user",
    "admin enable-user",
    "admin erase-user",
    "admin vouch",
    "admin add-owner",
    "admin backup",
    "admin restore",
    "admin copy",
    "admin check",
    "admin migrate",
    "admin quick-start",
    "admin rebuild",
    "admin export",
    "admin import",
    "admin purge",
    "admin usage",
    "admin rotate-secret",
    "admin audit verify",
    "register",
    "login",
    "logout",
    "whoami",
    "profiles list",
    "profiles use",
    "password change",
    "sessions list",
    "sessions end",
    "orgs list",
    "orgs create",
    "orgs show",
    "orgs keep",
    "orgs delete",
    "orgs undelete",
    "orgs audit-log",
    "members list",
    "members role",
    "members remove",
    "members leave",
    "members invite",
    "members invited",
    "members withdraw",
    "invitations list",
    "invitations accept",
    "invitations decline",
    "keys create",
    "keys list",
    "keys revoke",
    "trusts create",
    "trusts list",
    "trusts remove",
    "quarantine",
    "known add",
    "known list",
    "known remove",
    "webhooks create",
    "webhooks list",
    "webhooks deliveries",
    "webhooks resend",
    "webhooks remove",
    "boxes list",
    "boxes health",
    "boxes show",
    "boxes fit",
    "boxes create",
    "boxes install-token",
    "boxes rename",
    "boxes remove",
    "boxes note",
    "boxes notes",
    "boxes remove-note",
    "box install",
    "box heartbeat",
    "digest",
    "merge-announce",
    "report",
    "report-run",
    "comment",
    "env",
    "doctor",
    "exec",
    "spool list",
    "spool flush",
    "spool show",
    "spool remove",
    "products",
    "suite-config apply",
    "suite-config check",
    "suite-config plan",
    "suite-config list",
    "suite-config show",
    "metrics",
    "trends",
    "failures list",
    "failures show",
    "failures gaps",
    "failures confirm",
    "failures dismiss",
    "failures reset",
    "tests list",
    "tests show",
    "runs list",
    "runs show",
    "runs watch",
    "commits show",
    "gate",
    "merges list",
    "merges unchecked",
    "merges plan",
    "bisect start",
    "bisect next",
    "bisect status",
    "incidents list",
    "incidents confirm",
    "incidents dismiss",
    "incidents reset",
}


def test_the_commands_are_those_of_the_contract() -> None:
    assert set(COMMANDS) == CONTRACT


@pytest.mark.parametrize("group", [ROOT, ROOT.commands["admin"]], ids=["root", "admin"])
def test_a_list_of_commands_has_the_first_sentence_of_each(group: Any) -> None:
    for listed in group.commands.values():
        assert listed.help == imported(listed).get_short_help_str(limit=10_000)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_explains_itself_and_each_of_its_flags(cli: Command, name: str) -> None:
    command = COMMANDS[name]
    code, out, _ = cli(*name.split(), "-h")

    assert code == 0
    assert "For example:" in out
    assert f"hwci {name}" in out
    assert [item.name for item in command.params if not getattr(item, "help", None)] == []


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_has_words_for_values_and_their_ranges(cli: Command, name: str) -> None:
    usage, _, rest = cli(*name.split(), "-h", COLUMNS="200").out.partition("\n")
    flags = rest[rest.index("\nOptions:") :] + "".join(rest.partition("\nArguments:")[1:])

    assert not re.search(r"[{}]|\.{4}|\[\[|[a-z]", usage.removeprefix(f"Usage: hwci {name}"))
    assert not re.search(r"<[a-zU]|x[<>]=", flags)


def examples(out: str) -> list[str]:
    """Return the commands that a help text shows, as they are pasted."""
    below = re.split(r"^(?=\w)", out.split("For example:\n")[1], flags=re.MULTILINE)[0]
    return [part.strip() for part in below.split("\n\n") if part.strip()]


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_example_can_be_pasted_from_a_narrow_terminal(cli: Command, name: str) -> None:
    command = ["hwci", *name.split()]
    shown = examples(cli(*name.split(), "-h", COLUMNS="80").out)

    assert shown
    for example in shown:
        one_line = example.replace("\\\n", "")
        typed = re.sub(r'^eval "\$\((.*)\)"$', r"\1", re.sub(r" [<>] \S+$", "", one_line))
        words = shlex.split(typed)
        assert "\n" not in one_line
        assert words[: len(command)] == command
        COMMANDS[name].make_context(name, words[len(command) :])


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_no_flag_takes_a_secret(name: str) -> None:
    flags = {flag for item in COMMANDS[name].params for flag in item.opts}

    assert flags & {"--token", "--ci-key", "--password", "--api-key"} == set()


@pytest.mark.parametrize("name", sorted(name for name in COMMANDS if name.endswith(" list")))
def test_a_list_is_one_page_where_one_is_asked_for_and_else_an_array(name: str) -> None:
    options = {item.name: item for item in COMMANDS[name].params}

    assert ("page" in options) == (options["json"].help == "Write JSON as the API gives it.")


def test_the_version_is_shown(cli: Command) -> None:
    assert cli("--version").out == f"hwci {build_version()}\n"


@pytest.mark.parametrize("arguments", [("metric",), ("--nonsense",), ("tests", "show")])
def test_an_unknown_word_is_wrong_usage(cli: Command, arguments: tuple[str, ...]) -> None:
    code, out, err = cli(*arguments)

    assert (code, out) == (2, "")
    assert [line.partition(": ")[0] for line in err.splitlines()] == ["error", "cause", "fix"]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("runs", "shwo"), "show"),
        (("rnus", "list"), "runs"),
        (("admin", "backp"), "backup"),
        (("runs", "list", "--bx", "x"), "--box"),
    ],
)
def test_a_word_that_is_not_known_is_answered_with_the_one_that_is_meant(
    cli: Command, arguments: tuple[str, ...], meant: str
) -> None:
    code, out, err = cli(*arguments)

    assert (code, out) == (2, "")
    assert f"cause: did you mean {meant}" in err


def test_no_flag_is_meant_where_only_the_dashes_are_alike(cli: Command) -> None:
    err = cli("trends", "--box", "x").err

    assert "has no flag --box\ncause: known: --as-of, --days, " in err
    assert "did you mean" not in err


def test_an_argument_is_not_listed_among_the_flags(cli: Command) -> None:
    assert "cause: known: --help, --json, --markdown, -h\n" in cli("report", "--md", "x").err


@pytest.mark.parametrize("columns", ["40", "80"])
@pytest.mark.parametrize("group", [(), ("admin",), ("boxes",)])
def test_a_list_of_commands_cuts_no_sentence(
    cli: Command, group: tuple[str, ...], columns: str
) -> None:
    out = cli(*group, "--help", COLUMNS=columns).out
    words = " ".join(out[out.index("\nCommands:") :].split())

    assert "..." not in words
    for listed in (imported(ROOT.commands[group[0]]) if group else ROOT).commands.values():
        assert listed.get_short_help_str(limit=10_000) in words


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_of_a_group_names_only_commands_that_it_has(group: str) -> None:
    named = imported(ROOT.commands[group])
    _, _, listed = named.help.rstrip(".").partition(": ")

    assert set(listed.split(", ")) <= set(named.commands)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("metrics", "--days", "x"), "--days: it should be a whole number"),
        (("report-run", "--deadline", "x"), "--deadline (or HWCI_DEADLINE): it should be a"),
        (("metrics", "--days", "0"), "--days: it should be at least 1"),
        (("metrics", "--days", "3651"), "--days: it should be at most 3650"),
        (("runs", "list", "--status", "x"), "--status: 'x' is not one of 'running', 'lost',"),
        (("runs", "list", "--status", "faild"), "--status: there is no 'faild'; did you mean fai"),
        (
            ("runs", "list", "--status", "never reached"),
            "--status: there is no 'never reached'; did you mean never-reached?",
        ),
        (("metrics", "--table", "bugs"), "--table: there is no 'bugs'; did you mean real-bugs?"),
    ],
)
def test_a_value_that_does_not_fit_its_flag_is_answered_in_words(
    cli: Command, arguments: tuple[str, ...], fault: str
) -> None:
    answer = cli(*arguments)

    assert (answer.code, answer.out) == (2, "")
    flag, _, cause = fault.partition(": ")
    assert answer.err.startswith(f"error: {flag} is not understood\ncause: {cause}")
