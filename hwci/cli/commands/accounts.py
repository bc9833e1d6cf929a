# SPDX-License-Identifier: Apache-2.0
"""Who one is: `hwci login`, `logout`, `whoami`, and `hwci orgs`."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.connection import RETRIES, profile_of, signed_in
from hwci.cli.session.prompts import asked, secret_line
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal import options, tables
from hwci.cli.terminal.render import emit, emit_json, note, say
from hwci.client.explained import explained, wrong_usage

if TYPE_CHECKING:
    from hwci.cli.session.credentials import Profile
    from hwci.client import Client
    from hwci.wire.accounts import SignedIn

orgs = typer.Typer(no_args_is_help=True, help="Organizations: list, create, show.")


def login(
    url: options.Url = None,
    email: Annotated[str | None, typer.Option(help="E-mail of the account.")] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin.")
    ] = False,
    sso: Annotated[
        str | None,
        typer.Option(metavar="PROVIDER", help="Sign in through a provider, in a browser."),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Show the provider's address, open no browser.")
    ] = False,
    profile: options.Profile = None,
) -> None:
    """Sign in and keep the sign-in for the commands that follow.

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
    credentials = settings.credentials  # asked first: no sign-in that could not be kept
    with explained("The sign-in failed"), Client(settings.url, retries=RETRIES) as client:
        began, answer = (
            _sign_in_by_password(client, email, settings.profile(), password_stdin=password_stdin)
            if sso is None
            else sign_in_through(client, settings.url, sso, open_browser=not no_browser)
        )
    credentials.store(
        settings.profile_name,
        profile_of(settings.url, answer.user.email, answer, began, answer.device_token),
    )
    note(f"Signed in at {settings.url} as {answer.user.email}.")


def _sign_in_by_password(
    client: "Client", email: str | None, kept: "Profile | None", *, password_stdin: bool
) -> "tuple[datetime, SignedIn]":
    """Return when it was asked for, and the sign-in. `kept`: the one before, at this server."""
    from hwci.client import calls

    address = email or asked("e-mail", "--email")
    password = secret_line("password", "--password-stdin", from_stdin=password_stdin)
    device_token = kept.device_token if kept is not None and kept.email == address else None
    began = options.now()
    return began, client.send(calls.login(address, password, device_token=device_token))


def logout(profile: options.Profile = None) -> None:
    """End the kept sign-in, here and on the server.

    For example:

      hwci logout
    """
    from hwci.client import Client, calls
    from hwci.client.errors import HwciError

    settings = resolve(Flags(profile=profile))
    kept = settings.credentials.profiles().get(settings.profile_name)
    if kept is None:
        note("You were not signed in.")
        return
    settings.credentials.forget(settings.profile_name)
    if kept.refresh_token is None:
        note(f"Forgotten here; the tokens of {kept.url} end by themselves.")
        return
    try:
        with Client(kept.url, retries=RETRIES) as client:
            client.send(calls.logout(kept.refresh_token))
    except HwciError as fault:
        note(f"Forgotten here; {kept.url} did not hear of it ({fault}).")
        return
    note(f"Signed out at {kept.url}.")


def whoami(
    json: options.Json = False, url: options.Url = None, profile: options.Profile = None
) -> None:
    """Show who is signed in, where, and in which organizations.

    For example:

      hwci whoami --json
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile)) as connection:
        me = connection.client.send(calls.me())
    if json:
        emit_json(me)
        return
    name, email = me.user.name, me.user.email
    say(f"{f'{name} <{email}>' if name else email} at {connection.settings.url}")
    for org in me.organizations:
        state = "on" if org.ci_metrics_enabled else "off"
        say(f"  {org.role} of {org.name} ({org.id}), CI Metrics {state}")
    if me.invitations:
        note(f"Invitations that wait for you: {me.invitations}. See them: hwci invitations list")


@orgs.command("list")
def list_orgs(
    json: options.JsonList = False,
    output: options.Output = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """List your organizations.

    For example:

      hwci orgs list --output csv
    """
    from hwci.client import calls

    form = options.form_of(json, output)
    with signed_in(Flags(url, profile)) as connection:
        rows = list(connection.client.items(calls.list_orgs()))
    emit(tables.organizations(), rows, form)


@orgs.command("create")
def create_org(
    name: Annotated[str, typer.Argument(help="Name of the organization.")],
    json: options.Json = False,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Create an organization; you are its owner. Its id is printed.

    For example:

      hwci orgs create "Acme Firmware"
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile)) as connection:
        made = connection.client.send(calls.create_org(name))
    if json:
        emit_json(made)
        return
    say(str(made.id))
    note(f"{made.name} is created. The operator turns CI Metrics on for it:")
    note(f"  hwci admin ci-metrics enable {made.id} --database FILE")


@orgs.command("show")
def show_org(
    json: options.Json = False,
    org: options.Org = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Show one organization.

    For example:

      hwci orgs show --org "Acme Firmware"
    """
    from hwci.client import calls

    with signed_in(Flags(url, profile, org)) as connection:
        found = connection.client.send(calls.get_org(connection.org_id()))
    if json:
        emit_json(found)
        return
    say(f"{found.name} ({found.id})")
    say(f"  your role: {found.role}")
    say(f"  CI Metrics: {'on' if found.ci_metrics_enabled else 'off'}")
    say(f"  created: {tables.moment(found.created_at)} UTC")
