# SPDX-License-Identifier: Apache-2.0
"""Sending reports until the server has them, within a deadline (contract, "Command line").

This module decides in which order reports are tried, what an answer means for the others, and how
long to wait; what the answers are called is decided in `errors.py`. A report leaves the spool when
the server has it, is set aside when the server refuses it, and stays for another day otherwise.
"""

import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING

from hwci.client._call import Call
from hwci.client._protocol import BACKOFF_FIRST_S, BACKOFF_MAX_S
from hwci.client.errors import ApiError, ConnectionFailedError, HwciError
from hwci.client.spool import ASKED_MAX_S, Spool, SpoolError
from hwci.client.spool_files import Kept, Refused

if TYPE_CHECKING:
    from hwci.client._sync import Client

REFUSALS = frozenset({400, 404, 409, 413, 415})
"""The report is at fault, or where it goes: the same again would be refused again. That is said of
hwci's own answers. And a 403 is none: like a 401 it is said of the key, whose organization may be
let report again.

Any other answer that is not hwci's, as a sign-in page's, is a stranger's: the report waits, and the
key is shown to it no second time.
"""
PASSING = frozenset({408, 425, 429, *range(500, 600)}) - {511}
"""It may go better by itself another time. So says a proxy, too, while the server behind it is
away; 511 is what a network says that wants a sign-in.
"""
TAKES_NOTHING = frozenset({408, 425, 429, 502, 503, 504})
"""Of these, what says nothing of the report: any other would meet it too."""
TRY_S = 30.0
"""Seconds of silence after which a try is given up, at the most."""
TRY_LEAST_S = 1.0
"""Seconds for a try that begins just before the deadline."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to go on, and how long to wait after the first failure and at the most."""

    deadline_s: float = 120.0
    first_s: float = BACKOFF_FIRST_S
    most_s: float = BACKOFF_MAX_S

    @property
    def silence_s(self) -> float:
        """The seconds of silence that a try may take: no more than all tries together. A deadline
        of nothing at all means each report once.
        """
        return min(TRY_S, self.deadline_s) if self.deadline_s > 0 else TRY_S

    def pause(self, failures: int, chance: float) -> float:
        """Give the seconds to wait after so many failures in a row, spread over their range."""
        return chance * min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30))


@dataclass(frozen=True, slots=True)
class Letter:
    """A report on its way. `kept` None: it could not be put on the disk, and `unkept` says why."""

    name: str
    call: Call[None] | None
    kept: Kept | None = None
    unkept: SpoolError | None = None


@dataclass(frozen=True, slots=True)
class Unsent:
    """A report that the server did not take, and why. `refused`: it is set aside here. `fault`
    None: it was refused to another process, or its file is damaged.
    """

    letter: Letter
    fault: HwciError | None
    refused: Refused | None = None

    @property
    def damaged(self) -> bool:
        """Tell whether no server has seen it, as its file cannot be read."""
        return self.refused is not None and self.refused.damaged


@dataclass(slots=True)
class Outcome:
    """What became of reports. `untried`: an earlier one found that nothing is taken. `elsewhere`:
    another process sent them, or put them aside as a later report came.
    """

    sent: list[Letter] = field(default_factory=list)
    refused: list[Unsent] = field(default_factory=list)
    left: list[Unsent] = field(default_factory=list)
    untried: list[Letter] = field(default_factory=list)
    elsewhere: list[Letter] = field(default_factory=list)
    asked_s: float = 0.0
    """For so long the server asked to be left alone, before anything was tried."""
    beside: int = 0
    """How many others wait for the same server and key, where somebody counted."""

    @property
    def unsent(self) -> list[Unsent]:
        """Those that were tried in vain."""
        return [*self.refused, *self.left]


def letters_of(spool: Spool, address: str, fingerprint: str | None) -> list[Letter]:
    """Give what waits for a server and a key, or for any key, oldest first. What failed more often
    comes later: what a proxy never lets pass holds back none of the others.
    """
    waiting = sorted(spool.waiting_for(address, fingerprint), key=lambda kept: kept.tries)
    return [Letter(kept.name, None, kept) for kept in waiting]


