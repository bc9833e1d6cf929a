# SPDX-License-Identifier: Apache-2.0
"""The messages about reports that were not sent: why, where they are now, and what to do next.
Whether to send is decided in `hwci.client.dispatch`; nothing is sent or kept from here.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hwci.client.dispatch import Letter, Outcome, Unsent
from hwci.client.errors import (
    AnswerShapeError,
    ConnectionFailedError,
    TimedOutError,
    UnauthorizedError,
)
from hwci.client.explained import (
    NO_URL,
    NO_URL_FIX,
    ErrorMessage,
    ExitCode,
    counted,
    explain,
    shortened,
)
from hwci.client.spool import SpoolError
from hwci.client.spool_files import Refused

AGAIN = "once its cause is gone, `hwci spool flush --refused` sends what was refused again"
BY_NAME = "`hwci spool flush NAME` sends a superseded one all the same"
DAMAGED_FIX = "Check the disk; report what was in it anew, from the results of its job"


def for_other_key(count: int) -> str:
    """Return the note on reports for another key. A key may be another organization's, so only a
    person can decide that they go out with this one.
    """
    return (
        f"{counted(count, 'report')} {_wait(count)} for another key. If that one was wrong or was"
        " replaced: hwci spool flush --any-key"
    )


def for_other_server(count: int) -> str:
    """Return the note on reports for another address. Only a person knows whether it was wrong, or
    the server moved.
    """
    return (
        f"{counted(count, 'report')} {_wait(count)} for another server. If its address was wrong or"
        " the server moved: hwci spool flush --any-server"
    )


def no_place() -> SpoolError:
    """Return the error of a user without a folder for reports."""
    what = "HOME is not set, and this user has no home folder"
    return SpoolError(what, "Set HWCI_SPOOL_DIR to a folder that outlives the job")


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


def set_aside(refused: Sequence[Refused]) -> str:
    """Return how many reports are set aside, by cause."""
    broken = sum(one.damaged for one in refused)
    later = sum(one.superseded for one in refused)
    parts = []
    if many := len(refused) - broken - later:
        parts.append(f"{counted(many, 'report')} refused and set aside")
    if later:
        parts.append(f"{counted(later, 'report')} superseded by a later one and set aside")
    if broken:
        parts.append(f"{counted(broken, 'file')} damaged and set aside")
    return ", ".join(parts)


def ways_back(refused: Sequence[Refused]) -> str:
    """Return the commands that send what was set aside."""
    again = [AGAIN] if any(not one.superseded for one in refused) else []
    return "; ".join((*again, *([BY_NAME] if any(one.superseded for one in refused) else [])))


def superseded(older: Sequence[Refused]) -> str:
    """Return the note on reports of other keys that a later one superseded: only a person knows
    whether the keys are of one organization.
    """
    are = "is" if len(older) == 1 else "are"
    return (
        f"{counted(len(older), 'earlier report')} of {older[-1].name}, for another key, {are} set "
        "aside, so that it does not replace this one. To send it all the same: hwci spool flush "
        f"{number_of(older[-1])}"
    )


def settled_elsewhere(outcome: Outcome) -> str:
    """Return the note on what another process of this machine did meanwhile, or an empty text."""
    count = len(outcome.elsewhere)
    what = f"{counted(count, 'report')} sent by another process, or superseded there"
    return f"note: {what}." if count else ""


def number_of(report: Refused) -> str:
    """Return the number that the name of its file begins with: enough to name the report."""
    return report.path.name.partition("-")[0]


def damaged(paths: Sequence[Path]) -> str:
    """Return the note on damaged files, whose reports were not sent."""
    are = "is" if len(paths) == 1 else "are"
    return (
        f"{counted(len(paths), 'file')} {are} damaged and set aside: {', '.join(map(str, paths))}"
    )


def not_sent(failed: str, outcome: Outcome, total: int) -> ErrorMessage:
    """Return the message about an outcome in which not all of `total` reports were sent. The first
    fault decides the exit code and what to do next.
    """
    each = [(unsent.letter.name, _message_of(unsent)) for unsent in outcome.unsent]
    untried = len(outcome.untried)
    first = each[0][1] if each else _not_tried(outcome)
    message = replace(first, what=failed, fix=f"{first.fix}{place(outcome)}")
    if total > 1:
        cause = f"{counted(len(outcome.unsent), 'report')} not taken"
        lines = [
            line
            for name, one in each or [(outcome.untried[0].name, first)]
            for line in (f"{name}: {one.cause}", *(f"  {detail}" for detail in one.details))
        ]
        sent = len(outcome.sent)
        message = replace(
            message,
            what=f"{failed}{' whole' if sent else ''}: {sent} of {total} were sent",
            cause=f"{cause}, {untried} not tried" if untried else cause,
            details=shortened(lines),
        )
    left = (one.letter for one in outcome.unsent if one.refused is None)
    return _with_lost(message, [*left, *outcome.untried])


def without_key(message: ErrorMessage, letters: Sequence[Letter]) -> ErrorMessage:
    """Add where reports are that no key was there for."""
    if kept := next((letter.kept for letter in letters if letter.kept is not None), None):
        where = f"What waits is kept in {kept.path.parent}"
        sender = "with the key, `hwci spool flush --any-key` sends it"
        message = replace(message, fix=f"{message.fix}. {where}; {sender}")
    return _with_lost(message, letters)


def without_server(failed: str, letters: Sequence[Letter]) -> ErrorMessage:
    """Return the message about reports whose server is not known."""
    fix = f"{NO_URL_FIX}{place(Outcome(untried=list(letters)), server_known=False)}"
    return _with_lost(ErrorMessage(failed, NO_URL, fix), letters)


def cut_short(failed: str, cause: str, letters: Sequence[Letter]) -> ErrorMessage:
    """Return the message about sending that a signal ended: some may have gone out meanwhile."""
    where = place(Outcome(untried=list(letters))).removeprefix(". ")
    return ErrorMessage(f"{failed} yet", f"{cause}: sending was cut short", where)


def _with_lost(message: ErrorMessage, unsent: Sequence[Letter]) -> ErrorMessage:
    """Add what is neither sent nor on the disk: no later command will send it."""
    lost = [(letter.name, letter.unkept) for letter in unsent if letter.unkept is not None]
    if not lost:
        return message
    why = lost[0][1]
    return replace(
        message,
        what=f"{message.what}, and nothing is kept of {', '.join(name for name, _ in lost)}",
        cause=f"{message.cause}; and on the disk: {why}",
        fix=f"{message.fix}. {why.fix}. Then report anew: what is not kept is lost",
    )


def _message_of(unsent: Unsent) -> ErrorMessage:
    if unsent.fault is not None:
        message = explain(unsent.fault, by_ci_key=True)
        if isinstance(unsent.fault, TimedOutError):
            return replace(message, fix=f"{message.fix}; --deadline gives it longer")
        return message
    assert unsent.refused is not None, "what failed has a fault, or was set aside"
    if unsent.damaged:
        return ErrorMessage("", damaged([unsent.refused.path]), DAMAGED_FIX)
    return ErrorMessage("", unsent.refused.reason, "Look at the report: hwci spool list")


def _not_tried(outcome: Outcome) -> ErrorMessage:
    if outcome.asked_s:
        cause = f"the server asked to be left alone for another {outcome.asked_s:.0f} s"
    else:
        cause = "another process sends it right now"
    return ErrorMessage("", cause, "Nothing needs to be done", ExitCode.UNREACHABLE)


def place(outcome: Outcome, *, server_known: bool = True) -> str:
    """Return where what was not sent is now, and what sends it."""
    waiting = [unsent.letter.kept for unsent in outcome.left]
    waiting += [letter.kept for letter in outcome.untried]
    places = []
    if kept := next((kept for kept in waiting if kept is not None), None):
        faults = [unsent.fault for unsent in outcome.left]
        sender = "the next report sends it, too, and so does `hwci spool flush`"
        if any(isinstance(fault, UnauthorizedError) for fault in faults):
            sender = "once the key is right, `hwci spool flush --any-key` sends it"
        elif not server_known:
            sender = "once the server is known, the next report and `hwci spool flush` send it"
        elif any(isinstance(fault, ConnectionFailedError | AnswerShapeError) for fault in faults):
            sender += ", with --any-server if the address was wrong"  # no hwci server answered
        beside = f", with {counted(outcome.beside, 'other')}" if outcome.beside > 0 else ""
        places.append(f". What waits is kept in {kept.path.parent}{beside}; {sender}")
    aside = [one.refused for one in outcome.refused if one.refused is not None and not one.damaged]
    if aside:
        places.append(f". What was refused is set aside in {aside[0].path.parent}; {AGAIN}")
    return "".join(places)
