# SPDX-License-Identifier: Apache-2.0
"""`hwci register`: an account of one's own, by invitation where the operator wants one (contract,
"Auth").
"""

from typing import Annotated

import typer

from hwci.cli.session.connection import RETRIES, profile_of
from hwci.cli.session.prompts import asked, invite_token, new_password
from hwci.cli.session.settings import Flags, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.render import note
from hwci.client.explained import explained


def register(
    *,
    url: options.Url = None,
    email: Annotated[str | None, typer.Option(help="E-mail of the account.")] = None,
    name: Annotated[str | None, typer.Option(help="How others see you.")] = None,
    organization: Annotated[
        str | None, typer.Option(metavar="NAME", help="Found an organization of this name, too.")
    ] = None,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the password from stdin.")
    ] = False,
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
    credentials = settings.credentials  # asked first: no sign-in that could not be kept
    address = email or asked("e-mail", "--email")
    password = new_password("--password-stdin", from_stdin=password_stdin)
    invitation = invite_token(from_stdin=invite_token_stdin)
    began = options.now()
    with explained("The registration failed"), Client(settings.url, retries=RETRIES) as client:
        answer = client.send(calls.register(address, password, name, organization, invitation))
    credentials.store(
        settings.profile_name,
        profile_of(settings.url, answer.user.email, answer, began, answer.device_token),
    )
    note(f"Registered at {settings.url} as {answer.user.email}; you are signed in.")
    if answer.organization is not None:
        found = answer.organization
        note(f"You are {found.role} of {found.name} ({found.id}).")
