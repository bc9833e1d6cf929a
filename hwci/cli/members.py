# SPDX-License-Identifier: Apache-2.0
"""Members of an organization: `hwci members list|add|role|remove|invite` (contract,
"Organizations"). Who may do what is the server's to decide.
"""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci.cli import ids, options, tables
from hwci.cli.connection import Connection, signed_in
from hwci.cli.failing import advised
from hwci.cli.render import emit, emit_json, note, say
from hwci.cli.settings import Flags
from hwci.engine.vocabulary import Role
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.wire.members import MemberAnswer

members = typer.Typer(no_args_is_help=True, help="Members: list, add, change role, remove, invite.")

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


@members.command("add")
def add_member(
    email: Email,
    role: AsRole = Role.MEMBER,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Make someone who has an account a member, at once. Owners and admins only.

    For example:

      hwci members add ada@example.org --role admin
    """
    from hwci.client import calls

    advice = "Check --org; who has no account is invited: hwci members invite EMAIL"
    with (
        signed_in(Flags(url, profile, org)) as connection,
        advised(HTTPStatus.NOT_FOUND, advice),
    ):
        made = connection.client.send(calls.add_member(connection.org_id(), email, role))
    note(f"{made.user.email} is {made.role} now.")
    if json:
        emit_json(made)


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


@members.command("invite")
def invite(
    email: Email,
    role: AsRole = Role.MEMBER,
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Invite someone who has no account; print the token, this once, on stdout.

    Owners and admins only. The token registers this e-mail, once, within 7 days.

    For example:

      hwci members invite ada@example.org > invite-token.txt
    """
    from hwci.client import calls

    advice = "Who has an account is made a member at once: hwci members add EMAIL"
    with (
        signed_in(Flags(url, profile, org)) as connection,
        advised(HTTPStatus.CONFLICT, advice),
    ):
        made = connection.client.send(calls.invite(connection.org_id(), email, role))
        server = connection.settings.url
    until = tables.moment(made.expires_at)
    note(f"{made.email} may register until {until} UTC, once, with the token that is shown here:")
    note(f"  hwci register --url {server} --email {made.email} --invite-token-stdin")
    note(f"or in a browser, at {server}/setup# with the token behind it")
    if json:
        emit_json(made)
    else:
        say(made.invite_token)


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
