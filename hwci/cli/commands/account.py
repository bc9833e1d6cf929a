# SPDX-License-Identifier: Apache-2.0
"""One's own account: `hwci register`, `login`, `logout`, `whoami`, `password` and `sessions`
(contract, "Auth").
"""

from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated

import typer

from hwci import client as hwci_client
from hwci.cli.session import ids
from hwci.cli.session.connection import Connection, connected, named_values
from hwci.cli.session.listing import listing
from hwci.cli.session.prompts import (
    asked,
    email_of,
    invite_token,
    new_password,
    password_in,
    secret_line,
)
from hwci.cli.session.settings import RETRIES, Flags, Settings, resolve
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit_json, note, write
from hwci.client.explained import advised, explained, wrong_usage
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hwci.client import Client
    from hwci.client.session_file import Profile
    from hwci.wire.accounts import Me, OwnReaderKey, SessionAnswer, SignedIn

password = typer.Typer(no_args_is_help=True)
sessions = typer.Typer(no_args_is_help=True)

PASSWORD_WAYS = "--password-stdin, or --password-file with --new-password-file"

EmailOption = Annotated[str | None, typer.Option("--email", help="E-mail of the account.")]
PasswordStdin = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from stdin.")
]


def register(
    *,
    url: options.Url = None,
    email: EmailOption = None,
    name: Annotated[str | None, typer.Option(help="How others see you.")] = None,
    organization: Annotated[
        str | None, typer.Option(metavar="NAME", help="Found an organization of this name, too.")
    ] = None,
    password_stdin: PasswordStdin = False,
    invite_token_stdin: options.InviteTokenStdin = False,
    profile: options.Profile = None,
) -> None:
    """Create an account, and sign in with it.

    The invitation is HWCI_INVITE_TOKEN (or in the file that HWCI_INVITE_TOKEN_FILE names), or read
    from stdin; it is never an argument, and neither is the password. Where both come from stdin,
    the password is the first line.

    For example:

      hwci register --url https://hwci.example.org --email ada@example.org

      hwci register --email ada@example.org --invite-token-stdin < token.txt
    """
    from hwci.client import Client, calls

    settings = resolve(Flags(url, profile))
    settings.session.file  # noqa: B018 - fails where no sign-in can be kept
    with (
        explained("The registration failed"),
        Client(settings.url, retries=RETRIES) as client,
        named_values(),
    ):
        if not password_stdin:
            _require_server(client)
        address = email_of(email)
        word = new_password("--password-stdin", from_stdin=password_stdin)
        invitation = invite_token(from_stdin=invite_token_stdin)
        began = options.now()
        answer = client.send(calls.register(address, word, name, organization, invitation))
    _keep(settings, answer, began)
    note(f"Registered at {settings.url} as {answer.user.email}; you are signed in.")
    if answer.organization is not None:
        own = answer.organization
        note(f"You are {own.role} of {own.name} ({own.id}).")