class Dispatch:
    """Sends reports to one server with one key. The client should try each call once only.

    `spool` None: there is no place to keep any. `outcome`: what became of them so far.
    """

    def __init__(
        self,
        client: "Client",
        spool: Spool | None,
        patience: Patience,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._spool = spool
        self._patience = patience
        self._sleep = sleep
        self._ends = time.monotonic() + patience.deadline_s
        self.outcome = Outcome()
        self._faults: dict[int, HwciError] = {}
        self._asked = 0.0

    def send(
        self, letters: Sequence[Letter], asked_s: float = 0.0, *, once: bool = False
    ) -> Outcome:
        """Send reports in their order, again and again while the deadline lasts, or `once` each.
        `asked_s`: for so long the server asked to be left alone.
        """
        self.outcome, self._faults = Outcome(asked_s=asked_s), {}
        pending, failures = list(letters), 0
        delay: float | None = asked_s
        while pending and delay is not None and self._wait(delay):
            before = len(pending)
            pending, hopeless = self._round(pending)
            failures = 1 if len(pending) < before else failures + 1
            chance = random.random()  # noqa: S311 - it spreads retries, it guards nothing
            pause = self._asked + self._patience.pause(failures, chance)
            delay = None if hopeless or once else pause
        for letter in pending:
            fault = self._faults.get(id(letter))
            if fault is None:
                self.outcome.untried.append(letter)
            else:
                self.outcome.left.append(Unsent(letter, fault))
        return self.outcome

    def _wait(self, delay: float) -> bool:
        """Pause, if that ends within the deadline; the first try is always made."""
        if delay <= 0:
            return True
        if time.monotonic() + delay > self._ends:
            return False
        self._sleep(delay)
        return True

    def is_over(self) -> bool:
        """Tell whether the deadline has passed; one of nothing at all means each report once."""
        return self._patience.deadline_s > 0 and time.monotonic() >= self._ends

    def _left(self) -> float:
        """Give the seconds that a try may take in all, however slowly its answer comes."""
        if self._patience.deadline_s <= 0:
            return TRY_S
        return max(TRY_LEAST_S, self._ends - time.monotonic())

    def _round(self, pending: list[Letter]) -> tuple[list[Letter], bool]:
        """Try each once. Gives what is left, and whether trying again is of no use."""
        left: list[Letter] = []
        self._asked = 0.0
        for number, letter in enumerate(pending):
            if number and self.is_over():
                return [*left, *pending[number:]], False
            settled, fault = self._try(letter)
            if not settled:
                left.append(letter)
            if fault is not None and not settled and _ends_round(fault):
                return [*left, *pending[number + 1 :]], not _passing(fault)
        return left, False

    def _try(self, letter: Letter) -> tuple[bool, HwciError | None]:
        """Send a report once. Gives whether it is settled, and what went wrong."""
        if letter.kept is None or self._spool is None:
            assert letter.call is not None
            if self._spool is not None:
                with suppress(OSError, SpoolError):  # then nothing there can be sent either
                    self._spool.overtake(letter.call, self._client.address)
            return self._carry(letter, letter.call)
        try:
            with self._spool.taken(letter.kept) as call:
                if call is not None:
                    return self._carry(letter, call)
        except OSError:  # the disk fails: what is still in hand is sent all the same
            return (False, None) if letter.call is None else self._carry(letter, letter.call)
        if self._spool.holds(letter.kept):
            return False, None  # another process sends it, or one of its identity, right now
        refused = self._spool.refusal(letter.kept)
        if refused is None:
            self.outcome.elsewhere.append(letter)
        else:
            self.outcome.refused.append(Unsent(letter, None, refused))
        return True, None

    def _carry(self, letter: Letter, call: Call[None]) -> tuple[bool, HwciError | None]:
        try:
            self._client.send(call, within=self._left())
        except HwciError as fault:
            return self._failed(letter, fault), fault
        if letter.kept is not None and self._spool is not None:
            with suppress(OSError):  # then it is sent again, which changes nothing
                self._spool.sent(letter.kept)
        self.outcome.sent.append(letter)
        return True, None

    def _failed(self, letter: Letter, fault: HwciError) -> bool:
        """Note what went wrong. Gives whether it is settled: the server refuses the report."""
        kept, spool = letter.kept, self._spool
        if _refuses(fault):
            refused = None
            if kept is not None and spool is not None:
                with suppress(OSError):  # then it stays, and is refused again
                    spool.set_aside(kept, str(fault))
                refused = spool.refusal(kept)
            self.outcome.refused.append(Unsent(letter, fault, refused))
            return True
        self._faults[id(letter)] = fault
        asked = min(ASKED_MAX_S, _asked(fault))
        self._asked = max(self._asked, asked)
        if kept is not None and spool is not None:
            with suppress(OSError):  # it stays without the note
                spool.put_off(kept, str(fault), asked)
        return False


def _refuses(fault: HwciError) -> bool:
    """Tell whether hwci itself refuses a report for good."""
    return isinstance(fault, ApiError) and fault.own_form and fault.status_code in REFUSALS


def _passing(fault: HwciError) -> bool:
    if isinstance(fault, ApiError):
        too_large = fault.status_code == HTTPStatus.REQUEST_ENTITY_TOO_LARGE  # for a proxy
        return fault.status_code in PASSING or (too_large and not fault.own_form)
    return isinstance(fault, ConnectionFailedError)


def _ends_round(fault: HwciError) -> bool:
    """Tell what any other report would meet too from the fault of one."""
    if isinstance(fault, ApiError):
        told_all = fault.status_code in TAKES_NOTHING or _asked(fault) > 0
        return told_all or not _passing(fault)
    return True


def _asked(fault: HwciError) -> float:
    return (fault.retry_after or 0.0) if isinstance(fault, ApiError) else 0.0
