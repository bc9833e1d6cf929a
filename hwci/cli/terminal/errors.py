# SPDX-License-Identifier: Apache-2.0
"""How a command shows an error: three lines on stderr and an exit code (contract, "Command
line").
"""

from dataclasses import replace

from hwci.cli.terminal.render import note
from hwci.client.explained import ErrorMessage, ExplainedError


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
