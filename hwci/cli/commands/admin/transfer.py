# SPDX-License-Identifier: Apache-2.0
"""`hwci admin export` and `import`: one organization in a file that any tool reads, and back from
such a file or from a folder of kept reports (ADR 0022).
"""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from hwci.cli.commands.admin.accounts import CHECK_ID, checked, named
from hwci.cli.commands.admin.database import ask, database_of, operator_errors
from hwci.cli.commands.serve import Database
from hwci.cli.terminal.render import note, progress, write
from hwci.client.explained import ExitCode, wrong_usage
from hwci.said import counted, mebibytes

NOT_EXPORTED = "Nothing was exported"
NOT_IMPORTED = "The import is not complete"
NOUNS = {"suite_config": "configuration"}
"""What people call a kind of body, where that is not its name."""


def export(
    organization: Annotated[
        str, typer.Argument(metavar="ORG", help="Name or id of the organization.")
    ],
    to: Annotated[Path, typer.Argument(metavar="TO", help="New file for the export.")],
    database: Database = None,
) -> None:
    """Write an organization to one SQLite file for other tools. A running server goes on.

    It holds all reports, announcements and configurations that count, the reviews, and each failure
    as the rules decide it today, as tables and views for DuckDB, pandas and Datasette; no key,
    password or sign-in. It is written under another name, and renamed to TO, which is printed, when
    it is complete. A running server writes it.

    For example:

      hwci admin export "Acme Firmware" /var/lib/hwci/backups/acme-2026-03-07.db
    """
    to = to.absolute()
    with operator_errors(NOT_EXPORTED, CHECK_ID):
        from hwci.server.app import Export, copy_progress

        where = database_of(database)
        command = checked(Export, NOT_EXPORTED, **named(organization), to=to)
        with progress(lambda: f"Exporting: {mebibytes(copy_progress(where, to)[0])} written"):
            done = ask(database, command)
    size = mebibytes(to.stat().st_size)
    note(f"Exported {counted(done.reports or 0, 'report')}: {size}.")
    write(str(to))


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="FROM", help="An export, or a folder of kept reports.")
    ],
    organization: Annotated[
        str | None,
        typer.Option(metavar="ORG", help="Name or id of the organization [that of the export]."),
    ] = None,
    owner: Annotated[
        str | None,
        typer.Option(metavar="EMAIL", help="Owner: create the organization if it is missing."),
    ] = None,
    database: Database = None,
) -> None:
    """Import an export, or a folder of kept reports, into an organization.

    What is missing is added, and nothing is replaced, so an import that was stopped can be run
    again. In a folder each *.json or *.json.gz is one body as the API takes it: a run report, an
    announcement or a suite configuration. A refused one is printed with the reason.

    Exit code 1 when something was refused.

    For example:

      hwci admin import acme-2026-03-07.db --owner ada@example.org

      hwci admin import kept-reports --organization "Acme Firmware"
    """
    with operator_errors(NOT_IMPORTED, CHECK_ID):
        from hwci.server.app import BeginImport, KeepSent, in_pieces, open_source

        opened = open_source(source)
        name = organization or opened.organization
        if name is None:
            raise wrong_usage(
                NOT_IMPORTED, "A folder names no organization", "Name one by --organization"
            )
        goal: dict[str, object] = {"owner": owner, "exported_id": opened.org_id}
        goal |= named(organization) if organization else {"exported_name": name}
        org_id = ask(database, checked(BeginImport, NOT_IMPORTED, **goal)).org_id
        assert org_id is not None
        seen, refused, added = 0, 0, Counter[str]()
        with progress(lambda: f"Importing: {seen:,} of {opened.entries:,}"):
            for piece in in_pieces(opened.found()):
                sound = [line.sent for line in piece if line.sent is not None]
                news = ask(database, KeepSent(org_id=org_id, sent=sound)).kept if sound else ()
                added.update(sent.kind for sent, new in zip(sound, news or (), strict=True) if new)
                for line in piece:
                    if line.sent is None:
                        refused += 1
                        write(f"refused: {line.name}: {line.refused}")
                seen += len(piece)
    parts = [counted(count, NOUNS.get(kind, kind)) for kind, count in sorted(added.items())]
    there = seen - refused - added.total()
    note(f"Added to organization {name} ({org_id}): {', '.join(parts) or 'nothing new'}.")
    if there:
        note(f"{there:,} of {seen:,} were there already and stay as they are.")
    if refused:
        note(f"{refused:,} of {seen:,} were refused: see above.")
        raise typer.Exit(ExitCode.FAILED)
