# SPDX-License-Identifier: Apache-2.0
"""The statement about a test in words: in a sentence or two for its page, in few words for its row
of "Flakiest tests". The terminal and the dashboard show the same.

This module decides no claim: `statements.py` does. Since when is said in `flaky/suspect_words.py`,
where to look first at what fails now in `failures/look_first.py`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from hwci.analysis.benches.words import listed, of_counts, of_undecided
from hwci.analysis.certainty import SURE, jeffreys
from hwci.analysis.failures.look_first import named
from hwci.analysis.flaky.suspect_words import LIKELY, is_toss, since_when, sure
from hwci.analysis.flaky.suspects import NEVER_PASSED, RUNS_NEEDED, Intermittent
from hwci.analysis.statements import (
    OF_BOXES,
    Failing,
    Known,
    statement_of,
)
from hwci.contract.flaky.suspects import IT_NEVER_PASSED
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import Claim, CommitKind
from hwci.said import counted, day, short, tenths

UNKNOWN = "not enough data"
_SEPARATORS = "-_./ "
"""What parts the kind of a box from its number, in its name."""
_SWAP = (
    "to tell bench from firmware, swap the board of {0} with that of another bench: if the failures"
    " stay on {0}, it is the bench; if they move, it is the board or the firmware"
)
_IN_BOTH = {2: "both"}
_RACE_IN = {
    CommitKind.FIRMWARE: "a race in the firmware is likely",
    CommitKind.HARNESS: "a race in the harness is likely",
    CommitKind.BOTH: "a race in the firmware or in the harness is likely",
}


class Answer(NamedTuple):
    """The statement as a sentence and in few words. `box`: the one that the few words name.
    `names_only_box`: it says that one box alone ran the test. `to_tell`: what would tell a
    suspected bench from its board and the firmware.
    """

    statement: Statement
    sentence: str
    few_words: str
    box: str | None = None
    names_only_box: bool = False
    to_tell: str = ""


def answer(known: Known) -> Answer:
    """Answer whether a test is flaky, and whom to suspect."""
    statement = statement_of(known)
    if known.failing is None or statement.claim is Claim.NOT_SEEN:
        return _WORDS[statement.claim](known, statement)
    boxes, now = known.failing.boxes, [of_failing(known.failing)]
    if statement.claim not in OF_BOXES:
        # Few runs say where to look first; where all runs tell the boxes apart, that counts.
        now += known.look_first
    fails_now = Answer(statement, ". ".join(now), f"fails now on {named(boxes)}")
    if len(boxes) == 1:
        fails_now = fails_now._replace(box=boxes[0])
    if statement.claim is not Claim.FAILS_NOW:
        rest = _WORDS[statement.claim](known, statement)
        return rest._replace(
            sentence=f"{fails_now.sentence}. {rest.sentence}",
            few_words=fails_now.few_words,
            box=fails_now.box,
        )
    if known.found == NEVER_PASSED:
        return fails_now._replace(sentence=f"{fails_now.sentence}. {_never_passed(known)}")
    return fails_now


def of_failing(failing: Failing) -> str:
    """Return in words where a test fails now, and since when."""
    on = f"on {counted(failing.commits, 'commit')} of {failing.branch}"
    since = f"since {short(failing.sha)} of {day(failing.since)}"
    return f"Fails now on {named(failing.boxes)}: {on} {since}"


def _no_run(_: Known, statement: Statement) -> Answer:
    return Answer(statement, "Not enough data: all runs were lost before the test", UNKNOWN)


def _broken(known: Known, statement: Statement) -> Answer:
    if known.found == NEVER_PASSED:
        return Answer(statement, _never_passed(known), "broken")
    suggestion, (on, there) = known.suggested, _where(known, statement)
    passed = f"has not passed{there}"
    if suggestion.fixed.clean_runs:
        passed = f"has not passed on each {'of them' if on else 'box'}"
    return Answer(
        statement, f"Broken{on} {since_when(suggestion.since)}: it {passed} since", "broken"
    )


def _never_passed(known: Known) -> str:
    if known.tried.of_bench == known.tried.failed:
        return f"{IT_NEVER_PASSED}, and the harness blames the bench each time"
    return f"Broken: {NEVER_PASSED}"


def _where(known: Known, statement: Statement) -> tuple[str, str]:
    """Return in words on which boxes it is, and "there"; nothing if all are."""
    if {*statement.boxes} >= {*known.tried.boxes}:
        return "", ""
    return f" on {named(statement.boxes)}", " there"


def _lost_board(known: Known, statement: Statement) -> Answer:
    """Return in words that runs lost the board at the test."""
    runs, boxes = counted(statement.lost_here, "run"), named(statement.boxes)
    lost = f"{runs} on {boxes} lost the board at this test"
    few_words = (
        f"lost the board {statement.lost_here:,} times"
        if statement.lost_here > 1
        else "lost the board once"
    )
    if known.tried.is_lost_here:
        return Answer(statement, f"{lost}: suspect what it does to the board first", few_words)
    of_all = f"of {counted(known.tried.lost, 'run')} that lost it at any test"
    return Answer(statement, f"Not steady: {lost}, {of_all}; that may be chance", few_words)


def _steady(known: Known, statement: Statement) -> Answer:
    """Return in words how rarely a test fails at most, as it never did but for the bench: the upper
    end beside its counts.
    """
    of_bench = known.tried.of_bench
    [(_, high)] = jeffreys([(0, statement.runs - of_bench)])
    but = f" but {of_bench:,} that the harness blames on the bench" if of_bench else ""
    runs = f"{counted(statement.runs, 'run')} {on_boxes(statement.boxes)}{but}"
    most = f"it fails in {tenths(100 * high)} % at most{sure(SURE)}"
    sentence = f"Steady: it passed at the first attempt in all of {runs}, so {most}"
    return Answer(statement, sentence, "steady")


def _too_few(known: Known, statement: Statement) -> Answer:
    on = f"{counted(statement.runs, 'run')} {on_boxes(statement.boxes)}"
    why = f"to call it steady: it passed in {on}; {RUNS_NEEDED} are needed"
    if statement.failed:
        why = f"to say whether it is flaky: {known.found}"
        if len(statement.boxes) > 1:
            why = f"{why}. Counting all, {of_counts(known.tried.on_boxes)}"
    return Answer(statement, f"Not enough data {why}", UNKNOWN)


def _not_seen(known: Known, statement: Statement) -> Answer:
    """Return in words which boxes that failed it run it no more; or that none runs it."""
    boxes, since = named(statement.boxes), day(statement.since) if statement.since else ""
    tried, was, still = known.tried, "it failed", "fail"
    if {*statement.boxes} <= {*tried.never_passed_on}:
        was = "it never passed"
    elif not isinstance(known.found, str):
        was, still = f"it was {'broken' if known.found.broken else 'flaky'}", "be"
    where, there = ("", f"on {boxes}") if tried.is_left_out else (f" on {boxes}", "there")
    lately = ""
    if tried.passed_last and {*statement.boxes} == {*tried.failed_on}:
        lately = f", not in its last {counted(tried.passed_last, 'run')}"
    so = f", so it may still {still}"
    if tried.runs == 1:
        was, so = "it ran once, and failed", ": not enough data to say more"
    sentence = f"Not run{where} since {since}: {was} {there}{lately}{so}"
    return Answer(statement, sentence, f"not run{where} since {since}")


def _fixed(known: Known, statement: Statement) -> Answer:
    suggestion, (on, there) = known.suggested, _where(known, statement)
    if not suggestion.broken:
        when = since_when(suggestion.since)
        sentence = f"Fixed{on}{sure(suggestion.fixed.chance)}: it was flaky{there} {when}"
        return Answer(statement, sentence, "fixed")
    first, last = short(suggestion.broken_on[0]), short(suggestion.broken_on[-1])
    commits = f"of {first}" if first == last else f"from {first} to {last}"
    in_all = _IN_BOTH.get(suggestion.broken_for, f"all {suggestion.broken_for:,}")
    failed = f"it failed{there} in {in_all} runs {commits}"
    return Answer(statement, f"Fixed{on}: {failed}, and passes now", "fixed")


def _on_one_box(known: Known, statement: Statement) -> Answer:
    [box] = statement.boxes
    likely = likely_words(statement)
    only, mostly = f"flaky on {box} only", f"flaky, mostly on {box}"
    few_words = mostly if {*known.tried.failed_on} - {box} else only
    if statement.claim is Claim.MENDED:
        noted = f"before the note of {day(known.notes[box].at)}"
        sentence = f"F{few_words[1:]}{likely}, {noted}: what was done may have mended it"
        return Answer(statement, sentence, few_words, box)
    why = "suspect the bench, or firmware that only its board runs"
    if not isinstance(known.found, str) and _has_commit(known.found):
        why = f"suspect the bench, or {_likeliest(known.found)} if it breaks that board alone"
    sentence = f"F{few_words[1:]}{likely}{_when(known)}: {why}"
    return Answer(statement, sentence, few_words, box, to_tell=_SWAP.format(box))


def _on_a_group(known: Known, statement: Statement) -> Answer:
    boxes = listed(statement.boxes)
    beside = f", not on {listed(statement.others)}" if statement.others else ""
    few_words = f"flaky on {boxes}"
    start = start_in_common(statement.boxes, {*known.tried.boxes} - {*statement.boxes})
    called = f" (all {start}…)" if start else ""
    sentence = (
        f"Flaky on {boxes}{called}{beside}{likely_words(statement)}{_when(known)}: look at what"
        " these boxes share, such as a board type, a probe or a supply"
    )
    return Answer(statement, sentence, few_words)


def start_in_common(boxes: Sequence[str], others: Collection[str]) -> str | None:
    """Return how the names of these boxes begin, up to a separator, if that of no other one does;
    None: there are no others, or the names do not tell them apart.
    """
    first = boxes[0]
    starts = [first[: at + 1] for at, letter in enumerate(first) if letter in _SEPARATORS]
    shared = [start for start in starts if all(box.startswith(start) for box in boxes)]
    if not shared or not others or any(box.startswith(shared[-1]) for box in others):
        return None
    return shared[-1]


def _only_box(known: Known, statement: Statement) -> Answer:
    [box] = statement.boxes
    why = f"only {box} ran it, so run it on another box to tell the bench from the firmware"
    sentence = f"Flaky{_when(known)}: {why}"
    few_words = _since_commit(known.suggested, "flaky on its only box")
    return Answer(statement, sentence, few_words, names_only_box=True)


def _alike(known: Known, statement: Statement) -> Answer:
    suggestion = known.suggested
    race = "a race in the firmware or in the test is likely"
    if _has_commit(suggestion):
        kind, share = max(suggestion.since.by_kind.items(), key=lambda kind: kind[1])
        race = _RACE_IN.get(kind, "suspect that commit") if share >= LIKELY else race
    on, boxes = f"on {listed(statement.boxes)} alike", "boxes alike"
    if len(statement.boxes) == suggestion.boxes.boxes_total:
        on, boxes = "on all boxes alike", "all boxes alike"
    sentence = f"Flaky {on}{likely_words(statement)}{_when(known)}: {race}"
    return Answer(statement, sentence, f"{_since_commit(suggestion, 'flaky')}, {boxes}")


def _flaky(known: Known, statement: Statement) -> Answer:
    suggestion = known.suggested
    why = of_undecided(known.tried.on_boxes, known.tried.uncompared)
    return Answer(statement, f"Flaky{_when(known)}: {why}", _since_commit(suggestion, "flaky"))


_WORDS: Mapping[Claim, Callable[[Known, Statement], Answer]] = {
    Claim.NO_RUN: _no_run,
    Claim.NOT_SEEN: _not_seen,
    Claim.BROKEN: _broken,
    Claim.LOST_BOARD: _lost_board,
    Claim.STEADY: _steady,
    Claim.FIXED: _fixed,
    Claim.MENDED: _on_one_box,
    Claim.ONE_BOX: _on_one_box,
    Claim.GROUP: _on_a_group,
    Claim.TOO_FEW: _too_few,
    Claim.ALIKE: _alike,
    Claim.ONLY_BOX: _only_box,
    Claim.FLAKY: _flaky,
}


def _when(known: Known) -> str:
    return "" if isinstance(known.found, str) else f", {since_when(known.found.since)}"


def _since_commit(suggestion: Intermittent, otherwise: str) -> str:
    return f"flaky since {_likeliest(suggestion)}" if _has_commit(suggestion) else otherwise


def likely_words(statement: Statement) -> str:
    """Return in words how sure it is, where it is not."""
    if statement.chance is None or statement.chance >= SURE:
        return ""
    return sure(statement.chance)


def on_boxes(boxes: Sequence[str]) -> str:
    """Return in words on which box something was, or on how many."""
    return f"on {boxes[0]}" if len(boxes) == 1 else f"on {len(boxes):,} boxes"


def _has_commit(suggestion: Intermittent) -> bool:
    """Whether one commit likely did it."""
    since = suggestion.since
    return since.before < LIKELY and since.suspects[0].chance >= LIKELY and not is_toss(since)


def _likeliest(suggestion: Intermittent) -> str:
    return short(suggestion.since.suspects[0].sha)
