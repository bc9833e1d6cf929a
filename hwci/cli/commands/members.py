# SPDX-License-Identifier: Apache-2.0
"""Members of an organization, and who is invited: `hwci members` (contract, "Organizations"). Who
may do what is the server's to decide; what the invited do stands in `invitations.py`.
"""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit, emit_json, note, say
from hwci.client.explained import advised
from hwci.engine.vocabulary import Role
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.wire.members import MemberAnswer, SentInvite

members = typer.Typer(
    no_args_is_help=True, help="Members: list, invite, change role, remove, leave."
)

AsRole = Annotated[Role, typer.Option("--role", help="What they may do.")]
Email = Annotated[str, typer.Argument(metavar="EMAIL", help="E-mail of the person.")]
Wanted = Annotated[str, typer.Argument(metavar="MEMBER", help="The member, by e-mail or id.")]


@members.command("list")
def list_members(
    json: options.JsonList = False,
    output: options.Output = None,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List the members of an organization, newest first.

    For example:

      hwci members list
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    with signed_in(Flags(url, profile, org)) as connection:
        rows = list(connection.client.items(calls.list_members(connection.org_id())))
    emit(_layout(), rows, form)


@members.command("role")
def change_role(
    member: Wanted,
    role: Annotated[Role, typer.Argument(help="What they may do from now on.")],
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Change what a member may do, at once. Only an owner makes or unmakes owners.

    For example:

      hwci members role ada@example.org owner
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile, org)) as connection:
        org_id = connection.org_id()
        user_id = _user_id(connection, org_id, member)
        made = connection.client.send(calls.change_member(org_id, user_id, role))
    note(f"{made.user.email} is {made.role} now.")
    if json:
        emit_json(made)


@members.command("remove")
def remove_member(
    member: Wanted,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Remove a member, at once; the account stays. Owners and admins only.

    For example:

      hwci members remove ada@example.org
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile, org)) as connection:
        org_id = connection.org_id()
        connection.client.send(calls.remove_member(org_id, _user_id(connection, org_id, member)))
    note(f"{member} is no member any more.")


@members.command("leave")
def leave(
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Leave an organization, at once. Its last owner cannot: make another member owner first.

    For example:

      hwci members leave --org "Acme Firmware"
    """
    from hwci.client import calls

    advice = "Make another member owner first: hwci members role EMAIL owner"
    with (
        signed_in(Flags(url, profile, org)) as connection,
        advised(HTTPStatus.CONFLICT, advice),
    ):
        left = connection.client.send(calls.get_org(connection.org_id()))
        me = connection.client.send(calls.me()).user
        connection.client.send(calls.remove_member(left.id, me.id))
    note(f"{me.email} is no member of {left.name} ({left.id}) any more.")


@members.command("invite")
def invite(
    email: Email,
    role: AsRole = Role.MEMBER,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Invite someone, with an account or without; print the token, this once, on stdout.

    Owners and admins only. They are a member once they accept, with the token, within 7 days. A new
    invitation takes the place of the earlier one.

    For example:

      hwci members invite ada@example.org > invite-token.txt
    """
    from hwci.client import calls

    advice = "Who is a member already gets another role by: hwci members role EMAIL ROLE"
    with (
        signed_in(Flags(url, profile, org)) as connection,
        advised(HTTPStatus.CONFLICT, advice),
    ):
        made = connection.client.send(calls.invite(connection.org_id(), email, role))
        server = connection.settings.url
    until = tables.moment(made.expires_at)
    note(f"{made.email} may accept until {until} UTC, once, with the token that is shown here:")
    note(f"  in a browser, at {server}/setup# with the token behind it")
    note(f"  without an account: hwci register --url {server} --invite-token-stdin")
    note(f"  with an account: hwci invitations accept --url {server} --invite-token-stdin")
    if json:
        emit_json(made)
    else:
        say(made.invite_token)


@members.command("invited")
def list_invited(
    json: options.JsonList = False,
    output: options.Output = None,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List the open invitations to an organization, newest first. Owners and admins only.

    For example:

      hwci members invited
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    with signed_in(Flags(url, profile, org)) as connection:
        rows = list(connection.client.items(calls.list_sent_invites(connection.org_id())))
    emit(_layout_of_invited(), rows, form)


@members.command("withdraw")
def withdraw(
    invited: Annotated[
        str, typer.Argument(metavar="INVITED", help="The invitation, by its e-mail or id.")
    ],
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Withdraw an open invitation, at once: its token is of no use any more.

    For example:

      hwci members withdraw ada@example.org
    """
    from hwci.client import calls

    named = ids.Named(
        "open invitation", "hwci members invited", "to the organization", "Check --org, or give"
    )
    with signed_in(Flags(url, profile, org)) as connection:
        org_id = connection.org_id()
        listed = connection.client.items(
            calls.list_sent_invites(org_id, limit=limits.PAGE_LIMIT_MAX)
        )
        invite_id = ids.find(invited, named, lambda: [(one.id, one.email) for one in listed])
        connection.client.send(calls.withdraw_invite(org_id, invite_id))
    note(f"The invitation of {invited} is withdrawn.")


def _user_id(connection: Connection, org_id: UUID, wanted: str) -> UUID:
    from hwci.client import calls

    named = ids.Named("member", "hwci members list", "of the organization", "Check --org, or give")
    listed = connection.client.items(calls.list_members(org_id, limit=limits.PAGE_LIMIT_MAX))
    return ids.find(wanted, named, lambda: [(one.user.id, one.user.email) for one in listed])


def _layout() -> "tables.Layout[MemberAnswer]":
    column = tables.Column
    return tables.Layout(
        "members",
        "Members",
        [
            column("ID", lambda row: str(row.user.id), whole=True),
            column("E-mail", lambda row: row.user.email, whole=True),
            column("Name", lambda row: row.user.name),
            column("Role", lambda row: row.role),
            column("Joined (UTC)", lambda row: tables.moment(row.joined_at)),
        ],
        ("user.id", "user.email", "user.name", "role", "joinedAt"),
        "No members",
    )


def _layout_of_invited() -> "tables.Layout[SentInvite]":
    column = tables.Column
    return tables.Layout(
        "invitations",
        "Open invitations",
        [
            column("ID", lambda row: str(row.id), whole=True),
            column("E-mail", lambda row: row.email, whole=True),
            column("Role", lambda row: row.role),
            column("By", lambda row: row.invited_by.email),
            column("Until (UTC)", lambda row: tables.moment(row.expires_at)),
        ],
        ("id", "email", "role", "invitedBy.email", "createdAt", "expiresAt"),
        "No open invitations",
    )
