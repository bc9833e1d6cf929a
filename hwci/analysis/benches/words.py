# SPDX-License-Identifier: Apache-2.0
"""What is said of a box: the terminal and the dashboard show the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.blame import TIMES, Blamed
from hwci.analysis.benches.compare import COMMITS_MIN, times_between
from hwci.analysis.benches.trials import Earlier, Side, box_of
from hwci.contract.vocabulary import NotCompared
from hwci.said import counted, day, joined

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from hwci.analysis.benches.blame import Blame, Uncompared
    from hwci.analysis.outcomes import FirstAttempts
    from hwci.contract.boxes.benches import BoxFigures, Comparison, Counts, Note

_TEN = 10
_MANY = {"box": "boxes", "board": "boards"}
BOXES_NAMED = 4
"""So many boxes are named; more are counted."""


class FewTests(NamedTuple):
    """The tests that most of a box's compared failures are of, and how many of these."""

    test_ids: Sequence[str]
    failed: int


class Against(NamedTuple):
    """A box against `others`, with which it is compared, or what is `missing` for that. `few`:
    where it is worse because of few of its tests. `noun`: what such a box is called.
    """

    counts: Counts
    others: Sequence[str]
    commits: int
    comparison: Comparison | None
    missing: NotCompared | None
    few: FewTests | None
    noun: str = "box"


class Words(NamedTuple):
    """What is said of a box: the answer in few words, and its evidence."""

    answer: str
    evidence: str

    @property
    def text(self) -> str:
        """Return both as one sentence."""
        return f"{self.answer} ({self.evidence})"


def of_note(note: Note, figures: BoxFigures, before: BoxFigures | None, *, idle: bool) -> Words:
    """Return in words how a box that has a note does against the others, since then and before."""
    when, evidence = f"the note of {day(note.at)}", figures.evidence
    if idle:
        return Words(f"before {when}: {figures.answer}", f"{evidence}; it has not run since")
    if before is not None:
        evidence = f"{evidence}; before it: {before.answer}, {before.evidence}"
    return Words(f"since {when}: {figures.answer}", evidence)


def of_figures(box: Against) -> Words:
    """Return in words how a box does against the others, in a part of its time or in all."""
    if box.comparison is None:
        return _missing(box)
    against, others = f"{_against(box.counts)} on the same commits", _called(box.others)
    if not box.comparison.named:
        return Words(f"no sign that it is worse than {others}", f"over all tests: {against}")
    if not box.counts.others_failed:
        never = "never does" if len(box.others) == 1 else "never do"
        return Words(f"fails where {others} {never}", f"{against}{_mostly(box)}")
    evidence = f"{_sure(box.comparison)}; {against}{_mostly(box)}"
    times = _number(box.comparison.times_as_often)
    return Words(f"fails {times} times as often as {others}", evidence)


def of_boxes(
    blame: Blame[Side] | None,
    on_boxes: Mapping[str, FirstAttempts],
    notes: Mapping[str, Note],
    uncompared: Uncompared | None,
) -> str:
    """Return in words on which of its boxes a test fails, or how often it failed where. `on_boxes`:
    its first attempts; `uncompared`: why its boxes cannot be compared, if nothing is known.
    """
    if len(on_boxes) == 1:
        return f"on {next(iter(on_boxes))}, the only box"
    failed_on = {box for box, counts in on_boxes.items() if counts.failed}
    text = "" if blame is None or uncompared else of_blame(blame, failed_on, notes)
    return text or of_undecided(on_boxes, uncompared)


def of_undecided(on_boxes: Mapping[str, FirstAttempts], uncompared: Uncompared | None) -> str:
    """Return in words how often a test failed on which boxes, and why these may not explain it; or
    that it failed on some alike. `uncompared`: why its boxes cannot be compared, if they cannot.
    """
    if uncompared is not None and uncompared.alike:
        return f"it failed on {listed(uncompared.alike)} alike"
    failed_on = [box for box, counts in on_boxes.items() if counts.failed]
    which = "it is that box" if len(failed_on) == 1 else "it is these boxes"
    if len(failed_on) == len(on_boxes):
        which = "one of them is worse"
    why = f"too few failures on commits that other boxes ran, too, to say whether {which}"
    if uncompared is not None and not uncompared.in_common:
        why = "its boxes cannot be compared, as no two ran the same commits"
    return f"{of_counts(on_boxes)}: {why}"


def of_counts(on_boxes: Mapping[str, FirstAttempts]) -> str:
    """Return in words how often a test failed on the boxes on which it did, and how often
    elsewhere.
    """
    failing = {box: counts for box, counts in on_boxes.items() if counts.failed}
    if len(failing) > BOXES_NAMED:
        some = "all" if len(failing) == len(on_boxes) else f"{len(failing):,} of"
        return f"it failed on {some} {len(on_boxes):,} boxes"
    each = [f"on {box} in {_of_runs(counts)}" for box, counts in failing.items()]
    elsewhere = sum(counts.runs for counts in on_boxes.values() if not counts.failed)
    if not elsewhere:
        return f"it failed {joined(each)}"
    comma = "," if len(each) > 1 else ""
    return f"it failed {joined(each)}{comma} and in none of {counted(elsewhere, 'run')} elsewhere"


