# SPDX-License-Identifier: Apache-2.0
"""How reports reach the server: each is on the disk before it is sent, and leaves when the server
has it (contract, "Command line"). `hwci.client.delivery.dispatch` decides how long to
go on, `unsent.py` has the messages about what was not sent.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from hwci.client import Client
from hwci.client._address import parse_address
from hwci.client.delivery import unsent
from hwci.client.delivery.dispatch import UNHEARD_S, Dispatch, Outcome, Patience, Unsent
from hwci.client.errors import HwciError, ProxyAddressError
from hwci.client.explained import ErrorMessage, ExplainedError, SignalledError, explain
from hwci.client.store import BenchStore, PendingReport, StoreError, no_place
from hwci.said import counted

UNREAD_KEY = "the-key-that-could-not-be-read"
"""Stands for the key of reports that are kept without one: no server issues it."""
NO_KEY_NO_REPORT = "Nothing of it is kept"
NOTICE_EVERY_S = 3.0
"""Seconds between two notices about a wait."""

Notify = Callable[[str], None]
"""Takes a notice, a line for people, while the work goes on."""


class NoKey(NamedTuple):
    """Why there is no key to send with. `meant`: the job has one, which cannot be read now."""

    message: ErrorMessage
    meant: bool


@dataclass(frozen=True, slots=True)
class Destination:
    """Where reports go. `known` False: the address is a default, which gets no key.
    `store` None: this user has no place to keep reports. `lasts`: the store outlives the job.
    """

    url: str
    known: bool
    key: str
    no_key: NoKey | None
    store: BenchStore | None
    lasts: bool

    @property
    def keeps(self) -> bool:
        """Whether reports are kept: a job without a key reports nothing."""
        return self.no_key is None or self.no_key.meant

    def check(self, failed: str) -> None:
        """Refuse an invalid address.

        Raises:
            ExplainedError: wrong usage.
        """
        try:
            if self.keeps:
                parse_address(self.url)
        except HwciError as fault:
            raise ExplainedError(explain(fault, failed)) from fault

    def keep(self, reports: Sequence[PendingReport]) -> list[PendingReport]:
        """Put reports on the disk; what could not be kept has the reason in `unkept`.

        Raises:
            HwciError: the address is invalid.
        """
        if self.store is None:
            return [replace(one, unkept=no_place()) for one in reports]
        return self.store.keep(reports, self.url if self.known else None, self.key)


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of reports. `kept`: all that the server does not have is on the disk, and goes
    out with a later report. `server_time` None: not known. `message` None: all were sent.
    """

    sent: bool = False
    kept: bool = False
    server_time: datetime | None = None
    message: ErrorMessage | None = None


