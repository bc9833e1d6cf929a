# SPDX-License-Identifier: Apache-2.0
"""What is said of a box: the terminal and the dashboard show the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.compare import COMMITS_MIN, Comparison, Counts, Missing
from hwci.said import counted, day

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hwci.analysis.benches.health import LostRun
    from hwci.analysis.benches.report import BoxReport, Figures, TestOnBox

_TEN = 10


class Said(NamedTuple):
    """What is said of a box: the answer in few words, and its evidence."""

    answer: str
    evidence: str

    @property
    def text(self) -> str:
        """Return both as one sentence."""
        return f"{self.answer} ({self.evidence})"


def of_box(box: BoxReport) -> Said:
    """Say how a box does against the others; where it has a note, since then and before."""
    answer, evidence = said = of_figures(box.figures)
    if box.note is None:
        return said
    note = f"the note of {day(box.note.at)}"
    if box.idle:
        return Said(f"before {note}: {answer}", f"{evidence}; it has not run since")
    if box.before is not None:
        evidence = f"{evidence}; before it: {', '.join(of_figures(box.before))}"
    return Said(f"since {note}: {answer}", evidence)


def of_figures(box: Figures) -> Said:
    """Say how a box does against the others, in a part of its time or in all."""
    if box.comparison is None:
        return _missing(box)
    against, others = f"{_against(box.counts)} on the same commits", _called(box.others)
    if not box.comparison.named:
        return Said(f"no sign that it is worse than {others}", f"over all tests: {against}")
    if not box.counts.others_failed:
        never = "never does" if len(box.others) == 1 else "never do"
        return Said(f"fails where {others} {never}", f"{against}{_mostly(box)}")
    evidence = f"{_sure(box.comparison)}; {against}{_mostly(box)}"
    return Said(f"{_times(box.comparison)} as {others}", evidence)


def of_test(test: TestOnBox) -> str:
    """Say how a test does on a box."""
    against = f"{_against(test.comparison.counts)} on the same commits"
    if test.note is not None:
        when = "before" if test.before else "since"
        against = f"{against}, {when} the note of {day(test.note.at)}"
    if test.only:
        return f"fails on {test.box_key} only ({against})"
    times, sure = _times(test.comparison), _sure(test.comparison)
    return f"{times} on {test.box_key} as on {_called(test.others)} ({sure}; {against})"


def more_often(test: TestOnBox) -> str:
    """Say how many times as often a test fails on its box as on the others."""
    return f"{_number(test.comparison.times_as_often)} times as often"


def of_lost(lost: LostRun) -> str:
    """Say where a run lost its board."""
    return f"failed all of its last {lost.tests} tests, from {lost.first_test} on"


def _mostly(box: Figures) -> str:
    """Name the tests that most of the failures are of, where they are few."""
    if box.few is None:
        return ""
    *others, last = box.few.test_ids
    names = f"{', '.join(others)} and {last}" if others else last
    return f"; {box.few.failed:,} of the {box.counts.failed:,} are of {names}"


def _missing(box: Figures) -> Said:
    few = f"on {counted(box.commits, 'commit')}, {COMMITS_MIN} are needed"
    nothing, little = "nothing to compare it with", "not enough data"
    alike = "on each commit, each test passed on all boxes or failed on all"
    what = {
        Missing.ONE_BOX: (nothing, "it is the only box of the period"),
        Missing.NOTHING_IN_COMMON: (nothing, "no other box ran these tests on the same commits"),
        Missing.NO_FAILURE: ("no difference", alike),
        Missing.FEW_COMMITS: (little, f"tests passed on one box and failed on another {few}"),
        None: ("", ""),
    }
    return Said(*what[box.missing])


def _called(others: Sequence[str]) -> str:
    """Name the box that another is compared with, or say how many there are."""
    return others[0] if len(others) == 1 else f"the {len(others):,} others compared"


def _times(found: Comparison) -> str:
    return f"fails {_number(found.times_as_often)} times as often"


def _sure(found: Comparison) -> str:
    low, high = map(_number, found.times_between)
    return f"95 % sure: {low} to {high}"


def _number(times: float) -> str:
    return f"{times:,.{1 if times < _TEN else 0}f}"


def _against(counts: Counts) -> str:
    here = f"{counts.failed:,} of {counts.results:,}"
    return f"{here} against {counts.others_failed:,} of {counts.others_results:,}"
