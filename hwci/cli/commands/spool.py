# SPDX-License-Identifier: Apache-2.0
"""`hwci spool list|flush`: what this machine kept for a server, and sending it (contract, "Command
line"). How reports are kept is decided in `hwci.client.spool`, how they are sent in `delivery.py`.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.reporter import destination, spool_of
from hwci.cli.session.settings import Flags, Settings, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit, note, telling
from hwci.cli.terminal.tables import View, counted
from hwci.client.explained import ErrorMessage, ExitCode, ExplainedError, explain, wrong_usage

if TYPE_CHECKING:
    from hwci.client.dispatch import Outcome
    from hwci.client.spool import Spool
    from hwci.client.spool_files import Kept

NOT_SENT = "Not all that waits was sent"

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="Send this one only, to this server with this key: a file that `list` names, or how "
        "its name begins.",
        show_default=False,
    ),
]
AnyKey = Annotated[
    bool,
    typer.Option("--any-key", help="Send what was kept for another key, too: it was replaced."),
]
AnyServer = Annotated[
    bool,
    typer.Option(
        "--any-server",
        help="Send what was kept for another address, too: it was wrong, or the server moved.",
    ),
]
RefusedToo = Annotated[
    bool, typer.Option("--refused", help="Send what was refused again, too: the cause is gone.")
]

spool = typer.Typer(no_args_is_help=True, help="Reports that wait on this machine: list, flush.")


@spool.command("list")
def list_spool(json: options.JsonList = False, output: options.Output = None) -> None:
    """List the reports that wait on this machine, and those that were set aside, with the reason.

    The file of a refused report holds it whole, as `body`. It is sent again by `hwci spool flush
    --refused` only; remove the file to be rid of it. A superseded one is earlier than another of
    the same run or merge, and is sent by its name only. A file that cannot be opened is another
    user's, or the disk fails, and one may be damaged or of a newer hwci: it is listed as
    unreadable. Nothing is changed.

    For example:

      hwci spool list
    """
    from hwci.cli.terminal.spool_table import layout, rows

    form = options.form_of(json, output)
    settings = resolve(Flags())
    kept, key = _spool(os.environ), _known_key(settings)
    with _readable():
        found = rows(kept, key, _known_address(settings))
    emit(layout(View(options.now())), found, form)


@spool.command("flush")
def flush(
    name: Name = None,
    *,
    any_key: AnyKey = False,
    any_server: AnyServer = False,
    refused: RefusedToo = False,
    deadline: options.Deadline = options.DEADLINE_S,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Send the reports that wait for this server and this key, oldest first. Needs HWCI_CI_KEY.

    Of reports of the same run and box, or of the same merge, only the latest is sent, whatever its
    key: an earlier one would replace it. NAME sends an earlier one all the same, as the latest.

    It ends with exit code 0 when all were sent, and fails otherwise: 1 a report was refused, 4 the
    key is, or there is none that can be read, 5 the server cannot be reached.

    For example:

      hwci spool flush

      hwci spool flush --deadline 600

      hwci spool flush --any-server

      hwci spool flush --refused

      hwci spool flush 00001795364188707589
    """
    from hwci.client.delivery import sending, unsent
    from hwci.client.errors import HwciError

    settings = resolve(Flags(url, profile))
    kept = _spool(settings.environ)
    own = _own_key(settings)
    settings.url_for_key(NOT_SENT)
    fingerprint = None if any_key else own
    try:
        with _readable():
            before = _damaged(kept)
            if refused:
                _put_back(kept)
            kept.waiting()
            only = None if name is None else _named(kept, name, settings)
        wanted = sending.Wanted(kept, fingerprint, any_server, only)
        outcome = sending.flush(destination(settings), wanted, deadline, note, telling)
    except HwciError as fault:
        raise ExplainedError(explain(fault, NOT_SENT, by_ci_key=True)) from fault
    _say_what_went(outcome, settings)
    left = len(outcome.unsent) + len(outcome.untried)
    with _readable():
        _say_what_stays(kept, settings, fingerprint)
        if left:
            total = len(outcome.sent) + left
            raise ExplainedError(unsent.not_sent(NOT_SENT, outcome, total))
        if found := sorted(_damaged(kept) - before):
            raise ExplainedError(ErrorMessage(NOT_SENT, unsent.damaged(found), unsent.DAMAGED_FIX))


