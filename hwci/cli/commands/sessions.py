# SPDX-License-Identifier: Apache-2.0
"""`hwci sessions list|end`: where one is signed in (contract, "Auth")."""

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.commands.password import OLDER_SERVER, ended_words
from hwci.cli.session import ids
from hwci.cli.session.connection import signed_in
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit, emit_json, note
from hwci.client.explained import advised, wrong_usage
from hwci.wire import limits

if TYPE_CHECKING:
    from hwci.wire.accounts import SessionAnswer

sessions = typer.Typer(no_args_is_help=True, help="Your sessions: list, end.")


@sessions.command("list")
def list_sessions(
    json: options.JsonList = False,
    output: options.Output = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List where you are signed in, newest first.

    For example:

      hwci sessions list
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    with (
        signed_in(Flags(url, profile)) as connection,
        advised(HTTPStatus.NOT_FOUND, OLDER_SERVER),
    ):
        rows = list(connection.client.items(calls.list_sessions(limit=limits.PAGE_LIMIT_MAX)))
    emit(_layout(), rows, form)


@sessions.command("end")
def end_sessions(
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="Its id, or 8 digits of it.", show_default=False),
    ] = None,
    others: Annotated[
        bool, typer.Option("--others", help="All sessions but the one of this command.")
    ] = False,
    json: options.Json = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """End one of your sessions, or all others, at once.

    For example:

      hwci sessions end 1f6d2c3a

      hwci sessions end --others
    """
    from hwci.client import calls
    from hwci.wire.accounts import SessionsEnded

    if others is (session is not None):
        raise wrong_usage(
            "It is not clear which session is meant",
            "neither SESSION nor --others is given, or both",
            "Give one of them: hwci sessions list shows the ids",
        )
    with signed_in(Flags(url, profile)) as connection:
        send = connection.client.send
        if session is None:
            with advised(HTTPStatus.NOT_FOUND, OLDER_SERVER):
                done = send(calls.end_other_sessions())
            note(ended_words(done.ended))
        else:
            named = ids.Named("session", "hwci sessions list", "of yours", "Give")
            listed = connection.client.items(calls.list_sessions(limit=limits.PAGE_LIMIT_MAX))
            session_id = ids.complete(session, named, lambda: (one.id for one in listed))
            with advised(HTTPStatus.NOT_FOUND, "Find its id with: hwci sessions list"):
                send(calls.end_session(session_id))
            done = SessionsEnded(ended=1)
            note(f"Session {session_id} has ended.")
    if json:
        emit_json(done)


def _layout() -> "tables.Layout[SessionAnswer]":
    column = tables.Column
    return tables.Layout(
        "sessions",
        "Sessions",
        [
            column("ID", lambda row: str(row.id), whole=True),
            column("From", lambda row: row.client or "unknown"),
            column("Began (UTC)", lambda row: tables.moment(row.created_at)),
            column("Last used (UTC)", lambda row: tables.moment(row.last_used_at)),
            column("", lambda row: "this one" if row.current else ""),
        ],
        ("id", "client", "createdAt", "lastUsedAt", "current"),
        "No sessions",
    )
