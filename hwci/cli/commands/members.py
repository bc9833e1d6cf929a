# SPDX-License-Identifier: Apache-2.0
"""Members of an organization and invitations to it (contract, "Organizations"): `hwci members` for
those who invite, `hwci invitations` for the invited. The server decides who may do what.
"""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci import client
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected
from hwci.cli.session.listing import listing
from hwci.cli.session.prompts import invite_token
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit_json, note, write
from hwci.client.explained import advised, command_error, wrong_usage
from hwci.contract.vocabulary import Role
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.wire.accounts import MemberAnswer, ReceivedInvite, SentInvite

members = typer.Typer(no_args_is_help=True)
invitations = typer.Typer(no_args_is_help=True)

Member = Annotated[str, typer.Argument(metavar="MEMBER", help="The member, by e-mail or id.")]
Invitation = Annotated[
    str | None,
    typer.Argument(
        metavar="INVITATION", help="The invitation, by its organization or id; else the only one."
    ),
]


def _members_layout(view: tables.View) -> "tables.Layout[MemberAnswer]":
    column = tables.Column
    return tables.Layout(
        "members",
        "Members",
        [
            tables.id_column(lambda row: row.user.id),
            column("E-mail", lambda row: row.user.email),
            column("Name", lambda row: row.user.name),
            column("Role", lambda row: row.role),
            tables.time_column("Joined", lambda row: row.joined_at, view.now, spare=True),
        ],
        "user.id user.email user.name role joinedAt",
        "No members",
    )


@members.command("list")
@listing(_members_layout, "members list")
def list_members(server: Connection) -> "Iterable[MemberAnswer]":
    """List the members of an organization, newest first.

    For example:

      hwci members list
    """
    return server.items(client.calls.list_members(server.org_id()))


@members.command("role")
@connected()
def change_role(
    server: Connection,
    member: Member,
    role: Annotated[
        Role,
        typer.Argument(
            metavar="ROLE", help="`owner`, `admin` or `member`: what they may do from now on."
        ),
    ],
    json: options.Json = False,
) -> None:
    """Change what a member may do, at once. Only an owner makes or unmakes owners.

    For example:

      hwci members role ada@example.org owner
    """
    org_id = server.org_id()
    made = server.send(client.calls.change_member(org_id, _user_id(server, org_id, member), role))
    note(f"{made.user.email} is {made.role} now.")
    if json:
        emit_json(made)


@members.command("remove")
@connected()
def remove_member(server: Connection, member: Member) -> None:
    """Remove a member, at once; the account stays. Owners and admins only.

    For example:

      hwci members remove ada@example.org
    """
    org_id = server.org_id()
    server.send(client.calls.remove_member(org_id, _user_id(server, org_id, member)))
    note(f"{member} is no longer a member.")


@members.command("leave")
@connected()
def leave(server: Connection) -> None:
    """Leave an organization, at once. Its last owner cannot: make another member owner first.

    For example:

      hwci members leave --org "Acme Firmware"
    """
    advice = "Make another member owner first: hwci members role EMAIL owner"
    with advised(HTTPStatus.CONFLICT, advice):
        left = server.send(client.calls.get_org(server.org_id()))
        me = server.send(client.calls.me()).user
        server.send(client.calls.remove_member(left.id, me.id))
    note(f"{me.email} is no longer a member of {left.name} ({left.id}).")


@members.command("invite")
@connected()
def invite(
    server: Connection,
    email: Annotated[str, typer.Argument(metavar="EMAIL", help="E-mail of the person.")],
    role: Annotated[Role, typer.Option("--role", help="What they may do.")] = Role.MEMBER,
    json: options.Json = False,
) -> None:
    """Invite someone, with an account or without; print the token on stdout, only once.

    Owners and admins only. They are a member once they accept, with the token, within 7 days. A new
    invitation takes the place of the earlier one.

    For example:

      hwci members invite ada@example.org > invite-token.txt
    """
    advice = "To change the role of a member: hwci members role EMAIL ROLE"
    with advised(HTTPStatus.CONFLICT, advice):
        made = server.send(client.calls.invite(server.org_id(), email, role))
    url, until = server.settings.url, tables.moment(made.expires_at)
    note(f"{made.email} may accept until {until} UTC, once, with the token that is shown here:")
    note(f"  in a browser, at {url}/setup# with the token behind it")
    note(f"  without an account: hwci register --url {url} --invite-token-stdin")
    note(f"  with an account: hwci invitations accept --url {url} --invite-token-stdin")
    emit_json(made) if json else write(made.invite_token)


def _invited_layout(_: tables.View) -> "tables.Layout[SentInvite]":
    column = tables.Column
    return tables.Layout(
        "invitations",
        "Open invitations",
        [
            tables.id_column(lambda row: row.id),
            column("E-mail", lambda row: row.email),
            column("Role", lambda row: row.role),
            column("By", lambda row: row.invited_by.email),
            column("Until (UTC)", lambda row: tables.moment(row.expires_at)),
        ],
        "id email role invitedBy.email createdAt expiresAt",
        "No open invitations",
    )