def login(
    url: options.Url = None,
    email: EmailOption = None,
    password_stdin: PasswordStdin = False,
    sso: Annotated[
        str | None,
        typer.Option(metavar="PROVIDER", help="Sign in through a provider, in a browser."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Show the provider's address, open no browser.")
    ] = False,
    profile: options.Profile = None,
) -> None:
    """Sign in and keep the sign-in for the commands that follow, in a profile for each server.

    The password is asked for at a terminal, or read from stdin; it is never an argument. With
    --sso a browser of this machine signs in, and hands the sign-in over.

    For example:

      hwci login --url https://hwci.example.org --email ada@example.org

      hwci login --email ada@example.org --password-stdin < password.txt

      hwci login --sso acme
    """
    from hwci.cli.session.loopback import sign_in_through
    from hwci.client import Client

    if (sso is None and no_browser) or (sso is not None and (email or password_stdin)):
        raise wrong_usage(
            "Two ways to sign in are mixed",
            "--sso goes with --no-browser, --email with --password-stdin",
            "Choose one: hwci login --email EMAIL, or hwci login --sso PROVIDER",
        )
    settings = resolve(Flags(url, profile))
    settings.session.file  # noqa: B018 - fails where no sign-in can be kept
    with explained("The sign-in failed"), Client(settings.url, retries=RETRIES) as client:
        began, answer = (
            _sign_in_by_password(
                client, email, settings.session.kept(), password_stdin=password_stdin
            )
            if sso is None
            else sign_in_through(client, settings.url, sso, open_browser=not no_browser)
        )
    _keep(settings, answer, began)
    note(f"Signed in at {settings.url} as {answer.user.email}.")
    if answer.notice is not None:
        note(answer.notice)


def _require_server(client: "Client") -> None:
    """Raise `ConnectionFailedError` if no server answers, before a person types for nothing."""
    from hwci.client import calls
    from hwci.client.errors import AnswerShapeError, ApiError

    with suppress(AnswerShapeError, ApiError):  # a proxy may hand this address on to nobody
        client.send(calls.health())


def _sign_in_by_password(
    client: "Client", email: str | None, kept: "Profile | None", *, password_stdin: bool
) -> "tuple[datetime, SignedIn]":
    """Return when it was asked for, and the sign-in. `kept`: the one before, at this server."""
    from hwci.client import calls

    if not password_stdin:
        _require_server(client)
    address = email or asked("e-mail", "--email")
    word = secret_line("password", "--password-stdin", from_stdin=password_stdin)
    device_token = kept.device_token if kept is not None and kept.email == address else None
    began = options.now()
    return began, client.send(calls.login(address, word, device_token=device_token))


def _keep(settings: Settings, answer: "SignedIn", began: datetime) -> None:
    session = settings.session
    name = session.keep(answer, began.timestamp(), use=not settings.explicit)
    if session.file.read().profiles.keys() - {name}:
        note(f"The sign-in is profile {name}; your others are kept: hwci profiles list")


def logout(profile: options.Profile = None) -> None:
    """End the kept sign-in, here and on the server.

    For example:

      hwci logout
    """
    from hwci.client.errors import HwciError, SessionFileError

    settings = resolve(Flags(profile=profile))
    session = settings.session
    sign_in = session.file.read().get(session.name)
    if sign_in is None:
        note("Nobody was signed in.")
        return
    try:
        is_told = replace(settings, url=sign_in.url).session.end()
    except SessionFileError:
        raise
    except HwciError as fault:
        note(f"Signed out here, but not at {sign_in.url} ({fault}).")
    else:
        expire = f"Signed out here; the tokens of {sign_in.url} expire by themselves."
        note(f"Signed out at {sign_in.url}." if is_told else expire)


@connected(org=False, by_key=True)
def whoami(server: Connection, json: options.Json = False) -> None:
    """Show who is signed in, where, and in which organizations; and what HWCI_READER_KEY reads.

    For example:

      hwci whoami --json
    """
    from hwci.client.errors import SessionEndedError

    key = server.reader_key
    try:
        me = _me(server)
    except SessionEndedError:
        if key is None:
            raise
        if json:
            emit_json(key)
        else:
            _write_key(key, server.settings.url)
        return
    if json:
        emit_json(me)
        return
    if key is not None:
        _write_key(key, server.settings.url)
    name, email = me.user.name, me.user.email
    write(f"{f'{name} <{email}>' if name else email} at {server.settings.url}")
    for org in me.organizations:
        state = "on" if org.ci_metrics_enabled else "off"
        write(f"  {org.role} of {org.name} ({org.id}), CI Metrics {state}")
    if me.invitations:
        note(f"Invitations that wait for you: {me.invitations}. See them: hwci invitations list")


def _me(server: Connection) -> "Me":
    """Return the caller with all of their organizations."""
    me = server.send(hwci_client.calls.me())
    if me.total is None or me.total == len(me.organizations):
        return me
    listed = server.items(hwci_client.calls.list_orgs(limit=limits.PAGE_LIMIT_MAX))
    return me.model_copy(update={"organizations": [*listed]})


def _write_key(key: "OwnReaderKey", url: str) -> None:
    org = key.organization
    state = "on" if org.ci_metrics_enabled else "off"
    write(f"Reader key {key.name} of {org.name} ({org.id}) at {url}, CI Metrics {state}")
    for product in key.products:
        write(f"  reads {product.repo_key}:{product.suite}")


@password.command("change")
@connected(org=False)
def change_password(
    server: Connection,
    *,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the present and the new one from stdin.")
    ] = False,
    password_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", envvar="HWCI_PASSWORD_FILE", help="Read the present one from a file."
        ),
    ] = None,
    new_password_file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", envvar="HWCI_NEW_PASSWORD_FILE", help="Read the new one from a file."
        ),
    ] = None,
) -> None:
    """Change your password. Your other sessions end at once; this one stays.

    Both are asked for at a terminal, or read from stdin, a line each, or from files; they are never
    arguments.

    For example:

      hwci password change

      hwci password change --password-stdin < both.txt
    """
    if (password_file is None) is not (new_password_file is None):
        raise wrong_usage(
            "One of the two passwords is missing",
            "one comes from a file, the other from nowhere",
            "Set both --password-file and --new-password-file",
        )
    if password_file is not None and new_password_file is not None:
        present, new = password_in(password_file), password_in(new_password_file)
    else:
        present = secret_line("present password", PASSWORD_WAYS, from_stdin=password_stdin)
        new = new_password(PASSWORD_WAYS, from_stdin=password_stdin)
    done = server.send(hwci_client.calls.change_password(present, new))
    note(f"Your password is changed. {_ended_words(done.ended)}")


