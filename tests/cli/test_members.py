# SPDX-License-Identifier: Apache-2.0
"""Members, invitations, registration and the audit log from the command line."""

import csv
import io
import json
import os
import re
from pathlib import Path

import pytest

from hwci.cli.session.settings import kept_sign_ins
from tests.cli.conftest import Command
from tests.support.running import (
    ADMIN_EMAIL,
    EMAIL,
    MEMBER_EMAIL,
    PASSWORD,
    RunningServer,
)


def register(cli: Command, server: RunningServer, email: str, *more: str, **env: str) -> int:
    """Register in a profile of its own."""
    arguments = ("register", "--url", server.url, "--email", email, "--password-stdin")
    return cli(*arguments, "--profile", email, *more, stdin=f"{PASSWORD}\n", **env).code


def test_members_are_listed_in_every_form(signed_in: Command) -> None:
    shown = signed_in("members", "list").out
    for word in (EMAIL, ADMIN_EMAIL, MEMBER_EMAIL, "owner", "admin"):
        assert word in shown
    rows = list(csv.DictReader(io.StringIO(signed_in("members", "list", "-o", "csv").out)))
    assert [row["user.email"] for row in rows][-1] == EMAIL
    assert {row["role"] for row in rows} == {"owner", "admin", "member"}
    assert len(json.loads(signed_in("members", "list", "--json").out)) == len(rows)


def test_a_person_who_has_an_account_is_invited_accepts_is_changed_and_removed(
    cli: Command, signed_in: Command, server: RunningServer
) -> None:
    assert register(cli, server, "ada@example.org", "--name", "Ada") == 0
    ada = ("--profile", "ada@example.org")
    theirs = ("orgs", "show", "--org", str(server.org_id), *ada)
    token = signed_in("members", "invite", "ADA@example.org", "--role", "admin").out
    assert cli(*theirs).code == 1
    assert "hwci invitations list" in cli("whoami", *ada).err

    listed = json.loads(cli("invitations", "list", "--json", *ada).out)
    assert [(one["organization"]["name"], one["role"]) for one in listed] == [
        ("Acme Firmware", "admin")
    ]
    shown = cli("invitations", "list", *ada).out
    for word in ("Acme Firmware", "admin", EMAIL, "needed"):
        assert word in shown
    accepted = cli("invitations", "accept", "--invite-token-stdin", "--json", *ada, stdin=token)
    assert json.loads(accepted.out)["role"] == "admin"
    assert accepted.err == f"You are admin of Acme Firmware ({server.org_id}) now.\n"
    assert cli(*theirs).out.splitlines()[1] == "  your role: admin"

    assert signed_in("members", "role", "ADA@example.org", "member").err == (
        "ada@example.org is member now.\n"
    )
    assert cli(*theirs).out.splitlines()[1] == "  your role: member"
    assert signed_in("members", "remove", "ada@example.org").code == 0
    assert cli(*theirs).code == 1


def test_an_invitation_needs_its_token_which_is_no_argument(
    cli: Command, signed_in: Command, server: RunningServer
) -> None:
    assert register(cli, server, "tokenless@example.org") == 0
    mine = ("--profile", "tokenless@example.org")
    token = signed_in("members", "invite", "tokenless@example.org").out.strip()

    for env in ({}, {"HWCI_INVITE_TOKEN": "guess"}):
        code, out, err = cli("invitations", "accept", *mine, **env)
        assert (code, out) == (4, "")
        assert [line.partition(":")[0] for line in err.splitlines()] == ["error", "cause", "fix"]
        assert "Ask who invited you" in err
        assert "guess" not in err
    assert cli("invitations", "accept", "acme firmware", *mine, HWCI_INVITE_TOKEN=token).code == 0
    code, _, err = cli("invitations", "accept", *mine, HWCI_INVITE_TOKEN=token)
    assert (code, err.splitlines()[0]) == (1, "error: No invitation waits for you")


