# SPDX-License-Identifier: Apache-2.0
"""What the runs of one test say: an answer, and the sentences on which it rests. The terminal and
the dashboard show the same.

This module decides whether a test is called steady or never passed, and puts the sentences
together. Whether it fails now or is flaky, and whom to suspect, is decided in `suspected.py`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hwci.analysis.benches import words
from hwci.analysis.benches.report import Note, worst_boxes_of
from hwci.analysis.failures.incidents import Described
from hwci.analysis.flaky.suspect_words import LIKELY, of_boxes, of_change, of_fixed, since_when
from hwci.analysis.flaky.suspects import NEVER_PASSED, RUNS_NEEDED, SeenProduct, standing_out
from hwci.analysis.one_test import OneTest, Tries
from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns
from hwci.analysis.suspected import (
    Suspected,
    fails_steadily,
    known_of,
    suspected,
)
from hwci.engine.rules.flakiness import is_broken
from hwci.engine.rules.labels import Group
from hwci.said import counted


class About(NamedTuple):
    """A test, the runs of its product, where it fails now and in which incidents, and the latest
    note of each box that has one.
    """

    history: RecordedRuns
    runs: ProductOutcomes
    test_id: str
    pending: Sequence[Group]
    incidents: Sequence[Described]
    notes: Mapping[str, Note]


class Concluded(NamedTuple):
    """What is to be said of a test. `answer`: whether it fails now or is flaky, and whom to
    suspect; `says`: on what that rests. `began_before`: it likely was so before the period, of
    which there are runs.
    """

    answer: str
    says: str
    began_before: bool = False


def concluded(about: About, test: OneTest, tries: Tries) -> Concluded:
    """Return what is to be said of a test. `tries`: those of all its boxes."""
    steady = _without_failure(test, tries)
    if steady is not None:
        return Concluded(_sentences([steady]), "")
    says: Sequence[str] = [_counts(test, tries)]
    began_before = names_only_box = False
    to_tell = ""
    if is_broken(tries.attempts, tries.failed_attempts):
        known = known_of(about.pending, NEVER_PASSED, None, about.incidents)
        answer = suspected(known).sentence
    else:
        suspicion, says, began_before = _suspicion(about, test, tries)
        answer, names_only_box = suspicion.sentence, suspicion.names_only_box
        to_tell = suspicion.to_tell
    only = ""
    if len(test.boxes) == 1 and not names_only_box:
        only = f"only {test.boxes[0].box_key} ran it, so no other tells bench from firmware"
    return Concluded(_sentences([answer]), _sentences([*says, only, to_tell]), began_before)


def _sentences(said: Iterable[str]) -> str:
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in said if one)


def _without_failure(test: OneTest, tries: Tries) -> str | None:
    """Say that it did not fail, or was not run; None: it failed."""
    failed, runs = tries.first
    if not runs:
        return "not enough data: all runs were lost before the test"
    on = f"{counted(runs, 'run')} {_on(test)}"
    if not failed and runs < RUNS_NEEDED:
        return f"not enough data to call it steady: it passed in {on}; {RUNS_NEEDED} are needed"
    if not failed:
        return f"steady: it passed at the first attempt in all of {on}"
    return None


def _suspicion(about: About, test: OneTest, tries: Tries) -> tuple[Suspected, Sequence[str], bool]:
    """Return the answer, on what it rests, and whether it was so before the period."""
    history, runs, test_id, pending, incidents, notes = about
    worst = worst_boxes_of(runs, [test_id], notes, history.check_time).get(test_id)
    suggested = SeenProduct(history, runs).suggested(test_id)
    worst = standing_out(None if isinstance(suggested, str) else suggested, worst)
    known = known_of(pending, suggested, worst, incidents)
    answer = suspected(known)
    on_box = "" if worst is None else f"it {words.of_test(worst)}"
    # Beside counts on the same commits, those of all runs say nothing more.
    counts = _counts(test, tries) if worst is None else _given(test)
    if isinstance(suggested, str):
        missing = "" if known.failing is None else f"not enough data to say more: {suggested}"
        return answer, [missing, on_box, counts], False
    since = ""
    fails = fails_steadily(known)
    if fails:
        since = f"its runs say that it has failed {since_when(suggested.since)}"
        on_box = on_box or ("" if len(test.boxes) == 1 else of_boxes(suggested))
    began_before = suggested.since.before >= LIKELY and not suggested.since.is_first
    # Runs on other boxes, where it never failed, would not show that it is fixed on this one.
    is_elsewhere = worst is not None and worst.only and not suggested.is_fixed
    fixed = "" if is_elsewhere or fails else of_fixed(suggested)
    return answer, [since, on_box, of_change(suggested.since), fixed, counts], began_before


def _counts(test: OneTest, tries: Tries) -> str:
    failed, runs = tries.first
    of_all = f"{failed:,} of all {runs:,} runs" if runs > 1 else "its only run"
    return f"its first attempt failed in {of_all} {_on(test)}; {_given(test)}"


def _given(test: OneTest) -> str:
    """Say what a retry gave, or else another run."""
    for given, what in (
        (test.retries, "a retry"),
        (test.reruns, "a rerun of the same commit on the same box"),
    ):
        if given.tries:
            return f"{what} passed in {given.passed:,} of {counted(given.tries, 'run')}"
    return "no failure was tried again"


def _on(test: OneTest) -> str:
    boxes = len(test.boxes)
    return f"on {test.boxes[0].box_key}" if boxes == 1 else f"on {boxes:,} boxes"
