# SPDX-License-Identifier: Apache-2.0
"""`hwci admin audit`: whether the audit log is whole (contract, "The audit log")."""

from typing import Annotated

import typer

from hwci.cli.commands.admin.database import ask, operator_errors
from hwci.cli.commands.serve import Database
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit_json, note, progress, write
from hwci.client.explained import ErrorMessage, ExplainedError

audit = typer.Typer(no_args_is_help=True)
audit.callback()(lambda: None)  # typer makes the only command of a group the group itself


@audit.command()
def verify(
    *,
    head: Annotated[
        str | None, typer.Option(metavar="NUMBER:LINK", help="The head as it was printed earlier.")
    ] = None,
    json: options.Json = False,
    database: Database = None,
) -> None:
    """Check that the audit log is whole: exit code 0 if so, and 1 if not.

    Rows that were changed, removed, added or moved are named. The head is printed: keep it
    outside the server. Whoever may write the database can forge what no kept head covers.

    For example:

      hwci admin audit verify --head 57:9f2c...
    """
    with operator_errors("The audit log was not checked", "Try again"):
        from hwci.server.app import VerifyAudit

        with progress(lambda: "Checking the audit log"):
            report = ask(database, VerifyAudit(head=head)).audit
        assert report is not None
    if json:
        emit_json(report)
    elif report.whole:
        note(f"The audit log is whole: {report.rows} rows. It ends with:")
        write(report.head)
    if not report.whole:
        advice = "Keep a copy of the database as it is, and compare it with a backup"
        rows = [
            f"row {row.number} of organization {row.org_id or '?'}: {row.what}"
            for row in report.findings
        ]
        cause = "Not all rows are as they were written; these are the first"
        what = "The audit log is not whole"
        raise ExplainedError(ErrorMessage(what, cause, advice, details=tuple(rows)))
