# SPDX-License-Identifier: Apache-2.0
"""How the commands of a CI job send: a report is on the disk before it is sent, and leaves when the
server has it. A server that refuses or is away fails no build unless the caller is strict
(contract, "Command line"). What the bodies say is decided in `bodies.py`; how long to go on, in
`hwci.client.dispatch`; what is said of what was not sent, in `unsent.py`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from hwci.cli.reporting import clock_check, unsent
from hwci.cli.session.settings import KEY_FILE, Settings
from hwci.cli.terminal.errors import report, warn
from hwci.cli.terminal.options import DEADLINE_S
from hwci.cli.terminal.render import note, say_json, telling
from hwci.cli.terminal.tables import counted
from hwci.client.explained import (
    ErrorMessage,
    ExitCode,
    ExplainedError,
    SignalledError,
    explain,
    explained,
)

if TYPE_CHECKING:
    from datetime import datetime

    from hwci.client import Call, Client
    from hwci.client.dispatch import Dispatch, Letter, Outcome
    from hwci.client.spool import Spool
    from hwci.client.spool_files import Kept

UNREAD_KEY = "the-key-that-could-not-be-read"
"""Stands for the key of reports that are kept without one: no server ever gave it."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of reports. `kept`: what the server has not is on the disk, each one, and goes
    out with a later report. `taken`: the names of those that the server has, or will have from the
    disk. `server_time` None: no server said it. `message` None: all were sent.
    """

    sent: bool = False
    kept: bool = False
    taken: frozenset[str] = frozenset()
    server_time: "datetime | None" = None
    message: ErrorMessage | None = None

    def say(self, *, strict: bool) -> None:
        """Say what was not sent, and why.

        Raises:
            ExplainedError: that, and the caller is strict; or the command was called wrongly.
        """
        if self.message is not None:
            warn(self.message, strict=strict or self.message.wrong_usage)


class Parcel(NamedTuple):
    """A report on its way. `name`: its box and part."""

    name: str
    call: "Call[None]"


class NoKey(NamedTuple):
    """Why there is no key to send with. `meant`: the job says that there is to be one."""

    message: ErrorMessage
    meant: bool


def see_address(settings: Settings, failed: str) -> None:
    """See that an address that is told is one. A job without a key reports nothing, wherever.

    Raises:
        ExplainedError: the address is none.
    """
    from hwci.client._address import parse_address

    lacking = no_key(settings, failed)
    if lacking is None or lacking.meant:
        with explained(failed):
            parse_address(settings.url)


def print_exactly(parcels: Iterable[Parcel]) -> None:
    """Print each body as it would be sent, one per line."""
    for parcel in parcels:
        say_json((parcel.call.body or b"").decode())


def deliver(
    settings: Settings,
    parcels: Sequence[Parcel],
    failed: str,
    deadline_s: float = DEADLINE_S,
    when_kept: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Delivered:
    """Send with the CI key, then what waits for the same server and key. `failed` names what did
    not happen when one was refused or not sent. In the block of `when_kept`, which begins once all
    is on the disk, a SignalledError is obeyed.
    """
    from hwci.client.errors import HwciError

    spool = spool_of(settings.environ)
    lacking = no_key(settings, failed)
    if lacking is not None and not lacking.meant:
        fix = f"{lacking.message.fix}. Nothing of it is kept"
        return Delivered(message=replace(lacking.message, fix=fix))
    try:
        letters = _kept(settings, parcels, spool, with_key=lacking is None)
    except HwciError as fault:
        return Delivered(message=explain(fault, failed, by_ci_key=True))
    kept = all(letter.kept is not None for letter in letters)
    if lacking is not None:
        message = unsent.failing_without_key(lacking.message, letters)
        return Delivered(kept=kept, taken=_on_disk(letters), message=message)
    if settings.guessed:
        message = unsent.failing_without_server(failed, letters)
        return Delivered(kept=kept, taken=_on_disk(letters), message=message)
    try:
        with when_kept() if kept else nullcontext():
            outcome, server_time = _sent(settings, letters, spool, deadline_s)
    except SignalledError as fault:
        return _interrupted(letters, failed, str(fault))
    sent = frozenset(letter.name for letter in (*outcome.sent, *outcome.elsewhere))
    if not outcome.unsent and not outcome.untried:
        return Delivered(sent=True, taken=sent, server_time=server_time)
    left = [*(one.letter for one in outcome.left), *outcome.untried]
    return Delivered(
        kept=not outcome.refused and all(letter.kept is not None for letter in left),
        taken=sent | _on_disk(left),
        server_time=server_time,
        message=unsent.failing_to_send(failed, outcome, len(letters)),
    )


def keep_early(settings: Settings, parcels: Iterable[Parcel]) -> None:
    """Put reports on the disk that `deliver` will replace, where it keeps any. What goes wrong is
    told by that.
    """
    from hwci.client.errors import HwciError
    from hwci.client.spool import SpoolError

    spool, lacking = spool_of(settings.environ), no_key(settings, "")
    if spool is None or (lacking is not None and not lacking.meant):
        return
    with suppress(HwciError, SpoolError):
        for name, call in parcels:
            spool.keep(call, *_meant_for(settings, with_key=lacking is None), name)


def _meant_for(settings: Settings, *, with_key: bool) -> tuple[str | None, str]:
    """Return the address that reports are kept for, None if nobody told it, and the key; without
    one they wait for a person who says which one to take.
    """
    return (
        None if settings.guessed else settings.url,
        ci_key(settings) if with_key else UNREAD_KEY,
    )


def _interrupted(letters: Sequence["Letter"], failed: str, cause: str) -> Delivered:
    """Say where reports are that are kept, whether or not some went out meanwhile."""
    from hwci.client.dispatch import Outcome

    place = unsent.place(Outcome(untried=list(letters)))
    message = ErrorMessage(
        f"{failed} yet", f"{cause}: sending was cut short", place.removeprefix(". ")
    )
    return Delivered(kept=True, taken=_on_disk(letters), message=message)


def _on_disk(letters: Sequence["Letter"]) -> frozenset[str]:
    return frozenset(letter.name for letter in letters if letter.kept is not None)


def no_key(settings: Settings, failed: str) -> NoKey | None:
    """Say why there is no key to send with; None: there is one. A secret that is not mounted, or
    was cut short, is no wrong usage: who runs the job did not call the command wrongly.
    """
    from hwci.client.errors import CredentialMalformedError, CredentialMissingError

    try:
        ci_key(settings)
    except CredentialMissingError as fault:
        message = explain(fault, failed, by_ci_key=True)
        file = settings.environ.get(KEY_FILE)
        if not file:
            return NoKey(message, meant=False)
        cause = f"{file}, which {KEY_FILE} names, is empty"
        return NoKey(replace(message, cause=cause), meant=True)
    except CredentialMalformedError as fault:
        return NoKey(replace(explain(fault, failed), code=ExitCode.FAILED), meant=True)
    except ExplainedError as fault:
        cause = f"{fault.message.what}: {fault.message.cause}"
        message = replace(fault.message, what=failed, cause=cause, code=ExitCode.FAILED)
        return NoKey(message, meant=True)
    return None


def spool_of(environ: Mapping[str, str]) -> "Spool | None":
    """Give the spool of this machine; None: this user has no place for one."""
    from hwci.client.spool import Spool, spool_folder

    folder = spool_folder(environ)
    return None if folder is None else Spool(folder)


def ci_key(settings: Settings) -> str:
    """Give the key.

    Raises:
        CredentialMissingError: there is none.
        CredentialMalformedError: no header can hold what there is.
        ExplainedError: the file that it is in cannot be read.
    """
    from hwci.client._call import Credential
    from hwci.client._protocol import usable

    return usable(settings.ci_key(), Credential.CI_KEY)


def flush(
    settings: Settings,
    spool: "Spool",
    fingerprint: str | None,
    deadline_s: float,
    *,
    any_server: bool = False,
    only: "Kept | None" = None,
) -> "Outcome":
    """Send what waits for this server, or for `any_server`, and the key of this fingerprint, or for
    any key; or `only` one report.

    Raises:
        HwciError: the address is none, or the environment names an impossible proxy.
    """
    from hwci.cli.reporting.run_marks import settle
    from hwci.client import Client
    from hwci.client.dispatch import Dispatch, Letter, Patience, letters_of

    patience = Patience(deadline_s)
    with Client(
        settings.url, ci_key=ci_key(settings), timeout=patience.silence_s, retries=0
    ) as client:
        spool.tidy()
        _readdress(spool, client.address, fingerprint, any_server=any_server)
        letters = letters_of(spool, client.address, fingerprint)
        if only is not None:
            letters = [Letter(only.name, None, only)]
        if letters:
            note(f"Sending {counted(len(letters), 'report')} to {client.address}.")

        def far() -> str:
            return f"{len(dispatch.outcome.sent):,} of {counted(len(letters), 'report')} sent"

        def pause(delay: float) -> None:
            note(f"{far()}; the next try is in {delay:.0f} s.")
            time.sleep(delay)

        if letters:
            settle(settings.environ)
        dispatch = Dispatch(client, spool, patience, pause)
        with telling(far):
            return dispatch.send(letters, spool.not_before(client.address, fingerprint))


def _readdress(
    spool: "Spool", address: str, fingerprint: str | None, *, any_server: bool = False
) -> None:
    """Take what waits for a server that nobody had told, or for `any_server`, for this one's."""
    from hwci.client.spool import SpoolError

    with suppress(SpoolError):  # then nothing waits that could be seen
        elsewhere = spool.elsewhere(address) if any_server else ()
        for kept in (*spool.waiting_for(address, fingerprint), *elsewhere):
            if fingerprint in {None, kept.fingerprint}:
                with suppress(OSError):  # it stays, for its own server
                    spool.readdress(kept, address)


