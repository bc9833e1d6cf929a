# SPDX-License-Identifier: Apache-2.0
"""How a command shows an error: three lines on stderr and an exit code (contract, "Command
line").
"""

from dataclasses import replace
from typing import Any

import typer
from typer.core import TyperGroup

from hwci.cli.terminal import again
from hwci.cli.terminal.render import note
from hwci.client.explained import ErrorMessage, ExplainedError, explained


def report(message: ErrorMessage, word: str = "error") -> None:
    """Write a message to stderr."""
    for line in message.lines(word):
        note(line)


def warn(message: ErrorMessage, *, strict: bool) -> None:
    """Report what went wrong without failing the build that reports, unless the caller is strict:
    then raise it (contract, "Command line").
    """
    if strict:
        raise ExplainedError(message)
    report(replace(message, fix=f"{message.fix}. The build goes on: --strict fails it"), "warning")


class Commands(TyperGroup):
    """The root of all commands: here their errors become lines and an exit code."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - typer's own signature
        """Run a command."""
        again.begin(ctx)
        try:
            with explained():
                return super().invoke(ctx)
        except ExplainedError as fault:
            report(fault.message)
            raise typer.Exit(fault.message.code) from fault
