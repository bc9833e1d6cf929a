# SPDX-License-Identifier: Apache-2.0
"""`hwci admin export`: one organization in a file that any tool reads (ADR 0052)."""

from pathlib import Path
from typing import Annotated

import typer

from hwci.cli.commands.admin.accounts import CHECK_ID, checked, named
from hwci.cli.commands.admin.database import ask, database_of, mebibytes, operator_errors
from hwci.cli.commands.serve import Database
from hwci.cli.terminal.render import note, progress, write
from hwci.cli.terminal.tables import counted

NOT_EXPORTED = "Nothing was exported"


def export(
    organization: Annotated[
        str, typer.Argument(metavar="ORG", help="Name or id of the organization.")
    ],
    to: Annotated[Path, typer.Argument(metavar="TO", help="New file for the export.")],
    database: Database = None,
) -> None:
    """Write an organization to one SQLite file for other tools. A running server goes on.

    It holds all that was sent and reviewed, and each failure as the rules decide it today, as
    tables and views that DuckDB, pandas and Datasette open; no key, password or sign-in. It has its
    name, which is printed, only once it is whole. A running server writes it.

    For example:

      hwci admin export "Acme Firmware" /var/backups/acme-2026-03-07.db
    """
    to = to.absolute()
    with operator_errors(NOT_EXPORTED, CHECK_ID):
        from hwci.server.app import Export, copy_progress

        command = checked(Export, NOT_EXPORTED, **named(organization), to=to)
        where = database_of(database)
        with progress(lambda: f"Exporting: {mebibytes(copy_progress(where, to)[0])} written"):
            done = ask(database, command)
    note(f"Exported {counted(done.reports or 0, 'report')}: {mebibytes(to.stat().st_size)}.")
    write(str(to))
