# SPDX-License-Identifier: Apache-2.0
"""Sending reports until the server has them, within a deadline (contract, "Command line").

This module decides in which order reports are tried, what an answer means for the others, and how
long to wait; `errors.py` names the answers. A report leaves the store when the server has it, is
set aside if the server refuses it, and stays pending otherwise.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from math import inf, isinf

from hwci.client._call import Call
from hwci.client._protocol import BACKOFF_FIRST_S, BACKOFF_MAX_S
from hwci.client._sync import Client
from hwci.client.errors import ApiError, ConnectionFailedError, HwciError, RateLimitedError
from hwci.client.store import ASKED_MAX_S, BenchStore, PendingReport, StoreError

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


@dataclass(frozen=True, slots=True)
class Unsent:
    """A report that the server did not take, and why. `aside`: how it is set aside here. `fault`
    None: it was refused to another process, or it is damaged.
    """

    report: PendingReport
    fault: HwciError | None
    aside: PendingReport | None = None

    @property
    def damaged(self) -> bool:
        """Whether the report cannot be read, so that no server has seen it."""
        return self.aside is not None and self.aside.state == "damaged"


@dataclass(slots=True)
class Outcome:
    """What became of reports. `untried`: an earlier one showed that nothing is accepted.
    `elsewhere`: another process sent them, or put them aside as a later report came.
    """

    sent: list[PendingReport] = field(default_factory=list)
    refused: list[Unsent] = field(default_factory=list)
    left: list[Unsent] = field(default_factory=list)
    untried: list[PendingReport] = field(default_factory=list)
    elsewhere: list[PendingReport] = field(default_factory=list)
    asked_s: float = 0.0
    """Seconds that the server asked to wait, before anything was tried."""
    beside: int = 0
    """How many others are pending for the same server and key, if they were counted."""

    @property
    def unsent(self) -> list[Unsent]:
        """Those that were tried without success."""
        return [*self.refused, *self.left]


class Dispatch:
    """Sends reports to one server with one key. The client should try each call once only.

    `store` None: there is no place to keep any. `outcome`: what became of them so far.
    """

    def __init__(
        self,
        client: "Client",
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

    def _carry(self, report: PendingReport, call: "Call[None]") -> tuple[bool, HwciError | None]:
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
        asked = min(ASKED_MAX_S, _asked(fault))
        self._asked = max(self._asked, asked)
        if store is not None:
            with suppress(StoreError):  # it stays without the note
                store.put_off(report, str(fault), asked)
        return False


def _refuses(fault: HwciError) -> bool:
    """Return whether hwci itself refuses a report for good."""
    return isinstance(fault, ApiError) and fault.own_form and fault.status_code in REFUSALS


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
