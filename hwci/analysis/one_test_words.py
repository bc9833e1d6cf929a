# SPDX-License-Identifier: Apache-2.0
"""What the runs of one test say: an answer, and the sentences on which it rests. The terminal and
the dashboard show the same.

This module puts sentences together. What is claimed is decided in `statements.py`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from hwci.analysis.benches import words
from hwci.analysis.failures.incidents import Described
from hwci.analysis.failures.look_first import named
from hwci.analysis.flaky.suspect_words import LIKELY, certainty, of_change, of_fixed, since_when
from hwci.analysis.flaky.suspects import NEVER_PASSED, SeenProduct, Since
from hwci.analysis.statement_words import answer
from hwci.analysis.statements import Known, known_of
from hwci.contract.flaky.flaky_tests import is_broken
from hwci.contract.flaky.one_test import OneTest, Tries
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import Claim
from hwci.engine.rules.labels import Group
from hwci.said import counted, day


class About(NamedTuple):
    """A test of a product, where it fails now and in which incidents."""

    seen: SeenProduct
    test_id: str
    pending: Sequence[Group]
    incidents: Sequence[Described]


class Concluded(NamedTuple):
    """What is to be said of a test. `statement`: the claim; `answer`: the same in a sentence or
    two; `says`: on what that rests. `began_before`: it likely was so before the period, of which
    there are runs. `since`: since which commit; None if its runs do not tell.
    """

    statement: Statement
    answer: str
    says: str
    began_before: bool = False
    since: Since | None = None


def concluded(about: About, test: OneTest, tries: Tries) -> Concluded:
    """Return what is to be said of a test. `tries`: those of all its boxes."""
    known = _known(about, tries)
    conclusion = answer(known)
    only = ""
    if test.boxes_total == 1 and known.tried.failed and not conclusion.names_only_box:
        only = f"only {test.boxes[0].box_key} ran it, so no other tells bench from firmware"
    since = None if isinstance(known.found, str) else known.found.since
    return Concluded(
        conclusion.statement,
        _sentences([conclusion.sentence]),
        _sentences(
            [*_evidence(known, conclusion.statement, test, tries), only, conclusion.to_tell]
        ),
        since is not None and since.before >= LIKELY and not since.is_first,
        since,
    )


def with_words(test: OneTest, conclusion: Concluded) -> OneTest:
    """Return a test with what is to be said of it."""
    since = conclusion.since
    return replace(
        test,
        answer=conclusion.answer,
        statement=conclusion.statement,
        began_before=conclusion.began_before,
        says=conclusion.says,
        history=None if since is None else certainty(since, since_when(since)),
    )


def _sentences(sentences: Iterable[str]) -> str:
    return " ".join(f"{sentence[0].upper()}{sentence[1:]}." for sentence in sentences if sentence)


def _known(about: About, tries: Tries) -> Known:
    seen, test_id, pending, incidents = about
    never_passed = is_broken(tries.attempts, tries.failed_attempts)
    suggestion = seen.found(test_id, never_passed=never_passed)
    tried, blame = seen.tried(test_id), seen.blame_of(test_id)
    return known_of(tried, pending, suggestion, blame, incidents, seen.notes)


def _evidence(known: Known, statement: Statement, test: OneTest, tries: Tries) -> Sequence[str]:
    """Return on what the answer rests."""
    suggestion, counts = known.found, _counts(test, tries)
    if not known.tried.failed:
        return []
    compared = ""
    if known.blame is not None:
        compared = words.of_blame(known.blame, known.tried.failed_on, known.notes)
    fails = statement.claim is Claim.FAILS_NOW
    # What fails now may be another matter.
    on_box = f"{'over the period ' if fails else ''}it {compared}" if compared else ""
    # Beside counts on the same commits, those of all runs say nothing more.
    counts = _given(test) if compared else counts
    gone = known.tried.gone if fails else {}
    unseen = [
        f"it failed on {box}, too, and was not run there since {day(at)}"
        for box, at in gone.items()
        if box in known.tried.failed_on
    ]
    if isinstance(suggestion, str):
        is_missing = known.failing is not None and suggestion != NEVER_PASSED
        missing = f"not enough data to say more: {suggestion}" if is_missing else ""
        return [missing, on_box, counts, *unseen, *_besides(known, statement)]
    since = f"its runs say that it has failed {since_when(suggestion.since)}" if fails else ""
    fixed = "" if fails or statement.claim is Claim.NOT_SEEN else of_fixed(suggestion)
    return [
        since,
        on_box,
        of_change(suggestion.since),
        fixed,
        counts,
        *unseen,
        *_besides(known, statement),
    ]


def _besides(known: Known, statement: Statement) -> Iterator[str]:
    """Yield what else the runs tell."""
    tried = known.tried
    never = sorted(tried.never_passed_on)
    if never and known.found != NEVER_PASSED and statement.claim is not Claim.NOT_SEEN:
        yield f"it never passed on {named(never)}"
    is_each = tried.of_bench == tried.failed
    is_said = statement.claim in {Claim.TOO_FEW, Claim.STEADY}
    if tried.of_bench and not is_said and not (is_each and known.found == NEVER_PASSED):
        of_all = "each time" if is_each else f"for {tried.of_bench:,} of {tried.failed:,} failures"
        yield f"the harness blames the bench {of_all}"
    if tried.lost_here and statement.claim is not Claim.LOST_BOARD:
        yield f"{counted(len(tried.lost_here), 'run')} of these lost the board at it"


def _counts(test: OneTest, tries: Tries) -> str:
    failed, runs = tries.first.part, tries.first.total
    of_all = f"{failed:,} of all {runs:,} runs" if runs > 1 else "its only run"
    more = test.boxes_total > 1
    on = f"on {test.boxes_total:,} boxes" if more else f"on {test.boxes[0].box_key}"
    return f"its first attempt failed in {of_all} {on}; {_given(test)}"


def _given(test: OneTest) -> str:
    """Return in words what a retry gave, or else another run."""
    for tally, what in (
        (test.retries, "a retry"),
        (test.reruns, "a rerun of the same commit on the same box"),
    ):
        if tally.tries:
            return f"{what} passed in {tally.passed:,} of {counted(tally.tries, 'run')}"
    return "no failure was tried again"