def _own_key(settings: Settings) -> str | None:
    """Return the fingerprint of the key.

    Raises:
        ExplainedError: there is none to send with.
    """
    from hwci.client.spool import fingerprint_of

    to = destination(settings)
    if to.no_key is not None:
        raise ExplainedError(replace(to.no_key.message, what=NOT_SENT, code=ExitCode.SIGN_IN))
    return fingerprint_of(to.key)


def _named(kept: "Spool", name: str, settings: Settings) -> "Kept":
    """Let the one report that is named wait for this server and key.

    Raises:
        ExplainedError: wrong usage: it names none, or several.
        SpoolError: it cannot be read.
    """
    found = kept.find(name)
    if len(found) != 1:
        cause = f"{counted(len(found), 'report')} of {kept.folder} are called so"
        fix = "Take a file that `hwci spool list --json` names"
        raise wrong_usage(f"It is not clear which report {name!r} is", cause, fix)
    return kept.keep_anew(found[0], settings.url, destination(settings).key)


def _put_back(kept: "Spool") -> None:
    from hwci.client.spool import SpoolError

    try:
        put = kept.put_back()
    except OSError as fault:
        what = f"What was refused cannot wait again: {fault.strerror or fault}"
        raise SpoolError(what, f"Make {kept.folder} yours to write") from fault
    note(f"{counted(put, 'refused report')} to be sent again.")


def _damaged(kept: "Spool") -> set[Path]:
    return {one.path for one in kept.refused() if one.damaged}


def _say_what_went(outcome: "Outcome", settings: Settings) -> None:
    """Tell what this command sent, and apart from that what another one did meanwhile."""
    from hwci.client.delivery import unsent

    note(f"Sent {counted(len(outcome.sent), 'report')} to {settings.url}.")
    if told := unsent.settled_elsewhere(outcome):
        note(told)


def _say_what_stays(kept: "Spool", settings: Settings, own: str | None) -> None:
    """Tell of what was not this command's to send. `own`: what waits for another key is that."""
    from hwci.client._address import parse_address
    from hwci.client.delivery import unsent

    address = str(parse_address(settings.url))
    keyed = 0 if own is None else kept.others_waiting(address, own)
    if keyed:
        note(unsent.for_other_key(keyed))
    if elsewhere := len(kept.elsewhere(address)):
        note(unsent.for_other_server(elsewhere))
    unopened = kept.unopened()
    if unread := sum(not one.newer for one in unopened):
        note(f"{counted(unread, 'file')} cannot be read: see hwci spool list")
    for one in unopened:
        if one.newer:
            note(f"{one.path} stays as it is: {one.reason}")
    aside = [*kept.refused(), *kept.superseded()]
    if aside:
        note(f"{unsent.set_aside(aside)}: see hwci spool list; {unsent.ways_back(aside)}")


def _known_key(settings: Settings) -> str | None:
    """Give the key, for telling what waits for another; a list needs none."""
    try:
        return settings.ci_key()
    except ExplainedError as fault:
        note(f"note: What waits for another key is not told: {fault.message.cause}.")
        return None


def _known_address(settings: Settings) -> str | None:
    """Give the address, for telling what waits for another; a list needs none."""
    from hwci.client._address import parse_address
    from hwci.client.errors import ServerAddressError

    try:
        return None if settings.guessed else str(parse_address(settings.url))
    except ServerAddressError:
        return None


@contextmanager
def _readable() -> "Iterator[None]":
    """Let a folder that cannot be read pass as an error of the command."""
    from hwci.client.spool import SpoolError

    try:
        yield
    except SpoolError as fault:
        what = "What waits on this machine cannot be seen"
        raise ExplainedError(ErrorMessage(what, str(fault), fault.fix)) from fault


def _spool(environ: Mapping[str, str]) -> "Spool":
    """Give the spool.

    Raises:
        ExplainedError: this user has no place for one.
    """
    from hwci.client.delivery import unsent

    found = spool_of(environ)
    if found is None:
        fault = unsent.no_place()
        what = "There is no place for reports that wait"
        raise ExplainedError(ErrorMessage(what, str(fault), fault.fix))
    return found
