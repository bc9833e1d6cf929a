# SPDX-License-Identifier: Apache-2.0
"""Every command of `hwci`, by its words."""

from collections.abc import Iterator
from typing import Any

import typer.main

from hwci.cli.main import app


def imported(command: Any) -> Any:
    """Return the command itself of one that is listed."""
    return getattr(command, "itself", command)


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Return each command below a group, with its words."""
    for name, listed in group.commands.items():
        command = imported(listed)
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        elif not command.hidden:
            yield " ".join((*path, name)), command


ROOT: Any = typer.main.get_command(app)
COMMANDS = dict(commands(ROOT))
