# SPDX-License-Identifier: Apache-2.0
"""How reports reach the server: each is on the disk before it is sent, and leaves when the server
has it (contract, "Command line"). What the bodies hold is decided by who reports; how long to go
on, in `hwci.client.dispatch`; the words about what was not sent, in `unsent.py`.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from hwci.client import Client
from hwci.client._address import parse_address
from hwci.client._call import Call
from hwci.client.delivery import unsent
from hwci.client.dispatch import Dispatch, Letter, Outcome, Patience, Unsent, letters_of
from hwci.client.errors import HwciError, ProxyAddressError
from hwci.client.explained import ErrorMessage, ExplainedError, SignalledError, counted, explain
from hwci.client.spool import Spool, SpoolError
from hwci.client.spool_files import Kept

UNREAD_KEY = "the-key-that-could-not-be-read"
"""Stands for the key of reports that are kept without one: no server ever gave it."""
NO_KEY_NO_REPORT = "Nothing of it is kept"

Notify = Callable[[str], None]
"""Takes a notice, a line for people, while the work goes on."""


class NoKey(NamedTuple):
    """Why there is no key to send with. `meant`: the job has one, which cannot be read now."""

    message: ErrorMessage
    meant: bool


@dataclass(frozen=True, slots=True)
class Destination:
    """Where reports go. `known` False: the address is a guess, which no key is shown to.
    `spool` None: this user has no place to keep reports. `settle` is called before what waits there
    is sent.
    """

    url: str
    known: bool
    key: str
    no_key: NoKey | None
    spool: Spool | None
    settle: Callable[[], None]

    @property
    def keeps(self) -> bool:
        """Whether reports are kept: a job that is given no key reports nothing."""
        return self.no_key is None or self.no_key.meant

    def check(self, failed: str) -> None:
        """Refuse an address that is none.

        Raises:
            ExplainedError: wrong usage.
        """
        try:
            if self.keeps:
                parse_address(self.url)
        except HwciError as fault:
            raise ExplainedError(explain(fault, failed)) from fault

    def keep(self, parcel: "Parcel") -> Kept:
        """Put a report on the disk.

        Raises:
            SpoolError: it cannot be kept.
            HwciError: the address is none.
        """
        if self.spool is None:
            raise unsent.no_place()
        return self.spool.keep(parcel.call, self.url if self.known else None, self.key, parcel.name)


class Parcel(NamedTuple):
    """A report to send. `name`: its box and part, or the product or commit of a merge."""

    name: str
    call: Call[None]


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of reports. `kept`: each one that the server has not is on the disk, and goes out
    with a later report. `taken`: the names of those that the server has, or will have from the
    disk. `server_time` None: not known. `message` None: all were sent.
    """

    sent: bool = False
    kept: bool = False
    taken: frozenset[str] = frozenset()
    server_time: datetime | None = None
    message: ErrorMessage | None = None


