# SPDX-License-Identifier: Apache-2.0
"""`hwci spool list|flush`: what this machine kept for a server, and sending it (contract, "Command
line"). How reports are kept is decided in `hwci.client.spool`, how they are sent in `delivery.py`.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli import delivery, options
from hwci.cli.failing import CommandError, Failing, failing_of
from hwci.cli.render import emit, note
from hwci.cli.settings import Flags, resolve
from hwci.cli.tables import View, counted

if TYPE_CHECKING:
    from hwci.client.spool import Spool

spool = typer.Typer(no_args_is_help=True, help="Reports that wait on this machine: list, flush.")


@spool.command("list")
def list_spool(json: options.JsonList = False, output: options.Output = None) -> None:
    """List the reports that wait on this machine, and those that a server refused, with the reason.

    The file of a refused report holds it whole, as `body`; it is not sent again. Remove the file
    once it was read, or send the body anew with `hwci report-run --body`.

    For example:

      hwci spool list
    """
    from hwci.cli.spool_table import layout, rows

    form = options.form_of(json, output)
    emit(layout(View(options.now())), rows(_spool(os.environ)), form)


@spool.command("flush")
def flush(
    any_key: Annotated[
        bool,
        typer.Option("--any-key", help="Send what was kept for another key, too: it was replaced."),
    ] = False,
    deadline: options.Deadline = options.DEADLINE_S,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Send the reports that wait for this server and this key, oldest first. Needs HWCI_CI_KEY.

    It ends with exit code 0 when all were sent, and fails otherwise: 1 a report was refused, 4 the
    key is, 5 the server cannot be reached.

    For example:

      hwci spool flush

      hwci spool flush --deadline 600
    """
    from hwci.client.errors import HwciError
    from hwci.client.spool import fingerprint_of

    settings = resolve(Flags(url, profile))
    kept = _spool(settings.environ)
    failed = "Not all that waits was sent"
    try:
        key = delivery.ci_key(settings)
        outcome = delivery.flush(settings, kept, None if any_key else fingerprint_of(key), deadline)
    except HwciError as fault:
        raise CommandError(failing_of(fault, failed, by_ci_key=True)) from fault
    note(f"Sent {counted(len(outcome.sent), 'report')} to {settings.url}.")
    tried = len(outcome.sent) + len(outcome.unsent) + len(outcome.untried)
    if len(outcome.sent) < tried:
        raise CommandError(delivery.failing_to_send(failed, outcome, tried))
    if others := len(kept.waiting()):
        note(f"{counted(others, 'report')} for another server or key: see hwci spool list")


def _spool(environ: Mapping[str, str]) -> "Spool":
    """Give the spool.

    Raises:
        CommandError: this user has no place for one.
    """
    found = delivery.spool_of(environ)
    if found is None:
        raise CommandError(
            Failing(
                "There is no place for reports that wait",
                "HOME is not set, and this user has no home folder",
                "Set HWCI_SPOOL_DIR to a folder that outlives the job",
            )
        )
    return found