def _kept(
    settings: Settings, parcels: Sequence[Parcel], spool: "Spool | None", *, with_key: bool
) -> list["Letter"]:
    """Put reports on the disk.

    Raises:
        HwciError: the address is none.
    """
    from hwci.client._address import parse_address
    from hwci.client.dispatch import Letter
    from hwci.client.spool import SpoolError

    parse_address(settings.url)
    address, key = _meant_for(settings, with_key=with_key)
    letters = []
    for name, call in parcels:
        try:
            if spool is None:
                raise unsent.no_place()
            kept = spool.keep(call, address, key, name)
            letters.append(Letter(name, call, kept))
            if older := spool.superseded_by(kept):
                note(f"note: {unsent.superseded(older)}.")
        except SpoolError as fault:
            what = f"{name} is not kept on the disk before it is sent"
            report(ErrorMessage(what, str(fault), fault.fix), "warning")
            letters.append(Letter(name, call, unkept=fault))
    return letters


def _sent(
    settings: Settings, letters: Sequence["Letter"], spool: "Spool | None", deadline_s: float
) -> "tuple[Outcome, datetime | None]":
    """Send the letters, then once each what waits beside them. Gives the server's time, too."""
    from hwci.cli.reporting.run_marks import settle
    from hwci.client import Client
    from hwci.client.dispatch import Dispatch, Outcome, Patience, Unsent, letters_of
    from hwci.client.errors import ProxyAddressError

    patience = Patience(deadline_s)
    try:
        client = Client(
            settings.url, ci_key=settings.ci_key(), timeout=patience.silence_s, retries=0
        )
    except ProxyAddressError as fault:
        return Outcome(left=[Unsent(letters[0], fault)], untried=list(letters[1:])), None
    with client:
        dispatch = Dispatch(client, spool, patience)
        kept = next((letter.kept for letter in letters if letter.kept is not None), None)
        if spool is None or kept is None:
            outcome = dispatch.send(letters)
        else:
            outcome = dispatch.send(letters, spool.not_before(kept.address, kept.fingerprint))
            if not outcome.left and not outcome.untried:
                if aside := spool.tidy():
                    note(f"warning: {unsent.damaged(aside)}.")
                settle(settings.environ)
                _readdress(spool, kept.address, kept.fingerprint)
                _send_waiting(dispatch, letters_of(spool, kept.address, kept.fingerprint))
            else:
                waiting = spool.waiting_for(kept.address, kept.fingerprint)
                outcome.beside = len(waiting) - len(outcome.left) - len(outcome.untried)
            if not outcome.left and (
                others := spool.others_waiting(kept.address, kept.fingerprint)
            ):
                note(f"note: {unsent.for_other_key(others)}")
    if told := unsent.settled_elsewhere(outcome):
        note(told)
    _warn_of_clock(client)
    return outcome, client.server_time


def _warn_of_clock(client: "Client") -> None:
    """Runs of a bench without a clock are of 1970: on no page, or on that of another year."""
    apart = clock_check.apart(client.server_time)
    if apart is not None:
        report(
            ErrorMessage("The clock of this machine is wrong", apart, clock_check.FIX), "warning"
        )


def _send_waiting(dispatch: "Dispatch", waiting: Sequence["Letter"]) -> None:
    """Send what waits for the same server and key, as long as the deadline lasts."""
    outcome = dispatch.send(waiting, once=True)
    if outcome.sent:
        note(f"Sent {counted(len(outcome.sent), 'report')} that waited.")
    refused = [one for one in outcome.refused if not one.damaged]
    if refused:
        many = counted(len(refused), "report")
        note(f"warning: refused of those that waited: {many}. Look: hwci spool list")
    for one in outcome.refused:
        if one.refused is not None and one.damaged:
            note(f"warning: {unsent.damaged([one.refused.path])}.")
    if outcome.left or outcome.untried:
        note(f"note: {unsent.still_waiting(outcome, over=dispatch.is_over())}.")
