# SPDX-License-Identifier: Apache-2.0
"""Whose a failure of a commit is: the bench's, that of a bug of the base branch or of a flaky test,
or that of the change (semantics, 15).

`CLAIMS` is the order of precedence: the first claim that holds is made. A failure is somebody
else's only where that is sure. So a test that failed in all tries is never called flaky, however
often it fails before: one more run tells, and until then it may be the change.
"""

from collections.abc import Callable, Mapping

from hwci.analysis.commits.known import Known
from hwci.analysis.commits.odds import Chances, Seen
from hwci.analysis.commits.past import Box
from hwci.contract.vocabulary import Whose

SAID_FROM = 0.75
"""From this chance on the change is said to have broken a test."""
EXCUSED_TO = 0.01
"""Up to this chance that it is the change its failures may be somebody else's: an excuse that is
wrong merges a bug.
"""


def is_lost(known: Known) -> bool:
    """Whether it failed only where the board was lost, and not by the change: each of these boxes
    passes it in another run, and loses boards as before. That others pass it is not enough, as a
    change may hang boards of one type; nor is the word of the harness, which sees a dead board.
    """
    if known.chances is not None or not known.lost_at:
        return False
    passes = {*known.failed_on} <= {*known.passed_on}
    return passes and known.losses.by_change <= EXCUSED_TO


def excuse(box: Box, chances: Chances) -> Whose:
    """Return whose the failure on a box is, if it is not the change's."""
    if box.is_alone or (box.on.was_broken and box.on.blames_bench):
        return Whose.BENCH
    if box.on.was_broken:
        return Whose.BASE
    return Whose.BENCH if box.in_group or chances.bench > chances.before else Whose.FLAKY


def excuses(known: Known) -> frozenset[Whose]:
    """Return whose the failures on all boxes are; those of the change, if that is not excluded. A
    lost board beside other failures may hide what would tell, and a test that never ran before may
    have come with the change.
    """
    chances = known.chances
    if chances is None or known.lost_at:
        return frozenset({Whose.THIS_CHANGE})
    is_known = all(box.on.was_broken or any(box.before.tries) for box in known.failing)
    is_shown = known.tries.passes > 0 or all(box.on.was_broken for box in known.failing)
    if not (is_known and is_shown and chances.change <= EXCUSED_TO):
        return frozenset({Whose.THIS_CHANGE})
    return frozenset(excuse(box, chances) for box in known.failing)


def _is_of_change(known: Known) -> bool:
    is_seen = any(box.on.seen is not Seen.NOT for box in known.failing)
    return is_seen and known.chances is not None and known.chances.change >= SAID_FROM


CLAIMS: Mapping[Whose, Callable[[Known], bool]] = {
    Whose.BENCH: lambda known: is_lost(known) or excuses(known) <= {Whose.BENCH},
    Whose.BASE: lambda known: excuses(known) <= {Whose.BENCH, Whose.BASE},
    Whose.FLAKY: lambda known: excuses(known) <= {Whose.BENCH, Whose.BASE, Whose.FLAKY},
    Whose.THIS_CHANGE: _is_of_change,
    Whose.TOO_FEW: lambda _: True,
}
"""Each claim with what it takes, in the order of precedence."""


def whose(known: Known) -> Whose:
    """Return whose the failures of a test are."""
    return next(claim for claim, holds in CLAIMS.items() if holds(known))


def chance_of(claim: Whose, known: Known) -> float | None:
    """Return how sure a claim is; None where it only counts."""
    if known.chances is None or claim is Whose.TOO_FEW:
        return None
    return known.chances.change if claim is Whose.THIS_CHANGE else 1 - known.chances.change
