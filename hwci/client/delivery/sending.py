# SPDX-License-Identifier: Apache-2.0
"""How reports reach the server: each is on the disk before it is sent, and leaves when the server
has it (contract, "Command line").

This module decides in which order reports are tried, what an answer means for the others, and how
long to go on; `errors.py` names the answers. A report leaves the store when the server has it, is
set aside if the server refuses it, and stays pending otherwise. `unsent.py` has the messages about
what was not sent.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from http import HTTPStatus
from math import inf, isinf
from typing import NamedTuple

from hwci.client._address import parse_address
from hwci.client._call import Call
from hwci.client._protocol import BACKOFF_FIRST_S, BACKOFF_MAX_S
from hwci.client._sync import Client
from hwci.client.delivery import unsent
from hwci.client.delivery.job_key import JobKey, owner_of
from hwci.client.delivery.unsent import Outcome, Reports, Unsent
from hwci.client.errors import (
    ApiError,
    ConnectionFailedError,
    HwciError,
    ProxyAddressError,
    RateLimitedError,
)
from hwci.client.explained import ErrorMessage, ExplainedError, SignalledError, explain
from hwci.client.store import ASKED_MAX_S, BenchStore, PendingReport, StoreError, no_place
from hwci.said import counted
from hwci.wire.endpoints.ci import EXCHANGE_JOB_TOKEN

UNREAD_KEY = "the-key-that-could-not-be-read"
"""Stands for the key of reports that are kept without one: no server issues it."""
NO_KEY_NO_REPORT = "Nothing of it is kept"
NOTICE_AFTER_S = 3.0
NOTICE_EVERY_S = 30.0
"""Seconds between two notices about a wait."""
REFUSALS = frozenset({400, 404, 409, 413, 415})
"""hwci refuses the report or its address for good: the same again would be refused again. This
holds only for answers of hwci itself. 401 and 403 are not among them: they concern the key, whose
organization may be allowed to report again.

After an answer that is not hwci's, such as a sign-in page's, the report stays pending, and the key
is not sent there again.
"""
PASSING = frozenset({408, 425, 429, *range(500, 600)}) - {511}
"""A later try may succeed. A proxy answers so, too, while the server behind it is away; 511 is the
answer of a network that wants a sign-in.
"""
TAKES_NOTHING = frozenset({408, 425, 429, 502, 503, 504})
"""Of these, the ones that any other report would get too."""
TRY_S = 30.0
"""Seconds of silence after which a try is given up, at the most."""
TRY_LEAST_S = 1.0
"""Seconds for a try that begins just before the deadline."""
DEADLINE_S = 120.0
UNHEARD_S = 10.0
"""Seconds without an answer of hwci after which a report that a later job finds is left to it."""
LOST_UNHEARD_S = 45.0
"""The same where the store ends with the job: a server that restarts is back by then."""

Notify = Callable[[str], None]
"""Takes a notice, a line for people, while the work goes on."""


class NoKey(NamedTuple):
    """Why there is no key to send with. `meant`: the job has one, which cannot be read now."""

    message: ErrorMessage
    meant: bool


@dataclass(frozen=True, slots=True)
class Destination:
    """Where reports go. `known` False: the address is a default, which gets no key. `key`: that of
    the environment, or what signs the job in when a report goes out.
    `store` None: this user has no place to keep reports. `lasts`: the store outlives the job.
    """

    url: str
    known: bool
    key: str | JobKey
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

    def keep(self, reports: Reports, *, remember: bool = True) -> list[PendingReport]:
        """Put reports on the disk; what could not be kept has the reason in `unkept`. `remember`:
        the bench counts from their runs.

        Raises:
            HwciError: the address is invalid.
        """
        pending = [PendingReport.of(report, remember=remember) for report in reports]
        if self.store is None:
            return [replace(report, unkept=no_place()) for report in pending]
        return self.store.keep(pending, self.url if self.known else None, owner_of(self.key))


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of reports. `kept`: all that the server does not have is on the disk, and goes
    out with a later report. `server_time` None: not known. `message` None: all were sent.
    """

    sent: bool = False
    kept: bool = False
    server_time: datetime | None = None
    message: ErrorMessage | None = None