def _of_runs(counts: FirstAttempts) -> str:
    return f"{counts.failed:,} of {counted(counts.runs, 'run')}"


def of_blame(blame: Blame[Side], failed_on: Collection[str], notes: Mapping[str, Note]) -> str:
    """Return in words on which boxes a test fails, by its runs on the same commits; nothing if that
    is not known. On commits on which all runs failed, it may have failed elsewhere, too
    (`failed_on`).
    """
    counts, others = blame.counts, blame.others_counts
    against = f"{counts.failed:,} of {counted(counts.runs, 'run')}"
    if blame.boxes:
        against = f"{against} against {others.failed:,} of {others.runs:,} elsewhere"
    against = f"{against} on the same commits{_left_out(blame)}{_noted(blame, notes)}"
    names = listed([*map(box_of, blame.boxes or blame.others)])
    match blame.blamed:
        case Blamed.ONE if {*failed_on} <= {box_of(blame.boxes[0])}:
            return f"fails on {names} only ({against})"
        case Blamed.ONE | Blamed.GROUP:
            if blame.perhaps:
                names = f"{names}, perhaps on {listed([*map(box_of, blame.perhaps)])}"
            return f"fails more on {names} than elsewhere ({against}{_often(blame)})"
        case Blamed.ALIKE:
            return f"fails on {names} alike ({against})"
    return ""


def _often(blame: Blame[Side]) -> str:
    """Return in words how many times the odds of a failure are, if the runs tell: they are no fewer
    than the fewest that are weighed.
    """
    low, high = blame.times or (0, 0)
    if low <= TIMES[0]:
        return ""
    return f"; {_number(low)} to {_number(high)} times the odds, 95 % sure"


def _left_out(blame: Blame[Side]) -> str:
    """Return in words on how many commits all runs failed, which tell nothing of a box."""
    if not blame.all_failed:
        return ""
    return f", but for {counted(blame.all_failed, 'commit')} on which all runs failed"


def _noted(blame: Blame[Side], notes: Mapping[str, Note]) -> str:
    """Return in words since or before which note of a box its runs are."""
    if blame.blamed is not Blamed.ONE or box_of(blame.boxes[0]) not in notes:
        return ""
    [side] = blame.boxes
    when = "before" if isinstance(side, Earlier) else "since"
    return f", {when} the note of {day(notes[box_of(side)].at)}"


def listed(boxes: Sequence[str]) -> str:
    """Name some boxes; many are counted."""
    if len(boxes) > BOXES_NAMED:
        return f"{len(boxes):,} boxes"
    return joined(boxes)


def of_lost(first_test: str, tests: int) -> str:
    """Return in words where a run lost its board."""
    return f"failed all of its last {tests} tests, from {first_test} on"


def _mostly(box: Against) -> str:
    """Name the tests that most of the failures are of, where they are few."""
    if box.few is None:
        return ""
    names = joined(box.few.test_ids)
    return f"; {box.few.failed:,} of the {box.counts.failed:,} are of {names}"


def _missing(box: Against) -> Words:
    few = f"on {counted(box.commits, 'commit')}, {COMMITS_MIN} are needed"
    nothing, little = "nothing to compare it with", "not enough data"
    alike = f"on each commit, each test passed on all {_MANY[box.noun]} or failed on all"
    what = {
        NotCompared.ONE_BOX: (nothing, f"it is the only {box.noun} of the period"),
        NotCompared.NOTHING_IN_COMMON: (
            nothing,
            f"no other {box.noun} ran these tests on the same commits",
        ),
        NotCompared.NO_FAILURE: ("no difference", alike),
        NotCompared.FEW_COMMITS: (
            little,
            f"tests passed on one {box.noun} and failed on another {few}",
        ),
        None: ("", ""),
    }
    return Words(*what[box.missing])


def _called(others: Sequence[str]) -> str:
    """Name the box that another is compared with, or say how many there are."""
    return others[0] if len(others) == 1 else f"the {len(others):,} others compared"


def _sure(comparison: Comparison) -> str:
    low, high = map(_number, times_between(comparison))
    return f"95 % sure: {low} to {high}"


def _number(times: float) -> str:
    return f"{times:,.{1 if times < _TEN else 0}f}"


def _against(counts: Counts) -> str:
    here = f"{counts.failed:,} of {counts.results:,}"
    return f"{here} against {counts.others_failed:,} of {counts.others_results:,}"
