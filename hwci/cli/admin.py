# SPDX-License-Identifier: Apache-2.0
"""`hwci admin`: what the operator of a server does, at its database. While a server runs, the
command speaks to it over the socket beside the file: two processes never write one file.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci.cli import bodies, options
from hwci.cli.failing import CommandError, Failing, wrong_usage
from hwci.cli.render import emit_json, note, say
from hwci.cli.serve import Database, server_errors

if TYPE_CHECKING:
    from hwci.server.services.operator import Command, CommandResult
    from hwci.wire.errors import Issue

NOT_CREATED = "The user was not created"
EMAIL_SHAPE = "should look like name@example.org"

admin = typer.Typer(no_args_is_help=True, help="Operator: CI Metrics, users.")


class Switch(StrEnum):
    """What can be done to CI Metrics of an organization."""

    ENABLE = "enable"
    DISABLE = "disable"


@admin.command("ci-metrics")
def ci_metrics(
    switch: Annotated[Switch, typer.Argument(help="enable or disable.")],
    org_id: Annotated[UUID, typer.Argument(metavar="ORG_ID", help="Id of the organization.")],
    database: Database = None,
) -> None:
    """Turn CI Metrics on or off for an organization, also while the server runs.

    For example:

      hwci admin ci-metrics enable 7d0e0f6e-2c6b-4f55-8a35-0a3f6e1f3c52
    """
    with _operator_errors("CI Metrics was not switched", "Check the id, and the --database"):
        from hwci.server.app import SetCiMetrics

        enabled = switch is Switch.ENABLE
        _operate(database, SetCiMetrics(org_id=org_id, enabled=enabled))
    note(f"CI Metrics is {'on' if enabled else 'off'} for organization {org_id}.")


@admin.command("create-user")
def create_user(
    *,
    email: Annotated[str, typer.Option(help="E-mail to sign in with.")],
    name: Annotated[str | None, typer.Option(help="Name that others see.")] = None,
    organization: Annotated[
        str | None, typer.Option(help="Name of a new organization that the user owns.")
    ] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin.")
    ] = False,
    password_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Read the password from a file.")
    ] = None,
    json: options.Json = False,
    database: Database = None,
) -> None:
    """Create a user, and an organization of their own. Its id is printed.

    For example:

      hwci admin create-user --email ada@example.org --organization Acme

      hwci admin create-user --email bo@example.org --password-stdin < word.txt
    """
    password = _password(password_stdin, password_file)
    made = _create(database, email, password, name, organization)
    if json:
        emit_json(made)
        return
    note(f"{email} may sign in.")
    if made.org_id is not None:
        note(f"Next: hwci admin ci-metrics enable {made.org_id}")
        say(str(made.org_id))


def _create(database: str | None, email: str, password: str, *names: str | None) -> "CommandResult":
    from pydantic import ValidationError

    from hwci.server.app import CreateUser
    from hwci.wire.errors import issues_of

    name, organization = names
    try:
        command = CreateUser(email=email, password=password, name=name, organization=organization)
    except ValidationError as fault:
        raise wrong_usage(
            NOT_CREATED,
            "; ".join(_told(issue) for issue in issues_of(fault, "flags")),
            "Correct what is named above, then try again",
        ) from fault
    with _operator_errors(NOT_CREATED, "Give another --email"):
        return _operate(database, command)


def _told(issue: "Issue") -> str:
    """Say what is wrong; of an e-mail, what it should be like rather than by which pattern."""
    field = issue.path[1]
    shapeless = field == "email" and "pattern" in issue.message
    return f"{field}: {EMAIL_SHAPE if shapeless else issue.message}"


@contextmanager
def _operator_errors(what: str, fix: str) -> Iterator[None]:
    """Let what the server refuses be three lines; a database that cannot be used stays one."""
    with server_errors():
        from hwci.server.errors import RefusedError

        try:
            yield
        except RefusedError as fault:
            raise CommandError(Failing(what, str(fault), fix)) from fault


def _operate(database: str | None, command: "Command") -> "CommandResult":
    import os

    from hwci.server.app import operate
    from hwci.server.settings import read_settings

    return operate(database or read_settings(os.environ).database, command)


def _password(from_stdin: bool, path: str | None) -> str:
    """Read the password of a new user: from stdin, a file, or twice from a terminal.

    Raises:
        CommandError: there is nothing to read it from.
    """
    if path is not None:
        # What is no UTF-8 becomes what no password may hold, and is refused as such.
        return bodies.read_bytes(path).decode("utf-8", "surrogateescape").rstrip("\r\n")
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise wrong_usage(
            "The password is missing",
            "no terminal to ask at",
            "Give it with --password-stdin or --password-file",
        )
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
