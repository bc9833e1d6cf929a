# SPDX-License-Identifier: Apache-2.0
"""How a command of the operator reaches the database, and what its errors look like. While a server
runs, the command speaks to it over the socket beside the file: two processes never write one file.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hwci.cli.commands.serve import server_errors
from hwci.client.explained import command_error

if TYPE_CHECKING:
    from hwci.server.services.operator.commands import Command, CommandResult


def database_of(flag: str | None) -> str:
    """Return the database of the flag, else of the settings."""
    from hwci.server.settings import read_settings

    return flag or read_settings(os.environ).database


def is_default(flag: str | None) -> bool:
    """Return whether the database is the default, whose name cannot be mistyped."""
    from hwci.server.settings import Settings

    return flag is None and database_of(flag) == Settings().database


def ask(flag: str | None, command: "Command", *, may_create: bool = False) -> "CommandResult":
    """Have a command carried out, by the server that has the database or else here."""
    from hwci.server.app import operate
    from hwci.server.settings import read_settings

    settings = read_settings(os.environ)
    return operate(
        database_of(flag),
        command,
        may_create=may_create,
        secret_key_file=settings.secret_key_file,
        base_url=settings.base_url,
    )


@contextmanager
def operator_errors(what: str, fix: str) -> Iterator[None]:
    """Explain the errors of the server; `fix`: what to do when it refuses."""
    with server_errors(what):
        from hwci.server.errors import RefusedError

        try:
            yield
        except RefusedError as fault:
            raise command_error(what, str(fault), fix) from fault
