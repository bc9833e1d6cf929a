# SPDX-License-Identifier: Apache-2.0
"""What is said of a failure of a commit: whose it is, on what that rests, and the run that would
tell more. Whose it is, is decided in `whose.py`.
"""

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from hwci.analysis.benches.words import listed
from hwci.analysis.certainty import SURE
from hwci.analysis.commits.before import Tries
from hwci.analysis.commits.change import Change
from hwci.analysis.commits.known import Known
from hwci.analysis.commits.odds import Seen, kept_needed
from hwci.analysis.commits.past import Box
from hwci.analysis.commits.whose import EXCUSED_TO, excuse
from hwci.analysis.outcomes import RunOutcomes
from hwci.contract.vocabulary import Whose
from hwci.said import counted, day, short

NOT_ENOUGH = "Not enough data: it may be this change"


class Words(NamedTuple):
    """What people read: whose it is, what decided, and the run that would tell more."""

    says: str
    evidence: str
    to_settle: str | None


def words(claim: Whose, known: Known, change: Change, lost_at: Sequence[str]) -> Words:
    """Return what is said of the failures of a test. `lost_at`: where its runs lost the board, as
    people call these tests.
    """
    if known.chances is None:
        return _of_lost(claim, known, change, listed(lost_at))
    says = {
        Whose.BENCH: _of_bench,
        Whose.BASE: _of_base,
        Whose.FLAKY: _of_flaky,
        Whose.THIS_CHANGE: _of_change,
        Whose.TOO_FEW: lambda *_: NOT_ENOUGH,
    }[claim]
    return Words(says(known, change), _evidence(known, change), _to_settle(claim, known, change))


def broken_since(known: Known) -> RunOutcomes | None:
    """Return the first run of the base branch since which it fails there, on boxes of the commit;
    None: it does not, or passes there again.
    """
    runs = [
        box.before.since
        for box in known.boxes
        if box.on.was_broken and box.before.since is not None
    ]
    first = min(runs, key=lambda run: run.started_at, default=None)
    return None if first is None or known.past.passes_again(first) else first


def _of_lost(claim: Whose, known: Known, change: Change, lost: str) -> Words:
    where = f"The board was lost at {lost}"
    boxes = listed(known.failed_on)
    kept = f"{counted(known.losses.here.passed, 'other run')} of this commit kept it on {boxes}"
    if claim is Whose.BENCH:
        return Words(where, f"{where}; {kept}", None)
    needed = kept_needed(known.losses, EXCUSED_TO)
    more = counted(needed, "run")
    nothing = "that run tells nothing of this test"
    tells = f"{nothing}; {more} of this commit that keep it would blame the bench"
    if known.losses.here.passed:
        tells = f"{kept}; {needed:,} more that do would blame the bench"
    again = f"Test {short(change.sha)} on {known.failed_on[0]} again"
    return Words(NOT_ENOUGH, f"{where}: {tells}", again)


def _of_bench(known: Known, change: Change) -> str:
    before = [box.box_key for box in known.failing if box.is_alone or box.in_group]
    if not before:
        return "The harness blames the bench"
    return f"{listed(before)}: fails on {change.base_branch} too, other boxes do not"


def _of_base(known: Known, change: Change) -> str:
    run = broken_since(known)
    if run is None:
        return f"Failed on {change.base_branch} too, and passes there again: rebase"
    return f"Fails on {change.base_branch} too, since {short(run.sha)} ({day(run.started_at)})"


def _of_flaky(known: Known, _: Change) -> str:
    again = {box.box_key for box in known.failing} & {*known.passed_on}
    return f"Flaky: it passed here on {listed(sorted(again) or known.passed_on)}"


def _of_change(known: Known, _: Change) -> str:
    chances = known.chances
    is_broken = chances is None or chances.broken >= chances.made_flaky
    return "Broken by this change" if is_broken else "Made flaky by this change"


def _evidence(known: Known, change: Change) -> str:
    """Return in words what counts: the tries at the commit, and those before it."""
    tries, failing = known.tries, known.failing
    attempts = counted(tries.failures + tries.passes, "attempt")
    here = f"{tries.failures:,} of {attempts} failed here"
    return f"{here}; before, on {change.base_branch}, {_fared(failing)}"


def _fared(failing: Sequence[Box]) -> str:
    """Return in words how the test fared before on the boxes on which it failed, or those that are
    alike.
    """
    broken = [box for box in failing if box.on.was_broken]
    if broken:
        box = max(broken, key=lambda box: box.before.runs)
        return f"the last {counted(box.before.runs, 'run')} failed"
    tries = reduce(Tries.plus, {box.before.tries for box in failing}, Tries())
    if not tries.failed + tries.passed:
        return "no run tells of it: it may be new"
    first = f"{tries.failed:,} of {counted(tries.failed + tries.passed, 'first attempt')} failed"
    retries = tries.retries_failed + tries.retries_passed
    if not retries:
        return first
    return f"{first}, and {tries.retries_passed:,} of {retries:,} retries passed"


def _to_settle(claim: Whose, known: Known, change: Change) -> str | None:
    chances = known.chances
    if chances is None or claim in {Whose.BENCH, Whose.BASE, Whose.FLAKY}:
        return None
    if claim is Whose.THIS_CHANGE and chances.change >= SURE:
        return None
    # Where the box is in doubt, it runs what the change began from; else the commit again.
    doubted = next((box for box in known.failing if excuse(box, chances) is Whose.BENCH), None)
    unseen = next((box for box in known.failing if box.on.seen is Seen.NOT), doubted)
    if unseen is not None:
        fork = change.base_branch if change.fork is None else short(change.fork.sha)
        return f"Test {fork} on {unseen.box_key}: if it passes there, suspect this change"
    box = known.failing[0].box_key
    return f"Test {short(change.sha)} on {box} again: if it fails there, suspect this change"
