# SPDX-License-Identifier: Apache-2.0
"""What became of reports, and the messages about those that were not sent: why, where they are now,
and what to do next. Whether to send is decided in `hwci.client.delivery.sending`; nothing is sent
or kept from here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from hwci.client.errors import (
    AnswerShapeError,
    ConnectionFailedError,
    HwciError,
    TimedOutError,
    UnauthorizedError,
)
from hwci.client.explained import NO_URL, NO_URL_FIX, ErrorMessage, ExitCode, explain, shortened
from hwci.client.store import BenchStore, PendingReport
from hwci.said import counted
from hwci.wire.reports import MergeAnnouncement, RunReport

Reports = Sequence[RunReport] | Sequence[MergeAnnouncement]

AGAIN = "once the cause is gone, `hwci spool flush --refused` sends refused reports again"
BY_NAME = "`hwci spool flush NAME` sends a superseded one all the same"
OTHER_KEY_FIX = "If that one was wrong or was replaced: hwci spool flush --any-key"
DAMAGED_FIX = "Check the disk; report what was in it again, from the results of its job"


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


def failed(reports: Reports) -> str:
    """Return what did not happen when one of these was not sent."""
    merges = any(isinstance(report, MergeAnnouncement) for report in reports)
    return "The merge was not announced" if merges else "The run was not reported"


def for_other_key(count: int) -> str:
    """Return the note on reports for another key. A key may be another organization's, so only a
    person can decide that they go out with this one.
    """
    return f"{_of_other_key(count)}. {OTHER_KEY_FIX}"


def all_for_other_key(failed: str, count: int) -> ErrorMessage:
    """Return the message about a flush that sent nothing, as all that waits is for another key."""
    return ErrorMessage(failed, _of_other_key(count), OTHER_KEY_FIX)


def _of_other_key(count: int) -> str:
    return f"{counted(count, 'report')} {_wait(count)} for another key"


def for_others(store: BenchStore, address: str, fingerprint: str | None) -> Iterator[str]:
    """Return the notes on reports for another key or server than these. `fingerprint` None: for
    any key. Only a person knows whether an address was wrong, or the server moved.

    Raises:
        StoreError: the store cannot be read.
    """
    if fingerprint is not None and (keyed := store.others_waiting(address, fingerprint)):
        yield for_other_key(keyed)
    if count := store.elsewhere(address):
        yield (
            f"{counted(count, 'report')} {_wait(count)} for another server. If its address was"
            " wrong or the server moved: hwci spool flush --any-server"
        )


def unkept(reports: Sequence[PendingReport]) -> str:
    """Return which reports are not on the disk, why, and what to do; empty if all are."""
    lost = [(report.name, report.unkept) for report in reports if report.unkept is not None]
    if not lost:
        return ""
    names, why = ", ".join(name for name, _ in lost), lost[0][1]
    are, they = ("is", "it is") if len(lost) == 1 else ("are", "they are")
    return f"{names} {are} not kept on the disk before {they} sent: {why}. {why.fix}"


def still_waiting(outcome: Outcome, *, over: bool) -> str:
    """Return the note on earlier reports that still wait. `over`: the deadline has passed."""
    count = len(outcome.left) + len(outcome.untried)
    if outcome.left:
        why = _message_of(outcome.left[-1]).cause
    else:
        why = "the deadline has passed" if over else "another process sends right now"
    return (
        f"{counted(count, 'report')} still {_wait(count)} ({why}). To send them: hwci spool flush"
    )


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"


def set_aside(aside: Sequence[PendingReport]) -> str:
    """Return how many reports are set aside, by cause."""
    broken = sum(report.state == "damaged" for report in aside)
    later = sum(report.state == "superseded" for report in aside)
    parts = []
    if many := len(aside) - broken - later:
        parts.append(f"{counted(many, 'report')} refused and set aside")
    if later:
        parts.append(f"{counted(later, 'report')} superseded by a later one and set aside")
    if broken:
        parts.append(f"{counted(broken, 'file')} damaged and set aside")
    return ", ".join(parts)


def ways_back(aside: Sequence[PendingReport]) -> str:
    """Return the commands that send what was set aside."""
    states = {report.state for report in aside}
    again = [AGAIN] if states - {"superseded"} else []
    return "; ".join((*again, *([BY_NAME] if "superseded" in states else [])))


def superseded(older: Sequence[PendingReport]) -> str:
    """Return the note on reports of other keys that a later one superseded: only a person knows
    whether the keys are of one organization.
    """
    are = "is" if len(older) == 1 else "are"
    return (
        f"{counted(len(older), 'earlier report')} of {older[-1].name}, for another key, {are} set "
        "aside, so that it does not replace this one. To send it all the same: hwci spool flush "
        f"{older[-1].label}"
    )


def done_elsewhere(outcome: Outcome) -> str:
    """Return the note on what another process of this machine did meanwhile, or an empty text."""
    count = len(outcome.elsewhere)
    what = f"{counted(count, 'report')} sent by another process, or superseded there"
    return f"note: {what}." if count else ""


def damaged(things: Sequence[str]) -> str:
    """Return the note on what is damaged: its reports were not sent."""
    are = "is" if len(things) == 1 else "are"
    return f"{counted(len(things), 'file')} {are} damaged and set aside: {', '.join(things)}"


def not_sent(failed: str, outcome: Outcome, total: int) -> ErrorMessage:
    """Return the message about an outcome in which not all of `total` reports were sent. The first
    fault decides the exit code and what to do next.
    """
    each = [(unsent.report.name, _message_of(unsent)) for unsent in outcome.unsent]
    untried = len(outcome.untried)
    first = each[0][1] if each else _not_tried(outcome)
    message = replace(first, what=failed, fix=f"{first.fix}{place(outcome)}")
    if total > 1:
        cause = f"{counted(len(outcome.unsent), 'report')} not taken"
        lines = [
            line
            for name, report in each or [(outcome.untried[0].name, first)]
            for line in (f"{name}: {report.cause}", *(f"  {detail}" for detail in report.details))
        ]
        sent = len(outcome.sent)
        message = replace(
            message,
            what=f"{failed}{' whole' if sent else ''}: {sent} of {total} were sent",
            cause=f"{cause}, {untried} not tried" if untried else cause,
            details=shortened(lines),
        )
    left = (unsent.report for unsent in outcome.unsent if unsent.aside is None)
    return _with_lost(message, [*left, *outcome.untried])


def without_key(message: ErrorMessage, reports: Sequence[PendingReport]) -> ErrorMessage:
    """Add where reports are that no key was there for."""
    if held := next((report for report in reports if report.kept), None):
        where = f"Pending reports are kept in {held.file.parent}"
        sender = "with the key, `hwci spool flush --any-key` sends them"
        message = replace(message, fix=f"{message.fix}. {where}; {sender}")
    return _with_lost(message, reports)


def without_server(failed: str, reports: Sequence[PendingReport]) -> ErrorMessage:
    """Return the message about reports whose server is not known."""
    fix = f"{NO_URL_FIX}{place(Outcome(untried=list(reports)), server_known=False)}"
    return _with_lost(ErrorMessage(failed, NO_URL, fix), reports)


def cut_short(failed: str, cause: str, reports: Sequence[PendingReport]) -> ErrorMessage:
    """Return the message about sending that a signal ended: some may have gone out meanwhile."""
    where = place(Outcome(untried=list(reports))).removeprefix(". ")
    return ErrorMessage(f"{failed} yet", f"{cause}: sending was cut short", where)


def _with_lost(message: ErrorMessage, unsent: Sequence[PendingReport]) -> ErrorMessage:
    """Add what is neither sent nor on the disk: no later command will send it."""
    lost = [(report.name, report.unkept) for report in unsent if report.unkept is not None]
    if not lost:
        return message
    why = lost[0][1]
    return replace(
        message,
        what=f"{message.what}, and nothing is kept of {', '.join(name for name, _ in lost)}",
        cause=f"{message.cause}; and on the disk: {why}",
        fix=f"{message.fix}. {why.fix}. Then report again: what is not kept is lost",
    )


def _message_of(unsent: Unsent) -> ErrorMessage:
    if unsent.fault is not None:
        message = explain(unsent.fault, by_ci_key=True)
        if isinstance(unsent.fault, TimedOutError):
            return replace(message, fix=f"{message.fix}; --deadline gives it longer")
        return message
    assert unsent.aside is not None, "what failed has a fault, or was set aside"
    if unsent.damaged:
        return ErrorMessage("", damaged([f"report {unsent.aside.label}"]), DAMAGED_FIX)
    return ErrorMessage("", unsent.aside.reason, "Look at the report: `hwci spool list`")


def _not_tried(outcome: Outcome) -> ErrorMessage:
    if outcome.asked_s:
        cause = f"the server asked to be left alone for another {outcome.asked_s:.0f} s"
    else:
        cause = "another process sends it right now"
    return ErrorMessage("", cause, "Nothing needs to be done", ExitCode.UNREACHABLE)


def place(outcome: Outcome, *, server_known: bool = True) -> str:
    """Return where what was not sent is now, and what sends it."""
    waiting = [*(unsent.report for unsent in outcome.left), *outcome.untried]
    places = []
    if held := next((report for report in waiting if report.kept), None):
        faults = [unsent.fault for unsent in outcome.left]
        sender = "the next report sends them, too, and so does `hwci spool flush`"
        if any(isinstance(fault, UnauthorizedError) for fault in faults):
            sender = "once the key is right, `hwci spool flush --any-key` sends them"
        elif not server_known:
            sender = "once the server is known, the next report and `hwci spool flush` send them"
        elif any(isinstance(fault, ConnectionFailedError | AnswerShapeError) for fault in faults):
            sender += ", with --any-server if the address was wrong"  # no hwci server answered
        beside = f", with {counted(outcome.beside, 'other')}" if outcome.beside > 0 else ""
        places.append(f". Pending reports are kept in {held.file.parent}{beside}; {sender}")
    aside = [
        report.aside
        for report in outcome.refused
        if report.aside is not None and not report.damaged
    ]
    if aside:
        places.append(f". Refused reports are set aside in {aside[0].file.parent}; {AGAIN}")
    return "".join(places)
