# SPDX-License-Identifier: Apache-2.0
"""`hwci admin backup`, `restore` and `migrate`: the database as a whole."""

from pathlib import Path
from typing import Annotated

import typer

from hwci.cli.commands.admin.asking import ask, database_of, operator_errors
from hwci.cli.commands.serve import Database, server_errors
from hwci.cli.terminal.render import note, say, telling
from hwci.client.explained import ErrorMessage, ExplainedError


def backup(
    to: Annotated[Path, typer.Argument(metavar="TO", help="New file for the copy.")],
    database: Database = None,
) -> None:
    """Write a whole copy of the database to a new file, also while the server runs.

    It holds everything that was acknowledged before, and is read back whole before it has its
    name, which is printed. A running server makes the copy: it must be able to write there.

    For example:

      hwci admin backup /var/backups/hwci-2026-03-07.db
    """
    to = to.absolute()
    with operator_errors("No backup was made", "Name another file"):
        from hwci.server.app import BackUp, audit_key_of, copy_progress

        where = database_of(database)
        with telling(lambda: "Copying: {} of {}".format(*map(mebibytes, copy_progress(where, to)))):
            ask(database, BackUp(to=to))
    note(f"The backup is whole: {mebibytes(to.stat().st_size)}.")
    key = audit_key_of(str(to))
    if key.exists():
        note(f"The key of its audit log is {key}: keep it with the backup.")
    else:
        note("The key of its audit log is missing beside the database, and so beside the backup.")
    say(str(to))


def restore(
    backup_file: Annotated[Path, typer.Argument(metavar="FROM", help="A backup.")],
    database: Database = None,
) -> None:
    """Put a backup in the place of the database, while no server runs.

    The former file is kept beside it. The backup is read whole first, and stays where it is.

    For example:

      hwci admin restore /var/backups/hwci-2026-03-07.db
    """
    with server_errors("The backup was not put back"):
        from hwci.server.app import restore as put_back

        where = database_of(database)
        with telling(lambda: f"Restoring {where}"):
            done = put_back(where, backup_file.absolute())
    note(f"{where} is what {backup_file} was.")
    if done.former is not None:
        note(f"The former database is {done.former}")
    if done.audit_from is not None:
        note(
            f"The backup has not the key of its audit log beside it: the log goes on under a new"
            f" key from row {done.audit_from} on, and says so."
        )
    note("Next: start the server; CI keys that were revoked since the backup work again.")


def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail when steps are missing.")
    ] = False,
    database: Database = None,
) -> None:
    """Bring the database to the schema of this program. The steps that ran are printed.

    A server does this when it starts. Make a backup before.

    For example:

      hwci admin migrate --check

      hwci admin migrate
    """
    with server_errors("The schema was not brought up to date"):
        from hwci.server.app import migrate as bring_up_to_date

        where = database_of(database)
        steps = bring_up_to_date(where, check=check)
    if check and steps:
        missing = ErrorMessage(
            f"{where} lacks steps of the schema",
            ", ".join(steps),
            "Make a backup, then: hwci admin migrate",
        )
        raise ExplainedError(missing)
    for step in steps:
        say(step)
    note(f"{where} is at the present schema.")


def mebibytes(size: int) -> str:
    """Write a size of a file."""
    return f"{size / 2**20:.1f} MiB"