def deliver(
    to: Destination,
    parcels: Sequence[Parcel],
    failed: str,
    deadline_s: float,
    notify: Notify,
    when_kept: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Delivered:
    """Send reports, then what waits for the same server and key. `failed` names what did not
    happen when one was not sent. In the block of `when_kept`, which begins once all is on the disk,
    a SignalledError is obeyed.
    """
    no_key = to.no_key
    if no_key is not None and not to.keeps:
        fix = f"{no_key.message.fix}. {NO_KEY_NO_REPORT}"
        return Delivered(message=replace(no_key.message, what=failed, fix=fix))
    try:
        parse_address(to.url)
        letters = [_kept(to, parcel, notify) for parcel in parcels]
    except HwciError as fault:
        return Delivered(message=explain(fault, failed, by_ci_key=True))
    kept = all(letter.kept is not None for letter in letters)
    if no_key is not None:
        message = unsent.without_key(replace(no_key.message, what=failed), letters)
        return Delivered(kept=kept, taken=_on_disk(letters), message=message)
    if not to.known:
        message = unsent.without_server(failed, letters)
        return Delivered(kept=kept, taken=_on_disk(letters), message=message)
    try:
        with when_kept() if kept else nullcontext():
            outcome, server_time = _sent(to, letters, Patience(deadline_s), notify)
    except SignalledError as fault:
        message = unsent.cut_short(failed, str(fault), letters)
        return Delivered(kept=True, taken=_on_disk(letters), message=message)
    sent = frozenset(letter.name for letter in (*outcome.sent, *outcome.elsewhere))
    if not outcome.unsent and not outcome.untried:
        return Delivered(sent=True, taken=sent, server_time=server_time)
    left = [*(one.letter for one in outcome.left), *outcome.untried]
    return Delivered(
        kept=not outcome.refused and all(letter.kept is not None for letter in left),
        taken=sent | _on_disk(left),
        server_time=server_time,
        message=unsent.not_sent(failed, outcome, len(letters)),
    )


def keep_early(to: Destination, parcels: Iterable[Parcel]) -> None:
    """Put reports on the disk that `deliver` will replace, and report what goes wrong."""
    if to.spool is not None and to.keeps:
        with suppress(HwciError, SpoolError):
            for parcel in parcels:
                to.keep(parcel)


class Wanted(NamedTuple):
    """Which of what waits is sent: what is for this server, or for `any_server`, and the key of
    this fingerprint, or None: for any key; or `only` one report.
    """

    spool: Spool
    fingerprint: str | None
    any_server: bool = False
    only: Kept | None = None


def flush(
    to: Destination,
    wanted: Wanted,
    deadline_s: float,
    notify: Notify,
    progress: Callable[[Callable[[], str]], AbstractContextManager[None]],
) -> Outcome:
    """Send what waits. `progress` shows how far it is.

    Raises:
        HwciError: the address is none, or the environment names an impossible proxy.
    """
    spool, fingerprint, patience = wanted.spool, wanted.fingerprint, Patience(deadline_s)
    with Client(to.url, ci_key=to.key, timeout=patience.silence_s, retries=0) as client:
        spool.tidy()
        _readdress(spool, client.address, fingerprint, any_server=wanted.any_server)
        letters = letters_of(spool, client.address, fingerprint)
        if wanted.only is not None:
            letters = [Letter(wanted.only.name, None, wanted.only)]
        if letters:
            notify(f"Sending {counted(len(letters), 'report')} to {client.address}.")
            to.settle()

        def far() -> str:
            return f"{len(dispatch.outcome.sent):,} of {counted(len(letters), 'report')} sent"

        def pause(delay: float) -> None:
            notify(f"{far()}; the next try is in {delay:.0f} s.")
            time.sleep(delay)

        dispatch = Dispatch(client, spool, patience, pause)
        with progress(far):
            return dispatch.send(letters, spool.not_before(client.address, fingerprint))


def _readdress(
    spool: Spool, address: str, fingerprint: str | None, *, any_server: bool = False
) -> None:
    """Send what waits for an unknown server, or for `any_server`, to this one."""
    with suppress(SpoolError):  # then nothing waits that could be seen
        elsewhere = spool.elsewhere(address) if any_server else ()
        for kept in (*spool.waiting_for(address, fingerprint), *elsewhere):
            if fingerprint in {None, kept.fingerprint}:
                with suppress(OSError):  # it stays, for its own server
                    spool.readdress(kept, address)


def _kept(to: Destination, parcel: Parcel, notify: Notify) -> Letter:
    try:
        kept = to.keep(parcel)
    except SpoolError as fault:
        what = f"{parcel.name} is not kept on the disk before it is sent"
        for line in ErrorMessage(what, str(fault), fault.fix).lines("warning"):
            notify(line)
        return Letter(parcel.name, parcel.call, unkept=fault)
    assert to.spool is not None
    if older := to.spool.superseded_by(kept):
        notify(f"note: {unsent.superseded(older)}.")
    return Letter(parcel.name, parcel.call, kept)


def _on_disk(letters: Sequence[Letter]) -> frozenset[str]:
    return frozenset(letter.name for letter in letters if letter.kept is not None)


def _sent(
    to: Destination,
    letters: Sequence[Letter],
    patience: Patience,
    notify: Notify,
) -> tuple[Outcome, datetime | None]:
    """Send the letters, then once each what waits beside them. Return the server's time, too."""
    try:
        client = Client(to.url, ci_key=to.key, timeout=patience.silence_s, retries=0)
    except ProxyAddressError as fault:
        return Outcome(left=[Unsent(letters[0], fault)], untried=list(letters[1:])), None
    with client:
        dispatch = Dispatch(client, to.spool, patience)
        spool = to.spool
        kept = next((letter.kept for letter in letters if letter.kept is not None), None)
        if spool is None or kept is None:
            outcome = dispatch.send(letters)
        else:
            outcome = dispatch.send(letters, spool.not_before(kept.address, kept.fingerprint))
            if not outcome.left and not outcome.untried:
                to.settle()
                _send_waiting(dispatch, spool, kept, notify)
            else:
                waiting = spool.waiting_for(kept.address, kept.fingerprint)
                outcome.beside = len(waiting) - len(outcome.left) - len(outcome.untried)
            if not outcome.left and (
                others := spool.others_waiting(kept.address, kept.fingerprint)
            ):
                notify(f"note: {unsent.for_other_key(others)}")
        if line := unsent.settled_elsewhere(outcome):
            notify(line)
        return outcome, client.server_time


def _send_waiting(dispatch: Dispatch, spool: Spool, kept: Kept, notify: Notify) -> None:
    """Send once each what waits for the same server and key, as long as the deadline lasts."""
    if aside := spool.tidy():
        notify(f"warning: {unsent.damaged(aside)}.")
    _readdress(spool, kept.address, kept.fingerprint)
    outcome = dispatch.send(letters_of(spool, kept.address, kept.fingerprint), once=True)
    if outcome.sent:
        notify(f"Sent {counted(len(outcome.sent), 'report')} that waited.")
    if refused := sum(not one.damaged for one in outcome.refused):
        many = counted(refused, "report")
        notify(f"warning: refused of those that waited: {many}. Look: hwci spool list")
    for one in outcome.refused:
        if one.refused is not None and one.damaged:
            notify(f"warning: {unsent.damaged([one.refused.path])}.")
    if outcome.left or outcome.untried:
        notify(f"note: {unsent.still_waiting(outcome, over=dispatch.is_over())}.")
