# SPDX-License-Identifier: Apache-2.0
"""`hwci password change`: one's own password. How it is kept is the server's to decide."""

from http import HTTPStatus
from typing import Annotated

import typer

from hwci.cli.session.connection import signed_in
from hwci.cli.session.prompts import new_password, secret_line
from hwci.cli.session.settings import Flags
from hwci.cli.terminal import options
from hwci.cli.terminal.render import note
from hwci.client.explained import advised, wrong_usage

password = typer.Typer(no_args_is_help=True, help="Your password: change.")

OLDER_SERVER = "Ask the operator to update the server: it is of a version that cannot do this"
WAYS = "--password-stdin, or --password-file with --new-password-file"


@password.command("change")
def change(
    *,
    password_stdin: Annotated[
        bool,
        typer.Option("--password-stdin", help="Read the present and the new one from stdin."),
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
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Change your password. Your other sessions end at once; this one stays.

    Both are asked for at a terminal, or read from stdin, a line each, or from files; they are never
    arguments.

    For example:

      hwci password change

      hwci password change --password-stdin < both.txt
    """
    from hwci.client import calls

    with (
        signed_in(Flags(url, profile)) as connection,
        advised(HTTPStatus.NOT_FOUND, OLDER_SERVER),
    ):
        if password_file is not None or new_password_file is not None:
            present, new = _of_files(password_file, new_password_file)
        else:
            present = secret_line("present password", WAYS, from_stdin=password_stdin)
            new = new_password(WAYS, from_stdin=password_stdin)
        done = connection.client.send(calls.change_password(present, new))
    note(f"Your password is changed. {ended_words(done.ended)}")


def ended_words(count: int) -> str:
    """Return how many other sessions ended, in words."""
    ended = {0: "There was no other session", 1: "1 other session ended"}
    return f"{ended.get(count, f'{count} other sessions ended')}; this one stays."


def _of_files(*paths: str | None) -> tuple[str, str]:
    present, new = paths
    if present is None or new is None:
        raise wrong_usage(
            "One of the two passwords is missing",
            "one comes from a file, the other from nowhere",
            "Give both --password-file and --new-password-file",
        )
    # What is no UTF-8 becomes what no password may hold, and is refused as such.
    return _read(present), _read(new)


def _read(path: str) -> str:
    from hwci.ci.bounded import read_bytes

    return read_bytes(path).decode("utf-8", "surrogateescape").rstrip("\r\n")
