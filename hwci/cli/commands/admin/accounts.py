# SPDX-License-Identifier: Apache-2.0
"""`hwci admin` for users, for CI Metrics of organizations, and for the key of access tokens."""

import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from hwci.cli.commands.admin.database import ask, database_of, operator_errors
from hwci.cli.commands.serve import Database
from hwci.cli.session.connection import uuid_in
from hwci.cli.session.prompts import new_password, password_in
from hwci.cli.session.settings import DEFAULT_URL
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit_json, note, write
from hwci.client.explained import command_error, wrong_usage
from hwci.said import counted

if TYPE_CHECKING:
    from pydantic import BaseModel


Model = TypeVar("Model", bound="BaseModel")

NOT_CREATED = "The user was not created"
CHECK_EMAIL = "Check --email, and the --database"

Email = Annotated[str, typer.Option(help="E-mail that the user signs in with.")]


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

    The database must exist, unless --create is set: a typing error must not create an empty one.

    For example:

      hwci admin create-user --email ada@example.org --organization Acme

      hwci admin create-user --email bo@example.org --password-stdin < word.txt

      hwci admin create-user --email cy@example.org --database new.db --create
    """
    ways = "--password-stdin or --password-file"
    password = (
        password_in(password_file)
        if password_file is not None
        else new_password(ways, from_stdin=password_stdin)
    )
    fields = {"email": email, "password": password, "name": name, "organization": organization}
    with operator_errors(NOT_CREATED, "Use another --email"):
        from hwci.server.app import CreateUser

        command = checked(CreateUser, NOT_CREATED, **fields)
        made = ask(database, command, may_create=create)
    if json:
        emit_json(made)
        return
    note(f"{email} may sign in.")
    if made.org_id is not None:
        note(f"Next: hwci admin ci-metrics enable {made.org_id}")
        note("The id of their organization:")
        write(str(made.org_id))


def reset_password(*, email: Email, database: Database = None) -> None:
    """Print a link that lets a user set a new password once, within 24 hours.

    Give it to that user only. Until it is used, the present password and sessions stay. A new link
    replaces an earlier one.

    For example:

      hwci admin reset-password --email ada@example.org
    """
    with operator_errors("No link was made", CHECK_EMAIL):
        from hwci.server.app import ResetPassword

        made = ask(database, checked(ResetPassword, "No link was made", email=email))
    note(f"With this link {email} can set a new password, once, within 24 hours:")
    write(f"{made.base_url or DEFAULT_URL}/reset#{made.reset_token}")
    if made.base_url is None:
        note(f"Its address {DEFAULT_URL} is a guess: replace it with the address of the server.")
        note("Set HWCI_BASE_URL for the server, and the next link has it.")


def disable_user(*, email: Email, database: Database = None) -> None:
    """Stop a user from signing in; their sessions end at once, streams within seconds.

    Their memberships stay, and so do the CI keys and boxes that they made.

    For example:

      hwci admin disable-user --email bo@example.org
    """
    ended = _switch(email, database, enabled=False)
    note(f"{email} is disabled; {ended} session{'' if ended == 1 else 's'} ended.")
    note("CI keys and boxes that they made go on working: `hwci keys revoke` ends a key.")


def enable_user(*, email: Email, database: Database = None) -> None:
    """Allow a disabled user to sign in again.

    For example:

      hwci admin enable-user --email bo@example.org
    """
    _switch(email, database, enabled=True)
    note(f"{email} may sign in.")


def erase_user(
    *,
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", help="Erase; else only show what goes.")] = False,
    database: Database = None,
) -> None:
    """Erase a user: the account, and their name wherever it stands.

    The account goes, with its sign-ins, memberships and invitations. Reviews, notes of boxes
    and rules for known failures stay, in the name of "someone who was removed"; so does the audit
    log, which has ids alone. Keys and boxes that they made go on working. Backups and exports that
    were made before have it all.

    For example:

      hwci admin erase-user --email bo@example.org

      hwci admin erase-user --email bo@example.org --yes
    """
    what = "The user was not erased"
    with operator_errors(what, CHECK_EMAIL):
        from hwci.server.app import EraseUser, FindUser

        if not yes:
            if ask(database, checked(FindUser, what, email=email)).user_id is None:
                raise command_error(what, f"There is no user with the e-mail {email}", CHECK_EMAIL)
            note(f"This would erase {email}, and nothing can bring them back: the account, its")
            note("sign-ins, memberships and invitations. Reviews and notes stay, without the name.")
            note("The only owner of an organization is refused: first make another one an owner.")
            note(f"To do it: hwci admin erase-user --email {shlex.quote(email)} --yes")
            return
        done = ask(database, checked(EraseUser, what, email=email))
    stayed = f"{counted(done.reviews or 0, 'review')} and {counted(done.notes or 0, 'note')}"
    note(f"{email} is erased; {stayed} stay, without the name.")
    note("CI keys and boxes that they made go on working: `hwci keys revoke` ends a key.")


def vouch(*, email: Email, database: Database = None) -> None:
    """Say that the e-mail of a user is theirs, before their first single sign-on.

    Whoever is invited may register an e-mail that is not theirs. When a provider verifies whose it
    is, that person gets a new account, and the former one loses its password, its memberships and
    the keys that it made. An account that you vouch for, or created, stays as it is.

    For example:

      hwci admin vouch --email ada@example.org
    """
    with operator_errors("The user was not changed", CHECK_EMAIL):
        from hwci.server.app import Vouch

        ask(database, checked(Vouch, "The user was not changed", email=email))
    note(f"{email} keeps the account at a first single sign-on.")


def add_owner(
    organization: Annotated[
        str, typer.Argument(metavar="ORG", help="Name or id of the organization.")
    ],
    *,
    email: Email,
    database: Database = None,
) -> None:
    """Make a user an owner of an organization, such as one that has none any more.

    For example:

      hwci admin add-owner "Acme Firmware" --email ada@example.org
    """
    what = "No owner was added"
    with operator_errors(what, "Check the name or id, --email, and the --database"):
        from hwci.server.app import AddOwner

        ask(database, checked(AddOwner, what, **named(organization), email=email))
    note(f"{email} is an owner of organization {organization}.")


def _switch(email: str, database: str | None, *, enabled: bool) -> int:
    """Return how many sessions ended."""
    what = f"The user was not {'enabled' if enabled else 'disabled'}"
    with operator_errors(what, CHECK_EMAIL):
        from hwci.server.app import SetUserEnabled

        done = ask(database, checked(SetUserEnabled, what, email=email, enabled=enabled))
    return done.sessions_ended or 0


def checked(model: "type[Model]", what: str, **fields: object) -> "Model":
    """Return the command that the flags describe. Raises `ExplainedError`: wrong usage."""
    from pydantic import ValidationError

    from hwci.wire.errors import issues_of

    try:
        return model(**fields)
    except ValidationError as fault:
        raise wrong_usage(
            what,
            "; ".join(f"{issue.path[1]}: {issue.message}" for issue in issues_of(fault, "flags")),
            "Correct what is named above, then try again",
        ) from fault


NOT_SWITCHED = "CI Metrics was not switched"
CHECK_ID = "Check the name or id, and the --database"


class Switch(StrEnum):
    """The two positions of the switch of CI Metrics."""

    ENABLE = "enable"
    DISABLE = "disable"


def named(organization: str) -> "dict[str, object]":
    """Return the field of a command for the name or id of an organization."""
    org_id = uuid_in(organization)
    return {"organization": organization} if org_id is None else {"org_id": org_id}


def ci_metrics(
    switch: Annotated[Switch, typer.Argument(metavar="SWITCH", help="`enable` or `disable`.")],
    organization: Annotated[
        str, typer.Argument(metavar="ORG", help="Name or id of the organization.")
    ],
    database: Database = None,
) -> None:
    """Turn CI Metrics on or off for an organization, also while the server runs.

    For example:

      hwci admin ci-metrics enable "Acme Firmware"

      hwci admin ci-metrics enable 7d0e0f6e-2c6b-4f55-8a35-0a3f6e1f3c52
    """
    with operator_errors(NOT_SWITCHED, CHECK_ID):
        from hwci.server.app import SetCiMetrics

        enabled = switch is Switch.ENABLE
        ask(database, checked(SetCiMetrics, NOT_SWITCHED, **named(organization), enabled=enabled))
    note(f"CI Metrics is {'on' if enabled else 'off'} for organization {organization}.")


def rotate_secret(
    drop_former: Annotated[
        bool, typer.Option("--now", help="Refuse tokens of the former key at once.")
    ] = False,
    database: Database = None,
) -> None:
    """Sign access tokens with a new key, also while the server runs.

    Servers on PostgreSQL read the file within seconds; copy it to machines that do not share it.

    Tokens of the former key are accepted until they expire, 15 minutes at most, unless --now is
    set. No user has to sign in again: a sign-in renews itself. Accounts know devices as long as
    before, a year after their last sign-in; with --now they are strangers until the next one.

    For example:

      hwci admin rotate-secret

      hwci admin rotate-secret --now
    """
    with operator_errors("The signing key was not changed", "Change the file as described above"):
        from hwci.server.app import RotateSecret
        from hwci.server.storage.location import Location

        ask(database, RotateSecret(drop_former=drop_former))
        shared = Location(database_of(database)).file is None
    if shared:
        note("The file has a new key, which servers read within seconds. Next: copy the file to")
        note("machines of servers that do not share it.")
    former = "ended" if drop_former else "are accepted until they end, 15 minutes at most"
    note(f"A new key signs access tokens; those of the former {former}.")
