# SPDX-License-Identifier: Apache-2.0
"""`hwci admin create-user`: a user of the service, the first one too."""

from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli import bodies, options
from hwci.cli.admin.asking import ask, is_default, operator_errors
from hwci.cli.asking import new_password
from hwci.cli.failing import wrong_usage
from hwci.cli.render import emit_json, note, say
from hwci.cli.serve import Database

if TYPE_CHECKING:
    from hwci.server.services.operator_commands import CreateUser

NOT_CREATED = "The user was not created"


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
    create: Annotated[
        bool, typer.Option("--create", help="Make the database when it is not there.")
    ] = False,
    json: options.Json = False,
    database: Database = None,
) -> None:
    """Create a user, and an organization of their own. Its id is printed.

    A database that is named must be there, unless --create: a mistyped name makes none.

    For example:

      hwci admin create-user --email ada@example.org --organization Acme

      hwci admin create-user --email bo@example.org --password-stdin < word.txt

      hwci admin create-user --email cy@example.org --database new.db --create
    """
    command = _command(email, _password(password_stdin, password_file), name, organization)
    with operator_errors(NOT_CREATED, "Give another --email"):
        made = ask(database, command, may_create=create or is_default(database))
    if json:
        emit_json(made)
        return
    note(f"{email} may sign in.")
    if made.org_id is not None:
        note(f"Next: hwci admin ci-metrics enable {made.org_id}")
        say(str(made.org_id))


def _command(email: str, password: str, name: str | None, organization: str | None) -> "CreateUser":
    from pydantic import ValidationError

    from hwci.server.app import CreateUser
    from hwci.wire.errors import issues_of

    try:
        return CreateUser(email=email, password=password, name=name, organization=organization)
    except ValidationError as fault:
        raise wrong_usage(
            NOT_CREATED,
            "; ".join(f"{issue.path[1]}: {issue.message}" for issue in issues_of(fault, "flags")),
            "Correct what is named above, then try again",
        ) from fault


def _password(from_stdin: bool, path: str | None) -> str:
    """Read the password of a new user: from stdin, a file, or twice from a terminal.

    Raises:
        CommandError: there is nothing to read it from.
    """
    if path is not None:
        # What is no UTF-8 becomes what no password may hold, and is refused as such.
        return bodies.read_bytes(path).decode("utf-8", "surrogateescape").rstrip("\r\n")
    return new_password("--password-stdin or --password-file", from_stdin=from_stdin)
