# SPDX-License-Identifier: Apache-2.0
"""What the runs of one test say, in two or three sentences: the terminal and the dashboard show the
same.

This module decides whether a test is called steady, never passed, flaky or broken, where to look
first, and puts the sentences together. Since when and how sure is decided in `suspects.py`, whether
one box is worse in `benches`; their own words say so here, too.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hwci.analysis.benches import words
from hwci.analysis.benches.report import Note, worst_box_of
from hwci.analysis.flaky.suspect_words import LIKELY, of_fixed, of_found
from hwci.analysis.flaky.suspects import (
    NEVER_PASSED,
    RUNS_NEEDED,
    Intermittent,
    SeenProduct,
)
from hwci.analysis.one_test import OneTest, Tries
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns
from hwci.engine.rules.flakiness import is_broken
from hwci.said import counted, short

NO_STATISTICS = (
    "since when, and whether on all boxes alike, is not known:"
    " the operator of the server installs hwci[statistics] for it"
)


class About(NamedTuple):
    """A test, the runs of its product, and the latest note of each box that has one."""

    history: RecordedRuns
    runs: ProductOutcomes
    test_id: str
    notes: Mapping[str, Note]


def concluded(about: About, found: OneTest, tries: Tries, *, statistics: bool) -> str:
    """Return what is to be said of a test: what it is, on which boxes, where to look first, and
    what a retry gives. `tries`: those of all its boxes.
    """
    steady = _without_failure(found, tries)
    if steady is not None:
        said = [steady]
    elif is_broken(tries.attempts, tries.failed_attempts):
        said = [NEVER_PASSED, *_counts(found, tries)]
    elif not statistics:
        said = [NO_STATISTICS, *_counts(found, tries)]
    else:
        said = [*_since(about, found), *_counts(found, tries)]
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in said)


def _without_failure(found: OneTest, tries: Tries) -> str | None:
    """Say that it did not fail, or was not run; None: it failed."""
    failed, runs = tries.first
    if not runs:
        return "not enough data: all runs were lost before the test"
    on = f"{counted(runs, 'run')} {_on(found)}"
    if not failed and runs < RUNS_NEEDED:
        return f"not enough data to call it steady: it passed in {on}; {RUNS_NEEDED} are needed"
    if not failed:
        return f"steady: it passed at the first attempt in all of {on}"
    return None


def _since(about: About, found: OneTest) -> Iterator[str]:
    """Say since when it is so, and where to look first."""
    history, runs, test_id, notes = about
    worst = worst_box_of(runs, test_id, notes, history.check_time)
    one_box = "" if len(found.boxes) == 1 else None  # which has a sentence of its own
    on_boxes = one_box if worst is None else words.of_test(worst)
    suggested = SeenProduct(history, runs).suggested(test_id)
    box = None if worst is None else worst.box_key
    if isinstance(suggested, str):
        missing = f"not enough data to say since when: {suggested}"
        yield f"{missing}; it {on_boxes}" if on_boxes else missing
        if box is not None:
            yield f"look at {box} first"
        return
    yield of_found(suggested, on_boxes)
    yield from look_first(suggested, box)
    yield of_fixed(suggested.fixed)


def look_first(found: Intermittent, box: str | None) -> Iterator[str]:
    """Say where to look first, if anything tells: at the commit since which the test is flaky, else
    at the `box` that is worse than the others, else at no bench.
    """
    since = found.since
    if found.fixed.needed == 0:
        return
    if since.before < LIKELY and since.suspects[0].share >= LIKELY:
        on_box = "" if box is None else f", on {box}"
        yield f"look at {short(since.suspects[0].commit.sha)} first{on_box}"
    elif box is not None:
        yield f"look at {box} first"
    elif since.before >= LIKELY and found.boxes.all_alike:
        yield "look at the firmware and the test first: no bench stands out"


def _counts(found: OneTest, tries: Tries) -> Iterator[str]:
    failed, runs = tries.first
    of_all = f"{failed:,} of all {runs:,} runs" if runs > 1 else "its only run"
    yield f"its first attempt failed in {of_all} {_on(found)}; {_given(found)}"
    if len(found.boxes) == 1:
        box = found.boxes[0].box_key
        yield f"only {box} ran it, so bench and firmware cannot be told apart"


def _given(found: OneTest) -> str:
    """Say what a retry gave, or else another run."""
    for given, what in (
        (found.retries, "retried in the same run"),
        (found.reruns, "run again on the same commit and box"),
    ):
        if given.tries:
            return f"{what}, it passed {given.passed:,} of {counted(given.tries, 'time')}"
    return "no failure was tried again"


def _on(found: OneTest) -> str:
    boxes = len(found.boxes)
    return f"on {found.boxes[0].box_key}" if boxes == 1 else f"on {boxes:,} boxes"