def _layout(view: tables.View) -> "tables.Layout[SessionAnswer]":
    column = tables.Column
    return tables.Layout(
        "sessions",
        "Sessions",
        [
            tables.id_column(lambda row: row.id),
            column("From", lambda row: row.client),
            tables.time_column("Began", lambda row: row.created_at, view.now, spare=True),
            tables.time_column("Last used", lambda row: row.last_used_at, view.now),
            column("", lambda row: "this one" if row.current else ""),
        ],
        "id client createdAt lastUsedAt current",
        "No sessions",
    )


@sessions.command("list")
@listing(_layout, "sessions list", org=False)
def list_sessions(server: Connection) -> "Iterable[SessionAnswer]":
    """List where you are signed in, newest first.

    For example:

      hwci sessions list
    """
    return _sessions(server)


def _sessions(server: Connection) -> "Iterable[SessionAnswer]":
    return server.items(hwci_client.calls.list_sessions(limit=limits.PAGE_LIMIT_MAX))


@sessions.command("end")
@connected(org=False)
def end_sessions(
    server: Connection,
    session: Annotated[
        str | None, typer.Argument(metavar="SESSION", help="Its id, or 8 digits of it.")
    ] = None,
    others: Annotated[
        bool, typer.Option("--others", help="All sessions but the one of this command.")
    ] = False,
    json: options.Json = False,
) -> None:
    """End one of your sessions, or all others, at once.

    For example:

      hwci sessions end 1f6d2c3a

      hwci sessions end --others
    """
    from hwci.wire.accounts import SessionsEnded

    if others is (session is not None):
        raise wrong_usage(
            "It is not clear which session is meant",
            "neither SESSION nor --others is given, or both",
            "Use one of them: hwci sessions list shows the ids",
        )
    if session is None:
        done = server.send(hwci_client.calls.end_other_sessions())
        note(_ended_words(done.ended))
    else:
        named = ids.Named("session", "hwci sessions list", "of yours", "Use")
        session_id = ids.complete(
            session, named, lambda: (listed.id for listed in _sessions(server))
        )
        with advised(HTTPStatus.NOT_FOUND, "Find its id with: hwci sessions list"):
            server.send(hwci_client.calls.end_session(session_id))
        done = SessionsEnded(ended=1)
        note(f"Session {session_id} has ended.")
    if json:
        emit_json(done)


def _ended_words(count: int) -> str:
    ended = {0: "There was no other session", 1: "1 other session ended"}
    return f"{ended.get(count, f'{count} other sessions ended')}; this one stays."