def deliver(
    to: Destination,
    reports: Sequence[PendingReport],
    failed: str,
    deadline_s: float | None,
    notify: Notify,
    when_kept: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Delivered:
    """Send reports, then pending ones for the same server and key. `failed` names what did not
    happen when one was not sent; `deadline_s` None: the default. In the block of `when_kept`, which
    begins once all is on the disk, a SignalledError stops the sending.
    """
    no_key = to.no_key
    if no_key is not None and not to.keeps:
        fix = f"{no_key.message.fix}. {NO_KEY_NO_REPORT}"
        return Delivered(message=replace(no_key.message, what=failed, fix=fix))
    try:
        parse_address(to.url)
        reports = _kept(to, reports, notify)
    except HwciError as fault:
        return Delivered(message=explain(fault, failed, by_ci_key=True))
    kept = all(one.kept for one in reports)
    if no_key is not None:
        message = unsent.without_key(replace(no_key.message, what=failed), reports)
        return Delivered(kept=kept, message=message)
    if not to.known:
        return Delivered(kept=kept, message=unsent.without_server(failed, reports))
    try:
        with when_kept() if kept else nullcontext():
            patience = _patience(deadline_s, kept and to.lasts)
            outcome, server_time = _sent(to, reports, patience, notify)
    except SignalledError as fault:
        return Delivered(kept=True, message=unsent.cut_short(failed, str(fault), reports))
    if not outcome.unsent and not outcome.untried:
        return Delivered(sent=True, server_time=server_time)
    left = [*(one.report for one in outcome.left), *outcome.untried]
    return Delivered(
        kept=not outcome.refused and all(one.kept for one in left),
        server_time=server_time,
        message=unsent.not_sent(failed, outcome, len(reports)),
    )


def _patience(deadline_s: float | None, lasts: bool) -> Patience:
    """Return how long to try: a deadline that was set is used whole, and so is the default where
    what is not sent is lost with the job.
    """
    if deadline_s is not None:
        return Patience(deadline_s)
    return Patience(unheard_s=UNHEARD_S) if lasts else Patience()


@contextmanager
def _notices(dispatch: Dispatch, notify: Notify) -> Iterator[None]:
    """Notify every few seconds, from another thread, how far the sending of this block is."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(NOTICE_EVERY_S):
            notify(dispatch.progress())

    thread = threading.Thread(target=go_on, name="hwci-notices", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def keep_early(to: Destination, reports: Sequence[PendingReport]) -> None:
    """Put reports on the disk that `deliver` will replace, and report what goes wrong."""
    if to.keeps:
        with suppress(HwciError):
            to.keep(reports)


class Selection(NamedTuple):
    """Which pending reports are sent: those for this server, or for `any_server`, and the key of
    this fingerprint, or None: for any key; or `only` one report.
    """

    store: BenchStore
    fingerprint: str | None
    any_server: bool = False
    only: PendingReport | None = None


def flush(
    to: Destination,
    selection: Selection,
    deadline_s: float | None,
    notify: Notify,
) -> Outcome:
    """Send pending reports.

    Raises:
        HwciError: the address is none, or the environment names an impossible proxy.
    """
    store, fingerprint = selection.store, selection.fingerprint
    patience = _patience(deadline_s, to.lasts)
    with Client(to.url, ci_key=to.key, timeout=patience.silence_s, retries=0) as client:
        _readdress(store, client.address, fingerprint, any_server=selection.any_server)
        waiting = store.waiting_for(client.address, fingerprint)
        reports = waiting if selection.only is None else [selection.only]
        if reports:
            notify(f"Sending {counted(len(reports), 'report')} to {client.address}.")
        dispatch = Dispatch(client, store, patience)
        with _notices(dispatch, notify):
            return dispatch.send(reports, store.not_before(client.address, fingerprint))


def _readdress(
    store: BenchStore, address: str, fingerprint: str | None, *, any_server: bool = False
) -> None:
    """Send pending reports for an unknown server, or for `any_server`, to this one."""
    with suppress(StoreError):  # it stays, for its own server
        store.readdress(address, fingerprint, any_server=any_server)


def _kept(to: Destination, reports: Sequence[PendingReport], notify: Notify) -> list[PendingReport]:
    kept = to.keep(reports)
    for one in kept:
        if one.supersedes:
            notify(f"note: {unsent.superseded(one.supersedes)}")
    if line := unsent.unkept(kept):
        notify(f"warning: {line}.")
    return kept


def _sent(
    to: Destination, reports: Sequence[PendingReport], patience: Patience, notify: Notify
) -> tuple[Outcome, datetime | None]:
    """Send reports, then the other pending ones. Return the server's time, too."""
    try:
        client = Client(to.url, ci_key=to.key, timeout=patience.silence_s, retries=0)
    except ProxyAddressError as fault:
        return Outcome(left=[Unsent(reports[0], fault)], untried=list(reports[1:])), None
    with client:
        store, dispatch = to.store, Dispatch(client, to.store, patience)
        kept = next((one for one in reports if one.kept), None)
        with _notices(dispatch, notify):
            if store is None or kept is None:
                outcome = dispatch.send(reports)
            else:
                outcome = dispatch.send(reports, store.not_before(kept.address, kept.fingerprint))
                _send_waiting(dispatch, store, kept, outcome, notify)
        if store is not None and store.damaged:
            notify(f"warning: {unsent.damaged(store.damaged)}. {unsent.DAMAGED_FIX}.")
        if line := unsent.done_elsewhere(outcome):
            notify(line)
        return outcome, client.server_time


def _send_waiting(
    dispatch: Dispatch, store: BenchStore, kept: PendingReport, outcome: Outcome, notify: Notify
) -> None:
    """Send once each pending report for the server and key of the reports of an outcome, if all of
    these were sent, as long as the deadline lasts.
    """
    of_these = (kept.address, kept.fingerprint)
    if outcome.left or outcome.untried:
        waiting = store.waiting_for(*of_these)
        outcome.beside = len(waiting) - len(outcome.left) - len(outcome.untried)
    else:
        _readdress(store, *of_these)
        waited = dispatch.send(store.waiting_for(*of_these), once=True)
        if waited.sent:
            notify(f"Sent {counted(len(waited.sent), 'report')} that waited.")
        if refused := sum(not one.damaged for one in waited.refused):
            many = counted(refused, "report")
            notify(f"warning: refused of those that waited: {many}. Look: hwci spool list")
        if waited.left or waited.untried:
            notify(f"note: {unsent.still_waiting(waited, over=dispatch.is_over())}")
    if not outcome.left and (others := store.others_waiting(*of_these)):
        notify(f"note: {unsent.for_other_key(others)}")
