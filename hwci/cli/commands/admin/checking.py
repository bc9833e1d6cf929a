# SPDX-License-Identifier: Apache-2.0
"""`hwci admin check`: whether the database is whole, and what to do when it is not; and whether the
SQLite of this machine may damage one.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from hwci.cli.commands.admin.asking import database_of, operator_errors
from hwci.cli.commands.admin.copies import mebibytes
from hwci.cli.commands.serve import Database
from hwci.cli.reporting.finding import Finding, State
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit_json, note, say, telling
from hwci.cli.terminal.tables import counted
from hwci.client.explained import ExitCode

if TYPE_CHECKING:
    from hwci.server.services.operator_commands import CheckResult


def check(json: options.Json = False, database: Database = None) -> None:
    """Look for damage in the database, also while the server runs. Nothing is changed.

    Each report is compared with the digest of what was sent, and what is derived from reports with
    what it would be now. It works in a copy beside the database, which needs as much room.

    Exit code 1 when something is wrong; what, and what to do next, is printed.

    For example:

      hwci admin check

      hwci admin check --json
    """
    with operator_errors("The database was not checked", "Check the --database"):
        from hwci.server.app import check as look
        from hwci.server.app import copy_progress

        where = database_of(database)
        copied = "Checking {}: {} of {} copied".format
        with telling(lambda: copied(where, *map(mebibytes, copy_progress(where)))):
            found = look(where)
    if json:
        emit_json(found)
    else:
        for line in found.damage:
            say(f"damaged: {line}")
        for line in found.stale:
            say(f"out of date: {line}")
    for line in _next_steps(where, found):
        note(line)
    if not found.whole:
        raise typer.Exit(ExitCode.FAILED)


def sqlite_here() -> Finding:
    """Name an SQLite that may damage a database, to be warned of where there is one."""
    from hwci.server.app import driver_doubt
    from hwci.server.settings import Settings

    doubt = driver_doubt()
    if doubt is None:
        return Finding("sqlite", State.OK, "new enough for the database of a server")
    if not Path(os.environ.get("HWCI_DATABASE") or Settings().database).exists():
        return Finding("sqlite", State.OK, f"No server's database is here. {doubt}")
    return Finding("sqlite", State.WARN, doubt, "Run the server with a newer SQLite")


def _next_steps(where: str, found: "CheckResult") -> list[str]:
    """Say what is to be done, the most urgent first."""
    if found.damage:
        return [
            f"{where} is damaged. Next: stop the server, then: hwci admin restore BACKUP",
            "Keep what the restore puts aside; check the disk and the memory of this machine.",
        ]
    steps = []
    if found.stale:
        steps.append("What was sent is whole; what is derived is not. Next: hwci admin rebuild")
    else:
        steps.append(f"{where} is whole: {counted(found.reports, 'report')}.")
    if found.without_digest:
        steps.append(
            f"{counted(found.without_digest, 'report')} of an earlier hwci without a digest: nobody"
            " can tell whether they are as they were sent. From now on: hwci admin rebuild"
        )
    return steps