def test_an_invitation_is_declined_and_which_one_must_be_clear(
    cli: Command, signed_in: Command, server: RunningServer
) -> None:
    assert register(cli, server, "asked@example.org") == 0
    mine = ("--profile", "asked@example.org")
    assert register(cli, server, "other@example.org", "--organization", "Other Firmware") == 0
    signed_in("members", "invite", "asked@example.org")
    cli("members", "invite", "asked@example.org", "--profile", "other@example.org")

    code, _, err = cli("invitations", "decline", *mine)
    assert code == 2
    assert "Other Firmware" in err
    assert cli("invitations", "decline", "Nobody's", *mine).code == 1
    assert cli("invitations", "decline", "Other Firmware", *mine).code == 0
    assert cli("invitations", "decline", *mine).code == 0
    assert cli("invitations", "list", *mine).err == "No invitation waits for you\n"


def test_open_invitations_are_listed_and_withdrawn(signed_in: Command) -> None:
    signed_in("members", "invite", "pending@example.org", "--role", "admin")

    rows = json.loads(signed_in("members", "invited", "--json").out)
    (row,) = [one for one in rows if one["email"] == "pending@example.org"]
    assert (row["role"], row["invitedBy"]["email"]) == ("admin", EMAIL)
    assert "pending@example.org" in signed_in("members", "invited").out
    gone = signed_in("members", "withdraw", "PENDING@example.org")
    assert gone.err == "The invitation of PENDING@example.org is withdrawn.\n"
    again = signed_in("members", "withdraw", "PENDING@example.org")
    assert again.code == 1
    assert "names no open invitation to the organization" in again.err


def test_one_leaves_by_oneself_and_the_last_owner_learns_why_not(
    cli: Command, signed_in: Command, server: RunningServer
) -> None:
    token = signed_in("members", "invite", "leaver@example.org").out.strip()
    assert register(cli, server, "leaver@example.org", HWCI_INVITE_TOKEN=token) == 0

    left = cli("members", "leave", "--profile", "leaver@example.org")
    assert left.code == 0
    assert (
        left.err
        == f"leaver@example.org is no longer a member of Acme Firmware ({server.org_id}).\n"
    )
    code, _, err = signed_in("members", "leave")
    assert code == 1
    assert "cause: 409 Conflict: An organization keeps at least one owner" in err
    assert err.splitlines()[-1].endswith("hwci members role EMAIL owner")


def test_a_person_who_is_no_member_cannot_be_changed(signed_in: Command) -> None:
    for command in (("role", "nobody@example.org", "admin"), ("remove", "nobody@example.org")):
        code, out, err = signed_in("members", *command)
        assert (code, out) == (1, "")
        assert err.splitlines()[0] == (
            "error: nobody@example.org names no member of the organization"
        )
        assert "hwci members list" in err.splitlines()[2]


def test_what_the_server_refuses_is_three_lines(signed_in: Command) -> None:
    code, _, err = signed_in("members", "role", EMAIL, "member")
    assert code == 1
    assert "cause: 409 Conflict: An organization keeps at least one owner" in err

    assert signed_in("members", "role", EMAIL, "boss").code == 2


def test_a_person_who_is_a_member_already_is_led_to_the_other_way(signed_in: Command) -> None:
    known = signed_in("members", "invite", MEMBER_EMAIL)

    assert known.code == 1
    assert "409 Conflict: A member with this email already exists" in known.err
    assert "hwci members role EMAIL ROLE" in known.err.splitlines()[-1]


@pytest.mark.parametrize(("email", "password"), [("ada@example.org", "short"), ("ada", PASSWORD)])
def test_a_registration_that_breaks_the_rules_is_wrong_usage(
    cli: Command, server: RunningServer, email: str, password: str
) -> None:
    refused = cli(
        "register", "--url", server.url, "--email", email, "--password-stdin", stdin=password
    )

    assert refused.code == 2
    assert [line.partition(":")[0] for line in refused.err.splitlines()] == [
        "error",
        "cause",
        "fix",
    ]


