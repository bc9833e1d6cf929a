# SPDX-License-Identifier: Apache-2.0
"""What is said of reports that were not sent: why, where they are now, and what to do next. Whether
to send is decided in `hwci.client.dispatch`; nothing is sent or kept from here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hwci.cli.session.settings import NO_URL, NO_URL_FIX
from hwci.cli.terminal.tables import counted
from hwci.client.explained import ErrorMessage, ExitCode, explain, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hwci.client.dispatch import Letter, Outcome, Unsent
    from hwci.client.spool import SpoolError
    from hwci.client.spool_files import Refused

AGAIN = "once its cause is gone, `hwci spool flush --refused` sends what was refused again"
BY_NAME = "`hwci spool flush NAME` sends a superseded one all the same"
DAMAGED_FIX = "Check the disk; report what was in it anew, from the results of its job"


def for_other_key(count: int) -> str:
    """Say that reports wait for a key that this is not: a key may be another organization's, so
    nobody but a person can know that it is the one to take.
    """
    return (
        f"{counted(count, 'report')} {_wait(count)} for another key. If that one was wrong or was"
        " replaced: hwci spool flush --any-key"
    )


def for_other_server(count: int) -> str:
    """Say that reports wait for an address that this is not: nobody but a person can know that it
    was wrong, or that the server moved.
    """
    return (
        f"{counted(count, 'report')} {_wait(count)} for another server. If its address was wrong or"
        " the server moved: hwci spool flush --any-server"
    )


def no_place() -> SpoolError:
    """Say why there is no folder for reports."""
    from hwci.client.spool import SpoolError

    what = "HOME is not set, and this user has no home folder"
    return SpoolError(what, "Set HWCI_SPOOL_DIR to a folder that outlives the job")


def still_waiting(outcome: Outcome, *, over: bool) -> str:
    """Say how many of those that waited still do, why, and what sends them. `over`: no time was
    left for more.
    """
    count = len(outcome.left) + len(outcome.untried)
    if outcome.left:
        why = _failing_of(outcome.left[-1]).cause
    else:
        why = "the deadline has passed" if over else "another process sends right now"
    return (
        f"{counted(count, 'report')} still {_wait(count)} ({why}). To send them: hwci spool flush"
    )


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"


def set_aside(refused: Sequence[Refused]) -> str:
    """Say what lies where it is not sent again."""
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
    """Return what sends what was set aside."""
    again = [AGAIN] if any(not one.superseded for one in refused) else []
    return "; ".join((*again, *([BY_NAME] if any(one.superseded for one in refused) else [])))


def superseded(older: Sequence[Refused]) -> str:
    """Say which reports of other keys are not sent any more, as a later one came: whether they are
    of one organization, nobody but a person can know.
    """
    are = "is" if len(older) == 1 else "are"
    return (
        f"{counted(len(older), 'earlier report')} of {older[-1].name}, for another key, {are} set "
        "aside, so that it does not replace this one. To send it all the same: hwci spool flush "
        f"{number_of(older[-1])}"
    )


def settled_elsewhere(outcome: Outcome) -> str:
    """Say what another process of this machine did meanwhile; empty: nothing."""
    count = len(outcome.elsewhere)
    what = f"{counted(count, 'report')} sent by another process, or superseded there"
    return f"note: {what}." if count else ""


def number_of(report: Refused) -> str:
    """Return how the name of its file begins: enough to name it."""
    return report.path.name.partition("-")[0]


def damaged(paths: Sequence[Path]) -> str:
    """Say which files were set aside as nobody can read them: what was in them was not sent."""
    are = "is" if len(paths) == 1 else "are"
    return (
        f"{counted(len(paths), 'file')} {are} damaged and set aside: {', '.join(map(str, paths))}"
    )


def failing_to_send(failed: str, outcome: Outcome, total: int) -> ErrorMessage:
    """Say what was not sent, why, and where it is now. The first fault counts."""
    message = _failing_to_send(failed, outcome, total)
    untaken = (one.letter for one in outcome.unsent if one.refused is None)
    return _with_lost(message, [*untaken, *outcome.untried])


def failing_without_key(message: ErrorMessage, letters: Sequence[Letter]) -> ErrorMessage:
    """Say where reports are that no key was there for."""
    if kept := next((letter.kept for letter in letters if letter.kept is not None), None):
        place = f"What waits is kept in {kept.path.parent}"
        sender = "with the key, `hwci spool flush --any-key` sends it"
        message = replace(message, fix=f"{message.fix}. {place}; {sender}")
    return _with_lost(message, letters)


def failing_without_server(failed: str, letters: Sequence[Letter]) -> ErrorMessage:
    """Say where reports are that no server was told for."""
    from hwci.client.dispatch import Outcome

    fix = f"{NO_URL_FIX}{place(Outcome(untried=list(letters)), nowhere=True)}"
    return _with_lost(ErrorMessage(failed, NO_URL, fix), letters)


def _with_lost(message: ErrorMessage, unsent: Sequence[Letter]) -> ErrorMessage:
    """Say of what was not sent what is not on the disk either: no later command will send it."""
    lost = [letter for letter in unsent if letter.unkept is not None]
    if not lost:
        return message
    assert lost[0].unkept is not None
    return replace(
        message,
        what=f"{message.what}, and nothing is kept of {', '.join(one.name for one in lost)}",
        cause=f"{message.cause}; and on the disk: {lost[0].unkept}",
        fix=f"{message.fix}. {lost[0].unkept.fix}. Then report anew: what is not kept is lost",
    )


def _failing_to_send(failed: str, outcome: Outcome, total: int) -> ErrorMessage:
    each = [(unsent.letter.name, _failing_of(unsent)) for unsent in outcome.unsent]
    untried = len(outcome.untried)
    if not each:
        each = [(outcome.untried[0].name, _not_tried(outcome))]
    first = each[0][1]
    fix = f"{first.fix}{place(outcome)}"
    if total == 1:
        return replace(first, what=failed, fix=fix)
    lines = [
        line
        for name, message in each
        for line in (f"{name}: {message.cause}", *(f"  {detail}" for detail in message.details))
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


def _key_is_refused(unsent: Unsent) -> bool:
    from hwci.client.errors import UnauthorizedError

    return isinstance(unsent.fault, UnauthorizedError)


def _may_be_elsewhere(unsent: Unsent) -> bool:
    """Tell whether no hwci server answered."""
    from hwci.client.errors import AnswerShapeError, ConnectionFailedError

    return isinstance(unsent.fault, ConnectionFailedError | AnswerShapeError)


def _failing_of(unsent: Unsent) -> ErrorMessage:
    from hwci.client.errors import TimedOutError

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


def place(outcome: Outcome, *, nowhere: bool = False) -> str:
    """Say where what was not sent is now. `nowhere`: it waits for a server to be told."""
    waiting = [unsent.letter.kept for unsent in outcome.left]
    waiting += [letter.kept for letter in outcome.untried]
    places = []
    if kept := next((kept for kept in waiting if kept is not None), None):
        sender = "the next report sends it, too, and so does `hwci spool flush`"
        if any(_key_is_refused(unsent) for unsent in outcome.left):
            sender = "once the key is right, `hwci spool flush --any-key` sends it"
        elif nowhere:
            sender = "once the server is known, the next report and `hwci spool flush` send it"
        elif any(_may_be_elsewhere(unsent) for unsent in outcome.left):
            sender += ", with --any-server if the address was wrong"
        beside = f", with {counted(outcome.beside, 'other')}" if outcome.beside > 0 else ""
        places.append(f". What waits is kept in {kept.path.parent}{beside}; {sender}")
    aside = [one.refused for one in outcome.refused if one.refused is not None and not one.damaged]
    if aside:
        places.append(f". What was refused is set aside in {aside[0].path.parent}; {AGAIN}")
    return "".join(places)
