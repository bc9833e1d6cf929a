# SPDX-License-Identifier: Apache-2.0
"""What a command asks its person for. A script has nobody to ask: it is told what to give."""

import sys

import typer

from hwci.cli.failing import wrong_usage


def asked(what: str, flag: str, *, hidden: bool = False) -> str:
    """Ask for something at the terminal.

    Raises:
        CommandError: there is no terminal; `flag` would give it.
    """
    if not sys.stdin.isatty():
        raise wrong_usage(f"The {what} is missing", "no terminal to ask at", f"Give it with {flag}")
    return str(typer.prompt(what.capitalize(), hide_input=hidden, err=True))


def secret_line(what: str, flag: str, *, from_stdin: bool) -> str:
    """Read a secret from stdin if `flag` says so, else ask for it."""
    return sys.stdin.readline().rstrip("\r\n") if from_stdin else asked(what, flag, hidden=True)