def test_a_person_who_is_invited_registers_and_is_a_member(
    cli: Command, signed_in: Command, server: RunningServer
) -> None:
    code, token, err = signed_in("members", "invite", "new@example.org", "--role", "admin")
    assert code == 0
    assert re.fullmatch(r"[\w-]{43}\n", token)
    assert token.strip() not in err
    assert f"hwci register --url {server.url} --invite-token-stdin" in err
    assert f"hwci invitations accept --url {server.url} --invite-token-stdin" in err

    arguments = ("register", "--url", server.url, "--email", "new@example.org")
    answer = cli(
        *arguments, "--password-stdin", "--invite-token-stdin", stdin=f"{PASSWORD}\n{token}"
    )
    assert (answer.code, answer.out) == (0, "")
    assert f"You are admin of Acme Firmware ({server.org_id})." in answer.err
    assert token.strip() not in answer.err
    assert cli("orgs", "show").out.splitlines()[1] == "  your role: admin"
    assert "new@example.org" in kept_sign_ins(os.environ).read().profiles["default"].email


def test_the_invitation_may_be_in_the_environment_or_in_a_file(
    cli: Command, signed_in: Command, server: RunningServer, tmp_path: Path
) -> None:
    tokens = [
        signed_in("members", "invite", f"{name}@example.org").out.strip()
        for name in ("environment", "file")
    ]
    file = tmp_path / "token.txt"
    file.write_text(f"{tokens[1]}\n")

    for email, variable, value in (
        ("environment@example.org", "HWCI_INVITE_TOKEN", tokens[0]),
        ("file@example.org", "HWCI_INVITE_TOKEN_FILE", str(file)),
    ):
        assert register(cli, server, email, **{variable: value}) == 0
        assert cli("orgs", "show", "--profile", email).out.startswith("Acme Firmware")


def test_an_invitation_that_does_not_work_is_three_lines_and_exit_code_4(
    cli: Command, server: RunningServer
) -> None:
    arguments = ("register", "--url", server.url, "--email", "x@example.org", "--password-stdin")
    code, out, err = cli(*arguments, stdin=f"{PASSWORD}\n", HWCI_INVITE_TOKEN="guess")

    assert (code, out) == (4, "")
    error, cause, fix = err.splitlines()
    assert error == "error: The registration failed"
    assert cause.startswith("cause: 403 Forbidden: The invitation is unknown")
    assert fix.startswith("fix: ")
    assert "guess" not in err


def test_a_person_who_registers_may_found_an_organization(
    cli: Command, server: RunningServer
) -> None:
    assert register(cli, server, "founder@example.org", "--organization", "Mine") == 0

    shown = cli("orgs", "show", "--profile", "founder@example.org").out
    assert shown.startswith("Mine (")
    assert "your role: owner" in shown


@pytest.mark.parametrize("flags", [(), ("--email", "x@example.org")])
def test_without_a_terminal_nothing_is_asked(
    cli: Command, server: RunningServer, flags: tuple[str, ...]
) -> None:
    code, _, err = cli("register", "--url", server.url, *flags)

    assert code == 2
    assert "no terminal to ask at" in err


def test_the_audit_log_says_who_did_what(signed_in: Command) -> None:
    made = json.loads(signed_in("keys", "create", "audited", "--json").out)
    signed_in("keys", "revoke", made["id"])

    code, out, _ = signed_in("orgs", "audit-log", "--limit", "2", "--json")
    entries = json.loads(out)
    assert code == 0
    assert [one["action"] for one in entries] == ["ci_key.revoked", "ci_key.created"]
    assert {one["target"] for one in entries} == {made["id"]}
    shown = signed_in("orgs", "audit-log").out
    assert "ci_key.revoked" in shown
    assert "name audited" in shown
    csv_out = signed_in("orgs", "audit-log", "--limit", "1", "-o", "csv").out
    (row,) = csv.DictReader(io.StringIO(csv_out))
    assert json.loads(row["details"]) == {"name": "audited"}


def test_members_may_not_read_the_audit_log(cli: Command, server: RunningServer) -> None:
    code, _, err = cli("orgs", "audit-log", HWCI_URL=server.url, HWCI_TOKEN=server.member_token)

    assert code == 4
    assert "This needs the role owner or admin; you are member" in err
