# SPDX-License-Identifier: Apache-2.0
"""`hwci spool list|flush|show|remove`: the reports of this machine that no server has yet, and
sending them (contract, "Command line"). How reports are kept is decided in `hwci.client.store`, how
they are sent in `hwci.client.delivery`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from hwci.cli.session.reporter import ci_key, destination
from hwci.cli.session.settings import Flags, Settings, resolve
from hwci.cli.terminal import options
from hwci.cli.terminal.render import emit, note, write_json
from hwci.cli.terminal.tables import View
from hwci.client.explained import (
    ErrorMessage,
    ExitCode,
    ExplainedError,
    command_error,
    explained,
    wrong_usage,
)
from hwci.said import counted

if TYPE_CHECKING:
    from hwci.client.delivery.sending import Destination
    from hwci.client.delivery.unsent import Outcome
    from hwci.client.store import BenchStore, PendingReport

NOT_SENT = "Not all that waits was sent"

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="Send this one only, to this server with this key: the `number` that `list --json` "
        "shows, or how it begins.",
    ),
]
One = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The `number` that `list --json` shows, or how it begins."),
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
    bool, typer.Option("--refused", help="Send refused reports again, too: the cause is gone.")
]

spool = typer.Typer(no_args_is_help=True)


@spool.command("list")
def list_spool(json: options.JsonList = False, output: options.Output = None) -> None:
    """List the reports that wait on this machine, and those that were set aside, with the reason.

    `hwci spool show` prints one whole, `hwci spool remove` deletes it. A refused one is sent
    again by `hwci spool flush --refused` only. A superseded one is earlier than another of the same
    run or merge, and is sent by its number only. Nothing is changed.

    For example:

      hwci spool list
    """
    from hwci.cli.terminal import spool_list

    form = options.form_of(json, output)
    settings = resolve(Flags())
    store, key = _store(settings), _known_key(settings)
    address = _known_address(settings)
    with _readable():
        rows = spool_list.rows(store.reports(), key, address)
    emit(spool_list.layout(View(options.now())), rows, form)


@spool.command("flush")
def flush(
    name: Name = None,
    *,
    any_key: AnyKey = False,
    any_server: AnyServer = False,
    refused: RefusedToo = False,
    deadline: options.Deadline = None,
    url: options.Url = None,
    profile: options.Profile = None,
) -> None:
    """Send the reports that wait for this server and this key, oldest first. Needs HWCI_CI_KEY.

    Of reports of the same run and box, or of the same merge, only the latest is sent, whatever its
    key: an earlier one would replace it. NAME sends an earlier one anyway, as the latest.

    It ends with exit code 0 when all were sent, and fails otherwise: 1 a report was refused, or all
    that waits is for another key, 4 the key is refused, or there is none that can be read, 5 the
    server cannot be reached.

    For example:

      hwci spool flush

      hwci spool flush --deadline 600

      hwci spool flush --any-server

      hwci spool flush --refused

      hwci spool flush 00001795364188707589
    """
    from hwci.client.delivery import sending, unsent
    from hwci.client.delivery.job_key import owner_of
    from hwci.client.store import fingerprint_of

    settings = resolve(Flags(url, profile))
    store = _store(settings)
    to = destination(settings)
    _require_key(to)
    settings.url_for_key(NOT_SENT)
    owner = owner_of(to.key)
    fingerprint = None if any_key else fingerprint_of(owner)
    with explained(NOT_SENT, by_ci_key=True):
        with _readable():
            store.reports()
            if refused:
                note(f"{counted(store.put_back(), 'refused report')} to be sent again.")
            only = None if name is None else store.keep_again(_named(store, name), to.url, owner)
        selected = sending.Selection(store, fingerprint, any_server, only)
        outcome = sending.flush(to, selected, deadline, note)
    note(f"Sent {counted(len(outcome.sent), 'report')} to {settings.url}.")
    if line := unsent.done_elsewhere(outcome):
        note(line)
    _note_rest(store, settings, outcome, None if any_key or name else fingerprint)


@spool.command("show")
def show(name: One) -> None:
    """Print a report of this machine as it is sent.

    For example:

      hwci spool show 00001795364188707589
    """
    store = _store(resolve(Flags()))
    with _readable():
        report = _named(store, name)
        body = store.body(report).decode()
    if report.reason:
        note(f"{report.state}: {report.reason}")
    write_json(body)


@spool.command("remove")
def remove(name: One) -> None:
    """Delete a report of this machine. It is not sent any more.

    For example:

      hwci spool remove 00001795364188707589
    """
    store = _store(resolve(Flags()))
    with _readable():
        report = _named(store, name)
        store.remove(report)
    note(f"Removed the report {report.label} of {report.name}.")


def _require_key(to: "Destination") -> None:
    if to.no_key is not None:
        raise ExplainedError(replace(to.no_key.message, what=NOT_SENT, code=ExitCode.SIGN_IN))


def _named(store: "BenchStore", name: str) -> "PendingReport":
    report = store.find(name)
    if len(report) != 1:
        cause = f"{counted(len(report), 'report')} of {store.folder} are called so"
        fix = "Take a number that `hwci spool list --json` shows"
        raise wrong_usage(f"It is not clear which report {name!r} is", cause, fix)
    return report[0]


def _note_rest(
    store: "BenchStore", settings: Settings, outcome: "Outcome", own: str | None
) -> None:
    """Note what is left after a flush. `own`: it was only to send what is for this key.

    Raises:
        ExplainedError: not all was sent that was to be.
    """
    from hwci.client.delivery import unsent

    with _readable():
        waiting = 0 if outcome.sent else _for_other_key(store, settings, own)
        _note_others(store, settings, None if waiting else own)
    if left := len(outcome.unsent) + len(outcome.untried):
        total = len(outcome.sent) + left
        raise ExplainedError(unsent.not_sent(NOT_SENT, outcome, total))
    if store.damaged:
        message = ErrorMessage(NOT_SENT, unsent.damaged(store.damaged), unsent.DAMAGED_FIX)
        raise ExplainedError(message)
    if waiting:
        raise ExplainedError(unsent.all_for_other_key(NOT_SENT, waiting))


def _for_other_key(store: "BenchStore", settings: Settings, own: str | None) -> int:
    """Count what waits for this server and for another key than this."""
    from hwci.client._address import parse_address

    return 0 if own is None else store.others_waiting(str(parse_address(settings.url)), own)


def _note_others(store: "BenchStore", settings: Settings, own: str | None) -> None:
    """Note what this command did not send. `own`: only reports for this key were its to send."""
    from hwci.client._address import parse_address
    from hwci.client.delivery import unsent

    for line in unsent.for_others(store, str(parse_address(settings.url)), own):
        note(line)
    if aside := [report for report in store.reports() if report.state != "waiting"]:
        note(f"{unsent.set_aside(aside)}: see hwci spool list; {unsent.ways_back(aside)}")


def _known_key(settings: Settings) -> str | None:
    """Return whose key it is, to show reports for another; a list needs none."""
    from hwci.client.delivery.job_key import owner_of
    from hwci.client.errors import HwciError

    try:
        return owner_of(ci_key(settings))
    except HwciError:
        return None
    except ExplainedError as fault:
        note(f"note: Reports for another key are not shown: {fault.message.cause}.")
        return None


def _known_address(settings: Settings) -> str | None:
    """Return the address, to show reports for another; a list needs none."""
    from hwci.client._address import parse_address
    from hwci.client.errors import ServerAddressError

    try:
        return str(parse_address(settings.url)) if settings.named_server else None
    except ServerAddressError:
        return None


@contextmanager
def _readable() -> Iterator[None]:
    """Turn a store that cannot be used into an error of the command."""
    from hwci.client.store import StoreError

    try:
        yield
    except StoreError as fault:
        what = "The pending reports on this machine cannot be read"
        raise command_error(what, str(fault), fault.fix) from fault


def _store(settings: Settings) -> "BenchStore":
    from hwci.client.store import bench_store, no_place

    store = bench_store(settings.environ)
    if store is None:
        fault = no_place()
        what = "There is no place for reports that wait"
        raise command_error(what, str(fault), fault.fix)
    return store
