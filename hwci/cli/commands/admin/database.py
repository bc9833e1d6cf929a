# SPDX-License-Identifier: Apache-2.0
"""`hwci admin` for the database as a whole: backup, restore, migrate and check; how each command of
the operator reaches the database; and what `hwci doctor` finds about the SQLite of this machine.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from hwci.cli.commands.serve import Database, kept_database, server_errors
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit_json, note, progress, write
from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError, command_error
from hwci.said import counted, mebibytes

_UNITS = ((20, "MiB"), (30, "GiB"), (40, "TiB"))

if TYPE_CHECKING:
    from hwci.bench.checks import Finding
    from hwci.server.services.operator.commands import CheckResult
    from hwci.server.storage.location import Location


def backup(
    to: Annotated[Path, typer.Argument(metavar="TO", help="New file for the copy.")],
    database: Database = None,
) -> None:
    """Write a whole copy of the database to a new file, also while the server runs.

    The copy holds everything that was acknowledged before. It is written under another name,
    checked, and then renamed to TO, which is printed. A running server writes it, so the server
    must be able to write there.

    For example:

      hwci admin backup /var/lib/hwci/backups/hwci-2026-03-07.db
    """
    to = to.absolute()
    with operator_errors("No backup was made", "Name another file"):
        from hwci.server.app import BackUp, copy_progress

        where = database_of(database)
        with progress(
            lambda: "Copying: {} of {}".format(*map(mebibytes, copy_progress(where, to)))
        ):
            ask(database, BackUp(to=to))
    note(f"The backup is whole: {mebibytes(to.stat().st_size)}.")
    write(str(to))


def restore(
    backup_file: Annotated[Path, typer.Argument(metavar="FROM", help="A backup.")],
    database: Database = None,
) -> None:
    """Replace the database by a backup, while no server runs.

    The former file is kept beside it. The whole backup is checked first, and stays where it is.

    For example:

      hwci admin restore /var/lib/hwci/backups/hwci-2026-03-07.db
    """
    with server_errors("The backup was not put back"):
        from hwci.server.app import restore as put_back
        from hwci.server.storage.location import Location

        where = database_of(database)
        shown = Location(where).shown
        with progress(lambda: f"Restoring {shown}"):
            former = put_back(where, backup_file.absolute())
    note(f"{shown} is now a copy of {backup_file}.")
    if former is not None:
        note(f"The former database is {former}")
    note("Next: start the server. CI keys that were revoked since the backup work again.")


def copy(
    to: Annotated[
        str,
        typer.Option(
            metavar="FILE|ADDRESS",
            callback=kept_database,
            help="A new file, or an empty database.",
        ),
    ],
    database: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE|ADDRESS",
            callback=kept_database,
            help="The database that is copied [HWCI_DATABASE, else hwci-data/hwci.db].",
        ),
    ] = None,
) -> None:
    """Copy the whole database into an empty one: from a file to PostgreSQL, or back.

    Everything moves: organizations, accounts, keys, the audit log, reports, what they replaced. No
    server may use either meanwhile. A copy that was stopped goes on when the command is given
    again; at its end both are read and compared. Until then no server opens the copy.

    An address without a password takes it from PGPASSWORD or ~/.pgpass, as psql does.

    For example:

      hwci admin copy --from hwci.db --to postgresql://hwci@db/hwci

      hwci admin copy --from postgresql://hwci@db/hwci --to hwci.db
    """
    with server_errors("The copy is not whole"):
        from hwci.server.app import copy as copy_all
        from hwci.server.settings import read_settings
        from hwci.server.storage.location import Location

        settings, copied = read_settings(os.environ), _Copied()
        where = database or settings.database
        with progress(lambda: f"Copying: {copied}"):
            total = copy_all(where, to, copied.tell, settings=settings)
        shown = Location(to).shown
    note(
        f"{shown} is now a copy of {Location(where).shown}: {counted(total, 'row')}, all compared."
    )
    note(f"Next: hwci serve --database {Location(to).repeated}")


class _Copied:
    """How far a copy table by table is."""

    def __init__(self) -> None:
        self._table, self._rows = "", 0

    def tell(self, table: str, rows: int) -> None:
        self._table, self._rows = table, rows

    def __str__(self) -> str:
        return f"table {self._table}, {self._rows:,} rows"


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
        from hwci.server.storage.location import Location

        where = database_of(database)
        steps = bring_up_to_date(where, check=check, secret_key_file=secret_key_file())
        shown = Location(where).shown
    if check and steps:
        missing = ErrorMessage(
            f"{shown} lacks steps of the schema",
            ", ".join(steps),
            "Make a backup, then: hwci admin migrate",
        )
        raise ExplainedError(missing)
    for step in steps:
        write(step)
    note(f"{shown} is at the present schema.")


def check(json: options.Json = False, database: Database = None) -> None:
    """Look for damage in the database, also while the server runs. Nothing is changed.

    Each report is compared with the digest of what was sent, and derived rows with what the
    reports give now. It works in a copy, which needs as much space: beside a database file; of a
    database on PostgreSQL in the folder for temporary files (TMPDIR), as of one moment.

    Exit code 1 when something is wrong; the output names it, and what to do next.

    For example:

      hwci admin check

      hwci admin check --json
    """
    with operator_errors("The database was not checked", "Check the --database"):
        from hwci.server.app import check as look
        from hwci.server.app import copy_progress
        from hwci.server.storage.location import Location

        where, copied = database_of(database), _Copied()
        location = Location(where)
        shown = location.shown

        def how_far() -> str:
            if location.file is None:
                return str(copied)
            return "{} of {} copied".format(*map(mebibytes, copy_progress(where)))

        with progress(lambda: f"Checking {shown}: {how_far()}"):
            result = look(where, copied.tell)
    if json:
        emit_json(result)
    else:
        for line in result.damage:
            write(f"damaged: {line}")
        for line in result.stale:
            write(f"out of date: {line}")
    for line in _next_steps(location, result):
        note(line)
    if not result.whole:
        raise typer.Exit(ExitCode.FAILED)


def sqlite_here() -> "Finding":
    """Return the finding of `hwci doctor` about the SQLite of this machine."""
    from hwci.bench.checks import Finding, State
    from hwci.server.settings import Settings

    try:
        from hwci.server.app import driver_doubt
    except ModuleNotFoundError:
        return Finding("sqlite", State.OK, "This hwci was installed without a server")
    doubt = driver_doubt()
    if doubt is None:
        return Finding("sqlite", State.OK, "new enough for the database of a server")
    if not Path(os.environ.get("HWCI_DATABASE") or Settings().database).exists():
        no_matter = "No server's database is here, so this does not matter"
        return Finding("sqlite", State.OK, f"{no_matter}: {doubt}")
    return Finding("sqlite", State.WARN, doubt, "Run the server with a newer SQLite")


def _next_steps(location: "Location", result: "CheckResult") -> list[str]:
    shown, back = location.shown, "stop the server, then: hwci admin restore BACKUP"
    if location.file is None:
        back = "stop all servers, then put back a dump by `pg_restore`"
    if result.damage:
        return [
            f"{shown} is damaged. Next: {back}",
            "Keep what the restore puts aside; check the disk and the memory of this machine.",
        ]
    if result.stale:
        return ["What was sent is whole; what is derived is not. Next: hwci admin rebuild"]
    return [f"{shown} is whole: {counted(result.reports, 'report')}."]


def rebuild(
    org_id: Annotated[
        UUID | None, typer.Argument(metavar="ORG_ID", help="One organization [all].")
    ] = None,
    database: Database = None,
) -> None:
    """Rebuild everything that is derived from run reports, also while the server runs.

    Reports and reviews stay as they are. While an organization is rebuilt, new reports wait.

    For example:

      hwci admin rebuild

      hwci admin rebuild 7d0e0f6e-2c6b-4f55-8a35-0a3f6e1f3c52
    """
    with operator_errors("The organization was not rebuilt", "Check the id, and the --database"):
        from hwci.server.app import ListOrganizations, Rebuild

        org_ids = [org_id] if org_id else ask(database, ListOrganizations()).org_ids or ()
        for number, each in enumerate(org_ids, 1):
            place = f"{number} of {len(org_ids)}: organization {each}"
            with progress(partial(str, place)):
                ask(database, Rebuild(org_id=each))
            note(f"{place} is rebuilt.")
    if not org_ids:
        note("There is no organization yet.")


def purge(
    days: Annotated[
        int, typer.Option("--days", min=0, help="Keep what was replaced in so many last days.")
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Delete; else only count.")] = False,
    database: Database = None,
) -> None:
    """Delete what was replaced long ago: reports, configurations, repeated announcements.

    Everything that was sent is kept, also when a later report or configuration took its place. No
    page shows that: it only takes room. What counts today always stays.

    For example:

      hwci admin purge --days 365

      hwci admin purge --days 365 --yes
    """
    total: Counter[str] = Counter()
    with operator_errors("Nothing was deleted", "Check the --days and the --database"):
        from hwci.server.app import ListOrganizations, PurgeReplaced

        for org_id in ask(database, ListOrganizations()).org_ids or ():
            command = PurgeReplaced(org_id=org_id, days=days, count_only=not yes)
            total.update(ask(database, command).replaced or {})
    parts = ", ".join(counted(count, noun) for noun, count in sorted(total.items()))
    if not parts:
        note(f"Nothing was replaced more than {counted(days, 'day')} ago.")
    elif yes:
        note(f"Deleted: {parts}.")
    else:
        note(f"This would delete, and nothing can bring it back: {parts}.")
        note(f"To delete it: hwci admin purge --days {days} --yes")


def usage(json: options.Json = False, database: Database = None) -> None:
    """List the bytes that each organization sent, and what it may send.

    In this hour and in all, most first. What it may send is set by HWCI_QUOTA_HOUR and
    HWCI_QUOTA_ALL: those of the server that has the database file, else of this command.

    For example:

      hwci admin usage
    """
    with operator_errors("The usage is not listed", "Check the --database"):
        from hwci.server.app import ListUsage

        lines = ask(database, ListUsage()).usage or ()
    lines = sorted(lines, key=lambda line: (-line.all_bytes, line.organization))
    if json:
        emit_json(lines)
        return
    for line in lines:
        hour = f"{mebibytes(line.hour_bytes)}{_of(line.hour_quota)} this hour"
        in_all = f"{mebibytes(line.all_bytes)}{_of(line.all_quota)} in all"
        write(f"{line.org_id}  {line.organization}: {hour}, {in_all}")


def _of(quota: int | None) -> str:
    """Write a quota as the settings do, in the largest unit of which it is a whole number."""
    if quota is None:
        return ""
    bits, unit = max(each for each in _UNITS if quota % (1 << each[0]) == 0)
    return f" of {quota >> bits:,} {unit}"


# How a command reaches the database: while a server runs, over the socket beside the file, as two
# processes never write one file.

if TYPE_CHECKING:
    from hwci.server.services.operator.commands import Command, CommandResult


def database_of(flag: str | None) -> str:
    """Return the database of the flag, else of the settings."""
    from hwci.server.settings import read_settings

    return flag or read_settings(os.environ).database


def secret_key_file() -> Path | None:
    """Return the file of the keys that the settings name, if any."""
    from hwci.server.settings import read_settings

    return read_settings(os.environ).secret_key_file


def ask(flag: str | None, command: "Command", *, may_create: bool = False) -> "CommandResult":
    """Have a command carried out, by the server that has the database or else here."""
    from hwci.server.app import operate
    from hwci.server.settings import read_settings

    settings = read_settings(os.environ)
    return operate(flag or settings.database, command, may_create=may_create, settings=settings)


@contextmanager
def operator_errors(what: str, fix: str) -> Iterator[None]:
    """Explain the errors of the server; `fix`: what to do when it refuses."""
    with server_errors(what):
        from hwci.server.errors import RefusedError

        try:
            yield
        except RefusedError as fault:
            raise command_error(what, str(fault), fix) from fault
