# SPDX-License-Identifier: Apache-2.0
"""`hwci admin audit`: whether the audit log is whole, its export, and a new key for it (contract,
"The audit log").
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.commands.admin.database import ask, database_of, operator_errors, secret_key_file
from hwci.cli.commands.serve import Database, server_errors
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit_json, note, progress, write
from hwci.client.explained import ErrorMessage, ExplainedError

if TYPE_CHECKING:
    from hwci.server.app import AuditReport

audit = typer.Typer(no_args_is_help=True)
CHECK_FLAGS = "Check --head, --key and the name of the file"


@audit.command()
def verify(
    *,
    head: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER:LINK",
            help="The head as it was printed earlier: an end that is cut off since is seen.",
        ),
    ] = None,
    export_file: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Look at an export, without the database."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The log's key, for --export [beside the database]."),
    ] = None,
    json: options.Json = False,
    database: Database = None,
) -> None:
    """Check that the audit log is whole: exit code 0 if so, and 1 if not.

    Rows that were changed, removed, added or moved are named. The head is printed: keep it
    outside the server. Whoever has the database and the key can forge all that it does not cover.

    For example:

      hwci admin audit verify

      hwci admin audit verify --head 57:9f2c... --export audit.jsonl
    """
    with operator_errors("The audit log was not checked", CHECK_FLAGS):
        report = _report(database, head, export_file, key)
    if json:
        emit_json(report)
    elif report.whole:
        rows = f"{report.rows} rows"
        if report.unsealed:
            rows += f", {report.unsealed} of them from before its present key"
        note(f"The audit log is whole: {rows}. It ends with:")
        write(report.head)
    if not report.whole:
        raise ExplainedError(_broken(report))


@audit.command()
def export(database: Database = None) -> None:
    """Write the whole audit log to stdout, a line of JSON for each row, also while the server runs.

    The last line is the head. `verify --export` checks the export later, with the
    key and without the database.

    For example:

      hwci admin audit export > audit-2026-03-07.jsonl
    """
    with operator_errors("The audit log was not exported", "Try again"):
        from hwci.server.app import ReadAudit

        asked = ReadAudit()
        while True:
            page = ask(database, asked).audit_lines
            assert page is not None
            for line in page.lines:
                sys.stdout.write(f"{line.model_dump_json(by_alias=True)}\n")
            if page.head is not None:
                break
            asked = ReadAudit(after=page.lines[-1].number)
        sys.stdout.write(f"{page.head.model_dump_json(by_alias=True)}\n")
    note(f"Exported; note the head apart from the server: {page.head.number}:{page.head.link}")


@audit.command("new-key")
def new_key(database: Database = None) -> None:
    """Continue the audit log with a new key when its key is lost, while no server runs.

    The log of each organization gets an entry about it. What was sealed before stays as it is: its
    rows still follow on each other, but it can no longer be checked who sealed them.

    For example:

      hwci admin audit new-key
    """
    with server_errors("The audit log has no new key"):
        from hwci.server.app import new_audit_key
        from hwci.server.settings import read_settings

        settings = read_settings(os.environ)
        first = new_audit_key(database or settings.database, settings)
    note(f"The audit log goes on under a new key from row {first} on. Back the key up.")


def _report(
    database: str | None, head: str | None, export_file: Path | None, key: Path | None
) -> "AuditReport":
    from hwci.server.app import VerifyAudit, verify_export
    from hwci.server.app import audit_key_of as beside

    if export_file is not None:
        key = key or beside(database_of(database), secret_key_file())
        return verify_export(export_file, key, head)
    with progress(lambda: "Checking the audit log"):
        report = ask(database, VerifyAudit(head=head)).audit
    assert report is not None
    return report


def _broken(report: "AuditReport") -> ErrorMessage:
    rows = [
        f"row {found.number}{f' of organization {found.org_id}' if found.org_id else ''}:"
        f" {found.what}"
        for found in report.findings
    ]
    more = report.findings_total - len(rows)
    return ErrorMessage(
        "The audit log is not whole",
        f"{report.findings_total} of what was looked at is not as it was written",
        "Put the key back if it is missing (it stands beside a backup); else keep a copy of the"
        " database as it is, and compare it with an export or a backup",
        details=(*rows, *([f"… {more} more"] if more else [])),
    )
