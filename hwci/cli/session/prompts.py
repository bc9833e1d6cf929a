# SPDX-License-Identifier: Apache-2.0
"""What a command asks for at a terminal; without one, the error names the flags to use."""

import os
import re
import sys
from collections.abc import Callable
from typing import TypeVar

import typer

from hwci.cli.session.settings import secret
from hwci.cli.terminal.render import note
from hwci.client.explained import ExplainedError, wrong_usage
from hwci.said import counted
from hwci.wire import limits

T = TypeVar("T")

TRIES = 3
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
"""The server takes any host; one without a dot is a typing error, or what git made up."""


def looks_like_email(text: str) -> bool:
    """Return whether a text is an e-mail as people have them."""
    return _EMAIL.fullmatch(text) is not None


def email_of(given: str | None, *, usual: str | None = None) -> str:
    """Return the e-mail that a flag gave, else one that is asked for at the terminal, again if it
    is none; Enter takes the `usual` one.
    """
    usual = usual if usual and looks_like_email(usual) else None

    def read() -> str:
        text = (given or asked("e-mail", "--email", usual=usual)).strip()
        if looks_like_email(text):
            return text
        cause = f"{text!r} should look like name@example.org"
        raise wrong_usage("This is no e-mail", cause, "Correct --email" if given else "Try again")

    return read() if given else until_right(read)


def until_right(read: Callable[[], T]) -> T:
    """Return what a person typed; `read` raises for what is wrong, and gets it again."""
    for _ in range(TRIES - 1):
        try:
            return read()
        except ExplainedError as fault:
            if not sys.stdin.isatty():
                raise
            note(f"{fault.message.what}: {fault.message.cause}.")
    return read()


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
    if from_stdin:
        return secret_line(what, ways, from_stdin=True)

    def read() -> str:
        password = asked(what, ways, hidden=True)
        if len(password) < limits.PASSWORD_MIN:
            cause = f"it has {counted(len(password), 'character')}"
            raise wrong_usage("The password is too short", cause, f"Choose a {what}")
        if asked("same password again", ways, hidden=True) != password:
            cause = "you were asked for one password twice"
            raise wrong_usage("The two passwords differ", cause, "Try again")
        return password

    return until_right(read)


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
