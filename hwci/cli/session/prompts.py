# SPDX-License-Identifier: Apache-2.0
"""What a command asks for at a terminal; without one, the error names the flags to use."""

import os
import sys

import typer

from hwci.cli.session.settings import secret
from hwci.client.explained import wrong_usage
from hwci.wire import limits


def asked(what: str, ways: str, *, hidden: bool = False, usual: str | None = None) -> str:
    """Ask for something at the terminal; Enter takes the `usual` answer. Without a terminal, the
    error names `ways`: the flags to use.
    """
    if not sys.stdin.isatty():
        raise wrong_usage(f"The {what} is missing", "no terminal to ask at", f"Use {ways}")
    return str(typer.prompt(what.capitalize(), default=usual, hide_input=hidden, err=True))


def secret_line(what: str, ways: str, *, from_stdin: bool) -> str:
    """Read a secret from stdin if a flag asks for it, else at the terminal."""
    return sys.stdin.readline().rstrip("\r\n") if from_stdin else asked(what, ways, hidden=True)


def new_password(ways: str, *, from_stdin: bool) -> str:
    """Read a new password from stdin if a flag asks for it, else at the terminal twice."""
    what = f"password of at least {limits.PASSWORD_MIN} characters"
    password = secret_line(what, ways, from_stdin=from_stdin)
    if from_stdin:
        return password
    if len(password) < limits.PASSWORD_MIN:
        cause = f"it has {len(password)} characters"
        raise wrong_usage("The password is too short", cause, f"Choose a {what}")
    if asked("same password again", ways, hidden=True) != password:
        raise wrong_usage(
            "The two passwords differ", "you were asked for one password twice", "Try again"
        )
    return password


def password_in(path: str) -> str:
    """Read a password from a file."""
    from hwci.client.files import read_bytes

    # What is not UTF-8 becomes letters that no password may hold, so that it is refused as such.
    return read_bytes(path).decode("utf-8", "surrogateescape").rstrip("\r\n")


def invite_token(*, from_stdin: bool) -> str | None:
    """Return the token of an invitation: from stdin if a flag asks for it, else from the
    environment; None if there is none.
    """
    if from_stdin:
        return sys.stdin.readline().strip()
    return secret("HWCI_INVITE_TOKEN", os.environ)
