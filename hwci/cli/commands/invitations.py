# SPDX-License-Identifier: Apache-2.0
"""Invitations that wait for oneself: `hwci invitations list|accept|decline` (contract,
"Organizations"). Inviting others is `hwci members invite`.
"""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, signed_in
from hwci.cli.session.prompts import invite_token
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit, emit_json, note
from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError, advised
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.wire.members import ReceivedInvite

invitations = typer.Typer(
    no_args_is_help=True, help="Invitations that wait for you: list, accept, decline."
)

Wanted = Annotated[
    str | None,
    typer.Argument(
        metavar="[INVITATION]",
        help="The invitation, by its organization or id; else the only one.",
        show_default=False,
    ),
]


@invitations.command("list")
def list_invitations(
    json: options.JsonList = False,
    output: options.Output = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List the invitations that wait for your e-mail, newest first.

    For example:

      hwci invitations list
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    with signed_in(Flags(url, profile)) as connection:
        rows = list(connection.client.items(calls.list_invites()))
    emit(_layout(), rows, form)


@invitations.command("accept")
def accept(
    invitation: Wanted = None,
    invite_token_stdin: options.InviteTokenStdin = False,
    json: options.Json = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Accept an invitation: you are a member of its organization then, at once.

    Its token shows that it was sent to you: HWCI_INVITE_TOKEN (or in the file that
    HWCI_INVITE_TOKEN_FILE names), or read from stdin; it is never an argument. Who signs in
    through a provider needs none.

    For example:

      hwci invitations accept --invite-token-stdin < invite-token.txt
    """
    from hwci.client import calls

    token = invite_token(from_stdin=invite_token_stdin)
    advice = "Ask who invited you for the token, or for a new invitation: hwci members invite EMAIL"
    with (
        signed_in(Flags(url, profile)) as connection,
        advised(HTTPStatus.FORBIDDEN, advice),
    ):
        invite_id = _invite_id(connection, invitation)
        joined = connection.client.send(calls.accept_invite(invite_id, token))
    note(f"You are {joined.role} of {joined.name} ({joined.id}) now.")
    if json:
        emit_json(joined)


@invitations.command("decline")
def decline(
    invitation: Wanted = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Decline an invitation: its token is of no use any more.

    For example:

      hwci invitations decline "Acme Firmware"
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile)) as connection:
        invite_id = _invite_id(connection, invitation)
        connection.client.send(calls.decline_invite(invite_id))
    note("The invitation is declined.")


def _invite_id(connection: Connection, wanted: str | None) -> UUID:
    """Return the id of the invitation that is meant, of those that wait.

    Raises:
        ExplainedError: none waits, or it is not clear which is meant.
    """
    from hwci.client import calls

    found = list(connection.client.items(calls.list_invites(limit=limits.PAGE_LIMIT_MAX)))
    if wanted is None and len(found) == 1:
        return found[0].id
    if wanted is None:
        raise ExplainedError(_none() if not found else _several(found))
    among = "that waits for you"
    named = ids.Named("invitation", "hwci invitations list", among, "Give")
    return ids.find(wanted, named, lambda: [(one.id, one.organization.name) for one in found])


def _none() -> ErrorMessage:
    return ErrorMessage(
        "No invitation waits for you",
        "it was accepted, declined or withdrawn, has expired, or is for another e-mail than yours",
        "Check who you are (hwci whoami), or ask for a new invitation",
    )


def _several(found: "list[ReceivedInvite]") -> ErrorMessage:
    return ErrorMessage(
        "It is not clear which invitation is meant",
        ", ".join(f"{one.organization.name} ({one.id})" for one in found),
        "Name one of them, by its organization or id",
        ExitCode.USAGE,
    )


def _layout() -> "tables.Layout[ReceivedInvite]":
    column = tables.Column
    return tables.Layout(
        "invitations",
        "Invitations that wait for you",
        [
            column("ID", lambda row: str(row.id), whole=True),
            column("Organization", lambda row: row.organization.name),
            column("Role", lambda row: row.role),
            column("By", lambda row: row.invited_by.email),
            column("Until (UTC)", lambda row: tables.moment(row.expires_at)),
            column("Token", lambda row: "needed" if row.needs_token else "not needed"),
        ],
        (
            *("id", "organization.id", "organization.name", "role", "invitedBy.email"),
            *("createdAt", "expiresAt", "needsToken"),
        ),
        "No invitation waits for you",
    )