@members.command("invited")
@listing(_invited_layout, "members invited")
def list_invited(server: Connection) -> "Iterable[SentInvite]":
    """List the open invitations to an organization, newest first. Owners and admins only.

    For example:

      hwci members invited
    """
    return server.items(client.calls.list_sent_invites(server.org_id()))


@members.command("withdraw")
@connected()
def withdraw(
    server: Connection,
    invited: Annotated[
        str, typer.Argument(metavar="INVITED", help="The invitation, by its e-mail or id.")
    ],
) -> None:
    """Withdraw an open invitation, at once: its token is of no use any more.

    For example:

      hwci members withdraw ada@example.org
    """
    org_id = server.org_id()
    listed = server.items(client.calls.list_sent_invites(org_id, limit=limits.PAGE_LIMIT_MAX))
    named = ids.Named(
        "open invitation", "hwci members invited", "to the organization", "Check --org, or use"
    )
    invite_id = ids.find(invited, named, lambda: [(invite.id, invite.email) for invite in listed])
    server.send(client.calls.withdraw_invite(org_id, invite_id))
    note(f"The invitation of {invited} is withdrawn.")


def _user_id(server: Connection, org_id: UUID, wanted: str) -> UUID:
    named = ids.Named("member", "hwci members list", "of the organization", "Check --org, or use")
    listed = server.items(client.calls.list_members(org_id, limit=limits.PAGE_LIMIT_MAX))
    return ids.find(
        wanted, named, lambda: [(member.user.id, member.user.email) for member in listed]
    )


def _received_layout(_: tables.View) -> "tables.Layout[ReceivedInvite]":
    column = tables.Column
    return tables.Layout(
        "invitations",
        "Invitations that wait for you",
        [
            tables.id_column(lambda row: row.id),
            column("Organization", lambda row: row.organization.name),
            column("Role", lambda row: row.role),
            column("By", lambda row: row.invited_by.email),
            column("Until (UTC)", lambda row: tables.moment(row.expires_at)),
            column("Token", lambda row: "needed" if row.needs_token else "not needed"),
        ],
        "id organization.id organization.name role invitedBy.email createdAt expiresAt needsToken",
        "No invitation waits for you",
    )


@invitations.command("list")
@listing(_received_layout, "invitations list", org=False)
def list_invitations(server: Connection) -> "Iterable[ReceivedInvite]":
    """List the invitations that wait for your e-mail, newest first.

    For example:

      hwci invitations list
    """
    return server.items(client.calls.list_invites())


@invitations.command("accept")
@connected(org=False)
def accept(
    server: Connection,
    invitation: Invitation = None,
    invite_token_stdin: options.InviteTokenStdin = False,
    json: options.Json = False,
) -> None:
    """Accept an invitation: you are a member of its organization then, at once.

    Its token shows that it was sent to you: HWCI_INVITE_TOKEN (or in the file that
    HWCI_INVITE_TOKEN_FILE names), or read from stdin; it is never an argument. Who signs in
    through a provider needs none.

    For example:

      hwci invitations accept --invite-token-stdin < invite-token.txt
    """
    token = invite_token(from_stdin=invite_token_stdin)
    advice = "Ask who invited you for the token, or for a new invitation: hwci members invite EMAIL"
    with advised(HTTPStatus.FORBIDDEN, advice):
        joined = server.send(client.calls.accept_invite(_invite_id(server, invitation), token))
    note(f"You are {joined.role} of {joined.name} ({joined.id}) now.")
    if json:
        emit_json(joined)


@invitations.command("decline")
@connected(org=False)
def decline(server: Connection, invitation: Invitation = None) -> None:
    """Decline an invitation: its token is of no use any more.

    For example:

      hwci invitations decline "Acme Firmware"
    """
    server.send(client.calls.decline_invite(_invite_id(server, invitation)))
    note("The invitation is declined.")


def _invite_id(server: Connection, wanted: str | None) -> UUID:
    invites = list(server.items(client.calls.list_invites(limit=limits.PAGE_LIMIT_MAX)))
    if wanted is not None:
        among = "that waits for you"
        named = ids.Named("invitation", "hwci invitations list", among, "Use")
        return ids.find(
            wanted, named, lambda: [(invite.id, invite.organization.name) for invite in invites]
        )
    if len(invites) == 1:
        return invites[0].id
    if invites:
        raise wrong_usage(
            "It is not clear which invitation is meant",
            ", ".join(f"{invite.organization.name} ({invite.id})" for invite in invites),
            "Name one of them, by its organization or id",
        )
    raise command_error(
        "No invitation waits for you",
        "it was accepted, declined or withdrawn, has expired, or is for another e-mail than yours",
        "Check who you are (hwci whoami), or ask for a new invitation",
    )