# Trying again and again


@dataclass(frozen=True, slots=True)
class Patience:
    """The deadline, the longest time in which no hwci answers, and the pauses after the first
    failure and at most.
    """

    deadline_s: float = DEADLINE_S
    unheard_s: float = inf
    first_s: float = BACKOFF_FIRST_S
    most_s: float = BACKOFF_MAX_S

    @property
    def silence_s(self) -> float:
        """The seconds of silence that a try may take: no more than all tries together. A deadline
        of 0 means one try for each report.
        """
        return min(TRY_S, self.deadline_s) if self.deadline_s > 0 else TRY_S

    def pause(self, failures: int, chance: float) -> float:
        """Return the seconds to wait after this many failures in a row, spread at random."""
        return chance * min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30))


class Dispatch:
    """Sends reports to one server with one key. The client should try each call once only.

    `store` None: there is no place to keep any. `outcome`: what became of them so far.
    """

    def __init__(
        self,
        client: Client,
        store: BenchStore | None,
        patience: Patience,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._store = store
        self._patience = patience
        self._sleep = sleep
        self._ends = time.monotonic() + patience.deadline_s
        self.outcome = Outcome()
        self._faults: dict[int, HwciError] = {}
        self._asked = 0.0
        self._last: HwciError | None = None
        self._unheard_since = inf
        self._total = 0

    def send(
        self, reports: Sequence[PendingReport], asked_s: float = 0.0, *, once: bool = False
    ) -> Outcome:
        """Send reports in their order, again and again while the deadline lasts, or `once` each.
        `asked_s`: seconds that the server asked to wait.
        """
        self.outcome, self._faults = Outcome(asked_s=asked_s), {}
        pending, failures, self._total = list(reports), 0, len(reports)
        delay: float | None = asked_s
        while pending and delay is not None and self._wait(delay):
            before = len(pending)
            pending, hopeless = self._round(pending)
            failures = 1 if len(pending) < before else failures + 1
            chance = random.random()  # noqa: S311 - it spreads retries, it guards nothing
            pause = self._asked + self._patience.pause(failures, chance)
            delay = None if hopeless or once or self._is_unheard() else pause
        for report in pending:
            fault = self._faults.get(id(report))
            if fault is None:
                self.outcome.untried.append(report)
            else:
                self.outcome.left.append(Unsent(report, fault))
        return self.outcome

    def _wait(self, delay: float) -> bool:
        """Pause, if that ends within the deadline; the first try is always made."""
        if delay <= 0:
            return True
        now, given_up = time.monotonic(), self._unheard_ends()
        # A pause that was asked for is never cut short.
        if now + delay > (min(self._ends, given_up) if self._asked else self._ends):
            return False
        self._sleep(min(delay, max(0.0, given_up - now)))
        return True

    def _unheard_ends(self) -> float:
        """Return when to give up unless hwci answers."""
        return self._unheard_since + self._patience.unheard_s

    def _is_unheard(self) -> bool:
        return time.monotonic() >= self._unheard_ends()

    def progress(self) -> str:
        """Return how far the sending is, why it waits, and how long it will."""
        left = min(self._ends, self._unheard_ends()) - time.monotonic()
        on = "" if isinf(left) or left <= 0 else f" for {left:.0f} s more"
        return f"{len(self.outcome.sent):,} of {self._total:,} sent. {self._why()}Trying{on} …"

    def _why(self) -> str:
        """Return what the sending waits for, unless it goes on."""
        if isinstance(self._last, RateLimitedError) and self._last.own_form:
            limit = "the server's HWCI_RATE_LIMIT is for all requests of one address"
            return f"{self._last}; {limit}. "
        if self._last is None and self.outcome.sent:
            return ""
        return f"{self._last or f'No answer from {self._client.address} yet'}. "

    def is_over(self) -> bool:
        """Return whether the deadline has passed; one of 0 never has."""
        return self._patience.deadline_s > 0 and time.monotonic() >= self._ends

    def _left(self) -> float:
        """Return the seconds that a try may take in all."""
        if self._patience.deadline_s <= 0:
            return TRY_S
        return max(TRY_LEAST_S, self._ends - time.monotonic())

    def _round(self, pending: list[PendingReport]) -> tuple[list[PendingReport], bool]:
        """Try each once. Return what is left, and whether trying again is useless."""
        left: list[PendingReport] = []
        self._asked = 0.0
        for number, report in enumerate(pending):
            if number and self.is_over():
                return [*left, *pending[number:]], False
            settled, fault = self._try(report)
            if not settled:
                left.append(report)
            if fault is not None and not settled and _ends_round(fault):
                return [*left, *pending[number + 1 :]], not _passing(fault)
        return left, False

    def _try(self, report: PendingReport) -> tuple[bool, HwciError | None]:
        """Send a report once. Return whether it is settled, and what went wrong."""
        if not report.kept or self._store is None:
            assert report.call is not None
            if self._store is not None:
                with suppress(StoreError):  # then nothing there can be sent either
                    self._store.overtake(report, self._client.address)
            return self._carry(report, report.call)
        try:
            with self._store.taken(report) as call:
                if call is not None:
                    return self._carry(report, call)
            now = self._store.found(report)
        except StoreError:  # the disk fails: what is still in memory is sent anyway
            return (False, None) if report.call is None else self._carry(report, report.call)
        if now is not None and now.state == "waiting":
            return False, None  # another process sends it, or one of its identity, right now
        if now is None or now.state == "superseded":
            self.outcome.elsewhere.append(report)
        else:
            self.outcome.refused.append(Unsent(report, None, now))
        return True, None

    def _carry(self, report: PendingReport, call: Call[None]) -> tuple[bool, HwciError | None]:
        try:
            self._client.send(call, within=self._left())
        except HwciError as fault:
            self._last = fault
            if not _unheard(fault):
                self._unheard_since = inf
            elif isinf(self._unheard_since):
                self._unheard_since = time.monotonic()
            return self._failed(report, fault), fault
        self._last, self._unheard_since = None, inf
        if self._store is not None:
            with suppress(StoreError):  # then it is sent again, which changes nothing
                self._store.sent(report)
        self.outcome.sent.append(report)
        return True, None

    def _failed(self, report: PendingReport, fault: HwciError) -> bool:
        """Note what went wrong. Return whether it is settled: the server refuses the report."""
        store = self._store if report.kept else None
        if _refuses(fault):
            aside = None
            if store is not None:
                with suppress(StoreError):  # then it stays, and is refused again
                    store.refuse(report, str(fault))
                    aside = store.found(report)
            self.outcome.refused.append(Unsent(report, fault, aside))
            return True
        self._faults[id(report)] = fault
        wait = min(ASKED_MAX_S, _asked(fault))
        self._asked = max(self._asked, wait)
        if store is not None:
            with suppress(StoreError):  # it stays without the note
                store.put_off(report, str(fault), wait)
        return False


def _refuses(fault: HwciError) -> bool:
    """Return whether hwci itself refuses a report for good, and not that its job signs in."""
    return (
        isinstance(fault, ApiError)
        and fault.own_form
        and fault.status_code in REFUSALS
        and fault.path != EXCHANGE_JOB_TOKEN.path
    )


def _passing(fault: HwciError) -> bool:
    if isinstance(fault, ApiError):
        too_large = fault.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE  # for a proxy
        return fault.status_code in PASSING or (too_large and not fault.own_form)
    return isinstance(fault, ConnectionFailedError)


def _unheard(fault: HwciError) -> bool:
    """Return whether no hwci server took part: the request reached none, or another answered."""
    if isinstance(fault, ApiError):
        return not fault.own_form
    return isinstance(fault, ConnectionFailedError) and not fault.sent


def _ends_round(fault: HwciError) -> bool:
    """Return whether any other report would meet this fault too."""
    if isinstance(fault, ApiError):
        for_all = fault.status_code in TAKES_NOTHING or _asked(fault) > 0
        return for_all or not _passing(fault)
    return True


def _asked(fault: HwciError) -> float:
    return (fault.retry_after or 0.0) if isinstance(fault, ApiError) else 0.0


# Delivering


def deliver(
    to: Destination,
    reports: Reports,
    deadline_s: float | None,
    notify: Notify,
    when_kept: Callable[[], AbstractContextManager[None]] = nullcontext,
    *,
    remember: bool = True,
) -> Delivered:
    """Send reports, then pending ones for the same server and key. `deadline_s` None: the default.
    In the block of `when_kept`, which begins once all is on the disk, a SignalledError stops the
    sending. `remember`: the bench counts from their runs.
    """
    failed, no_key = unsent.failed(reports), to.no_key
    if no_key is not None and not to.keeps:
        fix = f"{no_key.message.fix}. {NO_KEY_NO_REPORT}"
        return Delivered(message=replace(no_key.message, what=failed, fix=fix))
    try:
        parse_address(to.url)
        pending = to.keep(reports, remember=remember)
    except HwciError as fault:
        return Delivered(message=explain(fault, failed, by_ci_key=True))
    _tell_kept(pending, notify)
    kept = all(report.kept for report in pending)
    if no_key is not None:
        message = unsent.without_key(replace(no_key.message, what=failed), pending)
        return Delivered(kept=kept, message=message)
    if not to.known:
        return Delivered(kept=kept, message=unsent.without_server(failed, pending))
    try:
        with when_kept() if kept else nullcontext():
            patience = _patience(deadline_s, kept and to.lasts)
            outcome, server_time = _sent(to, pending, patience, notify)
    except SignalledError as fault:
        return Delivered(kept=True, message=unsent.cut_short(failed, str(fault), pending))
    if not outcome.unsent and not outcome.untried:
        return Delivered(sent=True, server_time=server_time)
    left = [*(unsent.report for unsent in outcome.left), *outcome.untried]
    return Delivered(
        kept=not outcome.refused and all(report.kept for report in left),
        server_time=server_time,
        message=unsent.not_sent(failed, outcome, len(pending)),
    )


def _patience(deadline_s: float | None, lasts: bool) -> Patience:
    """Return how long to try: a deadline that was set is used whole. The default ends earlier while
    no hwci answers, and sooner where a later job finds what is not sent.
    """
    if deadline_s is not None:
        return Patience(deadline_s)
    return Patience(unheard_s=UNHEARD_S if lasts else LOST_UNHEARD_S)


@contextmanager
def _notices(dispatch: Dispatch, notify: Notify) -> Iterator[None]:
    """Notify, from another thread, how far the sending of this block is: after a few seconds, and
    ever less often, as each notice is a line of a job's log.
    """
    ended = threading.Event()

    def go_on() -> None:
        pause = NOTICE_AFTER_S
        while not ended.wait(pause):
            notify(dispatch.progress())
            pause = min(2 * pause, NOTICE_EVERY_S)

    thread = threading.Thread(target=go_on, name="hwci-notices", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def keep_early(to: Destination, reports: Reports) -> None:
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


def _tell_kept(reports: Sequence[PendingReport], notify: Notify) -> None:
    for report in reports:
        if report.supersedes:
            notify(f"note: {unsent.superseded(report.supersedes)}")
    if line := unsent.unkept(reports):
        notify(f"warning: {line}.")


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
        held = next((report for report in reports if report.kept), None)
        with _notices(dispatch, notify):
            if store is None or held is None:
                outcome = dispatch.send(reports)
            else:
                outcome = dispatch.send(reports, store.not_before(held.address, held.fingerprint))
                _send_waiting(dispatch, store, held, outcome, notify)
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
        if refused := sum(not report.damaged for report in waited.refused):
            many = counted(refused, "report")
            notify(f"warning: refused of those that waited: {many}. Look: hwci spool list")
        if waited.left or waited.untried:
            notify(f"note: {unsent.still_waiting(waited, over=dispatch.is_over())}")
    if not outcome.left and (others := store.others_waiting(*of_these)):
        notify(f"note: {unsent.for_other_key(others)}")
