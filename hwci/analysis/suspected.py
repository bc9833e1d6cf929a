# SPDX-License-Identifier: Apache-2.0
"""Whether a test fails now, is flaky or was fixed, and whom to suspect: in a sentence or two for
the page of the test, in few words for its row of "Flakiest tests".

This module decides which of the answers is given. Since when and how sure is decided in
`suspects.py`, whether one box is worse in `benches`, what is still failing in `rules/labels.py`,
and where to look first at that in `failures/look_first.py`.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from hwci.analysis.benches import words
from hwci.analysis.benches.report import TestOnBox
from hwci.analysis.failures.incidents import Described
from hwci.analysis.failures.look_first import named
from hwci.analysis.flaky.branch_order import CommitKind
from hwci.analysis.flaky.suspect_words import LIKELY, since_when, sure
from hwci.analysis.flaky.suspects import NEVER_PASSED, STRONG, Intermittent
from hwci.engine.rules.labels import Group
from hwci.said import counted, day, short

IN_A_ROW = 3
"""A test that failed on so many commits of one box without a pass fails; on fewer it may be flaky.
"""

_SWAP = (
    "to tell bench from firmware, swap the board of {0} with that of another bench: if the failures"
    " stay on {0}, it is the bench; if they move, it is the board or the firmware"
)
_RACE_IN = {
    CommitKind.FIRMWARE: "a race in the firmware is likely",
    CommitKind.HARNESS: "a race in the harness is likely",
    CommitKind.BOTH: "a race in the firmware or in the harness is likely",
}


class Failing(NamedTuple):
    """Where a test fails now: on so many commits of a branch, without a pass since. `in_a_row`: the
    most on one box.
    """

    branch: str
    boxes: Sequence[str]
    commits: int
    in_a_row: int
    sha: str
    since: datetime


class Known(NamedTuple):
    """What is known of a test that failed: where it fails now, what its runs suggest or what is
    missing for that, and the box that is worse than the others. `look_first`: what is said of the
    incidents that it fails in now.
    """

    failing: Failing | None
    found: Intermittent | str
    worst: TestOnBox | None
    look_first: Sequence[str] = ()


class Suspected(NamedTuple):
    """The answer, as a sentence and in few words. `box`: the one that the few words name.
    `names_only_box`: it says that one box alone ran the test. `to_tell`: what would tell a
    suspected bench from its board and the firmware.
    """

    sentence: str
    few_words: str
    box: str | None = None
    names_only_box: bool = False
    to_tell: str = ""


def known_of(
    pending: Sequence[Group],
    found: Intermittent | str,
    worst: TestOnBox | None,
    incidents: Iterable[Described] = (),
) -> Known:
    """Return what is known of a test. `pending`: its failures that are; `incidents`: which have
    these. What runs suggest is of one branch, so a failure on another one is left out beside it.
    """
    failing = fails_on(pending, None if isinstance(found, str) else found.since.branch)
    return Known(failing, found, worst, look_first_at(failing, incidents))


def look_first_at(failing: Failing | None, incidents: Iterable[Described]) -> Sequence[str]:
    """Return what is said of the incidents on the branch where a test fails now."""
    return [
        *dict.fromkeys(
            one.look_first
            for one in incidents
            if failing and one.look_first and one.incident.lane.branch == failing.branch
        )
    ]


def fails_on(pending: Sequence[Group], branch: str | None = None) -> Failing | None:
    """Return where a test fails now on a branch; None: on that which failed last."""
    if not pending:
        return None
    last = max(pending, key=lambda one: one.last.last_started_at).first.key.lane
    branch = branch or last.branch
    groups = [group for group in pending if group.first.key.lane.branch == branch]
    if not groups:
        return None
    first = min((group.first for group in groups), key=lambda one: one.place)
    return Failing(
        branch=branch,
        boxes=sorted({group.first.key.lane.box_key for group in groups}),
        commits=len({one.key.sha for group in groups for one in group.failures}),
        in_a_row=max(len(group.failures) for group in groups),
        sha=first.key.sha,
        since=first.first.started_at,
    )


def fails_steadily(known: Known) -> bool:
    """Whether a test fails now as one does that is broken, not as one that is flaky."""
    found = known.found
    is_broken = isinstance(found, str) or found.broken
    return known.failing is not None and (is_broken or known.failing.in_a_row >= IN_A_ROW)


def suspected(known: Known) -> Suspected:
    """Answer whether a test is flaky, and whom to suspect."""
    if known.failing is None:
        return _of_found(known)
    found, boxes = known.found, named(known.failing.boxes)
    few_words = f"fails now on {boxes}"
    only = known.failing.boxes[0] if len(known.failing.boxes) == 1 else None
    if not isinstance(found, str) and found.is_fixed:
        fixed = _of_found(known)
        return Suspected(f"{fixed.sentence}. It has not passed on {boxes} since", fixed.few_words)
    now = [of_failing(known.failing), *known.look_first]
    if found == NEVER_PASSED or not fails_steadily(known):
        rest = _of_found(known)
        return rest._replace(
            sentence=". ".join([*now, rest.sentence]), few_words=few_words, box=only
        )
    return Suspected(". ".join(now), few_words, only)


def of_failing(failing: Failing) -> str:
    """Say where a test fails now, and since when."""
    on = f"on {counted(failing.commits, 'commit')} of {failing.branch}"
    since = f"since {short(failing.sha)} of {day(failing.since)}"
    return f"Fails now on {named(failing.boxes)}: {on} {since}"


def _has_commit(found: Intermittent) -> bool:
    """Whether one commit likely did it."""
    return found.since.before < LIKELY and found.since.suspects[0].share >= LIKELY


def _likeliest(found: Intermittent) -> str:
    return short(found.since.suspects[0].commit.sha)


def _of_found(known: Known) -> Suspected:
    found = known.found
    if found == NEVER_PASSED:
        return Suspected(f"Broken: {NEVER_PASSED}", "broken")
    if isinstance(found, str):
        return Suspected(f"Not enough data to say whether it is flaky: {found}", "not enough data")
    when = since_when(found.since)
    if found.broken and found.is_fixed:
        # Of several commits the failures beside it tell fewer: their lists know the last pass.
        since = f" {when}" if _has_commit(found) else ""
        return Suspected(f"Fixed: it was broken{since}, and passes now", "fixed")
    if found.is_fixed:
        return Suspected(f"Fixed{sure(found.fixed.chance)}: it was flaky {when}", "fixed")
    if found.broken:
        passed = "it has not passed on each box" if found.fixed.clean_runs else "no run has passed"
        return Suspected(f"Broken {when}: {passed} since", "broken")
    if known.worst is not None:
        return _on_one_box(found, known.worst)
    return _on_boxes(found)


def _on_one_box(found: Intermittent, worst: TestOnBox) -> Suspected:
    box, when = worst.box_key, since_when(found.since)
    how = f"on {box} only"
    if not worst.only:
        how = f"on several boxes, {words.more_often(worst)} on {box}"
    few_words = f"flaky on {box} only" if worst.only else f"flaky, mostly on {box}"
    if worst.note is not None and worst.before:
        noted = f"before the note of {day(worst.note.at)}"
        return Suspected(f"Flaky {how}, {noted}: what was done may have mended it", few_words, box)
    if _has_commit(found):
        first = f"look at {_likeliest(found)} on that bench"
        return Suspected(f"Flaky {how}, {when}: {first}", few_words, box)
    if not worst.only:
        return Suspected(f"Flaky {how}, {when}: the bench alone is not to blame", few_words, box)
    return _suspect_bench(f"Flaky {how}, {when}", few_words, box)


def _on_boxes(found: Intermittent) -> Suspected:
    boxes, when = found.boxes, since_when(found.since)
    worst = boxes.boxes[0].box_key
    commit = f"flaky since {_likeliest(found)}" if _has_commit(found) else ""
    if boxes.boxes_total == 1:
        why = f"only {worst} ran it, so run it on another box to tell the bench from the firmware"
        few_words = commit or "flaky on its only box"
        return Suspected(f"Flaky {when}: {why}", few_words, names_only_box=True)
    if boxes.all_alike:
        race = "a race in the firmware or in the test is likely"
        if commit:
            kind, share = max(found.since.kinds.items(), key=lambda one: one[1])
            race = _RACE_IN.get(kind, "suspect that commit") if share >= LIKELY else race
        where = "on all boxes alike"
        return Suspected(f"Flaky {where} {when}: {race}", f"{commit or 'flaky'}, all boxes alike")
    if boxes.alike is not None and boxes.alike <= 1 - STRONG:
        few_words = f"flaky, mostly on {worst}"
        return _suspect_bench(f"Flaky {when}, and most on {worst}", few_words, worst)
    return Suspected(
        f"Flaky {when}: not enough data to say whether on one box or on all",
        commit or "flaky",
    )


def _suspect_bench(flaky: str, few_words: str, box: str) -> Suspected:
    sentence = f"{flaky}: suspect the bench rather than a race in the firmware"
    return Suspected(sentence, few_words, box, to_tell=_SWAP.format(box))
