# SPDX-License-Identifier: Apache-2.0
"""How the commands of a CI job send: a report is on the disk before it is sent, and leaves when the
server has it. A server that refuses or is away fails no build unless the caller is strict
(contract, "Command line"). What the bodies say is decided in `bodies.py`; how long to go on, in
`hwci.client.dispatch`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hwci.cli import clock_check
from hwci.cli.failing import ExitCode, Failing, failing_of, report, shortened, warn
from hwci.cli.options import DEADLINE_S
from hwci.cli.render import note, say_json
from hwci.cli.settings import Settings
from hwci.cli.tables import counted

if TYPE_CHECKING:
    from hwci.client import Call, Client
    from hwci.client.dispatch import Dispatch, Letter, Outcome, Unsent
    from hwci.client.spool import Spool

TRY_S = 30.0
"""Seconds of silence after which a try is given up."""


class Parcel(NamedTuple):
    """A report on its way. `name`: its box and part."""

    name: str
    call: "Call[None]"


def print_exactly(parcels: Iterable[Parcel]) -> None:
    """Print each body as it would be sent, one per line."""
    for parcel in parcels:
        say_json((parcel.call.body or b"").decode())


def deliver(
    settings: Settings,
    parcels: Sequence[Parcel],
    failed: str,
    *,
    strict: bool,
    deadline_s: float = DEADLINE_S,
) -> bool:
    """Send with the CI key, then what waits for the same server and key. Gives False when one was
    refused or not sent; `failed` says so.

    Raises:
        CommandError: that, and the caller is strict; or the settings can be none.
    """
    from hwci.client.errors import HwciError

    spool = spool_of(settings.environ)
    try:
        letters = _kept(settings, parcels, spool)
    except HwciError as fault:
        failing = failing_of(fault, failed, by_ci_key=True)
        warn(failing, strict=strict or failing.wrong_usage)
        return False
    outcome = _sent(settings, letters, spool, deadline_s)
    if not outcome.unsent and not outcome.untried:
        return True
    warn(failing_to_send(failed, outcome, len(letters)), strict=strict)
    return False


def spool_of(environ: Mapping[str, str]) -> "Spool | None":
    """Give the spool of this machine; None: this user has no place for one."""
    from hwci.client.spool import Spool, spool_folder

    folder = spool_folder(environ)
    return None if folder is None else Spool(folder)


def ci_key(settings: Settings) -> str:
    """Give the key.

    Raises:
        CredentialMissingError: there is none.
    """
    from hwci.client._call import Credential
    from hwci.client.errors import CredentialMissingError

    key = settings.ci_key()
    if key is None:
        raise CredentialMissingError(Credential.CI_KEY.value)
    return key


def flush(
    settings: Settings, spool: "Spool", fingerprint: str | None, deadline_s: float
) -> "Outcome":
    """Send what waits for this server and the key of this fingerprint, or for any key.

    Raises:
        HwciError: the address is none, or the environment names an impossible proxy.
    """
    from hwci.client import Client
    from hwci.client.dispatch import Dispatch, Patience, letters_of

    with Client(settings.url, ci_key=ci_key(settings), timeout=TRY_S, retries=0) as client:
        letters = letters_of(spool, client.address, fingerprint)
        asked = spool.not_before(client.address, fingerprint)
        return Dispatch(client, spool, Patience(deadline_s)).send(letters, asked)


def _kept(settings: Settings, parcels: Sequence[Parcel], spool: "Spool | None") -> list["Letter"]:
    """Put reports on the disk. Without a key, nothing is kept: nobody could ever send it.

    Raises:
        HwciError: the address or the key is none.
    """
    from hwci.client.dispatch import Letter
    from hwci.client.spool import SpoolError

    key = ci_key(settings)
    letters = []
    for parcel in parcels:
        kept = None
        try:
            if spool is not None:
                kept = spool.keep(parcel.call, settings.url, key, parcel.name)
        except SpoolError as fault:
            what = f"{parcel.name} is sent without being kept on the disk before"
            report(Failing(what, str(fault), fault.fix), "warning")
        letters.append(Letter(parcel.name, parcel.call, kept))
    return letters


def _sent(
    settings: Settings, letters: Sequence["Letter"], spool: "Spool | None", deadline_s: float
) -> "Outcome":
    """Send the letters, then once each what waits beside them."""
    from hwci.client import Client
    from hwci.client.dispatch import Dispatch, Outcome, Patience, Unsent, letters_of
    from hwci.client.errors import ProxyAddressError

    try:
        client = Client(settings.url, ci_key=settings.ci_key(), timeout=TRY_S, retries=0)
    except ProxyAddressError as fault:
        return Outcome(left=[Unsent(letters[0], fault)], untried=list(letters[1:]))
    with client:
        dispatch = Dispatch(client, spool, Patience(deadline_s))
        kept = next((letter.kept for letter in letters if letter.kept is not None), None)
        if spool is None or kept is None:
            outcome = dispatch.send(letters)
        else:
            outcome = dispatch.send(letters, spool.not_before(kept.address, kept.fingerprint))
            if not outcome.left and not outcome.untried:
                _send_waiting(dispatch, letters_of(spool, kept.address, kept.fingerprint))
    _warn_of_clock(client)
    return outcome


def _warn_of_clock(client: "Client") -> None:
    """Runs of a bench without a clock are of 1970: on no page, or on that of another year."""
    apart = clock_check.apart(client.server_time)
    if apart is not None:
        report(Failing("The clock of this machine is wrong", apart, clock_check.FIX), "warning")


def _send_waiting(dispatch: "Dispatch", waiting: Sequence["Letter"]) -> None:
    """Send what waits for the same server and key, as long as the deadline lasts."""
    outcome = dispatch.send(waiting, once=True)
    if outcome.sent:
        note(f"Sent {counted(len(outcome.sent), 'report')} that waited.")
    if outcome.refused:
        refused = counted(len(outcome.refused), "report")
        note(f"warning: refused of those that waited: {refused}. Look: hwci spool list")


def failing_to_send(failed: str, outcome: "Outcome", total: int) -> Failing:
    """Say what was not sent, why, and where it is now. The first fault counts."""
    each = [(unsent.letter.name, _failing_of(unsent)) for unsent in outcome.unsent]
    untried = len(outcome.untried)
    if not each:
        each = [(outcome.untried[0].name, _not_tried(outcome))]
    first = each[0][1]
    fix = f"{first.fix}{_place(outcome)}"
    if total == 1:
        return replace(first, what=failed, fix=fix)
    lines = [
        line
        for name, failing in each
        for line in (f"{name}: {failing.cause}", *(f"  {detail}" for detail in failing.details))
    ]
    cause = f"{counted(len(outcome.unsent), 'report')} not taken"
    sent = len(outcome.sent)
    return replace(
        first,
        what=f"{failed}{' whole' if sent else ''}: {sent} of {total} were sent",
        cause=f"{cause}, {untried} not tried" if untried else cause,
        fix=fix,
        details=shortened(lines),
    )


def _failing_of(unsent: "Unsent") -> Failing:
    if unsent.fault is not None:
        return failing_of(unsent.fault, by_ci_key=True)
    assert unsent.refused is not None, "what failed has a fault, or was refused to another process"
    return Failing("", unsent.refused.reason, "Look at the report: hwci spool list")


def _not_tried(outcome: "Outcome") -> Failing:
    if outcome.asked_s:
        cause = f"the server asked to be left alone for another {outcome.asked_s:.0f} s"
    else:
        cause = "another process sends it right now"
    return Failing("", cause, "Nothing needs to be done", ExitCode.UNREACHABLE)


def _place(outcome: "Outcome") -> str:
    """Say where what was not sent is now."""
    waiting = [unsent.letter.kept for unsent in outcome.left]
    waiting += [letter.kept for letter in outcome.untried]
    places = []
    if kept := next((kept for kept in waiting if kept is not None), None):
        places.append(
            f". What waits is kept in {kept.path.parent}; the next report sends it, too, and so"
            " does `hwci spool flush`"
        )
    aside = [unsent.refused for unsent in outcome.refused if unsent.refused is not None]
    if aside:
        places.append(f". What was refused is set aside in {aside[0].path.parent}")
    return "".join(places)
